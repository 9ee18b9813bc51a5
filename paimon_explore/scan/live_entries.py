"""Live manifest entries of a snapshot: partition filter, then cancelling of ADD and DELETE.

Manifests are pruned by partition range; the rest are decoded into one Arrow table that is filtered
by partition, then DELETE entries cancel ADD entries. The partition filter is applied first and
equally to both kinds, so that no DELETE is separated from its ADD; pruning by file statistics
follows.
Spec: concepts/spec/manifest, merging of entries.

The order of partitions by their values.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column, concat_arrays, rows_without_columns
from paimon_explore.data_types.definitions import RowType, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.key_groups import group_rows
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import partition_filter
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import (
    Mask,
    as_binary,
    binary,
    byte_array,
    byte_rows,
    column,
    distinct,
    element,
    numbers,
    row_array,
    true_rows,
)
from paimon_explore.scan.predicate.expression import (
    TRUE,
    Compare,
    CompareOp,
    Expression,
    In,
    Literal,
    conjuncts,
)
from paimon_explore.scan.predicate.expression import Column as ColumnOf
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.scan.pruning.statistics_pruning import StatsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFilter:
    """A predicate over partition columns that is applied to manifests and to manifest entries.

    Attributes:
        row_type: the partition columns in partition-key order.
        predicate: bound to them; TRUE keeps everything.
    """

    row_type: RowType
    predicate: Expression = TRUE

    def manifest_mask(self, manifests: ManifestFiles) -> Mask:
        """True for manifests that may contain an entry of a wanted partition."""
        count = manifests.table.num_rows
        if self.predicate == TRUE or not count:
            return np.ones(count, dtype=np.bool_)
        from paimon_explore.scan.pruning.statistics_pruning import may_match  # noqa: PLC0415 - there is a predicate

        return may_match(self.predicate, self.ranges(manifests))

    def ranges(self, manifests: ManifestFiles) -> "StatsTable":
        """Partition bounds of each manifest as statistics."""
        from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable  # noqa: PLC0415 - likewise

        types = [field.type for field in self.row_type]
        table = manifests.table
        both = concat_arrays([binary(table, "partition_min"), binary(table, "partition_max")])
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
        return StatsTable(columns=columns, row_count=row_array(rows))

    def entry_mask(self, partitions: pa.BinaryArray) -> Mask:
        """True for those of n partition rows that match; decodes each distinct row once."""
        if self.predicate == TRUE or not len(partitions):
            return np.ones(len(partitions), dtype=np.bool_)
        from paimon_explore.scan.predicate.evaluator import evaluate  # noqa: PLC0415 - there is a predicate

        different, codes = distinct(partitions)
        rows = self.decode(different)
        wanted = true_rows(evaluate(self.predicate, rows, self.row_type))
        return wanted[codes]

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Byte strings of which every matching partition row contains at least one.

        Empty if the predicate implies none. A BinaryRow contains the bytes of a text unchanged,
        and a number in its fixed-width field, so this does not depend on how a writer lays out
        rows.
        """
        if self.predicate == TRUE:
            return ()
        found = (_needles_of(part) for part in conjuncts(self.predicate))
        return max(found, key=_selectivity, default=())

    def decode(self, partitions: Column) -> pa.RecordBatch:
        """Decodes n partition rows into a batch of the partition columns."""
        types = [field.type for field in self.row_type]
        columns = decode_rows(as_binary(partitions), types, where="_PARTITION")
        if not columns:
            return rows_without_columns(len(partitions))
        return pa.RecordBatch.from_arrays(columns, schema=nullable_schema(self.row_type))


def _needles_of(test: Expression) -> tuple[bytes, ...]:
    """Bytes of the constants of an equality or IN; empty for other conditions."""
    match test:
        case Compare(op=CompareOp.EQ, left=ColumnOf(), right=Literal() as constant):
            constants: tuple[Literal, ...] = (constant,)
        case In(operand=ColumnOf(), values=values) if len(values) <= _MAX_NEEDLES:
            constants = values
        case _:
            return ()
    found = [_bytes_of(constant) for constant in constants]
    return tuple(item for item in found if item is not None) if None not in found else ()


def _bytes_of(constant: Literal) -> bytes | None:
    """Bytes that every row with this value contains; None if there are no such bytes."""
    root, value = constant.type.root if constant.type is not None else None, constant.value
    if root is TypeRoot.VARCHAR and isinstance(value, str):
        return value.encode()
    width = _FIXED_WIDTHS.get(root) if root is not None else None
    if width is None or not isinstance(value, int) or isinstance(value, bool):
        return None
    if value.bit_length() < 8 * width:
        return value.to_bytes(width, "little", signed=True)
    return None


def _selectivity(needles: tuple[bytes, ...]) -> int:
    """Ranks needles: the length of the shortest one."""
    return min((len(needle.rstrip(b"\0")) for needle in needles), default=-1)


_MAX_NEEDLES = 16
_FIXED_WIDTHS = {TypeRoot.INT: 4, TypeRoot.DATE: 4, TypeRoot.BIGINT: 8}


def nullable_schema(row_type: RowType) -> pa.Schema:
    """Arrow schema with all columns nullable, for statistics and partition rows."""
    return pa.schema([field.with_nullable(nullable=True) for field in arrow_schema(row_type)])


def read_entries(
    store: TableStore,
    manifests: ManifestFiles,
    partitions: PartitionFilter,
    columns: Collection[str] | None = None,
) -> ManifestEntries:
    """Reads the entries of the wanted partitions, in manifest order; `columns` None reads all."""
    if partitions.predicate == TRUE:
        return store.manifests.read_many(manifests.names, columns)
    entry_filter = partition_filter(partitions.entry_mask, partitions.needles)
    return store.manifests.read_filtered(manifests.names, [entry_filter], columns)[0]


def live_files(
    store: TableStore, snapshot: Snapshot, partitions: PartitionFilter
) -> ManifestEntries:
    """The live files of a snapshot in the wanted partitions: one ADD entry each, in list order."""
    manifests = store.manifests.all(snapshot)
    kept = manifests.filter(partitions.manifest_mask(manifests))
    return live_entries(read_entries(store, kept, partitions))


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
