"""Commits beside a rollback or a fast-forward: what was removed does not come back."""

from collections.abc import Callable

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import NotFoundError
from support.interrupted import interrupted
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA

KINDS = pytest.mark.parametrize("keyed", ["append", "keyed"])


def created(keyed: str) -> Table:
    """Snapshots of the keys 1 to 4, one each; a branch from the second with key 8."""
    key = ["p", "k"] if keyed == "keyed" else []
    options = {"commit.min-retry-wait": "0 ms", **({"bucket": "1"} if key else {})}
    table = new_catalog().create_table("db.t", SCHEMA, primary_key=key, options=options)
    write(table, 1, 2)
    table.create_tag("two")
    table.create_branch("side", "two")
    write(open_table(table.path, branch="side"), 8)
    write(table, 3, 4)
    return table


def write(table: Table, *keys: int) -> None:
    for key in keys:
        table.append([{"p": "a", "k": key, "v": key, "w": None}])


def keys(table: Table) -> list[int]:
    return sorted(row["k"] for row in table.to_arrow().to_pylist())


def roll_back(table: Table) -> object:
    return table.rollback_to(snapshot=2)


def fast_forward(table: Table) -> None:
    table.fast_forward("side")


STEPS_BACK = pytest.mark.parametrize(
    ("back", "left"), [(roll_back, [1, 2]), (fast_forward, [1, 2, 8])]
)
Back = Callable[[Table], object]


@KINDS
@STEPS_BACK
def test_a_commit_beside_a_rollback_builds_on_what_the_rollback_left(
    back: Back, left: list[int], keyed: str
) -> None:
    table = created(keyed)
    write(interrupted(table, 1, lambda: back(table)), 5)
    assert keys(table) == [*left[:2], 5, *left[2:]]
    ids = table._store.snapshots.ids()
    assert ids == list(range(1, len(left) + 2))
    assert table.maintenance.fsck() == []


@KINDS
@STEPS_BACK
def test_a_rollback_removes_commits_that_were_made_on_what_it_removes(
    back: Back, left: list[int], keyed: str
) -> None:
    table = created(keyed)
    waits = [6, 5]
    other = interrupted(table, 1, lambda: write(table, waits.pop()), operation="delete snapshot-4")
    back(other)
    assert waits == [6]
    assert keys(table) == left
    assert table._store.snapshots.latest_hint() == len(left)
    assert table.maintenance.fsck() == []


@KINDS
@STEPS_BACK
def test_a_rollback_removes_commits_that_took_a_number_that_it_had_freed(
    back: Back, left: list[int], keyed: str
) -> None:
    table = created(keyed)
    other = interrupted(table, 1, lambda: write(table, 5), operation="delete snapshot-3")
    back(other)
    assert keys(table) == left
    assert table._store.snapshots.all_ids() == list(range(1, len(left) + 1))
    assert table.maintenance.fsck() == []


@KINDS
@pytest.mark.parametrize(
    ("operation", "after", "left"),
    [
        ("replace snapshot-3", None, [1, 2, 8]),
        ("read EARLIEST", "replace snapshot-3", [1, 2, 5, 6, 8]),
    ],
)
def test_commits_beside_a_fast_forward_stay_if_they_follow_the_branch(
    operation: str, after: str | None, left: list[int], keyed: str
) -> None:
    table = created(keyed)
    other = interrupted(table, 1, lambda: write(table, 5, 6), operation=operation, after=after)
    fast_forward(other)
    assert keys(table) == left
    assert table._store.snapshots.all_ids() == table._store.snapshots.history()
    assert table.maintenance.fsck() == []


@KINDS
def test_commits_after_a_rollback_to_a_tag_stay_and_what_an_expiry_restores_goes(
    keyed: str,
) -> None:
    table = created(keyed)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
    snapshots, oldest = table._store.snapshots, table.snapshots[4]
    restored = interrupted(table, 2, lambda: snapshots.create(oldest), operation="replace LATEST")
    restored.rollback_to("two")
    assert snapshots.all_ids() == [2]
    write(table, 3, 4)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
    other = interrupted(
        table, 1, lambda: write(table, 5, 6), operation="read snapshot-4", after="replace LATEST"
    )
    other.rollback_to("two")
    assert keys(table) == [1, 2, 5, 6]
    assert snapshots.all_ids() == [2, 3, 4]
    assert table.maintenance.fsck() == []


@KINDS
def test_a_fast_forward_copies_snapshots_again_that_a_rollback_has_removed(keyed: str) -> None:
    table = created(keyed)
    write(open_table(table.path, branch="side"), 9)
    other = interrupted(table, 1, lambda: roll_back(table), operation="replace snapshot-4")
    fast_forward(other)
    assert keys(table) == [1, 2, 8, 9]
    assert table._store.snapshots.all_ids() == [1, 2, 3, 4]
    assert table.maintenance.fsck() == []


@KINDS
def test_a_rollback_removes_what_a_fast_forward_has_put_between_its_steps(keyed: str) -> None:
    table = created(keyed)
    write(open_table(table.path, branch="side"), 9)
    other = interrupted(table, 1, lambda: fast_forward(table), operation="delete snapshot-3")
    roll_back(other)
    assert keys(table) == [1, 2]
    assert table._store.snapshots.all_ids() == [1, 2]
    assert table.maintenance.fsck() == []


def test_a_commit_whose_predecessor_has_expired_stays() -> None:
    table = created("append")

    def expire() -> None:
        write(table, 6)
        table.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    write(interrupted(table, 1, expire, operation="read snapshot-4", after="create snapshot-5"), 5)
    assert keys(table) == [1, 2, 3, 4, 5, 6]
    assert table._store.snapshots.ids() == [6]


@KINDS
def test_an_expiry_leaves_the_snapshot_that_a_rollback_went_back_to_meanwhile(keyed: str) -> None:
    table = created(keyed)
    other = interrupted(
        table, 1, lambda: roll_back(table), operation="list changelog", after="read snapshot-4"
    )
    assert other.maintenance.expire_snapshots(retain_max=1, retain_min=1).expired == ()
    assert keys(table) == [1, 2]
    assert table.maintenance.fsck() == []


@KINDS
def test_a_tag_of_a_snapshot_that_is_rolled_back_meanwhile_is_taken_back(keyed: str) -> None:
    table = created(keyed)
    other = interrupted(table, 1, lambda: roll_back(table), operation="create tag-late")
    with pytest.raises(NotFoundError, match="Snapshot 4"):
        other.create_tag("late", snapshot=4)
    assert table._store.tags.names() == ["two"]


@KINDS
def test_a_tag_of_the_latest_snapshot_is_of_the_one_that_a_rollback_leaves(keyed: str) -> None:
    table = created(keyed)
    other = interrupted(table, 1, lambda: roll_back(table), operation="create tag-late")
    other.create_tag("late")
    assert keys(table.at(tag="late")) == [1, 2]
    assert table._store.tags.names() == ["late", "two"]


@KINDS
def test_orphans_are_looked_for_again_if_snapshots_expire_meanwhile(keyed: str) -> None:
    table = created(keyed)

    def expire() -> None:
        table.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    other = interrupted(table, 1, expire, operation="read manifest-list-")
    assert other.maintenance.remove_orphan_files(dry_run=False).files == ()
    assert keys(table) == [1, 2, 3, 4]
    assert table.maintenance.fsck() == []
