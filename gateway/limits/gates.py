"""Every limit by address or player; None where limits are lifted."""

from dataclasses import dataclass, fields

from gateway.limits.gate import Gate
from gateway.metrics import Metrics
from gateway.ports import SharedLimits
from gateway.session.limits import Buckets, Rate
from gateway.settings import Settings

ALL = "all"
"""The one key of limits that hold for everybody together."""


@dataclass(frozen=True, slots=True)
class Gates:
    """Gates by address (http, guests, connects, hellos), by player (seeks, joins), and for all together."""

    http: Buckets | None = None
    """API calls; this gateway's own: reading costs less than asking Redis would."""
    guests: Gate | None = None
    guests_in_all: Gate | None = None
    connects: Gate | None = None
    connects_in_all: Gate | None = None
    hellos: Gate | None = None
    """Hellos that were refused."""
    seeks: Gate | None = None
    joins: Gate | None = None

    async def stop(self) -> None:
        """Ends what is under way."""
        for field in fields(self):
            gate = getattr(self, field.name)
            if isinstance(gate, Gate):
                await gate.stop()


def make_gates(settings: Settings, shared: SharedLimits | None, metrics: Metrics) -> Gates:
    """The gates as the settings say. `shared`: None where each gateway counts by itself."""
    if not settings.limits:
        return Gates()

    def gate(name: str, what: str, burst: int, per_minute: int, *, own: bool = True) -> Gate:
        return Gate(name, what, Rate(burst, per_minute), shared, metrics, own=own)

    return Gates(
        http=Buckets(Rate(settings.http_burst, settings.http_per_minute)),
        guests=gate("guests", "guests from your address", settings.guest_burst, settings.guest_per_minute),
        guests_in_all=gate("guests_in_all", "guests", settings.guest_all_burst, settings.guest_all_per_minute),
        connects=gate("connects", "connections from your address", settings.connect_burst, settings.connect_per_minute),
        connects_in_all=gate(
            "connects_in_all", "connections", settings.connect_all_burst, settings.connect_all_per_minute
        ),
        hellos=gate("hellos", "refused tokens from your address", settings.hello_burst, settings.hello_per_minute),
        # The session counts these two here already (session/limits).
        seeks=gate("seeks", "seeks", settings.seek_burst, settings.seek_per_minute, own=False),
        joins=gate("joins", "joins", settings.join_burst, settings.join_per_minute, own=False),
    )
