"""Row-level changes for delete, update and merge, applied in Spark tasks with one commit.

A change is a row of a DataFrame: all columns of the table, the action (`_paimon_act`), and the file
and position of the old row. Tables with a primary key get records: `-D`, or the new row. In other
tables the files of the changed rows are rewritten.

Row-level changes of tables without primary key: rewrites the files that contain changed rows.

Rows of such a table have no key, so each row is read with its file and position. The tasks write
the unchanged rows of the affected files and the new rows; one commit replaces the affected files.
With `deletion-vectors.enabled` the files stay, and the positions are marked as deleted. The commit
fails with a conflict if a concurrent commit changed an affected file; concurrently added rows are
kept.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.candidate_files import plan_candidate_files
from paimon_explore.maintenance.row_level.deletion_vector_write import VectorChange, changed_vectors
from paimon_explore.maintenance.row_level.supported_operations import check_delete, check_update
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.read_plan import ReadJob, groups
from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.row_level.assigned_values import targets_by_column
from paimon_explore.spark.spark_types import spark_schema, to_spark, wire_schema
from paimon_explore.spark.writes.store_assignment import char_lengths, fitted, with_padded_chars
from paimon_explore.spark.writes.write_table import written
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, point_of, store_of, write_target
from paimon_explore.write.input.row_kinds import ROW_KIND

FILE = "_paimon_file"
ROW = "_paimon_row"
PLACE = (FILE, ROW)
"""Columns that say where a row lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRows:
    """The rows of a table that may change, with their files and positions.

    Attributes:
        spark: the session.
        scan: the scan, with its snapshot.
        job: the state shared by all tasks of the read.
        split_by_file: a split for each file, by its path; names may be those of other buckets.
    """

    spark: SparkSession
    scan: Scan
    job: ReadJob
    split_by_file: Mapping[str, DataSplit]

    @property
    def keeps_files(self) -> bool:
        """Return whether deleted rows are marked in deletion vectors instead of rewriting files."""
        return self.scan.target.options.value(opt.DELETION_VECTORS_ENABLED)

    def frame(self) -> DataFrame:
        """Read the rows that may match the scan's predicate, with file and position."""
        return self._read(list(self.split_by_file), self.job)

    def whole(self, paths: Sequence[str]) -> DataFrame:
        """Read all rows of some files, with file and position."""
        return self._read(paths, replace(self.job, reader=replace(self.job.reader, predicate=TRUE)))

    def _read(self, paths: Sequence[str], job: ReadJob) -> DataFrame:
        splits = [self.split_by_file[path] for path in paths]
        tasks = groups(splits, self.spark.sparkContext.defaultParallelism)
        schema = st.StructType(
            [
                *job.schema.fields,
                st.StructField(FILE, st.StringType(), nullable=False),
                st.StructField(ROW, st.LongType(), nullable=False),
            ]
        )
        rows = sum(split.row_count for split in splits)
        return map_tasks(self.spark, tasks, partial(_rows_of, job), schema, rows=rows)


def placed_rows(spark: SparkSession, table: Table, where: Where | None) -> PlacedRows:
    """Plan a change.

    Args:
        spark: the session.
        table: a table without primary key.
        where: restricts the rows to read.

    Raises:
        UnsupportedFeatureError: the table has row tracking.
    """
    if table.options.value(opt.ROW_TRACKING_ENABLED):
        raise UnsupportedFeatureError(
            "changing rows of a row-tracking table in Spark tasks",
            table.name,
            hint="Use Table.delete(), Table.update() or Table.merge(), which run without Spark.",
        )
    scan = table.scan(where=where)
    splits, rest = plan_candidate_files(scan.target, scan.where)
    row_type = scan.target.schema.row_type
    schema = spark_schema(row_type)
    reader = SplitReader(
        target=scan.target,
        columns=row_type.names,
        predicate=rest,
        system_columns=(SystemColumn.POSITION,),
    )
    job = ReadJob(
        reader=reader,
        row_type=row_type,
        schema=schema,
        wire=wire_schema(schema),
        snapshot=scan.target.snapshot,
    )
    split_by_file = {
        path: split.file(at) for split in splits for at, path in enumerate(split.paths)
    }
    return PlacedRows(spark=spark, scan=scan, job=job, split_by_file=split_by_file)


def _rows_of(job: ReadJob, splits: Iterable[Split]) -> Iterator[pa.RecordBatch]:
    """Read the rows of one task, with file and position."""
    with explain_missing_files(job.reader.target.store, job.snapshot):
        for split in splits:
            yield from _placed(job, split)


def _placed(job: ReadJob, split: Split) -> Iterator[pa.RecordBatch]:
    assert isinstance(split, DataSplit)  # noqa: S101 - by `placed_rows`
    path = pa.scalar(split.paths[0])
    added = [pa.field(FILE, pa.string(), nullable=False), pa.field(ROW, pa.int64(), nullable=False)]
    schema = pa.schema([*job.wire, *added])
    for batch in job.reader.read(split):
        rows = to_spark(batch.select(list(job.row_type.names)), job.row_type, job.wire)
        positions = batch.column(batch.num_columns - 1).cast(pa.int64())
        columns = [*rows.columns, pa.repeat(path, batch.num_rows), positions]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def rows_that_stay(placed: PlacedRows, changes: DataFrame) -> DataFrame:
    """Return the unchanged rows of the affected files.

    Args:
        placed: the plan.
        changes: files and positions of the changed rows.
    """
    touched = sorted(str(row[0]) for row in changes.select(FILE).distinct().collect())
    gone = changes.select(*(f.col(name) for name in PLACE))
    return placed.whole(touched).join(gone, list(PLACE), "left_anti").drop(*PLACE)


def removals(placed: PlacedRows, changes: DataFrame) -> list[CommitMessage]:
    """Return the removals of the changed rows: whole files, or positions for deletion vectors.

    Args:
        placed: the plan.
        changes: files and positions of the changed rows.
    """
    marked: dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]] = {}
    if placed.keeps_files:
        rows = changes.groupBy(FILE).agg(f.collect_set(ROW).alias(ROW)).collect()
        marked = {str(row[FILE]): np.sort(np.array(row[ROW], np.int64)) for row in rows}
    touched = marked or [row[0] for row in changes.select(FILE).distinct().collect()]
    buckets: dict[tuple[bytes, int], list[str]] = {}
    for path in sorted(touched):
        split = placed.split_by_file[path]
        buckets.setdefault((split.partition, split.bucket), []).append(path)
    return [_removal(placed, paths, marked) for paths in buckets.values()]


def _removal(
    placed: PlacedRows,
    paths: Sequence[str],
    marked: Mapping[str, np.ndarray[tuple[int], np.dtype[np.int64]]],
) -> CommitMessage:
    """The same for the files of one bucket."""
    first = placed.split_by_file[paths[0]]
    files = {path: placed.split_by_file[path].files for path in paths}
    names = {path: str(one.table.column("file_name")[0]) for path, one in files.items()}
    gone = [path for path in paths if path not in marked]
    change = VectorChange(
        removed=frozenset(names[path] for path in gone),
        deleted={names[path]: marked[path] for path in paths if path in marked},
    )
    vectors = changed_vectors(placed.scan.target, first, change)
    return CommitMessage(
        **first.bucket_fields,
        deleted_files=ManifestEntries.concat([files[path] for path in gone]),
        new_index_files=vectors.added,
        deleted_index_files=vectors.removed,
    )


ACT = "_paimon_act"
INSERT, UPDATE, DELETE = "+I", "+U", "-D"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTarget:
    """The target table of row-level changes.

    Attributes:
        table: the table.
        schema: its latest schema.
        rows: its rows, with file and position if it has no primary key.
        placed: the plan, if it has no primary key.
        pads: whether CHAR columns are padded, as in SQL.
        stored: columns of `rows` with the stored values of padded keys, by name of the key.
    """

    table: Table
    schema: TableSchema
    rows: DataFrame
    placed: PlacedRows | None
    pads: bool = False
    stored: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, ...]:
        """Return the columns that identify a row."""
        return self.schema.primary_keys if self.placed is None else PLACE

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the columns that cannot change: primary key and partition columns."""
        return (*self.schema.primary_keys, *self.schema.partition_keys)

    @property
    def place(self) -> tuple[str, ...]:
        """Return the columns of `rows` that do not belong to the table."""
        return tuple(self.stored.values()) if self.placed is None else PLACE

    def check_update(self, names: Collection[str]) -> None:
        """Check that the table accepts an update of some columns, or members of struct columns.

        Raises:
            InvalidInputError: an unknown, key or partition column, or a merge engine that does not
                accept updates.
            UnsupportedFeatureError: the table uses a feature that cannot be updated here.
        """
        columns = list(targets_by_column(names, self.schema.row_type))
        check_update(self.schema, self._options, columns)
        moved = [name for name in columns if name in self.schema.partition_keys]
        if moved and self.placed is None:
            msg = (
                f"Column {moved[0]!r} is a partition column; rows of a primary-key table cannot "
                "move to another partition."
            )
            raise InvalidInputError(msg, hint="Delete the rows, then write them again.")

    def check_delete(self) -> None:
        """Check that the table accepts deletes.

        Raises:
            InvalidInputError: a merge engine that does not accept deletes.
            UnsupportedFeatureError: the table uses a feature that prevents deletes here.
        """
        check_delete(self.schema, self._options)

    @property
    def _options(self) -> TableOptions:
        return TableOptions({**self.schema.options, **dynamic_options_of(self.table)})

    def apply(self, changes: DataFrame, *, once: bool = False) -> Snapshot | None:
        """Apply changes, in one commit.

        Args:
            changes: the table's columns, `ACT`, and the columns of `place`; read several times.
            once: reject two changes of one row.

        Returns:
            The snapshot; None if there were no changes.

        Raises:
            InvalidInputError: two changes of one row.
            CommitConflictError: a concurrent commit replaced the files of a changed row; plan the
                change again.
        """
        with _kept(changes) as rows:
            if once:
                self._refuse_twice(rows)
            return self._upsert(rows) if self.placed is None else self._rewrite(rows, self.placed)

    def _refuse_twice(self, changes: DataFrame) -> None:
        old = changes.filter(f.col(ACT) != INSERT)
        twice = old.groupBy(*map(quoted, self.identity)).count().filter("count > 1").limit(1)
        found = twice.collect()
        if found:
            key = {} if self.placed is not None else found[0].asDict()
            key.pop("count", None)
            raise InvalidInputError(
                "More than one row of the source matches a row of the table"
                + (f", for example the row with {key}." if key else "."),
                hint="Keep one row of the source for each value of the ON columns.",
            )

    def _upsert(self, changes: DataFrame) -> Snapshot | None:
        target = write_target(self.table, replaces=False)
        return written(changes.select(*self._columns(), f.col(ACT).alias(ROW_KIND)), target, None)

    def _columns(self) -> list[Column]:
        """Return the table's columns as they are stored."""
        columns = []
        for one in self.schema.fields:
            column = f.col(quoted(one.name))
            if self.pads:
                column = fitted(column, one.type)
            if one.name in self.stored:
                column = f.coalesce(f.col(self.stored[one.name]), column)
            columns.append(column.alias(one.name))
        return columns

    def _rewrite(self, changes: DataFrame, placed: PlacedRows) -> Snapshot | None:
        target = write_target(self.table, replaces=False)
        old = changes.filter(f.col(ACT) != INSERT)
        new = changes.filter(f.col(ACT) != DELETE).select(*self._columns())
        if not placed.keeps_files:
            new = rows_that_stay(placed, old).unionByName(new)
        return written(new, target, None, lambda: removals(placed, old))


def change_target(
    spark: SparkSession, table: Table, where: Where | None = None, *, pads: bool = False
) -> ChangeTarget:
    """Return the target of row-level changes in a table.

    Args:
        spark: the session.
        table: the table.
        where: restricts the rows to read; other rows may still be read.
        pads: whether CHAR columns are padded, as in SQL.

    Raises:
        UnsupportedFeatureError: its rows cannot be changed with Spark.
        InvalidInputError: the table is opened with time travel.
    """
    if point_of(table).given:
        write_target(table, replaces=False)
    schema = latest_schema(store_of(table))
    if schema.primary_keys:
        for option in (opt.BLOB_DESCRIPTOR_FIELD, opt.BLOB_VIEW_FIELD):
            if table.options.value(option):
                raise UnsupportedFeatureError(
                    f"changing rows of a primary-key table with {option.key!r} in Spark tasks",
                    table.name,
                    hint="Use Table.delete(), Table.update() or Table.merge(), which run without "
                    "Spark.",
                )
        placed, rows = None, read(spark, table, where=where)
    else:
        placed = placed_rows(spark, table, where)
        rows = placed.frame()
    stored: dict[str, str] = {}
    if pads:
        if placed is None:
            keys = char_lengths(schema.project(schema.primary_keys).fields)
            stored = {key: f"_paimon_{at}" for at, key in enumerate(keys)}
            rows = rows.withColumns({name: f.col(quoted(key)) for key, name in stored.items()})
        rows = with_padded_chars(rows, schema.fields)
    return ChangeTarget(
        table=table, schema=schema, rows=rows, placed=placed, pads=pads, stored=stored
    )


@contextmanager
def _kept(changes: DataFrame) -> Iterator[DataFrame]:
    """Cache the changes inside the context, so that they are computed once."""
    rows = changes.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield rows
    finally:
        rows.unpersist()
