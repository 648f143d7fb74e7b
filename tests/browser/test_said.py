"""Every sentence with which the server refuses a player is known to the page, and so is said in his language."""

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lobby.matching.seek import Span
from tests.browser.tools import ROOT, node

pytestmark = pytest.mark.browser

SOURCES = [
    *(ROOT / "tablesvc" / "engine" / f"{name}.py" for name in ("decide", "decide_move", "decide_offer", "legal")),
    *(ROOT / "lobby" / f"{name}.py" for name in ("desk", "taking", "company", "seat_check", "restrictions")),
    ROOT / "lobby" / "matching" / "seek.py",
]
NOT_MET = {  # what the page never asks for; their English sentence, or the general one, will do
    "that cell is not on the field",
    "only a draw or an adjournment can be offered",
    "only an offer of a draw or an adjournment can be answered",
    "a seek of another player's has this id",
    "that seek is another player's",
    "you did not play in that game",
    "you can't block yourself",
}
ASK = """
import { said } from %s;
process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]).map((sentence) => said(sentence))));
"""


def _text(node: ast.expr) -> str | None:
    """A literal, with examples in the place of what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.IfExp):
        return _text(node.body)
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            parts.append(_example(ast.unparse(value.value)))
    return "".join(parts)


def _example(expression: str) -> str:
    if "price" in expression or "tile" in expression:
        return "2"
    if "until" in expression:
        return "2027-01-05 17:30"
    if expression == "rating":
        return "1480"
    if "blocks" in expression:
        return "irregular"
    return "givens" if expression == "field" else str(Span(22, 34))


def sentences(path: Path) -> Iterator[str]:
    """What `path` refuses players with: Illegal, BadSeek, Rejected(FORBIDDEN)."""
    for found in ast.walk(ast.parse(path.read_text())):
        if not isinstance(found, ast.Call) or not isinstance(found.func, ast.Name):
            continue
        kind, args = found.func.id, found.args
        if kind == "Illegal" or (kind == "BadSeek" and ast.unparse(args[0]) in ("'givens'", "'blocks'")):
            text = _text(args[-1])
        elif kind == "Rejected" and ast.unparse(args[0]) == "Reason.FORBIDDEN":
            text = _text(args[1])
        else:
            continue
        if text is not None:
            yield text


def _known(texts: list[str]) -> list[dict[str, object] | None]:
    script = ASK % json.dumps((ROOT / "gateway" / "web" / "js" / "said.js").as_uri())
    argv = [node(), "--input-type=module", "--eval", script, json.dumps(texts)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    known: list[dict[str, object] | None] = json.loads(done.stdout)
    return known


def test_every_refusal_is_known_and_its_details_are_understood() -> None:
    texts = sorted({text for path in SOURCES for text in sentences(path)} - NOT_MET)
    assert len(texts) > 25
    known = _known(texts)
    assert [text for text, answer in zip(texts, known, strict=True) if answer is None] == []
    catalogues = {
        language: json.loads((ROOT / "gateway" / "web" / "i18n" / f"{language}.json").read_text())
        for language in ("en", "de", "nl", "el")
    }
    for text, answer in zip(texts, known, strict=True):
        assert answer is not None
        params = answer["params"]
        assert isinstance(params, dict)
        for language, messages in catalogues.items():
            said = messages[answer["key"]]
            assert all(f"{{{name}}}" in said for name in params), (language, text)
            assert said.count("{") == len(params), (language, text)
    assert {answer["key"] for answer in known if answer} == {key for key in catalogues["en"] if key.startswith("said.")}


def test_what_players_never_meet_is_still_what_the_server_says() -> None:
    assert {text for path in SOURCES for text in sentences(path)} >= NOT_MET
