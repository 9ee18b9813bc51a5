"""Sizes of Arrow arrays: what fits into one array, and what has to be divided.

Columns of tables have Arrow's types with 32-bit offsets, whose values end at 2 GiB.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    as_bytes,
    build_fixed,
    concat_batches,
    int64_values,
    is_large,
    list_offsets,
    take_column,
    valid_mask,
    var_values,
)
from paimon_explore.errors import InvalidInputError

_VIEW_WORDS = 4
_LISTS = (
    pa.ListArray,
    pa.LargeListArray,
    pa.FixedSizeListArray,
    pa.ListViewArray,
    pa.LargeListViewArray,
)
_MAX_BYTES = 2**31 - 1


def decoded_size(array: Column) -> int:
    """Return the bytes of the values without encoding; of rows, those of the largest field."""
    if isinstance(array, pa.ExtensionArray):
        return decoded_size(array.storage)
    if isinstance(array, pa.StructArray):
        return max(map(decoded_size, array.flatten()), default=0)
    if isinstance(array, pa.MapArray):
        offsets = list_offsets(array)
        return decoded_size(array.values.slice(offsets[0], offsets[-1] - offsets[0]))
    if isinstance(array, _LISTS):
        return decoded_size(array.flatten())
    if isinstance(array, pa.DictionaryArray):
        sizes = build_fixed(pa.int64(), _value_sizes(array.dictionary))
        return int(int64_values(take_column(sizes, array.indices)).sum())
    return int(_value_sizes(array).sum()) if _is_view(array.type) else array.nbytes


def _value_sizes(array: Column) -> Ints:
    """Return the bytes of each value; of types that are neither text nor binary, the average."""
    if _is_view(array.type):
        views = as_bytes(array.buffers()[1]).view(np.int32).reshape(-1, _VIEW_WORDS)
        sizes = views[array.offset : array.offset + len(array), 0].astype(np.int64)
        return np.where(valid_mask(array), sizes, 0)
    if pa.types.is_binary(kind := array.type) or pa.types.is_string(kind) or is_large(kind):
        return np.diff(var_values(array)[0])
    return np.full(len(array), array.nbytes // max(len(array), 1))


def _is_view(data_type: pa.DataType) -> bool:
    return pa.types.is_string_view(data_type) or pa.types.is_binary_view(data_type)


def within_size(batch: pa.RecordBatch, size: int = 1 << 28) -> Iterator[pa.RecordBatch]:
    """Divide a batch so that the values of each column take at most this many bytes.

    Columns of tables have 32-bit offsets, which end at 2 GiB: buffered rows, a batch and what their
    merge returns have to fit together. A single row may be larger.
    """
    rows = batch.num_rows
    if rows <= 1 or max(map(decoded_size, batch.columns), default=0) <= size:
        yield batch
        return
    for part in (batch.slice(0, rows // 2), batch.slice(rows // 2)):
        for smaller in within_size(part, size):
            columns = [*map(without_surroundings, smaller.columns)]
            yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def without_surroundings(array: Column) -> Column:
    """Return a slice without the values around it, which Arrow would cast, too."""
    has_offsets = pa.types.is_nested(array.type) and not pa.types.is_fixed_size_list(array.type)
    if is_large(array.type) or has_offsets:
        return pa.concat_arrays([array, array.slice(0, 0)])
    return array


def fits_array(columns: Sequence[Column]) -> bool:
    """Return whether the values of arrays of one type fit into one array; BLOB values always do."""
    is_blob = bool(columns) and pa.types.is_large_binary(columns[0].type)
    return is_blob or sum(map(decoded_size, columns)) <= _MAX_BYTES


def check_fits(rows: pa.Table, purpose: str, hint: str) -> None:
    """Check that each column of a table fits into one array.

    Args:
        rows: the table.
        purpose: what its values are too many for, for the error.
        hint: what to do instead.

    Raises:
        InvalidInputError: a column does not.
    """
    for name, values in zip(rows.column_names, rows.columns, strict=True):
        if not fits_array(values.chunks):
            raise InvalidInputError(
                f"Column {name!r} has more than 2 GiB of values, too many {purpose}.", hint=hint
            )


def taken(batches: Sequence[pa.RecordBatch], positions: Ints) -> Iterator[pa.RecordBatch]:
    """Select rows of batches of the same columns, in several batches if they are too large.

    Args:
        batches: at least one.
        positions: of the rows in the concatenated batches.
    """
    ends = np.cumsum([batch.num_rows for batch in batches])
    sources = np.searchsorted(ends, positions, "right")
    parts: list[pa.RecordBatch] = []
    for at in np.unique(sources):
        local = positions[sources == at] - (ends[at] - batches[at].num_rows)
        parts.append(batches[at].take(build_fixed(pa.int64(), local)))
    columns = zip(*(part.columns for part in parts), strict=True)
    if len(positions) > 1 and not all(map(fits_array, columns)):
        half = len(positions) // 2
        yield from taken(batches, positions[:half])
        yield from taken(batches, positions[half:])
        return
    rows = concat_batches(parts)
    if len(parts) > 1:
        places = np.argsort(np.argsort(sources, kind="stable"))
        rows = rows.take(build_fixed(pa.int64(), places))  # type: ignore[arg-type]  # in stubs
    yield rows
