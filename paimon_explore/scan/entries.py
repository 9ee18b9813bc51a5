"""From a snapshot to the manifest entries a scan has to look at.

Manifests are dropped by partition range, bucket and level; what remains is decoded into one frame,
cut to the wanted partitions, and cancelled: ADD against DELETE. Partition cuts come first and with
one predicate for both kinds, so that no DELETE loses its ADD or the other way round; everything
that looks at statistics of single files comes after.
Spec: concepts/spec/manifest, merging of entries.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.binary_row import decode_rows
from paimon_explore.encoding.buffers import Column
from paimon_explore.metadata.manifest_entry import ManifestEntries, live_entries
from paimon_explore.metadata.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.evaluate import evaluate
from paimon_explore.scan.expression import Expression
from paimon_explore.scan.frames import (
    Mask,
    as_binary,
    binary,
    column,
    distinct,
    element,
    numbers,
    row_array,
    rows_without_columns,
    true_rows,
)
from paimon_explore.scan.prune import ColumnStats, StatsFrame, may_match
from paimon_explore.store.table_store import TableStore
from paimon_explore.types.arrow import arrow_schema
from paimon_explore.types.data_types import RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCut:
    """A predicate over partition columns, applied to manifests and to entries alike.

    Attributes:
        row_type: the partition columns in partition-key order.
        predicate: bound to them; None keeps everything.
    """

    row_type: RowType
    predicate: Expression | None

    def manifests(self, manifests: ManifestFiles) -> Mask:
        """Which manifests may hold an entry of a wanted partition."""
        count = manifests.table.num_rows
        if self.predicate is None or not count:
            return np.ones(count, dtype=np.bool_)
        return may_match(self.predicate, self.ranges(manifests))

    def ranges(self, manifests: ManifestFiles) -> StatsFrame:
        """The partitions of each manifest's entries, as bounds."""
        types = [field.type for field in self.row_type]
        table = manifests.table
        lows = decode_rows(binary(table, "partition_min"), types, where="_PARTITION_STATS")
        highs = decode_rows(binary(table, "partition_max"), types, where="_PARTITION_STATS")
        nulls = column(table, "partition_null_counts")
        rows = numbers(table, "num_added_files") + numbers(table, "num_deleted_files")
        columns = {
            field.name: ColumnStats(minimum=lows[i], maximum=highs[i], null_count=element(nulls, i))
            for i, field in enumerate(self.row_type)
        }
        return StatsFrame(columns=columns, row_count=row_array(rows))

    def entries(self, partitions: pa.BinaryArray) -> Mask:
        """Which of n partition rows are wanted; decodes each distinct row once."""
        if self.predicate is None or not len(partitions):
            return np.ones(len(partitions), dtype=np.bool_)
        different, codes = distinct(partitions)
        rows = self.decode(different)
        wanted = true_rows(evaluate(self.predicate, rows, self.row_type))
        return wanted[codes]

    def decode(self, partitions: Column) -> pa.RecordBatch:
        """Partition rows, n of them, as n rows of the partition columns."""
        types = [field.type for field in self.row_type]
        columns = decode_rows(as_binary(partitions), types, where="_PARTITION")
        if not columns:
            return rows_without_columns(len(partitions))
        return pa.RecordBatch.from_arrays(columns, schema=nullable_schema(self.row_type))


def nullable_schema(row_type: RowType) -> pa.Schema:
    """Arrow schema in which every column may be null, as statistics and partition rows need."""
    return pa.schema([field.with_nullable(nullable=True) for field in arrow_schema(row_type)])


def read_entries(
    store: TableStore,
    manifests: ManifestFiles,
    cut: PartitionCut,
    columns: Collection[str] | None = None,
) -> ManifestEntries:
    """Entries of the wanted partitions in the order of the manifests; None for all columns."""
    if cut.predicate is None:
        return store.manifests.read_many(manifests.names, columns)
    return store.manifests.read_partitions(manifests.names, cut.entries, columns)


def live_files(store: TableStore, snapshot: Snapshot, cut: PartitionCut) -> ManifestEntries:
    """Live files of a snapshot in the wanted partitions: one ADD entry each, in list order."""
    manifests = store.manifests.all(snapshot)
    kept = manifests.filter(cut.manifests(manifests))
    return live_entries(read_entries(store, kept, cut))
