"""Rewriting of Parquet footers in memory, for files that Arrow rejects or decodes incorrectly.

Only the footer is rewritten; the pages are read from the file unchanged. There are three changes:

- **Maps with an OPTIONAL key** (releases 0.7 and 0.8): Arrow rejects the whole file. The key
  cannot be made REQUIRED, as the definition levels in the pages count it as optional. Instead, the
  map is annotated as a LIST: its repeated group is then read as a list of (key, value) structs with
  the same levels, and converted to a map afterwards (`arrow_type_conversion`).
- **INT96 timestamps**: Arrow converts them to int64 nanoseconds and silently wraps around outside
  the years 1677 to 2262. They are read as 12-byte fixed-length binaries, whose pages have the same
  bytes, and decoded with a range check (`arrow_type_conversion`).
- **Logical types that Arrow does not know**, such as GEOMETRY for Arrow 19: it rejects the whole
  file. Without the logical type, it reads the values of the physical type.

Spec: Parquet format, `parquet.thrift`. Seen in: tables of release 0.8.2; golden ts9_negative.
"""

import struct

import pyarrow as pa

from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    ThriftList,
    Wire,
    decode_struct,
    encode_struct,
    int_of,
    struct_of,
    structs_of,
)
from paimon_explore.errors import CorruptFileError

MAGIC = b"PAR1"
TAIL_BYTES = 8
"""Footer length, little-endian, and the magic."""
_READ_BYTES = 64 << 10
"""Bytes at the end of a file that are read at once; they mostly contain the footer."""

_SCHEMA, _ROW_GROUPS = 2, 4  # fields of FileMetaData
_TYPE, _TYPE_LENGTH, _REPETITION, _CHILDREN, _CONVERTED, _LOGICAL = (
    1,
    2,
    3,
    5,
    6,
    10,
)  # SchemaElement
_COLUMNS, _META_DATA, _COLUMN_TYPE, _STATISTICS = 1, 3, 1, 12  # RowGroup, ColumnChunk, its metadata
_OPTIONAL = 1
_MAP, _MAP_KEY_VALUE, _LIST = 1, 2, 3  # converted types
_LOGICAL_MAP, _LOGICAL_LIST = 2, 3  # members of the LogicalType union
_FLOAT16 = 15  # the last member that each Arrow knows
_INT96, _FIXED = 3, 7  # physical types

INT96_BYTES = 12
"""Nanoseconds of the day, int64, and Julian day, int32, both little-endian."""


def readable_footer(footer: bytes, *, path: str) -> bytes:
    """Rewrite optional map keys and INT96 columns; remove logical types that Arrow may not know.

    Args:
        footer: the Thrift bytes of the FileMetaData struct (without length and magic).
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the bytes are not such a struct.
    """
    try:
        metadata = decode_struct(footer)
        elements = list(structs_of(metadata[_SCHEMA][1]))
        _maps_as_lists(elements)
        _int96_elements(elements)
        _without_new_types(elements)
        for group in structs_of(metadata.get(_ROW_GROUPS, (Wire.LIST, _NO_GROUPS))[1]):
            _int96_chunks(group)
    except (ThriftError, KeyError) as error:
        rule = "must be a Thrift struct FileMetaData"
        raise CorruptFileError(path, "Parquet footer", f"{rule}: {error}") from error
    return encode_struct(metadata)


_NO_GROUPS = ThriftList(Wire.STRUCT, [])


def _maps_as_lists(elements: list[Struct]) -> None:
    """Annotate maps with optional keys as lists.

    Elements are in depth-first order: a map is followed by its repeated group and the key.
    """
    for group, repeated, key in zip(elements, elements[1:], elements[2:], strict=False):
        is_map = int_of(group, _CONVERTED) in (_MAP, _MAP_KEY_VALUE)
        logical = group.get(_LOGICAL)
        is_map = is_map or (logical is not None and _LOGICAL_MAP in struct_of(logical[1]))
        shaped = int_of(group, _CHILDREN) == 1 and int_of(repeated, _CHILDREN)
        if is_map and shaped and int_of(key, _REPETITION) == _OPTIONAL:
            group[_CONVERTED] = (Wire.I32, _LIST)
            group[_LOGICAL] = (Wire.STRUCT, {_LOGICAL_LIST: (Wire.STRUCT, {})})


def _int96_elements(elements: list[Struct]) -> None:
    for element in elements:
        if int_of(element, _TYPE) == _INT96:
            element[_TYPE] = (Wire.I32, _FIXED)
            element[_TYPE_LENGTH] = (Wire.I32, INT96_BYTES)


def _without_new_types(elements: list[Struct]) -> None:
    for element in elements:
        if max(struct_of(element.get(_LOGICAL, (Wire.STRUCT, {}))[1]), default=0) > _FLOAT16:
            del element[_LOGICAL]


def _int96_chunks(group: Struct) -> None:
    for chunk in structs_of(group[_COLUMNS][1]):
        column = struct_of(chunk[_META_DATA][1])
        if int_of(column, _COLUMN_TYPE) == _INT96:
            column[_COLUMN_TYPE] = (Wire.I32, _FIXED)
            column.pop(_STATISTICS, None)


def footer_length(tail: bytes, *, path: str, size: int) -> int:
    """Return the length of the Thrift footer from the last eight bytes of the file.

    Raises:
        CorruptFileError: the magic is missing or the length exceeds the file.
    """
    if len(tail) != TAIL_BYTES or tail[4:] != MAGIC:
        raise CorruptFileError(path, "last bytes", "a Parquet file must end with 'PAR1'")
    length: int = struct.unpack("<I", tail[:4])[0]
    if length > size - TAIL_BYTES:
        rule = f"the footer length of {length} bytes is greater than the file size of {size} bytes"
        raise CorruptFileError(path, "footer", rule)
    return length


def footer_as_file(footer: bytes) -> bytes:
    """Build a Parquet file that consists of a footer only."""
    return MAGIC + footer + struct.pack("<I", len(footer)) + MAGIC


def stored_footer(file: pa.NativeFile, path: str) -> bytes:
    """Read the footer of a file.

    Raises:
        CorruptFileError: the file is not a Parquet file.
    """
    size = file.size()
    start = max(size - _READ_BYTES, 0)
    file.seek(start)
    tail = file.read(size - start)
    length = footer_length(tail[-TAIL_BYTES:], path=path, size=size)
    if length + TAIL_BYTES <= len(tail):
        return tail[-TAIL_BYTES - length : -TAIL_BYTES]
    file.seek(size - TAIL_BYTES - length)
    return file.read(length)
