"""The bare way of a move: the same bytes through the same sockets, link and log, with no game in between.

    players ─WebSocket─► gateway ─gRPC stream, grouped─► worker ─fenced append─► NATS
       ◄──────────────── frames ◄───────── core NATS ◄──── three frames a move ◄──┘

Both processes do what their way demands and nothing else: no session, no routing, no rules, no clocks, no metrics, no
limits. What the real ones cost beyond this is theirs. `python -m bench.floor gateway|worker …` is one process.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import grpc
import msgspec
import nats
import uvloop
from aiohttp import WSMsgType, web
from nats.aio.client import Client
from nats.aio.msg import Msg

from numbridge import wire
from numbridge.v1 import table_pb2 as pb
from numbridge.v1 import table_pb2_grpc

RECORD = b"r" * 118  # bytes of an exchange in the log
REST = b'","kind":"exchange","hands":{"blue":3,"red":3},"bag":45,"clock":{"blue_ms":1799000,"red_ms":1798000,"deadline_at":1764567890123,"running":true},"moves_left":1,"pie":false,"mistakes":{"blue":0,"red":0}'  # noqa: E501
SEATS = ("blue", "red", "watch")


class _Ack(msgspec.Struct):
    seq: int


_ack = msgspec.json.Decoder(_Ack).decode


def frame(game: str, version: int, hand: bytes) -> bytes:
    """A move's frame; hands alternate."""
    by, then = (b"blue", b"red") if version % 2 else (b"red", b"blue")
    return b'{"ev":"move","game":"%b","version":%d,"by":"%b%b,"to_move":"%b"%b}' % (
        game.encode(), version, by, REST, then, hand,
    )  # fmt: skip


class Worker(table_pb2_grpc.TablesServicer):
    """Appends each play to its game's subject, publishes three frames, answers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.new_inbox()
        self._waiting: dict[str, tuple[pb.Command, list[pb.Answer], asyncio.Event]] = {}
        self._last: dict[str, int] = {}
        self._number = 0

    async def start(self) -> None:
        """Listens for acks."""
        await self._client.subscribe(f"{self._inbox}.*", cb=self._acked)

    async def Link(self, request_iterator: AsyncIterator[pb.LinkUp], context: Any) -> AsyncIterator[pb.LinkDown]:
        """See table.proto."""
        out: list[pb.Answer] = []
        some = asyncio.Event()
        reader = asyncio.create_task(self._read(request_iterator, out, some))
        try:
            while True:
                await some.wait()
                some.clear()
                answers, out[:] = list(out), []
                yield pb.LinkDown(answers=answers)
        finally:
            reader.cancel()

    async def _read(self, incoming: AsyncIterator[pb.LinkUp], out: list[pb.Answer], some: asyncio.Event) -> None:
        async for up in incoming:
            for command in up.commands:
                self._number += 1
                token = str(self._number)
                self._waiting[token] = command, out, some
                headers = {
                    "Nats-Expected-Last-Subject-Sequence": str(self._last.get(command.game, 0)),
                    "Nats-Msg-Id": f"{id(self):x}-{token}",
                }
                await self._client.publish(
                    f"floor.{command.game}", RECORD, reply=f"{self._inbox}.{token}", headers=headers
                )

    async def _acked(self, message: Msg) -> None:
        command, out, some = self._waiting.pop(message.subject.rpartition(".")[2])
        self._last[command.game] = _ack(message.data).seq
        version = command.play.version + 1
        for seat in SEATS:
            hand = b"" if seat == "watch" else b',"hand":[1,2,3]'
            text = b"%d %b\n" % (version, frame(command.game, version, hand))
            await self._client.publish(f"view.{command.game}.{seat}", text)
        out.append(pb.Answer(request=command.request, accepted=pb.Accepted(version=version)))
        some.set()


class Gateway:
    """Carries plays to the worker and frames to the sockets."""

    def __init__(self, client: Client, call: Any) -> None:
        self._client = client
        self._call = call
        self._queue: deque[pb.Command] = deque()
        self._wake = asyncio.Event()
        self._asked: dict[int, tuple[web.WebSocketResponse, str | None]] = {}
        self._number = 0

    async def write(self) -> None:
        """Sends what waits, as long as the process lives."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                commands = list(self._queue)
                self._queue.clear()
                await self._call.write(pb.LinkUp(commands=commands))

    async def read(self) -> None:
        """Passes answers on."""
        while (down := await self._call.read()) is not grpc.aio.EOF:  # type: ignore[attr-defined]
            for answer in down.answers:
                socket, ref = self._asked.pop(answer.request)
                if not socket.closed:
                    await socket.send_str(f'{{"ev":"ok","ref":"{ref}","version":{answer.accepted.version}}}')

    async def enter(self, request: web.Request) -> web.WebSocketResponse:
        """GET /ws?game=G&seat=S."""
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        game, seat = request.query["game"], request.query["seat"]

        async def show(message: Msg) -> None:
            await socket.send_str(message.data.partition(b" ")[2].rstrip().decode())

        await self._client.subscribe(f"view.{game}.{seat}", cb=show)
        await self._client.flush()
        await socket.send_str(f'{{"ev":"state","game":"{game}"}}')
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            play = wire.decode_client(message.data.encode())
            if not isinstance(play, wire.Play):
                continue
            self._number += 1
            self._asked[self._number] = socket, play.ref
            sent = pb.Play(player=seat, ref=play.ref or "", version=play.version, action="exchange", lag_ms=3)
            self._queue.append(pb.Command(request=self._number, game=play.game, play=sent))
            self._wake.set()
        return socket


async def serve_worker(nats_url: str, port: int) -> None:
    """Serves until killed."""
    client = await nats.connect(nats_url)
    await client.jetstream().add_stream(name="FLOOR", subjects=["floor.>"])
    worker = Worker(client)  # type: ignore[abstract]  # the bare way has no other calls
    await worker.start()
    server = grpc.aio.server()
    table_pb2_grpc.add_TablesServicer_to_server(worker, server)
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


async def serve_gateway(nats_url: str, port: int, worker: int) -> None:
    """Serves until killed."""
    client = await nats.connect(nats_url)
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{worker}")
    gateway = Gateway(client, table_pb2_grpc.TablesStub(channel).Link())  # type: ignore[call-arg]
    app = web.Application()
    app.router.add_get("/ws", gateway.enter)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print("ready", flush=True)
    await asyncio.gather(gateway.write(), gateway.read())


if __name__ == "__main__":
    kind, nats_url, *ports = sys.argv[1:]
    uvloop.run((serve_gateway if kind == "gateway" else serve_worker)(nats_url, *map(int, ports)))
