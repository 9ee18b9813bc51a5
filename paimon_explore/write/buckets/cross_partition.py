"""Cross-partition upsert: the primary key does not include all partition columns.

Each key has one partition at a time; the index knows partition and bucket of every key of the
table. The merge engine decides what happens to a row whose key is in another partition:

| merge engine | the row | the old partition |
| --- | --- | --- |
| deduplicate | is written to its own partition | gets a `-D` record of the old row |
| partial-update, aggregation | is written to the old partition | |
| first-row | is dropped | |

A new or moved key is assigned to the first bucket of its partition that is not full.

Only one job may write to such a table at a time.

Spec: primary-key-table/data-distribution, cross partitions upsert. Seen in: golden
java200/pk_cross_deduplicate.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    fixed_values,
    take_rows,
    valid_mask,
)
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.write.buckets.dynamic_buckets import (
    MAX_BUCKET_COUNT,
    bucket_limit,
    shared_target,
    too_many_buckets,
)
from paimon_explore.write.buckets.partition_grouping import Partitions, partitions_of
from paimon_explore.write.input.row_kinds import DELETE

_NONE = -1
_VALUE_KIND = "_VALUE_KIND"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKeys:
    """The existing keys of one bucket.

    Attributes:
        partition: the partition's binary row with its arity.
        bucket: the bucket.
        columns: the primary-key columns in key order, n rows each.
    """

    partition: bytes
    bucket: int
    columns: Sequence[Column]


@dataclass(frozen=True, slots=True)
class AssignedRows:
    """Rows with the partition and bucket they are written to.

    Attributes:
        rows: n rows in the order in which they are written.
        partitions: partitions of the n rows.
        buckets: buckets of the n rows.
    """

    rows: pa.RecordBatch
    partitions: Partitions
    buckets: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The rows of a batch sorted by key; rows of one key keep their input order.

    Attributes:
        order: row numbers in sorted order.
        key_numbers: the number of each row's key, by row number.
        partitions: the number of each row's own partition, by row number.
        is_first: whether a row is the first one of its key, in sorted order.
    """

    order: Ints
    key_numbers: Ints
    partitions: Ints
    is_first: Bools


class KeyIndex:
    """Maps every primary key of a table to its partition and bucket.

    Args:
        schema: schema of the table.
        options: effective options.
        known: the existing keys of the table.
        seen: the snapshot that the keys were read from; None if it does not matter.

    Attributes:
        seen: the snapshot that the keys were read from.
    """

    def __init__(
        self,
        schema: TableSchema,
        options: TableOptions,
        known: Sequence[KnownKeys],
        seen: SeenSnapshot | None = None,
    ) -> None:
        self.seen = seen
        self._schema = schema
        self._engine = options.value(opt.MERGE_ENGINE)
        self._target_rows = options.value(opt.DYNAMIC_BUCKET_TARGET_ROW_NUM)
        self._max_buckets = bucket_limit(options.value(opt.DYNAMIC_BUCKET_MAX_BUCKETS))
        self._numbers: dict[bytes, int] = {}
        self._counts: dict[tuple[int, int], int] = {}
        parts = [part for part in known if len(part.columns[0])]
        self._keys: pa.BinaryArray = _concat([self._encoded(part.columns) for part in parts])
        sizes = [len(part.columns[0]) for part in parts]
        partitions = [self._number(part.partition) for part in parts]
        buckets = [part.bucket for part in parts]
        self._partition = np.repeat(np.array(partitions, np.int64), sizes)
        self._bucket = np.repeat(np.array(buckets, np.int64), sizes)
        for number, bucket, size in zip(partitions, buckets, sizes, strict=True):
            self._counts[number, bucket] = self._counts.get((number, bucket), 0) + size

    def _number(self, partition: bytes) -> int:
        return self._numbers.setdefault(partition, len(self._numbers))

    def _encoded(self, columns: Sequence[Column]) -> pa.BinaryArray:
        types = [column.type for column in self._schema.project(self._schema.primary_keys)]
        return encode_rows(list(columns), types, count=len(columns[0]))

    def assign(self, rows: pa.RecordBatch) -> AssignedRows:
        """Assign rows to partitions and buckets, and add deletions of moved keys.

        Args:
            rows: at least one row with the table's columns and `_VALUE_KIND` as the last column.

        Raises:
            InvalidInputError: without a limit, a partition needs too many buckets.
        """
        batch = self._look_up(rows)
        match self._engine:
            case MergeEngine.DEDUPLICATE:
                return self._assign_to_own_partition(rows, batch)
            case MergeEngine.PARTIAL_UPDATE | MergeEngine.AGGREGATION:
                return self._assign_to_known_partition(rows, batch, keeps_others=True)
            case MergeEngine.FIRST_ROW:
                return self._assign_to_known_partition(rows, batch, keeps_others=False)

    def _look_up(self, rows: pa.RecordBatch) -> _Batch:
        """Number the keys and partitions of rows; add new keys without partition and bucket."""
        own = partitions_of(rows, self._schema.partition_type)
        numbers = np.array([self._number(key) for key in own.keys], np.int64)[own.numbers]
        encoded = self._encoded([rows.column(name) for name in self._schema.primary_keys])
        distinct = encoded.dictionary_encode()
        options = pc.SetLookupOptions(value_set=self._keys)
        key_numbers = _numbers(pc.call_function("index_in", [distinct.dictionary], options))
        new = np.flatnonzero(key_numbers == _NONE)
        key_numbers[new] = len(self._partition) + np.arange(len(new))
        if len(new):
            new_keys = take_rows(distinct.dictionary, new)
            self._keys = _concat([self._keys, new_keys])  # type: ignore[list-item]  # binaries
            unassigned = np.full(len(new), _NONE, np.int64)
            self._partition = np.concatenate([self._partition, unassigned])
            self._bucket = np.concatenate([self._bucket, unassigned])
        by_row = key_numbers[_numbers(distinct.indices)]
        order = np.argsort(by_row, kind="stable")
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = by_row[order][1:] != by_row[order][:-1]
        return _Batch(order, by_row, numbers, is_first)

    # ------------------------------------------------------------ deduplicate

    def _assign_to_own_partition(self, rows: pa.RecordBatch, batch: _Batch) -> AssignedRows:
        """Write rows to their own partitions, and a deletion wherever a key leaves a partition."""
        keys, own = batch.key_numbers[batch.order], batch.partitions[batch.order]
        previous = np.concatenate([[_NONE], own[:-1]])
        previous[batch.is_first] = self._partition[keys[batch.is_first]]
        enters = previous != own
        is_start = enters | batch.is_first  # of a run of rows with the same key and partition
        starts = np.flatnonzero(is_start)
        buckets = self._bucket[keys[starts]]
        needed = np.flatnonzero(enters[starts])
        in_order = needed[np.argsort(batch.order[starts[needed]], kind="stable")]
        buckets[in_order] = self._assign_buckets(own[starts[in_order]])
        by_row = buckets[np.cumsum(is_start) - 1]
        moved = np.flatnonzero(enters & (previous != _NONE))
        old_buckets = np.where(
            batch.is_first[moved], self._bucket[keys[moved]], by_row[np.maximum(moved - 1, 0)]
        )
        self._remove_counts(previous[moved], old_buckets)
        lasts = np.flatnonzero(np.append(batch.is_first[1:], True))
        self._partition[keys[lasts]] = own[lasts]
        self._bucket[keys[lasts]] = by_row[lasts]
        moves = (by_row, batch.order[moved], previous[moved], old_buckets)
        return self._with_deletions(rows, batch, moves)

    def _with_deletions(
        self, rows: pa.RecordBatch, batch: _Batch, moves: tuple[Ints, Ints, Ints, Ints]
    ) -> AssignedRows:
        """Return all rows in input order, each deletion before the row that causes it."""
        sorted_buckets, moved, old_partitions, old_buckets = moves
        buckets = np.empty(rows.num_rows, np.int64)
        buckets[batch.order] = sorted_buckets
        if not len(moved):
            return self._assigned(rows, batch.partitions, buckets)
        sources = np.concatenate([np.arange(rows.num_rows), moved])
        is_deletion = np.concatenate(
            [np.zeros(rows.num_rows, np.bool_), np.ones(len(moved), np.bool_)]
        )
        order = np.lexsort((~is_deletion, sources))
        partitions = np.concatenate([batch.partitions, old_partitions])[order]
        all_buckets = np.concatenate([buckets, old_buckets])[order]
        all_rows = rows.take(build_fixed(pa.int64(), sources[order]))  # type: ignore[arg-type]  # int64
        all_rows = self._in_partitions(all_rows, partitions, is_deletion[order])
        return self._assigned(_as_deletions(all_rows, is_deletion[order]), partitions, all_buckets)

    # ------------------------------------------------------------ other engines

    def _assign_to_known_partition(
        self, rows: pa.RecordBatch, batch: _Batch, *, keeps_others: bool
    ) -> AssignedRows:
        """Write rows to the partition of their key; drop or keep rows of other partitions."""
        keys, own = batch.key_numbers[batch.order], batch.partitions[batch.order]
        firsts = np.flatnonzero(batch.is_first)
        new = firsts[self._partition[keys[firsts]] == _NONE]
        in_order = new[np.argsort(batch.order[new], kind="stable")]
        self._partition[keys[in_order]] = own[in_order]
        self._bucket[keys[in_order]] = self._assign_buckets(own[in_order])
        partitions, buckets = self._partition[batch.key_numbers], self._bucket[batch.key_numbers]
        differs = partitions != batch.partitions
        if not differs.any():
            return self._assigned(rows, partitions, buckets)
        if keeps_others:
            moved = self._in_partitions(rows, partitions, differs)
            return self._assigned(moved, partitions, buckets)
        kept = np.flatnonzero(~differs)
        kept_rows = rows.take(build_fixed(pa.int64(), kept))  # type: ignore[arg-type]  # int64
        return self._assigned(kept_rows, partitions[kept], buckets[kept])

    # ------------------------------------------------------------ buckets and partitions

    def _assign_buckets(self, partitions: Ints) -> Ints:
        """Assign a bucket to each of n keys that are new in these partitions."""
        buckets = np.empty(len(partitions), np.int64)
        for number in np.unique(partitions).tolist():
            keys = np.flatnonzero(partitions == number)
            start = 0
            while start < len(keys):
                bucket, room = self._bucket_with_room(number, len(keys) - start)
                count = min(room, len(keys) - start)
                buckets[keys[start : start + count]] = bucket
                self._counts[number, bucket] = self._counts.get((number, bucket), 0) + count
                start += count
        return buckets

    def _bucket_with_room(self, partition: int, needed: int) -> tuple[int, int]:
        """Return the bucket for the next of this number of new keys, and its remaining capacity.

        Once all buckets are full, they share further keys evenly; Java exceeds the limit.
        """
        for bucket in range(self._max_buckets or MAX_BUCKET_COUNT):
            room = self._target_rows - self._counts.get((partition, bucket), 0)
            if room > 0:
                return bucket, room
        if self._max_buckets is None:
            raise too_many_buckets()
        counts = [self._counts[partition, bucket] for bucket in range(self._max_buckets)]
        bucket = counts.index(min(counts))
        return bucket, shared_target(counts, needed) - counts[bucket]

    def _remove_counts(self, partitions: Ints, buckets: Ints) -> None:
        pairs, counts = np.unique(np.stack([partitions, buckets]), axis=1, return_counts=True)
        for (partition, bucket), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            self._counts[partition, bucket] -= count

    def _in_partitions(
        self, rows: pa.RecordBatch, partitions: Ints, changed: Bools
    ) -> pa.RecordBatch:
        """Set the partition columns of the changed rows to the values of other partitions."""
        row_type = self._schema.partition_type
        keys = pa.array(list(self._numbers), pa.binary())
        values = decode_rows(keys, [field.type for field in row_type], where="partition")
        count = rows.num_rows
        source = np.where(changed, count + partitions, np.arange(count))
        for field, column in zip(row_type, values, strict=True):
            at = rows.schema.get_field_index(field.name)
            both: Column = pa.concat_arrays([rows.column(at), column])
            rows = rows.set_column(at, rows.schema.field(at), take_rows(both, source))
        return rows

    def _assigned(self, rows: pa.RecordBatch, partitions: Ints, buckets: Ints) -> AssignedRows:
        used, numbers = np.unique(partitions, return_inverse=True)
        known = list(self._numbers)
        keys = Partitions(numbers.astype(np.int64), tuple(known[number] for number in used))
        return AssignedRows(rows, keys, buckets.astype(np.int32))


def _as_deletions(rows: pa.RecordBatch, is_deletion: Bools) -> pa.RecordBatch:
    """Set the kind of some rows to DELETE."""
    at = rows.schema.get_field_index(_VALUE_KIND)
    kinds = fixed_values(rows.column(at), np.int8).astype(np.int8)
    kinds = np.where(is_deletion, np.int8(DELETE), kinds)
    column = build_fixed(pa.int8(), kinds)
    return rows.set_column(at, rows.schema.field(at), column)


def _concat(parts: Sequence[pa.BinaryArray]) -> pa.BinaryArray:
    if not parts:
        return pa.array([], pa.binary())
    return parts[0] if len(parts) == 1 else pa.concat_arrays(list(parts))


def _numbers(found: Column) -> Ints:
    """Convert int32 to int64 numbers; -1 for null."""
    values = fixed_values(found, np.int32).astype(np.int64)
    values[~valid_mask(found)] = _NONE
    return values
