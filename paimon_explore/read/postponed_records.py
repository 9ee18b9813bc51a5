"""Postponed records, as a sorted run that is newer than all files of the real buckets."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from paimon_explore.merge.in_memory_merge import merge_as_written
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import mask_array
from paimon_explore.metadata.options.table_options import BUCKET
from paimon_explore.metadata.schema.fixed_buckets import fixed_buckets
from paimon_explore.scan.splits.data_split import BucketRange
from paimon_explore.store.table_store import StoredTable


def merged_postponed(
    batches: Iterable[pa.RecordBatch],
    target: StoredTable,
    spec: MergeSpec,
    buckets: BucketRange | None,
) -> Iterator[pa.RecordBatch]:
    """Merges postponed records; those of the wanted buckets are kept in memory.

    Args:
        batches: the records as written, with the columns of the merge and `_VALUE_KIND`.
        target: the table.
        spec: the merge spec.
        buckets: the buckets into which a compaction would write the wanted ones; None for all.
    """
    if buckets is not None:
        options = target.options.changed({BUCKET.key: str(buckets.count)})
        wanted = range(buckets.first, buckets.end)
        found = ((batch, fixed_buckets(batch, target.schema, options)) for batch in batches)
        batches = (
            batch.filter(mask_array((own >= wanted.start) & (own < wanted.stop)))
            for batch, own in found
        )
    return merge_as_written(batches, spec)
