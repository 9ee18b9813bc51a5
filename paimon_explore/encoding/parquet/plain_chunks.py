"""Reads column chunks of Parquet that contain nothing but values of fixed width.

A chunk that is neither compressed nor dictionary encoded, in one page, without nulls, consists of a
page header, the definition levels and the values. The footer tells how long each part is, so the
values of all such columns of a row group are read from the file to where they stay, by one system
call; headers and levels are checked afterwards. Arrow decodes and copies every chunk by itself,
which takes several times as long for files with many columns. Whatever differs from this form is
left to Arrow.

Spec: Parquet format, `parquet.thrift` (PageHeader); encodings PLAIN and RLE.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol, runtime_checkable

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.parquet.arrow_reader import RowGroupMetaData
from paimon_explore.encoding.varint import encode_varint
from paimon_explore.frozen_dataclass import dataclass

_TYPES = frozenset(
    {
        pa.lib.Type_INT32,
        pa.lib.Type_INT64,
        pa.lib.Type_FLOAT,
        pa.lib.Type_DOUBLE,
        pa.lib.Type_DATE32,
        pa.lib.Type_TIME32,
        pa.lib.Type_TIME64,
        pa.lib.Type_TIMESTAMP,
    }
)
"""Types of Arrow whose values Parquet stores with the same bytes."""
_LENGTH = 4
"""Bytes of the length before the definition levels."""
_MAX_HEAD = 128
"""Longer headers are not of the expected form."""
_CHUNKS_A_CALL = 500
"""Each takes two of the 1,024 buffers that one system call accepts on Linux."""
_BOUND = rb"[\x18\x28\x38\x48\x58\x68](?:\x08.{8}|\x04.{4})"
_STATISTICS = rb"(?:\x1c(?:" + _BOUND + rb"|\x16\x00|[\x11\x12\x21\x22])*\x00)?"
_HEADER_END = re.compile(rb"[\x06\x08]" + _STATISTICS + rb"\x00\x00", re.DOTALL)
"""The encoding of repetition levels, and statistics, which may count no nulls only."""


@runtime_checkable
class ReadsInto(Protocol):
    """A local file; see `fileio.local.LocalFile`."""

    def read_into(self, parts: Sequence[memoryview | pa.Buffer], offset: int) -> int:
        """Fill buffers, one after the other, with the bytes from an offset on.

        Returns:
            The number of bytes; fewer than fit at the end of the file, or for any other reason.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainChunk:
    """A column chunk that may contain nothing but values.

    Attributes:
        type: of the values.
        rows: of the row group.
        offset: of the page in the file.
        head: bytes of the page header and of the definition levels.
        size: bytes of the values.
        levels: the definition levels of values that are all defined; empty for required columns.
    """

    type: pa.DataType
    rows: int
    offset: int
    head: int
    size: int
    levels: bytes

    @property
    def end(self) -> int:
        """The offset after the chunk."""
        return self.offset + self.head + self.size

    def is_plain(self, head: bytes) -> bool:
        """Return whether the bytes before the values announce nothing but the values."""
        start = _header_start(len(self.levels) + self.size, self.rows)
        if not (head.startswith(start) and head.endswith(self.levels)):
            return False
        end = len(head) - len(self.levels)
        return _HEADER_END.fullmatch(head, len(start), end) is not None


def plain_chunk(
    group: RowGroupMetaData, leaf: int, field: "pa.Field[pa.DataType]"
) -> PlainChunk | None:
    """Return a chunk by its footer; None if it contains more than values, or several pages.

    Args:
        group: the row group.
        leaf: the index of the leaf column, which is not nested.
        field: of the column in Arrow.
    """
    data_type = field.type
    if data_type.id not in _TYPES:
        return None
    chunk, rows = group.column(leaf), group.num_rows
    size = rows * data_type.bit_width // 8
    head = chunk.total_compressed_size - size
    if not 0 < head <= _MAX_HEAD or chunk.compression != "UNCOMPRESSED":
        return None
    return PlainChunk(
        type=data_type,
        rows=rows,
        offset=chunk.data_page_offset,
        head=head,
        size=size,
        levels=_all_defined(rows) if field.nullable else b"",
    )


def read_plain_chunks(file: ReadsInto, chunks: Mapping[str, PlainChunk]) -> dict[str, Column]:
    """Read the values of columns; those that turn out to contain more are left out.

    Args:
        file: the file.
        chunks: by column.
    """
    found: dict[str, Column] = {}
    run: list[tuple[str, PlainChunk]] = []
    end = -1
    for name, chunk in sorted(chunks.items(), key=lambda each: each[1].offset):
        if run and (chunk.offset != end or len(run) == _CHUNKS_A_CALL):
            _read_run(file, run, found)
            run = []
        run.append((name, chunk))
        end = chunk.end
    if run:
        _read_run(file, run, found)
    return found


def _read_run(
    file: ReadsInto, run: Sequence[tuple[str, PlainChunk]], found: dict[str, Column]
) -> None:
    """Read chunks that follow one another in the file, by one system call."""
    heads = memoryview(bytearray(sum(chunk.head for _, chunk in run)))
    values = [pa.allocate_buffer(chunk.size) for _, chunk in run]
    parts: list[memoryview | pa.Buffer] = []
    at = 0
    for (_, chunk), own in zip(run, values, strict=True):
        parts += (heads[at : at + chunk.head], own)
        at += chunk.head
    if file.read_into(parts, run[0][1].offset) < run[-1][1].end - run[0][1].offset:
        return
    for (name, chunk), head, own in zip(run, parts[::2], values, strict=True):
        if chunk.is_plain(bytes(head)):
            found[name] = pa.Array.from_buffers(chunk.type, chunk.rows, [None, own])


@lru_cache
def _header_start(size: int, count: int) -> bytes:
    """Encode the start of a page header, up to the encoding of the definition levels.

    Args:
        size: bytes of levels and values.
        count: the number of values.
    """
    sizes = b"\x15" + encode_varint(2 * size)
    # data page, uncompressed and compressed size, number of values, PLAIN, RLE
    number = encode_varint(2 * count)
    return b"\x15\x00" + 2 * sizes + b"\x2c\x15" + number + b"\x15\x00\x15\x06\x15"


@lru_cache
def _all_defined(count: int) -> bytes:
    """Encode the definition levels of values that are all defined: one run of ones."""
    run = encode_varint(count << 1) + b"\x01"
    return len(run).to_bytes(_LENGTH, "little") + run
