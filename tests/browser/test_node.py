"""The client's modules outside a browser: types, pure logic, and its replayer against the engine's."""

import json
import subprocess

import pytest

from tablesvc.dealing.solver import has_unique_solution
from tablesvc.engine.record_check import walk
from tablesvc.engine.record_shape import parse
from tablesvc.engine.summary import summary
from tests.browser.tools import ROOT, WEB_TOOLS, modules, node

pytestmark = pytest.mark.browser

GOOD = sorted((ROOT / "tests" / "golden" / "good").glob("*.json"))
REPLAY = """
import { readFileSync } from "node:fs";
import { positions } from %s;
const all = process.argv.slice(1).map((name) => positions(JSON.parse(readFileSync(name, "utf8"))));
process.stdout.write(JSON.stringify(all));
"""


def test_types_hold() -> None:
    compiler = modules() / "typescript" / "bin" / "tsc"
    done = subprocess.run([node(), str(compiler), "--project", str(WEB_TOOLS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_pure_logic() -> None:
    folder = ROOT / "tests" / "browser" / "js"
    files = [str(path) for path in sorted(folder.glob("*.test.js"))]
    assert files
    done = subprocess.run([node(), "--test", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_replayer_shows_what_the_engine_says() -> None:
    script = REPLAY % json.dumps((ROOT / "gateway" / "web" / "js" / "record.js").as_uri())
    argv = [node(), "--input-type=module", "--eval", script, *map(str, GOOD)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    games = json.loads(done.stdout)
    assert len(games) == len(GOOD) > 0
    for path, game in zip(GOOD, games, strict=True):
        record = parse(path.read_bytes())
        checked = walk(record, has_unique_solution)
        assert len(game) == len(checked.positions)
        for ply, shown in enumerate(game):
            truth = summary(record, checked, ply)
            where = f"{path.name} ply {ply}"
            assert shown["field"] == truth["field"], where
            assert shown["owners"] == truth["owners"], where
            assert {color: sorted(hand) for color, hand in shown["hands"].items()} == truth["hands"], where
            bag = truth["bag"]
            assert isinstance(bag, list)
            assert shown["bag"] == len(bag), where
            assert shown["mistakes"] == truth["mistakes"], where
            if truth["to_move"] is not None:
                assert (shown["toMove"], shown["movesLeft"]) == (truth["to_move"], truth["moves_left"]), where
