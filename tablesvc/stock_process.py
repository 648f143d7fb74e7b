"""The inside of the dealing process: imports nothing but the dealer, so that it starts fast and stays
small."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from tablesvc.dealing.dealer import deal

NICE = 10  # filling the stock gives way to those who play and are seated


def begin() -> None:
    """Runs once in the new process. It leaves Ctrl-C to its parent, and ends when the parent does, however
    that ends: without this it would wait for ever for the next call of a worker that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(0)


def make(side: int, blocks: str, givens: int, seed: int) -> tuple[str, str, str]:
    """A deal's blocks, solution and givens. Raises DealingError."""
    made = deal(side, blocks, givens, seed)
    return made.blocks, made.solution, made.givens
