"""Which worker should own which shard, and what one worker has to do about it. Pure.

Rendezvous hashing: each shard goes to the worker with the highest score for it. A worker that comes takes about
1/N of the shards from the others; one that goes leaves only its own to be shared out.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from tablesvc.ports import Lease


def _score(worker: str, shard: int) -> bytes:
    return blake2b(f"{shard}\n{worker}".encode(), digest_size=8).digest()


def desired(shard: int, workers: Collection[str]) -> str | None:
    """The worker that should own `shard`; None where there is no worker."""
    return max(workers, key=lambda worker: (_score(worker, shard), worker), default=None)


@lru_cache(maxsize=16)
def assignment(workers: tuple[str, ...], shards: int) -> tuple[str | None, ...]:
    """`desired` for every shard."""
    return tuple(desired(shard, workers) for shard in range(shards))


@dataclass(slots=True)
class Plan:
    """What to do now, shard by shard."""

    acquire: list[int] = field(default_factory=list)
    """Nobody alive owns them, and they should be mine."""
    release: list[int] = field(default_factory=list)
    """I hold them, and they should be another's."""
    lost: list[int] = field(default_factory=list)
    """I hold them, but their entry says otherwise."""
    disown: list[int] = field(default_factory=list)
    """Their entry names me, but I neither hold nor should hold them: a change whose answer was lost."""


def plan(
    me: str,
    run: str,
    shards: int,
    leases: Mapping[int, Lease],
    alive: Mapping[str, str],
    willing: tuple[str, ...],
    held: Mapping[int, int],
) -> Plan:
    """What worker `me` has to do.

    `alive`: run by name of every worker whose lease runs. `willing`: those that are not draining. `held`: revision by
    shard of the entries by which I hold shards.
    """
    todo = Plan()
    wanted = assignment(willing, shards)
    for shard in range(shards):
        lease = leases.get(shard)
        mine = lease is not None and lease.entry.owner == me and lease.entry.run == run
        want = wanted[shard]
        if shard in held:
            if lease is not None and not mine and lease.revision > held[shard]:
                todo.lost.append(shard)
            elif want != me:
                todo.release.append(shard)
        elif want == me:
            owned = lease is not None and lease.entry.owner and alive.get(lease.entry.owner) == lease.entry.run
            if mine or not owned:
                todo.acquire.append(shard)
        elif mine:
            todo.disown.append(shard)
    return todo
