"""`pe.spark.sql`: SQL statements on Paimon tables in plain PySpark, without a jar."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from pyspark.sql import DataFrame, SparkSession

from paimon_explore.arguments import string
from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.argument_checks import check_one_place, check_session
from paimon_explore.spark.connector import CONNECTOR, WAREHOUSE, session_catalog
from paimon_explore.spark.spark_types import spark_schema
from paimon_explore.spark.sql_engine import DATABASE, SparkEngine, frame_of
from paimon_explore.sql_statements.outcome import Answer
from paimon_explore.sql_statements.sql_magic import SPARK, Shell, register_sql_magic
from paimon_explore.sql_statements.statement import run_statement
from paimon_explore.sql_statements.table_resolution import DEFAULT, Warehouse
from paimon_explore.sql_statements.tokenizer import Reader, statements_of
from paimon_explore.table.catalog.catalog import Catalog


def sql(
    spark: SparkSession,
    statement: str,
    *,
    warehouse: str | PathLike[str] | None = None,
    catalog: Catalog | None = None,
    database: str | None = None,
    args: Mapping[str, object] | Sequence[object] | None = None,
) -> DataFrame:
    """Run SQL statements that may use Paimon tables.

    Every statement reads the latest snapshots. A query's DataFrame stays at these snapshots; a
    statement that changes data is complete when this returns, and returns the new snapshot's id
    or the same result as Java's connector.

    Args:
        spark: the session.
        statement: one statement, or several separated by semicolons; the last result is returned.
        warehouse: the folder of the databases; None for that of `pe.spark.session(warehouse=…)`.
        catalog: an open catalog, instead of `warehouse`; None for that of
            `pe.spark.session(catalog=…)`.
        database: for unqualified names; None for that of the last USE, else `default`.
        args: values of parameter markers in queries, as for `spark.sql`.

    Raises:
        NotFoundError: a database, table, branch, snapshot or tag that does not exist.
        InvalidInputError: a statement that cannot be parsed; the message names the part, its
            position, the rule and the valid syntax.
        UnsupportedFeatureError: a valid statement that is not implemented.
    """
    check_session(spark)
    string("statement", statement)
    texts = statements_of(statement)
    if spark.conf.get(CONNECTOR, "python") == "java":
        for text in texts[:-1]:
            spark.sql(text)
        return spark.sql(texts[-1] if texts else statement)
    where = _open_warehouse(spark, warehouse, catalog, database)
    if texts and Reader(texts[0]).here.word == "BEGIN":
        texts = [statement]
    if not texts:
        raise InvalidInputError(
            "The statement is empty.", hint="Write a statement such as SELECT …"
        )
    for text in texts[:-1]:
        run_statement(where(), text, args)
    found = run_statement(where(), texts[-1], args)
    return answer(spark, found) if isinstance(found, Answer) else frame_of(found)


def _open_warehouse(
    spark: SparkSession,
    folder: str | PathLike[str] | None,
    catalog: Catalog | None,
    database: str | None,
) -> Callable[[], Warehouse]:
    """Return a function that gives the catalog and the current database, which USE may change.

    Raises:
        InvalidInputError: warehouse and catalog are both given.
    """
    check_one_place(folder, catalog)
    if folder is None and catalog is None:
        catalog = session_catalog(spark)
    location = spark.conf.get(WAREHOUSE, None) if folder is None and catalog is None else folder
    opened = Catalog(location) if location is not None else catalog

    def now() -> Warehouse:
        present = database or spark.conf.get(DATABASE, DEFAULT) or DEFAULT
        return Warehouse(engine=SparkEngine(spark), catalog=opened, database=str(present))

    return now


def answer(spark: SparkSession, found: Answer) -> DataFrame:
    """Return the result of a command as a DataFrame."""
    rows = found.to_arrow()
    return spark.createDataFrame(rows, schema=spark_schema(row_type_from_arrow(rows.schema)))


def load_ipython_extension(shell: Shell) -> None:
    """Register `%paimon_sql` and `%%paimon_sql`; IPython calls this for `%load_ext`."""
    register_sql_magic(shell, SPARK)
