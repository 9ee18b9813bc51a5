"""`pe.spark.sql`: SQL statements on Paimon tables in plain PySpark, without a jar.

| statement | executed by |
| --- | --- |
| SELECT, VALUES, WITH, EXPLAIN … over Paimon tables | Spark, with tables replaced by views |
| INSERT, UPDATE, DELETE, MERGE, TRUNCATE of a Paimon table | `pe.spark.write`, `merge_into` … |
| COPY INTO a table or files | Spark's readers and writers, `pe.spark.write` |
| CREATE, ALTER, DROP, SHOW, DESCRIBE, ANALYZE, USE, CALL sys.… | this library, in the driver |
| anything else | Spark, unchanged |
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from pyspark.sql import DataFrame, SparkSession

from paimon_explore.arguments import string
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.connector import CONNECTOR
from paimon_explore.spark.session_catalogs import session_catalog
from paimon_explore.spark.sql.alter_table import alter_table, comment_on
from paimon_explore.spark.sql.copy_into.statement import copy_into
from paimon_explore.spark.sql.ddl_statements import (
    create_database,
    create_table,
    drop_database,
    drop_table,
)
from paimon_explore.spark.sql.dml_statements import Args, delete, insert, truncate, update
from paimon_explore.spark.sql.max_partition import with_max_partitions
from paimon_explore.spark.sql.merge_statement import merge
from paimon_explore.spark.sql.procedures import call
from paimon_explore.spark.sql.queries import replaced, run_query
from paimon_explore.spark.sql.result_frames import done
from paimon_explore.spark.sql.show_statements import analyze, describe, show, use
from paimon_explore.spark.sql.table_resolution import DATABASE, DEFAULT, WAREHOUSE, Warehouse
from paimon_explore.spark.sql.tokenizer import Reader, statements_of
from paimon_explore.spark.sql.view_statements import NewView, create_view, find_view
from paimon_explore.table.catalog.catalog import Catalog

_CHANGES = frozenset({"UPDATE", "DELETE", "MERGE"})
_Handler = Callable[[Warehouse, Reader, Args], DataFrame | None]


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
    where = open_warehouse(spark, warehouse, catalog, database)
    if texts and Reader(texts[0]).here.word == "BEGIN":
        texts = [statement]
    if not texts:
        raise InvalidInputError(
            "The statement is empty.", hint="Write a statement such as SELECT …"
        )
    for text in texts[:-1]:
        _run(where(), text, args)
    return _run(where(), texts[-1], args)


def open_warehouse(
    spark: SparkSession,
    folder: str | PathLike[str] | None,
    catalog: Catalog | None,
    database: str | None,
) -> Callable[[], Warehouse]:
    """Return a function that gives the catalog and the current database, which USE may change.

    Raises:
        InvalidInputError: warehouse and catalog are both given.
    """
    if folder is not None and catalog is not None:
        raise InvalidInputError(
            "The arguments warehouse and catalog cannot be combined.", hint="Pass one of them."
        )
    if folder is None and catalog is None:
        catalog = session_catalog(spark)
    location = spark.conf.get(WAREHOUSE, None) if folder is None and catalog is None else folder
    opened = Catalog(location) if location is not None else catalog

    def now() -> Warehouse:
        present = database or spark.conf.get(DATABASE, DEFAULT) or DEFAULT
        return Warehouse(spark=spark, catalog=opened, database=str(present))

    return now


def _run(warehouse: Warehouse, text: str, args: Args) -> DataFrame:
    reader = Reader(text)
    word = reader.here.word
    handler = _HANDLERS.get(word)
    if word in _CHANGES:
        text = with_max_partitions(warehouse, text)
        reader = Reader(text)
    if handler is not None:
        reader.next()
    found = handler(warehouse, reader, args) if handler is not None else None
    return found if found is not None else run_query(warehouse, text, args)


def _with(warehouse: Warehouse, reader: Reader, args: Args) -> DataFrame | None:
    """Run WITH … INSERT INTO, or a query that begins with WITH."""
    inner = Reader(reader.source)
    before = inner.until("INSERT", "SELECT", "FROM", "VALUES", "TABLE", "UPDATE", "DELETE", "MERGE")
    if inner.takes("INSERT"):
        return insert(warehouse, inner, args, before=before)
    if inner.here.word in {"UPDATE", "DELETE", "MERGE"}:
        raise UnsupportedFeatureError(
            f"WITH … {inner.here.word}", hint="Write the query as a subquery."
        )
    return None


def _create(warehouse: Warehouse, reader: Reader, args: Args) -> DataFrame | None:
    replaces = reader.takes("OR", "REPLACE")
    if not replaces and reader.takes("TABLE"):
        return create_table(warehouse, reader)
    if not replaces and reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE"):
        return create_database(warehouse, reader) if warehouse.catalog is not None else None
    if replaces and reader.takes("TABLE"):
        return create_table(warehouse, reader, replaces=True)
    return _create_view(warehouse, reader, args, replaces=replaces)


def _replace(warehouse: Warehouse, reader: Reader, _: Args) -> DataFrame | None:
    if not reader.takes("TABLE"):
        return None
    return create_table(warehouse, reader, replaces=True, creates=False)


def _create_view(
    warehouse: Warehouse, reader: Reader, args: Args, *, replaces: bool
) -> DataFrame | None:
    """Create a view over Paimon tables; a temporary one stays at the current snapshots."""
    is_global = reader.takes("GLOBAL")
    temporary = bool(reader.takes_one("TEMPORARY", "TEMP"))
    if not reader.takes("VIEW"):
        return None
    ignore = reader.takes("IF", "NOT", "EXISTS")
    parts = reader.path("the view")
    names = reader.names("the columns") if reader.here.sign == "(" else ()
    comment = reader.text("the comment") if reader.takes("COMMENT") else None
    if not reader.takes("AS"):
        return None
    query = reader.rest()
    with replaced(warehouse, query) as text:
        if text == query and (temporary or warehouse.catalog is None or not warehouse.find(parts)):
            return None
        spark = warehouse.spark
        frame = spark.sql(text) if args is None else spark.sql(text, args=args)  # type: ignore[arg-type] # a list or a map
    if not temporary:
        view = NewView(
            name=warehouse.named(parts).table,
            query=query,
            columns=names,
            comment=comment,
            if_not_exists=ignore,
            replaces=replaces,
        )
        create_view(warehouse, view, frame)
        return done(warehouse.spark)
    frame = frame.toDF(*names) if names else frame
    name = parts[-1]
    if is_global:
        make = frame.createOrReplaceGlobalTempView if replaces else frame.createGlobalTempView
    else:
        make = frame.createOrReplaceTempView if replaces else frame.createTempView
    if not (ignore and warehouse.is_view(name)):
        make(name)
    return done(warehouse.spark)


def _drop_view(warehouse: Warehouse, reader: Reader) -> DataFrame | None:
    """Drop a view of the catalog; None if the view belongs to Spark."""
    ignore = reader.takes("IF", "EXISTS")
    parts = reader.path("the view")
    reader.end()
    if warehouse.catalog is None or (len(parts) == 1 and warehouse.is_view(parts[0])):
        return None
    name = warehouse.find(parts)
    if name is None or not warehouse.catalog.view_exists(name.table):
        if name is None or not ignore:
            return None
        return done(warehouse.spark)
    warehouse.catalog.drop_view(name.table)
    return done(warehouse.spark)


def _alter_view(warehouse: Warehouse, reader: Reader) -> DataFrame | None:
    """Rename a view of the catalog, or replace its query; None if the view belongs to Spark."""
    name = None if warehouse.catalog is None else warehouse.find(reader.path("the view"))
    view = None if name is None else find_view(warehouse, name)
    if name is None or view is None:
        return None
    if reader.takes("RENAME", "TO"):
        target = warehouse.named(reader.path("the new name"))
        reader.end()
        warehouse.warehouse().rename_view(name.table, target.table)
        return done(warehouse.spark)
    reader.expect("AS", part="ALTER VIEW")
    query = reader.rest()
    frame = run_query(warehouse, query)
    given = NewView(name=name.table, query=query, comment=view.comment, replaces=True)
    create_view(warehouse, given, frame)
    return done(warehouse.spark)


def _drop(warehouse: Warehouse, reader: Reader, _: Args) -> DataFrame | None:
    if reader.takes("TABLE"):
        return drop_table(warehouse, reader)
    if reader.takes("VIEW"):
        return _drop_view(warehouse, reader)
    if reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE") and warehouse.catalog is not None:
        return drop_database(warehouse, reader)
    return None


def _alter(warehouse: Warehouse, reader: Reader, _: Args) -> DataFrame | None:
    if reader.takes("VIEW"):
        return _alter_view(warehouse, reader)
    return alter_table(warehouse, reader) if reader.takes("TABLE") else None


def _explain(warehouse: Warehouse, reader: Reader, args: Args) -> DataFrame | None:
    reader.takes_one("EXTENDED", "FORMATTED", "COST", "CODEGEN", "LOGICAL")
    start = reader.here.start
    with replaced(warehouse, reader.source[start:]) as text:
        whole = reader.source[:start] + text
        spark = warehouse.spark
        return spark.sql(whole) if args is None else spark.sql(whole, args=args)  # type: ignore[arg-type] # a list or a map


def _refresh(warehouse: Warehouse, reader: Reader, _: Args) -> DataFrame | None:
    reader.takes("TABLE")
    return None if warehouse.find(reader.path("the table")) is None else done(warehouse.spark)


_HANDLERS: Mapping[str, _Handler] = {
    "INSERT": insert,
    "UPDATE": update,
    "DELETE": delete,
    "MERGE": merge,
    "TRUNCATE": lambda w, r, _: truncate(w, r),
    "WITH": _with,
    "CREATE": _create,
    "REPLACE": _replace,
    "DROP": _drop,
    "ALTER": _alter,
    "COMMENT": lambda w, r, _: comment_on(w, r),
    "SHOW": lambda w, r, _: show(w, r),
    "DESCRIBE": lambda w, r, _: describe(w, r),
    "DESC": lambda w, r, _: describe(w, r),
    "USE": lambda w, r, _: use(w, r) if w.catalog is not None else None,
    "ANALYZE": lambda w, r, _: analyze(w, r),
    "CALL": lambda w, r, _: call(w, r),
    "COPY": copy_into,
    "EXPLAIN": _explain,
    "REFRESH": _refresh,
}
