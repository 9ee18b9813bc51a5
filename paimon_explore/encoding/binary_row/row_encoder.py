"""Vectorized encoder of columns of any type to the cells of binary rows and binary arrays.

Columns are encoded level by level: the elements of all arrays of a column are encoded to cells at
once, then packed into one binary array per value; these are the variable-length values of the cells
of the array column.

Spec: concepts/spec, binary row; the layouts are those of Java's BinaryArray and BinaryMap.

Encoder of binary rows, in which Paimon stores, hashes and compares partitions and keys.

A row consists of a header (row kind, null bits), a fixed part of 8 bytes per field and a variable
part, all little-endian. In manifests it is preceded by its arity (number of fields) as big-endian
int32.

Spec: concepts/spec/manifest, binary row. Seen in: golden java200/all_types_pk_parquet.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Bytes,
    Column,
    Ints,
    ListColumn,
    MapColumn,
    UInt64s,
    VectorColumn,
)
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.encoding.binary_row.primitive_encoder import (
    Cells,
    encode_atomic,
    variable_cells,
)
from paimon_explore.encoding.binary_row.row_layout import (
    ARITY_BYTES,
    fixed_width,
    row_header,
)
from paimon_explore.encoding.binary_row.single_row_encoder import MAX_ROWS, encode_single_rows
from paimon_explore.errors import InvalidInputError


def encode_cells(array: Column, data_type: DataType, *, reserve: bool) -> Cells:
    """Encode a column to n cells.

    Args:
        array: n values in `to_arrow(data_type)`.
        data_type: the type of the column.
        reserve: whether nulls of wide decimals and timestamps reserve space.

    Raises:
        InvalidInputError: the array has another type.
    """
    match (data_type, array):
        case (AtomicType(), _) if array.type.equals(to_arrow(data_type)):
            return encode_atomic(array, data_type, reserve=reserve)
        case (RowType(), pa.StructArray()):
            return _encode_row(array, data_type, reserve=reserve)
        case (ArrayType(), pa.ListArray()):
            return _encode_array(array, data_type)
        case (VectorType(), pa.FixedSizeListArray()):
            return _encode_vector(array, data_type)
        case ((MapType() | MultisetType()), pa.MapArray()):
            return _encode_map(array, *entry_types(data_type))
        case _:
            message = (
                f"A column of type {type_text(data_type)} must be Arrow {to_arrow(data_type)}, "
                f"not {array.type}."
            )
            raise InvalidInputError(message, hint="Cast the column first.")


def _encode_row(array: pa.StructArray, data_type: RowType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    cells = []
    for index, field in enumerate(data_type.fields):
        child = array.field(index)
        kept = child if valid.all() else nb.filter_rows(child, valid)
        cells.append(encode_cells(kept, field.type, reserve=reserve))
    starts, data = pack_rows(cells, int(valid.sum()))
    sizes = np.zeros(len(valid), np.int64)
    sizes[valid] = np.diff(starts)
    return variable_cells(sizes, valid, sizes, data)


def pack_rows(columns: list[Cells], count: int) -> tuple[Ints, Bytes]:
    """Pack the cells of columns into rows.

    Args:
        columns: k columns of `count` cells each.
        count: number of rows.

    Returns:
        Offsets (count + 1) and the concatenated rows; each has a multiple of 8 bytes.
    """
    header = row_header(len(columns))
    fixed = header + nb.WORD_BYTES * len(columns)
    sizes = np.full(count, fixed, np.int64)
    for cells in columns:
        if cells.present is not None:
            sizes += cells.sizes
    starts = nb.offsets_from_sizes(sizes)
    words = np.zeros(starts[-1] // nb.WORD_BYTES, np.uint64)
    heads = starts[:-1] // nb.WORD_BYTES
    if not all(cells.valid.all() for cells in columns):
        words[heads[:, None] + np.arange(header // nb.WORD_BYTES)] = _null_words(
            columns, count, header
        )
    cursor = np.full(count, fixed, np.int64)
    for index, cells in enumerate(columns):
        slots = cells.fixed.astype(np.uint64)
        if cells.present is not None:
            slots |= np.where(cells.present, cursor, 0).astype(np.uint64) << np.uint64(32)
            targets = nb.expand_ranges(
                heads + cursor // nb.WORD_BYTES, cells.sizes // nb.WORD_BYTES
            )
            words[targets] = cells.data.view(np.uint64)
            cursor += cells.sizes
        words[heads + (header // nb.WORD_BYTES + index)] = slots
    return starts, words.view(np.uint8)


def _null_words(columns: list[Cells], count: int, header: int) -> UInt64s:
    bits = np.zeros((count, header * 8), np.bool_)
    for index, cells in enumerate(columns):
        bits[:, 8 + index] = ~cells.valid
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _encode_array(array: ListColumn, data_type: ArrayType) -> Cells:
    valid = nb.valid_mask(array)
    starts, counts = list_ranges(array, valid)
    elements = list_elements(array.values, starts, counts)
    sizes, data = _pack_arrays(counts, elements, data_type.element)
    sizes, data = _drop_nulls(sizes, data, valid)
    return variable_cells(sizes, valid, sizes, data)


def list_ranges(array: Column, valid: Bools) -> tuple[Ints, Ints]:
    """Return the start of each list in the child array, and its length; 0 for null."""
    offsets = nb.list_offsets(array)
    return offsets[:-1], np.where(valid, np.diff(offsets), 0)


def list_elements(children: Column, starts: Ints, counts: Ints) -> Column:
    """Return the elements of consecutive lists, without those of null lists."""
    total = int(counts.sum())
    first = int(starts[0]) if len(starts) else 0
    if total == 0 or bool((starts + counts)[-1] - first == total):
        return children.slice(first, total)
    return nb.take_rows(children, nb.expand_ranges(starts, counts))


def _drop_nulls(sizes: Ints, data: Bytes, valid: Bools) -> tuple[Ints, Bytes]:
    """Remove the (empty) arrays of nulls."""
    if valid.all():
        return sizes, data
    starts = nb.offsets_from_sizes(sizes)[:-1]
    kept = np.where(valid, sizes, 0)
    return kept, nb.gather(data, starts, kept)[1]


def _pack_arrays(counts: Ints, elements: Column, data_type: DataType) -> tuple[Ints, Bytes]:
    """Encode arrays of `counts` consecutive elements; their sizes are multiples of 8."""
    cells = _canonical_nan(encode_cells(elements, data_type, reserve=False), data_type)
    width = fixed_width(data_type)
    header = 4 + (counts + 31) // 32 * 4
    fixed = nb.round_up(header + width * counts)
    item_ends = nb.offsets_from_sizes(cells.item_sizes())
    firsts = nb.offsets_from_sizes(counts)
    sizes = fixed + item_ends[firsts[1:]] - item_ends[firsts[:-1]]
    starts = nb.offsets_from_sizes(sizes)
    out = np.zeros(starts[-1], np.uint8)
    out.view("<u4")[starts[:-1] // 4] = counts
    owners = np.repeat(np.arange(len(counts)), counts)
    ranks = np.arange(len(elements)) - firsts[:-1][owners]
    heads = starts[:-1][owners]
    nulls = ~cells.valid
    bits = (1 << (ranks[nulls] & 7)).astype(np.uint8)
    np.bitwise_or.at(out, heads[nulls] + 4 + (ranks[nulls] >> 3), bits)
    parts = cells.fixed
    if cells.present is not None:
        local = fixed[owners] + item_ends[:-1] - item_ends[firsts[:-1]][owners]
        parts = parts | (np.where(cells.present, local, 0).astype(np.uint64) << np.uint64(32))
        out.view(np.uint64)[
            nb.expand_ranges((heads + local) // nb.WORD_BYTES, cells.sizes // nb.WORD_BYTES)
        ] = cells.data.view(np.uint64)
    _store_fixed(out, heads + header[owners] + ranks * width, parts)
    return sizes, out


def _store_fixed(out: Bytes, positions: Ints, parts: npt.NDArray[np.unsignedinteger]) -> None:
    """Store fixed parts at positions, which are aligned to 4 bytes only."""
    unit = min(parts.dtype.itemsize, 4)
    units = np.ascontiguousarray(parts).view(f"<u{unit}")
    if parts.dtype.itemsize > unit:
        places = (positions // unit)[:, None] + np.arange(2)
        out.view(f"<u{unit}")[places] = units.reshape(-1, 2)
    else:
        out.view(f"<u{unit}")[positions // unit] = units


def _canonical_nan(cells: Cells, data_type: DataType) -> Cells:
    """Replace all NaNs by the canonical one, as Java does in arrays."""
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if root not in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return cells
    kind, bits = ("<f4", 0x7FC00000) if root is TypeRoot.FLOAT else ("<f8", 0x7FF8 << 48)
    is_nan = np.isnan(cells.fixed.view(kind))
    fixed = np.where(is_nan, cells.fixed.dtype.type(bits), cells.fixed)
    return Cells(fixed, cells.valid, cells.present, cells.sizes, cells.data)


def _encode_vector(array: VectorColumn, data_type: VectorType) -> Cells:
    valid = nb.valid_mask(array)
    length = data_type.length
    elements = array.values.slice(array.offset * length, len(array) * length)
    cells = encode_cells(elements, data_type.element, reserve=False)
    width = fixed_width(data_type.element)
    if cells.present is not None:
        raise InvalidInputError("The elements of a vector must be numbers or booleans.")
    size = 4 + width * length
    images = np.zeros((len(array), int(nb.round_up(np.array([size]))[0])), np.uint8)
    images[:, :4] = np.array([length], "<u4").view(np.uint8)
    body = np.ascontiguousarray(cells.fixed).view(np.uint8)
    images[:, 4:size] = body.reshape(len(array), width * length)
    sizes = valid * np.int64(images.shape[1])
    return variable_cells(
        np.full(len(array), size, np.int64), valid, sizes, images[valid].reshape(-1)
    )


def _encode_map(array: MapColumn, key: DataType, value: DataType) -> Cells:
    valid = nb.valid_mask(array)
    firsts, counts = list_ranges(array, valid)
    key_sizes, keys = _pack_arrays(counts, list_elements(array.keys, firsts, counts), key)
    value_sizes, values = _pack_arrays(counts, list_elements(array.items, firsts, counts), value)
    lengths = 4 + key_sizes + value_sizes
    sizes = nb.round_up(lengths)
    starts = nb.offsets_from_sizes(sizes)
    out = np.zeros(starts[-1], np.uint8)
    words = out.view("<u4")
    heads = starts[:-1] // 4
    words[heads] = key_sizes
    words[nb.expand_ranges(heads + 1, key_sizes // 4)] = keys.view("<u4")
    words[nb.expand_ranges(heads + 1 + key_sizes // 4, value_sizes // 4)] = values.view("<u4")
    sizes, out = _drop_nulls(sizes, out, valid)
    return variable_cells(lengths, valid, sizes, out)


def encode_rows(
    columns: Sequence[Column],
    types: Sequence[DataType],
    *,
    reserve_nulls: bool = True,
    count: int | None = None,
) -> pa.BinaryArray:
    """Encode rows without arity.

    Args:
        columns: k columns of n values each, exactly in `to_arrow(type)`.
        types: the k types.
        reserve_nulls: whether nulls of wide decimals and timestamps reserve space; True for
            partitions, keys and bucket keys, and for statistics since release 1.2.
        count: n, required without columns.

    Returns:
        n rows, row kind +I, none null.

    >>> from paimon_explore.data_types.definitions import AtomicType, TypeRoot
    >>> rows = encode_rows([pa.array([1], pa.int32())], [AtomicType(root=TypeRoot.INT)])
    >>> rows[0].as_py().hex()
    '00000000000000000100000000000000'
    """
    size = len(columns[0]) if columns else (count or 0)
    few = encode_single_rows(columns, types, size) if reserve_nulls and size <= MAX_ROWS else None
    if few is not None:
        return nb.build_values(few, pa.binary())  # type: ignore[return-value]  # in stubs
    cells = [
        encode_cells(column, data_type, reserve=reserve_nulls)
        for column, data_type in zip(columns, types, strict=True)
    ]
    offsets, data = pack_rows(cells, size)
    return nb.build_binary(offsets, data)


def row_images(
    columns: Sequence[Column], types: Sequence[DataType], *, count: int | None = None
) -> list[bytes]:
    """Encode rows with arity, as in manifests, to Python bytes.

    Args:
        columns: as for `encode_rows`.
        types: as for `encode_rows`.
        count: number of rows, required without columns.
    """
    size = len(columns[0]) if columns else (count or 0)
    few = encode_single_rows(columns, types, size) if size <= MAX_ROWS else None
    if few is None:
        few = [row.as_py() or b"" for row in encode_rows(columns, types, count=size)]
    head = len(types).to_bytes(ARITY_BYTES, "big")
    return [head + image for image in few]
