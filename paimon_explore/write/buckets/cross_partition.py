"""Keys of tables whose primary key does not hold the partition: each key lives in one partition.

The index knows partition and bucket of every key of the table. A row whose key lives in another
partition is treated as the merge engine demands:

| merge engine | the row | the old partition |
| --- | --- | --- |
| deduplicate | goes to its own partition | gets a `-D` record of the row before |
| partial-update, aggregation | goes to the old partition, with its values | |
| first-row | is dropped | |

A new key, or one that moves, goes to the first bucket of its partition that is not full.

Only one job may write to such a table at a time.

Spec: primary-key-table/data-distribution, cross partitions upsert. Seen in: golden
java200/pk_cross_deduplicate.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    fixed_values,
    valid_mask,
)
from paimon_explore.encoding.binary_row.encoder import decode_rows, encode_rows
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.write.buckets.dynamic_buckets import bucket_limit
from paimon_explore.write.buckets.partition_grouping import Partitions, partitions_of
from paimon_explore.write.input.row_kinds import DELETE

_NONE = -1
_VALUE_KIND = "_VALUE_KIND"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKeys:
    """Keys of one bucket.

    Attributes:
        partition: the partition's binary row with its arity.
        bucket: the bucket.
        columns: the primary-key columns, in key order, n rows each.
    """

    partition: bytes
    bucket: int
    columns: Sequence[Column]


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows with where they go.

    Attributes:
        rows: n rows, in the order in which they are to be written.
        partitions: of the n rows.
        buckets: of the n rows.
    """

    rows: pa.RecordBatch
    partitions: Partitions
    buckets: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The rows of a batch in the order of their keys, those of one key as they came.

    Attributes:
        order: row numbers.
        slots: the number of each row's key, by row number.
        partitions: the number of each row's own partition, by row number.
        is_first: whether it is the first row of its key, in the order.
    """

    order: Ints
    slots: Ints
    partitions: Ints
    is_first: Bools


class KeyIndex:
    """Partition and bucket of every key.

    Args:
        schema: of the table.
        options: in force.
        known: the keys of the table.
        seen: the snapshot whose keys these are; None if it does not matter.

    Attributes:
        seen: the same.
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
        self._keys: pa.BinaryArray = _joined([self._encoded(part.columns) for part in parts])
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

    def place(self, rows: pa.RecordBatch) -> Placed:
        """Where rows go, with what has to be written besides.

        Args:
            rows: with the table's columns and `_VALUE_KIND` as the last one.

        Raises:
            InvalidInputError: a partition needs more buckets than there may be.
        """
        batch = self._looked_up(rows)
        match self._engine:
            case MergeEngine.DEDUPLICATE:
                return self._moved(rows, batch)
            case MergeEngine.PARTIAL_UPDATE | MergeEngine.AGGREGATION:
                return self._brought_home(rows, batch, keeps_strangers=True)
            case MergeEngine.FIRST_ROW:
                return self._brought_home(rows, batch, keeps_strangers=False)

    def _looked_up(self, rows: pa.RecordBatch) -> _Batch:
        """Keys and partitions of rows by number; new keys are remembered, without a place."""
        own = partitions_of(rows, self._schema.partition_type)
        numbers = np.array([self._number(key) for key in own.keys], np.int64)[own.numbers]
        encoded = self._encoded([rows.column(name) for name in self._schema.primary_keys])
        different = encoded.dictionary_encode()
        options = pc.SetLookupOptions(value_set=self._keys)
        slots = _numbers(pc.call_function("index_in", [different.dictionary], options))
        fresh = np.flatnonzero(slots == _NONE)
        slots[fresh] = len(self._partition) + np.arange(len(fresh))
        if len(fresh):
            new = different.dictionary.take(_positions(fresh))  # type: ignore[arg-type]  # int64
            self._keys = _joined([self._keys, new])  # type: ignore[list-item]  # binaries
            nowhere = np.full(len(fresh), _NONE, np.int64)
            self._partition = np.concatenate([self._partition, nowhere])
            self._bucket = np.concatenate([self._bucket, nowhere])
        by_row = slots[_numbers(different.indices)]
        order = np.argsort(by_row, kind="stable")
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = by_row[order][1:] != by_row[order][:-1]
        return _Batch(order, by_row, numbers, is_first)

    # ------------------------------------------------------------ deduplicate

    def _moved(self, rows: pa.RecordBatch, batch: _Batch) -> Placed:
        """Rows in their own partitions, and a deletion wherever a key leaves one."""
        slots, own = batch.slots[batch.order], batch.partitions[batch.order]
        before = np.concatenate([[_NONE], own[:-1]]) if len(own) else own
        before[batch.is_first] = self._partition[slots[batch.is_first]]
        begins = before != own
        stays = np.cumsum(begins | batch.is_first) - 1
        starts = np.flatnonzero(begins | batch.is_first)
        buckets = self._bucket[slots[starts]]
        needed = np.flatnonzero(begins[starts])
        in_order = needed[np.argsort(batch.order[starts[needed]], kind="stable")]
        buckets[in_order] = self._assigned(own[starts[in_order]])
        by_row = buckets[stays]
        leaves = np.flatnonzero(begins & (before != _NONE))
        left = np.where(
            batch.is_first[leaves], self._bucket[slots[leaves]], by_row[np.maximum(leaves - 1, 0)]
        )
        self._forget(before[leaves], left)
        lasts = np.flatnonzero(np.append(batch.is_first[1:], np.ones(min(len(own), 1), np.bool_)))
        self._partition[slots[lasts]] = own[lasts]
        self._bucket[slots[lasts]] = by_row[lasts]
        gone = batch.order[leaves]
        return self._interleaved(rows, batch, (by_row, gone, before[leaves], left))

    def _interleaved(
        self, rows: pa.RecordBatch, batch: _Batch, moves: tuple[Ints, Ints, Ints, Ints]
    ) -> Placed:
        """All rows as they came, each deletion right before the row that causes it."""
        sorted_buckets, gone, old, left = moves
        buckets = np.empty(rows.num_rows, np.int64)
        buckets[batch.order] = sorted_buckets
        if not len(gone):
            return self._placed(rows, batch.partitions, buckets)
        sources = np.concatenate([np.arange(rows.num_rows), gone])
        is_deletion = np.concatenate(
            [np.zeros(rows.num_rows, np.bool_), np.ones(len(gone), np.bool_)]
        )
        order = np.lexsort((~is_deletion, sources))
        partitions = np.concatenate([batch.partitions, old])[order]
        all_buckets = np.concatenate([buckets, left])[order]
        whole = rows.take(_positions(sources[order]))  # type: ignore[arg-type]  # int64
        whole = self._in_partitions(whole, partitions, is_deletion[order])
        return self._placed(_deleting(whole, is_deletion[order]), partitions, all_buckets)

    # ------------------------------------------------------------ other engines

    def _brought_home(
        self, rows: pa.RecordBatch, batch: _Batch, *, keeps_strangers: bool
    ) -> Placed:
        """Rows in the partition where their key lives, which is that of its first row."""
        slots, own = batch.slots[batch.order], batch.partitions[batch.order]
        firsts = np.flatnonzero(batch.is_first)
        fresh = firsts[self._partition[slots[firsts]] == _NONE]
        in_order = fresh[np.argsort(batch.order[fresh], kind="stable")]
        self._partition[slots[in_order]] = own[in_order]
        self._bucket[slots[in_order]] = self._assigned(own[in_order])
        home, buckets = self._partition[batch.slots], self._bucket[batch.slots]
        strange = home != batch.partitions
        if not strange.any():
            return self._placed(rows, home, buckets)
        if keeps_strangers:
            return self._placed(self._in_partitions(rows, home, strange), home, buckets)
        kept = np.flatnonzero(~strange)
        left = rows.take(_positions(kept))  # type: ignore[arg-type]  # int64
        return self._placed(left, home[kept], buckets[kept])

    # ------------------------------------------------------------ buckets and partitions

    def _assigned(self, partitions: Ints) -> Ints:
        """A bucket for each of n keys that are new in these partitions."""
        buckets = np.empty(len(partitions), np.int64)
        for number in np.unique(partitions).tolist():
            wanted = np.flatnonzero(partitions == number)
            start = 0
            while start < len(wanted):
                bucket, room = self._open_bucket(number)
                taken = min(room, len(wanted) - start)
                buckets[wanted[start : start + taken]] = bucket
                self._counts[number, bucket] = self._counts.get((number, bucket), 0) + taken
                start += taken
        return buckets

    def _open_bucket(self, partition: int) -> tuple[int, int]:
        """The first bucket of a partition that is not full, and how many keys it still takes."""
        for bucket in range(self._max_buckets):
            room = self._target_rows - self._counts.get((partition, bucket), 0)
            if room > 0:
                return bucket, room
        raise InvalidInputError(
            f"All {self._max_buckets} buckets of the partition are full.",
            hint="Increase 'dynamic-bucket.max-buckets' or 'dynamic-bucket.target-row-num'.",
        )

    def _forget(self, partitions: Ints, buckets: Ints) -> None:
        places, counts = np.unique(np.stack([partitions, buckets]), axis=1, return_counts=True)
        for (partition, bucket), count in zip(places.T.tolist(), counts.tolist(), strict=True):
            self._counts[partition, bucket] -= count

    def _in_partitions(
        self, rows: pa.RecordBatch, partitions: Ints, changed: Bools
    ) -> pa.RecordBatch:
        """The rows with the partition columns of other partitions, where told."""
        row_type = self._schema.partition_type
        keys = pa.array(list(self._numbers), pa.binary())
        values = decode_rows(keys, [field.type for field in row_type], where="partition")
        count = rows.num_rows
        source = np.where(changed, count + partitions, np.arange(count))
        for field, column in zip(row_type, values, strict=True):
            at = rows.schema.get_field_index(field.name)
            both: Column = pa.concat_arrays([rows.column(at), column])
            rows = rows.set_column(at, rows.schema.field(at), both.take(_positions(source)))  # type: ignore[arg-type]  # int64
        return rows

    def _placed(self, rows: pa.RecordBatch, partitions: Ints, buckets: Ints) -> Placed:
        used, numbers = np.unique(partitions, return_inverse=True)
        known = list(self._numbers)
        keys = Partitions(numbers.astype(np.int64), tuple(known[number] for number in used))
        return Placed(rows, keys, buckets.astype(np.int32))


def _deleting(rows: pa.RecordBatch, gone: Bools) -> pa.RecordBatch:
    """The rows, some of them as deletions."""
    at = rows.schema.get_field_index(_VALUE_KIND)
    kinds = fixed_values(rows.column(at), np.int8).astype(np.int8)
    kinds = np.where(gone, np.int8(DELETE), kinds)
    column = build_fixed(pa.int8(), kinds, np.ones(len(kinds), np.bool_))
    return rows.set_column(at, rows.schema.field(at), column)


def _joined(parts: Sequence[pa.BinaryArray]) -> pa.BinaryArray:
    if not parts:
        return pa.array([], pa.binary())
    return parts[0] if len(parts) == 1 else pa.concat_arrays(list(parts))


def _positions(rows: Ints) -> Column:
    return build_fixed(pa.int64(), rows.astype(np.int64), np.ones(len(rows), np.bool_))


def _numbers(found: Column) -> Ints:
    """32-bit numbers as 64-bit ones; -1 for null."""
    values = fixed_values(found, np.int32).astype(np.int64)
    values[~valid_mask(found)] = _NONE
    return values
