"""Decoder of a few Avro records, one value after the other.

The vectorized decoder needs some numpy calls per field, however few the records are; below some
tens of records that takes several times as long. Unusual types and damaged records are left to it:
it also raises the errors.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_bytes,
    build_fixed,
    build_list,
    build_var,
    offsets_from_sizes,
)
from paimon_explore.encoding.avro.column_decoder import null_column
from paimon_explore.encoding.avro.container import Block
from paimon_explore.encoding.avro.record_offsets import (
    Data,
    long_at,
    skipper,
    value_branch,
)
from paimon_explore.encoding.avro.schema import (
    ArrayNode,
    AvroNode,
    OptionalNode,
    PlainNode,
    Primitive,
    RecordNode,
)
from paimon_explore.errors import CorruptFileError

FEW_RECORDS = 32
"""Number of records up to which this decoder is faster."""

_VARIABLE = {Primitive.STRING: pa.string(), Primitive.BYTES: pa.binary()}

_Field: TypeAlias = "pa.Field[pa.DataType]"
_Value: TypeAlias = Any
"""A number, bytes, a list of values, or None; a record is a list of its wanted fields."""
_Read: TypeAlias = Callable[[Data, int], tuple[_Value, int]]

_MAX_READERS = 64
_readers: dict[tuple[int, int], tuple[AvroNode, Sequence[_Field], _Read]] = {}
"""Compiled functions by the ids of types and fields, which stay the same while they are here."""


def few_columns(
    blocks: Sequence[Block], node: AvroNode, fields: Sequence[_Field]
) -> list[Column] | None:
    """Decode the wanted fields of records; None to leave them to the vectorized decoder."""
    records: list[_Value] = []
    try:
        read = _compiled(node, fields)
        for block in blocks:
            position = 0
            for _ in range(block.count):
                record, position = read(block.data, position)
                records.append(record)
            if position != len(block.data):
                return None
        return [_column([r[at] for r in records], field) for at, field in enumerate(fields)]
    except (CorruptFileError, IndexError, OverflowError, TypeError, ValueError):
        return None


def _compiled(node: AvroNode, fields: Sequence[_Field]) -> _Read:
    known = _readers.get((id(node), id(fields)))
    if known is None:
        if len(_readers) >= _MAX_READERS:
            _readers.clear()
        known = _readers[id(node), id(fields)] = (node, fields, _reader(node, pa.struct(fields)))
    return known[2]


def _reader(node: AvroNode, wanted: pa.DataType) -> _Read:
    """Compile a function that returns a value and the position after it; ValueError if unusual."""
    match node:
        case PlainNode(primitive=Primitive.INT | Primitive.LONG) if pa.types.is_integer(wanted):
            return long_at
        case PlainNode(logical="") if wanted == _VARIABLE.get(node.primitive):
            return _bytes_at
        case OptionalNode(null_branch=0 | 1):
            return _optional_reader(_reader(node.inner, wanted), value_branch(node))
        case ArrayNode() if isinstance(wanted, pa.ListType):
            return _list_reader(_reader(node.items, wanted.value_type))
        case RecordNode() if isinstance(wanted, pa.StructType):
            return _record_reader(node, wanted)
        case _:
            raise ValueError


def _bytes_at(data: Data, position: int) -> tuple[_Value, int]:
    size, begin = long_at(data, position)
    end = begin + size
    if not begin <= end <= len(data):
        raise IndexError
    return data[begin:end], end


def _optional_reader(inner: _Read, value_tag: int) -> _Read:
    def read(data: Data, position: int) -> tuple[_Value, int]:
        tag = data[position]
        if tag == value_tag:
            return inner(data, position + 1)
        if tag != 2 - value_tag:
            raise IndexError
        return None, position + 1

    return read


def _list_reader(item: _Read) -> _Read:
    def read(data: Data, position: int) -> tuple[_Value, int]:
        found: list[_Value] = []
        while True:
            count, position = long_at(data, position)
            if count == 0:
                return found, position
            if not 0 < count <= len(data):
                raise IndexError
            for _ in range(count):
                value, position = item(data, position)
                found.append(value)

    return read


def _record_reader(node: RecordNode, wanted: pa.StructType) -> _Read:
    index = {field.name: at for at, field in enumerate(wanted)}
    readers = [
        (index[name], _reader(inner, wanted.field(index[name]).type))
        if name in index
        else (-1, _without_value(skipper(inner)))
        for name, inner in node.fields
    ]
    count = len(index) + 1  # the last one is for skipped fields

    def read(data: Data, position: int) -> tuple[_Value, int]:
        values: list[_Value] = [None] * count
        for at, step in readers:
            values[at], position = step(data, position)
        return values, position

    return read


def _without_value(skip: Callable[[Data, int], int]) -> _Read:
    return lambda data, position: (None, skip(data, position))


def _column(values: list[_Value], field: _Field) -> Column:
    """Build a column; raises ValueError for what the vectorized decoder refuses or does better."""
    wanted, valid = field.type, None
    if None in values:
        valid = np.array([value is not None for value in values], np.bool_)
        if not field.nullable or isinstance(wanted, pa.StructType):
            raise ValueError
        if not valid.any():
            return null_column(wanted, len(values))
    if isinstance(wanted, pa.StructType):
        children = [_column([v[at] for v in values], inner) for at, inner in enumerate(wanted)]
        return pa.Array.from_buffers(wanted, len(values), [None], children=children)
    if pa.types.is_integer(wanted):
        numbers = np.array([value or 0 for value in values], f"i{wanted.byte_width}")
        return build_fixed(wanted, numbers, valid)
    parts = [value or () for value in values]
    offsets = offsets_from_sizes(np.array([len(part) for part in parts], np.int64))
    if isinstance(wanted, pa.ListType):
        items = _column([*chain.from_iterable(parts)], wanted.value_field)
        defined = np.ones(len(values), np.bool_) if valid is None else valid
        return build_list(wanted, offsets, [items], defined)
    joined = b"".join([value or b"" for value in values])
    if wanted == pa.string() and not joined.isascii():
        raise ValueError
    return build_var(wanted, offsets, as_bytes(joined), valid)
