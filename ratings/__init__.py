"""Ratings and archive: what SQL keeps, and the one way into it.

RESULTS ──pull──► consumer ──one transaction──► SQL ──ack──► archived.<shard>.<game>, rated frames
                     │                           ▲
                     └──scores──► Redis board ◄──┴── archive ◄── service (gRPC)

main, wiring, settings, metrics   the process
service     the gRPC edge: decode, ask, encode
consumer    results off the stream: record, acknowledge, announce
decode      a result's bytes as a FinishedGame, or why it is none
archive     reads: leaderboards (cache, then SQL), a player's games page by page, finished games
office      what operators do: the audit, and what they have restricted
rebuild     every rating again from the archive
domain      the shapes all of them share
ports       what they need from outside
model/      PURE: Glicko-2 and what a game makes of it
store/      SQL: schema, migrations, queries
adapters/   NATS and Redis
"""
