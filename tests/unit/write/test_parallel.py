"""Buckets closed in threads: same files, errors in order, nothing left after an interrupt."""

import signal
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import StorageError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.write import parallel
from paimon_explore.write.parallel import CancelledError, check_cancelled, in_parallel, threads_for
from support.ctrl_c import ctrl_c_raises

FIELDS: list["pa.Field[pa.DataType]"] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("dt", pa.string(), nullable=False),
    pa.field("text", pa.string()),
]
SCHEMA = pa.schema(FIELDS)


@pytest.fixture
def cpu_count() -> Iterator[Callable[[int], None]]:
    before = pa.cpu_count()
    yield pa.set_cpu_count
    pa.set_cpu_count(before)


@pytest.fixture(autouse=True)
def any_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "MIN_ROWS", 0)


def rows(first: int) -> pa.Table:
    ids = list(range(first, first + 600))
    texts = [None if number % 7 == 0 else f"text {number % 50}" for number in ids]
    parts = [f"{number % 3}" for number in ids]
    columns: list[Column] = [pa.array(ids), pa.array(parts), pa.array(texts)]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def create(folder: Path, *, primary_key: bool) -> Table:
    catalog = Catalog(str(folder))
    catalog.create_database("d")
    options = {"bucket": "4", "write-only": "true"}
    return catalog.create_table(
        "d.t",
        schema=SCHEMA,
        partition_by=["dt"],
        primary_key=["dt", "id"] if primary_key else [],
        options=options if primary_key else {**options, "bucket-key": "id"},
    )


def written(folder: Path, *, primary_key: bool) -> list[tuple[str, str]]:
    """Folder and content of each data file after two writes and a compaction."""
    table = create(folder, primary_key=primary_key)
    for first in (0, 300):
        (table.upsert if primary_key else table.append)(rows(first))
    table.compact(full=True)
    found = folder.rglob("data-*")
    return sorted(
        (str(path.parent.relative_to(folder)), sha256(path.read_bytes()).hexdigest())
        for path in found
    )


@pytest.mark.parametrize("primary_key", [True, False])
def test_files_do_not_depend_on_the_number_of_threads(
    tmp_path: Path, cpu_count: Callable[[int], None], *, primary_key: bool
) -> None:
    cpu_count(1)
    alone = written(tmp_path / "alone", primary_key=primary_key)
    cpu_count(3)
    assert written(tmp_path / "threads", primary_key=primary_key) == alone
    assert len(alone) == 36


@pytest.mark.parametrize("compacts", [True, False])
def test_no_file_is_left_if_a_bucket_cannot_be_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cpu_count: Callable[[int], None],
    *,
    compacts: bool,
) -> None:
    cpu_count(3)
    table = create(tmp_path, primary_key=True)
    for first in (0, 300):
        table.upsert(rows(first))
    before = sorted(tmp_path.rglob("*"))
    create_stream = LocalFileIO.create_stream

    def failing(self: LocalFileIO, path: str) -> object:
        if "dt=1/bucket-2" in path:
            raise StorageError("create", path, "the disk is full")
        return create_stream(self, path)

    monkeypatch.setattr(LocalFileIO, "create_stream", failing)
    with pytest.raises(StorageError, match="dt=1/bucket-2"):
        table.compact(full=True) if compacts else table.upsert(rows(0))
    assert sorted(tmp_path.rglob("*")) == before


def test_results_are_in_the_order_of_the_items_and_so_are_errors() -> None:
    late = threading.Event()

    def task(number: int) -> int:
        if number == 0:
            late.wait(10)
        if number == 1:
            late.set()
        if number >= 3:
            raise ValueError(number)
        return number * 10

    results = in_parallel(task, range(6), 2)
    assert [next(results) for _ in range(3)] == [0, 10, 20]
    with pytest.raises(ValueError, match="3"):
        next(results)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals of threads")
def test_an_interrupt_ends_all_threads_at_their_next_batch_and_discards_results() -> None:
    started = threading.Barrier(3)
    ended: list[int] = []
    discarded: list[int] = []

    def task(number: int) -> int:
        if number <= 2:
            started.wait(10)
        if number == 2:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            return number
        try:
            while True:
                check_cancelled()
        except CancelledError:
            ended.append(number)
            raise

    with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
        list(in_parallel(task, range(9), 3, discard=discarded.append))
    assert {0, 1} <= set(ended)
    assert discarded == [2]


def test_the_results_that_a_consumer_leaves_are_discarded() -> None:
    discarded: list[int] = []
    results = in_parallel(lambda number: number, range(2), 2, discard=discarded.append)
    assert next(results) == 0
    results.close()
    assert sorted(discarded) == [0, 1]


def test_threads_pay_off_for_many_rows_in_several_buckets(
    monkeypatch: pytest.MonkeyPatch, cpu_count: Callable[[int], None]
) -> None:
    monkeypatch.undo()
    cpu_count(4)
    assert threads_for(1, 10**9) == 1
    assert threads_for(9, 99_999) == 1
    assert threads_for(9, 100_000) == 4
