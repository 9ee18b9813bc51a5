"""Several splits at a time: rows in order, errors as of one reader, nothing left running."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.read import parallel, small_files
from paimon_explore.read.parallel import read_splits
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.splits.data_split import DataSplit
from support.paused_file_io import PausedFileIO
from support.small_tables import append_table, columns

PARTS = 12
ROWS = [{"p": p, "n": n} for p in range(PARTS) for n in range(3)]


@pytest.fixture(autouse=True)
def _four_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)  # else all splits are read at once
    before = pa.io_thread_count()
    pa.set_io_thread_count(4)
    yield
    pa.set_io_thread_count(before)


@pytest.fixture
def table() -> Table:
    return append_table(columns(p=pa.int32(), n=pa.int64()), ROWS, partition_by=["p"])


def reader_of(table: Table, file_io: FileIO) -> SplitReader:
    return SplitReader(
        target=replace(table._target(), store=replace(table._store, file_io=file_io)),
        columns=("p", "n"),
    )


def partitions_of(found: list[list[pa.RecordBatch]]) -> list[object]:
    return [batches[0].column("p")[0].as_py() for batches in found]


def read_by_four(table: Table) -> list[list[pa.RecordBatch]]:
    """All splits; the first file is not opened before three others are, by three other threads."""
    turns = threading.Condition()
    opened: list[str] = []

    def slow_first(operation: str) -> None:
        with turns:
            opened.append(operation)
            turns.notify_all()
            if len(opened) == 1:
                assert turns.wait_for(lambda: len(opened) >= 4, timeout=30)

    file_io = PausedFileIO(table._store.file_io, slow_first)
    return list(read_splits(reader_of(table, file_io), table.scan().plan().splits))


def test_rows_come_in_the_order_of_the_splits_however_long_each_takes(table: Table) -> None:
    found = read_by_four(table)
    assert partitions_of(found) == list(range(PARTS))
    assert [row for batches in found for b in batches for row in b.to_pylist()] == ROWS


def test_an_error_is_raised_where_its_split_comes_and_the_other_threads_end(table: Table) -> None:
    splits = table.scan().plan().splits
    split = splits[3]
    assert isinstance(split, DataSplit)
    broken = split.paths[0].rpartition("/")[2]

    def fail(operation: str) -> None:
        if operation.endswith(broken):
            raise StorageError("open", broken, "it is away")

    reading = read_splits(reader_of(table, PausedFileIO(table._store.file_io, fail)), splits)
    assert partitions_of([next(reading) for _ in range(3)]) == [0, 1, 2]
    with pytest.raises(StorageError, match="it is away"):
        next(reading)
    assert partitions_of(read_by_four(table)) == list(range(PARTS))


def test_who_stops_early_leaves_nothing_running(table: Table) -> None:
    begun: list[str] = []
    file_io = PausedFileIO(table._store.file_io, begun.append)
    reading = read_splits(reader_of(table, file_io), table.scan().plan().splits)
    assert partitions_of([next(reading)]) == [0]
    reading.close()
    before = len(begun)
    assert partitions_of(read_by_four(table)) == list(range(PARTS))
    assert len(begun) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no such processes here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_reads_with_threads_of_its_own(table: Table) -> None:
    read_by_four(table)
    child = os.fork()
    if not child:
        failed = 1
        try:
            failed = int(partitions_of(read_by_four(table)) != list(range(PARTS)))
        finally:
            os._exit(failed)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_more_splits_are_begun_than_threads_and_as_many_behind_them(table: Table) -> None:
    begun: list[str] = []
    reading = read_splits(
        reader_of(table, PausedFileIO(table._store.file_io, begun.append)),
        table.scan().plan().splits,
    )
    next(reading)
    assert len({line for line in begun if line.startswith("open")}) <= 8
    reading.close()


def test_one_thread_is_what_one_io_thread_asks_for(table: Table) -> None:
    pa.set_io_thread_count(1)
    names = set()
    file_io = PausedFileIO(
        table._store.file_io, lambda _: names.add(threading.current_thread().name)
    )
    found = list(read_splits(reader_of(table, file_io), table.scan().plan().splits))
    assert partitions_of(found) == list(range(PARTS))
    assert names == {threading.current_thread().name}


def test_the_files_of_one_split_are_read_by_several_threads_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_MIN_PART_BYTES", 1)
    commits = ([{"p": p, "n": n} for n in range(3)] for p in range(PARTS))
    table = append_table(columns(p=pa.int32(), n=pa.int64()), *commits)
    assert len(table.scan().plan().splits) == 1
    (found,) = read_by_four(table)
    assert [row for batch in found for row in batch.to_pylist()] == ROWS


def test_an_error_in_one_file_of_a_split_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_MIN_PART_BYTES", 1)
    table = append_table(columns(p=pa.int32(), n=pa.int64()), *([row] for row in ROWS[:20]))
    (split,) = table.scan().plan().splits
    assert isinstance(split, DataSplit)
    broken = split.paths[15].rpartition("/")[2]

    def fail(operation: str) -> None:
        if operation.endswith(broken):
            raise StorageError("open", broken, "it is away")

    with pytest.raises(StorageError, match="it is away"):
        list(read_splits(reader_of(table, PausedFileIO(table._store.file_io, fail)), [split]))
