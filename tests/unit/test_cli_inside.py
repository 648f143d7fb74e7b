"""What a command says when the cluster's inside can't be reached."""

from typing import Any

import pytest

from numbridge import nats_io
from numbridge.cli.cluster import ClientSettings
from numbridge.cli.errors import CheckFailed
from numbridge.cli.inside import visit


@pytest.mark.parametrize(
    ("error", "said"), [(TimeoutError(), "TimeoutError"), (OSError("no\nroute"), "no route")], ids=["silent", "wordy"]
)
async def test_one_line_with_the_address_and_without_its_password(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(_settings: Any, **_hooks: Any) -> None:
        raise error

    monkeypatch.setattr(nats_io, "connect", connect)
    settings = ClientSettings(nats_url="nats://club:hunter2@nats-1:4222,nats://club:hunter2@nats-2:4222")
    with pytest.raises(CheckFailed) as caught:
        async with visit(settings):
            pass
    assert str(caught.value) == f"NATS can't be reached at nats-1:4222, nats-2:4222: {said}"
