"""Operations of procedures: what they leave is what Java leaves, and Java reads and changes it."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog, Table, open_table
from paimon_explore.commit.committer import new_commit_user
from paimon_explore.maintenance.rewrites.table_copy import check_copy, copy_files
from paimon_explore.maintenance.schema_replacement import commit_replacement, replacing_schema
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.table.catalog.catalog_objects import new_table_schema
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.write.write_target import WriteTarget
from support.lifecycle import KEYED, keyed_table, plain_table
from support.rows import difference
from support.written import columns

pytestmark = pytest.mark.interop

PARTED = columns({"k": pa.int32(), "v": pa.string(), "dt": pa.string()})


def target_of(table: Table) -> WriteTarget:
    schema = latest_schema(table._store)
    options = TableOptions(schema.options)
    user = new_commit_user(options)
    return WriteTarget(store=table._store, schema=schema, options=options, commit_user=user)


def commits(table: Table) -> list[tuple[str, int | None]]:
    return [(one.commit_kind.value, one.total_record_count) for one in table.snapshots]


def test_dropping_a_partition_that_does_not_exist_makes_a_snapshot_as_in_java(
    java: JavaPaimon, tmp_path: Path
) -> None:
    ours, theirs = (
        plain_table(tmp_path / name, schema=PARTED, partition_by=("dt",)) for name in "ab"
    )
    for table in (ours, theirs):
        table.append([{"k": 1, "v": "a", "dt": "x"}])
    ours.drop_partitions({"dt": "none"})
    java.drop_partitions(theirs.path, {"dt": "none"})
    assert commits(ours) == commits(theirs) == [("APPEND", 1), ("OVERWRITE", 1)]


@pytest.mark.parametrize("keyed", [False, True])
def test_java_reads_and_changes_a_replaced_table(
    java: JavaPaimon, tmp_path: Path, *, keyed: bool
) -> None:
    table = keyed_table(tmp_path) if keyed else plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    wanted = new_table_schema(
        Catalog(tmp_path),
        {"name": "STRING NOT NULL", "k": "BIGINT"},
        primary_key="name" if keyed else None,
        options={"bucket": "2"} if keyed else {},
    )
    target = target_of(table)
    schema = replacing_schema(target.schema, wanted, table.name)
    made = commit_replacement(
        replace(target, schema=schema, options=TableOptions(schema.options)), []
    )
    assert made is not None
    java.write(table.path, [{"name": "x", "k": 7}])
    found = open_table(table.path)
    found.append([{"name": "y", "k": 8}])
    assert difference(java.read(table.path), found.to_arrow()) == ""
    assert found.count() == 2
    first = java.read(table.path, snapshot=1)
    assert difference(first, found.at(snapshot=1).to_arrow()) == ""
    assert first.column_names == KEYED.names
    assert all(check.error is None for check in java.check(table.path))
    assert commits(found) == [("APPEND", 2), ("OVERWRITE", 0), ("APPEND", 1), ("APPEND", 2)]


@pytest.mark.parametrize("options", [{}, {"deletion-vectors.enabled": "true"}])
def test_java_reads_and_changes_copied_tables(
    java: JavaPaimon, tmp_path: Path, options: dict[str, str]
) -> None:
    ours, copy = (keyed_table(tmp_path / name, options) for name in "ab")
    java.write(ours.path, [{"k": number, "v": "a"} for number in range(4)])
    java.write(ours.path, [{"k": 1, "v": "b"}])
    java.compact(ours.path)
    ends = (target_of(ours), target_of(copy))
    check_copy(*ends, (ours.name, copy.name))
    copy_files(*ends, None)
    assert difference(java.read(ours.path), java.read(copy.path)) == ""
    java.write(copy.path, [{"k": 2, "v": "c"}])
    assert difference(java.read(copy.path), copy.to_arrow()) == ""
    copy_files(target_of(ours), target_of(copy), None)
    assert difference(java.read(ours.path), java.read(copy.path)) == ""
    assert all(check.error is None for check in java.check(copy.path))


def test_java_reads_rescaled_indexed_and_purged_tables(java: JavaPaimon, tmp_path: Path) -> None:
    table = keyed_table(tmp_path, {"bucket": "2"})
    java.write(table.path, [{"k": number, "v": str(number)} for number in range(20)])
    table.maintenance.rescale(3)
    table = open_table(table.path)
    assert difference(java.read(table.path), table.to_arrow()) == ""
    table.set_options({"file-index.bloom-filter.columns": "v"})
    open_table(table.path).maintenance.rewrite_file_index()
    found = java.read(table.path, where=("=", "v", "7"))
    assert found.column("k").to_pylist() == [7]
    java.write(table.path, [{"k": 99, "v": "java"}])
    assert difference(java.read(table.path), open_table(table.path).to_arrow()) == ""
    assert all(check.error is None for check in java.check(table.path))
    open_table(table.path).maintenance.purge_files(dry_run=False)
    assert java.read(table.path).num_rows == 0
    java.write(table.path, [{"k": 1, "v": "again"}])
    assert open_table(table.path).count() == 1
