"""migrate_table and migrate_database: Spark's tables, such as those of Hive, as Paimon tables.

The source is a table of Spark's own catalog, which is the Hive metastore in a session with Hive
support, or a folder of Parquet files with partitions as folders (`dt=1/…`). Its rows are written
to a new Paimon table in one commit. Java moves the files instead, and reads only Parquet, ORC and
Avro tables.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError, NotFoundError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.spark.quoted_names import quoted
from paimon_explore.spark.spark_types import paimon_type
from paimon_explore.spark.sql.call_arguments import Call, Procedure
from paimon_explore.spark.sql.ddl_statements import check_options
from paimon_explore.spark.sql.result_frames import answer
from paimon_explore.spark.sql.tokenizer import Reader
from paimon_explore.spark.writes.write_table import write

_SPARK = "spark_catalog"
_PARTITION = re.compile(r"([^/=]+)=[^/]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A table to migrate.

    Attributes:
        rows: its rows.
        partition_by: its partition columns.
        name: its name in Spark's catalog; empty for a folder.
    """

    rows: DataFrame
    partition_by: tuple[str, ...]
    name: str = ""


def _check_type(one: Call) -> None:
    kind = one.needed("source_type")
    if kind.lower() != "hive":
        raise one.problem(f"source_type = {kind!r} is unknown", "Use 'hive'.")


def _source(one: Call, text: str) -> _Source:
    spark = one.warehouse.spark
    if "/" in text:
        try:
            rows = spark.read.parquet(text)
        except PySparkException as error:
            message = f"CALL sys.{one.procedure}: {text!r} is not a folder of Parquet files."
            raise InvalidInputError(message, hint=str(error).partition("\n")[0]) from error
        return _Source(rows=rows, partition_by=_folders(text, rows))
    path = Reader(text).path("the table")
    name = ".".join(quoted(part) for part in (_SPARK, *path[-2:]))
    if not spark.catalog.tableExists(name):
        hint = "Name a table of Spark's catalog, or a folder of Parquet files."
        raise NotFoundError("table", text, _SPARK, hint=hint)
    columns = spark.catalog.listColumns(name)
    found = tuple(column.name for column in columns if column.isPartition)
    return _Source(rows=spark.table(name), partition_by=found, name=name)


def _folders(folder: str, rows: DataFrame) -> tuple[str, ...]:
    """Return the columns that the names of folders contain."""
    files = rows.inputFiles()
    if not files:
        return ()
    path = unquote(urlsplit(files[0]).path).rpartition("/")[0]
    below = path[len(urlsplit(folder).path.rstrip("/")) :]
    return tuple(_PARTITION.findall(below))


def _options(one: Call) -> dict[str, str]:
    given = one.values.get("options_map")
    more = (
        {str(key): str(text) for key, text in given.items()} if isinstance(given, Mapping) else {}
    )
    options = {**one.options(), **more}
    check_options(list(options), "options")
    return options


def _row_type(rows: DataFrame) -> RowType:
    fields = []
    for at, field in enumerate(rows.schema.fields):
        kind = paimon_type(field.dataType)
        if kind is None:
            raise InvalidInputError(
                f"Column {field.name!r} has type {field.dataType.simpleString()}, which Paimon "
                "does not support."
            )
        comment = field.metadata.get("comment") or None
        fields.append(DataField(id=at, name=field.name, type=kind, description=comment))
    return RowType(fields=tuple(fields))


def _migrate(one: Call, source: _Source, target: str, *, drops: bool) -> None:
    """Create a table with the rows of a source, then drop the source."""
    catalog = one.warehouse.warehouse()
    made = catalog.create_table(
        target, _row_type(source.rows), partition_by=source.partition_by, options=_options(one)
    )
    try:
        write(source.rows, made)
    except BaseException:
        catalog.drop_table(target)
        raise
    if drops and source.name:
        one.warehouse.spark.sql(f"DROP TABLE {source.name}")


def _migrate_table(one: Call) -> DataFrame:
    _check_type(one)
    text = one.needed("table")
    given = one.text("target_table")
    if "/" in text and given is None:
        raise one.problem("the argument 'target_table' is missing, which a folder requires")
    source = _source(one, text)
    path = Reader(text if given is None else given).path("the target table")
    target = one.warehouse.named(path).table
    _migrate(one, source, target, drops=one.flag("delete_origin", default=True))
    return one.ok()


def _migrate_database(one: Call) -> DataFrame:
    _check_type(one)
    database, spark = one.needed("database"), one.warehouse.spark
    known = f"{_SPARK}.{quoted(database)}"
    if not spark.catalog.databaseExists(known):
        raise NotFoundError("database", database, _SPARK)
    rows = spark.sql(f"SHOW TABLES IN {known}").collect()
    done, failed = 0, list[str]()
    for name in [str(row["tableName"]) for row in rows if not row["isTemporary"]]:
        try:
            target = one.warehouse.named((database, name)).table
            _migrate(one, _source(one, f"{quoted(database)}.{quoted(name)}"), target, drops=True)
            done += 1
        except (PaimonError, PySparkException) as error:
            failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
    text = f"migrate database is finished, success cnt: {done} , failed cnt: {len(failed)}"
    problems = "".join(f"; {problem}" for problem in failed)
    return answer(spark, "result string", [(text + problems,)])


MIGRATIONS: Mapping[str, Procedure] = {
    "migrate_table": Procedure(
        arguments=(
            *("source_type", "table", "options", "delete_origin", "target_table"),
            *("options_map", "parallelism"),
        ),
        run=_migrate_table,
    ),
    "migrate_database": Procedure(
        arguments=("source_type", "database", "options", "options_map", "parallelism"),
        run=_migrate_database,
    ),
}
"""The procedures by name."""
