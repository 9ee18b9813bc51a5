"""What a compaction would rewrite: the buckets and their files."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.partition_text import partition_texts
from paimon_explore.maintenance.compaction.append_compaction import AppendBucket, pick_append
from paimon_explore.maintenance.compaction.compact import (
    CompactionPlan,
    drop_idle_buckets,
    plan_compaction,
)
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.table.table import Table
from paimon_explore.write.write_target import WriteTarget

_SCHEMA = pa.schema(
    (
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("files", pa.int64()),
        pa.field("rows", pa.int64()),
        pa.field("bytes", pa.int64()),
    )
)


def compaction_rows(
    table: Table, *, full: bool, every: bool, partition: Mapping[str, str] | None
) -> pa.Table:
    """Return the buckets that a compaction rewrites, with the files it reads.

    Args:
        table: the table.
        full: whether it is a full compaction.
        every: whether all files are rewritten, as for sorting.
        partition: compact only this partition; None for all.

    Raises:
        UnsupportedFeatureError: the table uses a feature that compaction does not support.
        InvalidInputError: a column is not a partition column.
    """
    target = WriteTarget(store=table.store, schema=table.schema, options=table.options)
    partitions = None if partition is None else [partition]
    plan = plan_compaction(target, full=full, partitions=partitions)
    plan = plan if every else drop_idle_buckets(plan)
    rows = [row for split in plan.splits for row in _rows(plan, split, every=every)]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def summary(rows: pa.Table) -> str:
    """Describe the rows of `compaction_rows` in a few words."""
    files, size = (pc.sum(rows.column(name)).as_py() or 0 for name in ("files", "bytes"))
    buckets = plural(rows.num_rows, "bucket")
    return f"{plural(files, 'file')} of {buckets}, {bytes_text(size)}"


def _rows(plan: CompactionPlan, split: DataSplit, *, every: bool) -> list[dict[str, object]]:
    files = split.files.table
    chosen = None if every else _appended(plan, split)
    if chosen is not None:
        if not chosen:
            return []
        files = files.take(pa.array(chosen))
    return [
        {
            "partition": partition_texts(files.slice(0, 1), plan.target.schema.partition_type)[0],
            "bucket": split.bucket,
            "files": files.num_rows,
            "rows": int(numbers(files, "row_count").sum()),
            "bytes": int(numbers(files, "file_size").sum()),
        }
    ]


def _appended(plan: CompactionPlan, split: DataSplit) -> list[int] | None:
    """The files of a plain append table that are rewritten; None for other tables."""
    target, options = plan.target, plan.target.options
    others = (opt.DATA_EVOLUTION_ENABLED, opt.CLUSTERING_INCREMENTAL)
    if target.schema.primary_keys or any(map(options.value, others)):
        return None
    has_buckets = options.value(opt.BUCKET) > 0
    bucket = AppendBucket(target=target, split=split, index=plan.index, has_buckets=has_buckets)
    return [file for group in pick_append(bucket, full=plan.full) for file in group]
