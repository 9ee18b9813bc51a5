"""CALL sys.…: the procedures that run on Spark."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimon_explore.errors import NotFoundError
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.spark_sql import Rows, Sql


@pytest.fixture
def orders(catalog: Catalog) -> Table:
    """An append table with five snapshots."""
    return catalog.table("demo.orders")


def test_files_are_compacted_all_or_in_some_partitions(run: Sql, rows: Rows, orders: Table) -> None:
    count = "SELECT count(*) FROM demo.orders$files"
    assert rows(count) == [(15,)]
    assert rows("CALL sys.compact('demo.orders', 'dt=2026-01-01')") == [(True,)]
    assert rows(count) == [(11,)]
    run("CALL sys.compact(table => 'orders', where => \"dt = '2026-01-02'\")")
    assert rows(count) == [(7,)]
    run("CALL paimon.sys.compact(`table` => 'demo.orders', compact_strategy => 'full')")
    assert rows(count) == [(3,)]
    run(f"CALL sys.compact_manifest(table => '{orders.path}')")
    assert rows("SELECT count(*) FROM demo.orders") == [(30,)]


def test_tables_of_spark_become_paimon_tables(
    run: Sql, rows: Rows, catalog: Catalog, spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.old")
    for name in ("a", "b"):
        spark.sql(
            f"CREATE TABLE spark_catalog.old.{name} (id INT, dt STRING) USING parquet "
            f"PARTITIONED BY (dt) LOCATION '{tmp_path}/{name}'"
        )
        spark.sql(f"INSERT INTO spark_catalog.old.{name} VALUES (1, 'x'), (2, 'y z')")  # noqa: S608 - fixed names
    folder = f"{tmp_path}/a"
    call = "CALL sys.migrate_table('hive', '{}', 'file.format=orc', target_table => 'demo.{}')"
    assert rows(call.format(folder, "of_folder")) == [(True,)]
    run(call.format("old.a", "of_a").removesuffix(")") + ", delete_origin => false)")
    for name in ("of_folder", "of_a"):
        assert rows(f"SELECT id, dt FROM {name} ORDER BY id") == [(1, "x"), (2, "y z")]  # noqa: S608 - fixed names
        schema = catalog.table(f"demo.{name}").schema
        assert (schema.partition_keys, schema.options) == (("dt",), {"file.format": "orc"})
    catalog.create_database("old")
    run("CREATE TABLE old.b (id INT)")
    ((text,),) = rows("CALL sys.migrate_database('hive', 'old')")
    assert str(text).startswith("migrate database is finished, success cnt: 1 , failed cnt: 1; b: ")
    assert rows("SELECT sum(id) FROM old.a") == [(3,)]
    assert [
        row["tableName"] for row in spark.sql("SHOW TABLES IN spark_catalog.old").collect()
    ] == ["b"]
    spark.sql("DROP DATABASE spark_catalog.old CASCADE")
    with pytest.raises(NotFoundError, match="Name a table of Spark's catalog"):
        run("CALL sys.migrate_table('hive', 'default.nope')")
