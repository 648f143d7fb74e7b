"""What the gateway is told, and how wrong settings are refused."""

import dataclasses
from pathlib import Path

import pytest

from gateway.settings import Settings
from numbridge.settings import SettingsError

GOOD = {"NUMBRIDGE_TOKEN_KEY": "k" * 32}


def problems(**env: str) -> str:
    """Everything that is wrong, as an operator reads it."""
    with pytest.raises(SettingsError) as caught:
        Settings.load({**GOOD, **{f"NUMBRIDGE_{name}": value for name, value in env.items()}})
    return "\n".join(caught.value.problems)


def test_a_key_is_all_that_is_needed(tmp_path: Path) -> None:
    assert Settings.load(GOOD).ring() is not None
    path = tmp_path / "key"
    path.write_text("f" * 40)
    ring = Settings.load({"NUMBRIDGE_TOKEN_KEY_FILE": str(path)}).ring()
    assert ring is not None
    assert ring.keys == (b"f" * 40,)
    provider = Settings.load({"NUMBRIDGE_JWKS": "keys.json", "NUMBRIDGE_GUESTS": "off"})
    assert provider.ring() is None


def test_without_a_key_it_does_not_start() -> None:
    with pytest.raises(SettingsError, match="nobody could log in"):
        Settings.load({})


def test_a_bad_key_is_refused_without_showing_it() -> None:
    said = problems(TOKEN_KEY="hunter2")
    assert "shorter" in said
    assert "hunter2" not in said


def test_a_key_file_that_is_not_there() -> None:
    with pytest.raises(SettingsError, match="TOKEN_KEY_FILE"):
        Settings.load({"NUMBRIDGE_TOKEN_KEY_FILE": "/nowhere/key"})


def test_guests_need_a_key_to_sign_with() -> None:
    with pytest.raises(SettingsError, match="guests"):
        Settings.load({"NUMBRIDGE_JWKS": "https://id.example/keys"})


@pytest.mark.parametrize(
    ("env", "names"),
    [
        ({"PORT": "70000"}, "PORT"),
        ({"OWN_PORT": "-2"}, "OWN_PORT"),
        ({"PORT": "8080", "OWN_PORT": "8080"}, "OWN_PORT"),
        ({"OUTBOX_SOFT_BYTES": "600000"}, "OUTBOX_SOFT_BYTES"),
        ({"DEAD_MS": "100"}, "DEAD_MS"),
        ({"LINK_TIMEOUT_MS": "60000"}, "LINK_TIMEOUT_MS"),
        ({"BAD_BURST": "9"}, "BAD_BURST"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8, proxy.example"}, "TRUSTED_PROXIES"),
        ({"MESSAGE_BURST": "0"}, "MESSAGE_BURST"),
        ({"CONNECTIONS": "x"}, "CONNECTIONS"),
    ],
)
def test_wrong_values_and_combinations_are_named(env: dict[str, str], names: str) -> None:
    assert names in problems(**env)


def test_all_problems_are_told_at_once() -> None:
    said = problems(PORT="70000", BAD_BURST="1", DEAD_MS="1")
    assert all(name in said for name in ("PORT", "BAD_BURST", "DEAD_MS"))


def test_every_number_that_must_be_positive_is_checked() -> None:
    settings = Settings.load(GOOD)
    counts = [field.name for field in dataclasses.fields(settings) if field.name.endswith(("_burst", "_per_minute"))]
    assert len(counts) == 24
    for name in counts:
        assert name.upper() in problems(**{name.upper(): "0"})
