"""What a session says and asks, gathered while one stimulus is handled, and what is to happen with each answer."""

from collections.abc import Callable

from gateway.session import effects as fx
from gateway.session import replies

Then = Callable[[fx.Result], None]


class Talk:
    """Effects on their way out, and continuations of the requests under way."""

    __slots__ = ("_number", "_out", "_then", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._out: list[fx.Effect] = []
        self._then: dict[int, Then] = {}
        self._number = 0

    def done(self) -> list[fx.Effect]:
        """The effects gathered so far, in order; they are handed out once."""
        out, self._out = self._out, []
        return out

    def send(self, text: bytes) -> None:
        """An event for the client."""
        self._out.append(fx.Send(text))

    def refuse(self, ref: str | None, refusal: fx.Refusal) -> None:
        """An `error` for the client."""
        self.send(replies.error(ref, refusal))

    def close(self, code: int, reason: str) -> None:
        """The end of the conversation."""
        self.closed = True
        self._out.append(fx.Close(code, reason))

    def untune(self, game: str) -> None:
        """A table's frames are no longer wanted."""
        self._out.append(fx.Untune(game))

    def ask(self, request: fx.Request, then: Then) -> int:
        """A request; `then` gets its result. The request's number."""
        self._number += 1
        self._then[self._number] = then
        self._out.append(fx.Ask(self._number, request))
        return self._number

    def answered(self, number: int, result: fx.Result) -> None:
        """The result of a request; one that nobody waits for any more is dropped."""
        then = self._then.pop(number, None)
        if then is not None and not self.closed:
            then(result)

    def end(self) -> None:
        """The socket has gone: nothing that was asked matters any more."""
        self.closed = True
        self._out.clear()
        self._then.clear()
