"""New row ids of partitions whose row ids are not consecutive."""

from collections.abc import Mapping

import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite
from paimon_explore.maintenance.row_level.update_delete import update_rows
from paimon_explore.metadata.options.table_options import TableOptions
from support.small_tables import new_catalog

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "deletion-vectors.enabled": "true",
}


def new(
    columns: Mapping[str, str] | None = None, options: Mapping[str, str] | None = None
) -> Table:
    """Two partitions with two ranges of row ids each, and one with one."""
    table = new_catalog().create_table(
        "db.t",
        columns or {"id": "INT", "s": "STRING", "p": "STRING"},
        partition_by="p",
        options={**OPTIONS, **(options or {})},
    )
    table.append([*rows("a", 0), *rows("b", 1, 2)])
    table.append([*rows("a", 3), *rows("b", 4)])
    table.append(rows("c", 5, 6))
    return table


def rows(partition: str, *ids: int) -> list[dict[str, object]]:
    return [{"id": i, "s": f"s{i}", "p": partition} for i in ids]


def row_ids(table: Table) -> dict[object, object]:
    found = table.inspect.system_table("row_tracking").to_arrow().sort_by("id").to_pylist()
    return {row["id"]: row["_ROW_ID"] for row in found}


def test_each_partition_gets_consecutive_row_ids_in_their_order() -> None:
    table = new()
    table.update({"s": "'new'"}, where="id = 2")
    table.delete("id = 1")
    before = table.to_arrow().sort_by("id")
    assert row_ids(table) == {i: i for i in (0, 2, 3, 4, 5, 6)}
    planned = table.maintenance.reassign_row_ids(dry_run=True)
    report = table.maintenance.reassign_row_ids()
    assert (planned.row_count, planned.snapshot_id, report.snapshot_id) == (5, None, 6)
    assert (report.partitions, report.row_count, report.first_row_id) == (2, 5, 7)
    assert row_ids(table) == {0: 7, 3: 8, 2: 10, 4: 11, 5: 5, 6: 6}
    latest = table.snapshots.latest()
    assert latest is not None
    assert (latest.commit_kind.value, latest.next_row_id, latest.delta_record_count) == (
        "OVERWRITE",
        12,
        0,
    )
    assert table.to_arrow().sort_by("id") == before
    assert table.at(snapshot=5).to_arrow().sort_by("id") == before
    assert table.maintenance.fsck() == []
    assert table.maintenance.reassign_row_ids().snapshot_id is None
    table.delete("id = 4")
    table.update({"s": "'last'"}, where="id = 3")
    table.compact()
    assert table.scan(where="p = 'b'").to_arrow()["id"].to_pylist() == [2]
    assert table.maintenance.fsck() == []


def test_only_the_named_partitions_are_reassigned() -> None:
    table = new()
    assert table.maintenance.reassign_row_ids({"p": "a"}).partitions == 1
    assert [row_ids(table)[i] for i in (0, 3)] == [7, 8]
    assert table.maintenance.fsck() == []


def test_long_ranges_keep_their_ids() -> None:
    table = new(options={"data-evolution.reassign.skip-contiguous-row-count": "1"})
    assert table.maintenance.reassign_row_ids().partitions == 1


def test_global_indexes_move_with_their_rows() -> None:
    table = new()
    table.maintenance.create_global_index("id")
    report = table.maintenance.reassign_row_ids()
    assert report.dropped_indexes == ()
    for i in range(7):
        assert table.scan(where=f"id = {i}").to_arrow()["s"].to_pylist() == [f"s{i}"]
    (note,) = table.explain(where="id = 4").notes
    assert note.endswith("1 of 7 rows are read; 0 of them have no index.")
    assert table.maintenance.create_global_index("id").files == ()
    assert table.maintenance.fsck() == []


def test_it_is_planned_again_after_another_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    table = new()
    calls: list[object] = []

    def after_another(*args: object) -> object:
        calls.append(1)
        if len(calls) == 1:
            table.append(rows("a", 7))
        return commit_rewrite(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(
        "paimon_explore.maintenance.rewrites.row_id_reassignment.commit_rewrite", after_another
    )
    assert table.maintenance.reassign_row_ids().row_count == 6
    assert len(calls) == 2
    assert table.maintenance.fsck() == []


def test_changes_planned_with_the_old_row_ids_conflict() -> None:
    table = new()
    table.append(rows("a", 8))
    table.append(rows("a", 9))
    store, schema = table._store, table.schema
    options = TableOptions(schema.options)
    compaction = compact_table(store, schema, options)
    update = update_rows(store, schema, options, {"s": "'new'"}, "id = 3")
    table.maintenance.reassign_row_ids()
    with pytest.raises(CommitConflictError, match="new row ids"):
        Committer(store, schema).commit(compaction)
    with pytest.raises(CommitConflictError, match="updates columns"):
        Committer(store, schema).commit(update.messages, check_appends=True)
    assert table.maintenance.fsck() == []


def test_tables_without_partitions_keep_their_row_ids() -> None:
    table = new_catalog().create_table("db.t", {"id": "INT"}, options=OPTIONS)
    table.append([{"id": 1}])
    assert repr(table.maintenance.reassign_row_ids()) == "reassigned 0 row ids of 0 partitions"


def test_tables_without_data_evolution_are_refused() -> None:
    table = new_catalog().create_table("db.t", {"id": "INT"})
    with pytest.raises(UnsupportedFeatureError, match="without data evolution"):
        table.maintenance.reassign_row_ids()
