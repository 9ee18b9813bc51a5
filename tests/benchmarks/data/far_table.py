"""A table on a store whose requests are late: eight partitions, two buckets, six small files each.

The store is `far_server`, started on first use; it ends with the process that uses it.
"""

import atexit
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count

import pyarrow as pa

import paimon_explore as pe

_PARTITIONS, _COMMITS, _ROWS = 8, 6, 8_000
_UPSERTED = 10
_OTHERS = count()


class FarStore:
    """The server, and a catalog with the table."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.far_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        self.endpoint = self._process.stdout.readline().strip()
        atexit.register(self.close)

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def send(self, path: str, method: str = "GET") -> bytes:
        """Send a request without the client that is measured."""
        request = urllib.request.Request(f"{self.endpoint}{path}", method=method)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - loopback
            found: bytes = response.read()
        return found

    def catalog(self, region: str = "us-east-1") -> pe.Catalog:
        """The catalog; another region is another store for caches."""
        options = {"endpoint": self.endpoint, "access_key_id": "k", "secret_access_key": "s"}
        return pe.Catalog("s3://far/w", storage_options={**options, "region": region})


@cache
def far_store() -> FarStore:
    """The store of this process, with the table `db.t`."""
    store = FarStore()
    store.send("/far", "PUT")
    catalog = store.catalog()
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"dt": "STRING NOT NULL", "k": "BIGINT NOT NULL", "v": "STRING"},
        primary_key=["dt", "k"],
        partition_by="dt",
        options={"bucket": 2, "write-only": "true"},
    )
    for commit in range(_COMMITS):
        keys = range(commit * 1000, commit * 1000 + _ROWS)
        days = [f"d{number % _PARTITIONS}" for number in range(_ROWS)]
        table.upsert(pa.table({"dt": days, "k": [*keys], "v": ["x" * 20] * _ROWS}))
    return store


def _plan(table: pe.Table) -> int:
    return len(table.scan().plan().splits)


def _read(table: pe.Table) -> int:
    return table.to_arrow().num_rows


def _partition(table: pe.Table) -> int:
    return table.scan(where="dt = 'd3'").to_arrow().num_rows


def _upsert(table: pe.Table) -> int:
    rows = {"dt": ["d1"] * _UPSERTED, "k": [*range(_UPSERTED)], "v": ["y"] * _UPSERTED}
    snapshot = table.upsert(pa.table(rows))
    return 0 if snapshot is None else snapshot.delta_record_count or 0


def _explorer(table: pe.Table) -> int:
    return "snapshots 1 to" in repr(table)


_WORKS: Mapping[str, Callable[[pe.Table], int]] = {
    "plan": _plan,
    "read": _read,
    "partition": _partition,
    "upsert": _upsert,
    "explorer": _explorer,
}


def measure(store: FarStore, work: str, delay_ms: float, *, is_first: bool) -> dict[str, object]:
    """Open the table and do something with it.

    Args:
        store: the store.
        work: what to do.
        delay_ms: how late each answer is.
        is_first: whether nothing of the table is known, as in a new process.
    """
    catalog = store.catalog(f"other-{next(_OTHERS)}" if is_first else "us-east-1")
    store.send(f"/-/delay/{delay_ms:g}")
    began = time.perf_counter()
    found = _WORKS[work](catalog.table("db.t"))
    seconds = time.perf_counter() - began
    counts: dict[str, int] = json.loads(store.send("/-/counts"))
    store.send("/-/delay/0")
    figures = {
        "requests": sum(counts.values()),
        "HEAD_requests": counts.get("HEAD", 0),
        "round_trips": 1000 * seconds / delay_ms,
    }
    return {"found": found, "figures": figures}
