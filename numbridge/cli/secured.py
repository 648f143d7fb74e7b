"""A cluster on one machine whose insides trust nobody without a name: what its servers and each service are told."""

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from numbridge.trust import ROLES, inbox, redis_users

if TYPE_CHECKING:  # what makes certificates takes its time to load
    from numbridge.trust.issue import Trust


def nats_lines(trust: "Trust") -> str:
    """Further lines of NATS' configuration: TLS, users and their permissions."""
    users = resources.files("numbridge.trust").joinpath("nats-users.conf").read_text(encoding="utf-8")
    return (
        f'tls {{\n  cert_file: "{trust.certificate("nats")}"\n  key_file: "{trust.key("nats")}"\n'
        f'  ca_file: "{trust.ca}"\n  timeout: 3\n}}\n{users}'
    )


def nats_environment(trust: "Trust") -> dict[str, str]:
    """The passwords that those lines name."""
    return {f"NUMBRIDGE_NATS_PASSWORD_{role.upper()}": trust.nats[role] for role in ROLES}


def with_user(url: str, user: str, password: str) -> str:
    """A server's URL as this user reaches it."""
    scheme, _, rest = url.partition("://")
    return f"{'tls' if scheme == 'nats' else scheme}://{user}:{password}@{rest}"


def of_role(role: str, folder: Path) -> dict[str, str]:
    """Settings by which a role shows who it is, URLs apart."""
    return {
        "NUMBRIDGE_NATS_INBOX": inbox(role),
        "NUMBRIDGE_NATS_TLS_CA": str(folder / "ca.pem"),
        "NUMBRIDGE_GRPC_TLS_CERT": str(folder / f"{role}.pem"),
        "NUMBRIDGE_GRPC_TLS_KEY": str(folder / f"{role}.key"),
        "NUMBRIDGE_GRPC_TLS_CA": str(folder / "ca.pem"),
    }


def service(role: str, trust: "Trust", nats_url: str, redis_url: str) -> dict[str, str]:
    """All of a role's settings. Who has no business at Redis gets no password for it."""
    own = of_role(role, trust.folder) | {"NUMBRIDGE_NATS_URL": with_user(nats_url, role, trust.nats[role])}
    if role in redis_users.USERS:
        own["NUMBRIDGE_REDIS_URL"] = with_user(redis_url, role, trust.redis[role])
    return own
