"""Bootstrap of the key index for cross-partition upserts: read all keys of a table.

Only the key columns are read, with a merge that drops deleted keys. Buckets whose newest file is
older than `cross-partition-upsert.index-ttl` are skipped: their keys count as new.
"""

from collections.abc import Iterator

import pyarrow as pa

from paimon_explore.data_types.local_time import local_millis
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.options.table_options import CROSS_PARTITION_UPSERT_INDEX_TTL
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.write.buckets.cross_partition import KeyIndex, KnownKeys
from paimon_explore.write.write_target import WriteTarget


def key_index(target: WriteTarget, snapshot: Snapshot | None) -> KeyIndex:
    """Build the index of partition and bucket of every key.

    Args:
        target: the table.
        snapshot: the latest snapshot, or the one that a row-level operation is based on.

    Raises:
        FormatError: a file is malformed.
        MissingFileError: a file does not exist.
    """
    known = [] if target.replaces else list(_known(target, snapshot))
    seen = None if target.replaces else SeenSnapshot.of(snapshot, reads=True)
    return KeyIndex(target.schema, target.options, known, seen)


def _known(target: WriteTarget, snapshot: Snapshot | None) -> Iterator[KnownKeys]:
    schema, options, store = target.schema, target.options, target.store
    if snapshot is None:
        return
    partition_filter = PartitionFilter(row_type=schema.partition_type, predicate=None)
    entries = live_files(store, snapshot, partition_filter)
    if not len(entries):
        return
    scan = ScanTarget(
        store=store, schema=schema, options=options, snapshot=snapshot, branch=store.paths.branch
    )
    reader = SplitReader(
        store=store, schema=schema, options=options, columns=schema.primary_keys, unrestricted=True
    )
    ttl_ms = options.value(CROSS_PARTITION_UPSERT_INDEX_TTL)
    oldest = None if ttl_ms is None else local_millis(target.clock()) - ttl_ms
    for split in whole_buckets(scan.located(entries, snapshot)):
        if oldest is not None and numbers(split.files.table, "creation_time").max() < oldest:
            continue
        batches = list(reader.read(split))
        if batches:
            rows = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
            yield KnownKeys(partition=split.partition, bucket=split.bucket, columns=rows.columns)
