"""The world behind the ports: one client library a file.

nats_home      the connection and what hangs on its coming and going
nats_log       the log, on JetStream
nats_leases    the buckets `workers` and `shards`
nats_views     frames and seat notices, core NATS
nats_results   finished games, on JetStream
"""
