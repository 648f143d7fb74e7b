"""Waiting for a condition with a deadline, instead of sleeping and hoping."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


async def eventually(
    condition: Callable[[], Any], timeout_s: float = 10.0, every_s: float = 0.02, what: str = ""
) -> Any:
    """Polls `condition` until it is true (and returns what it gave); its AssertionErrors count as "not yet".

    Raises AssertionError with the last failure when `timeout_s` has gone by.
    """
    last: Any = None
    end = asyncio.get_running_loop().time() + timeout_s
    while True:
        try:
            value = condition()
            if inspect.isawaitable(value):
                value = await value
            if value:
                return value
            last = value
        except AssertionError as error:
            last = error
        if asyncio.get_running_loop().time() >= end:
            raise AssertionError(
                f"not within {timeout_s} s: {what or inspect.getsource(condition).strip()}; last: {last!r}"
            )
        await asyncio.sleep(every_s)
