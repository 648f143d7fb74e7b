"""Signing keys, names, claims."""

from pathlib import Path

import pytest

from numbridge.tokens import KeyRing, TokenError, clean_name, read_claims, sign

RING = KeyRing.parse("k" * 32)


def test_keys_come_from_text_or_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("a" * 32 + "\n\n  " + "b" * 32 + "  \n")
    assert KeyRing.load("", str(path)).keys == (b"a" * 32, b"b" * 32)
    assert KeyRing.load("c" * 32 + "," + "d" * 32, str(path)).keys == (b"c" * 32, b"d" * 32)


@pytest.mark.parametrize("text", ["", " \n ", "short", "k" * 32 + "\nshort"])
def test_no_key_and_short_keys_are_refused(text: str) -> None:
    with pytest.raises(TokenError) as caught:
        KeyRing.parse(text)
    assert "short\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["Ada", "Zoë", "李小龍", "O'Neill-Smith", "☃", "x" * 32, "a b"])
def test_names_that_can_be_shown(name: str) -> None:
    assert clean_name(f"  {name} ") == name


def test_a_name_is_composed_before_it_is_counted() -> None:
    assert clean_name("e\u0301" * 32) == "\u00e9" * 32


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 33, "a\nb", "a\x00b", "a\u200bb", "a\u202eb", "\ud800", "\ufeff", "a\u2028b", "\ue000"]
)
def test_names_that_cannot(name: str) -> None:
    with pytest.raises(TokenError, match="name"):
        clean_name(name)


@pytest.mark.parametrize("player", ["", "x" * 65, "a\nb"])
def test_a_player_without_a_proper_id_gets_no_token(player: str) -> None:
    with pytest.raises(TokenError, match="id"):
        sign(RING, player, "Ada")


@pytest.mark.parametrize("sub", [None, 5, "", "x" * 65, "a\x00b", "\ud800"])
def test_claims_must_say_who(sub: object) -> None:
    with pytest.raises(TokenError):
        read_claims({"sub": sub}, trusted=True)


def test_claims_of_another_shape_are_refused_or_ignored() -> None:
    with pytest.raises(TokenError, match="name"):
        read_claims({"sub": "p", "name": ["Ada"]}, trusted=True)
    claims = read_claims({"sub": "p", "iat": "soon", "exp": None, "guest": "yes", "admin": 1}, trusted=True)
    assert (claims.issued_at, claims.expires_at, claims.guest, claims.admin) == (0, 0, False, False)
