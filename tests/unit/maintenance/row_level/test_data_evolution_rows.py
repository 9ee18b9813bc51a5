"""Deletes, updates and merges in tables with data evolution, with deletion vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.index_conflicts import marked_files
from paimon_explore.errors import CommitConflictError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.maintenance.row_level.update_delete import (
    delete_rows,
    update_rows,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind
from support.compacting import deleted, live
from support.planned_change import planned
from support.small_tables import append_table, columns, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.int32(), p=pa.string())
EVOLVED = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
MARKED = {**EVOLVED, "deletion-vectors.enabled": "true"}
BLOBS = columns(k=pa.int32(), v=pa.int32(), b=pa.large_binary())


def row(k: int, v: int | None, p: str = "a") -> dict[str, object]:
    return {"k": k, "v": v, "p": p}


def table_of(options: Mapping[str, str] = MARKED, *, partition_by: Sequence[str] = ()) -> Table:
    """Two files: keys 1 to 3, and keys 4 and 5; the first with another file of updated values."""
    table = append_table(
        COLUMNS,
        [row(1, 10), row(2, 20), row(3, 30)],
        [row(4, 40, "b"), row(5, 50, "b")],
        partition_by=partition_by,
        options=options,
    )
    table.update({"v": "v + 1"}, where="k = 3")
    return table


def values(table: Table) -> dict[object, object]:
    return {found["k"]: found["v"] for found in rows_of(table.to_arrow())}


def row_ids(table: Table) -> dict[object, object]:
    rows = table.inspect.system_table("row_tracking").to_arrow().to_pylist()
    return {found["k"]: found["_ROW_ID"] for found in rows}


def files(table: Table) -> set[object]:
    return {found["file_name"] for found in live(table)}


def test_deleted_rows_stay_in_the_files_and_are_marked_in_the_oldest_one() -> None:
    table = table_of()
    before = files(table)
    made = table.delete("v IN (20, 31)")
    assert made is not None
    assert made.commit_kind is CommitKind.OVERWRITE
    assert files(table) == before
    assert deleted(table) == [[1, 2]]
    assert values(table) == {1: 10, 4: 40, 5: 50}
    assert row_ids(table) == {1: 0, 4: 3, 5: 4}
    assert table.maintenance.fsck() == []


def test_rows_are_deleted_updated_and_merged_by_row_id() -> None:
    table = table_of()
    table.delete("_ROW_ID IN (1, 4, 77)")
    table.update({"v": "-v"}, where="_ROW_ID = 3 OR k = 1")
    assert values(table) == {1: -10, 3: 31, 4: -40}
    assert table.delete("_ROW_ID = 1") is None
    assert table.update({"v": 0}, where="_ROW_ID < 0") is None


@pytest.mark.parametrize("options", [MARKED, {"row-tracking.enabled": "true"}])
def test_rows_are_merged_by_row_id(options: Mapping[str, str]) -> None:
    table = append_table(
        COLUMNS, [row(1, 10), row(2, 20), row(3, 30)], [row(4, 40)], options=options
    )
    ids = pa.array([0, 2, 3, 77], pa.int64())
    source = pa.table({"_ROW_ID": ids, "v": pa.array([-1, 5, None, 7], pa.int32())})
    merge = table.merge(source, on="_ROW_ID").when_matched_delete("source.v < 0")
    merge = merge.when_matched_update({"v": "source.v"}, "source.v > 0 OR target._ROW_ID = 3")
    assert merge.execute() is not None
    assert values(table) == {2: 20, 3: 5, 4: None}
    assert row_ids(table) == {2: 1, 3: 2, 4: 3}
    table.merge(source.slice(1, 1), on="_ROW_ID").when_matched_update_all().execute()
    merge = table.merge(source.slice(3), on="_ROW_ID")
    merge.when_not_matched_insert({"k": 9, "v": "source.v"}).execute()
    assert values(table) == {2: 20, 3: 5, 4: None, 9: 7}
    assert row_ids(table) == {2: 1, 3: 2, 4: 3, 9: 4}


def test_row_ids_are_not_set() -> None:
    merge = table_of().merge([row(1, 0)], on="k")
    with pytest.raises(ValueError, match="_ROW_ID"):
        merge.when_matched_update({"_ROW_ID": "5"}).execute()
    with pytest.raises(ValueError, match="_ROW_ID"):
        table_of().update({"_ROW_ID": "5"})


def test_other_files_are_not_read_for_row_ids() -> None:
    table = table_of()
    for found in live(table):
        if found["first_row_id"] == 3:
            path = next(
                status.path
                for status in table._store.file_io.walk(table.path)
                if status.path.endswith(str(found["file_name"]))
            )
            table._store.file_io.delete(path)
    assert table.delete("_ROW_ID = 1 AND v = 20") is not None
    assert deleted(table) == [[1]]


@pytest.mark.parametrize("vectors", [{}, {"deletion-vectors.enabled": "true"}])
def test_tables_with_row_tracking_alone_find_rows_by_id(vectors: Mapping[str, str]) -> None:
    table = append_table(
        COLUMNS,
        [row(1, 10), row(2, 20)],
        [row(3, 30)],
        options={"row-tracking.enabled": "true", **vectors},
    )
    table.update({"v": 0}, where="_ROW_ID = 0")
    table.delete("_ROW_ID = 1 OR v = 30")
    assert values(table) == {1: 0}
    assert row_ids(table) == {1: 0}


def test_rows_have_no_ids_without_row_tracking() -> None:
    table = append_table(COLUMNS, [row(1, 10)])
    with pytest.raises(ValueError, match="_ROW_ID"):
        table.delete("_ROW_ID = 0")


def test_an_update_writes_whole_ranges_and_brings_no_deleted_row_back() -> None:
    table = table_of()
    table.delete("k = 2")
    table.update({"v": "v * 2"})
    assert values(table) == {1: 20, 3: 62, 4: 80, 5: 100}
    assert {found["row_count"] for found in live(table)} == {3, 2}
    table.delete("k = 1")
    assert deleted(table) == [[0, 1]]
    assert table.at(snapshot=4).to_arrow().num_rows == 4


def test_a_merge_updates_deletes_and_inserts_in_one_commit() -> None:
    table = table_of()
    table.delete("k = 2")
    merge = table.merge([row(1, -1), row(2, 7), row(3, 8), row(9, 9)], on="k")
    merge.when_matched_delete("source.v < 0").when_matched_update(
        {"v": "source.v"}
    ).when_not_matched_insert().execute()
    assert values(table) == {2: 7, 3: 8, 4: 40, 5: 50, 9: 9}
    assert row_ids(table) == {3: 2, 4: 3, 5: 4, 2: 5, 9: 6}
    assert table.maintenance.fsck() == []


def test_rows_of_tables_with_blobs_are_deleted() -> None:
    rows = [{"k": k, "v": k, "b": bytes([k])} for k in range(4)]
    table = append_table(BLOBS, rows, options=MARKED)
    table.update({"v": "v + 10"}, where="k > 1")
    table.delete("k IN (0, 2)")
    table.delete("_ROW_ID = 1")
    assert rows_of(table.to_arrow()) == [{"k": 3, "v": 13, "b": b"\3"}]
    assert deleted(table) == [[0, 1, 2]]


def test_a_range_has_one_deletion_vector_whatever_columns_its_files_have() -> None:
    table = table_of()
    (first,) = [f for f in live(table) if f["first_row_id"] == 0 and f["write_cols"] is None]
    table.delete("k = 1")
    table.update({"p": "'z'"}, where="k = 2")
    table.delete("k = 3")
    snapshot = table.snapshot
    assert snapshot is not None
    (index,) = table._store.manifests.index_of(snapshot).rows()
    assert marked_files(index) == (first["file_name"],)


def test_new_columns_of_tables_with_deleted_rows() -> None:
    table = table_of()
    table.delete("k = 2")
    table.add_column("w", "INT")
    table.update({"w": "k * 100"}, where="k < 4")
    assert [(r["k"], r["w"]) for r in rows_of(table.to_arrow())] == [
        (1, 100),
        (3, 300),
        (4, None),
        (5, None),
    ]
    table.delete("w = 300")
    assert sorted(map(str, values(table))) == ["1", "4", "5"]


def test_all_rows_may_be_deleted_by_a_condition() -> None:
    table = table_of()
    table.delete("k > 0")
    assert table.to_arrow().num_rows == 0
    assert table.scan().count() == 0
    assert table.delete("k > 0") is None
    table.append([row(6, 60)])
    assert row_ids(table) == {6: 5}
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("options", [EVOLVED, MARKED])
def test_partitions_are_deleted_with_their_files(options: Mapping[str, str]) -> None:
    table = table_of(options, partition_by=["p"])
    table.delete("p = 'a'")
    assert values(table) == {4: 40, 5: 50}
    assert len(files(table)) == 1
    assert table.maintenance.fsck() == []
    table.delete("true")
    assert files(table) == set()


def test_files_of_partitions_go_with_their_deletion_vectors() -> None:
    table = table_of(partition_by=["p"])
    table.delete("k IN (1, 4)")
    table.delete("p = 'a'")
    assert values(table) == {5: 50}
    assert deleted(table) == [[0]]


def test_without_deletion_vectors_rows_are_not_deleted() -> None:
    table = table_of(EVOLVED)
    with pytest.raises(UnsupportedFeatureError, match=r"deletion-vectors\.enabled"):
        table.delete("k = 1")
    with pytest.raises(UnsupportedFeatureError, match=r"deletion-vectors\.enabled"):
        table.merge([row(1, 0)], on="k").when_matched_delete().execute()


def test_rows_that_differ_between_snapshots_have_their_updated_columns() -> None:
    table = table_of()
    table.delete("k = 1")
    options = {"incremental-between": "2,4", "incremental-between-scan-mode": "diff"}
    changed = replace(table, _dynamic_options=options).to_arrow()
    assert changed.to_pylist() == [row(3, 31)]


# ---------------------------------------------------------------- at the same time


def test_two_deletes_of_rows_of_one_file_conflict() -> None:
    table = table_of()
    commit = planned(table, delete_rows, "k = 1")
    other = planned(table, delete_rows, "k = 5")
    table.delete("k = 2")
    with pytest.raises(CommitConflictError):
        commit()
    other()
    assert sorted(map(str, values(table))) == ["1", "3", "4"]


def test_a_delete_does_not_take_rows_that_were_updated_meanwhile() -> None:
    table = table_of()
    commit = planned(table, delete_rows, "v = 10")
    table.update({"v": 11}, where="k = 1")
    with pytest.raises(CommitConflictError, match="of which this commit deletes rows"):
        commit()
    assert values(table)[1] == 11


def test_updates_of_rows_that_were_deleted_meanwhile_are_not_lost_in_silence() -> None:
    table = table_of()
    commit = planned(table, update_rows, {"v": 11}, "k = 1")
    other_file = planned(table, update_rows, {"v": 44}, "k = 4")
    table.delete("k = 1")
    with pytest.raises(CommitConflictError, match="Another commit deleted rows"):
        commit()
    other_file()
    assert values(table) == {2: 20, 3: 31, 4: 44, 5: 50}


def test_a_partition_is_not_deleted_under_an_update() -> None:
    table = table_of(partition_by=["p"])
    commit = planned(table, delete_rows, "p = 'a'")
    table.update({"v": 11}, where="k = 1")
    with pytest.raises(CommitConflictError, match="columns of rows that this commit removes"):
        commit()
    update = planned(table, update_rows, {"v": 12}, "k = 1")
    table.delete("p = 'a'")
    with pytest.raises(CommitConflictError):
        update()
    assert values(table) == {4: 40, 5: 50}


def test_rows_that_were_appended_meanwhile_are_kept() -> None:
    table = table_of()
    commit = planned(table, delete_rows, "k < 9")
    table.append([row(6, 60)])
    commit()
    assert values(table) == {6: 60}


def test_deletes_and_compactions_do_not_undo_each_other() -> None:
    table = table_of()
    commit = planned(table, delete_rows, "k = 1")
    messages = compact_table(table._store, table.schema, TableOptions(table.schema.options))
    table.delete("k = 2")
    with pytest.raises(CommitConflictError):
        Committer(table._store, table.schema).commit(messages)
    with pytest.raises(CommitConflictError):
        commit()
    assert sorted(map(str, values(table))) == ["1", "3", "4", "5"]
