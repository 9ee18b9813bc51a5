"""Layout of index files: deletion vectors and hash indexes.

Spec: concepts/spec/tableindex.

Layout of Roaring bitmaps in the portable format: cookie, keys, offsets, containers.

Spec: https://github.com/RoaringBitmap/RoaringFormatSpec.

Layout of file indexes: the container, and the body of each index type.

Spec: concepts/spec/fileindex.
"""

import struct
import zlib
from collections.abc import Callable, Mapping

from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.deletion_vector import FRAME_BYTES, MAGIC, MAGIC_64, VERSION
from paimon_explore.encoding.file_index.container import MAGIC as FILE_INDEX_MAGIC
from paimon_explore.encoding.file_index.container import decode_container
from paimon_explore.encoding.file_index.index_keys import is_indexable, key_codec
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.primitive_encodings import Value
from paimon_explore.inspection.byte_inspector.spans import Spans

_INT = 4
_MAX_HALVES = 1 << 16


def is_vectors(data: bytes) -> bool:
    """Whether a file contains deletion vectors: the version, and sizes that add up to the file."""
    at = 1
    if data[:1] != bytes([VERSION]):
        return False
    while at < len(data):
        size = int.from_bytes(data[at : at + _INT], "big", signed=True)
        magic = data[at + _INT : at + 2 * _INT]
        known = (MAGIC.to_bytes(_INT, "big"), MAGIC_64.to_bytes(_INT, "little"))
        if size < _INT or magic not in known:
            return False
        at += size + FRAME_BYTES
    return at == len(data)


def vectors_parts(spans: Spans) -> None:
    """Build the spans of a file of deletion vectors."""
    spans.number("version", "uint8", rule="Version of the layout; always 1.")
    number = 0
    while spans.left:
        _vector(spans, number)
        number += 1


def _vector(spans: Spans, number: int) -> None:
    with spans.group(f"vector {number}", rule="The deleted rows of one data file.") as note:
        rule = "Size of the data in bytes; the offset in the index manifest points to this field."
        size = spans.number("size", "int32 BE", rule=rule)
        data = spans.peek(size)
        inner = Spans(spans.data, spans.position, spans.position + size)
        try:
            note.about = f"{_data(inner):,} deleted rows"
        except (InvalidInputError, IndexError):
            note.about = "damaged"
        spans.later("data", size, _data, about=f"{size:,} bytes")
        spans.number(
            "checksum",
            "uint32 BE",
            rule="CRC-32 of the data including the magic number.",
            say=lambda value: f"{int(value):#010x}: {_agrees(data, value)}",
        )


def _agrees(data: bytes, value: Value) -> str:
    computed = zlib.crc32(data)
    if computed == value:
        return "matches"
    return f"does not match the computed checksum {computed:#010x}"


def _data(spans: Spans) -> int:
    magic = spans.peek(_INT)
    if magic == MAGIC.to_bytes(_INT, "big"):
        spans.number("magic", "int32 BE", rule=f"{MAGIC}: 32-bit positions.")
        return roaring_parts(spans)
    if magic != MAGIC_64.to_bytes(_INT, "little"):
        raise InvalidInputError(
            f"A deletion vector must start with the magic number {MAGIC:#x} or {MAGIC_64:#x}, "
            f"not with the bytes 0x{bytes(magic).hex()}."
        )
    spans.number("magic", "int32 LE", rule=f"{MAGIC_64}: 64-bit positions.")
    count = spans.number(
        "bitmaps", "int64 LE", rule="Number of bitmaps, one per upper half of the positions."
    )
    if not 0 <= count <= _MAX_HALVES:
        raise InvalidInputError(
            f"The number of bitmaps must be from 0 to {_MAX_HALVES:,}, not {count}."
        )
    total = 0
    for number in range(count):
        with spans.group(f"bitmap {number}"):
            spans.number("upper half", "uint32 LE", rule="Upper 32 bits of the positions.")
            total += roaring_parts(spans)
    return total


def hashes_parts(spans: Spans) -> None:
    """Build the spans of a hash index, a list of hashes."""
    rule = "Hash of a trimmed primary key of this bucket; the hashes are not sorted."
    spans.row("hashes", "int32 BE", spans.left // _INT, rule=rule)


_COOKIE = 0x303A
_RUN_COOKIE = 0x303B
_OFFSETS_FROM = 4
_ARRAY_MAX = 4096
_BITSET_BYTES = 8192
_SPACE = 1 << 16


def roaring_parts(spans: Spans) -> int:
    """Build the spans of a bitmap; returns its cardinality."""
    runs, count = _cookie(spans)
    cardinalities = _keys(spans, count)
    if runs is None or count >= _OFFSETS_FROM:
        rule = "Offset of each container from the start of the bitmap."
        spans.row("offsets", "uint32 LE", count, rule=rule)
    for index, (key, cardinality) in enumerate(cardinalities):
        if runs is not None and runs[index >> 3] >> (index & 7) & 1:
            _runs(spans, index, key)
        else:
            _values(spans, index, key, cardinality)
    return sum(cardinality for _, cardinality in cardinalities)


def _cookie(spans: Spans) -> tuple[bytes | None, int]:
    cookie = int.from_bytes(spans.peek(4), "little")
    if cookie & 0xFFFF == _RUN_COOKIE:
        count = (cookie >> 16) + 1
        spans.number(
            "cookie",
            "uint32 LE",
            rule="0x303B: run containers exist; upper half: number of containers minus 1.",
            say=lambda _: f"{cookie:#x}: {count} containers, some with runs",
        )
        flags = spans.leaf(
            "run flags",
            "bytes",
            (count + 7) // 8,
            rule="One bit per container: whether it is a run container.",
        )
        assert isinstance(flags, bytes)  # noqa: S101 - of this form
        return flags, count
    if cookie != _COOKIE:
        raise InvalidInputError(f"A bitmap must start with 0x303A or 0x303B, not {cookie:#x}.")
    spans.number("cookie", "uint32 LE", rule="0x303A: the bitmap has no run containers.", say=_hex)
    count = spans.number(
        "containers", "uint32 LE", rule="Number of containers, each for a range of 65,536 values."
    )
    if count > _SPACE:
        raise InvalidInputError(f"A bitmap must have at most {_SPACE:,} containers, not {count:,}.")
    return None, count


def _hex(value: Value) -> str:
    return f"{int(value):#x}"


def _keys(spans: Spans, count: int) -> list[tuple[int, int]]:
    pairs = struct.iter_unpack("<HH", spans.peek(4 * count))
    found = [(key, size + 1) for key, size in pairs]
    start = spans.position

    def build(inner: Spans) -> None:
        while inner.left:
            number = (inner.position - start) // 4
            with inner.group(f"container {number}") as note:
                key = inner.number(
                    "key", "uint16 LE", rule="Upper 16 bits of the values of the container."
                )
                size = inner.number(
                    "cardinality",
                    "uint16 LE",
                    rule="Number of values minus 1.",
                    say=lambda value: f"{int(value)}: {int(value) + 1} values",
                )
                note.about = f"values from {key << 16:,}: {size + 1:,}"

    spans.chunks("keys", 4, range(count), build, rule="Key and cardinality of each container.")
    return found


def _values(spans: Spans, index: int, key: int, cardinality: int) -> None:
    name = f"container {index}"
    if cardinality > _ARRAY_MAX:
        rule = "A bitset: one bit for each of 65,536 values."
        text = f"bitset of {cardinality:,} values"
        spans.leaf(name, "bytes", _BITSET_BYTES, rule=rule, say=lambda _: text)
        return
    base = key << 16

    def say(value: Value) -> str:
        return f"{int(value)}: {base + int(value):,}"

    rule = "The lower 16 bits of each value, ascending."
    spans.row(name, "uint16 LE", cardinality, rule=rule, say=say)


def _runs(spans: Spans, index: int, key: int) -> None:
    base = key << 16
    with spans.group(f"container {index}", rule="Runs of consecutive values.") as note:
        count = spans.number("runs", "uint16 LE")
        note.about = f"{count} runs" if count != 1 else "1 run"
        start = spans.position

        def build(inner: Spans) -> None:
            while inner.left:
                with inner.group(f"run {(inner.position - start) // 4}") as one:
                    first = base + inner.number("first", "uint16 LE")
                    more = inner.number(
                        "further",
                        "uint16 LE",
                        rule="Number of values of the run after the first value.",
                    )
                    one.about = f"{first:,} to {first + more:,}"

        spans.chunks("runs", 4, range(count), build)


_MOST = 1 << 20

Widths = Mapping[str, DataType]
"""Column types by name; indexes on unknown columns are shown in less detail."""


def is_file_index(data: bytes) -> bool:
    """Whether the bytes start like a file index container."""
    return data[:8] == FILE_INDEX_MAGIC.to_bytes(8, "big")


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
                f"The {part.kind} index on {part.column} starts at byte {at:,}, before the end of "
                f"the previous index at byte {spans.position:,}."
            )
        if at > spans.position:
            spans.leaf("unused", "bytes", at - spans.position)
        body = _body(part.kind, types.get(part.column))
        name, about = f"{part.kind} on {part.column}", f"{part.length:,} bytes"
        spans.later(name, part.length, body, about=about)


def _head(spans: Spans) -> None:
    spans.number("magic", "int64 BE", rule=f"{FILE_INDEX_MAGIC}", say=_hex)
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
    rule = "Version of the layout: 1, or 2 if the values are stored in blocks."
    version = spans.number("version", "uint8", rule=rule)
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
            bitmaps += [_value(spans, data_type, with_length=False) for _ in range(values)]
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
            found += [_value(spans, data_type, with_length=True) for _ in range(entries)]
    return found


def _value(spans: Spans, data_type: DataType, *, with_length: bool) -> int:
    """Build a key of a dictionary; returns the offset of its bitmap."""
    with spans.group("value"):
        _key(spans, "key", data_type, "bitmap")
        offset = _place(spans, "offset")
        if with_length:
            rule = "Length of the bitmap; -1 for a single row."
            spans.number("length", "int32 BE", rule=rule)
    return offset


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
