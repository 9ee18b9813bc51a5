"""Streams on a storage that fails: an error is raised, and the stream goes on without a gap."""

from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

import pytest

from paimon_explore import Table
from paimon_explore.errors import StorageError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.streams.change_stream import ChangeStream
from support.acts import row
from support.depth import DEEP
from support.faulty_file_io import Fault, FaultyFileIO
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.table_kinds import PARTITIONS, TABLE_KINDS

Rows = list[Mapping[str, object]]
STRIDE = 1 if DEEP else 9


def history(kind: str) -> Table:
    """Two commits of several rows, a compaction, and an overwrite."""
    table = TABLE_KINDS[kind].create(f"memory://{uuid4()}/wh")
    for number in range(2):
        rows = [row(PARTITIONS[0], number, number), row(PARTITIONS[1], 7, number)]
        (table.append if kind == "append" else table.upsert)(rows)
    table.compact()
    table.overwrite([row(PARTITIONS[0], 9, 9)])
    return table


def followed(table: Table, start: str) -> ChangeStream:
    return table.follow(start, consumer="c", timeout=0, max_rows=1)


def commits(table: Table, start: str, tries: int) -> tuple[dict[int, Rows], int]:
    """The rows of each commit as they came last, and how many errors were raised."""
    found: dict[int, Rows] = {}
    errors = 0
    stream: ChangeStream | None = None
    for _ in range(tries):
        try:
            stream = followed(table, start) if stream is None else stream
            for batch in stream:
                rows = found[batch.snapshot_id] if batch.part else []
                found[batch.snapshot_id] = [*rows, *batch.rows.to_pylist()]
        except StorageError:
            errors += 1
        else:
            return found, errors
    raise AssertionError("the stream does not go on")


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
@pytest.mark.parametrize("kind", ["append", "keyed", "input"])
def test_a_stream_goes_on_after_any_operation_that_failed(
    kind: str, fault: Fault, figures: Figures
) -> None:
    table = history(kind)
    files = MemoryFileIO(table.path.partition("://")[2].partition("/")[0])
    for start in ("earliest", "full"):
        sound = FaultyFileIO(copied_files(files), reads_too=True)
        expected, _ = commits(on(table, sound), start, 1)
        assert len(expected) == (3 if start == "earliest" else 1)
        for step in range(1, len(sound.log) + 1, STRIDE):
            faulty = FaultyFileIO(copied_files(files), step, fault, reads_too=True)
            found, errors = commits(on(table, faulty), start, 3)
            assert found == expected, f"{step}: {sound.log[step - 1]}"
            assert errors <= 1
            position = on(table, faulty.inner).maintenance.consumers["c"].next_snapshot
            assert position == len(table.snapshots) + 1, f"{step}: {sound.log[step - 1]}"
            figures.add("streams whose storage failed once", 1)
            forget_files(name_of(faulty))
        forget_files(name_of(sound))


def on(table: Table, files: object) -> Table:
    """The table on another storage."""
    return replace(table, _store=TableStore(files, table._store.paths))  # type: ignore[arg-type]  # a FileIO


def name_of(faulty: FaultyFileIO) -> str:
    assert isinstance(faulty.inner, MemoryFileIO)
    return faulty.inner.name
