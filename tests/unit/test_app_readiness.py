"""A process is ready when all of its parts have started, and says until then what it waits for."""

import asyncio

from prometheus_client import CollectorRegistry

from numbridge.app import App
from numbridge.settings import CommonSettings


async def test_a_probe_is_not_asked_before_what_it_asks_is_there() -> None:
    app = App(CommonSettings(name="one"), CollectorRegistry())
    there: dict[str, bool] = {}
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def open_store() -> None:
        begun.set()
        await go_on.wait()
        there["store"] = True

    app.part("store", open_store)
    app.probe("store", lambda: there["store"])
    starting = asyncio.create_task(app.start())
    await begun.wait()
    assert app.failing() == ["store"]
    go_on.set()
    await starting
    assert app.failing() == []
    there["store"] = False
    assert app.failing() == ["store"]
    await app.stop()
