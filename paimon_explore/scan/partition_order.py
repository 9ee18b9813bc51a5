"""The order of partitions by their values."""

from collections.abc import Iterable

import numpy as np

from paimon_explore.merge.keys.key_groups import group_rows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import byte_array, byte_rows, column, distinct


def ordered_partitions(
    partitions: Iterable[bytes], partition_filter: PartitionFilter
) -> list[bytes]:
    """Return partition rows, ascending by their values."""
    rows = sorted(partitions)
    groups = group_rows(partition_filter.decode(byte_array(rows)).columns, count=len(rows))
    return [rows[i] for i in groups.order.tolist()]


def sorted_by_partition(
    entries: ManifestEntries, partition_filter: PartitionFilter
) -> ManifestEntries:
    """Return the files ascending by partition; files of a partition keep their order."""
    values, codes = distinct(column(entries.table, "partition"))
    names = byte_rows(values)
    rank = {row: place for place, row in enumerate(ordered_partitions(names, partition_filter))}
    ranks = np.array([rank[name] for name in names], np.int64)
    return entries.take(np.argsort(ranks[codes], kind="stable"))
