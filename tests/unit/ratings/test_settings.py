"""Settings of the ratings service: everything wrong is said at once, and no secret is repeated."""

import pytest

from numbridge.settings import SettingsError
from ratings.settings import RatingsSettings


def test_defaults_hold() -> None:
    settings = RatingsSettings.load({})
    assert settings.database_url.startswith("sqlite:///")
    assert settings.check() == []


def test_every_problem_is_listed_without_the_password() -> None:
    env = {
        "NUMBRIDGE_DATABASE_URL": "mysql://club:hunter2@db/club",
        "NUMBRIDGE_GRPC_PORT": "70000",
        "NUMBRIDGE_RESULTS_IN_FLIGHT": "8",
        "NUMBRIDGE_RESULTS_ACK_WAIT_MS": "500",
        "NUMBRIDGE_START_WAIT_MS": "-1",
    }
    with pytest.raises(SettingsError) as caught:
        RatingsSettings.load(env)
    assert len(caught.value.problems) == len(env)
    for key, problem in zip(env, caught.value.problems, strict=True):
        assert problem.startswith(key)
    assert "hunter2" not in str(caught.value)
