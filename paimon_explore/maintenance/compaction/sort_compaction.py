"""Sort compaction of append tables, which makes column statistics more selective.

| strategy | sort order |
| --- | --- |
| order | lexicographic by the columns, nulls first |
| zorder, hilbert | the position on this space-filling curve |
| auto | order for one column, zorder for up to four, else hilbert |

All rows of a partition are sorted in memory. An OVERWRITE commit replaces the files; it fails if
one of them has been removed in the meantime, and keeps rows that others appended.

With `clustering.incremental` a normal compaction sorts: its files become a sorted run on a level
above 0, and the next compaction only sorts newer files (commit kind COMPACT).

Spec: append-table, sort compaction and incremental clustering.
Seen in: golden java200/clustering_incremental.

Space-filling curves: z-order and Hilbert order of rows by several columns.

Each value is mapped to a 64-bit key whose unsigned order is that of the values, nulls first; a
string or binary value to its first eight bytes. Z-order interleaves the bits of the keys; the
Hilbert order is computed as in J. Skilling, "Programming the Hilbert curve" (2004).

Spec: append-table, sort compaction.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.array_sizes import check_fits, fits_array, taken
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    bool_values,
    concat_arrays,
    concat_batches,
    empty_array,
    float64_values,
    int64_values,
    valid_mask,
    var_values,
)
from paimon_explore.data_types.definitions import (
    FLOATS,
    INTEGERS,
    TIMESTAMPS,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

STRATEGIES = ("order", "zorder", "hilbert", "auto")
_MAX_Z_ORDER_COLUMNS = 4
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """The sort order of rows.

    Attributes:
        strategy: order, zorder or hilbert.
        columns: the columns to sort by.
    """

    strategy: str
    columns: tuple[DataField, ...]

    def sorted_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sort rows; equal rows keep their order.

        Raises:
            InvalidInputError: the values of a column to sort by take more than 2 GiB.
        """
        unsorted = [batch for batch in batches if batch.num_rows]
        if not unsorted:
            return
        parts = [self._whole(unsorted, field.name) for field in self.columns]
        count = sum(batch.num_rows for batch in unsorted)
        if self.strategy == "order":
            order = np.argsort(ranks(parts, count=count), kind="stable")
        else:
            keys = [
                sort_keys(part, field.type) for part, field in zip(parts, self.columns, strict=True)
            ]
            order = z_order(keys) if self.strategy == "zorder" else hilbert_order(keys)
        if all(map(fits_array, zip(*(batch.columns for batch in unsorted), strict=True))):
            unsorted = [concat_batches(unsorted)]
        for start in range(0, count, _BATCH_ROWS):
            yield from taken(unsorted, order[start : start + _BATCH_ROWS])

    def _whole(self, batches: Sequence[pa.RecordBatch], name: str) -> Column:
        columns = pa.Table.from_batches([batch.select([name]) for batch in batches])
        check_fits(columns, "to sort by", "Sort by another column, or compact fewer partitions.")
        return concat_arrays(columns.column(0).chunks)


def row_order(
    schema: TableSchema, options: TableOptions, strategy: str | None, columns: Sequence[str]
) -> RowOrder:
    """Return the sort order given by the caller, or else by the table's options.

    Raises:
        InvalidInputError: the strategy or a column is unknown, or there are no columns.
        UnsupportedFeatureError: a column's type has no order.
    """
    names = tuple(columns) or options.value(opt.CLUSTERING_COLUMNS)
    name = (strategy or options.value(opt.CLUSTERING_STRATEGY)).lower().replace("-", "")
    if name not in STRATEGIES:
        raise InvalidInputError(
            f"Unknown strategy {name!r}.", hint=f"Use one of {choices(STRATEGIES)}."
        )
    if not names:
        raise InvalidInputError(
            "Sorting a table requires at least one column.",
            hint=f"Pass columns=[…], or set the option {opt.CLUSTERING_COLUMNS.key!r}.",
        )
    unknown = [name for name in names if schema.field(name) is None]
    if unknown:
        raise InvalidInputError(
            f"The table has no column {unknown[0]!r}.",
            hint=f"Columns: {choices(schema.row_type.names)}.",
        )
    fields = schema.project(names).fields
    for field in fields:
        try:
            sort_keys(empty_array(to_arrow(field.type)), field.type)
        except UnsupportedFeatureError as error:
            raise UnsupportedFeatureError(
                f"sorting rows by column {field.name!r} of type {type_text(field.type)}",
                hint="Sort by columns of other types.",
            ) from error
    if name == "auto":
        name = "order" if len(names) == 1 else "zorder"
        name = "hilbert" if len(names) > _MAX_Z_ORDER_COLUMNS else name
    return RowOrder(strategy=name, columns=fields)


SortKeys = npt.NDArray[np.uint64]

_BITS = 64
_PREFIX = 8
_SIGN = np.uint64(1 << 63)
_ONE = np.uint64(1)
_INTEGERS = INTEGERS | TIMESTAMPS | {TypeRoot.DATE, TypeRoot.TIME}
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})


def sort_keys(column: Column, data_type: DataType) -> SortKeys:
    """Map values to 64-bit keys in the order of the values; 0 for nulls.

    Raises:
        UnsupportedFeatureError: the type has no order.
    """
    valid = valid_mask(column)
    return np.where(valid, _sort_keys(column, data_type), np.uint64(0))


def _sort_keys(column: Column, data_type: DataType) -> SortKeys:
    if not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError(f"ordering rows by a column of type {type_text(data_type)}")
    root = data_type.root
    if root in _INTEGERS:
        return int64_values(column).view(np.uint64) ^ _SIGN
    if root in FLOATS:
        return _floating(float64_values(column))
    if root in _TEXTS:
        return _prefixes(column)
    if root is TypeRoot.BOOLEAN:
        return bool_values(column).astype(np.uint64) + _ONE
    if root is TypeRoot.DECIMAL:
        return _floating(np.asarray(column.cast(pa.float64()).fill_null(0.0), np.float64))
    raise UnsupportedFeatureError(f"ordering rows by a column of type {root.value}")


def _floating(values: npt.NDArray[np.float64]) -> SortKeys:
    bits = np.ascontiguousarray(values).view(np.uint64)
    found: SortKeys = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return found


def _prefixes(column: Column) -> SortKeys:
    ends, data = var_values(column)
    starts, sizes = ends[:-1], np.diff(ends)
    keys = np.zeros(len(column), np.uint64)
    padded = np.concatenate([data, np.zeros(_PREFIX, np.uint8)])
    for index in range(_PREFIX):
        found = np.where(sizes > index, padded[starts + np.minimum(index, sizes)], 0)
        keys |= found.astype(np.uint64) << np.uint64(8 * (_PREFIX - 1 - index))
    return keys


def z_order(columns: Sequence[SortKeys]) -> Ints:
    """Return row numbers in z-order."""
    return _lexicographic_order(_interleaved(columns))


def hilbert_order(columns: Sequence[SortKeys]) -> Ints:
    """Return row numbers in Hilbert order."""
    if len(columns) == 1:
        return z_order(columns)
    return _lexicographic_order(_interleaved(_transposed(columns)))


def _lexicographic_order(keys: Sequence[SortKeys]) -> Ints:
    return np.lexsort(list(keys)[::-1]).astype(np.int64)


def _interleaved(columns: Sequence[SortKeys]) -> list[SortKeys]:
    """Interleave the bits of n keys per row into n keys, highest bits first."""
    count = len(columns)
    keys = [np.zeros_like(columns[0]) for _ in columns]
    for index in range(_BITS * count):
        bit = (columns[index % count] >> np.uint64(_BITS - 1 - index // count)) & _ONE
        keys[index // _BITS] |= bit << np.uint64(_BITS - 1 - index % _BITS)
    return keys


def _transposed(columns: Sequence[SortKeys]) -> list[SortKeys]:
    """Transform coordinates to the transposed Hilbert index, which is interleaved afterwards."""
    x = [column.copy() for column in columns]
    for shift in range(_BITS - 1, 0, -1):
        top, below = _ONE << np.uint64(shift), (_ONE << np.uint64(shift)) - _ONE
        for axis in range(len(x)):
            inverts = (x[axis] & top) != 0
            swapped = np.where(inverts, np.uint64(0), (x[0] ^ x[axis]) & below)
            x[0] = np.where(inverts, x[0] ^ below, x[0] ^ swapped)
            x[axis] = x[axis] ^ swapped if axis else x[axis]
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    turned = np.zeros_like(x[0])
    for shift in range(_BITS - 1, 0, -1):
        top = _ONE << np.uint64(shift)
        turned ^= np.where((x[-1] & top) != 0, top - _ONE, np.uint64(0))
    return [axis ^ turned for axis in x]
