"""What a catalog server is told about the partitions of a commit."""

from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from paimon_explore.commit.catalog_partitions import partition_changes
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.metadata.options.table_options import TableOptions
from support.entries import entries, entry
from support.merging import schema_of

SCHEMA = replace(schema_of({"p": "INT", "v": "INT"}, keys=()), partition_keys=("p",))
A, B = row_images([pa.array([1, 2], pa.int32())], [AtomicType(root=TypeRoot.INT)])


def local_ms(year: int) -> int:
    """A local time as stored in manifests."""
    return (datetime(year, 1, 1) - datetime(1970, 1, 1)).days * 86_400_000  # noqa: DTZ001 - local


def test_files_are_summed_by_partition_and_removed_ones_count_negative() -> None:
    changes = entries(
        entry("a1", partition=A, row_count=7, file_size=70, creation_time=local_ms(2024)),
        entry("b1", partition=B, row_count=5, file_size=50, total_buckets=2),
        entry("a2", partition=A, row_count=2, file_size=20, creation_time=local_ms(2026)),
        entry("a0", partition=A, kind=1, row_count=3, file_size=30, creation_time=local_ms(2020)),
        entry("b2", partition=B, row_count=1, file_size=10, total_buckets=4),
    )
    first, second = partition_changes(changes, SCHEMA, TableOptions({}))
    assert (first.spec, second.spec) == ({"p": "1"}, {"p": "2"})
    assert (first.record_count, first.file_size_in_bytes, first.file_count) == (6, 60, 1)
    assert (second.record_count, second.file_size_in_bytes, second.file_count) == (6, 60, 2)
    assert first.last_file_creation_time == datetime(2026, 1, 1).timestamp() * 1000  # noqa: DTZ001 - local
    assert second.last_file_creation_time == 0
    assert (first.total_buckets, second.total_buckets) == (-1, 4)


def test_a_commit_without_files_changes_no_partition() -> None:
    assert partition_changes(entries(), SCHEMA, TableOptions({})) == []
