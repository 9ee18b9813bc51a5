"""Layouts of hints, row files, blob files and text files.

Spec: concepts/spec/fileformat.
"""

from paimon_explore.encoding.blob.blob_file import MAGIC as BLOB_MAGIC
from paimon_explore.encoding.row_format.row_file import FOOTER_BYTES
from paimon_explore.encoding.row_format.row_file import MAGIC as ROW_MAGIC
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.spans import Spans

_BLOB_TAIL = 5
_LIST_NAMES = ("compressed sizes", "uncompressed sizes", "first rows")


def hint_parts(spans: Spans) -> None:
    """Build the spans of a hint, a number as text."""
    rule = "The id of a snapshot as text. Hints may be stale; readers verify them."
    spans.leaf("snapshot", "UTF-8", spans.left, rule=rule)


def text_parts(spans: Spans) -> None:
    """Build the spans of lines of text."""
    number = 0
    while spans.left:
        end = spans.data.find(b"\n", spans.position)
        size = (spans.end if end < 0 else end + 1) - spans.position
        spans.leaf(f"line {number}", "UTF-8", size)
        number += 1


def is_row_file(data: bytes) -> bool:
    """Whether the bytes end like a row file."""
    return len(data) >= FOOTER_BYTES and data[-4:] == ROW_MAGIC.to_bytes(4, "little")


def row_file_parts(spans: Spans) -> None:
    """Build the spans of a row file: compressed blocks, index, footer."""
    footer = spans.end - FOOTER_BYTES
    index = int.from_bytes(spans.data[footer + 12 : footer + 20], "little", signed=True)
    size = int.from_bytes(spans.data[footer + 20 : footer + 24], "little", signed=True)
    if not 0 <= index <= index + size == footer:
        raise InvalidInputError(
            f"The index must end at byte {footer:,}, the start of the footer, but its "
            f"offset is {index} and its size is {size}."
        )
    if index:
        spans.leaf("blocks", "bytes", index, rule="Rows in blocks compressed with Zstandard.")
    with spans.group("index") as note:
        note.about = "3 lists of numbers"
        for name in _LIST_NAMES:
            length = spans.number("length", "varint")
            start = spans.position

            def build(inner: Spans) -> None:
                while inner.left:
                    rule = "Difference from the previous number."
                    inner.number("difference", "zigzag", rule=rule)

            spans.later(name, length, build, about=f"{length} bytes from byte {start:,}")
    with spans.group("footer") as note:
        spans.number("rows", "int64 LE")
        note.about = f"{spans.number('blocks', 'int32 LE')} blocks"
        spans.number("index offset", "int64 LE")
        spans.number("index size", "int32 LE")
        spans.number("version", "uint8", rule="Version of the layout; always 1.")
        spans.leaf("reserved", "zeros", 3)
        spans.leaf("magic", "bytes", 4, rule="Magic number: the bytes 'ROWS', little-endian.")


def is_blob_file(data: bytes) -> bool:
    """Whether the bytes start like a blob file, or are a blob file of nulls only."""
    return data[:4] == BLOB_MAGIC.to_bytes(4, "little")


def blob_parts(spans: Spans) -> None:
    """Build the spans of a blob file: entries, list of sizes, version."""
    tail = spans.end - _BLOB_TAIL
    size = int.from_bytes(spans.data[tail : tail + 4], "little", signed=True)
    if not 0 <= size <= tail:
        raise InvalidInputError("The list of entry sizes must be within the file.")
    number = 0
    while spans.position < tail - size:
        number = _entry(spans, number, tail - size)

    def build(inner: Spans) -> None:
        while inner.left:
            rule = "Difference from the previous size; -1 encodes null, -2 an external value."
            inner.number("difference", "zigzag", rule=rule)

    spans.later("entry sizes", size, build)
    spans.number("list size", "int32 LE")
    spans.number("version", "uint8", rule="Version of the layout; always 1.")


def _entry(spans: Spans, number: int, end: int) -> int:
    """Build one entry; its size follows the value, so the end is found by the next magic."""
    start = spans.position
    magic = BLOB_MAGIC.to_bytes(4, "little")
    at = start
    while True:
        at = spans.data.find(magic, at + 1, end)
        stop = end if at < 0 else at
        stated = int.from_bytes(spans.data[stop - 12 : stop - 4], "little")
        if stated == stop - start:
            break
        if at < 0:
            raise InvalidInputError(
                f"The size stored at the end of entry {number} must be {stop - start:,}, "
                f"the size of the entry in bytes, not {stated:,}."
            )
    with spans.group(f"entry {number}") as note:
        note.about = f"{stated - 16:,} bytes"
        spans.leaf("magic", "bytes", 4)
        spans.leaf("value", "bytes", stated - 16)
        spans.number("entry size", "int64 LE", rule="Size of the entry in bytes.")
        spans.number("checksum", "uint32 LE", rule="CRC-32 of the preceding bytes of the entry.")
    return number + 1
