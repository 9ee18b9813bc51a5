"""Splits of batch reads that merge postponed records with the real buckets of their partition.

A table with `bucket` = -2 has one postpone bucket per partition. With `postpone.merge-on-read` its
records are merged as if they were written last, in the order of their files. A partition with such
files becomes one split with a layer per real bucket, whose keys differ, and the postponed files as
the last layer. Other partitions are read as usual.

Seen with the official Java 2.0.0: level 0 of the real buckets is visible as well, also in
tables with deletion vectors and in first-row tables.
"""

from collections.abc import Sequence

import numpy as np

from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.manifest_arrays import (
    Mask,
    Rows,
    byte_rows,
    column,
    distinct,
    group_numbers,
    numbers,
)
from paimon_explore.scan.splits.data_split import DataSplit, LayeredSplit, LocatedFiles, PlainSplit
from paimon_explore.scan.splits.split_generator import SplitRules, make_splits, whole_buckets


def in_merged_partitions(entries: ManifestEntries) -> Mask:
    """Whether the partitions of n files have postponed records."""
    partitions = group_numbers(entries.table, by_bucket=False)
    return np.isin(partitions, partitions[numbers(entries.table, "bucket") == POSTPONE_BUCKET])


def write_order(entries: ManifestEntries) -> Rows:
    """Row numbers of postponed files, the first one written first."""
    return np.argsort(numbers(entries.table, "creation_time"), kind="stable")


def splits_with_postponed(files: LocatedFiles, rules: SplitRules) -> Sequence[PlainSplit]:
    """Return the splits of a plan whose postponed files are merged on read.

    Args:
        files: files of real buckets, and all postponed files of their partitions.
        rules: for the partitions without postponed files.
    """
    merged = in_merged_partitions(files.entries)
    others = make_splits(files.take(np.flatnonzero(~merged)), rules)
    layers: dict[bytes, list[DataSplit]] = {}
    for split in whole_buckets(files.take(np.flatnonzero(merged))):
        own = layers.setdefault(split.partition, [])
        if split.bucket == POSTPONE_BUCKET:
            own.append(split.only(write_order(split.files)))
        else:
            own.insert(0, split)
    if not layers:
        return others
    found = (LayeredSplit(layers=tuple(own), partition=key) for key, own in layers.items())
    partitions = byte_rows(distinct(column(files.entries.table, "partition"))[0])
    places = {partition: place for place, partition in enumerate(partitions)}
    return tuple(sorted((*others, *found), key=lambda split: places[split.partition]))
