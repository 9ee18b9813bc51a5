"""Files of tables with data evolution put together."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore.commit import conflicts
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.maintenance.checks.snapshot_checks import COLUMN_FILES
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.table.table import Table, open_table
from support.compacting import deleted, live
from support.new_tables import new_table

COLUMNS: Mapping[str, object] = {"id": "INT", "s": "STRING", "v": "INT"}
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


def new(
    folder: Path, columns: Mapping[str, object] = COLUMNS, options: Mapping[str, str] | None = None
) -> Table:
    given = {**EVOLVING, **(options or {})}
    new_table(columns, options=given, file_io=LocalFileIO(), root=str(folder))
    return open_table(folder)


def rows(first: int, last: int) -> list[dict[str, object]]:
    return [{"id": i, "s": f"s{i}", "v": i} for i in range(first, last)]


def ranges(table: Table) -> list[tuple[object, object]]:
    return [(row["first_row_id"], row["row_count"]) for row in live(table)]


def tracked(table: Table) -> list[dict[str, object]]:
    return table.inspect.system_table("row_tracking").to_arrow().sort_by("_ROW_ID").to_pylist()


def test_neighbouring_ranges_and_their_columns_become_one_file(tmp_path: Path) -> None:
    table = new(tmp_path)
    table.append(rows(0, 3))
    table.append(rows(3, 5))
    table.update({"v": 9}, where="id = 4")
    before = tracked(table)
    assert [row["v"] for row in before] == [0, 1, 2, 3, 9]
    assert table.compact() is not None
    (file,) = live(table)
    assert (file["first_row_id"], file["row_count"], file["file_source"]) == (0, 5, 1)
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (1, 3)
    assert file["write_cols"] is None
    after = tracked(table)
    assert [(r["id"], r["v"], r["_ROW_ID"]) for r in after] == [
        (r["id"], r["v"], r["_ROW_ID"]) for r in before
    ]
    assert table.compact() is None
    assert table.maintenance.fsck() == []


def test_a_minor_compaction_waits_for_enough_files(tmp_path: Path) -> None:
    table = new(tmp_path, options={"compaction.min.file-num": "3"})
    table.append(rows(0, 3))
    table.append(rows(3, 5))
    assert table.compact(full=False) is None
    table.append(rows(5, 6))
    assert table.compact(full=False) is not None
    assert ranges(table) == [(0, 6)]


def test_blob_files_stay(tmp_path: Path) -> None:
    table = new(tmp_path, {"id": "INT", "b": "BLOB"})
    for number in range(3):
        table.append([{"id": number, "b": bytes([number])}])
    assert table.compact() is not None
    kinds = sorted((str(r["file_name"]).rpartition(".")[2], r["row_count"]) for r in live(table))
    assert kinds == [("blob", 1), ("blob", 1), ("blob", 1), ("parquet", 3)]
    assert table.to_arrow().sort_by("id").to_pylist() == [
        {"id": number, "b": bytes([number])} for number in range(3)
    ]


def test_ranges_with_and_without_blob_files_stay_apart(tmp_path: Path) -> None:
    table = new(tmp_path, {"id": "INT", "b": "BLOB"})
    for i in range(6):
        if i in (2, 4):
            table.add_column(f"b{i}", "BLOB")
        table.append([{"id": i, "b": b"b"}])
    table.append([{"id": 6, "b2": b"c"}])
    assert table.compact() is not None
    data = [row for row in live(table) if str(row["file_name"]).endswith(".parquet")]
    assert sorted((row["first_row_id"], row["row_count"]) for row in data) == [
        (0, 2),
        (2, 2),
        (4, 3),
    ]
    assert table.to_arrow()["b2"].to_pylist() == [*[None] * 6, b"c"]


def test_columns_written_meanwhile_make_the_compaction_fail(tmp_path: Path) -> None:
    table = new(tmp_path)
    table.append(rows(0, 3))
    table.append(rows(3, 5))
    options = TableOptions(table.schema.options)
    messages = compact_table(table._store, table.schema, options)
    table.update({"v": 9}, where="id = 4")
    with pytest.raises(CommitConflictError, match="that this commit compacts"):
        Committer(table._store, table.schema).commit(messages)
    assert [row["v"] for row in tracked(table)] == [0, 1, 2, 3, 9]


MARKED = {"deletion-vectors.enabled": "true"}


def test_deleted_rows_keep_their_ids_and_stay_deleted(tmp_path: Path) -> None:
    table = new(tmp_path, options=MARKED)
    for first in (0, 3, 6):
        table.append(rows(first, first + 3))
    table.update({"v": -1}, where="id IN (4, 8)")
    table.delete("id IN (1, 3, 8)")
    before = tracked(table)
    assert table.compact() is not None
    assert ranges(table) == [(0, 9)]
    assert deleted(table) == [[1, 3, 8]]
    assert [(r["id"], r["v"], r["_ROW_ID"]) for r in tracked(table)] == [
        (r["id"], r["v"], r["_ROW_ID"]) for r in before
    ]
    table.delete("_ROW_ID = 0")
    table.update({"v": 5}, where="id = 2")
    assert [(r["id"], r["v"]) for r in tracked(table)] == [(2, 5), (4, -1), (5, 5), (6, 6), (7, 7)]
    assert table.at(snapshot=3).to_arrow().num_rows == 9
    assert table.maintenance.fsck() == []


def test_vectors_of_files_that_stay_are_kept(tmp_path: Path) -> None:
    options = {**MARKED, "source.split.open-file-cost": "1 b", "target-file-size": "1 kb"}
    table = new(tmp_path, options=options)
    for first in (0, 3, 6, 9, 12):
        table.append(rows(first, first + 3))
    table.delete("id IN (1, 7, 10, 13)")
    before = tracked(table)
    assert table.compact() is not None
    assert sorted(map(str, ranges(table))) == ["(0, 6)", "(12, 3)", "(6, 6)"]
    assert sorted(deleted(table)) == [[1], [1], [1, 4]]
    assert [r["id"] for r in tracked(table)] == [r["id"] for r in before]


def test_ranges_larger_than_the_target_size_are_merged_alone(tmp_path: Path) -> None:
    table = new(tmp_path, options={"source.split.open-file-cost": "1 kb"})
    for first in (0, 3, 6):
        table.append(rows(first, first + 3))
    table.update({"v": -1}, where="id = 4")
    table.set_options({"target-file-size": "1 kb", "compaction.min.file-num": "2"})
    assert table.compact(full=False) is not None
    assert ranges(table) == [(0, 3), (3, 3), (6, 3)]
    assert len(live(table)) == 3


def test_rows_deleted_meanwhile_make_the_compaction_fail(tmp_path: Path) -> None:
    table = new(tmp_path, options=MARKED)
    table.append(rows(0, 3))
    table.append(rows(3, 5))
    table.delete("id = 0")
    options = TableOptions(table.schema.options)
    messages = compact_table(table._store, table.schema, options)
    table.delete("id = 4")
    with pytest.raises(CommitConflictError):
        Committer(table._store, table.schema).commit(messages)
    assert [row["id"] for row in tracked(table)] == [1, 2, 3]


@pytest.mark.parametrize("compacts_first", [False, True])
@pytest.mark.parametrize(
    ("kind", "value"), [("BLOB", b"x"), ("VECTOR<FLOAT, 2>", [1.0, 2.0])], ids=str
)
def test_columns_written_and_compacted_at_a_time_have_files_of_whole_ranges(
    tmp_path: Path, kind: str, value: object, *, compacts_first: bool
) -> None:
    table = new(tmp_path, {"id": "INT"})
    for i in range(4):
        table.append([{"id": i}])
    table.add_column("c", kind)
    source = pa.table({"id": pa.array([0], pa.int32()), "c": [value]})
    transaction = table.transaction()
    written = transaction if compacts_first else table
    messages = compact_table(table._store, table.schema, TableOptions(table.schema.options))
    written.merge(source, on="id").when_matched_update({"c": "source.c"}).execute()
    if compacts_first:
        Committer(table._store, table.schema).commit(messages)
        transaction.commit()
    else:
        with pytest.raises(CommitConflictError):
            Committer(table._store, table.schema).commit(messages)
    assert table.to_arrow()["c"].to_pylist() == [value, None, None, None]
    files = [(row["write_cols"], row["first_row_id"], row["row_count"]) for row in live(table)]
    whole = {(first, count) for columns, first, count in files if columns != ["c"]}
    assert {(first, count) for columns, first, count in files if columns == ["c"]} <= whole


def test_checks_find_columns_whose_files_have_some_of_the_rows_of_a_data_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new(tmp_path, {"id": "INT"})
    for i in range(2):
        table.append([{"id": i}])
    table.add_column("c", "BLOB")
    messages = compact_table(table._store, table.schema, TableOptions(table.schema.options))
    table.update({"c": b"x"}, "id = 0")
    assert table.maintenance.fsck() == []
    monkeypatch.setattr(conflicts, "check_column_files", lambda *_: None)  # as earlier releases
    Committer(table._store, table.schema).commit(messages)
    (found,) = table.maintenance.fsck()
    assert (found.rule, found.what) == (
        COLUMN_FILES,
        "files of ['c'] have only some of the rows with ids 0 to 1",
    )
