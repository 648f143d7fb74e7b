"""`numbridge drain WORKER`: moves a worker's tables elsewhere, then lets it end."""

import argparse
import asyncio
import time

from numbridge.cli.cluster import ClientSettings, add_data_option, locate
from numbridge.cli.errors import DONE, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers

_EVERY_S = 0.25


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("drain", help=COMMANDS["drain"].help, description=COMMANDS["drain"].help)
    parser.add_argument("worker", metavar="WORKER", help="its name, as `numbridge status` shows it")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="SECONDS", help="how long to wait (120)")
    add_data_option(parser)


def run(args: argparse.Namespace) -> int:
    """Waits until the worker has gone, with progress."""
    asyncio.run(drain(locate(args.data), args.worker, args.timeout))
    return DONE


async def drain(settings: ClientSettings, name: str, timeout_s: float) -> None:
    """Raises UsageError if there is no such worker, CheckFailed if it is not gone in time."""
    from numbridge.cli.inside import CALL_S, answer_of, calling, visit
    from numbridge.v1.table_pb2 import DrainRequest, GetWorkerRequest
    from numbridge.v1.table_pb2_grpc import TablesStub

    end = time.monotonic() + timeout_s
    async with visit(settings) as inside:
        workers = {entry.name: entry for entry in inside.routes.workers()}
        if name not in workers:
            there = ", ".join(sorted(workers)) or "none"
            raise UsageError(f"there is no worker {name!r}; there are: {there}")
        entry = workers[name]
        if all(other.draining for other in workers.values() if other.name != name):
            print(f"{name}: no other worker takes its tables; they wait in the log until one starts", flush=True)
        async with calling(settings, entry.addr, "table") as channel:
            tables = TablesStub(channel)
            reply = await answer_of(tables.Drain(DrainRequest(), timeout=CALL_S))
            if reply is None:
                raise CheckFailed(f"{name} does not answer at {entry.addr}")
            left = reply.shards
            print(f"{name}: {left} shards to hand over", flush=True)
            while any(other.run == entry.run for other in inside.routes.workers()):
                if time.monotonic() > end:
                    raise CheckFailed(f"{name} has not ended after {timeout_s:g} s; {left} shards are left")
                await asyncio.sleep(_EVERY_S)
                now = await answer_of(tables.GetWorker(GetWorkerRequest(), timeout=CALL_S))
                if now is not None and now.shards != left:
                    left = now.shards
                    print(f"{name}: {left} shards left", flush=True)
    print(f"{name} has ended", flush=True)
