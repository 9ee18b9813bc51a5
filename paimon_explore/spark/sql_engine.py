"""Spark as the engine of SQL statements."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.commit.planned_again import repeated
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.schema_replacement import commit_replacement
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.spark.file_import import FileImport, export_rows, source_files
from paimon_explore.spark.reads.read_table import read, read_planned
from paimon_explore.spark.reads.special_reads import AUDIT_LOG, special_read
from paimon_explore.spark.row_level.assigned_values import updated_columns
from paimon_explore.spark.row_level.merge_dataframe import Merge, upsert_by_key
from paimon_explore.spark.row_level.row_change_job import (
    ACT,
    DELETE,
    UPDATE,
    change_target,
)
from paimon_explore.spark.row_level.row_tracking_write import (
    delete_here,
    has_row_ids,
    sql_condition,
    sql_values,
    update_here,
)
from paimon_explore.spark.spark_types import paimon_type, spark_type
from paimon_explore.spark.writes.distributed_compaction import compact
from paimon_explore.spark.writes.store_assignment import assigned, with_padded_chars
from paimon_explore.spark.writes.write_table import write, written
from paimon_explore.sql_statements.copy_into.file_format import FileFormat
from paimon_explore.sql_statements.copy_into.file_load import FileLoad, LoadResult, SourceFile
from paimon_explore.sql_statements.engine import (
    TARGET_VIEW,
    Args,
    ForeignTable,
    RowMerge,
    RowUpdate,
    TableRows,
)
from paimon_explore.sql_statements.outcome import QueryField, QueryRows
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.session_settings import is_setting
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import is_keyed, store_of
from paimon_explore.write.write_target import WriteTarget

_OWN = "spark.paimon_explore."
DATABASE = f"{_OWN}database"
"""The setting with the current database."""
_CATALOG = "spark_catalog"
_PARTITION = re.compile(r"([^/=]+)=[^/]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkRows:
    """The rows of a query as a DataFrame.

    Attributes:
        frame: the rows.
    """

    frame: DataFrame

    @property
    def fields(self) -> tuple[QueryField, ...]:
        """The columns."""
        return tuple(
            QueryField(
                name=one.name,
                type=paimon_type(one.dataType),
                shown=one.dataType.simpleString(),
                comment=one.metadata.get("comment") or None,
            )
            for one in self.frame.schema.fields
        )

    def renamed(self, names: Sequence[str]) -> "SparkRows":
        """Return the rows with other names of the columns."""
        return SparkRows(frame=self.frame.toDF(*names))

    def assigned(
        self, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
    ) -> "SparkRows":
        """Convert columns by position to the names and types of table columns."""
        return SparkRows(frame=assigned(self.frame, fields, constants))

    def insert_into(self, table: Table) -> Snapshot | None:
        """Append or upsert the rows."""
        if table.schema.primary_keys or not is_keyed(table.schema, table.options):
            return write(self.frame, table)
        return upsert_by_key(self.frame, table)

    def overwrite(self, table: Table, partition: object) -> Snapshot | None:
        """Replace rows of a table by these rows."""
        return write(self.frame, table, "overwrite", partition=partition)  # type: ignore[arg-type]  # as given

    def replace_table(self, target: WriteTarget) -> Snapshot | None:
        """Replace the schema and all rows of a table."""
        return written(self.frame, target, None, commit=commit_replacement)


def _session_settings(spark: SparkSession) -> Mapping[str, str]:
    """Return all settings by one call of Java; `conf.getAll` makes a call for each."""
    text: str = spark.conf._jconf.getAll().mkString("\0")  # noqa: SLF001 - PySpark has no other way
    return dict(entry.split(" -> ", 1) for entry in text.split("\0"))


def frame_of(rows: QueryRows) -> DataFrame:
    """Return the rows of a query as a DataFrame."""
    assert isinstance(rows, SparkRows)  # noqa: S101 - made by this engine
    return rows.frame


class SparkEngine:
    """Runs queries in a Spark session.

    Args:
        spark: the session.
    """

    name = "Spark"
    has_own_tables = True

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._settings: Mapping[str, str] | None = None

    def evaluate(self, text: str) -> object:
        """Return the value of a constant expression."""
        try:
            value: object = self._spark.sql(f"SELECT {text}").collect()[0][0]
        except PySparkException as error:
            raise InvalidInputError(str(error).partition("\n")[0]) from error
        return value

    def constant(self, text: str, field: DataField) -> object:
        """Return the value of a constant expression, converted to the type of a column."""
        try:
            given = self._spark.sql(f"SELECT ({text}) AS v")
            text_of = f.col("v").cast("string")  # 1.5 is no INT
            cast = text_of.cast(spark_type(field.type))
            value: object = given.select(cast).collect()[0][0]
        except PySparkException as error:
            raise InvalidInputError(str(error).partition("\n")[0]) from error
        return value

    def query(self, text: str, args: Args = None) -> SparkRows:
        """Run a query, or another statement of Spark."""
        return SparkRows(frame=self._spark.sql(text, args=args))  # type: ignore[arg-type] # a list or a map

    def explain(self, mode: str, text: str) -> SparkRows:
        """Return the plan of a query."""
        return SparkRows(frame=self._spark.sql(f"EXPLAIN {mode} {text}"))

    @contextmanager
    def viewed(self, rows: TableRows | QueryRows) -> Iterator[str]:
        """Create a temporary view of rows for the context; yields its name."""
        frame = self._read(rows) if isinstance(rows, TableRows) else frame_of(rows)
        view = f"_paimon_{uuid4().hex}"
        frame.createOrReplaceTempView(view)
        try:
            yield view
        finally:
            frame.sparkSession.catalog.dropTempView(view)

    def _read(self, rows: TableRows) -> DataFrame:
        if rows.system is not None:
            assert isinstance(rows.table, Table)  # noqa: S101 - which has system tables
            is_log = rows.system == AUDIT_LOG
            chosen = (None, None) if is_log else (rows.columns, rows.where)
            found = read_planned(self._spark, special_read(rows.table, rows.system, *chosen))
            return with_padded_chars(found, rows.table.schema.fields if is_log else ())
        found = read(self._spark, rows.table, rows.columns, rows.where)
        fields = rows.table.schema.fields if isinstance(rows.table, Table) else rows.fields
        return with_padded_chars(found, fields)

    def update(self, change: RowUpdate) -> Snapshot | None:
        """Update or delete rows."""
        table, values = change.table, change.values
        if has_row_ids(table):
            own = (table, change.alias)
            condition = None if change.condition is None else sql_condition(change.condition, *own)
            if not values:
                return delete_here(table, "TRUE" if condition is None else condition)
            return update_here(table, sql_values(values, *own), condition)
        return repeated(table.options, lambda _: self._update_once(change))

    def _update_once(self, change: RowUpdate) -> Snapshot | None:
        table, values = change.table, change.values
        target = change_target(self._spark, table, change.pruned, pads=True)
        if values:
            target.check_update(values)
        else:
            target.check_delete()
        with self.viewed(SparkRows(frame=target.rows)) as view:
            rows = self._spark.sql(change.query.replace(TARGET_VIEW, view, 1))
        if not values:
            return target.apply(rows.withColumn(ACT, f.lit(DELETE)))
        new = {key: f.col(f"_new_{at}") for at, key in enumerate(values)}
        columns = updated_columns(rows, latest_schema(store_of(table)).row_type, new)
        return target.apply(rows.select(*columns, *target.place, f.lit(UPDATE).alias(ACT)))

    def merge(self, change: RowMerge) -> Snapshot | None:
        """Merge rows."""
        return Merge(
            source=frame_of(change.source),
            table=change.table,
            on=change.on,
            clauses=tuple(change.clauses),
            target_alias=change.target_alias,
            source_alias=change.source_alias,
            evolves=change.evolves,
            pads=True,
        ).merge_once()

    def compact(
        self,
        table: Table,
        *,
        full: bool = True,
        partitions: Sequence[Mapping[str, object]] | None = None,
        buckets: Sequence[int] | None = None,
    ) -> None:
        """Compact a table in Spark tasks."""
        compact(self._spark, table, full=full, partitions=partitions, buckets=buckets)

    def has_database(self, name: str) -> bool:
        """Return whether Spark has a database."""
        return self._spark.catalog.databaseExists(name)

    def has_table(self, name: str) -> bool:
        """Return whether Spark has a table or temporary view."""
        return self._spark.catalog.tableExists(quoted(name))

    def temporary_views(self) -> list[str]:
        """Return the names of the temporary views.

        PySpark's catalog would query each table of the current database for it.
        """
        session = self._spark._jsparkSession  # noqa: SLF001 - PySpark has no other way to ask
        views = session.sessionState().catalog().listLocalTempViews("*")
        return [views.apply(number).table() for number in range(views.size())]

    def create_temporary_view(
        self, name: str, rows: QueryRows, *, replaces: bool, is_global: bool
    ) -> None:
        """Create a temporary view; it stays at the current snapshots."""
        frame = frame_of(rows)
        if is_global:
            make = frame.createOrReplaceGlobalTempView if replaces else frame.createGlobalTempView
        else:
            make = frame.createOrReplaceTempView if replaces else frame.createTempView
        make(name)

    def drop_temporary_view(self, name: str) -> None:
        """Drop a temporary view."""
        self._spark.catalog.dropTempView(name)

    def use(self, database: str) -> None:
        """Make a database that of unqualified names."""
        self._spark.conf.set(DATABASE, database)

    def settings(self) -> Mapping[str, str]:
        """Return the settings of the session that statements on Paimon tables follow."""
        if self._settings is None:
            known = _session_settings(self._spark).items()
            self._settings = {key: value for key, value in known if is_setting(key)}
        return self._settings

    def change_setting(self, key: str, value: str | None) -> None:
        """Set one of these settings, or remove it."""
        if value is None and not key:
            known = _session_settings(self._spark).items()
            self._spark.sql("RESET")
            for own, text in known:
                if own.startswith(_OWN):
                    self._spark.conf.set(own, text)
        elif value is None:
            self._spark.conf.unset(key)
        else:
            self._spark.conf.set(key, value)

    def list_files(self, folder: str) -> list[SourceFile]:
        """List the files directly in a folder of any Hadoop file system."""
        return source_files(self._spark, folder)

    def load_files(self, load: FileLoad, files: Sequence[SourceFile]) -> list[LoadResult]:
        """Load files into a table."""
        return FileImport(spark=self._spark, to=load).load(files)

    def export_files(
        self, rows: QueryRows, made: FileFormat, folder: str, *, overwrite: bool
    ) -> int:
        """Write rows to files of a folder."""
        return export_rows(frame_of(rows), made, folder, overwrite=overwrite)

    def foreign_table(self, path: tuple[str, ...]) -> ForeignTable:
        """Return a table of Spark's catalog, or a folder of Parquet files."""
        if "/" in path[-1]:
            try:
                rows = self._spark.read.parquet(path[-1])
            except PySparkException as error:
                raise InvalidInputError(
                    f"{path[-1]!r} is not a folder of Parquet files.",
                    hint=str(error).partition("\n")[0],
                ) from error
            return ForeignTable(rows=SparkRows(frame=rows), partition_by=_folders(path[-1], rows))
        name = ".".join(quoted(part) for part in (_CATALOG, *path[-2:]))
        catalog = self._spark.catalog
        if not catalog.tableExists(name):
            hint = "Name a table of Spark's catalog, or a folder of Parquet files."
            raise NotFoundError("table", ".".join(path), _CATALOG, hint=hint)
        found = tuple(column.name for column in catalog.listColumns(name) if column.isPartition)
        frame = SparkRows(frame=self._spark.table(name))
        return ForeignTable(rows=frame, partition_by=found, name=name)

    def foreign_tables(self, database: str) -> list[str]:
        """Return the names of the tables of a database of Spark."""
        known = f"{_CATALOG}.{quoted(database)}"
        if not self.has_database(known):
            raise NotFoundError("database", database, _CATALOG)
        rows = self._spark.sql(f"SHOW TABLES IN {known}").collect()
        return [str(row["tableName"]) for row in rows if not row["isTemporary"]]

    def drop_foreign_table(self, table: ForeignTable) -> None:
        """Drop a table of Spark's catalog."""
        self._spark.sql(f"DROP TABLE {table.name}")


def _folders(folder: str, rows: DataFrame) -> tuple[str, ...]:
    """Return the columns that the names of folders contain."""
    files = rows.inputFiles()
    if not files:
        return ()
    path = unquote(urlsplit(files[0]).path).rpartition("/")[0]
    below = path[len(urlsplit(folder).path.rstrip("/")) :]
    return tuple(_PARTITION.findall(below))
