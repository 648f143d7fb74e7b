"""`numbridge up`: a whole cluster on this machine, real NATS and Redis included, until Ctrl-C."""

import argparse
import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from numbridge.cli.child import Child
from numbridge.cli.datadir import DataDir, Process, default_root
from numbridge.cli.errors import DONE, FAILED, CheckFailed, UsageError
from numbridge.cli.main import COMMANDS, Subparsers
from numbridge.cli.plan import Options, Plan, make
from numbridge.cli.ports import HOST, Ports, PortTaken, PublicPort
from numbridge.cli.supervisor import Supervisor
from numbridge.local_servers import ServerError
from numbridge.terminal import Terminal

_TRIM_S = 20.0
_GRACE_S = 30.0  # beyond a service's own drain_ms: its stops have bounds of their own below that


def _number(least: int, most: int) -> Callable[[str], int]:
    """An argparse type: a whole number within limits."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{value} is not from {least} to {most}")
        return value

    return read


def _interval(text: str) -> str:
    """An argparse type: `always`, or a time with its unit as NATS reads it."""
    if text != "always" and not re.fullmatch(r"[1-9][0-9]{0,5}(ms|s|m|h)", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither `always` nor a time as 500ms, 10s or 2m")
    return text


def add_parser(subparsers: Subparsers) -> None:
    """See the protocol, section 3."""
    parser = subparsers.add_parser("up", help=COMMANDS["up"].help, description=COMMANDS["up"].help)
    parser.add_argument("--port", type=_number(0, 65_535), default=8080, help="public port; 0 picks a free one (8080)")
    parser.add_argument("--workers", type=_number(1, 32), default=2, metavar="N", help="table workers (2)")
    parser.add_argument("--gateways", type=_number(1, 32), default=1, metavar="N", help="gateways, one port (1)")
    parser.add_argument("--lobbies", type=_number(1, 32), default=1, metavar="N", help="lobby replicas (1)")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"where state lives ({default_root()})")
    parser.add_argument("--rooms", type=Path, metavar="FILE", help="rooms file (the club's four rooms)")
    parser.add_argument("--bots", type=_number(0, 1000), default=0, metavar="N", help="house bots (0)")
    parser.add_argument("--no-limits", action="store_true", help="lift rate and count limits, for load tests")
    parser.add_argument("--log-sync", type=_interval, default="always", metavar="INTERVAL", help=(
                        "how often the NATS server syncs its files, as 500ms or 2m; always: before each "
                        "acknowledgement (always)"))  # fmt: skip
    parser.add_argument("--secure", action="store_true", help=(
                        "inside too: certificates between services, a NATS and a Redis user for each, who may do only "
                        "what is theirs"))  # fmt: skip
    parser.add_argument("--postgres", metavar="URL", help="database instead of SQLite in DIR")


def run(args: argparse.Namespace) -> int:
    """Runs the cluster; 0 after an orderly end, 1 after a forced one or if it can't be kept running."""
    env = dict(os.environ)
    named = env.get("NUMBRIDGE_ROOMS_FILE")
    rooms = _checked_rooms(args.rooms or (Path(named) if named else None))
    if args.log_sync != "always" and env.get("NUMBRIDGE_NATS_URL"):
        raise UsageError("--log-sync is for the NATS server that is started here; NUMBRIDGE_NATS_URL names another")
    if args.secure and (env.get("NUMBRIDGE_NATS_URL") or env.get("NUMBRIDGE_REDIS_URL")):
        raise UsageError(
            "--secure is for the servers that are started here; NUMBRIDGE_NATS_URL or _REDIS_URL names others"
        )
    data = DataDir(args.data or default_root())
    if args.postgres:
        env["NUMBRIDGE_DATABASE_URL"] = args.postgres
    host = env.get("NUMBRIDGE_LISTEN_HOST") or HOST
    with data.claim():
        public, ports = _public_port(host, args.port), Ports()
        try:
            options = Options(
                port=public.port,
                workers=args.workers,
                gateways=args.gateways,
                lobbies=args.lobbies,
                rooms=rooms,
                bots=args.bots,
                limits=not args.no_limits,
                log_sync=args.log_sync,
                secure=args.secure,
            )
            data.signing_key()
            plan = make(options, data, ports, env, os.getpid())
            return asyncio.run(_Up(plan, data).run())
        except ServerError as error:
            raise CheckFailed(str(error)) from None
        finally:
            ports.close()
            public.close()


def _public_port(host: str, port: int) -> PublicPort:
    try:
        return PublicPort(host, port)
    except PortTaken:
        raise UsageError(f"port {port} is in use; give another with --port") from None
    except OSError as error:
        raise UsageError(f"can't listen on {host}:{port}: {error.strerror or error}") from None


def _checked_rooms(path: Path | None) -> Path | None:
    """The rooms file, once it has been read without an error."""
    if path is None:
        return None
    from numbridge.rooms import RoomsError, load

    try:
        load(path)
    except RoomsError as error:
        raise UsageError(f"{path}: " + "; ".join(error.problems)) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    return path


class _Up:
    """One run of a planned cluster."""

    def __init__(self, plan: Plan, data: DataDir) -> None:
        self._plan = plan
        self._data = data
        self._children = [Child(spec, data.fresh_log(spec.name)) for spec in plan.specs]
        self._up = False

    async def run(self) -> int:
        """Starts, waits for a signal or a failure, stops; the exit code."""
        first, second = asyncio.Event(), asyncio.Event()
        loop, terminal = asyncio.get_running_loop(), Terminal()

        def stop() -> None:
            (second if first.is_set() else first).set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: stop() if terminal.gone else self._reload())
        began = time.monotonic()
        supervisor = Supervisor(self._children, _say, _warn, self._write)
        asked = asyncio.create_task(first.wait())
        trimming = asyncio.create_task(self._trim())
        try:
            starting = asyncio.create_task(supervisor.start())
            await asyncio.wait([starting, asked], return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                await starting
                self._up = True
                self._write()
                self._announce(time.monotonic() - began)
                failed = asyncio.create_task(supervisor.failed())
                await asyncio.wait([failed, asked], return_when=asyncio.FIRST_COMPLETED)
                if failed.done():
                    await failed
                failed.cancel()
            else:
                starting.cancel()
            _say("stopping; once more to force it")
        finally:
            trimming.cancel()
            orderly = await supervisor.stop(self._grace_s(), second)
        _say("stopped" if orderly else "stopped by force; nothing acknowledged is lost")
        return DONE if orderly else FAILED

    def _reload(self) -> None:
        """The lobbies read the rooms file again; nobody else reads it."""
        for child in self._children:
            if child.spec.kind == "lobby":
                child.hang_up()
        _say("the rooms file is read again; the lobby's log says what became of it")

    def _grace_s(self) -> float:
        drain_ms = os.environ.get("NUMBRIDGE_DRAIN_MS", "20000")
        return _GRACE_S + (int(drain_ms) / 1000 if drain_ms.isdigit() else 0.0)

    async def _trim(self) -> None:
        while True:
            await asyncio.sleep(_TRIM_S)
            try:
                await asyncio.to_thread(self._data.trim_logs)
            except OSError as error:
                _warn(f"logs can't be trimmed: {error}")

    def _write(self) -> None:
        """cluster.json, once all is ready and whenever a process has changed after that."""
        if not self._up:
            return
        try:
            self._data.write(replace(self._plan.info, processes=[_process(child) for child in self._children]))
        except OSError as error:
            _warn(f"cluster.json can't be written: {error}")

    def _announce(self, seconds: float) -> None:
        _say(f"\nNumbridge is up after {seconds:.1f} s:  {self._plan.info.url}\n")
        for child in self._children:
            spec = child.spec
            if spec.metrics_port is None:
                continue
            own = _own_url(child) or ""
            _say(f"  {spec.name:<10} {own:<24} metrics http://{HOST}:{spec.metrics_port}/metrics")
        _say(f"\nData and logs are in {self._data.root}. Ctrl-C stops it.")


def _own_url(child: Child) -> str | None:
    return f"http://{HOST}:{child.spec.port}" if child.spec.kind == "gateway" else None


def _process(child: Child) -> Process:
    """The child as cluster.json shows it."""
    spec = child.spec
    return Process(spec.name, spec.kind, child.pid, spec.port, spec.metrics_port, _own_url(child))


def _say(line: str) -> None:
    _print(line, sys.stdout)


def _warn(line: str) -> None:
    _print(f"numbridge up: {line}", sys.stderr)


def _print(line: str, out: TextIO) -> None:
    """A terminal that has gone away must not take the cluster with it."""
    try:
        print(line, file=out, flush=True)
    except OSError:
        pass
