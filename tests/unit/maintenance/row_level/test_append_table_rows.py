"""Rows of tables without primary key: which files go, which stay, and what conflicts."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.maintenance.row_level.update_delete import (
    delete_rows,
    update_rows,
)
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind
from support.compacting import deleted, live
from support.migrated_files import equal_names
from support.planned_change import planned
from support.small_tables import append_table, columns, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.int32(), p=pa.string())
VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETED = {**VECTORS, "bucket": "1", "bucket-key": "k"}
TRACKED = {"row-tracking.enabled": "true"}
EVOLVED = {**TRACKED, "data-evolution.enabled": "true"}


def row(k: int, v: int | None, p: str = "a") -> dict[str, object]:
    return {"k": k, "v": v, "p": p}


def table_of(options: Mapping[str, str] | None = None, *, by_partition: bool = False) -> Table:
    """Two files: keys 1 to 3, and keys 4 and 5."""
    return append_table(
        COLUMNS,
        [row(1, 10), row(2, 20), row(3, 30)],
        [row(4, 40), row(5, 50)],
        partition_by=["p"] if by_partition else [],
        options=options,
    )


def values(table: Table) -> dict[object, object]:
    return {found["k"]: found["v"] for found in rows_of(table.to_arrow())}


def names(table: Table) -> set[object]:
    return {found["file_name"] for found in live(table)}


def test_only_files_with_touched_rows_are_written_anew() -> None:
    table = table_of()
    before = names(table)
    made = table.update({"v": "v + 1"}, where="k = 4")
    assert made is not None
    assert made.commit_kind is CommitKind.OVERWRITE
    assert len(names(table) & before) == 1
    assert values(table) == {1: 10, 2: 20, 3: 30, 4: 41, 5: 50}


def test_rows_keep_their_order_in_a_file() -> None:
    table = table_of()
    table.update({"v": "0"}, where="k = 2")
    table.delete("k = 1")
    ordered = [found["k"] for found in table.to_arrow().to_pylist()]
    assert ordered == [4, 5, 2, 3]


def test_a_file_whose_rows_all_go_is_dropped_and_no_file_is_written() -> None:
    table = table_of()
    files = {status.path for status in table._store.file_io.walk(table.path)}
    table.delete("k > 3")
    assert len(names(table)) == 1
    new = {status.path for status in table._store.file_io.walk(table.path)} - files
    assert [path for path in new if "/bucket-" in path] == []


def test_partitions_are_deleted_without_reading_a_file() -> None:
    table = table_of(by_partition=True)
    table.append([row(9, 90, "b")])
    for status in list(table._store.file_io.walk(table.path)):
        if "/p=a/" in status.path:
            table._store.file_io.delete(status.path)
    table.delete("p = 'a'")
    assert values(table) == {9: 90}


def test_updated_rows_move_to_the_partition_of_their_values() -> None:
    table = table_of(by_partition=True)
    table.update({"p": "'b'"}, where="k = 4")
    assert {found["p"] for found in rows_of(table.scan(where="k = 4").to_arrow())} == {"b"}
    assert len(table.inspect.system_table("partitions").to_arrow()) == 2


def test_marked_rows_leave_their_file_where_it_is() -> None:
    table = table_of(VECTORS)
    before = names(table)
    table.delete("k = 1")
    table.update({"v": "0"}, where="k = 2")
    assert before < names(table)
    assert deleted(table) == [[0, 1]]
    assert values(table) == {2: 0, 3: 30, 4: 40, 5: 50}


def test_a_file_of_which_all_rows_are_marked_goes_with_its_vector() -> None:
    table = table_of(VECTORS)
    table.delete("k = 4")
    table.delete("k = 5")
    assert deleted(table) == []
    assert len(names(table)) == 1


def test_nothing_to_do_makes_no_snapshot() -> None:
    table = table_of()
    assert table.delete("k = 77") is None
    assert table.update({"v": 1}, where="k = 77") is None
    assert append_table(COLUMNS).update({"v": 1}) is None


def test_rows_keep_their_ids_and_only_updated_ones_get_the_snapshots_number() -> None:
    table = table_of(TRACKED)
    table.update({"v": "0"}, where="k = 2")
    table.delete("k = 1")
    found = table.inspect.system_table("row_tracking").to_arrow().to_pylist()
    ids = {r["k"]: (r["_ROW_ID"], r["_SEQUENCE_NUMBER"]) for r in found}
    assert ids == {2: (1, 3), 3: (2, 1), 4: (3, 2), 5: (4, 2)}
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.next_row_id == 5


def test_an_operation_that_fails_leaves_no_file() -> None:
    table = table_of()
    before = {status.path for status in table._store.file_io.walk(table.path)}
    with pytest.raises(ValueError, match="does not fit INT"):
        table.update({"v": "v + 2147483640"})
    assert {status.path for status in table._store.file_io.walk(table.path)} == before


@pytest.mark.parametrize("options", [{}, VECTORS, BUCKETED])
def test_two_deletes_of_one_file_at_once_conflict(options: Mapping[str, str]) -> None:
    table = table_of(options)
    commit = planned(table, delete_rows, "k = 1")
    table.delete("k = 2")
    with pytest.raises(CommitConflictError):
        commit()
    assert sorted(map(str, values(table))) == ["1", "3", "4", "5"]


@pytest.mark.parametrize("options", [{}, VECTORS])
def test_deletes_of_different_files_do_not_conflict(options: Mapping[str, str]) -> None:
    table = table_of(options)
    commit = planned(table, delete_rows, "k = 1")
    table.delete("k = 4")
    commit()
    assert sorted(map(str, values(table))) == ["2", "3", "5"]


def test_a_compaction_does_not_bring_back_rows_that_were_deleted_meanwhile() -> None:
    table = table_of(VECTORS)
    messages = compact_table(table._store, table.schema, TableOptions(table.schema.options))
    table.delete("k = 1")
    with pytest.raises(CommitConflictError, match="Another commit deleted rows"):
        Committer(table._store, table.schema).commit(messages)


def test_an_update_writes_only_its_columns_beside_the_files_of_the_rows() -> None:
    table = table_of(EVOLVED)
    before = names(table)
    made = table.update({"v": "v + k"}, where="k IN (1, 3)")
    assert made is not None
    assert made.commit_kind is CommitKind.APPEND
    (new,) = [found for found in live(table) if found["file_name"] not in before]
    assert (new["first_row_id"], new["row_count"], new["write_cols"]) == (0, 3, ["v"])
    assert (new["min_sequence_number"], new["max_sequence_number"]) == (3, 3)
    assert values(table) == {1: 11, 2: 20, 3: 33, 4: 40, 5: 50}


def test_updates_of_the_same_columns_and_rows_at_once_conflict() -> None:
    table = table_of(EVOLVED)
    same = planned(table, update_rows, {"v": "1"}, "k = 1")
    other_column = planned(table, update_rows, {"p": "'z'"}, "k = 1")
    other_rows = planned(table, update_rows, {"v": "2"}, "k = 5")
    table.update({"v": "3"}, where="k = 2")
    with pytest.raises(CommitConflictError, match="updates the same columns"):
        same()
    other_column()
    other_rows()
    assert values(table) == {1: 10, 2: 3, 3: 30, 4: 40, 5: 2}


def test_rows_whose_columns_lie_in_several_files_are_not_deleted() -> None:
    with pytest.raises(UnsupportedFeatureError, match="data-evolution"):
        table_of(EVOLVED).delete("k = 1")


def test_columns_with_a_global_index_are_not_updated() -> None:
    table = table_of(EVOLVED)
    index = {
        "kind": 0,
        "partition": b"\0\0\0\0\0\0\0\0\0\0\0\0",
        "bucket": 0,
        "index_type": "btree",
        "file_name": "btree-1.index",
        "file_size": 1,
        "row_count": 3,
        "global_index": {"row_range_start": 0, "row_range_end": 2, "index_field_id": 1},
    }
    added = CommitMessage(
        partition=index["partition"],  # type: ignore[arg-type]  # bytes
        bucket=0,
        new_index_files=IndexEntries.from_rows([index]),
    )
    Committer(table._store, table.schema).commit([added])
    with pytest.raises(UnsupportedFeatureError, match="'v', which has a global index"):
        table.update({"v": 1})
    assert table.update({"p": "'z'"}) is not None


@pytest.mark.parametrize("options", [{}, VECTORS, BUCKETED])
def test_files_of_several_partitions_may_have_the_same_name(options: Mapping[str, str]) -> None:
    with equal_names():
        rows = [[row(k, k * 10, p) for k in (1, 2, 3)] for p in "abc"]
        table = append_table(COLUMNS, *rows, partition_by=["p"], options=options)
    assert len(live(table)) == 3
    assert len(names(table)) == 1
    table.delete("p = 'a' AND k = 1")
    table.delete("p = 'b' AND k = 2")
    table.update({"v": "0"}, where="k = 3 AND p <> 'c'")
    expected = {("a", 2, 20), ("a", 3, 0), ("b", 1, 10), ("b", 3, 0)}
    expected |= {("c", 1, 10), ("c", 2, 20), ("c", 3, 30)}
    for _ in range(2):
        found = rows_of(table.to_arrow())
        assert {(one["p"], one["k"], one["v"]) for one in found} == expected
        assert [table.count(f"p = '{p}'") for p in "abc"] == [2, 2, 3]
        assert table.count() == len(found) == 7
        assert not table.maintenance.fsck(read_rows=True)
        table.compact()


def test_deleted_rows_of_one_of_two_files_with_the_same_name_are_the_only_ones_removed() -> None:
    with equal_names():
        rows = [[row(k, k, p) for k in (1, 2)] for p in "ab"]
        table = append_table(COLUMNS, *rows, partition_by=["p"], options=VECTORS)
    made = table.delete("p = 'a' AND k = 1")
    assert made is not None
    found = table.between(made.id - 1, made.id, row_kinds=True).to_arrow()
    assert [(one["rowkind"], one["p"], one["k"]) for one in found.to_pylist()] == [("-D", "a", 1)]
