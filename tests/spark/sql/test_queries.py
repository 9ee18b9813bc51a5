"""Queries over Paimon tables: always fresh, at any point in time, and Spark's own unchanged."""

from datetime import UTC, datetime

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.spark.connector import WAREHOUSE
from paimon_explore.spark.session import session
from paimon_explore.spark.sql_engine import DATABASE
from paimon_explore.spark.sql_statement import sql
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.optional_formats import need_module
from support.spark_sql import Rows, Sql


def table_of(catalog: Catalog, name: str) -> Table:
    return catalog.table(f"demo.{name}")


def test_a_query_joins_tables_ctes_subqueries_and_views_of_spark(
    rows: Rows, spark: SparkSession
) -> None:
    spark.createDataFrame([(5, "five")], "id int, word string").createOrReplaceTempView("words")
    found = rows(
        """
        WITH late AS (SELECT id, city FROM demo.orders WHERE id >= 400)
        SELECT w.word, c.name, o.id, demo.orders.dt
        FROM late o JOIN customers c ON c.id = o.id % 25
        JOIN words w ON w.id = c.id
        JOIN demo.orders ON orders.id = o.id
        WHERE o.id IN (SELECT max(id) FROM paimon.demo.orders)
        """
    )
    assert [row[:3] for row in found] == [("five", "customer 5 v1", 405)]


def test_statements_see_new_rows_and_a_frame_keeps_its_own(
    run: Sql, rows: Rows, catalog: Catalog, spark: SparkSession
) -> None:
    kept = run("SELECT id FROM orders")
    run("CREATE OR REPLACE TEMPORARY VIEW kept AS SELECT id FROM orders")
    table_of(catalog, "orders").append([{"id": 1000}])
    assert rows("SELECT count(*) FROM orders") == [(31,)]
    assert kept.count() == 30
    assert rows("SELECT count(*) FROM kept") == [(30,)]
    views = [view.name for view in spark.catalog.listTables()]
    assert not [name for name in views if name.startswith("_paimon_")]


def test_temporary_views_in_any_case_hide_tables(run: Sql, rows: Rows) -> None:
    for view in ("Customers", "`late orders`"):
        run(f"CREATE TEMPORARY VIEW {view} AS SELECT 77 AS id")
        assert rows(f"SELECT id FROM {view.upper()}") == [(77,)]  # noqa: S608 - constants
        run(f"DROP VIEW {view}")
    assert rows("SELECT count(*) FROM customers WHERE id = 77") == [(0,)]


def test_every_way_to_name_a_point_in_time(rows: Rows, catalog: Catalog) -> None:
    table = table_of(catalog, "orders")
    table.create_tag("v1", 1)
    moment = datetime.fromtimestamp(table.snapshots[5].time_millis / 1000, UTC)
    clauses = {
        "VERSION AS OF 2": 12,
        "VERSION AS OF 'v1'": 6,
        "FOR SYSTEM_VERSION AS OF 2 AS x": 12,
        "TIMESTAMP AS OF current_timestamp() + INTERVAL 1 DAY": 30,
        f"FOR TIMESTAMP AS OF timestamp '{moment.isoformat()}'": 30,
        f"TIMESTAMP AS OF {table.snapshots[5].time_millis // 1000 + 1} TABLESAMPLE (100 ROWS)": 30,
        "WITH ('scan.snapshot-id' = 3)": 18,
    }
    counts = ["SELECT count(*) FROM demo.orders " + clause for clause in clauses]  # noqa: S608 - the test's own names
    found = rows(" UNION ALL ".join(f"({count})" for count in counts))
    assert [count for (count,) in found] == list(clauses.values())


def test_system_tables_branches_and_increments_are_tables(rows: Rows, catalog: Catalog) -> None:
    table = table_of(catalog, "orders")
    table.create_tag("v1", 1)
    table.create_branch("b1", "v1")
    counts = {
        "demo.orders$snapshots": 5,
        "demo.`orders$files` VERSION AS OF 1": 3,
        "demo.orders$audit_log": 30,
        "demo.orders$ro": 30,
        "orders$branch_b1": 6,
        "demo.orders$branch_b1$snapshots": 1,
        "paimon_incremental_query('demo.orders', '1', '3') i": 12,
        "sys.all_tables WHERE table_name = 'orders'": 1,
        f"paimon.`{table.path}`": 30,
    }
    query = " UNION ALL ".join("(SELECT count(*) FROM " + name + ")" for name in counts)  # noqa: S608 - the test's own names
    assert [count for (count,) in rows(query)] == list(counts.values())


def test_searches_find_what_the_method_of_the_table_finds(
    spark: SparkSession, catalog: Catalog
) -> None:
    need_module("paimon_ftindex", "paimon-ftindex")
    need_module("paimon_vindex", "paimon-vindex")
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    types = {"id": "INT", "s": "STRING", "v": "ARRAY<FLOAT>"}
    table = catalog.create_table("demo.found", types, options=options)
    table.append([{"id": i, "s": f"red {i}", "v": [float(i), 1.0]} for i in range(9)])
    table.maintenance.create_global_index("s", "full-text")
    table.maintenance.create_global_index("v", "ivf-flat")
    functions = {
        "vector_search('demo.found', 'v', :vector, 3, map('ivf.nprobe', '9'))": (
            table.search("v", [4.0, 1.0], 3, where="id > 5")
        ),
        "full_text_search('demo.found', 's', 'red', 3)": table.search(
            "s", "red", 3, where="id > 5"
        ),
        "hybrid_search('demo.found', array(named_struct('field', 'v', 'query_vector', :vector, "
        "'options', map())), array(named_struct('column', 's', 'query', '7')), 3L)": (
            table.search({"v": [4.0, 1.0], "s": "7"}, limit=3, where="id > 5")
        ),
    }
    for function, expected in functions.items():
        text = f"SELECT *, __paimon_search_score FROM {function} WHERE id > 5 AND id > :least"  # noqa: S608 - the test's own text
        given = {"vector": [4.0, 1.0]} if ":vector" in function else {}
        found = sql(spark, text, catalog=catalog, args={**given, "least": 5}).collect()
        assert [tuple(row) for row in found] == [
            tuple(row.values()) for row in expected.to_pylist()
        ]


def test_a_query_reads_the_columns_and_files_that_it_needs(run: Sql, rows: Rows) -> None:
    (plan,) = rows("EXPLAIN SELECT city FROM demo.orders WHERE dt = '2026-01-02' AND id < 200")
    assert "amount" not in str(plan[0])
    frame = run("SELECT o.city FROM demo.orders o WHERE o.dt = '2026-01-02' AND o.id < 200")
    assert frame.count() == 4


def test_what_is_sparks_goes_to_spark_unchanged(
    spark: SparkSession, rows: Rows, run: Sql, catalog: Catalog
) -> None:
    assert rows("SELECT id FROM range(2)") == [(0,), (1,)]
    assert run("SHOW FUNCTIONS LIKE 'concat'").collect()[0][0] == "concat"
    assert sql(spark, "SELECT :a AS a", args={"a": 3}).collect()[0].a == 3
    with_args = "SELECT count(*) AS n FROM demo.orders WHERE id < :most"
    assert sql(spark, with_args, catalog=catalog, args={"most": 100}).collect()[0].n == 6
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        sql(spark, "SELECT * FROM nowhere.t", catalog=catalog)


NOT_THERE = [
    (
        "SELECT * FROM demo.nope",
        "Table 'nope' does not exist in demo. Existing tables: 'customers'",
    ),
    ("SELECT * FROM nope", "Table 'nope' does not exist in demo"),
    ("SELECT * FROM paimon.nope.t", "Database 'nope' does not exist"),
    ("SELECT * FROM demo.orders VERSION AS OF 99", "Snapshot 99 does not exist.*1 to 5"),
    ("SELECT * FROM demo.orders VERSION AS OF 'nope'", "'nope' does not exist"),
    (
        "SELECT * FROM demo.orders TIMESTAMP AS OF '2001-01-01'",
        "2001-01-01.*Available snapshots",
    ),
    ("SELECT * FROM demo.orders TIMESTAMP AS OF 'soon'", "TIMESTAMP AS OF 'soon'"),
    ("SELECT * FROM demo.orders$fils", "System table 'fils' does not exist.*'files'"),
    ("SELECT * FROM demo.orders$branch_x", "Branch 'x' does not exist"),
    (
        "SELECT * FROM paimon_incremental_query('demo.orders', 1)",
        "but the query passes 2",
    ),
]


def test_what_does_not_exist_is_named_with_what_does(run: Sql) -> None:
    for text, message in NOT_THERE:
        with pytest.raises((NotFoundError, InvalidInputError), match=message):
            run(text)


def test_a_session_knows_its_warehouse_and_database(spark: SparkSession, catalog: Catalog) -> None:
    before = spark.conf.get(WAREHOUSE)
    try:
        assert session(warehouse=catalog.warehouse) is spark
        assert sql(spark, "USE demo; SELECT count(*) AS n FROM orders").collect()[0].n == 30
        assert [r.namespace for r in sql(spark, "SHOW DATABASES").collect()] == ["demo"]
        with pytest.raises(NotFoundError, match="Database 'nope'"):
            sql(spark, "USE nope")
    finally:
        spark.conf.set(WAREHOUSE, str(before))
        spark.conf.unset(DATABASE)
    with pytest.raises(InvalidInputError, match="cannot be combined"):
        sql(spark, "SELECT 1", warehouse="/x", catalog=catalog)
    with pytest.raises(
        (InvalidInputError, UnsupportedFeatureError),
        match=r"uses connector 'python', not 'java'|PySpark",
    ):
        session(connector="java", warehouse="/x")
