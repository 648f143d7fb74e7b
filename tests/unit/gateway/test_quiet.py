"""What strangers can cause at will stays out of the logs; what is ours to mend is in them."""

import logging
import sys

import pytest
from aiohttp.http_exceptions import BadHttpMessage
from prometheus_client import CollectorRegistry

from gateway.http.guard import Guard
from gateway.http.server import _logger
from gateway.limits.gates import Gates
from gateway.metrics import Metrics


@pytest.mark.parametrize(
    ("problem", "said"),
    [(BadHttpMessage("x"), False), (ConnectionResetError("gone"), False), (ZeroDivisionError("a fault"), True)],
)
def test_only_faults_of_ours_are_logged(problem: Exception, said: bool, caplog: pytest.LogCaptureFixture) -> None:
    registry = CollectorRegistry()
    logger = _logger(Guard(Gates(), (), Metrics(registry)))
    try:
        raise problem
    except (BadHttpMessage, ConnectionError, ArithmeticError):
        logger.log(logging.ERROR, "Error handling request", exc_info=sys.exc_info())
    assert bool(caplog.records) == said
    counted = registry.get_sample_value("numbridge_gateway_http_requests_total", {"call": "none", "status": "400"})
    assert (counted == 1) == isinstance(problem, BadHttpMessage)
