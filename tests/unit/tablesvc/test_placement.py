"""Who should own what, and what one worker does about it."""

from hypothesis import given
from hypothesis import strategies as st

from numbridge.routing import ShardEntry
from tablesvc.placement import assignment, plan
from tablesvc.ports import Lease

names = st.sets(st.text("abcdef0123456789-", min_size=1, max_size=8), min_size=1, max_size=8)
SHARDS = 256


@given(names, st.text("xyz", min_size=1, max_size=4))
def test_a_worker_that_comes_takes_shards_and_moves_no_other(before: set[str], comer: str) -> None:
    old = assignment(tuple(sorted(before)), SHARDS)
    new = assignment(tuple(sorted(before | {comer})), SHARDS)
    assert all(owner in (comer, old[shard]) for shard, owner in enumerate(new))


def test_shards_are_shared_out_about_evenly() -> None:
    shares = assignment(("w1", "w2", "w3", "w4"), SHARDS)
    assert all(40 <= shares.count(name) <= 90 for name in ("w1", "w2", "w3", "w4"))


def test_without_workers_nobody_owns_anything() -> None:
    assert assignment((), 4) == (None,) * 4


def lease(owner: str, run: str, revision: int = 1) -> Lease:
    return Lease(ShardEntry(owner, run, 1, "a"), revision)


def mine_of(workers: tuple[str, ...], me: str) -> int:
    return assignment(workers, SHARDS).index(me)


def test_what_nobody_alive_owns_is_acquired() -> None:
    shard = mine_of(("w1", "w2"), "w1")
    for entry in (lease("", ""), lease("w2", "dead run"), lease("w3", "r3"), lease("w1", "my former run")):
        todo = plan("w1", "r1", SHARDS, {shard: entry}, {"w1": "r1", "w2": "r2"}, ("w1", "w2"), {})
        assert shard in todo.acquire
    todo = plan("w1", "r1", SHARDS, {shard: lease("w2", "r2")}, {"w1": "r1", "w2": "r2"}, ("w1", "w2"), {})
    assert shard not in todo.acquire


def test_a_draining_worker_gives_everything_up_and_takes_nothing() -> None:
    held = dict.fromkeys(range(10), 1)
    leases = {shard: lease("w1", "r1") for shard in held}
    todo = plan("w1", "r1", SHARDS, leases, {"w1": "r1", "w2": "r2"}, ("w2",), held)
    assert todo.release == list(range(10))
    assert not todo.acquire


def test_what_another_has_taken_is_lost_and_an_old_entry_is_not_believed() -> None:
    shard = mine_of(("w1",), "w1")
    leases = {shard: lease("w2", "r2", revision=7)}
    assert plan("w1", "r1", SHARDS, leases, {"w1": "r1"}, ("w1",), {shard: 5}).lost == [shard]
    assert plan("w1", "r1", SHARDS, leases, {"w1": "r1"}, ("w1",), {shard: 9}).lost == []


def test_an_entry_that_names_me_for_nothing_is_cleared() -> None:
    shard = mine_of(("w1", "w2"), "w2")
    todo = plan("w1", "r1", SHARDS, {shard: lease("w1", "r1")}, {"w1": "r1", "w2": "r2"}, ("w1", "w2"), {})
    assert todo.disown == [shard]
