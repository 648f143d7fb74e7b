"""Shards without an owner: counted once each, and only when they stay so."""

from tablesvc.orphans import Orphans


def test_a_shard_is_named_once_it_has_been_without_an_owner_for_long() -> None:
    orphans = Orphans(4, 10.0)
    assert orphans.look([0, 1, 2], 0.0) == []
    assert orphans.look([0, 1, 2], 10.0) == []
    assert orphans.look([0, 1, 2], 10.1) == [3]
    assert orphans.look([0, 1, 2], 30.0) == []


def test_a_change_of_owner_is_no_orphan_and_one_that_was_saved_may_be_one_again() -> None:
    orphans = Orphans(2, 10.0)
    assert orphans.look([0], 0.0) == []
    assert orphans.look([0, 1], 9.0) == []
    assert orphans.look([0], 11.0) == []
    assert orphans.look([0], 21.5) == [1]
    assert orphans.look([0, 1], 22.0) == []
    assert orphans.look([0], 23.0) == []
    assert orphans.look([0], 34.0) == [1]


def test_what_was_seen_before_a_blind_spell_proves_nothing() -> None:
    orphans = Orphans(1, 10.0)
    assert orphans.look([], 0.0) == []
    orphans.blind()
    assert orphans.look([], 15.0) == []
    assert orphans.look([], 26.0) == [0]
