"""Row ids that a rewrite assigns anew: the released and the unreleased Java read the same rows."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon, OracleUnavailableError
from paimon_explore import Table, open_table
from support.golden import NEWEST, GoldenTables
from support.rows import difference
from support.small_tables import new_catalog

pytestmark = pytest.mark.interop

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "deletion-vectors.enabled": "true",
}


@pytest.fixture(scope="module", params=["2.0.0", "2.1-SNAPSHOT"])
def either(request: pytest.FixtureRequest) -> Iterator[JavaPaimon]:
    try:
        oracle = JavaPaimon(request.param)
    except OracleUnavailableError as error:
        pytest.skip(str(error))
    with oracle:
        yield oracle


def new(folder: Path) -> Table:
    columns = {"id": "INT", "s": "STRING", "b": "BLOB", "p": "INT"}
    table = new_catalog(folder).create_table("db.t", columns, partition_by="p", options=OPTIONS)
    for first in (0, 4, 8):
        ids = range(first, first + 4)
        table.append([{"id": i, "s": f"s{i}", "b": bytes([i]) * 9, "p": i % 2} for i in ids])
    table.update({"s": "'new'"}, where="id = 5")
    table.update({"b": b"new"}, where="id = 6")
    return table


def same_rows(java: JavaPaimon, table: Table) -> pa.Table:
    ours = table.to_arrow()
    assert difference(ours, java.read(table.path)) == ""
    ids = table.inspect.system_table("row_tracking").to_arrow()
    assert difference(ids, java.system_table(table.path, "row_tracking")) == ""
    assert all(check.error is None for check in java.check(table.path))
    assert table.maintenance.fsck() == []
    return ours.sort_by("id")


def test_java_reads_and_changes_a_table_after_its_vectors_were_materialized(
    either: JavaPaimon, tmp_path: Path
) -> None:
    table = new(tmp_path)
    table.maintenance.create_global_index("id")
    table.delete("id IN (1, 4, 5)")
    before = same_rows(either, table)
    report = table.maintenance.materialize_deletion_vectors()
    assert (report.deleted_rows, len(report.indexes)) == (3, 3)
    assert same_rows(either, table) == before
    new_row = {"id": 20, "s": "java", "b": b"java", "p": 1}
    either.write(table.path, [new_row])
    either.append_compact(table.path)
    table.delete("id = 2")
    assert same_rows(either, table)["id"].to_pylist() == [0, 3, 6, 7, 8, 9, 10, 11, 20]


def test_java_reads_and_changes_a_table_after_its_row_ids_were_reassigned(
    either: JavaPaimon, tmp_path: Path
) -> None:
    table = new(tmp_path)
    table.maintenance.create_global_index("id")
    table.delete("id IN (1, 4)")
    before = same_rows(either, table)
    report = table.maintenance.reassign_row_ids()
    assert (report.row_count, report.dropped_indexes) == (12, ())
    assert same_rows(either, table) == before
    for i in (0, 4, 7):
        where = ("=", "id", i)
        found = either.read(table.path, where=where)
        assert difference(table.scan(where=f"id = {i}").to_arrow(), found) == ""
    either.write(table.path, [{"id": 20, "s": "java", "b": b"java", "p": 1}])
    either.append_compact(table.path)
    table.update({"s": "'last'"}, where="id = 7")
    table.delete("id = 2")
    table.compact()
    assert same_rows(either, table)["id"].to_pylist() == [0, 3, 5, 6, 7, 8, 9, 10, 11, 20]


@pytest.mark.parametrize("name", ["chain_days", "chain_hours", "chain_vectors"])
def test_java_reads_a_chain_table_after_its_partitions_were_compacted(
    either: JavaPaimon, golden: GoldenTables, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "db.db" / name
    shutil.copytree(golden.table(NEWEST, name).folder, folder)
    table = open_table(folder)
    if name == "chain_hours" and either.version == "2.0.0":
        pytest.skip("2.0 reads chains of days only")
    before, keys = table.to_arrow(), table.schema.partition_keys
    for values in open_table(folder, branch="delta").to_arrow().select(keys).to_pylist():
        table.maintenance.compact_chain_table(values)
    assert difference(before, table.to_arrow()) == ""
    assert difference(before, either.read(folder)) == ""
    assert table.maintenance.fsck() == []
