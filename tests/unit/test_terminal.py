"""What a SIGHUP means: a closed terminal, or files to be read again."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.helpers.eventually import eventually

LISTENER = """
import fcntl, pathlib, signal, sys, termios
from numbridge.terminal import Terminal
if sys.argv[2] == "terminal":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
terminal, said = Terminal(), pathlib.Path(sys.argv[1])
def say(word):
    said.write_text((said.read_text() if said.exists() else "") + word + " ")
signal.signal(signal.SIGHUP, lambda *_: say("gone" if terminal.gone else "there"))
say("ready")
while True:
    signal.pause()
"""


def listener(said: Path, kind: str, stdin: int) -> "subprocess.Popen[bytes]":
    """Writes what it makes of each SIGHUP."""
    return subprocess.Popen([sys.executable, "-c", LISTENER, str(said), kind], stdin=stdin, start_new_session=True)


async def test_a_hangup_is_told_from_a_signal_that_somebody_sent(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    said = tmp_path / "said"
    process = listener(said, "terminal", theirs)
    os.close(theirs)
    try:
        await eventually(lambda: said.read_text() == "ready " if said.exists() else False)
        process.send_signal(1)
        await eventually(lambda: said.read_text() == "ready there ")
        os.close(ours)  # the kernel says so to the terminal's session
        await eventually(lambda: said.read_text().startswith("ready there gone "))
    finally:
        process.kill()
        process.wait()


async def test_without_a_terminal_there_is_none_to_lose(tmp_path: Path) -> None:
    said = tmp_path / "said"
    process = listener(said, "none", subprocess.DEVNULL)
    try:
        await eventually(lambda: said.read_text() == "ready " if said.exists() else False)
        process.send_signal(1)
        await eventually(lambda: said.read_text() == "ready there ")
    finally:
        process.kill()
        process.wait()
