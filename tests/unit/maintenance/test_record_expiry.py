"""Rows that are too old to outlive a compaction."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError
from support.compacting import levels, live

EXPIRE = {"record-level.expire-time": "1 d", "record-level.time-field": "t"}


def table_of(folder: Path, kind: pa.DataType, **options: str) -> Table:
    catalog = Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table(
        "db.t",
        pa.schema([("k", pa.int32()), ("t", kind)]),
        primary_key=["k"],
        options={"bucket": "1", **EXPIRE, **options},
    )


def keys(table: Table) -> list[object]:
    return sorted(table.to_arrow().column("k").to_pylist(), key=str)


def test_a_compaction_drops_old_rows_and_keeps_those_without_a_time(tmp_path: Path) -> None:
    now = system_clock() // 1000
    table = table_of(tmp_path, pa.int64())
    times = [now, now - 90_000, None, now * 1000, (now - 90_000) * 1000, 0]
    table.append([{"k": k, "t": t} for k, t in enumerate(times)])
    assert keys(table) == [0, 1, 2, 3, 4, 5]
    assert table.compact() is not None
    assert keys(table) == [0, 2, 3]
    assert table.compact() is None


@pytest.mark.parametrize("kind", [pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.int32()])
def test_times_may_be_timestamps_or_seconds(tmp_path: Path, kind: pa.DataType) -> None:
    now = system_clock() // 1000
    ticks = {"ms": 1000, "us": 10**6}.get(str(kind)[10:12], 1)
    table = table_of(tmp_path, kind)
    rows = pa.table({"k": [0, 1], "t": pa.array([now * ticks, 10 * ticks], kind)})
    table.append(rows)
    table.compact()
    assert keys(table) == [0]


def test_files_on_the_top_level_are_rewritten_when_their_rows_grow_too_old(tmp_path: Path) -> None:
    now = system_clock() // 1000
    table = table_of(tmp_path, pa.int32())
    table.append([{"k": 0, "t": now}, {"k": 1, "t": now - 50_000}])
    table.compact()
    name = live(table)[0]["file_name"]
    assert table.compact() is None
    older = Catalog(tmp_path).table("db.t", {"record-level.expire-time": "10 h"})
    assert older.compact() is not None
    assert keys(table) == [0]
    assert live(table)[0]["file_name"] != name
    assert levels(table) == [(5, 1)]


def test_the_column_of_times_must_be_named(tmp_path: Path) -> None:
    table = table_of(tmp_path, pa.int32(), **{"record-level.time-field": "t"})
    table.append([{"k": 0, "t": 1}])
    unnamed = Catalog(tmp_path).table("db.t", {"record-level.time-field": "x"})
    with pytest.raises(InvalidInputError, match="time-field"):
        unnamed.compact()
