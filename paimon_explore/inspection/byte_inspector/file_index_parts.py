"""Layout of file indexes: the container, and the body of each index type.

Spec: concepts/spec/fileindex.
"""

from collections.abc import Callable, Mapping

from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.container import MAGIC, decode_container
from paimon_explore.encoding.file_index.index_keys import is_indexable, key_codec
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.roaring_parts import roaring_parts
from paimon_explore.inspection.byte_inspector.spans import Spans

_MOST = 1 << 20

Widths = Mapping[str, DataType]
"""Column types by name; indexes on unknown columns are shown in less detail."""


def is_file_index(data: bytes) -> bool:
    """Whether the bytes start like a file index container."""
    return data[:8] == MAGIC.to_bytes(8, "big")


def file_index_parts(spans: Spans, types: Widths) -> None:
    """Build the spans of a container."""
    data = spans.data[spans.position : spans.end]
    start = spans.position
    parts = decode_container(data, path="")
    with spans.group("header", rule="Columns with their indexes and locations.") as note:
        _head(spans)
        note.about = f"{len(parts)} indexes" if len(parts) != 1 else "1 index"
    for part in sorted((p for p in parts if p.start is not None), key=lambda p: p.start or 0):
        at = start + (part.start or 0)
        if at < spans.position:
            raise InvalidInputError(
                f"The {part.kind} index on {part.column} starts at byte {at:,}, before the "
                "end of the "
                f"previous index at byte {spans.position:,}."
            )
        if at > spans.position:
            spans.leaf("unused", "bytes", at - spans.position)
        body = _body(part.kind, types.get(part.column))
        spans.later(
            f"{part.kind} on {part.column}", part.length, body, about=f"{part.length:,} bytes"
        )


def _head(spans: Spans) -> None:
    spans.number("magic", "int64 BE", rule=f"{MAGIC}", say=lambda value: f"{int(value):#x}")
    spans.number("version", "int32 BE", rule="Version of the layout; always 1.")
    spans.number("header length", "int32 BE", rule="Number of bytes before the first index.")
    columns = _count(spans, "columns")
    for _ in range(columns):
        with spans.group("column") as column:
            column.about = _text(spans, "name")
            for _ in range(_count(spans, "indexes")):
                with spans.group("index") as index:
                    index.about = _text(spans, "kind")
                    rule = "Offset from the start of the container; -1: all values are null."
                    spans.number("start", "int32 BE", rule=rule)
                    spans.number("length", "int32 BE")
    spare = spans.number("reserved length", "int32 BE", rule="Number of reserved bytes; always 0.")
    if spare:
        spans.leaf("reserved", "bytes", spare)


def _count(spans: Spans, name: str, rule: str = "") -> int:
    found = spans.number(name, "int32 BE", rule=rule)
    if not 0 <= found <= _MOST:
        raise InvalidInputError(f"Field {name!r} must be from 0 to {_MOST:,}, not {found}.")
    return found


def _text(spans: Spans, name: str) -> str:
    with spans.group(name, rule="Text in modified UTF-8, preceded by its length.") as note:
        size = spans.number("size", "uint16 BE")
        note.about = str(spans.leaf("text", "UTF-8", size)) if size else ""
    return note.about


def _body(kind: str, data_type: DataType | None) -> Callable[[Spans], None]:
    typed = data_type if data_type is not None and is_indexable(kind, data_type) else None
    match kind:
        case "bloom-filter":
            return _bloom
        case "bsi":
            return _bsi
        case "bitmap" if typed is not None:
            return lambda spans: _bitmap(spans, typed)
        case "range-bitmap" if typed is not None:
            return lambda spans: _range_bitmap(spans, typed)
        case _:
            return _whole


def _whole(spans: Spans) -> None:
    spans.rest("bytes", "Unknown index type or column type.")


def _bloom(spans: Spans) -> None:
    spans.number("hash functions", "int32 BE", rule="Number of bits set per value.")
    spans.rest("bits", "Bit p is stored in bit p mod 8 of byte p / 8.")


def _key(spans: Spans, name: str, data_type: DataType, kind: str) -> None:
    width = key_codec(kind, data_type).width
    if width:
        form = "uint8" if width == 1 else f"int{width * 8} BE"
        spans.leaf(name, form)
        return
    with spans.group(name) as note:
        size = _count(spans, "size")
        note.about = str(spans.leaf("text", "UTF-8", size)) if size else "empty"


def _bitmap(spans: Spans, data_type: DataType) -> None:
    version = spans.number(
        "version",
        "uint8",
        rule="Version of the layout: 1, or 2 if the values are stored in blocks.",
    )
    blocked = version == 2  # noqa: PLR2004 - a version
    spans.number("rows", "int32 BE", rule="Number of rows of the data file.")
    values = _count(spans, "values", "Number of distinct non-null values.")
    bitmaps = []
    if spans.number("has null", "uint8"):
        bitmaps.append(_place(spans, "null offset"))
        if blocked:
            spans.number("null length", "int32 BE")
    if blocked:
        bitmaps += _blocks(spans, data_type)
    else:
        with spans.group("dictionary") as note:
            note.about = f"{values:,} values"
            for _ in range(values):
                with spans.group("value"):
                    _key(spans, "key", data_type, "bitmap")
                    bitmaps.append(_place(spans, "offset"))
    _bitmaps(spans, [offset for offset in bitmaps if offset >= 0])


def _place(spans: Spans, name: str) -> int:
    return spans.number(
        name,
        "int32 BE",
        rule="Offset from the first bitmap; a negative offset encodes the single row -1 - offset.",
        say=lambda value: (
            str(int(value)) if int(value) >= 0 else f"{int(value)}: single row {-1 - int(value)}"
        ),
    )


def _blocks(spans: Spans, data_type: DataType) -> list[int]:
    count = _count(spans, "blocks")
    for _ in range(count):
        with spans.group("block header"):
            _key(spans, "first key", data_type, "bitmap")
            spans.number("offset", "int32 BE", rule="Offset from the first block.")
    end = spans.number("blocks length", "int32 BE") + spans.position
    found = []
    while spans.position < end:
        with spans.group("block") as note:
            entries = _count(spans, "entries")
            note.about = f"{entries:,} values"
            for _ in range(entries):
                with spans.group("value"):
                    _key(spans, "key", data_type, "bitmap")
                    found.append(_place(spans, "offset"))
                    spans.number(
                        "length", "int32 BE", rule="Length of the bitmap; -1 for a single row."
                    )
    return found


def _bitmaps(spans: Spans, offsets: list[int]) -> None:
    """Build the bitmaps after a dictionary, in storage order."""
    base = spans.position
    for number, offset in enumerate(sorted(set(offsets))):
        if base + offset != spans.position:
            raise InvalidInputError(
                f"Bitmap {number} must start at byte {spans.position:,}, not at byte "
                f"{base + offset:,}."
            )
        _roaring(spans, f"bitmap {number}")


def _roaring(spans: Spans, name: str) -> None:
    with spans.group(name, rule="Row numbers as a Roaring bitmap.") as note:
        note.about = f"{roaring_parts(spans):,} rows"


def _bsi(spans: Spans) -> None:
    spans.number("version", "uint8", rule="Version of the layout; always 1.")
    spans.number("rows", "int32 BE", rule="Number of rows of the data file.")
    for name in ("positive", "negative"):
        if spans.number(f"has {name}", "uint8"):
            with spans.group(name, rule="Bitmaps of the absolute values, one bitmap per bit."):
                spans.number("version", "uint8")
                spans.number("smallest", "int64 BE")
                spans.number("largest", "int64 BE")
                _roaring(spans, "rows")
                for digit in range(_count(spans, "bit slices")):
                    _roaring(spans, f"bit slice {digit}")


def _range_bitmap(spans: Spans, data_type: DataType) -> None:
    kind = "range-bitmap"
    with spans.group("header"):
        spans.number("length", "int32 BE", rule="Number of header bytes that follow.")
        spans.number("version", "uint8")
        spans.number("rows", "int32 BE")
        if _count(spans, "keys"):
            _key(spans, "smallest key", data_type, kind)
            _key(spans, "largest key", data_type, kind)
        size = spans.number("dictionary length", "int32 BE")
    spans.later("dictionary", size, lambda inner: _dictionary(inner, data_type))
    with spans.group("slices"):
        spans.number("length", "int32 BE", rule="Number of header bytes that follow.")
        spans.number("version", "uint8")
        digits = spans.number("bit slices", "uint8", rule="Number of bits of the largest rank.")
        spans.number("row bitmap length", "int32 BE")
        spans.number("offset table length", "int32 BE")
        for digit in range(digits):
            with spans.group(f"offset of bit slice {digit}"):
                spans.number("offset", "int32 BE")
                spans.number("length", "int32 BE")
        _roaring(spans, "rows")
        for digit in range(digits):
            _roaring(spans, f"bit slice {digit}")


def _dictionary(spans: Spans, data_type: DataType) -> None:
    kind = "range-bitmap"
    spans.number("header length", "int32 BE")
    spans.number("version", "uint8")
    chunks = _count(spans, "chunks")
    spans.number("offsets length", "int32 BE")
    spans.number("chunk headers length", "int32 BE")
    spans.row("offsets", "int32 BE", chunks)
    further = []
    is_text = not key_codec(kind, data_type).width
    for number in range(chunks):
        with spans.group(f"chunk {number}"):
            spans.number("version", "uint8")
            _key(spans, "first key", data_type, kind)
            spans.number("rank", "int32 BE", rule="Rank of the first key of the chunk.")
            spans.number("offset", "int32 BE", rule="Offset of the other keys of the chunk.")
            further.append(_count(spans, "other keys"))
            spans.number("offsets length" if is_text else "keys length", "int32 BE")
            spans.number("keys length" if is_text else "key width", "int32 BE")
    for number, count in enumerate(further):
        if count:
            with spans.group(f"keys of chunk {number}") as note:
                note.about = f"{count:,} keys"
                if is_text:
                    spans.row("offsets", "int32 BE", count)
                for _ in range(count):
                    _key(spans, "key", data_type, kind)
