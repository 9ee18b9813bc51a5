"""Appends of files written by Spark's Parquet writer, without merge, cast, buckets or file indexes.

Passing rows to Python costs as much CPU as writing them here. Spark writes Parquet files with the
columns' ids into a staging folder of the table; Spark's commit protocol handles failed and
speculative tasks. The driver reads the files' footers, which contain all statistics of the
manifest, and moves the files to their final place under names of the job. As with all data files,
they are not visible before the commit.

| a crash | leaves |
| --- | --- |
| before the files are moved | the staging folder, removed by orphan removal |
| after that | files without a snapshot, as any write does |

Spark writes the files if the table has no primary key, partitions or buckets, and the DataFrame has
exactly the table's types, all of which Spark stores like other writers (see `native_parquet_read`).
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import fixed_values, valid_mask
from paimon_explore.data_types.definitions import MAX_LENGTH, AtomicType, DataField, TypeRoot
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.encoding.parquet.footer_fixes import stored_footer
from paimon_explore.encoding.parquet.row_group_statistics import row_group_bounds
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.local import LocalFileIO, local_path
from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import UNAWARE_TOTAL_BUCKETS
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.metadata.table_paths import STAGING_PREFIX
from paimon_explore.spark.executor_tasks import WriteJob
from paimon_explore.spark.reads.native_parquet_read import is_plain_path, is_same_everywhere
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.sql_statements.quoted_names import are_distinct, quoted
from paimon_explore.write.column_statistics import (
    ColumnStats,
    StatsCollector,
    StatsPlan,
    encode_stats,
)
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.file_row import file_row
from paimon_explore.write.new_file_names import FileRow, external_folders
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_BUCKET = 0
_CODECS = ("zstd", "snappy", "none", "uncompressed")
_BOUNDED = (TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY)
_TEXT_BYTES = 16
_VALUE_BYTES = 8
_SETTINGS = {
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.fieldId.write.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}


def is_native_write(df: DataFrame, job: WriteJob) -> bool:
    """Return whether Spark can write the files of an append."""
    target = job.target
    schema, options = target.schema, target.options
    if schema.primary_keys or schema.partition_keys or options.value(opt.BUCKET) != DYNAMIC_BUCKET:
        return False
    layout = append_layout(schema, options)
    return (
        _is_plain_layout(layout)
        and isinstance(target.store.file_io, LocalFileIO)
        and is_plain_path(local_path(target.store.paths.data_root))
        and external_folders(options) is None
        and _has_settings(df.sparkSession)
        and _has_exact_columns(df, job)
    )


def _is_plain_layout(layout: FileLayout) -> bool:
    return (
        layout.format == "parquet"
        and layout.compression.lower() in _CODECS
        and not layout.indexes
        and layout.numbered
        and layout.group_bytes is None
        and not any(key.startswith("parquet.") for key in layout.options)
    )


def _has_settings(spark: SparkSession) -> bool:
    return all(
        str(spark.conf.get(key, value)).upper() == value.upper() for key, value in _SETTINGS.items()
    )


def _has_exact_columns(df: DataFrame, job: WriteJob) -> bool:
    fields = {field.name: field for field in job.target.schema.fields}
    if len(job.columns) != len(df.columns) or set(job.columns) != set(fields):
        return False
    if not are_distinct(fields):
        return False
    given = zip(job.columns, df.schema.fields, strict=True)
    return all(
        _is_unbounded(fields[name]) and column.dataType == spark_type(fields[name].type)
        for name, column in given
    )


def _is_unbounded(field: DataField) -> bool:
    """Return whether the column accepts every value of its Spark type unchanged."""
    kind = field.type
    return (
        is_same_everywhere(kind)
        and isinstance(kind, AtomicType)
        and (kind.root not in _BOUNDED or kind.length == MAX_LENGTH)
        and field.default_value is None
    )


def write_natively(df: DataFrame, job: WriteJob) -> list[CommitMessage]:
    """Write an append with Spark's Parquet writer.

    If this raises, files that were already moved keep names of the job, by which
    `driver_commit.withdraw` removes them.

    Args:
        df: the rows.
        job: the write; `is_native_write` must be true.

    Raises:
        InvalidInputError: a null in a NOT NULL column; no file was moved.
    """
    target = job.target
    layout = append_layout(target.schema, target.options)
    staging = join(target.store.paths.root, f"{STAGING_PREFIX}{target.job}")
    try:
        _write_files(df, job, layout, staging)
        rows = _placed(target, layout, staging)
    finally:
        target.store.file_io.delete_folder(staging)
    if not rows:
        return []
    files = entries_of(
        rows, partition=EMPTY_ROW, bucket=_BUCKET, total_buckets=UNAWARE_TOTAL_BUCKETS
    )
    message = CommitMessage(
        partition=EMPTY_ROW, bucket=_BUCKET, total_buckets=UNAWARE_TOTAL_BUCKETS, new_files=files
    )
    return [message]


def _write_files(df: DataFrame, job: WriteJob, layout: FileLayout, folder: str) -> None:
    own = dict(zip(job.columns, df.columns, strict=True))
    columns = [
        f.col(quoted(own[field.name])).alias(field.name, metadata={"parquet.field.id": field.id})
        for field in layout.fields
    ]
    texts = [is_root(x.type, *_BOUNDED) for x in layout.fields]
    width = sum(_TEXT_BYTES if text else _VALUE_BYTES for text in texts)
    most = max(min(layout.target_bytes // width, layout.target_rows), 1)
    writer = df.select(columns).write.option("compression", layout.compression.lower())
    writer = writer.option("parquet.compression.codec.zstd.level", str(layout.zstd_level))
    writer.option("maxRecordsPerFile", most).parquet(f"file:///{local_path(folder).lstrip('/')}")


def _placed(target: WriteTarget, layout: FileLayout, staging: str) -> list[FileRow]:
    """Move the files to their final place; returns their manifest entries."""
    place = target.file_location(EMPTY_ROW, _BUCKET, target.file_names())
    found = sorted(Path(local_path(staging)).glob("part-*.parquet"))
    described = [_Footer.of(path, layout) for path in found]
    for footer in described:
        footer.check_nulls()
    rows: list[FileRow] = []
    first = 0
    target.store.file_io.make_folder(place.folder)
    for footer in described:
        if not footer.row_count:
            continue
        path, _ = place.next_path(layout)
        row = footer.entry(first)
        footer.path.rename(local_path(path))
        first += footer.row_count
        row["file_name"] = path.rpartition("/")[2]
        row["creation_time"] = local_millis(target.clock())
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Footer:
    """Facts from the footer of a Parquet file.

    Attributes:
        path: of the file.
        layout: what it looks like.
        row_count: its rows.
        stats: one per column.
        null_counts: one per column.
    """

    path: Path
    layout: FileLayout
    row_count: int
    stats: tuple[ColumnStats, ...]
    null_counts: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, layout: FileLayout) -> "_Footer":
        metadata = pq.read_metadata(path)
        with pa.OSFile(str(path), "rb") as file:
            footer = stored_footer(file, str(path))
        collector = StatsCollector(StatsPlan(layout.fields, layout.value_modes))
        columns, nulls = [], []
        for leaf, field in enumerate(layout.fields):
            values, count = _bounds(metadata, footer, leaf, field)
            if values is None or count is None:
                values = pq.read_table(path, columns=[field.name]).column(0).combine_chunks()
                count = values.null_count
            columns.append(values)
            nulls.append(count)
        collector.add(columns)
        stats = tuple(
            one if one.null_count is None else replace(one, null_count=count)
            for one, count in zip(collector.finish(), nulls, strict=True)
        )
        return cls(
            path=path,
            layout=layout,
            row_count=metadata.num_rows,
            stats=stats,
            null_counts=tuple(nulls),
        )

    def check_nulls(self) -> None:
        for field, count in zip(self.layout.fields, self.null_counts, strict=True):
            if count and not field.type.nullable:
                noun = "row has" if count == 1 else "rows have"
                raise InvalidInputError(
                    f"Column {field.name!r} is NOT NULL, but {count} {noun} no value.",
                    hint="Filter these rows out, or fill in a value.",
                )

    def entry(self, first: int) -> FileRow:
        """Return the fields of the manifest entry without name and time."""
        layout = self.layout
        return file_row(
            layout,
            file_size=self.path.stat().st_size,
            row_count=self.row_count,
            sequences=(first, first + self.row_count - 1),
            value_stats=encode_stats(layout.fields, self.stats, dense=layout.dense_stats),
        )


def _bounds(
    metadata: pq.FileMetaData, footer: bytes, leaf: int, field: DataField
) -> "tuple[pa.Array[pa.Scalar[pa.DataType]] | None, int | None]":
    """Return the bounds of all row groups as an array of values, and the number of nulls.

    None where the footer lacks statistics.
    """
    kind = to_arrow(field.type)
    found = row_group_bounds(metadata, footer, leaf, kind)
    if found is None or found.null_count.null_count:
        return None, None
    nulls = fixed_values(found.null_count, np.int64)
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    known = valid_mask(found.minimum) & valid_mask(found.maximum)
    if not (known | (nulls == np.array(sizes, np.int64))).all():
        return None, None
    both = pa.concat_arrays([found.minimum, found.maximum])
    return both.drop_null(), int(nulls.sum())
