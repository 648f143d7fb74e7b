"""What README and docs/ say can be done as they say it."""

import re
from pathlib import Path

import pytest

from numbridge.cli.main import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
SAMPLES = {
    "N": "2", "K": "1", "S": "7", "R": "blitz", "DIR": "data", "FILE": "rooms.toml", "FILE…": "game.json", "ID": "ada",
    "U": "http://127.0.0.1:8080", "URL": "postgresql://127.0.0.1/numbridge", "WORKER": "table-1", "INTERVAL": "2m",
}  # fmt: skip


def usages(page: str) -> list[list[str]]:
    """Every usage of `numbridge` in a page's tables, as arguments, samples in place of names."""
    found = []
    for row in (ROOT / page).read_text(encoding="utf-8").splitlines():
        first = row.replace(r"\|", "/").split("|")[1] if row.startswith("| `") else ""
        for usage in re.findall(r"`(?:numbridge )?([^`]+)`", first):
            words = usage.replace("[", " ").replace("]", " ").split()
            if words and words[0] in COMMANDS:
                found += [[SAMPLES.get(word, word) for word in words]] if "/" not in words else []
                found += [[word] for word in words if word != "/"] if "/" in words else []
    return found


@pytest.mark.parametrize("argv", usages("README.md") + usages("docs/protocol.md"), ids=" ".join)
def test_a_documented_usage_parses(argv: list[str]) -> None:
    args = build_parser(argv[0]).parse_args(argv)
    assert args.command == argv[0]


@pytest.mark.parametrize("page", ["README.md", "docs/protocol.md"])
def test_every_command_is_documented(page: str) -> None:
    assert {argv[0] for argv in usages(page)} == set(COMMANDS)


def test_the_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:^    |`)make ([a-z-]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    assert {"play", "test"} <= named
    assert {target for target in named if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)} == set()


def test_what_is_linked_or_named_is_there() -> None:
    missing = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
        missing += [f"{page.name}: {link}" for link in links if not (page.parent / link).exists()]
        paths = re.findall(r"`((?:gateway|lobby|numbridge|ratings|tablesvc|tests|proto)/[\w./-]+)`", text)
        missing += [f"{page.name}: {path}" for path in paths if not (ROOT / path).exists()]
    assert missing == []


def test_the_rules_and_the_protocol_keep_their_sections() -> None:
    """Code and tests name them by number."""
    for page, count in (("rules.md", 11), ("protocol.md", 5)):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        numbers = [int(number) for number in re.findall(r"^## (\d+)\. ", text, flags=re.MULTILINE)]
        assert numbers == list(range(1, count + 1))
