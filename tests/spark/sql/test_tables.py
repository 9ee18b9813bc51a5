"""CREATE TABLE of queries on Spark; the other definitions are in `tests/unit/sql_statements`."""

import pytest

from paimon_explore.errors import (
    PaimonError,
)
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.spark_sql import Rows, Sql


def made(catalog: Catalog, name: str = "demo.made") -> Table:
    return catalog.table(name)


def test_a_table_is_made_like_another_or_as_a_query(run: Sql, rows: Rows, catalog: Catalog) -> None:
    run("CREATE TABLE copy LIKE demo.customers")
    assert made(catalog, "demo.copy").schema.primary_keys == ("id",)
    run(
        "CREATE TABLE IF NOT EXISTS ctas PARTITIONED BY (dt) "
        "AS SELECT id, dt, city AS town FROM orders VERSION AS OF 1"
    )
    assert rows("SELECT count(*), count(DISTINCT dt) FROM ctas") == [(6, 3)]
    run("CREATE TABLE IF NOT EXISTS ctas AS SELECT 1 AS other")
    assert made(catalog, "demo.ctas").schema.partition_keys == ("dt",)
    with pytest.raises(PaimonError):
        run("CREATE TABLE broken TBLPROPERTIES ('primary-key' = 'id') AS SELECT null AS id")
    assert "broken" not in catalog.tables("demo")


def test_a_table_is_replaced_in_one_commit_and_keeps_its_history(
    run: Sql, rows: Rows, catalog: Catalog
) -> None:
    run("CREATE OR REPLACE TABLE swapped (id INT, v STRING, old INT)")
    run("INSERT INTO swapped VALUES (1, 'a', 7), (2, 'b', 8)")
    assert rows(
        "CREATE OR REPLACE TABLE swapped TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '2') "
        "COMMENT 'new' AS SELECT id + 10 AS k, old AS v FROM swapped WHERE id = 2"
    ) == [(2,)]
    table = made(catalog, "demo.swapped")
    schema = table.schema
    assert (schema.id, schema.primary_keys, schema.comment) == (1, ("k",), "new")
    assert schema.options == {"bucket": "2"}
    assert [(snapshot.commit_kind.value, snapshot.schema_id) for snapshot in table.snapshots] == [
        *(("APPEND", 0), ("OVERWRITE", 1)),
    ]
    assert rows("SELECT * FROM swapped WHERE k = 12") == [(12, 8)]
    assert rows("SELECT * FROM swapped VERSION AS OF 1 ORDER BY id") == [(1, "a", 7), (2, "b", 8)]
    run("INSERT INTO swapped VALUES (12, 9), (13, 1)")
    assert rows("SELECT * FROM swapped ORDER BY k") == [(12, 9), (13, 1)]
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        run("CREATE OR REPLACE TABLE swapped AS SELECT k / 0 AS x FROM swapped")
    assert made(catalog, "demo.swapped").schema == schema
    assert rows("SELECT * FROM swapped ORDER BY k") == [(12, 9), (13, 1)]
    run("REPLACE TABLE swapped (k STRING NOT NULL, v DATE) TBLPROPERTIES ('primary-key' = 'k')")
    assert rows("SELECT * FROM swapped") == []
    run("INSERT INTO swapped VALUES ('x', DATE '2026-01-01')")
    assert rows("SELECT k, cast(v AS string) FROM swapped WHERE k = 'x'") == [("x", "2026-01-01")]
    assert rows("SELECT count(*) FROM swapped VERSION AS OF 3") == [(2,)]
    assert made(catalog, "demo.swapped").maintenance.fsck() == []
    run("CREATE OR REPLACE TABLE swapped LIKE customers")
    assert made(catalog, "demo.swapped").schema.primary_keys == ("id",)
