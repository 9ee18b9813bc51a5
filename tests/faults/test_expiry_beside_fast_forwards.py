"""An expiry beside a fast-forward: each acts as if alone, or gives way and has changed nothing.

Main has snapshots of its own that the fast-forward replaces by others of the same ids. The two jobs
are interleaved storage operation by storage operation. Some of the interleavings are run, more of
them in a deep run.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import product

import pytest

from paimon_explore import Table
from paimon_explore.errors import CommitConflictError, StorageError
from paimon_explore.store.table_store import TableStore
from support.depth import DEEP, some
from support.faulty_file_io import Fault, FaultyFileIO
from support.figures import Figures
from support.interrupted import interrupted
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA
from support.two_jobs import TwoJobs

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
STRIDE = 7 if DEEP else 997
"""One interleaving of so many is run."""
KINDS: Mapping[str, Mapping[str, str]] = {
    "append": {},
    "keyed": {"bucket": "1"},
    "with changelogs that outlive snapshots": {
        "bucket": "1",
        "changelog-producer": "input",
        "changelog.num-retained.max": "100",
        "changelog.num-retained.min": "100",
    },
}


def created(kind: str) -> Table:
    """Snapshots of the keys 1 and 2; the second is tagged and begins a branch."""
    key = ["p", "k"] if kind != "append" else []
    options = {"write-only": "true", **KINDS[kind]}
    table = new_catalog().create_table("db.t", SCHEMA, primary_key=key, options=options)
    write(table, 1, 2)
    table.create_tag("two")
    table.create_branch("side", "two")
    return table


def write(table: Table, *keys: int) -> None:
    for key in keys:
        table.append([{"p": "a", "k": key, "v": key, "w": None}])


def side(table: Table) -> Table:
    return replace(table, _store=table._store.for_branch("side"))


def keys(table: Table) -> list[int]:
    return sorted(row["k"] for row in table.to_arrow().to_pylist())


def expire(table: Table, kept: int = 1) -> tuple[int, ...]:
    run = table.maintenance.expire_snapshots
    return run(retain_max=kept, retain_min=kept, older_than=LATER).expired


def expire_side(table: Table) -> tuple[int, ...]:
    return expire(side(table))


def fast_forward(table: Table) -> None:
    table.fast_forward("side")


def shorter(table: Table) -> None:
    """The branch ends before main does."""
    write(table, 3, 4, 5, 6)
    write(side(table), 13)


def single(table: Table) -> None:
    """The branch is still at the snapshot where it began."""
    write(table, 3, 4, 5, 6)


def longer(table: Table) -> None:
    """The branch goes on behind main's end."""
    write(table, 3, 4, 5)
    write(side(table), 13, 14, 15, 16, 17)


def forgetful(table: Table) -> None:
    """The branch has expired all but a snapshot that main has otherwise."""
    write(table, 3, 4, 5, 6)
    write(side(table), 13, 14)
    side(table).delete_tag("two")
    expire_side(table)


def forgotten(table: Table) -> None:
    """Main has expired the snapshot where the branch began."""
    write(table, 3, 4, 5, 6, 7)
    expire(table, kept=4)
    write(side(table), 13, 14, 15, 16)


def repeated(table: Table) -> None:
    """Main was fast-forwarded to the branch before, and shares its snapshots."""
    write(side(table), 13, 14)
    fast_forward(table)
    write(table, 5, 6)


HISTORIES: Mapping[str, Callable[[Table], None]] = {
    "shorter": shorter,
    "single": single,
    "longer": longer,
    "forgetful": forgetful,
    "forgotten": forgotten,
    "repeated": repeated,
}
EXPIRIES: Mapping[str, Callable[[Table], object]] = {
    "all but the newest of main": expire,
    "some of main": lambda table: expire(table, kept=3),
    "all but the newest of the branch": expire_side,
}
RUNS = pytest.mark.parametrize("kind", KINDS)


def is_shared(operation: str) -> bool:
    """Whether the other job may notice when it happens."""
    return operation.partition(" ")[2].startswith(
        ("snapshot", "LATEST", "EARLIEST", "changelog", "tag")
    )


def keys_of_commits(table: Table) -> dict[str, list[int]]:
    """The keys of every snapshot of main and the branch, by the list of its changes."""
    return {
        snapshot.delta_manifest_list: keys(one.at(snapshot=snapshot.id))
        for one in (table, side(table))
        for snapshot in one._store.snapshots.list()
    }


def check(table: Table, commits: Mapping[str, Sequence[int]], expected: Sequence[int]) -> None:
    """Main has the expected rows; every snapshot that is there has the rows of its commit."""
    assert keys(table) == expected
    for one in (table, side(table)):
        snapshots = one._store.snapshots
        assert snapshots.all_ids() == snapshots.history()
        for snapshot in snapshots.list():
            rows = keys(one.at(snapshot=snapshot.id))
            assert rows == commits[snapshot.delta_manifest_list]
    if table._store.tags.names():
        assert keys(table.at(tag="two")) == [1, 2]
    assert table.maintenance.fsck(cross_check_records=0) == []


@pytest.mark.parametrize(
    ("kind", "history", "expiry"), some(list(product(KINDS, HISTORIES, EXPIRIES)), 7)
)
def test_an_expiry_beside_a_fast_forward_at_every_operation(
    kind: str, history: str, expiry: str, figures: Figures
) -> None:
    table = created(kind)
    HISTORIES[history](table)
    commits, main, branch = keys_of_commits(table), keys(table), keys(side(table))
    both = TwoJobs(table, (EXPIRIES[expiry], fast_forward))
    chosen = list(both.ways(is_shared))[::STRIDE]
    for way in chosen:
        with both.interleaved(way) as (after, errors):
            assert errors[0] is None, repr(errors[0])
            assert errors[1] is None or isinstance(errors[1], CommitConflictError)
            check(after, commits, branch if errors[1] is None else main)
            assert keys(side(after)) == branch
            expire(after)
            expire_side(after)
            fast_forward(after)
            check(after, commits, branch)
            write(after, 99)
            expire(after)
            assert keys(after) == [*branch, 99]
            assert after.maintenance.fsck(cross_check_records=0) == []
        figures.add("interleavings of an expiry and a fast-forward", 1)


@pytest.mark.parametrize(("kind", "history"), some(list(product(KINDS, HISTORIES)), 6))
def test_main_is_fast_forwarded_after_an_interrupted_expiry_once_snapshots_are_expired_again(
    kind: str, history: str
) -> None:
    table = created(kind)
    HISTORIES[history](table)
    commits, main, branch = keys_of_commits(table), keys(table), keys(side(table))
    both = TwoJobs(table, (expire, fast_forward))
    steps = len(both.operations()[0])
    for step in some(range(1, steps + 1), 17):
        with both.copied() as copy:
            cut = FaultyFileIO(copy._store.file_io, step, Fault.BEFORE)
            with suppress(StorageError):
                expire(both.on(cut))
            refused = False
            try:
                fast_forward(copy)
            except CommitConflictError:
                refused = True
            check(copy, commits, main if refused else branch)
            if refused:
                expire(copy)
                fast_forward(copy)
                check(copy, commits, branch)


@RUNS
def test_a_fast_forward_is_refused_while_snapshots_that_it_replaces_expire(kind: str) -> None:
    table = created(kind)
    shorter(table)
    refused: list[str] = []
    watched = FaultyFileIO(table._store.file_io)

    def refused_fast_forward() -> None:
        with pytest.raises(CommitConflictError) as error:
            fast_forward(replace(table, _store=TableStore(watched, table._store.paths)))
        refused.append(str(error.value))

    other = interrupted(table, 1, refused_fast_forward, operation="delete snapshot-3")
    assert expire(other) == (1, 2, 3, 4, 5)
    rule = (
        f"Cannot fast-forward main: the snapshots of {table.path} before 6 are being expired, or "
        "an expiry was interrupted. Retry when the expiry has finished. After an interrupted "
        "expiry, call expire_snapshots() first."
    )
    assert refused == [rule]
    assert watched.log == []
    assert keys(table) == [1, 2, 3, 4, 5, 6]
    assert table._store.snapshots.latest_hint() == 6
    fast_forward(table)
    assert keys(table) == [1, 2, 13]


@RUNS
def test_a_fast_forward_is_refused_if_an_expiry_begins_before_it_has_said_where_it_goes(
    kind: str,
) -> None:
    table = created(kind)
    shorter(table)
    expire(table, kept=2)
    other = interrupted(table, 1, lambda: expire(table), operation="replace LATEST")
    with pytest.raises(CommitConflictError):
        fast_forward(other)
    assert keys(table) == [1, 2, 3, 4, 5, 6]
    assert table._store.snapshots.all_ids() == [6]
    assert table._store.snapshots.latest_hint() == 6


@RUNS
def test_an_expiry_leaves_the_snapshot_that_a_fast_forward_goes_back_to(kind: str) -> None:
    table = created(kind)
    shorter(table)
    expired: list[int] = []
    other = interrupted(
        table, 1, lambda: expired.extend(expire(table)), operation="delete snapshot-6"
    )
    fast_forward(other)
    assert expired == [1]
    assert keys(table) == [1, 2, 13]
    assert table.maintenance.fsck() == []


@RUNS
def test_an_expiry_removes_nothing_if_main_is_fast_forwarded_after_it_has_planned(
    kind: str,
) -> None:
    table = created(kind)
    shorter(table)
    other = interrupted(table, 1, lambda: fast_forward(table), operation="replace EARLIEST")
    assert expire(other) == ()
    assert keys(table) == [1, 2, 13]
    assert table._store.snapshots.all_ids() == [1, 2, 3]
    assert table._store.snapshots.earliest_hint() == 1


@RUNS
@pytest.mark.parametrize(("kept", "expired"), [(1, (2, 3, 4, 5)), (3, ())])
def test_an_expiry_leaves_no_older_snapshot_if_main_is_fast_forwarded_after_it_has_listed_them(
    kind: str, kept: int, expired: tuple[int, ...]
) -> None:
    table = created(kind)
    forgotten(table)
    other = interrupted(table, 1, lambda: fast_forward(table), operation="read snapshot-4")
    assert expire(other, kept) == expired
    assert keys(table) == [1, 2, 13, 14, 15, 16]
    assert table._store.snapshots.all_ids() == [n for n in range(2, 7) if n not in expired]
    expire(table)
    assert table._store.snapshots.all_ids() == [6]
    assert table.maintenance.fsck() == []


def fast_forward_as_java(table: Table) -> None:
    """Nothing is looked at for an expiry."""
    main, branch = table._store, side(table)._store
    ids = branch.snapshots.all_ids()
    for number in main.snapshots.all_ids():
        if number >= ids[0]:
            main.snapshots.delete(number)
    for number in ids:
        content = main.file_io.read(branch.paths.snapshot(number))
        main.file_io.replace(main.paths.snapshot(number), content)
    main.snapshots.write_latest_hint(ids[-1])


@RUNS
@pytest.mark.parametrize(
    ("history", "operation", "after", "left"),
    [
        (longer, "replace EARLIEST", None, [1, 2, 3, 4, 5, 6, 7]),
        (longer, "delete snapshot-2", None, [3, 4, 5, 6, 7]),
        (forgetful, "read LATEST", "delete snapshot-5", [4]),
    ],
)
def test_an_expiry_removes_no_files_of_snapshots_that_it_has_not_planned(
    kind: str, history: Callable[[Table], None], operation: str, after: str | None, left: list[int]
) -> None:
    table = created(kind)
    history(table)
    other = interrupted(
        table, 1, lambda: fast_forward_as_java(table), operation=operation, after=after
    )
    assert expire(other) == ()
    assert keys(table) == keys(side(table))
    assert table._store.snapshots.all_ids() == left
    assert table.maintenance.fsck() == []


@RUNS
def test_an_expiry_of_a_branch_removes_nothing_if_main_takes_its_snapshots_meanwhile(
    kind: str,
) -> None:
    table = created(kind)
    longer(table)
    other = interrupted(table, 1, lambda: fast_forward(table), operation="replace EARLIEST")
    assert expire_side(other) == ()
    assert table._store.snapshots.all_ids() == [1, 2, 3, 4, 5, 6, 7]
    assert [keys(table.at(snapshot=n))[-1] for n in range(1, 8)] == [1, 2, 13, 14, 15, 16, 17]


def expire_as_java(table: Table) -> None:
    """The hint EARLIEST of the branch is written last."""
    for number in range(2, 7):
        side(table)._store.snapshots.delete(number)


@RUNS
@pytest.mark.parametrize("expiry", [expire_side, expire_as_java])
@pytest.mark.parametrize("at", [3, 7])
def test_a_fast_forward_leaves_out_what_expires_in_the_branch_meanwhile(
    kind: str, expiry: Callable[[Table], object], at: int
) -> None:
    table = created(kind)
    longer(table)
    other = interrupted(
        table,
        1,
        lambda: expiry(table),
        operation=f"replace snapshot-{at}",
    )
    fast_forward(other)
    assert keys(table) == [1, 2, 13, 14, 15, 16, 17]
    assert table._store.snapshots.all_ids() == [7]
    assert table.maintenance.fsck() == []
