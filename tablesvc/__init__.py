"""A table worker: running games, each with one writer, in a log that only their owner can append to.

link ─► registry ─► shard ─► table ─► judge (engine) ─► log ─► frames, answer
                      ▲        ▲
 ownership ─► opening ┘        └─ clocks, pulse

main, wiring, settings, ports, metrics, service      as in every service; histogram: the hot path's own
engine/, dealing/    the rules and the deals, pure
link        a gateway's stream of commands and answers          works       what can be asked and answered
registry    from a game's id to its table                       shard       the tables of one shard, phase by phase
table       one game's mailbox and its one writer               world       what all tables share
judge       clock, then right, then rules: events or a refusal  reads       states, seats, records
story       a game's records and its latest frames              codec       engine values <-> protobuf
ownership   leases: which shards are this worker's              placement   which they should be
opening     how a shard is taken over                           recovery    the log becomes tables again
creation    making tables, once                                 results     finished games on their way to SQL
clocks      one heap of deadlines                               stalls, pulse   time that is nobody's
presence, seats      who is there, who sits where               stock       deals made ahead
adapters/   NATS
"""
