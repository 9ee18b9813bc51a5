"""Persistent views of a catalog, and a session's catalog of another kind than a folder."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.errors import (
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.spark.connector import forget
from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.reads.row_count import count
from paimon_explore.spark.session import session
from paimon_explore.spark.sql_statement import sql
from paimon_explore.table.catalog.catalog import Catalog
from support.rest_catalog_stub import rest_catalog_stub
from support.spark_sql import Rows
from support.view_tests import *  # noqa: F403 - the tests of all engines

Row = tuple[object, ...]


def rows_in(spark: SparkSession, catalog: Catalog | None) -> Callable[[str], list[Row]]:
    def collected(text: str) -> list[Row]:
        found: Sequence[Sequence[object]] = sql(
            spark, text, catalog=catalog, database="db"
        ).collect()
        return [tuple(row) for row in found]

    return collected


@pytest.fixture
def run(spark: SparkSession, stored: Catalog) -> Rows:
    return rows_in(spark, stored)


def test_a_catalog_without_views_tells_what_to_use(spark: SparkSession, catalog: Catalog) -> None:
    with pytest.raises(UnsupportedFeatureError, match="Use CREATE TEMPORARY VIEW"):
        sql(spark, "CREATE VIEW v AS SELECT * FROM orders", catalog=catalog, database="demo")


def test_a_session_has_a_catalog_of_any_kind(spark: SparkSession, stored: Catalog) -> None:
    assert session(catalog=stored) is not None
    try:
        found = rows_in(spark, None)
        assert found("SELECT id FROM t ORDER BY id") == [(1,), (2,)]
        found("CREATE TABLE made (id INT) USING paimon")
        found("INSERT INTO made SELECT id FROM t")
        assert stored.table("db.made").count() == 2
        with pytest.raises(InvalidInputError, match="cannot be combined"):
            session(catalog=stored, warehouse="/w")
    finally:
        forget(spark)


def test_statements_on_a_rest_catalog_commit_through_the_server(
    spark: SparkSession, tmp_path: Path
) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
        run = rows_in(spark, catalog)
        run("CREATE DATABASE db")
        run("CREATE TABLE t (id INT, name STRING) USING paimon")
        run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        run("UPDATE t SET name = 'c' WHERE id = 2")
        assert run("SELECT * FROM t ORDER BY id") == [(1, "a"), (2, "c")]
        latest = stub.tables["db", "t"].latest
        assert latest is not None
        assert latest["id"] == 2
        stub.lose_next("/commit")
        run("INSERT INTO t VALUES (3, 'd')")
        assert run("SELECT count(*) FROM t") == [(3,)]
        run("DROP TABLE t")
        with pytest.raises(PaimonError):
            run("SELECT * FROM db.t")


def test_restricted_rows_are_not_read_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "INT"}, options={"query-auth.enabled": True})
        table.append([{"id": 1}])
        run = rows_in(spark, catalog)
        assert run("SELECT count(*) FROM t") == [(1,)]
        stub.auth["db", "t"] = {"columnMasking": {"id": '{"name": "NULL"}'}}
        reads: list[Callable[[], object]] = [
            lambda: run("SELECT * FROM t"),
            lambda: run("SELECT count(*) FROM t"),
            lambda: count(spark, table),
            lambda: read(spark, table),
        ]
        for one in reads:
            with pytest.raises(UnsupportedFeatureError, match="restricted by the catalog"):
                one()
