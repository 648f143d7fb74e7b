"""The tables that one client views: joining them, keeping them complete, leaving them.

join    look (which seat?)  ->  tune (from now on nothing is missed)  ->  catch (what was missed until now)
gap, loss, slow reader      ->  catch again
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from gateway.session import effects as fx
from gateway.session.resume import View
from gateway.session.talk import Talk
from numbridge import wire


class Finish(Protocol):
    """Answers a client's message; `texts` follow the answer."""

    def __call__(self, message: wire.ClientMessage, result: fx.Result, *texts: bytes) -> None: ...


class Viewing:
    """Views by game."""

    def __init__(self, talk: Talk, finish: Finish, most: int | None) -> None:
        """`most`: tables at the same time; None lifts the limit."""
        self.views: dict[str, View] = {}
        self._talk = talk
        self._finish = finish
        self._most = most
        self._muted = False

    def __len__(self) -> int:
        return len(self.views)

    @property
    def playing(self) -> bool:
        """Whether the client sits as a player at any of its tables."""
        return any(view.playing for view in self.views.values())

    # --- what the client asks --------------------------------------------------------------------------------

    def join(self, message: wire.Join) -> None:
        """A client comes to a table, or asks again at one where it is."""
        game, known = message.game, self.views.get(message.game)
        if known is not None:
            self._catch(self._new(message, known.seat), message, known)
        elif self._most is not None and len(self.views) >= self._most:
            text = f"you are at {self._most} tables; leave one first"
            self._finish(message, fx.Refusal("limit", text, retry_ms=1000))
        else:
            self._talk.ask(fx.Look(game), lambda result: self._looked(message, result))

    def leave(self, message: wire.Leave) -> None:
        """A client leaves a table; fine if it is not there."""
        if self.views.pop(message.game, None) is not None:
            self._talk.untune(message.game)
        self._finish(message, fx.Done())

    def _new(self, message: wire.Join, seat: str) -> View:
        view = self.views[message.game] = View(message.game, seat, message.since)
        if self._muted:
            view.mute()
        return view

    def _looked(self, message: wire.Join, result: fx.Result) -> None:
        match result:
            case fx.Seated(seat):
                view = self._new(message, seat)
                tune = fx.Tune(message.game, seat)
                view.ask(self._talk.ask(tune, lambda tuned: self._tuned(view, message, tuned)))
            case fx.Archived():
                self._finish(message, result, *_news(result, message.since))
            case _:
                self._finish(message, result)

    def _tuned(self, view: View, message: wire.Join, result: fx.Result) -> None:
        if isinstance(result, fx.Done):
            self._catch(view, message)
        else:
            self._drop(view)
            self._finish(message, result)

    # --- what the gateway does of its own accord -------------------------------------------------------------

    def frames(self, game: str, frames: Iterable[fx.Frame]) -> None:
        """Live frames of a table."""
        view = self.views.get(game)
        if view is not None:
            self._show(view, *view.live(frames))

    def resync(self, game: str | None) -> None:
        """Frames of `game` (None: of any table) may have been missed."""
        self._each(lambda view: (game is None or view.game == game) and not view.muted and view.resync())

    def mute(self) -> None:
        """The client reads too slowly: it gets nothing more until `unmute`."""
        self._muted = True
        for view in self.views.values():
            view.mute()

    def unmute(self) -> None:
        """The client has read all that waited: it gets a fresh state of each table."""
        self._muted = False
        for view in self.views.values():
            view.muted = False
        self.resync(None)

    def retry(self) -> None:
        """Asks again where the last question was refused."""
        self._each(lambda view: view.wanting and not view.asking)

    def end(self) -> None:
        """The socket has gone."""
        for game in self.views:
            self._talk.untune(game)
        self.views.clear()

    def _each(self, ask: Callable[[View], bool]) -> None:
        for view in list(self.views.values()):
            if ask(view):
                self._catch(view)

    # --- what was missed -------------------------------------------------------------------------------------

    def _catch(self, view: View, message: wire.Join | None = None, before: View | None = None) -> None:
        """Asks for what `view` lacks: for a join of the client's (in the place of the view `before`, if it was at the
        table) or, without `message`, unasked."""
        view.wanting = False
        request = fx.Catch(view.game, view.seat, view.version, arrive=message is not None)
        view.ask(self._talk.ask(request, lambda result: self._caught(view, number, message, result, before)))
        number = view.asking

    def _caught(
        self, view: View, number: int, message: wire.Join | None, result: fx.Result, before: View | None
    ) -> None:
        if self.views.get(view.game) is not view or view.asking != number:
            return  # a later question has taken this one's place; only unasked ones can be overtaken
        texts: list[bytes] = []
        again = False
        match result:
            case fx.Joined():
                texts, again = view.joined(result)
            case fx.Archived():
                texts = _news(result, view.version)
                self._drop(view)
            case _ if before is not None:  # who was at the table stays there, with what he had
                before.retake(view)
                self.views[view.game] = before
            case _ if message is not None:
                self._drop(view)
            case _:
                view.asking = 0
                view.wanting = True
        if again:  # before the answer: what waits behind the join (a leave, another join) comes after it
            self._catch(view)
        if message is not None:
            self._finish(message, result, *texts)
        else:
            self._show(view, texts, False)

    def _show(self, view: View, texts: list[bytes], again: bool) -> None:
        for text in texts:
            self._talk.send(text)
        if again and not view.asking:
            self._catch(view)

    def _drop(self, view: View) -> None:
        del self.views[view.game]
        self._talk.untune(view.game)


def _news(end: fx.Archived, known: int | None) -> list[bytes]:
    """A finished game's state, unless the client has its last version."""
    return [] if end.version == known else [end.state]
