"""BLOB columns beside the data files of append tables."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.table.table import Table, open_table
from paimon_explore.write.append_writer import write_append
from support.compacting import live
from support.new_tables import all_files, new_table

COLUMNS: Mapping[str, object] = {"id": "INT", "img": "BLOB", "s": "STRING", "doc": "BLOB"}
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


def new(folder: Path, **options: str) -> Table:
    given = {**EVOLVING, **options}
    new_table(COLUMNS, options=given, file_io=LocalFileIO(), root=str(folder))
    return open_table(folder)


def rows(first: int, last: int, size: int = 10) -> list[dict[str, object]]:
    return [
        {"id": i, "img": bytes([i]) * size, "s": f"s{i}", "doc": None if i % 2 else b""}
        for i in range(first, last)
    ]


def test_each_blob_column_has_files_along_the_row_ids_of_the_others(tmp_path: Path) -> None:
    table = new(tmp_path, **{"blob.target-file-size": "100 b"})
    table.append(rows(0, 8, 24))  # an entry takes 40 bytes
    table.append(rows(8, 10, 24))
    found = [
        (
            str(row["file_name"]).rpartition("-")[2],
            row["first_row_id"],
            row["row_count"],
            row["write_cols"],
        )
        for row in live(table)
    ]
    assert found == [
        ("0.parquet", 0, 8, ["id", "s"]),
        ("1.blob", 0, 3, ["img"]),
        ("3.blob", 3, 3, ["img"]),
        ("4.blob", 6, 2, ["img"]),
        ("2.blob", 0, 8, ["doc"]),
        ("0.parquet", 8, 2, ["id", "s"]),
        ("1.blob", 8, 2, ["img"]),
        ("2.blob", 8, 2, ["doc"]),
    ]
    assert table.to_arrow().sort_by("id").to_pylist() == rows(0, 10, 24)
    newest = table._store.snapshots.latest()
    assert newest is not None
    assert (newest.next_row_id, newest.total_record_count) == (10, 30)
    assert table.maintenance.fsck() == []


def test_blob_files_end_with_their_data_file(tmp_path: Path) -> None:
    table = new(tmp_path, **{"target-file-row-num": "3"})
    table.append(rows(0, 7))
    counts = [(row["first_row_id"], row["row_count"]) for row in live(table)]
    assert sorted(counts, key=str) == [(0, 3)] * 3 + [(3, 3)] * 3 + [(6, 1)] * 3
    assert table.to_arrow().sort_by("id").to_pylist() == rows(0, 7)


def test_a_failed_write_leaves_no_blob_files() -> None:
    store, schema = new_table(COLUMNS, options=EVOLVING)
    parts: list[dict[str, object]] = [{"id": 1, "img": b"x"}, {"id": "no number"}]
    with pytest.raises(InvalidInputError):
        write_append(store, schema, parts)
    assert all_files(store) == {"schema/schema-0"}


def test_other_kinds_of_blobs_are_refused() -> None:
    columns = {"id": "INT", "b": {"type": "MAP", "key": "DOUBLE NOT NULL", "value": "BLOB"}}
    store, schema = new_table(columns, options=EVOLVING)
    with pytest.raises(UnsupportedFeatureError, match="BLOB"):
        write_append(store, schema, [{"id": 1}])
