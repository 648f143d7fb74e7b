"""Every call of every service belongs to somebody, and only to whom it should."""

import pytest

from numbridge.trust import ROLES, callers
from numbridge.v1 import lobby_pb2, ratings_pb2, table_pb2

CALLS = [
    f"/{service.full_name}/{method.name}"
    for module in (lobby_pb2, ratings_pb2, table_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


@pytest.mark.parametrize("call", CALLS)
def test_every_call_is_somebodys_and_nobodys_without_a_name(call: str) -> None:
    assert [role for role in ROLES if callers.may(role, call)]
    assert not callers.may("", call)
    assert not callers.may("numbridge-ca", call)


def test_nothing_is_listed_that_there_is_not() -> None:
    listed = {f"/{service}/{name}" for service, names in callers._MAY.items() for name in names}
    assert listed == set(CALLS)


@pytest.mark.parametrize(
    ("role", "call"),
    [
        ("gateway", "/numbridge.v1.Tables/CreateTable"),
        ("gateway", "/numbridge.v1.Tables/EndTable"),
        ("gateway", "/numbridge.v1.Tables/Drain"),
        ("lobby", "/numbridge.v1.Tables/Link"),
        ("ratings", "/numbridge.v1.Tables/Link"),
        ("table", "/numbridge.v1.Ratings/PutDeed"),
        ("operator", "/numbridge.v1.Tables/Link"),
        ("gateway", "/numbridge.v1.Tables/NoSuchCall"),
        ("gateway", "/numbridge.v2.Tables/Link"),
    ],
)
def test_calls_of_others_are_refused(role: str, call: str) -> None:
    assert not callers.may(role, call)


def test_whoever_has_a_name_may_ask_after_health() -> None:
    assert all(callers.may(role, "/grpc.health.v1.Health/Check") for role in ROLES)
