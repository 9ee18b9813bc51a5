"""Many committers at once: every commit is there, exactly once, in one line of snapshots."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from paimon_explore.commit.committer import Committer
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.new_tables import all_files, latest, live_values, new_table, referenced_files

OPTIONS = {"commit.max-retries": "1000", "commit.max-retry-wait": "20 ms"}


def commit_some(file_io: FileIO, root: str, first: int, count: int) -> None:
    store = TableStore(file_io, TablePaths(root))
    schema = store.schemas.latest()
    assert schema is not None
    committer = Committer(store, schema)
    for value in range(first, first + count):
        committer.commit(write_append(store, schema, [{"a": value}]))


def check(store: TableStore, count: int) -> None:
    assert live_values(store, "a") == sorted(range(count), key=str)
    assert store.snapshots.ids() == list(range(1, count + 1))
    assert latest(store).total_record_count == count
    assert all_files(store) - referenced_files(store) == set()


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_threads_that_commit_at_once_lose_nothing(where: str, tmp_path: Path) -> None:
    file_io: FileIO = MemoryFileIO(str(tmp_path)) if where == "memory" else LocalFileIO()
    root = str(tmp_path / "t")
    store, _ = new_table({"a": "INT"}, options=OPTIONS, file_io=file_io, root=root)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: commit_some(file_io, root, 12 * k, 12), range(4)))
    check(store, 48)


def commit_when_told(root: str, first: int, count: int, go: Event) -> None:
    go.wait(60)
    commit_some(LocalFileIO(), root, first, count)


@pytest.mark.slow
def test_eight_processes_of_25_commits_lose_nothing(tmp_path: Path) -> None:
    root = str(tmp_path / "t")
    store, _ = new_table({"a": "INT"}, file_io=LocalFileIO(), root=root)
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    workers = [
        context.Process(target=commit_when_told, args=(root, 25 * k, 25, go)) for k in range(8)
    ]
    for worker in workers:
        worker.start()
    go.set()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 8
    check(store, 200)
