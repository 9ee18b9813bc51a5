"""Updates and merges of tables with BLOB columns, of these columns and of others."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import CommitConflictError
from paimon_explore.maintenance.row_level.update_delete import update_rows
from support.compacting import live
from support.planned_change import planned
from support.small_tables import append_table, columns, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.int32(), b=pa.large_binary())
EVOLVED = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
MARKED = {**EVOLVED, "deletion-vectors.enabled": "true"}


def table_of(options: Mapping[str, str] = EVOLVED) -> Table:
    """Two data files of three rows each, with their blob files; key 1 has no BLOB."""
    rows = [{"k": k, "v": 10 * k, "b": None if k == 1 else b"old%d" % k} for k in range(6)]
    return append_table(COLUMNS, rows[:3], rows[3:], options=options)


def blobs(table: Table) -> dict[object, object]:
    return {found["k"]: found["b"] for found in rows_of(table.to_arrow())}


def new_files(table: Table, before: list[dict[str, object]]) -> list[tuple[object, ...]]:
    known = {found["file_name"] for found in before}
    return [
        (found["first_row_id"], found["row_count"], found["write_cols"])
        for found in live(table)
        if found["file_name"] not in known
    ]


def test_a_new_blob_file_ends_with_the_last_updated_row() -> None:
    table = table_of()
    before = live(table)
    table.update({"b": b"new"}, where="k IN (0, 1, 4)")
    assert sorted(new_files(table, before)) == [(0, 2, ["b"]), (3, 2, ["b"])]
    assert blobs(table) == {0: b"new", 1: b"new", 2: b"old2", 3: b"old3", 4: b"new", 5: b"old5"}
    table.update({"b": None}, where="k = 0")
    table.update({"b": b"newer"}, where="k = 2")
    assert blobs(table) == {0: None, 1: b"new", 2: b"newer", 3: b"old3", 4: b"new", 5: b"old5"}
    assert table.maintenance.fsck() == []
    assert table.at(snapshot=3).to_arrow().column("b").to_pylist()[:3] == [b"new", b"new", b"old2"]


def test_only_the_blob_files_of_the_row_ids_are_read_for_other_rows() -> None:
    table = table_of()
    table.update({"b": b"new"}, where="k = 1")
    assert table.scan(columns=["b"], where="k = 2").to_arrow().to_pylist() == [{"b": b"old2"}]
    assert table.scan(columns=["b"], where="k < 2").to_arrow().to_pylist() == [
        {"b": b"old0"},
        {"b": b"new"},
    ]


def test_other_columns_are_updated_without_the_blobs() -> None:
    table = table_of()
    before = live(table)
    table.update({"v": "v + 1"}, where="k = 5")
    assert new_files(table, before) == [(3, 3, ["v"])]
    assert blobs(table)[5] == b"old5"


def test_blobs_and_other_columns_are_updated_together() -> None:
    table = table_of(MARKED)
    table.delete("k = 3")
    table.update({"b": b"new", "v": "-v"}, where="k > 2")
    assert rows_of(table.to_arrow())[3:] == [
        {"k": 4, "v": -40, "b": b"new"},
        {"k": 5, "v": -50, "b": b"new"},
    ]


def test_merges_set_blobs_of_some_rows_and_keep_those_of_others() -> None:
    table = table_of(MARKED)
    source = pa.table(
        {
            "k": pa.array([0, 2, 4, 5, 9], pa.int32()),
            "v": pa.array([-1, 1, 2, 3, 4], pa.int32()),
            "b": pa.array([b"s0", b"s2", b"s4", None, b"s9"], pa.large_binary()),
        }
    )
    merge = table.merge(source, on="k").when_matched_delete("source.v < 0")
    merge = merge.when_matched_update({"b": "source.b"}, "source.v = 2")
    merge = merge.when_matched_update({"v": "source.v"}).when_not_matched_insert()
    merge.execute()
    assert rows_of(table.to_arrow()) == [
        {"k": 1, "v": 10, "b": None},
        {"k": 2, "v": 1, "b": b"old2"},
        {"k": 3, "v": 30, "b": b"old3"},
        {"k": 4, "v": 40, "b": b"s4"},
        {"k": 5, "v": 3, "b": b"old5"},
        {"k": 9, "v": 4, "b": b"s9"},
    ]
    assert table.maintenance.fsck() == []


def test_a_new_blob_column_gets_whole_files_first() -> None:
    table = table_of()
    table.add_column("c", "BLOB")
    before = live(table)
    table.update({"c": b"c4"}, where="k = 4")
    assert new_files(table, before) == [(3, 3, ["c"])]
    before = live(table)
    table.update({"c": b"c3"}, where="k = 3")
    assert new_files(table, before) == [(3, 1, ["c"])]
    found = table.to_arrow().column("c").to_pylist()
    assert found == [None, None, None, b"c3", b"c4", None]


def test_large_blobs_get_several_files() -> None:
    table = table_of({**EVOLVED, "blob.target-file-size": "1 b"})
    before = live(table)
    table.update({"b": b"new"}, where="k IN (0, 2)")
    made = sorted(new_files(table, before))
    assert made == [(0, 1, ["b"]), (1, 2, ["b"])]
    assert blobs(table)[0] == blobs(table)[2] == b"new"
    assert blobs(table)[1] is None


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (pa.list_(pa.large_binary()), [b"a", None], [b"x"]),
        (pa.map_(pa.string(), pa.large_binary()), [("a", b"a")], [("x", b"x"), ("y", None)]),
    ],
)
def test_arrays_and_maps_of_blobs_are_updated(kind: pa.DataType, old: object, new: object) -> None:
    schema = columns(k=pa.int32(), b=kind)
    table = append_table(schema, [{"k": k, "b": old} for k in range(3)], options=EVOLVED)
    source = pa.Table.from_pylist([{"k": 1, "b": new}], schema)
    table.merge(source, on="k").when_matched_update_all().execute()
    assert table.to_arrow().column("b").to_pylist() == [old, new, old]


def test_compactions_keep_updated_blobs() -> None:
    table = table_of({**EVOLVED, "compaction.min.file-num": "2"})
    table.update({"b": b"new"}, where="k = 4")
    table.update({"v": "v + 1"}, where="k = 4")
    table.compact(full=True)
    assert blobs(table)[4] == b"new"
    table.update({"b": b"newer"}, where="k IN (1, 4)")
    assert blobs(table) == {
        0: b"old0",
        1: b"newer",
        2: b"old2",
        3: b"old3",
        4: b"newer",
        5: b"old5",
    }
    assert table.maintenance.fsck() == []


def test_updates_of_the_same_blobs_at_once_conflict() -> None:
    table = table_of()
    same = planned(table, update_rows, {"b": b"late"}, "k = 2")
    other_column = planned(table, update_rows, {"v": 7}, "k = 2")
    other_rows = planned(table, update_rows, {"b": b"late"}, "k = 5")
    table.update({"b": b"first"}, where="k IN (0, 2)")
    with pytest.raises(CommitConflictError, match="updates the same columns"):
        same()
    other_column()
    other_rows()
    assert blobs(table)[2] == b"first"
    assert blobs(table)[5] == b"late"


def test_an_update_that_fails_leaves_no_blob_file() -> None:
    table = table_of()
    before = {status.path for status in table._store.file_io.walk(table.path)}
    with pytest.raises(ValueError, match="does not fit INT"):
        table.update({"b": b"new", "v": "v + 2147483620"})
    assert {status.path for status in table._store.file_io.walk(table.path)} == before
