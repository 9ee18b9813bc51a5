"""Readers that others overtake at any of their operations finish, or are told what happened.

What is done in between is all of it: a compaction or overwrite with an expiry behind it, or an
expiry that was cut off after each of its own operations.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

import pytest

from paimon_explore import Table
from paimon_explore.errors import (
    MissingFileError,
    NotFoundError,
    SnapshotExpiredError,
    StorageError,
)
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store.table_store import TableStore
from support.acts import LATER, NEWEST, Run, row
from support.cuts import rows_of
from support.depth import DEEP
from support.faulty_file_io import Fault, FaultyFileIO
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.paused_file_io import PausedFileIO
from support.table_kinds import PARTITIONS, TABLE_KINDS
from support.table_model import Counted, found_in

Read = Callable[[Table], Counted]
FIRST = PARTITIONS[0]
STRIDE = 1 if DEEP else 5


def history(kind: str) -> Table:
    """A table of three snapshots, the last of them a compaction where there is a key."""
    table = TABLE_KINDS[kind].create(f"memory://{uuid4()}/wh")
    for number in range(3):
        rows = [row(FIRST, number, number), row(FIRST, 7, number)]
        (table.append if kind == "append" else table.upsert)(rows)
    table.compact()
    return table


def expire(table: Table) -> None:
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)


def compact_and_expire(table: Table) -> None:
    (table.upsert if table.schema.primary_keys else table.append)(NEWEST)
    table.compact()
    expire(table)


def overwrite_and_expire(table: Table) -> None:
    table.overwrite([row(FIRST, 9, 9)])
    expire(table)


def roll_back_and_clean(table: Table) -> None:
    table.rollback_to(snapshot=table._store.snapshots.ids()[-2])
    (table.upsert if table.schema.primary_keys else table.append)([row(FIRST, 50, 50)])
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)


OVERTAKING: dict[str, Run] = {
    "compaction": compact_and_expire,
    "overwrite": overwrite_and_expire,
    "rollback": roll_back_and_clean,
}


def read_changes(table: Table) -> Counted:
    changes = table.changes()
    return found_in([one for change in changes for one in change.rows.to_pylist()])


def read_filtered(table: Table) -> Counted:
    return found_in(table.scan(where="k >= 2").to_arrow().to_pylist())


def read_difference(table: Table) -> Counted:
    if not table.schema.primary_keys:
        return rows_of(table)
    ids = table._store.snapshots.ids()
    found = table.between(min(ids), max(ids), mode="diff", row_kinds=True)
    return found_in(found.to_arrow().to_pylist())


def read_audit(table: Table) -> Counted:
    return found_in(table.inspect.system_table("audit_log").to_arrow().to_pylist())


READS: dict[str, Read] = {
    "rows": rows_of,
    "a filter": read_filtered,
    "changes": read_changes,
    "a difference": read_difference,
    "audit log": read_audit,
}


def through(table: Table, files: MemoryFileIO) -> Table:
    return replace(table, _store=TableStore(files, table._store.paths))


def interrupted(table: Table, read: Read, act: Run, at: int) -> tuple[Counted | None, bool]:
    """Read, and let others act before the given operation.

    Returns:
        The rows, None if the reader was told that they are gone; whether the operation was reached.
    """
    files = copied_files(MemoryFileIO(table.path.partition("://")[2].partition("/")[0]))
    steps: list[str] = []

    def before(operation: str) -> None:
        steps.append(operation)
        if len(steps) == at:
            act(through(table, files))

    slow = replace(table, _store=TableStore(PausedFileIO(files, before), table._store.paths))
    try:
        return read(slow), len(steps) >= at
    except (SnapshotExpiredError, NotFoundError) as error:
        told: SnapshotExpiredError | NotFoundError = error
    finally:
        forget_files(files.name)
    assert "napshot" in str(told)
    assert isinstance(told, SnapshotExpiredError) or told.kind == "snapshot"
    return None, True


def later_states(table: Table, act: Run, read: Read) -> list[Counted]:
    """What readers see that begin after the act, of any snapshot."""
    files = copied_files(MemoryFileIO(table.path.partition("://")[2].partition("/")[0]))
    after = through(table, files)
    act(after)
    rows = [read(after)]
    if read in (rows_of, read_filtered, read_audit):
        rows += [read(after.at(snapshot=number)) for number in after._store.snapshots.ids()]
    forget_files(files.name)
    return rows


@pytest.mark.parametrize("kind", ["append", "vectors", "input"])
@pytest.mark.parametrize("name", READS)
def test_a_reader_finishes_or_is_told_that_its_snapshot_expired(
    kind: str, name: str, figures: Figures
) -> None:
    table, read, told = history(kind), READS[name], 0
    old = read(table)
    for act in OVERTAKING.values():
        right = [old, *later_states(table, act, read)]
        at, reached = 1, True
        while reached:
            rows, reached = interrupted(table, read, act, at)
            assert rows is None or name in ("changes", "a difference") or rows in right, at
            told += rows is None
            at += STRIDE
        figures.add("overtaken readers", at // STRIDE)
    is_kept_longer = (kind, name) == ("input", "changes")
    assert (told == 0) == is_kept_longer


def test_a_reader_of_a_snapshot_that_began_to_expire_is_told_so() -> None:
    table = history("keyed")
    files = MemoryFileIO(table.path.partition("://")[2].partition("/")[0])
    sound = FaultyFileIO(copied_files(files))
    expire(replace(table, _store=TableStore(sound, table._store.paths)))
    for step in range(1, len(sound.log) + 1):
        copy = copied_files(files)
        cut = FaultyFileIO(copy, step, Fault.BEFORE)
        try:
            expire(replace(table, _store=TableStore(cut, table._store.paths)))
        except StorageError:
            pass
        else:
            assert "EARLIEST" in sound.log[step - 1]
        left = through(table, copy)
        for number in left._store.snapshots.ids():
            with suppress(SnapshotExpiredError):
                rows_of(left.at(snapshot=number))
        expire(left)
        assert left.maintenance.fsck(cross_check_records=0) == []
        forget_files(copy.name)


def test_a_file_of_the_newest_snapshot_that_is_missing_is_damage_not_expiry() -> None:
    table = history("append")
    for status in table._store.file_io.list(f"{table.path}/p={FIRST}/bucket-0"):
        table._store.file_io.delete(status.path)
    with pytest.raises(MissingFileError):
        table.to_arrow()


def test_a_tagged_snapshot_never_counts_as_expired() -> None:
    table = history("append")
    first = table._store.snapshots.ids()[0]
    table.create_tag("kept", first)
    expire(table)
    assert rows_of(table.at(tag="kept"))
    with pytest.raises(NotFoundError, match="tag 'kept' keeps it"):
        table.at(snapshot=first)
