"""From a snapshot to the manifest entries a scan has to look at.

Manifests are dropped by partition range, bucket and level; what remains is decoded into one frame,
cut to the wanted partitions, and cancelled: ADD against DELETE. Partition cuts come first and with
one predicate for both kinds, so that no DELETE loses its ADD or the other way round; everything
that looks at statistics of single files comes after.
Spec: concepts/spec/manifest, merging of entries.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import RowType, TypeRoot
from paimon_explore.encoding.binary_row.encoder import decode_rows
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import partition_filter
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import (
    Mask,
    as_binary,
    binary,
    column,
    concat,
    distinct,
    element,
    numbers,
    row_array,
    rows_without_columns,
    true_rows,
)
from paimon_explore.scan.predicate.expression import Column as ColumnOf
from paimon_explore.scan.predicate.expression import (
    Compare,
    CompareOp,
    Expression,
    In,
    Literal,
    conjuncts,
)
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.scan.pruning.statistics_pruning import StatsFrame


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
        from paimon_explore.scan.pruning.statistics_pruning import may_match  # noqa: PLC0415 - there is a predicate

        return may_match(self.predicate, self.ranges(manifests))

    def ranges(self, manifests: ManifestFiles) -> "StatsFrame":
        """The partitions of each manifest's entries, as bounds."""
        from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsFrame  # noqa: PLC0415 - likewise

        types = [field.type for field in self.row_type]
        table = manifests.table
        both = concat([binary(table, "partition_min"), binary(table, "partition_max")])
        bounds = decode_rows(both, types, where="_PARTITION_STATS")
        count = len(table)
        nulls = column(table, "partition_null_counts")
        rows = numbers(table, "num_added_files") + numbers(table, "num_deleted_files")
        columns = {
            field.name: ColumnStats(
                minimum=bounds[i].slice(0, count),
                maximum=bounds[i].slice(count),
                null_count=element(nulls, i),
            )
            for i, field in enumerate(self.row_type)
        }
        return StatsFrame(columns=columns, row_count=row_array(rows))

    def entries(self, partitions: pa.BinaryArray) -> Mask:
        """Which of n partition rows are wanted; decodes each distinct row once."""
        if self.predicate is None or not len(partitions):
            return np.ones(len(partitions), dtype=np.bool_)
        from paimon_explore.scan.predicate.evaluator import evaluate  # noqa: PLC0415 - there is a predicate

        different, codes = distinct(partitions)
        rows = self.decode(different)
        wanted = true_rows(evaluate(self.predicate, rows, self.row_type))
        return wanted[codes]

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Bytes of which one stands in the row of each wanted partition; none if nothing is known.

        A row holds the bytes of a text as they are, wherever it puts them, and a number in its
        slot: so this does not depend on how a writer lays out rows.
        """
        if self.predicate is None:
            return ()
        found = (_needles_of(part) for part in conjuncts(self.predicate))
        return max(found, key=_selectivity, default=())

    def decode(self, partitions: Column) -> pa.RecordBatch:
        """Partition rows, n of them, as n rows of the partition columns."""
        types = [field.type for field in self.row_type]
        columns = decode_rows(as_binary(partitions), types, where="_PARTITION")
        if not columns:
            return rows_without_columns(len(partitions))
        return pa.RecordBatch.from_arrays(columns, schema=nullable_schema(self.row_type))


def _needles_of(test: Expression) -> tuple[bytes, ...]:
    """Bytes of the constants that a column must equal one of."""
    match test:
        case Compare(op=CompareOp.EQ, left=ColumnOf(), right=Literal() as constant):
            constants: tuple[Literal, ...] = (constant,)
        case In(operand=ColumnOf(), values=values) if len(values) <= _MOST_NEEDLES:
            constants = values
        case _:
            return ()
    found = [_bytes_of(constant) for constant in constants]
    return tuple(item for item in found if item is not None) if None not in found else ()


def _bytes_of(constant: Literal) -> bytes | None:
    """What every row that holds the constant has in its bytes; None if it is not that simple."""
    root, value = constant.type.root if constant.type is not None else None, constant.value
    if root is TypeRoot.VARCHAR and isinstance(value, str):
        return value.encode()
    width = _SLOT_BYTES.get(root) if root is not None else None
    if width is None or not isinstance(value, int) or isinstance(value, bool):
        return None
    if value.bit_length() < 8 * width:
        return value.to_bytes(width, "little", signed=True)
    return None


def _selectivity(needles: tuple[bytes, ...]) -> int:
    """How much is to be expected of needles: the shortest one decides."""
    return min((len(needle.rstrip(b"\0")) for needle in needles), default=-1)


_MOST_NEEDLES = 16
_SLOT_BYTES = {TypeRoot.INT: 4, TypeRoot.DATE: 4, TypeRoot.BIGINT: 8}


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
    entry_filter = partition_filter(cut.entries, cut.needles)
    return store.manifests.read_filtered(manifests.names, [entry_filter], columns)[0]


def live_files(store: TableStore, snapshot: Snapshot, cut: PartitionCut) -> ManifestEntries:
    """Live files of a snapshot in the wanted partitions: one ADD entry each, in list order."""
    manifests = store.manifests.all(snapshot)
    kept = manifests.filter(cut.manifests(manifests))
    return live_entries(read_entries(store, kept, cut))
