"""Files whose bucket can hold a row that a predicate keeps.

Every entry counts with the bucket number it was written under, so rescaled tables are cut rightly.
"""

import numpy as np

from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import BUCKET_FUNCTION, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import Mask, numbers
from paimon_explore.scan.predicate.expression import TRUE, Expression


def bucket_mask(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions, predicate: Expression
) -> Mask:
    """Which of n files may hold matching rows, by bucket alone."""
    mask = np.ones(len(entries), dtype=np.bool_)
    keys = schema.project(schema.bucket_keys).fields
    if not keys or predicate == TRUE:
        return mask
    from paimon_explore.scan.pruning.bucket_filter import allowed_buckets  # noqa: PLC0415 - a predicate

    totals = numbers(entries.table, "total_buckets")
    buckets = numbers(entries.table, "bucket")
    function = options.value(BUCKET_FUNCTION).value
    for total in np.unique(totals[totals > 0]).tolist():
        allowed = allowed_buckets(predicate, keys, total, function)
        if allowed is not None:
            fits = np.isin(buckets, np.fromiter(allowed, dtype=np.int64))
            mask &= (totals != total) | fits
    return mask
