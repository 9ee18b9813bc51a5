from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paimon_explore.maintenance.checks.data_file_checks import FileRows
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from support.small_tables import new_catalog
from support.written import columns

ROWS = columns({"dt": pa.string(), "k": pa.int32(), "v": pa.int64()})


def written(folder: Path) -> FileRows:
    """Five rows of a partitioned table with a key, one of them deleted, and its entry."""
    table = new_catalog(folder).create_table(
        "db.t", ROWS, primary_key=["dt", "k"], partition_by=["dt"], options={"bucket": "1"}
    )
    rows = [{"dt": "d", "k": k, "v": None if k == 3 else k, "_ROW_KIND": "+I"} for k in range(5)]
    rows[4]["_ROW_KIND"] = "-D"
    snapshot = table.upsert(rows)
    assert snapshot is not None
    manifests = table._store.manifests
    entry = live_entries(manifests.read_many(manifests.all(snapshot).names))
    assert table.maintenance.fsck(read_rows=True) == []
    content = pa.table(
        {
            "dt": ["d"] * 5,
            "k": pa.array(range(5), pa.int32()),
            "v": pa.array([0, 1, 2, None, 4], pa.int64()),
            "_SEQUENCE_NUMBER": pa.array(range(5), pa.int64()),
            "_VALUE_KIND": pa.array([0, 0, 0, 0, 3], pa.int8()),
        }
    )
    return FileRows(
        table=content, entry=entry, schema=table.schema, options=TableOptions(table.schema.options)
    )


def with_column(rows: FileRows, name: str, values: "pa.Array[Any]") -> FileRows:
    place = rows.table.column_names.index(name)
    return replace(rows, table=rows.table.set_column(place, name, values))


def with_entry(rows: FileRows, name: str, value: "pa.Array[Any]") -> FileRows:
    table = rows.entry.table
    place = table.column_names.index(name)
    field = table.schema.field(name)
    return replace(rows, entry=ManifestEntries(table.set_column(place, field, value)))


BROKEN: dict[str, Callable[[FileRows], FileRows]] = {
    "the key of row 1 is out of order": lambda r: with_column(
        r, "k", pa.array([0, 2, 1, 3, 4], pa.int32())
    ),
    "row 1 has the key of the previous row": lambda r: with_column(
        r, "k", pa.array([0, 0, 2, 3, 4], pa.int32())
    ),
    "a key is above the recorded maximum key": lambda r: with_column(
        r, "k", pa.array([0, 1, 2, 3, 9], pa.int32())
    ),
    "the file has sequence numbers 0 to 7, but the manifest records 0 to 4": lambda r: with_column(
        r, "_SEQUENCE_NUMBER", pa.array([0, 1, 2, 3, 7], pa.int64())
    ),
    "the file has 0 retract rows, but the manifest records 1": lambda r: with_column(
        r, "_VALUE_KIND", pa.array([0] * 5, pa.int8())
    ),
    "column v has 0 nulls, but the manifest records 1": lambda r: with_column(
        r, "v", pa.array([0, 1, 2, 1, 4], pa.int64())
    ),
    "1 value is above the maximum of column v": lambda r: with_column(
        r, "v", pa.array([0, 1, 2, None, 5], pa.int64())
    ),
    "2 values are below the minimum of column v": lambda r: with_column(
        r, "v", pa.array([-1, -2, 2, None, 4], pa.int64())
    ),
    "5 of 5 rows have another value of dt than the partition": lambda r: with_column(
        r, "dt", pa.array(["e"] * 5)
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_rows_that_are_not_as_their_entry_says_are_told(tmp_path: Path, what: str) -> None:
    rows = written(tmp_path)
    assert list(rows.broken()) == []
    assert what in [found for _, found in BROKEN[what](rows).broken()]


def test_rows_of_another_bucket_are_told(tmp_path: Path) -> None:
    rows = with_entry(written(tmp_path), "total_buckets", pa.array([64], pa.int32()))
    found = [what for _, what in rows.broken()]
    assert len(found) == 1
    assert found[0].startswith("5 of 5 rows belong to another bucket, the first of them to bucket")


def test_an_empty_file_breaks_nothing(tmp_path: Path) -> None:
    rows = written(tmp_path)
    assert list(replace(rows, table=rows.table.slice(0, 0)).broken()) == []


def test_minus_zero_is_before_zero_in_the_order_of_keys(tmp_path: Path) -> None:
    fields = {"d": "DOUBLE NOT NULL", "s": "STRING NOT NULL"}
    table = new_catalog(tmp_path).create_table(
        "db.t", fields, primary_key=["d", "s"], options={"bucket": "1"}
    )
    table.upsert([{"d": d, "s": s} for d in (-0.0, 0.0, float("nan"), -1.0) for s in ("a", "b")])
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_file_of_one_text_key_is_in_order(tmp_path: Path) -> None:
    fields = {"s": "STRING NOT NULL"}
    table = new_catalog(tmp_path).create_table(
        "db.t", fields, primary_key="s", options={"bucket": "1"}
    )
    table.upsert([{"s": "a text of more than eight bytes"}])
    assert table.maintenance.fsck(read_rows=True) == []
