"""Splits of batch reads that merge postponed records with the real buckets of their partition.

A table with `bucket` = -2 has one postpone bucket per partition. With `postpone.merge-on-read` its
records are merged as if they were written last, in the order of their files. A split of a partition
with such files has a layer per real bucket, whose keys differ, and the postponed files as the last
layer. Other partitions are read as usual.

Java does not define the order of records of different writers; here, files are in the order of
their creation, as in a compaction. Seen with the official Java 2.0.0: level 0 of the real buckets
is visible as well, also in tables with deletion vectors and in first-row tables.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

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
from paimon_explore.scan.splits.data_split import (
    BucketRange,
    DataSplit,
    LayeredSplit,
    LocatedFiles,
    PlainSplit,
)
from paimon_explore.scan.splits.split_generator import (
    SplitRules,
    make_splits,
    pack,
    whole_buckets,
)


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
    found: dict[bytes, list[DataSplit]] = {}
    for split in whole_buckets(files.take(np.flatnonzero(merged))):
        found.setdefault(split.partition, []).append(split)
    if not found:
        return others
    layered = (one for buckets in found.values() for one in _layered(buckets, rules.target_bytes))
    partitions = byte_rows(distinct(column(files.entries.table, "partition"))[0])
    places = {partition: place for place, partition in enumerate(partitions)}
    return tuple(sorted((*others, *layered), key=lambda split: places[split.partition]))


def _layered(buckets: list[DataSplit], target_bytes: int) -> Iterator[LayeredSplit]:
    """The splits of a partition with postponed files.

    Every split reads the postponed files, so it reads at least as much of the real buckets.
    """
    postponed, *real = sorted(buckets, key=lambda split: split.bucket)
    last, partition = postponed.only(write_order(postponed.files)), postponed.partition
    sizes = np.array([split.files.total_size for split in real], np.int64)
    target = max(target_bytes, last.files.total_size)
    bounds = pack(sizes, np.zeros(len(real), np.int64), target=target, open_cost=0).tolist()
    counts = {split.total_buckets for split in real}
    if len(bounds) <= 2 or len(counts) > 1:  # noqa: PLR2004  # one split
        yield LayeredSplit(layers=(*real, last), partition=partition)
        return
    (count,) = counts
    ends = [0, *(real[start].bucket for start in bounds[1:-1]), count]
    for own, (first, end) in zip(pairwise(bounds), pairwise(ends), strict=True):
        layers = (*real[slice(*own)], last)
        wanted = BucketRange(first=first, end=end, count=count)
        yield LayeredSplit(layers=layers, partition=partition, buckets=wanted)
