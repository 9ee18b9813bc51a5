"""Counts, deletes and updates through Spark."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.scan.splits.data_split import DataSplit, merged_row_count
from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.reads.row_count import count
from paimon_explore.spark.row_level.delete_update import delete, update
from paimon_explore.spark.row_level.merge_dataframe import merge_into
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.golden import GoldenTables
from support.migrated_files import equal_names
from support.small_tables import new_catalog


def table_of(catalog: Catalog, name: str) -> Table:
    return catalog.table(f"demo.{name}")


def test_a_count_is_that_of_the_rows_however_it_is_made(
    spark: SparkSession, catalog: Catalog
) -> None:
    orders, customers = table_of(catalog, "orders"), table_of(catalog, "customers")
    assert count(spark, orders) == 30
    assert count(spark, orders, "dt = '2026-01-02'") == 10
    assert count(spark, orders, "city IS NULL AND id > 100") == 4
    assert count(spark, orders.path, snapshot=2) == 12
    assert count(spark, customers) == 25
    assert count(spark, customers, "id < 3") == 3
    assert count(spark, table_of(catalog, "empty")) == 0


def test_append_tables_are_counted_by_their_manifests_also_with_deletion_vectors(
    golden: GoldenTables,
) -> None:
    table = pe.open_table(golden.table("java200", "append_dv").folder).at(snapshot=6)
    splits = table.scan().plan().splits
    assert any(isinstance(split, DataSplit) and split.deletion_files for split in splits)
    assert sum(merged_row_count(split) or 0 for split in splits) == table.to_arrow().num_rows
    assert all(merged_row_count(split) is not None for split in splits)


def test_delete_takes_the_rows_of_a_predicate_in_one_commit(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    made = delete(spark, table, "id >= 10 AND city = 'Oslo'")
    assert made is not None
    assert made.delta_record_count == 4
    found = table.to_arrow().to_pylist()
    assert len(found) == 21
    assert not [row for row in found if row["id"] >= 10 and row["city"] == "Oslo"]
    assert delete(spark, table, "id = -1") is None
    orders = table_of(catalog, "orders")
    assert delete(spark, orders, "id < 100") is not None
    assert delete(spark, orders, f.col("id") % 2 == 0) is not None
    ids = sorted(row["id"] for row in orders.to_arrow().to_pylist())
    assert ids == [i for base in (100, 200, 300, 400) for i in range(base, base + 6) if i % 2]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_files_of_several_partitions_may_have_the_same_name(
    vectors: str, spark: SparkSession, catalog: Catalog
) -> None:
    columns = {"p": "STRING", "id": "INT", "v": "INT"}
    options = {"deletion-vectors.enabled": vectors}
    table = catalog.create_table("demo.same", columns, partition_by=["p"], options=options)
    with equal_names():
        for p in "abc":
            table.append([{"p": p, "id": number, "v": number} for number in (1, 2, 3)])
    delete(spark, table, "id = 1 AND p <> 'c'")
    update(spark, table, {"v": "0"}, "id = 2 AND p <> 'c'")
    merged = merge_into(spark.createDataFrame([(3, "a")], "id int, p string"), table, ["id", "p"])
    merged.whenMatched().delete().merge()
    found = sorted(tuple(row) for row in read(spark, table).collect())
    expected = [("a", 2, 0), ("b", 2, 0), ("b", 3, 3), ("c", 1, 1), ("c", 2, 2), ("c", 3, 3)]
    assert found == expected
    assert count(spark, table) == 6


def test_a_condition_that_was_never_set_changes_no_row(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    before = table._store.snapshots.latest_id()
    source = spark.range(1)
    described = merge_into(source, table, "id")
    refused = "is None|must not be None"
    with pytest.raises(InvalidInputError, match=refused):
        delete(spark, table, None)  # type: ignore[arg-type]  # what a variable may hold
    with pytest.raises(InvalidInputError, match=refused):
        update(spark, table, {"city": "'Rome'"}, None)  # type: ignore[arg-type]  # the same
    for when in (
        described.whenMatched,
        described.whenNotMatched,
        described.whenNotMatchedBySource,
    ):
        with pytest.raises(InvalidInputError, match=refused):
            when(None)
    orders = pe.open_table(
        table_of(catalog, "orders").path, options={"dynamic-partition-overwrite": "false"}
    )
    with pytest.raises(InvalidInputError, match="partition must not be None"):
        write(spark.range(1), orders, "overwrite", partition=None)
    assert table._store.snapshots.latest_id() == before


def test_update_changes_columns_by_values_and_by_the_old_row(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    update(spark, table, {"city": "'Rome'", "name": f.concat(f.lit("x"), f.col("city"))}, "id = 1")
    assert table.scan(where="id = 1").to_arrow().to_pylist() == [
        {"id": 1, "name": "xTurin", "city": "Rome"}
    ]
    update(spark, table, {"city": "upper(name)", "name": pe.lit("plain")}, "id = 1")
    update(spark, table, {"name": None}, where=pe.col("id") == 2)
    found = {row["id"]: row for row in table.to_arrow().to_pylist()}
    assert found[1] == {"id": 1, "name": "plain", "city": "XTURIN"}
    assert found[2]["name"] is None
    assert count(spark, table) == 25


@pytest.mark.parametrize("text", ["Rome", "two words", "nope(id)"])
def test_a_text_that_is_no_expression_is_named(
    text: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(InvalidInputError, match=f"The new value '{text[:4]}") as refused:
        update(spark, table_of(catalog, "customers"), {"city": text}, "id = 1")
    assert "quotes" in str(refused.value)


@pytest.mark.parametrize("evolution", ["false", "true"])
def test_rows_with_ids_are_changed_and_keep_them(
    evolution: str, spark: SparkSession, catalog: Catalog
) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": evolution}
    table = catalog.create_table("demo.tracked", {"id": "INT", "name": "STRING"}, options=options)
    table.append([{"id": n, "name": f"n{n}"} for n in range(6)])
    assert update(spark, table, {"name": "concat(name, '!')"}, "id = 1") is not None
    source = spark.sql("SELECT * FROM VALUES (2, 'two'), (9, 'nine') AS v (id, name)")
    merge = merge_into(source, table, on="id").whenMatched("source.id > 1").updateAll()
    assert merge.whenNotMatched().insertAll().merge() is not None
    if evolution == "false":
        assert delete(spark, table, "id = 0") is not None
    else:
        assert update(spark, table, {"name": "'gone'"}, "id = 0") is not None
    rows = table.to_arrow().sort_by("id").to_pylist()
    names = ["gone"] if evolution == "true" else []
    assert [row["name"] for row in rows] == [*names, "n1!", "two", "n3", "n4", "n5", "nine"]
    tracked = catalog.system_table("demo.tracked$row_tracking").to_arrow().to_pylist()
    ids = {row["id"]: row["_ROW_ID"] for row in tracked}
    assert {number: ids[number] for number in range(1, 6)} == {n: n for n in range(1, 6)}
    with pytest.raises(UnsupportedFeatureError, match="Pass conditions and values as SQL text"):
        update(spark, table, {"name": f.lit("x")}, "id = 1")


def test_values_of_python_arrive_unchanged_or_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = new_catalog(tmp_path / "wh").create_table(
        "db.v", {"i": "INT", "ts": "TIMESTAMP(6)", "tz": "TIMESTAMP_LTZ(6)", "s": "STRING"}
    )
    table.append([{"i": 1}])
    wall = datetime(2024, 1, 1, 10)  # noqa: DTZ001 - a wall clock
    instant = wall.replace(tzinfo=UTC)
    for name, value, message in [
        ("i", 2.9, r"Column 'i' \(INT\): 2.9 is not a whole number"),
        ("i", True, "True of type bool cannot be stored"),
        ("s", 5, "5 of type int cannot be stored"),
        ("ts", instant, "Only one of value"),
        ("tz", wall, "Only one of value"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            update(spark, table, {name: value})
    update(spark, table, {"i": 2.0, "ts": wall, "tz": instant})  # the session is in Tokyo
    assert table.to_arrow().to_pylist() == [{"i": 2, "ts": wall, "tz": instant, "s": None}]
    days = new_catalog(tmp_path / "days").create_table("db.d", {"d": "DATE"})
    days.append([{"d": None}])
    for day in (date.min, date(1582, 10, 10), date.max):
        update(spark, days, {"d": day})
        assert days.to_arrow().to_pylist() == [{"d": day}]


def test_a_task_that_finds_no_file_tells_that_the_snapshot_expired(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    df = read(spark, table, where="id + 0 >= 0")  # else Spark reads the files, in its own words
    table.upsert([{"id": 1, "name": "new", "city": None}])
    table.compact(full=True)
    for number in range(3):
        table.upsert([{"id": number, "name": "newer", "city": None}])
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than="2999-01-01")
    with pytest.raises(PythonException, match=r"SnapshotExpiredError: Snapshot \d+ of .* expired"):
        df.collect()


@pytest.mark.parametrize(
    ("values", "message"),
    [({"nope": 1}, "no column 'nope'"), ({"id": 1}, "'id' belongs to the primary key")],
)
def test_columns_that_cannot_be_updated_are_named(
    values: dict[str, object], message: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        update(spark, table_of(catalog, "customers"), values)


def test_an_engine_that_combines_values_takes_no_update(
    spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(InvalidInputError, match="cannot be updated"):
        update(spark, table_of(catalog, "stock"), {"amount": 1})
    with pytest.raises(InvalidInputError, match="does not support delete"):
        delete(spark, table_of(catalog, "stock"), "amount > 1")


def test_a_merge_takes_methods_as_sparks_own_does(spark: SparkSession, catalog: Catalog) -> None:
    table = table_of(catalog, "customers")
    source = spark.sql(
        "SELECT * FROM VALUES (1, 'new', 'Rome', false), (2, null, null, true), "
        "(99, 'late', 'Oslo', false) AS v (id, name, city, gone)"
    )
    merge = merge_into(source, table, on="id").whenMatched("source.gone").delete()
    made = merge.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    assert made is not None
    found = {row["id"]: row for row in table.to_arrow().to_pylist()}
    assert len(found) == 25
    assert found[1] == {"id": 1, "name": "new", "city": "Rome"}
    assert 2 not in found
    assert found[99]["city"] == "Oslo"
    by_source = merge_into(source, table, f.col("target.id") == f.col("source.id"))
    by_source.when_not_matched_by_source("target.id > 5").update({"city": f.lit("x")}).merge()
    assert {row["city"] for row in table.to_arrow().to_pylist() if row["id"] in range(6, 25)} == {
        "x"
    }
    with pytest.raises(InvalidInputError, match="no clause"):
        merge_into(source, table, on=["id"]).merge()
    with pytest.raises(InvalidInputError, match="is not allowed in a WHEN MATCHED clause"):
        merge_into(source, table, on="id").whenMatched().insertAll()
    with pytest.raises(InvalidInputError, match="no column 'name', but"):
        merge_into(source.drop("name"), table, on="id").whenMatched().updateAll().merge()
