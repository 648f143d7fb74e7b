"""What the services share, and nothing that belongs to one of them.

ids       make and read ids (games carry their shard)
names     every NATS subject, stream, bucket and Redis key, built in one place
wire      the client protocol's messages as typed structs
frames    several events for one viewer in one NATS message
errors    Rejected: one refusal, from the rule that was broken to the client's error
settings  NUMBRIDGE_* variables into one frozen dataclass a service
app       start, stop, signals, health and metrics of a service process
tasks     supervised background tasks, backoff
rpc       gRPC servers and channels
nats_io   connections, streams and buckets
redis_io  connections and Lua scripts
obs       logs and metrics helpers
tracing   traces of plays, off by default
clock     wall time in milliseconds, monotonic time
tokens    signing and claims of players' tokens
rooms     the operator's rooms file
routing   who owns which shard
v1        generated stubs of proto/numbridge/v1
"""

from typing import TYPE_CHECKING

RELEASE: str  # read when it is first asked for: the reading costs more than all of `numbridge --help`

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        if name != "RELEASE":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            release = version("numbridge")
        except PackageNotFoundError:  # run from a plain folder, without an install
            release = "0+unknown"
        globals()["RELEASE"] = release
        return release
