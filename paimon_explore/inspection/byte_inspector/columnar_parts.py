"""Layout of Parquet and ORC files: their sections, and complete footers.

Spec: parquet-format; ORC specification v1.

Layout of Thrift compact protocol structs, as used in Parquet footers.

Spec: Thrift, compact protocol; parquet.thrift.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from paimon_explore.encoding.orc.file_tail import read_tail
from paimon_explore.encoding.orc.protobuf import decode_message, number
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    Wire,
    decode_struct,
    int_of,
    struct_of,
    structs_of,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.spans import Space, Spans, space_of

PARQUET = b"PAR1"
ORC = b"ORC"
_TAIL = 8
_WIRES = {0: "number", 1: "8 bytes", 2: "bytes", 5: "4 bytes"}
_CODECS = {0: "NONE", 1: "ZLIB", 2: "SNAPPY", 3: "LZO", 4: "LZ4", 5: "ZSTD"}


class _Section(NamedTuple):
    name: str
    offset: int
    length: int
    rule: str


def parquet_footer_size(tail: bytes) -> int:
    """Size of the footer with its length field and magic, from the last 8 bytes of a file."""
    return int.from_bytes(tail[:4], "little") + _TAIL


def parquet_parts(spans: Spans) -> None:
    """Build the spans of a Parquet file; the window needs only the first bytes and the footer."""
    size = parquet_footer_size(spans.data[-_TAIL:]) - _TAIL
    footer_at = spans.end - _TAIL - size
    if footer_at < len(PARQUET):
        raise InvalidInputError(f"The footer of {size:,} bytes is larger than the file.")
    spans.leaf("magic", "bytes", len(PARQUET), rule="Every Parquet file starts and ends with PAR1.")
    footer = spans.data[footer_at - spans.base : footer_at - spans.base + size]
    try:
        sections = _parquet_sections(decode_struct(footer))
    except ThriftError as error:
        message = f"The footer must be a Thrift struct FileMetaData: {error}."
        raise InvalidInputError(message) from error
    _sections(spans, sections, footer_at)
    build = partial(thrift_parts, struct="FileMetaData")
    rule = "FileMetaData, a Thrift struct."
    spans.later("footer", size, build, about=f"{size:,} bytes", rule=rule)
    spans.number("footer length", "uint32 LE")
    spans.leaf("magic", "bytes", len(PARQUET))


def _sections(spans: Spans, sections: list[_Section], end: int) -> None:
    last = _Section("", end, 0, "")
    for section in [*sorted(sections, key=lambda found: found.offset), last]:
        if section.offset < spans.position or section.offset + section.length > end:
            continue  # overlapping sections, which Paimon does not write
        if section.offset > spans.position:
            rule = "Bytes that the footer does not reference."
            spans.leaf("other", "bytes", section.offset - spans.position, rule=rule)
        if section is not last:
            spans.leaf(section.name, "bytes", section.length, rule=section.rule)


def _parquet_sections(metadata: Struct) -> list[_Section]:
    found: list[_Section] = []
    groups = metadata.get(4)
    for row, group in enumerate(structs_of(groups[1]) if groups is not None else ()):
        for chunk in structs_of(group[1][1]):
            column = struct_of(chunk[3][1])
            found += _chunk_sections(row, chunk, column)
    return found


def _chunk_sections(row: int, chunk: Struct, column: Struct) -> list[_Section]:
    names = column[3][1]
    parts = [n.decode("utf-8", "replace") for n in names.items if isinstance(n, bytes)]  # type: ignore[attr-defined]  # a list, by the format
    name = f"row group {row}, {'.'.join(parts)}"
    starts = [int_of(column, field) for field in (9, 10, 11)]
    known = [start for start in starts if start]
    listed = [
        (min(known, default=0), int_of(column, 7), "pages", "Compressed pages of the column."),
        (int_of(chunk, 4), int_of(chunk, 5), "offset index", "Location of each page."),
        (int_of(chunk, 6), int_of(chunk, 7), "column index", "Bounds of each page."),
        (int_of(column, 14), int_of(column, 15), "bloom filter", "Bloom filter of the column."),
    ]
    return [
        _Section(f"{name}: {what}", start, length, rule)
        for start, length, what, rule in listed
        if start and length
    ]


def orc_parts(spans: Spans, file: pa.NativeFile) -> None:
    """Build the spans of an ORC file.

    Args:
        spans: the bytes; the window must contain the first bytes and the tail.
        file: reads the file.
    """
    tail = read_tail(file, "")
    post_size = spans.data[-1]
    post = decode_message(spans.data[-1 - post_size : -1])
    footer_size, metadata_size = number(post, 1), number(post, 5)
    end = spans.end - 1 - post_size - footer_size - metadata_size
    spans.leaf("magic", "bytes", len(ORC), rule="Every ORC file starts with ORC.")
    _sections(spans, _stripes(tail.stripe_footers, end), end)
    codec = number(post, 2)
    _compressed(spans, "stripe statistics", metadata_size, codec, tail.decompress)
    _compressed(spans, "footer", footer_size, codec, tail.decompress)
    spans.later(
        "postscript", post_size, message_parts, about=f"compressed with {_CODECS.get(codec)}"
    )
    rule = "Size of the postscript; the last byte of every ORC file."
    spans.number("postscript length", "uint8", rule=rule)


def _stripes(footers: tuple[tuple[int, int], ...], end: int) -> list[_Section]:
    found = []
    start = len(ORC)
    for index, (offset, length) in enumerate(footers):
        if offset < start or offset + length > end:
            break
        rule = "Compressed indexes and columns of the stripe."
        found.append(_Section(f"stripe {index}: rows", start, offset - start, rule))
        rule = "Locations of the column streams."
        found.append(_Section(f"stripe {index}: footer", offset, length, rule))
        start = offset + length
    return found


def _compressed(spans: Spans, name: str, size: int, codec: int, decompress: object) -> None:
    """Build a section of compressed chunks; the message is a separate address space."""
    if not size:
        return
    if not codec:
        spans.later(name, size, message_parts, about=f"{size:,} bytes")
        return
    data = spans.peek(size)

    def inside() -> Space:
        assert callable(decompress)  # noqa: S101 - see `OrcTail.decompress`
        return space_of(f"{name} decompressed", bytes(decompress(data)), message_parts)

    spans.packed(name, size, inside, rule="A Protocol Buffers message in compressed chunks.")


def message_parts(spans: Spans) -> None:
    """Build the spans of a Protocol Buffers message, with fields by number."""
    while spans.left:
        spans.need(1)
        with spans.group("field") as note:
            key = spans.number(
                "key",
                "varint",
                rule="Field number, and the wire type in the lowest three bits.",
                say=lambda value: (
                    f"field {int(value) >> 3}, {_WIRES.get(int(value) & 7, 'unknown')}"
                ),
            )
            note.about = _field(spans, key & 7)
            note.name = f"field {key >> 3}"


def _field(spans: Spans, wire: int) -> str:
    if wire == 0:
        return str(spans.number("value", "varint"))
    if wire == 1:
        return str(spans.leaf("value", "float64 LE"))
    if wire == 5:  # noqa: PLR2004 - a wire type
        return str(spans.number("value", "uint32 LE"))
    if wire != 2:  # noqa: PLR2004 - a wire type
        raise InvalidInputError(f"Protocol Buffers wire type {wire} is not supported.")
    size = spans.number("size", "varint")
    raw = spans.peek(size)
    if not size:
        return "empty"
    if raw.isascii() and raw.decode("ascii").isprintable():
        return f'"{spans.leaf("text", "UTF-8", size)!s}"'
    if _is_message(raw):
        spans.later("message", size, message_parts)
    else:
        spans.leaf("bytes", "bytes", size)
    return f"{size:,} bytes"


def _is_message(raw: bytes) -> bool:
    try:
        decode_message(raw)
    except ValueError:
        return False
    return True


_MAX_DEPTH = 64
_LONG_LIST = 15
_SHOWN = 60

Names = Mapping[int, tuple[str, str]]
"""Field names by id, with the struct type of struct and list fields."""

_FIELDS = {
    "FileMetaData": "version schema:SchemaElement num_rows row_groups:RowGroup "
    "key_value_metadata:KeyValue created_by column_orders",
    "SchemaElement": "type type_length repetition_type name num_children converted_type scale "
    "precision field_id logicalType",
    "RowGroup": "columns:ColumnChunk total_byte_size num_rows sorting_columns file_offset "
    "total_compressed_size ordinal",
    "ColumnChunk": "file_path file_offset meta_data:ColumnMetaData offset_index_offset "
    "offset_index_length column_index_offset column_index_length",
    "ColumnMetaData": "type encodings path_in_schema codec num_values total_uncompressed_size "
    "total_compressed_size key_value_metadata:KeyValue data_page_offset index_page_offset "
    "dictionary_page_offset statistics:Statistics encoding_stats bloom_filter_offset "
    "bloom_filter_length",
    "Statistics": "max min null_count distinct_count max_value min_value",
    "KeyValue": "key value",
}
STRUCTS: Mapping[str, Names] = {
    struct: {
        number: (name, inner)
        for number, field in enumerate(fields.split(), 1)
        for name, _, inner in (field.partition(":"),)
    }
    for struct, fields in _FIELDS.items()
}


def thrift_parts(spans: Spans, struct: str, depth: int = 0) -> int:
    """Build the spans of a struct; returns its number of fields.

    Args:
        spans: the bytes.
        struct: name in `STRUCTS`; fields of other structs are shown by id.
        depth: nesting depth.

    Raises:
        InvalidInputError: the bytes are not a valid struct.
    """
    if depth > _MAX_DEPTH:
        raise InvalidInputError(
            f"The Thrift structs are nested more than {_MAX_DEPTH} levels deep."
        )
    names = STRUCTS.get(struct, {})
    last = count = 0
    while True:
        header = spans.peek(1)[0]
        if not header:
            spans.number("stop", "uint8", rule="Ends the struct.")
            return count
        wire = Wire(header & 0x0F)
        with spans.group("field") as note:
            rule = "Upper four bits: difference from the previous field id; lower four bits: type."
            spans.number(
                "header", "uint8", rule=rule, say=lambda v: f"+{int(v) >> 4}, {_wire(int(v))}"
            )
            last = last + (header >> 4) if header >> 4 else spans.number("field id", "zigzag")
            name, inner = names.get(last, (f"field {last}", ""))
            note.about = _value(spans, name, wire, inner, depth)
            note.name = name
        count += 1


def _wire(number: int) -> str:
    return Wire(number & 0x0F).name


def _value(spans: Spans, name: str, wire: Wire, struct: str, depth: int) -> str:
    """Build the value of a field; returns its description."""
    match wire:
        case Wire.TRUE | Wire.FALSE:
            text = wire.name.lower()
        case Wire.BYTE:
            text = str(spans.number(name, "int8"))
        case Wire.DOUBLE:
            text = str(spans.leaf(name, "float64 LE"))
        case Wire.BINARY:
            text = _binary(spans)
        case Wire.LIST | Wire.SET:
            text = _list(spans, struct, depth)
        case Wire.STRUCT:
            fields = thrift_parts(spans, struct, depth + 1)
            text = f"{fields} fields" if fields != 1 else "1 field"
        case Wire.I16 | Wire.I32 | Wire.I64:
            text = str(spans.number(name, "zigzag"))
        case _:
            raise InvalidInputError(f"Thrift type {wire.name} is not supported.")
    return text


def _binary(spans: Spans) -> str:
    size = spans.number("size", "varint")
    if not size:
        return "empty"
    raw = spans.peek(size)
    is_text = raw[:_SHOWN].isascii() and raw[:_SHOWN].decode("ascii", "replace").isprintable()
    value = spans.leaf("text" if is_text else "bytes", "UTF-8" if is_text else "bytes", size)
    shown = f"0x{value.hex()}" if isinstance(value, bytes) else f'"{value}"'
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _list(spans: Spans, struct: str, depth: int) -> str:
    header = spans.peek(1)[0]
    rule = (
        "Upper four bits: number of items, or 15 if the number follows; lower four bits: item type."
    )
    spans.number("list header", "uint8", rule=rule, say=lambda v: f"{int(v) >> 4}, {_wire(int(v))}")
    wire, size = Wire(header & 0x0F), header >> 4
    if size == _LONG_LIST:
        size = spans.number("items", "varint")
    spans.need(size)
    element = Wire.BYTE if wire in (Wire.TRUE, Wire.FALSE) else wire
    for index in range(size):
        with spans.group(f"[{index}]") as note:
            note.about = _value(spans, "value", element, struct, depth + 1)
    return f"{size:,} items" if size != 1 else "1 item"
