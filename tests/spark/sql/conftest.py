"""Statements against a new demo warehouse."""

from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from paimon_explore.spark.sql_statement import sql
from paimon_explore.table.catalog.catalog import Catalog
from support.depth import some
from support.spark_sql import Rows, Sql
from support.sql_row_tests import KINDS, MEMBERS


@pytest.fixture
def run(spark: SparkSession, catalog: Catalog) -> Sql:
    """Runs a statement in the database `demo`."""
    return lambda text: sql(spark, text, catalog=catalog, database="demo")


@pytest.fixture
def rows(run: Sql) -> Rows:
    """The rows that a statement answers with."""

    def collected(text: str) -> list[tuple[object, ...]]:
        found: Sequence[Sequence[object]] = run(text).collect()
        return [tuple(row) for row in found]

    return collected


@pytest.fixture(params=some(list(KINDS), 3))
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of table whose rows are changed; all in a deep run."""
    found: str = request.param
    return found


@pytest.fixture(params=some(list(MEMBERS), 3, 2))
def member_kind(request: pytest.FixtureRequest) -> str:
    """A kind of table whose structs are changed; all in a deep run."""
    found: str = request.param
    return found
