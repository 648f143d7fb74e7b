"""The client's files as they lie in the repository: complete, small, and with nothing from elsewhere."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).resolve().parents[2] / "gateway" / "web"
LANGUAGES = ("en", "de", "nl", "el")
SCRIPTS = sorted((WEB / "js").glob("*.js"))
HEAVIEST = 200 * 1000
PLAIN = 200 * 1024  # where nothing is compressed; Greek takes two bytes a letter

Catalogue = dict[str, Any]


def catalogue(language: str) -> Catalogue:
    messages: Catalogue = json.loads((WEB / "i18n" / f"{language}.json").read_text())
    return messages


def texts(message: str | dict[str, str]) -> Iterator[str]:
    yield from [message] if isinstance(message, str) else message.values()


def placeholders(message: str | dict[str, str]) -> set[str]:
    return {name for text in texts(message) for name in re.findall(r"\{(\w+)\}", text)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_has_the_same_messages_and_placeholders_as_the_english_one(language: str) -> None:
    english, other = catalogue("en"), catalogue(language)
    assert set(other) == set(english)
    for key, message in english.items():
        # a plural form may leave its number out ("one tile"), but may not ask for what is not given
        assert placeholders(other[key]) == placeholders(message), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_has_no_empty_text_and_both_plural_forms(language: str) -> None:
    for key, message in catalogue(language).items():
        assert all(text.strip() for text in texts(message)), key
        if not isinstance(message, str):
            assert set(message) == {"one", "other"}, key


def test_every_message_that_the_code_names_exists_and_every_one_that_exists_is_named() -> None:
    code = "\n".join(path.read_text() for path in SCRIPTS)
    messages = set(catalogue("en"))
    named = set(re.findall(r'"([a-z]+\.[a-z_]+)"', code))
    prefixes = {key.split(".")[0] for key in messages}
    named = {key for key in named if key.split(".")[0] in prefixes and not key.endswith((".js", ".css"))}
    assert named <= messages, named - messages
    built = [re.compile(re.escape(text).replace(r"\$\{X\}", "[a-z_]+")) for text in _templates(code)]
    unused = {key for key in messages - named if not any(pattern.fullmatch(key) for pattern in built)}
    assert not unused, unused


def _templates(code: str) -> list[str]:
    """Keys that are put together from parts, with X for a part."""
    return [re.sub(r"\$\{[^}]*\}", "${X}", text) for text in re.findall(r"`([a-z]+\.[^`\s]*\$\{[^`]*)`", code)]


def test_all_kinds_of_the_protocol_have_words() -> None:
    messages = catalogue("en")
    offers = {
        f"offer_{kind}_{state}"
        for kind in ("draw", "adjourn", "resume")
        for state in ("open", "accepted", "declined", "lapsed")
    }
    moves = {"hit", "miss", "claim", "exchange", "pie", "burn", "pass", "adjourned", "resumed", "over"}
    errors = {
        "bad_message", "unauthorized", "forbidden", "not_found", "limit", "bad_seek", "gone", "not_your_turn",
        "stale", "illegal", "over", "unavailable", "internal",
    }  # fmt: skip
    assert {f"move.{name}" for name in offers | moves} <= set(messages)
    assert {f"error.{name}" for name in errors} <= set(messages)
    endings = {"connection", "blocks", "resign", "time", "draw", "no_show", "operator"}
    assert {f"end.{name}" for name in endings} <= set(messages)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_have_the_same_pages_headings_lists_and_figures_in_every_language(language: str) -> None:
    def skeleton(of: str) -> list[str]:
        lines = (WEB / "rules" / f"{of}.md").read_text().splitlines()
        keep = [line for line in lines if line.startswith(("# ", "= ", "## ", "- ", "@figure "))]
        return [
            line if line.startswith("# ") else " ".join(line.split()[:2]) if line[0] == "@" else line[:2]
            for line in keep
        ]

    assert skeleton(language) == skeleton("en")


def test_the_numbers_in_the_rules_are_the_same_in_every_language() -> None:
    def numbers(of: str) -> list[str]:
        return re.findall(r"\d+(?:×\d+)?", (WEB / "rules" / f"{of}.md").read_text())

    assert {language: numbers(language) for language in LANGUAGES} == dict.fromkeys(LANGUAGES, numbers("en"))


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (WEB / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert "<style" not in page
    assert not re.search(r"\s(style|on\w+)=", page)
    for path in WEB.rglob("*"):
        if path.is_file():
            found = re.findall(r"https?://[^\s\"'`<>)]+", path.read_text())
            assert set(found) <= {"http://www.w3.org/2000/svg"}, path
    for path in SCRIPTS:
        code = path.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", code), (
            path
        )


def test_index_preloads_every_module() -> None:
    page = (WEB / "index.html").read_text()
    preloaded = set(re.findall(r'modulepreload" href="js/([\w.]+)"', page))
    assert preloaded == {path.name for path in SCRIPTS} - {"app.js"}


def test_every_import_names_a_file_that_is_there() -> None:
    names = {path.name for path in SCRIPTS}
    for path in SCRIPTS:
        imported = set(re.findall(r'from "\./([\w.]+)"', path.read_text()))
        assert imported <= names, path


def test_files_are_short() -> None:
    for path in WEB.rglob("*"):
        if path.suffix in (".js", ".css", ".html"):
            assert len(path.read_text().splitlines()) < 400, path


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_visit_is_under_200_kb_even_uncompressed(language: str) -> None:
    shared = [path for path in WEB.rglob("*") if path.is_file() and path.parent.name not in ("i18n", "rules")]
    total = sum(path.stat().st_size for path in [*shared, WEB / "i18n" / f"{language}.json"])
    assert total < PLAIN, f"{total} bytes"


def test_all_files_in_all_languages_travel_in_half_of_that() -> None:
    total = sum(len(gzip.compress(path.read_bytes(), 9)) for path in WEB.rglob("*") if path.is_file())
    assert total < HEAVIEST / 2, f"{total} bytes"
