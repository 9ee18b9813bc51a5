"""Encoder of binary rows, in which Paimon stores, hashes and compares partitions and keys.

A row consists of a header (row kind, null bits), a fixed part of 8 bytes per field and a variable
part, all little-endian. In manifests it is preceded by its arity (number of fields) as big-endian
int32.

Spec: concepts/spec/manifest, binary row. Seen in: golden java200/all_types_pk_parquet.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.binary_row.decoder import ByteRanges, Source, decode_fields
from paimon_explore.encoding.binary_row.nested_encoder import encode_cells, pack_rows, row_header
from paimon_explore.encoding.binary_row.single_row_encoder import (
    KIND_BITS,
    MAX_ROWS,
    encode_single_rows,
)
from paimon_explore.errors import CorruptFileError

ARITY_BYTES = 4
_HAS_ARITY = "a row must start with its number of fields"
EMPTY_ROW = bytes(12)
"""A row without fields, with its arity: the partition of unpartitioned tables."""


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
        offsets = nb.offsets_from_sizes(np.array([len(image) for image in few], np.int64))
        return nb.build_binary(offsets, nb.as_bytes(b"".join(few)), np.ones(size, np.bool_))
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


def null_fields(row: bytes, arity: int) -> tuple[bool, ...]:
    """Return which fields of a row are null.

    Args:
        row: a row with arity.
        arity: the expected number of fields.

    Raises:
        CorruptFileError: the row has another number of fields, or is too short.
    """
    header = row[ARITY_BYTES : ARITY_BYTES + row_header(arity)]
    if int.from_bytes(row[:ARITY_BYTES], "big") != arity or len(header) < row_header(arity):
        raise CorruptFileError("", "a row", f"must have {arity} fields")
    bits = int.from_bytes(header, "little") >> KIND_BITS
    return tuple(bool(bits >> index & 1) for index in range(arity))


def arities(rows: Column, *, where: str = "") -> nb.Ints:
    """Return the arity of each row; -1 for null.

    Raises:
        CorruptFileError: a row is too short.
    """
    valid = nb.valid_mask(rows)
    begin, size, data = nb.byte_ranges(rows)
    if (valid & (size < ARITY_BYTES)).any():
        raise CorruptFileError(where, "a row", _HAS_ARITY)
    found = np.full(len(rows), -1, np.int64)
    found[valid] = nb.unaligned(data, ">i4")[begin[valid]]
    return found


def all_have_arity(rows: Column, arity: int, *, where: str = "") -> bool:
    """Return whether all rows are not null and have the arity.

    Raises:
        CorruptFileError: a row is too short.
    """
    if rows.null_count:
        return bool((arities(rows, where=where) == arity).all())
    begin, size, data = nb.byte_ranges(rows)
    if (size < ARITY_BYTES).any():
        raise CorruptFileError(where, "a row", _HAS_ARITY)
    heads = nb.unaligned(data, "<u4")[begin]
    return bool((heads == _head(arity)).all())


def decode_rows(
    rows: Column,
    types: Sequence[DataType],
    *,
    where: str,
    fields: Sequence[int] | None = None,
) -> list[Column]:
    """Decode rows with arity, as in manifests, to columns.

    Args:
        rows: n rows, binary or `BYTE_VIEWS`; a null row is null in every column.
        types: the k types.
        where: name of the rows in errors, a path or field.
        fields: positions of the fields to decode; None for all.

    Returns:
        A column of n values per wanted field, in `to_arrow(type)`.

    Raises:
        CorruptFileError: a row has another number of fields, or violates the layout.
    """
    source, ranges = _row_ranges(rows, where)
    heads = source.raw(ranges.at - ARITY_BYTES, ARITY_BYTES)
    wrong = ranges.valid & (heads != _head(len(types)))
    if wrong.any():
        row = int(np.argmax(wrong))
        rule = (
            f"a row must have {len(types)} fields, not {int(heads[row].byteswap().view(np.int32))}"
        )
        raise CorruptFileError(where, f"row {row}", rule)
    return decode_fields(
        source, ranges, list(types), range(len(types)) if fields is None else fields
    )


def _head(arity: int) -> np.uint32:
    """Return the big-endian arity read as a little-endian integer, like the rest of the row."""
    return np.uint32(int.from_bytes(arity.to_bytes(ARITY_BYTES, "big"), "little"))


def _row_ranges(rows: Column, where: str) -> tuple[Source, ByteRanges]:
    """Return the bytes of rows, and the ranges of the rows without arity.

    Views usually refer to data that is followed by zeros. Null rows refer to the zeros after the
    data.
    """
    begin, size, data = nb.byte_ranges(rows)
    used = int((begin + size).max()) if isinstance(rows, pa.ListViewArray) and len(rows) else None
    source = Source(data, where, used)
    valid = nb.valid_mask(rows)
    if not rows.null_count:
        source.check(size >= ARITY_BYTES, _HAS_ARITY)
        return source, ByteRanges(begin + ARITY_BYTES, size - ARITY_BYTES, valid)
    source.check(~valid | (size >= ARITY_BYTES), _HAS_ARITY)
    at = np.where(valid, begin + ARITY_BYTES, source.size + ARITY_BYTES)
    return source, ByteRanges(at, np.where(valid, size - ARITY_BYTES, 0), valid)
