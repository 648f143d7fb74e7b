"""The lobby: seeks, matching, seating, and who sits where. Any replica answers any call.

gateway ─gRPC─► service ─► desk, company, greeting ─► adapters/redis_* ─► Lua: the only judge
                                                           │ changes stream
          list ◄─NATS─ seek_list ◄── matcher (one owner a room: pools) ◄── change_feed
                                        │ pairs, from the pure core: matching/
                                        ▼ take (Lua) ─► seating stream ─► seating ─► CreateTable ─► both told
table workers ─NATS─► seat_notices ─► seats, games

service        the gRPC edge                      desk           post, cancel, accept
company        rematches and blocks               greeting       connections, heartbeats, what was missed
seat_check     does the player really sit there   taking         two who have agreed by themselves
matching/      PURE: who should meet whom         matcher        a pool owner's loop
pools          leases: who owns a room's pool     change_feed    what happens to seeks, read once a replica
seek_list      numbered deltas for watchers       seating        from match to table to `seated`
gate           holds matching after Redis is lost sweeper        the safety net
seat_notices   what workers say about seats       notices        what players are told
restrictions   what operators have restricted reloading      the rooms file, read again
rooms          limits, tolerance, settings        stored, keys   what lies in Redis, and where
lua/           one verb a file                    adapters/      Redis, NATS, table workers, ratings
"""
