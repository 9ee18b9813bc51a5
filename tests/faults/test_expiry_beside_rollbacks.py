"""An expiry beside a rollback to a snapshot that expires: either the rollback or the expiry counts.

The two are interleaved storage operation by storage operation: one stops before each of its
operations, the other goes on to its end, or to an operation of its own that the first may notice.
Some of the ways are taken, more of them in a deep run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import NotFoundError, SnapshotExpiredError
from support.depth import DEEP
from support.figures import Figures
from support.interrupted import interrupted
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA
from support.two_jobs import TwoJobs

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
STRIDE = 5 if DEEP else 97
"""One way of so many is taken."""
KINDS: Mapping[str, Mapping[str, str]] = {
    "append": {},
    "keyed": {"bucket": "1"},
    "with changelogs": {"bucket": "1", "changelog-producer": "input"},
    "with changelogs that outlive snapshots": {
        "bucket": "1",
        "changelog-producer": "input",
        "changelog.num-retained.max": "100",
        "changelog.num-retained.min": "100",
    },
}
RUNS = pytest.mark.parametrize("kind", KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the table is rolled back to.

    Attributes:
        run: the rollback.
        keys: the keys of the target.
        tagged: whether a tag holds it.
        expired: snapshots that have expired before.
    """

    run: Callable[[Table], object]
    keys: Sequence[int]
    tagged: bool = False
    expired: int = 0


TARGETS = {
    "the oldest": Target(run=lambda t: t.rollback_to(snapshot=1), keys=[1]),
    "the middle": Target(run=lambda t: t.rollback_to(snapshot=3), keys=[1, 2, 3]),
    "a tag": Target(run=lambda t: t.rollback_to(tag="two"), keys=[1, 2], tagged=True),
    "an expired tag": Target(
        run=lambda t: t.rollback_to(tag="two"), keys=[1, 2], tagged=True, expired=3
    ),
}


def created(kind: str, *, expired: int = 0) -> Table:
    """Snapshots of the keys 1 to 6, one each, the second of them tagged; the oldest may be gone."""
    options = {"write-only": "true", **KINDS[kind]}
    key = ["p", "k"] if kind != "append" else []
    table = new_catalog().create_table("db.t", SCHEMA, primary_key=key, options=options)
    for number in range(1, 7):
        write(table, number)
        if number == 2:
            table.create_tag("two")
    if expired:
        table.maintenance.expire_snapshots(retain_max=6 - expired, older_than=LATER)
    return table


def write(table: Table, key: int) -> None:
    table.append([{"p": "a", "k": key, "v": key, "w": None}])


def expire(table: Table) -> tuple[int, ...]:
    return table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than=LATER).expired


def keys(table: Table) -> list[int]:
    return sorted(row["k"] for row in table.to_arrow().to_pylist())


def check(table: Table, target: Target, error: BaseException | None) -> None:
    """The table is at the target, or where it was; every snapshot that is there reads."""
    snapshots = table._store.snapshots
    if error is None:
        assert keys(table) == list(target.keys)
        assert snapshots.latest_id() == target.keys[-1]
    else:
        assert isinstance(error, SnapshotExpiredError | NotFoundError), repr(error)
        assert not target.tagged, repr(error)
        assert keys(table) == [1, 2, 3, 4, 5, 6]
        assert snapshots.latest_hint() == 6
    assert snapshots.all_ids() == snapshots.history()
    for number in snapshots.all_ids():
        assert keys(table.at(snapshot=number)) == list(range(1, number + 1))
    if table._store.tags.names():
        assert keys(table.at(tag="two")) == [1, 2]
    assert table.maintenance.fsck(cross_check_records=0) == []


def is_shared(operation: str) -> bool:
    """Whether the other one may notice when it happens."""
    what, _, name = operation.partition(" ")
    return name.startswith(("snapshot", "LATEST", "changelog", "tag")) and (
        what != "read" or name == "LATEST"
    )


@RUNS
@pytest.mark.parametrize("where", TARGETS)
def test_an_expiry_beside_a_rollback_at_every_operation(
    kind: str, where: str, figures: Figures
) -> None:
    target = TARGETS[where]
    both = TwoJobs(created(kind, expired=target.expired), (expire, target.run))
    chosen = list(both.ways(is_shared))[::STRIDE]
    for way in chosen:
        with both.interleaved(way) as (after, errors):
            assert errors[0] is None, repr(errors[0])
            check(after, target, errors[1])
            write(after, 7)
            expire(after)
            assert keys(after) == [*(target.keys if errors[1] is None else range(1, 7)), 7]
    figures.add("interleavings of an expiry and a rollback", len(chosen))


@RUNS
def test_a_rollback_is_refused_whose_target_expires_before_it_has_said_where_it_goes(
    kind: str,
) -> None:
    table = created(kind)
    other = interrupted(table, 1, lambda: expire(table), operation="replace LATEST")
    with pytest.raises(SnapshotExpiredError, match=r"Snapshot 3 .* are unchanged"):
        other.rollback_to(snapshot=3)
    assert keys(table) == [1, 2, 3, 4, 5, 6]
    assert table._store.snapshots.all_ids() == [6]
    assert table._store.snapshots.latest_hint() == 6


@RUNS
def test_a_rollback_restores_a_tag_that_expires_before_it_has_said_where_it_goes(kind: str) -> None:
    table = created(kind)
    interrupted(table, 1, lambda: expire(table), operation="replace LATEST").rollback_to(tag="two")
    assert keys(table) == [1, 2]
    assert table._store.snapshots.all_ids() == [2]
    assert table._store.snapshots.earliest_hint() == 2


@RUNS
def test_an_expiry_makes_snapshots_again_to_which_the_table_is_rolled_back_meanwhile(
    kind: str,
) -> None:
    table = created(kind)
    if kind != "append":
        table._store.file_io.delete(table._store.paths.earliest_hint)
    files = {status.path for status in table._store.file_io.walk(table.path)}
    other = interrupted(
        table,
        1,
        lambda: table.rollback_to(snapshot=3),
        operation="delete snapshot-1",
    )
    assert expire(other) == ()
    assert keys(table) == [1, 2, 3]
    assert table._store.snapshots.all_ids() == [1, 2, 3]
    left = {status.path for status in table._store.file_io.walk(table.path)}
    gone = {path.rpartition("/")[2] for path in files - left}
    assert gone == {"snapshot-4", "snapshot-5", "snapshot-6"}
    assert table._store.snapshots.earliest_hint() == 1
    assert table._store.changelogs.ids() == []
    if "outlive" in kind:
        assert table._store.file_io.read(table._store.paths.changelog_latest_hint) == b"0"
    assert table.maintenance.fsck() == []


@RUNS
def test_a_rollback_leaves_its_target_expired_if_a_commit_has_followed(kind: str) -> None:
    table = created(kind)

    def commit_and_expire() -> None:
        write(table, 7)
        expire(table)

    other = interrupted(
        table, 1, commit_and_expire, operation="exists snapshot-3", after="delete snapshot-4"
    )
    other.rollback_to(snapshot=3)
    assert keys(table) == [1, 2, 3, 7]
    assert table._store.snapshots.all_ids() == [4]
    assert table.maintenance.fsck() == []


@RUNS
def test_a_rollback_keeps_its_target_though_an_expiry_is_cut_off(kind: str) -> None:
    table = created(kind)

    def cut_off_expiry() -> None:
        for number in (1, 2, 3, 4):
            table._store.snapshots.delete(number)

    other = interrupted(table, 1, cut_off_expiry, operation="delete snapshot-6")
    other.rollback_to(snapshot=3)
    assert keys(table) == [1, 2, 3]
    assert table._store.snapshots.all_ids() == [3]


@RUNS
def test_what_the_hint_latest_names_stays(kind: str) -> None:
    table = created(kind)
    table._store.snapshots.write_latest_hint(3)
    assert expire(table) == (1, 2)
    write(table, 7)
    assert expire(open_table(table.path)) == (3, 4, 5, 6)
    assert keys(table) == [1, 2, 3, 4, 5, 6, 7]
