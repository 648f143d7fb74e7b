"""Whether the terminal that a process was started from is still there: what a SIGHUP means depends on it."""

import os


class Terminal:
    """Make it at the start."""

    def __init__(self) -> None:
        self._was = _there()

    @property
    def gone(self) -> bool:
        """Whether there was one, and it has been closed since."""
        return self._was and not _there()


def _there() -> bool:
    """Whether the process has a controlling terminal that is not hung up."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
