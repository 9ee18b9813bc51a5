"""Deleted rows of tables with data evolution, removed from their files."""

from collections.abc import Mapping

import pytest

from paimon_explore import Table
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite
from support.compacting import deleted, live
from support.small_tables import new_catalog

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "deletion-vectors.enabled": "true",
}
COLUMNS = {"id": "INT", "s": "STRING", "p": "INT"}


def new(
    columns: Mapping[str, str] = COLUMNS,
    partition_by: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Table:
    given = {**OPTIONS, **(options or {})}
    return new_catalog().create_table("db.t", columns, partition_by=partition_by, options=given)


def rows(*ids: int) -> list[dict[str, object]]:
    return [{"id": i, "s": f"s{i}", "p": i % 2} for i in ids]


def tracked(table: Table) -> list[tuple[object, object]]:
    found = table.inspect.system_table("row_tracking").to_arrow().sort_by("id").to_pylist()
    return [(row["id"], row["_ROW_ID"]) for row in found]


def ranges(table: Table) -> list[tuple[object, object]]:
    return sorted((int(str(row["first_row_id"])), row["row_count"]) for row in live(table))


def test_files_with_deleted_rows_and_their_neighbours_become_one_file_with_new_row_ids() -> None:
    table = new()
    table.append(rows(0, 1, 2))
    table.append(rows(3, 4))
    table.update({"s": "'new'"}, where="id = 4")
    table.delete("id IN (1, 3)")
    before = table.to_arrow()
    planned = table.maintenance.materialize_deletion_vectors(dry_run=True)
    assert (planned.files, planned.deleted_rows, planned.snapshot_id) == (3, 2, None)
    report = table.maintenance.materialize_deletion_vectors()
    assert (report.files, report.deleted_rows, report.snapshot_id) == (3, 2, 5)
    latest = table.snapshots.latest()
    assert latest is not None
    assert (latest.commit_kind.value, latest.next_row_id) == ("COMPACT", 8)
    assert ranges(table) == [(5, 3)]
    assert deleted(table) == []
    assert table.to_arrow() == before
    assert tracked(table) == [(0, 5), (2, 6), (4, 7)]
    assert table.at(snapshot=4).to_arrow() == before
    assert table.maintenance.fsck() == []
    assert table.maintenance.materialize_deletion_vectors().snapshot_id is None


def test_other_files_and_their_vectors_stay() -> None:
    table = new(
        partition_by="p", options={"target-file-size": "1 b", "source.split.open-file-cost": "1 b"}
    )
    for first in (0, 4, 8):
        table.append(rows(*range(first, first + 4)))
    table.delete("id IN (0, 1, 9)")
    report = table.maintenance.materialize_deletion_vectors({"p": 1})
    assert (report.files, report.deleted_rows) == (2, 2)
    assert deleted(table) == [[0]]
    assert table.to_arrow().sort_by("id")["id"].to_pylist() == [2, 3, 4, 5, 6, 7, 8, 10, 11]
    assert table.maintenance.fsck() == []


def test_files_whose_rows_are_all_deleted_are_removed() -> None:
    table = new()
    table.append(rows(0, 1))
    table.delete("id >= 0")
    table.maintenance.materialize_deletion_vectors()
    assert live(table) == []
    assert table.count() == 0
    assert table.maintenance.fsck() == []


def test_blobs_are_written_with_their_rows() -> None:
    table = new({"id": "INT", "b": "BLOB"})
    table.append([{"id": i, "b": bytes([i]) * 3} for i in range(3)])
    table.append([{"id": 3, "b": None}, {"id": 4, "b": b"four"}])
    table.update({"b": b"new"}, where="id = 4")
    table.delete("id IN (1, 3)")
    before = table.to_arrow()
    table.maintenance.materialize_deletion_vectors()
    assert ranges(table) == [(5, 3), (5, 3)]
    assert table.to_arrow() == before
    assert table.maintenance.fsck() == []


def test_global_indexes_over_rewritten_rows_are_dropped() -> None:
    table = new(partition_by="p")
    table.append(rows(*range(6)))
    table.maintenance.create_global_index("id")
    table.delete("id = 2")
    report = table.maintenance.materialize_deletion_vectors()
    assert len(report.indexes) == 1
    assert table.scan(where="id = 4").to_arrow()["s"].to_pylist() == ["s4"]
    assert table.scan(where="id = 3").to_arrow()["s"].to_pylist() == ["s3"]
    assert table.scan(where="id = 2").to_arrow().num_rows == 0
    assert table.maintenance.create_global_index("id").row_count == 2
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("change", ["update", "delete", "index"])
def test_it_is_planned_again_after_a_change_of_the_same_rows(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    table = new()
    table.append(rows(0, 1, 2))
    table.delete("id = 1")
    calls: list[object] = []

    def after_another(*args: object) -> object:
        calls.append(change)
        if len(calls) == 1 and change == "update":
            table.update({"s": "'new'"}, where="id = 2")
        elif len(calls) == 1 and change == "delete":
            table.delete("id = 2")
        elif len(calls) == 1:
            table.maintenance.create_global_index("id")
        return commit_rewrite(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(
        "paimon_explore.maintenance.rewrites.deletion_vector_materialization.commit_rewrite",
        after_another,
    )
    table.maintenance.materialize_deletion_vectors()
    assert len(calls) == 2
    left = {"update": ["s0", "new"], "delete": ["s0"], "index": ["s0", "s2"]}
    assert table.to_arrow()["s"].to_pylist() == left[change]
    assert deleted(table) == []
    assert table.maintenance.fsck() == []


def test_tables_without_data_evolution_are_compacted_instead() -> None:
    table = new_catalog().create_table("db.t", COLUMNS)
    with pytest.raises(UnsupportedFeatureError, match=r"compact\(\) removes"):
        table.maintenance.materialize_deletion_vectors()
