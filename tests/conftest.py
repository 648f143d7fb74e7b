"""Fixtures that every tier may use, and the rule that CI skips nothing."""

import gc
import os
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest
import structlog

from tests.helpers.servers import (
    clean_nats,
    clean_redis,
    nats_url,
    postgres_server,
    postgres_url,
    redis_url,
)


def _configured(configure: Callable[..., None], *args: Any, **settings: Any) -> None:
    configure(*args, **{**settings, "cache_logger_on_first_use": False})


__all__ = ["clean_nats", "clean_redis", "nats_url", "postgres_server", "postgres_url", "redis_url"]

# Where `rich` is installed (a library of the tests needs it) structlog would draw each trace, in milliseconds.
_plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _plain])

# A service's loggers are made once for good; here the next test may want to hear them in another way.
structlog.configure = partial(_configured, structlog.configure)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Generator[None, Any, Any]:
    """What a test has set of the logs ends with it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """With CI=true a skipped test is a failed one: something that should be installed is missing."""
    gc.disable()  # a finalizer that logs a trace while pytest parses source breaks CPython 3.11's parser (gh-106905)
    try:
        report = yield
    finally:
        gc.enable()
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
    return report
