"""Reads of system tables, and of the changes between two snapshots.

| read | rows are computed by |
| --- | --- |
| `$ro` | the tasks, as a read of the highest level |
| `$audit_log`, `incremental-between…` of the modes delta and changelog | the tasks, not merged |
| `incremental-between…` of the mode diff, `$binlog`, `$row_tracking` | the driver |
| system tables of metadata | the driver |
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike, fspath

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as st

from paimon_explore import arrow_compute as pc
from paimon_explore.arguments import path as path_argument
from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode
from paimon_explore.metadata.options.refused_options import check_not_postponed
from paimon_explore.metadata.options.table_options import TABLE_READ_SEQUENCE_NUMBER_ENABLED
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.incremental import branch_changes
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.read_plan import check_declared, groups, whole_columns
from paimon_explore.spark.spark_types import spark_schema, to_spark, wire_schema
from paimon_explore.table.row_changes import ROWKIND, ChangeReader, row_kinds, without_retracts
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table

_READ_OPTIMIZED = "ro"
AUDIT_LOG = "audit_log"
_ADDED = (0, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindJob:
    """The state shared by tasks that read records with row kinds; sent to them by pickling.

    Attributes:
        reader: reads splits into the selected columns and the row kind.
        row_type: the selected columns.
        schema: the Spark schema of the rows, with the row kind as a string first if selected.
        kinds: return the row kinds; otherwise -U and -D records are skipped.
    """

    reader: SplitReader
    row_type: RowType
    schema: st.StructType
    kinds: bool

    def rows(self, splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
        """Read the records of some splits in Spark's Arrow schema."""
        wire = wire_schema(self.schema)
        inner = pa.schema(list(wire)[int(self.kinds) :])
        for batch in self.reader.read_each(splits):
            yield from self._rows(batch, wire, inner)

    def _rows(
        self, batch: pa.RecordBatch, wire: pa.Schema, inner: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        numbers = batch.column(batch.num_columns - 1)
        if not self.kinds:
            batch = batch.filter(pc.is_in(numbers, pa.array(_ADDED, numbers.type)))
        if not batch.num_rows:
            return
        rows = to_spark(batch.select(list(self.row_type.names)), self.row_type, inner)
        first = [row_kinds(numbers)] if self.kinds else []
        yield pa.RecordBatch.from_arrays([*first, *rows.columns], schema=wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialRead:
    """A planned read of a system table or of changes.

    Attributes:
        schema: the Spark schema of its rows.
        job: for rows that the tasks read.
        splits: what they read.
        rows: rows that the driver has already computed.
    """

    schema: st.StructType
    job: KindJob | None = None
    splits: tuple[Split, ...] = ()
    rows: pa.Table | None = None

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the rows as a DataFrame."""
        if self.rows is not None or self.job is None:
            if not self.rows:  # PySpark fails on empty Arrow columns of nested types
                return spark.createDataFrame([], schema=self.schema)
            return spark.createDataFrame(self.rows, schema=self.schema)
        tasks = groups(self.splits, spark.sparkContext.defaultParallelism)
        rows = sum(split.row_count for split in self.splits)
        return map_tasks(spark, tasks, self.job.rows, self.schema, rows=rows)

    def narrowed(self, schema: st.StructType) -> "SpecialRead":
        """Return the same read with the schema that the user gave for it.

        Raises:
            InvalidInputError: as for `check_declared`.
        """
        check_declared(schema, self.schema)
        names = schema.fieldNames()
        if self.rows is not None:
            rows = self.rows.select(names).cast(wire_schema(schema))
            return replace(self, schema=schema, rows=rows)
        return self if self.job is None else self._with_job(schema, names)

    def _with_job(self, schema: st.StructType, names: Sequence[str]) -> "SpecialRead":
        kind = ROWKIND.name
        if self.job is None or (self.job.kinds and (not names or names[0] != kind)):
            raise InvalidInputError(
                f"The schema of the read must begin with column {kind!r}.",
                hint="Omit schema(), and select columns after load().",
            )
        columns = [name for name in names if name != kind or not self.job.kinds]
        fields = {field.name: field for field in self.job.row_type}
        job = replace(
            self.job,
            reader=replace(self.job.reader, columns=tuple(columns)),
            row_type=RowType(fields=tuple(fields[name] for name in columns)),
            schema=schema,
        )
        return replace(self, schema=schema, job=job)


def system_of(path: str | PathLike[str]) -> tuple[str, str | None]:
    """Split a path into the table's path and the system table after `$`.

    >>> system_of("/w/db.db/t$files"), system_of("/w/db.db/t")
    (('/w/db.db/t', 'files'), ('/w/db.db/t', None))
    """
    text = fspath(path_argument("table", path))
    folder, slash, name = text.rstrip("/").rpartition("/")
    table, dollar, system = name.partition("$")
    return (folder + slash + table, system.lower()) if dollar and system else (text, None)


def local_rows(source: RowSource) -> SpecialRead:
    """Return rows that the driver computes."""
    row_type = row_type_from_arrow(source.schema)
    schema = spark_schema(row_type)
    wire = wire_schema(schema)
    batches = [to_spark(batch, row_type, wire) for batch in source.to_batches()]
    return SpecialRead(schema=schema, rows=pa.Table.from_batches(batches, schema=wire))


def where_text(where: Where) -> str:
    """Return a predicate as SQL text for Spark."""
    return where if isinstance(where, str) else to_sql(predicate(where))


def special_read(
    table: Table, system: str | None, columns: Sequence[str] | None, where: Where | None
) -> Scan | SpecialRead:
    """Return a scan of the table, or the special read that its options or `system` ask for.

    Args:
        table: the table.
        system: name of one of its system tables; None for the table itself.
        columns: the columns to read; None for all.
        where: rows to read; None for all.

    Raises:
        NotFoundError: there is no such system table.
        InvalidInputError: unknown columns, or a predicate that cannot be used there.
    """
    if system is None:
        scan = whole_columns(table.scan(columns, where))
        return scan if scan.increment is None else _increment(scan, kinds=False)
    if system == _READ_OPTIMIZED:
        return _read_optimized(table.scan(columns, where))
    if system == AUDIT_LOG and not table.options.value(TABLE_READ_SEQUENCE_NUMBER_ENABLED):
        if columns is not None and list(columns)[:1] != [ROWKIND.name]:
            columns = [ROWKIND.name, *(c for c in columns if c != ROWKIND.name)]
        scan = whole_columns(table.scan(None if columns is None else list(columns)[1:], where))
        if scan.increment is not None:
            return _increment(scan, kinds=True)
        scan = replace(scan, target=scan.target.without_postponed())
        return _kinds(scan, scan.plan().splits, kinds=True)
    return local_rows(table.inspect.system_table(system).scan(columns, where))


def _read_optimized(scan: Scan) -> Scan:
    """Read only the rows of the highest level."""
    keyed = scan.target.keys is not None
    top = level_count(scan.target.options) - 1 if keyed else None
    return replace(scan, target=replace(scan.target, only_level=top))


def _increment(scan: Scan, *, kinds: bool) -> SpecialRead:
    increment = scan.increment
    check_not_postponed(scan.target.options, "reading changes", scan.target.store.paths.root)
    if increment is None or increment.mode is IncrementalBetweenScanMode.DIFF:
        changes = ChangeReader(target=scan.target, columns=scan.columns, where=scan.where)
        schema = changes.schema if kinds else pa.schema(list(changes.schema)[1:])

        def load() -> pa.RecordBatchReader:
            rows = changes.between(increment) if increment is not None else schema.empty_table()
            return (rows if kinds else without_retracts(rows)).to_reader()

        return local_rows(RowSource(name="The incremental query", schema=schema, load=load))
    found = branch_changes(scan.target, increment.span_of, increment.mode, scan.where)
    return _kinds(scan, [split for _, splits in found for split in splits], kinds=kinds)


def _kinds(scan: Scan, splits: Iterable[Split], *, kinds: bool) -> SpecialRead:
    row_type = scan.target.schema.project(scan.columns)
    columns = spark_schema(row_type)
    first = [st.StructField(ROWKIND.name, st.StringType())] if kinds else []
    schema = st.StructType([*first, *columns.fields])
    reader = SplitReader(
        target=scan.target,
        columns=scan.columns,
        predicate=scan.where,
        system_columns=(SystemColumn.VALUE_KIND,),
    )
    job = KindJob(reader=reader, row_type=row_type, schema=schema, kinds=kinds)
    return SpecialRead(schema=schema, job=job, splits=tuple(splits))
