"""Processes that are forked while threads of their parent read, compute and hold locks."""

import os
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore import threads
from paimon_explore.errors import StorageError
from paimon_explore.store import manifests
from support.s3 import s3_place

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no such processes here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
LOCKS = (type(threading.Lock()), type(threading.RLock()))
BUSY = "SELECT count(*) AS n FROM range(3000000) AS a JOIN range(3000000) AS b USING (id)"


def fails_in_fork(act: Callable[[], object]) -> bool:
    """Return whether an act raises an error in a forked process, or takes more than a minute."""
    child = os.fork()
    if not child:
        watch = threading.Timer(60, os._exit, (2,))
        watch.daemon = True
        watch.start()
        try:
            act()
        except BaseException:  # noqa: BLE001 - any failure
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def shared_locks() -> Iterator[tuple[str, object]]:
    """The locks of the objects that all users of a module share."""
    package = Path(pe.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if "Lock()" not in path.read_text(encoding="utf-8"):
            continue
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        try:
            module = import_module(name)
        except ImportError:  # an optional package is missing
            continue
        for label, value in list(vars(module).items()):
            is_own = type(value).__module__ == name and hasattr(value, "__dict__")
            inner = vars(value) if is_own else {}
            for found in (value, *inner.values()):
                if isinstance(found, LOCKS):
                    yield f"{name}.{label}", found


def test_every_shared_lock_is_free_in_forks() -> None:
    found = dict(shared_locks())
    assert len(found) > 6
    assert [name for name, lock in found.items() if lock not in threads._locks] == []


def test_a_fork_waits_for_a_lock_of_another_thread() -> None:
    lock = threads.free_in_forks(threading.Lock())
    state: list[int] = []
    held = threading.Event()

    def change() -> None:
        with lock:
            state.append(1)
            held.set()
            threading.Event().wait(0.1)
            state.append(2)

    thread = threading.Thread(target=change)
    thread.start()
    held.wait()

    def check() -> None:
        assert lock.acquire(timeout=1)
        assert state == [1, 2]

    assert not fails_in_fork(check)
    thread.join()
    assert lock.acquire(blocking=False)


def test_a_fork_reads_while_threads_of_the_parent_read() -> None:
    catalog = pe.demo()
    orders = catalog.table("demo.orders")
    expected = orders.to_arrow().num_rows
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            manifests.shared_cache().clear()
            orders.to_arrow()

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(read)
        try:
            found = [fails_in_fork(lambda: _check(orders, expected)) for _ in range(10)]
        finally:
            done.set()
    assert not any(found)


def _check(table: pe.Table, rows: int) -> None:
    assert table.to_arrow().num_rows == rows
    assert table.count() == rows


def test_a_fork_runs_sql_while_a_query_of_the_parent_runs() -> None:
    catalog = pe.demo()
    result = catalog.sql("SELECT count(*) AS n FROM demo.orders")
    rows = result.to_arrow()["n"].to_pylist()
    busy = catalog.sql(BUSY)

    def check() -> None:
        assert result.to_arrow()["n"].to_pylist() == rows
        assert catalog.sql(BUSY).to_arrow()["n"].to_pylist() == [3_000_000]

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(busy.to_arrow) for _ in range(2)]
        found = [fails_in_fork(check) for _ in range(2)]
    assert not any(found)
    assert all(one.result()["n"].to_pylist() == [3_000_000] for one in running)


def test_a_fork_refuses_the_object_stores_that_its_parent_has_used() -> None:
    with s3_place("forked") as place:
        catalog = pe.Catalog(place.location, options=place.options)
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "INT"})
        table.append([{"id": 1}])

        def check() -> None:
            with pytest.raises(StorageError, match=r"does not work in a fork.*'spawn'"):
                table.to_arrow()
            with pytest.raises(StorageError, match=r"does not work in a fork.*'spawn'"):
                pe.open_table(f"{place.location}/db.db/t", storage_options=place.options)

        assert not fails_in_fork(check)
        assert table.count() == 1
