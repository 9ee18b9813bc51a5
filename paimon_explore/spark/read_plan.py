"""Scan planning for Spark: one snapshot, and its splits in groups of even size, one per task.

The snapshot is fixed when the table is loaded. The files are fixed when the driver plans the query,
with the planner of local reads. Tasks receive little data: the reader with schema and predicate,
and the manifest entries of their files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import pyarrow as pa
from pyspark.sql.types import StructType

from paimon_explore.arguments import mapping
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metastore.catalog_values import TableInfo
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.spark.spark_types import spark_schema, wire_schema
from paimon_explore.table.engine_scans.scan_part import even_shares
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table, open_stored_table, open_table
from paimon_explore.table.table_base import dynamic_options_of, point_of, store_of

TASK_BYTES = 128 * 1024 * 1024
_OPEN_COST_BYTES = 1024 * 1024
_ONE_TASK_ROWS = 131_072
_ONE_TASK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJob:
    """The state shared by all tasks of a read; sent to them by pickling.

    Attributes:
        reader: reads splits into the selected columns.
        row_type: the selected columns.
        schema: their Spark schema.
        wire: the Arrow schema that Spark requires for them.
        snapshot: the snapshot that is read.
    """

    reader: SplitReader
    row_type: RowType
    schema: StructType
    wire: pa.Schema
    snapshot: Snapshot | None = None


def read_schema(scan: Scan) -> StructType:
    """Return the Spark schema of a scan's rows."""
    return spark_schema(_row_type(scan))


def _row_type(scan: Scan) -> RowType:
    return whole_columns(scan).target.schema.project(scan.columns)


def whole_columns(scan: Scan) -> Scan:
    """Return the scan if it reads whole columns.

    Raises:
        UnsupportedFeatureError: it selects fields of ROW columns.
    """
    if scan.narrowed is not None:
        raise UnsupportedFeatureError(
            "selecting fields of ROW columns in a Spark read",
            hint="Read the whole column, and select the field on the DataFrame.",
        )
    return scan


def plan_read(
    scan: Scan, parallelism: int, schema: StructType | None = None
) -> tuple[ReadJob, list[tuple[Split, ...]]]:
    """Plan a scan for Spark.

    Args:
        scan: what to read, with its snapshot.
        parallelism: tasks that can run at the same time.
        schema: how Spark declared the rows, where that is looser than the table's schema.

    Returns:
        The state shared by all tasks, and the splits of each task; empty if there are none to read.

    Raises:
        FormatError, StorageError: a metadata file is damaged or gone.
    """
    job, splits = plan_splits(scan, schema)
    return job, groups(splits, parallelism)


def plan_splits(scan: Scan, schema: StructType | None = None) -> tuple[ReadJob, Sequence[Split]]:
    """Plan a scan as `plan_read` does, without grouping the splits."""
    plan = scan.plan()
    row_type = _row_type(scan)
    declared = spark_schema(row_type) if schema is None else schema
    reader = SplitReader(target=scan.target, columns=scan.columns, predicate=plan.rest)
    job = ReadJob(
        reader=reader,
        row_type=row_type,
        schema=declared,
        wire=wire_schema(declared),
        snapshot=scan.target.snapshot,
    )
    return job, plan.splits


def groups(splits: Sequence[Split], parallelism: int) -> list[tuple[Split, ...]]:
    """Group splits evenly by size: one group per parallel task, or more groups of bounded size.

    Few rows are one group: a second task costs more than it saves. Of more rows, a split that needs
    no merge is divided into its files, so that few large splits do not leave tasks idle.
    """
    if fit_one_task(splits):
        return [tuple(splits)] if splits else []
    parts = [one for split in splits for one in _single_splits(split)]
    sizes = [_bytes(one) for one in parts]
    count = min(len(parts), max(parallelism, -(-sum(sizes) // TASK_BYTES)))
    return [tuple(parts[at] for at in share) for share in even_shares(sizes, count)]


def fit_one_task(splits: Sequence[Split]) -> bool:
    """Return whether one task reads splits in less time than several tasks need to start."""
    return (
        sum(split.row_count for split in splits) <= _ONE_TASK_ROWS
        and sum(_bytes(split) for split in splits) <= _ONE_TASK_BYTES
    )


def _bytes(split: Split) -> int:
    sizes = split.files.table.column("file_size").to_pylist()
    return sum((size or 0) + _OPEN_COST_BYTES for size in sizes)


def _single_splits(split: Split) -> list[Split]:
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        return [split]
    return [split.file(row) for row in range(split.count)]


def narrowed(scan: Scan, schema: StructType) -> Scan:
    """Restrict a scan to the schema that the user gave for the read.

    Raises:
        InvalidInputError: as for `check_declared`.
    """
    check_declared(schema, spark_schema(scan.target.schema.row_type))
    return replace(scan, columns=tuple(schema.fieldNames()))


def check_declared(schema: StructType, known: StructType) -> None:
    """Check the schema that the user gave for a read.

    Raises:
        InvalidInputError: a column is unknown, has another type, or is NOT NULL only here.
    """
    names = known.fieldNames()
    for field in schema.fields:
        if field.name not in names:
            msg = f"The table has no column {field.name!r}."
            raise InvalidInputError(msg, hint=f"Columns: {choices(names)}.")
        there = known[field.name]
        declared, actual = field.dataType.simpleString(), there.dataType.simpleString()
        if declared != actual:
            raise InvalidInputError(
                f"The schema of the read declares column {field.name!r} as {declared}, but the "
                f"column has type {actual}.",
                hint=f"Declare the column as {actual}, and cast it after load().",
            )
        if field.nullable < there.nullable:
            raise InvalidInputError(
                f"The schema of the read declares column {field.name!r} as NOT NULL, but the "
                "column may contain null.",
                hint="Declare the column without NOT NULL.",
            )


def table_with_options(where: Table | str | PathLike[str], options: Mapping[str, str]) -> Table:
    """Open a table with the additional options of this read or write.

    Raises:
        NotFoundError: there is no table, branch, snapshot or tag.
        InvalidInputError: an option has a wrong value.
    """
    mapping("options", options)
    if not isinstance(where, Table):
        return open_table(where, options=options)
    if not options:
        return where
    store = store_of(where)
    dynamic = {**dynamic_options_of(where), **options}
    info = TableInfo(path=where.path, file_io=store.file_io, environment=store.environment)
    changed = {"branch": store_of(where).paths.branch, **dynamic}
    fresh = open_stored_table(store.file_io, where.path, options=changed, info=info)
    keeps = (
        not point_of(fresh).given and store_of(fresh).paths.branch == store_of(where).paths.branch
    )
    return replace(fresh, _travel=point_of(where)) if keeps else fresh
