"""The `numbridge` command.

main         table of commands; only the chosen one's module is imported
service      lobby, table, ratings, gateway: one service, configured by NUMBRIDGE_*
up           a whole cluster on this machine
  plan       which processes it has, in what order, with which settings
  child      one of its processes: start, readiness, end
  supervisor all of them: start in parallel, restart, stop in order
  datadir    the data folder: lock, signing key, cluster.json, logs
  ports      free ports that are kept for a cluster
status       workers, shards, games, seeks, lag
drain        moves a worker's tables elsewhere
token        signs a player's token
trust        certificates and passwords for a cluster's insides
secured      what servers and services are told where those are used
cluster      where a running cluster is: its data folder, or NUMBRIDGE_* settings
inside       a short visit to it: NATS, who owns what, gRPC calls
deal         fields, for eyes and for tests
replay       checks game records
bot          players by deduction
errors       one line and an exit code

A command module has `add_parser(subparsers)` and `run(args) -> exit code`; heavy
imports belong inside `run`.
"""
