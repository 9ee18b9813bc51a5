"""What a compaction would rewrite: the buckets and their files."""

from collections.abc import Mapping

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.maintenance.compaction.compact import CompactionPlan, plan_compaction
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of
from paimon_explore.write.write_target import WriteTarget

_SCHEMA = schema_from_text("partition string, bucket int32, files int64, rows int64, bytes int64")


_TOTALS = ["partition", "bucket", "file_name_count", "row_count_sum", "file_size_sum"]


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
    partitions = None if partition is None else [partition]
    if not every:
        files = table.what_if.compact(full=full, partitions=partitions).to_arrow()
        found = files.group_by(["partition", "bucket"], use_threads=False).aggregate(
            [("file_name", "count"), ("row_count", "sum"), ("file_size", "sum")]
        )
        rows = found.select(_TOTALS).rename_columns(_SCHEMA.names).cast(_SCHEMA)
        return rows.sort_by([("partition", "ascending"), ("bucket", "ascending")])
    target = WriteTarget(store=store_of(table), schema=table.schema, options=table.options)
    plan = plan_compaction(target, full=full, partitions=partitions)
    return pa.Table.from_pylist([_row(plan, split) for split in plan.splits], schema=_SCHEMA)


def summary(rows: pa.Table) -> str:
    """Describe the rows of `compaction_rows` in a few words."""
    files, size = (pc.sum(rows.column(name)).as_py() or 0 for name in ("files", "bytes"))
    buckets = plural(rows.num_rows, "bucket")
    return f"{plural(files, 'file')} of {buckets}, {bytes_text(size)}"


def _row(plan: CompactionPlan, split: DataSplit) -> dict[str, object]:
    files = split.files.table
    return {
        "partition": partition_texts(files.slice(0, 1), plan.target.schema.partition_type)[0],
        "bucket": split.bucket,
        "files": files.num_rows,
        "rows": int(numbers(files, "row_count").sum()),
        "bytes": int(numbers(files, "file_size").sum()),
    }
