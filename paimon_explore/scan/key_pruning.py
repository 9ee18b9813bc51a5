"""Pruning of files by the key ranges that manifest entries record."""

import numpy as np

from paimon_explore.data_types.definitions import RowType
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.manifest_arrays import Mask, bucket_numbers, numbers
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.pruning.file_statistics import key_stats
from paimon_explore.scan.pruning.statistics_pruning import may_match
from paimon_explore.scan.splits.key_range_sections import key_ranks, may_tie, sections


def key_mask(entries: ManifestEntries, on_keys: Expression, keys: RowType) -> Mask:
    """True for those of n files that may contain matching keys; files without bounds are kept.

    Args:
        entries: live files of a table with a primary key.
        on_keys: a condition on key columns, bound to the table's row type.
        keys: the trimmed primary key.
    """
    found: Mask = numbers(entries.table, "bucket") == POSTPONE_BUCKET
    sorted_files = entries.filter(~found)
    mask = may_match(on_keys, key_stats(sorted_files, keys))
    if mask.any() and not mask.all():
        mask = _with_tied(sorted_files, mask, keys)
    found[np.flatnonzero(~found)] = mask
    return found


def _with_tied(entries: ManifestEntries, mask: Mask, keys: RowType) -> Mask:
    """Keeps further files: those on which the order of tied records of kept files may depend."""
    buckets = bucket_numbers(entries.table)
    counts = np.bincount(buckets)
    some = np.bincount(buckets[mask], minlength=len(counts))
    divided = np.flatnonzero((some > 0) & (some < counts) & may_tie(entries, buckets))
    found = mask.copy()
    for bucket in divided.tolist():
        rows = np.flatnonzero(buckets == bucket)
        for section in sections(*key_ranks(entries.take(rows), keys)):
            found[rows[section]] = mask[rows[section]].any()
    return found
