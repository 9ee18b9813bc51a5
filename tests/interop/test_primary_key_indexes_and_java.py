"""Primary-key indexes (btree, bitmap): Java finds all rows after our writes, and we with Java's."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path

import pytest

from oracle import JavaPaimon, JavaPaimonError
from paimon_explore import Table, open_table
from support.depth import some
from support.global_indexes import TYPES, given
from support.index_rules import FIELDS as COLUMNS
from support.index_rules import KEYS, RULES, IndexRule
from support.rows import difference

pytestmark = pytest.mark.interop

INDEXED = {
    "bucket": "1",
    "deletion-vectors.enabled": "true",
    "pk-btree.index.columns": "n",
    "pk-bitmap.index.columns": "v",
}
FIELDS = [("p", "INT NOT NULL"), ("k", "INT NOT NULL"), ("v", "STRING"), ("n", "INT")]
FILTERS: Mapping[str, tuple[object, ...]] = {
    "n = 0": ("=", "n", 0),
    "n = 4": ("=", "n", 4),
    "n > 7": (">", "n", 7),
    "n IS NULL": ("is_null", "n"),
    "v = 'a'": ("=", "v", "a"),
    "v = 'x'": ("=", "v", "x"),
    "v IN ('b', 'new')": ("in", "v", "b", "new"),
    "v = 'new' AND n < 5": ("and", ("=", "v", "new"), ("<", "n", 5)),
    "v = 'x' OR n = 1": ("or", ("=", "v", "x"), ("=", "n", 1)),
}
WITHOUT = {"global-index.enabled": "false"}
COMPARED = ("b", "i8", "i32", "i64", "dec", "long_dec", "dt", "s")


def rows(keys: range, v: str | None = None) -> list[dict[str, object]]:
    """Every seventh row has no n."""
    return [
        {"p": k % 2, "k": k, "v": v or "ab"[k % 2], "n": k // 10 if k % 7 else None} for k in keys
    ]


def indexed_table(java: JavaPaimon, folder: Path, options: Mapping[str, str]) -> Path:
    """A table of Java whose rows are all indexed."""
    java.create_table(
        folder,
        FIELDS,
        partition_keys=["p"],
        primary_keys=["p", "k"],
        options={**INDEXED, **options},
    )
    java.write(folder, rows(range(60)), write_only=True)
    java.write(folder, rows(range(40, 100), "x"), write_only=True)
    java.compact(folder)
    return folder


@pytest.fixture(scope="module")
def base(java: JavaPaimon, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_table(java, tmp_path_factory.mktemp("base") / "t", {})


def changed(table: Table) -> None:
    table.upsert(
        [{"p": k % 2, "k": k, "v": "new", "n": 4 if k % 2 else None} for k in range(0, 100, 3)]
    )


def compacted(table: Table, *, full: bool) -> None:
    changed(table)
    table.compact(full=full)


def restored(table: Table) -> None:
    table.create_tag("before")
    compacted(table, full=True)
    table.rollback_to("before")


ACTS: Mapping[str, Callable[[Table], object]] = {
    "upsert": changed,
    "delete": lambda table: table.delete("n = 4"),
    "update": lambda table: table.update({"v": "'new'"}, "n = 4"),
    "minor compaction": lambda table: compacted(table, full=False),
    "full compaction": lambda table: compacted(table, full=True),
    "overwrite": lambda table: table.overwrite(rows(range(90, 110), "new")),
    "overwrite of a partition": lambda table: table.overwrite(
        [{"p": 1, "k": 1, "v": "new", "n": 0}], {"p": 1}
    ),
    "dropped partition": lambda table: table.drop_partitions({"p": 1}),
    "truncate": lambda table: table.truncate(),
    "rescale": lambda table: table.maintenance.rescale(3),
    "new column": lambda table: table.add_column("more", "INT"),
    "rollback": restored,
}


def assert_the_same_rows(java: JavaPaimon, folder: Path, case: str, turn: int) -> None:
    """Java and we find the same rows, each with and without the indexes.

    Three turns, one after the other, take all filters.
    """
    table = open_table(folder)
    assert difference(java.read(folder), table.to_arrow()) == "", case
    for where, filters in some(list(FILTERS.items()), 3, turn):
        expected = java.read(folder, where=filters, options=WITHOUT)
        plain = open_table(folder, options=WITHOUT).scan(where=where).to_arrow()
        assert difference(expected, plain) == "", (case, where)
        assert difference(expected, java.read(folder, where=filters)) == "", (case, where)
        assert difference(expected, table.scan(where=where).to_arrow()) == "", (case, where)


@pytest.mark.parametrize("act", ACTS)
def test_java_finds_all_rows_after_our_change_of_a_table_that_it_indexed(
    java: JavaPaimon, base: Path, act: str, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    shutil.copytree(base, folder)
    table, turn = open_table(folder), list(ACTS).index(act)
    ACTS[act](table)
    assert_the_same_rows(java, folder, "ours", turn)
    assert list(table.maintenance.fsck(read_rows=True)) == []
    java.write(folder, rows(range(3), "new"))
    java.compact(folder)
    assert_the_same_rows(java, folder, "then Java's", turn + 1)
    table = open_table(folder)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than=timedelta())
    table.maintenance.remove_orphan_files(older_than=timedelta(), dry_run=False)
    assert_the_same_rows(java, folder, "without older snapshots", turn + 2)


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_java_finds_the_same_rows_by_indexes_of_ours_of_every_type(
    java: JavaPaimon, kind: str, tmp_path: Path
) -> None:
    table, given_rows = tmp_path / "t", [{"k": k, **row} for k, row in enumerate(given())]
    options = {
        "bucket": "1",
        "deletion-vectors.enabled": "true",
        f"pk-{kind}.index.columns": ",".join(TYPES),
    }
    fields = [("k", "INT NOT NULL"), *TYPES.items()]
    java.create_table(table, fields, primary_keys=["k"], options=options)
    ours = open_table(table)
    ours.upsert(given_rows[:20])
    ours.upsert(given_rows[10:])
    ours.compact()
    for column in TYPES:
        filters: list[tuple[object, ...]] = [("is_null", column), ("is_not_null", column)]
        if column in COMPARED:
            values = [given_rows[i][column] for i in (1, 9, 20)]
            filters += [(op, column, v) for v in values for op in ("=", ">", "<=", "!=")]
            filters.append(("in", column, *values))
        for where in some(filters, 7, len(column)):
            assert {split.kind for split in java.plan(table, where=where)} <= {"IndexedSplit"}
            expected = java.read(table, where=where, options=WITHOUT)
            assert difference(expected, java.read(table, where=where)) == "", where


KINDS_OF_TABLES: Mapping[str, Mapping[str, str]] = {
    "several buckets": {"bucket": "3"},
    "beside data files": {"index-file-in-data-file-dir": "true"},
    "64-bit vectors": {"deletion-vectors.bitmap64": "true"},
    "partial update": {"merge-engine": "partial-update"},
    "aggregation": {"merge-engine": "aggregation", "fields.n.aggregate-function": "max"},
    "changelog": {"changelog-producer": "lookup"},
    "orc": {"file.format": "orc"},
    "avro": {"file.format": "avro"},
    "thin": {"data-file.thin-mode": "true"},
    "small files": {"target-file-size": "1 kb"},
    "postponed": {"bucket": "-2"},
}


def names_of_indexes(java: JavaPaimon, folder: Path) -> set[str]:
    """The files of btree and bitmap indexes."""
    found = java.system_table(folder, "table_indexes").to_pylist()
    return {row["file_name"] for row in found if row["index_type"] in ("btree", "bitmap")}


@pytest.mark.parametrize("name", KINDS_OF_TABLES)
def test_java_uses_and_keeps_the_indexes_that_our_compaction_builds(
    java: JavaPaimon, name: str, tmp_path: Path
) -> None:
    folder, turn = tmp_path / "t", list(KINDS_OF_TABLES).index(name)
    java.create_table(
        folder,
        FIELDS,
        partition_keys=["p"],
        primary_keys=["p", "k"],
        options={**INDEXED, "write-only": "true", **KINDS_OF_TABLES[name]},
    )
    table = open_table(folder)
    table.upsert(rows(range(60)))
    if name == "postponed":  # the first file of a bucket is only moved to another level
        table.compact()
    table.upsert(rows(range(40, 100), "x"))
    table.compact()
    assert_the_same_rows(java, folder, "built", turn)
    splits = java.plan(folder, where=("=", "v", "x"))
    assert {split.kind for split in splits} == {"IndexedSplit"}
    (note,) = open_table(folder).explain(where="v = 'x'").notes
    assert note.endswith("0 of them have no index.")
    built = names_of_indexes(java, folder)
    table.upsert(rows(range(0, 100, 3), "new"))
    table.compact(full=False)
    assert_the_same_rows(java, folder, "changed", turn + 1)
    table.compact()
    assert_the_same_rows(java, folder, "replaced", turn + 2)
    rebuilt = names_of_indexes(java, folder)
    assert rebuilt.isdisjoint(built)
    if name != "postponed":  # whose buckets the engines compact
        java.write(folder, rows(range(2), "java"), options={"write-only": "false"})
        assert names_of_indexes(java, folder) >= rebuilt
        assert_the_same_rows(java, folder, "Java's", turn + 3)
    assert list(open_table(folder).maintenance.fsck(read_rows=True)) == []


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_java_allows_and_refuses_the_same_options(
    java: JavaPaimon, rule: IndexRule, tmp_path: Path
) -> None:
    fields = list(COLUMNS.items())
    refuses: AbstractContextManager[object] = nullcontext()
    if rule.problem is not None:
        refuses = pytest.raises(JavaPaimonError)
    with refuses:
        java.create_table(tmp_path / "t", fields, primary_keys=KEYS, options=rule.options)
