"""Table functions for plain `spark.sql`."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table


@pytest.fixture
def orders(catalog: Catalog) -> Table:
    """30 rows in five commits."""
    return catalog.table("demo.orders")


def test_metadata_and_rows_of_a_path_are_tables_and_always_fresh(
    spark: SparkSession, orders: Table
) -> None:
    queries = {
        "paimon_snapshots('{}')": 5,
        "paimon_files('{}', snapshot => 1)": 3,
        "paimon_partitions('{}')": 3,
        "paimon_audit_log('{}')": 30,
        "paimon_table('{}', version => '2')": 12,
        "paimon_table('{}', where => 'id < 3', columns => 'id, city')": 3,
        "paimon_changes('{}', 1, 3)": 12,
    }
    counts = [f"(SELECT count(*) AS n FROM {q.format(orders.path)})" for q in queries]  # noqa: S608 - the test's own
    text = " UNION ALL ".join(counts)
    assert [row.n for row in spark.sql(text).collect()] == list(queries.values())
    first = spark.sql(f"SELECT max(snapshot_id) AS n FROM paimon_snapshots('{orders.path}')")  # noqa: S608 - the same
    orders.append([{"id": 1000}])
    assert first.collect()[0].n == 6


def test_values_of_every_kind_come_through(spark: SparkSession, catalog: Catalog) -> None:
    types = catalog.table("demo.types")
    found = spark.sql(f"SELECT * FROM paimon_table('{types.path}')").collect()  # noqa: S608 - the test's own
    assert len(found) == types.to_arrow().num_rows
    assert found[0].map == {"a": 1.5, "b": None}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("paimon_snapshots('{}', snapsht => 3)", "Unknown argument 'snapsht'"),
        ("paimon_table('/nothing/here')", "does not exist"),
        ("paimon_table('{}', snapshot => 99)", "Available snapshots: 1 to 5"),
    ],
)
def test_what_is_wrong_is_named(
    call: str, message: str, spark: SparkSession, orders: Table
) -> None:
    with pytest.raises(AnalysisException, match=message):
        spark.sql("SELECT * FROM " + call.format(orders.path)).collect()  # noqa: S608 - the test's own
