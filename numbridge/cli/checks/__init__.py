"""What `numbridge doctor` looks at. Each check gives findings and changes nothing.

finding   one line: good, doubtful or wrong, and how to mend it
plain     what needs no connection: settings, rooms, keys, certificates, disk, programs
bus       NATS: its version, clock, streams and buckets; workers and shards
stores    Redis and SQL
inner     lobbies, the ratings service, releases
"""
