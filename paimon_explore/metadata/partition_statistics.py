"""Partition statistics: what a commit changes in a partition, or what a partition contains.

Catalogs that keep partitions receive them with each commit. Spec: the REST catalog's
`PartitionStatistics`.
"""

from collections.abc import Mapping

from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatistics:
    """Figures of a partition; in a commit the change, which may be negative.

    Attributes:
        spec: the partition as text by column, as in its folder name.
        record_count: number of records.
        file_size_in_bytes: size of the data files.
        file_count: number of data files.
        last_file_creation_time: the creation time of the newest file, epoch milliseconds.
        total_buckets: the number of buckets.
    """

    spec: Mapping[str, str]
    record_count: int
    file_size_in_bytes: int
    file_count: int
    last_file_creation_time: int
    total_buckets: int = 0
