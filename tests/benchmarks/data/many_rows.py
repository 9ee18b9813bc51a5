"""Tables of many rows: primary-key tables of 4 buckets and overlapping runs, append tables."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.data.published import new_table, publish
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.table.table import Table

Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Keys: TypeAlias = Callable[[Ints], Column]

_RUNS = 4
_FILES = 8
_WORDS = pa.array([f"w{number:04d}" for number in range(1_000)])
_LAYOUTS: Mapping[str, Mapping[str, object]] = {
    "paged": {"row_group_size": 10**9, "write_page_index": True},
    "whole": {"row_group_size": 10**9, "write_page_index": False},
    "small": {"row_group_size": 65_536, "write_page_index": False},
}
_SUMS = {
    "v1": "sum",
    "v2": "max",
    "v3": "last_value",
    "d1": "sum",
    "d2": "min",
    "i1": "last_non_null_value",
    "s1": "max",
    "s2": "last_non_null_value",
}

WRITTEN = pa.schema(
    (
        pa.field("k", pa.int64()),
        pa.field("v1", pa.int64()),
        pa.field("v2", pa.int64()),
        pa.field("v3", pa.int64()),
        pa.field("d1", pa.float64()),
        pa.field("d2", pa.float64()),
        pa.field("i1", pa.int32()),
        pa.field("s1", pa.string()),
        pa.field("s2", pa.string()),
    )
)


def dense(numbers: Ints) -> Column:
    """The numbers themselves."""
    return pa.array(numbers)


def hashed(numbers: Ints) -> Column:
    """Whole numbers all over the range of 64 bits."""
    return pa.array(_mixed(numbers).view(np.int64))


def users(numbers: Ints) -> Column:
    """Texts like user-000000123."""
    return pa.array([f"user-{number:09d}" for number in numbers.tolist()])


def uuids(numbers: Ints) -> Column:
    """Texts like random UUIDs."""
    pairs = zip(_mixed(numbers).tolist(), _mixed(numbers + 7919).tolist(), strict=True)
    return pa.array(
        [
            f"{a >> 32:08x}-{a >> 16 & 0xFFFF:04x}-4{a & 0xFFF:03x}"
            f"-{0x8000 | b >> 48 & 0x3FFF:04x}-{b & 0xFFFFFFFFFFFF:012x}"
            for a, b in pairs
        ]
    )


def urls(numbers: Ints) -> Column:
    """Texts of varying length with long common beginnings."""
    shelves = ("garden", "kitchen", "kitchenware", "office")
    return pa.array(
        [f"https://example.com/shop/{shelves[n & 3]}/item-{n}" for n in numbers.tolist()]
    )


def _mixed(numbers: Ints) -> Words:
    """A bijection that scatters (splitmix64)."""
    word = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def make_keyed(
    warehouse: str,
    name: str,
    *,
    rows: int,
    keys: Keys,
    engine: str = "deduplicate",
    runs: int = _RUNS,
) -> None:
    """A table whose runs together have `rows` rows; half of the keys are in each run."""
    options = {"bucket": "4", "merge-engine": engine, "write-only": "true"}
    if engine == "aggregation":
        options |= {f"fields.{name}.aggregate-function": how for name, how in _SUMS.items()}
    rng = np.random.default_rng(13)
    each = rows // runs
    table: Table | None = None
    for run in range(runs):
        numbers = rng.permutation(2 * each)[:each].astype(np.int64)
        data = _values(rng, keys(numbers), run * each, with_nulls=engine == "partial-update")
        if table is None:
            table = new_table(warehouse, name, data.schema, primary_key=("k",), options=options)
        table.upsert(data)


def make_plain(warehouse: str, name: str, *, rows: int, layout: str | None = None) -> None:
    """An append table in 8 files, clustered by `id` and `ts`."""
    rng = np.random.default_rng(17)
    each = rows // _FILES
    table: Table | None = None
    for number in range(_FILES):
        ids = np.arange(number * each, (number + 1) * each)
        data = pa.table(
            {
                "id": pa.array(ids),
                "ts": pa.array(ids // 10),
                "u": pa.array(rng.integers(0, 1 << 40, each)),
                "r": pa.array(rng.integers(0, 100, each)),
                "d1": pa.array(rng.random(each)),
                "d2": pa.array(rng.normal(size=each)),
                "i1": pa.array(rng.integers(0, 1_000, each).astype(np.int32)),
                "i2": pa.array(rng.integers(0, 10, each).astype(np.int32)),
                "s1": _WORDS.take(rng.integers(0, 1_000, each)),
                "s2": pa.array([f"v{value}" for value in rng.integers(0, 1 << 40, each).tolist()]),
            }
        )
        if table is None:
            options = {"target-file-size": "1gb", "write-only": "true"}
            table = new_table(warehouse, name, data.schema, options=options)
        table.append(data)
    if layout is not None and table is not None:
        _lay_out(table, layout)


def _lay_out(table: Table, layout: str) -> None:
    """Write the data files anew with other row groups, and their sizes into the metadata."""
    latest = table._store.snapshots.latest()
    assert latest is not None
    cut = PartitionFilter(row_type=table.schema.partition_type)
    rows = live_files(table._store, latest, cut).rows()
    for row in rows:
        path = Path(table._store.paths.root) / "bucket-0" / str(row["file_name"])
        with pq.ParquetFile(path) as file:
            data = file.read()
        pq.write_table(data, path, compression="zstd", **_LAYOUTS[layout])  # type: ignore[arg-type]  # as documented
        row["file_size"] = path.stat().st_size
    publish(table, [ManifestEntries.from_rows(rows)])


def make_rows(warehouse: str, name: str, *, rows: int) -> None:
    """An Arrow file of rows to write: unique keys in no order."""
    rng = np.random.default_rng(19)
    keys = dense(rng.permutation(2 * rows)[:rows].astype(np.int64))
    data = _values(rng, keys, 0, with_nulls=False).cast(WRITTEN)
    with pa.ipc.new_file(f"{warehouse}/{name}", WRITTEN) as writer:
        writer.write_table(data)


def _values(
    rng: np.random.Generator,
    keys: Column,
    first: int,
    *,
    with_nulls: bool,
) -> pa.Table:
    count = len(keys)
    columns: dict[str, Column] = {
        "k": keys,
        "v1": pa.array(rng.integers(0, 1 << 40, count)),
        "v2": pa.array(rng.integers(0, 1_000, count)),
        "v3": pa.array(np.arange(first, first + count)),
        "d1": pa.array(rng.random(count)),
        "d2": pa.array(rng.normal(size=count)),
        "i1": pa.array(rng.integers(0, 100, count).astype(np.int32)),
        "s1": _WORDS.take(rng.integers(0, 1_000, count)),
        "s2": pa.array([f"v{value:019d}" for value in rng.integers(0, 1 << 60, count).tolist()]),
    }
    if with_nulls:
        for name in ("v1", "d1", "s1", "s2"):
            columns[name] = pc.if_else(pa.array(rng.random(count) < 0.5), columns[name], None)
    return pa.table(columns)
