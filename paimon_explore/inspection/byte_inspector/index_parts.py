"""Layout of index files: deletion vectors and hash indexes.

Spec: concepts/spec/tableindex.
"""

import zlib

from paimon_explore.encoding.deletion_vector import FRAME_BYTES, MAGIC, MAGIC_64, VERSION
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.primitive_encodings import Value
from paimon_explore.inspection.byte_inspector.roaring_parts import roaring_parts
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
        spans.need(size)
        data = spans.data[spans.position : spans.position + size]
        inner = Spans(spans.data, spans.position, spans.position + size)
        try:
            note.about = f"{_data(inner):,} deleted rows"
        except (InvalidInputError, IndexError):
            note.about = "damaged"

        def build(below: Spans) -> None:
            _data(below)

        spans.later("data", size, build, about=f"{size:,} bytes")
        spans.number(
            "checksum",
            "uint32 BE",
            rule="CRC-32 of the data including the magic number.",
            say=lambda value: f"{int(value):#010x}: {_agrees(data, value)}",
        )


def _agrees(data: bytes, value: Value) -> str:
    return (
        "matches"
        if zlib.crc32(data) == value
        else f"does not match the computed checksum {zlib.crc32(data):#010x}"
    )


def _data(spans: Spans) -> int:
    spans.need(_INT)
    magic = spans.data[spans.position : spans.position + _INT]
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
