"""Decodes column chunks of Parquet that contain nothing but values of fixed width.

If a chunk is neither compressed nor dictionary encoded and has no nulls, its values are copied from
the file. Arrow needs twice the time for chunks of some kilobytes, as of files with many columns.
Whatever differs from this form is left to Arrow: the functions return None for it.

Spec: Parquet format, `parquet.thrift` (PageHeader); encodings PLAIN and RLE.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import Column, as_buffer
from paimon_explore.frozen_dataclass import dataclass

_WIDTHS: Mapping[str, int] = {"INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_ENCODINGS = frozenset({"PLAIN", "RLE", "BIT_PACKED"})
_LENGTH = 4
"""Bytes of the length before the definition levels."""
_INTEGER = rb"([\x80-\xff]{0,4}[\x00-\x7f])"
_BOUND = rb"[\x18\x28\x38\x48\x58\x68](?:\x08.{8}|\x04.{4})"
_STATISTICS = rb"(?:\x1c(?:" + _BOUND + rb"|\x16\x00|[\x11\x12\x21\x22])*\x00)?"
_PLAIN_PAGE = re.compile(
    rb"\x15\x00"  # the type: a data page of version 1
    rb"\x15"
    + _INTEGER
    + rb"\x15"
    + _INTEGER  # uncompressed and compressed size
    + rb"\x2c\x15"
    + _INTEGER  # the number of values
    + rb"\x15\x00\x15\x06\x15[\x06\x08]"  # the encodings of values, PLAIN, and of levels
    + _STATISTICS
    + rb"\x00\x00",
    re.DOTALL,
)
"""The header of a page with PLAIN values; statistics may count no nulls only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainChunk:
    """A column chunk that may contain nothing but values.

    Attributes:
        type: of the values.
        width: bytes of a value.
        rows: of the row group.
        offset: of the first page in the file.
        size: bytes of all pages.
        optional: whether the pages have definition levels.
    """

    type: pa.DataType
    width: int
    rows: int
    offset: int
    size: int
    optional: bool

    def read(self, file: pa.NativeFile) -> "Column | None":
        """Read the values; None if the pages are not in the expected form."""
        data: bytes = file.read_at(self.size, self.offset)  # type: ignore[call-arg]  # in stubs
        parts = []
        at, rows = 0, 0
        while at < len(data):
            found = self._page(data, at)
            if found is None:
                return None
            at, values = found
            parts.append(values)
            rows += len(values) // self.width
        if rows != self.rows or not parts:
            return None
        joined = parts[0].copy() if len(parts) == 1 else np.concatenate(parts)
        return pa.Array.from_buffers(self.type, rows, [None, as_buffer(joined)])

    def _page(self, data: bytes, at: int) -> tuple[int, npt.NDArray[np.uint8]] | None:
        """Return the end of a page and its values; None if it is not in the expected form."""
        header = _PLAIN_PAGE.match(data, at)
        if header is None:
            return None
        size, compressed, count = map(_integer, header.groups())
        if min(size, count) < 0:
            return None
        levels = _all_defined(count) if self.optional else b""
        first, end = header.end() + len(levels), header.end() + size
        if size != compressed or end > len(data) or first + count * self.width != end:
            return None
        if not data.startswith(levels, header.end()):
            return None
        return end, np.frombuffer(data, np.uint8, count * self.width, first)


def plain_chunk(
    group: pq.RowGroupMetaData, column: pq.ColumnSchema, leaf: int, data_type: pa.DataType
) -> PlainChunk | None:
    """Return a chunk by its footer; None if it contains more than values.

    Args:
        group: the row group.
        column: the leaf column, not nested.
        leaf: its index.
        data_type: its type in Arrow.
    """
    width = _WIDTHS.get(column.physical_type)
    if width is None or not pa.types.is_primitive(data_type) or data_type.bit_width != width * 8:
        return None
    if column.max_repetition_level or column.max_definition_level > 1:
        return None
    chunk = group.column(leaf)
    if chunk.compression != "UNCOMPRESSED" or chunk.has_dictionary_page:
        return None
    if not _ENCODINGS.issuperset(chunk.encodings) or chunk.num_values != group.num_rows:
        return None
    return PlainChunk(
        type=data_type,
        width=width,
        rows=group.num_rows,
        offset=chunk.data_page_offset,
        size=chunk.total_compressed_size,
        optional=column.max_definition_level == 1,
    )


def _integer(encoded: bytes) -> int:
    """Decode an integer of Thrift's compact protocol; -1 if it is negative."""
    value = 0
    for place, byte in enumerate(encoded):
        value |= (byte & 0x7F) << (7 * place)
    return -1 if value & 1 else value >> 1


def _all_defined(count: int) -> bytes:
    """Encode the definition levels of values that are all defined: one run of ones."""
    run = bytearray()
    header = count << 1
    while header > 0x7F:  # noqa: PLR2004 - seven bits a byte
        run.append(header & 0x7F | 0x80)
        header >>= 7
    run.append(header)
    run.append(1)
    return len(run).to_bytes(_LENGTH, "little") + bytes(run)


def read_with_plain_chunks(
    file: pa.NativeFile,
    chunks: Mapping[str, PlainChunk],
    rest: Callable[[Sequence[str]], Iterator[pa.RecordBatch]],
    columns: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group in batches.

    Args:
        file: opened for random access.
        chunks: by column; those that turn out to contain more are read by `rest`.
        rest: reads other columns in batches.
        columns: the columns in the order of the batches.
    """
    values = {name: chunk.read(file) for name, chunk in chunks.items()}
    plain = {name: found for name, found in values.items() if found is not None}
    others = [name for name in columns if name not in plain]
    if not others:
        yield pa.RecordBatch.from_arrays([plain[name] for name in columns], names=[*columns])
        return
    first = 0
    for batch in rest(others):
        rows = batch.num_rows
        arrays = [
            plain[name].slice(first, rows) if name in plain else batch.column(name)
            for name in columns
        ]
        first += rows
        yield pa.RecordBatch.from_arrays(arrays, names=[*columns])
