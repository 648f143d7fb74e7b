"""Who is who inside a cluster, and what each may do: certificates, NATS permissions, Redis users, database roles.

callers.py      which service may make which gRPC call, by the name in its certificate
nats-users.conf which subjects each may publish and hear; passwords come from the server's environment
redis_users.py  which keys and commands each may use
database.sql    what each role may do in PostgreSQL
issue.py        makes certificates and passwords for a cluster
"""

ROLES = ("gateway", "lobby", "table", "ratings", "operator")
"""Everybody who connects. `operator`: the commands that look into a running cluster."""

SERVERS = ("nats",)
"""Servers that show a certificate and never use one to call."""


def host_of(role: str) -> str:
    """The name that a role's certificate bears, and its service in the manifests."""
    return f"numbridge-{role}"


def inbox(role: str) -> str:
    """Where answers to a role's own questions arrive; nobody else may listen there."""
    return f"_INBOX_{role}"
