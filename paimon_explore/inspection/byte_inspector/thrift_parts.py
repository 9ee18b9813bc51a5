"""Layout of Thrift compact protocol structs, as used in Parquet footers.

Spec: Thrift, compact protocol; parquet.thrift.
"""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.encoding.parquet.thrift_compact import Wire
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.spans import Spans

_MAX_DEPTH = 64
_LONG_LIST = 15
_SHOWN = 60

Names = Mapping[int, tuple[str, str]]
"""Field names by id, with the struct type of struct and list fields."""

STRUCTS: Mapping[str, Names] = {
    "FileMetaData": {
        1: ("version", ""),
        2: ("schema", "SchemaElement"),
        3: ("num_rows", ""),
        4: ("row_groups", "RowGroup"),
        5: ("key_value_metadata", "KeyValue"),
        6: ("created_by", ""),
        7: ("column_orders", ""),
    },
    "SchemaElement": {
        1: ("type", ""),
        2: ("type_length", ""),
        3: ("repetition_type", ""),
        4: ("name", ""),
        5: ("num_children", ""),
        6: ("converted_type", ""),
        7: ("scale", ""),
        8: ("precision", ""),
        9: ("field_id", ""),
        10: ("logicalType", ""),
    },
    "RowGroup": {
        1: ("columns", "ColumnChunk"),
        2: ("total_byte_size", ""),
        3: ("num_rows", ""),
        4: ("sorting_columns", ""),
        5: ("file_offset", ""),
        6: ("total_compressed_size", ""),
        7: ("ordinal", ""),
    },
    "ColumnChunk": {
        1: ("file_path", ""),
        2: ("file_offset", ""),
        3: ("meta_data", "ColumnMetaData"),
        4: ("offset_index_offset", ""),
        5: ("offset_index_length", ""),
        6: ("column_index_offset", ""),
        7: ("column_index_length", ""),
    },
    "ColumnMetaData": {
        1: ("type", ""),
        2: ("encodings", ""),
        3: ("path_in_schema", ""),
        4: ("codec", ""),
        5: ("num_values", ""),
        6: ("total_uncompressed_size", ""),
        7: ("total_compressed_size", ""),
        8: ("key_value_metadata", "KeyValue"),
        9: ("data_page_offset", ""),
        10: ("index_page_offset", ""),
        11: ("dictionary_page_offset", ""),
        12: ("statistics", "Statistics"),
        13: ("encoding_stats", ""),
        14: ("bloom_filter_offset", ""),
        15: ("bloom_filter_length", ""),
    },
    "Statistics": {
        1: ("max", ""),
        2: ("min", ""),
        3: ("null_count", ""),
        4: ("distinct_count", ""),
        5: ("max_value", ""),
        6: ("min_value", ""),
    },
    "KeyValue": {1: ("key", ""), 2: ("value", "")},
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
        spans.need(1)
        header = spans.data[spans.position - spans.base]
        if not header:
            spans.number("stop", "uint8", rule="Ends the struct.")
            return count
        wire = Wire(header & 0x0F)
        start = len(spans.made)
        with spans.group("field") as note:
            rule = "Upper four bits: difference from the previous field id; lower four bits: type."
            spans.number(
                "header", "uint8", rule=rule, say=lambda v: f"+{int(v) >> 4}, {_wire(int(v))}"
            )
            last = last + (header >> 4) if header >> 4 else spans.number("field id", "zigzag")
            name, inner = names.get(last, (f"field {last}", ""))
            note.about = _value(spans, name, wire, inner, depth)
        _rename(spans, start, name)
        count += 1


def _rename(spans: Spans, position: int, name: str) -> None:
    spans.made[position] = replace(spans.made[position], name=name)


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
    spans.need(size)
    at = spans.position - spans.base
    raw = spans.data[at : at + size]
    is_text = raw[:_SHOWN].isascii() and raw[:_SHOWN].decode("ascii", "replace").isprintable()
    value = spans.leaf("text" if is_text else "bytes", "UTF-8" if is_text else "bytes", size)
    shown = f"0x{value.hex()}" if isinstance(value, bytes) else f'"{value}"'
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _list(spans: Spans, struct: str, depth: int) -> str:
    spans.need(1)
    header = spans.data[spans.position - spans.base]
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
