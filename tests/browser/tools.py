"""What the tests need of node: type checker, test runner, axe-core; locked in web-tools and installed on demand."""

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEB_TOOLS = ROOT / "web-tools"


@functools.cache
def node() -> str:
    """The node program; without one the test is skipped."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node on this machine")
    return program


@functools.cache
def modules() -> Path:
    """`node_modules` with the locked tools; installs them the first time. Skips where that cannot be done."""
    folder = WEB_TOOLS / "node_modules"
    if not (folder / "axe-core" / "axe.min.js").exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("no npm on this machine")
        done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=WEB_TOOLS, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"npm ci failed: {done.stderr[-300:]}")
    return folder
