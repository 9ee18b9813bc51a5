"""Global indexes of Java and of ours: each reads the other's, and writers keep the same ones."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from global_index_tables import OPTIONS
from oracle import JavaPaimon
from paimon_explore import open_table
from support.depth import some
from support.global_indexes import TYPES, given
from support.rows import difference

pytestmark = pytest.mark.interop

WITHOUT = {"global-index.enabled": "false"}
COMPARED = ("b", "i8", "i32", "i64", "dec", "long_dec", "dt", "s")


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_java_finds_the_same_rows_with_our_indexes(
    java: JavaPaimon, kind: str, tmp_path: Path
) -> None:
    table, rows = tmp_path / "t", given()
    java.create_table(table, list(TYPES.items()), options=OPTIONS)
    for start in range(0, len(rows), 10):
        java.write(table, rows[start : start + 10])
    for column in TYPES:
        open_table(table).maintenance.create_global_index(column, kind)
    for column in TYPES:
        filters: list[tuple[object, ...]] = [("is_null", column), ("is_not_null", column)]
        if column in COMPARED:
            values = [rows[i][column] for i in (1, 9, 20)]
            filters += [(op, column, v) for v in values for op in ("=", ">", "<=", "!=")]
            filters.append(("in", column, *values))
        for where in some(filters, 7, len(column)):
            expected = java.read(table, where=where, options=WITHOUT)
            assert difference(expected, java.read(table, where=where)) == "", where


def overwritten(table: Path, partition: dict[str, object] | None) -> None:
    open_table(table).overwrite([{"p": 1, "k": 9}], partition)


ACTS: dict[str, tuple[Callable[[JavaPaimon, Path], object], Callable[[Path], object]]] = {
    "one partition": (
        lambda java, table: java.write(table, [{"p": 1, "k": 9}], overwrite={"p": "1"}),
        lambda table: overwritten(table, {"p": 1}),
    ),
    "the table": (
        lambda java, table: java.write(table, [{"p": 1, "k": 9}], overwrite="table"),
        lambda table: overwritten(table, {}),
    ),
    "partitions of the rows": (
        lambda java, table: java.write(table, [{"p": 1, "k": 9}], overwrite="dynamic"),
        lambda table: overwritten(table, None),
    ),
    "nothing": (
        lambda java, table: java.write(table, [{"p": 1, "k": 9}]),
        lambda table: open_table(table).append([{"p": 1, "k": 9}]),
    ),
}


def test_overwrites_leave_the_same_indexes(java: JavaPaimon, tmp_path: Path) -> None:
    base = tmp_path / "base"
    java.create_table(base, [("p", "INT"), ("k", "INT")], partition_keys=["p"], options=OPTIONS)
    for partition in (1, 2):
        java.write(base, [{"p": partition, "k": i} for i in range(10)])
    java.create_global_index(base, "k")
    for name, (theirs, ours) in ACTS.items():
        tables = [shutil.copytree(base, tmp_path / f"{name} {who}") for who in ("java", "ours")]
        theirs(java, tables[0])
        ours(tables[1])
        columns = ["partition", "row_range_start", "row_range_end", "index_type", "row_count"]
        left, right = (java.system_table(t, "table_indexes").select(columns) for t in tables)
        assert difference(left, right) == "", name
        for table in tables:
            expected = java.read(table, where=(">=", "k", 3), options=WITHOUT)
            found = open_table(table).scan(where="k >= 3").to_arrow()
            assert difference(expected, found) == "", name


def test_our_compaction_leaves_indexes_that_java_uses(java: JavaPaimon, tmp_path: Path) -> None:
    table = tmp_path / "t"
    java.create_table(table, [("k", "INT")], options={**OPTIONS, "compaction.min.file-num": "2"})
    for start in range(0, 30, 10):
        java.write(table, [{"k": i} for i in range(start, start + 10)])
    java.create_global_index(table, "k")
    open_table(table).compact()
    for where in (("=", "k", 17), (">", "k", 25), ("in", "k", 3, 29, 31)):
        expected = java.read(table, where=where, options=WITHOUT)
        assert difference(expected, java.read(table, where=where)) == ""
    assert open_table(table).scan(where="k = 17").count() == 1
    assert len(java.plan(table, where=("=", "k", 17))) == 1
