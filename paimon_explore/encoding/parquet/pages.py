"""Locations of the pages of a column chunk, and the rows that they contain.

They come from the OffsetIndex of the file or, if there is none, from the page headers, which are
read one after the other without decompressing pages. Only for columns without repetition, where
every value is a row.

Inconsistent metadata raises `PagesError`; the whole row group must then be read.

Spec: Parquet format, `PageHeader` and `OffsetIndex`.

In-memory Parquet file with selected pages of some columns, which Arrow decodes.

Arrow cannot skip pages. A page depends only on the dictionary of its chunk, so selected pages are
concatenated as they are, compressed, with a footer of one row group. The footer is built from the
schema elements and the chunk metadata of the original file, without the fields that apply to whole
chunks only. Columns can be together in a file if their pages have the same rows.

Spec: Parquet format, `parquet.thrift`.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints, as_bytes
from paimon_explore.encoding.data_file_reader import PagesError
from paimon_explore.encoding.parquet.arrow_reader import open_reader
from paimon_explore.encoding.parquet.footer_fixes import MAGIC, footer_as_file
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    ThriftList,
    Wire,
    decode_numbers,
    decode_struct,
    encode_struct,
    int_of,
    structs_of,
    varint,
)
from paimon_explore.frozen_dataclass import dataclass

ReadRange = Callable[[int, int], bytes]
"""Reads bytes of the file by offset and length; fewer at its end."""

_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3  # page types
_TYPE, _UNPACKED, _SIZE = 1, 2, 3  # fields of PageHeader
_INSIDE = (5, 7, 8)  # DataPageHeader, DictionaryPageHeader, DataPageHeaderV2
_DICTIONARY_VALUES = (7 << 8) + 1
_VALUES, _ENCODING = (5 << 8) + 1, (5 << 8) + 2
_VALUES_V2, _ROWS_V2, _ENCODING_V2 = (8 << 8) + 1, (8 << 8) + 3, (8 << 8) + 4
_CODED = (2, 8)  # PLAIN_DICTIONARY, RLE_DICTIONARY

_HEADER_BYTES = 128
"""Bytes read for a header; longer ones, with long strings as statistics, are read again."""
_MAX_HEADER_BYTES = 16 << 20

_LOCATIONS = b"\x19"  # field 1, a list
_STRUCTS = 0x0C
_LONG_LIST = 15
_LOCATION = np.array([0x16, 0x15, 0x16, 0x00])
"""The bytes between the three numbers of a PageLocation: field headers and the stop byte."""
_TOKENS = 7
_VARINT_BYTES = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHeader:
    """A decoded page header.

    Attributes:
        is_dictionary: whether it is a dictionary page.
        rows: number of rows of a data page.
        values: number of values of a dictionary page.
        is_coded: whether the page is dictionary encoded.
        size: bytes of the page without the header.
        unpacked: the same after decompression.
        end: position after the header, from the start of the data that was read.
    """

    is_dictionary: bool
    rows: int
    values: int
    is_coded: bool
    size: int
    unpacked: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlace:
    """Location of a column chunk.

    Attributes:
        start: offset of its first page in the file.
        size: number of bytes.
        rows: number of rows of the row group.
    """

    start: int
    size: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageList:
    """Locations of the data pages of a chunk, in order; possibly only of its first pages.

    Attributes:
        offsets: offset of each page, with its header, in the file.
        sizes: bytes of each page, with its header.
        firsts: first row of each page, and the end of the last page.
        dictionary: offset and size of the dictionary page; size 0 if there is none.
    """

    offsets: Ints
    sizes: Ints
    firsts: Ints
    dictionary: tuple[int, int]


def page_header(data: bytes, at: int = 0) -> PageHeader:
    """Decode the page header at a byte.

    Raises:
        PagesError: it is malformed, or the page type is unknown.
    """
    try:
        found, end = decode_numbers(data, at, _INSIDE)
    except ThriftError as error:
        raise PagesError(str(error)) from error
    kind, size = found.get(_TYPE), found.get(_SIZE, -1)
    rows: int | None = 0
    encoding: int | None = 0
    if kind == _DATA:
        rows, encoding = found.get(_VALUES), found.get(_ENCODING)
    elif kind == _DATA_V2:
        rows, encoding = found.get(_ROWS_V2), found.get(_ENCODING_V2)
        if rows != found.get(_VALUES_V2):
            raise PagesError(
                f"a page must have as many values as rows, not {found.get(_VALUES_V2)} and {rows}"
            )
    if size < 0 or rows is None or rows < 0 or encoding is None:
        raise PagesError(f"the page header at byte {at} is invalid")
    if kind not in (_DATA, _DICTIONARY, _DATA_V2):
        raise PagesError(f"the page type {kind} is unknown")
    return PageHeader(
        is_dictionary=kind == _DICTIONARY,
        rows=rows,
        values=found.get(_DICTIONARY_VALUES, 0),
        is_coded=encoding in _CODED,
        size=size,
        unpacked=found.get(_UNPACKED, size),
        end=end,
    )


def walked_pages(read: ReadRange, place: ChunkPlace, until: int) -> PageList:
    """Locate the pages up to row `until - 1` by their headers.

    Raises:
        PagesError: the headers are inconsistent with the number of rows.
    """
    at, stop = place.start, place.start + place.size
    offsets: list[int] = []
    sizes: list[int] = []
    firsts = [0]
    dictionary = (at, 0)
    while firsts[-1] < until:
        header = header_at(read, at, stop)
        size = header.end + header.size
        if at + size > stop:
            raise PagesError(f"the page at byte {at} extends beyond its column chunk")
        if header.is_dictionary:
            dictionary = (at, size)
        elif header.rows:
            offsets.append(at)
            sizes.append(size)
            firsts.append(firsts[-1] + header.rows)
        at += size
    if firsts[-1] > place.rows:
        raise PagesError(f"the pages have {firsts[-1]} rows, but the row group has {place.rows}")
    return PageList(
        offsets=np.array(offsets, np.int64),
        sizes=np.array(sizes, np.int64),
        firsts=np.array(firsts, np.int64),
        dictionary=dictionary,
    )


def header_at(read: ReadRange, at: int, stop: int) -> PageHeader:
    """Read the page header at a byte; `stop` is the end of the page or chunk.

    Raises:
        PagesError: it is malformed.
    """
    length = _HEADER_BYTES
    while True:
        data = read(at, min(length, stop - at))
        try:
            return page_header(data)
        except PagesError:
            if len(data) < length or length >= _MAX_HEADER_BYTES:
                raise
            length *= 32


def indexed_pages(index: bytes, place: ChunkPlace) -> PageList:
    """Locate the pages by the OffsetIndex of the chunk.

    Raises:
        PagesError: the index is malformed, or inconsistent with the chunk.
    """
    locations = _locations(index)
    offsets, sizes, firsts = locations.T
    stop = place.start + place.size
    ends = offsets + sizes
    fits = (
        len(offsets) > 0
        and firsts[0] == 0
        and offsets[0] >= place.start
        and bool((sizes > 0).all())
        and bool((ends[:-1] <= offsets[1:]).all())
        and ends[-1] <= stop
        and bool((firsts[:-1] < firsts[1:]).all())
        and firsts[-1] < place.rows
    )
    if not fits:
        raise PagesError("the offset index does not match the column chunk")
    return PageList(
        offsets=offsets,
        sizes=sizes,
        firsts=np.append(firsts, place.rows),
        dictionary=(place.start, int(offsets[0]) - place.start),
    )


def _locations(index: bytes) -> Ints:
    """Decode offset, size and first row of each page: n rows by 3 columns.

    In the usual form all bytes of the locations, also the field headers, are varints, which are
    decoded in one vectorized step.
    """
    if index[:1] == _LOCATIONS and len(index) > 1 and index[1] & 0x0F == _STRUCTS:
        count, at = index[1] >> 4, 2
        try:
            if count == _LONG_LIST:
                count, at = varint(index, at)
        except (ThriftError, IndexError) as error:
            raise PagesError(str(error)) from error
        found = _usual_locations(index[at:], count)
        if found is not None:
            return found
    return _any_locations(index)


def _usual_locations(data: bytes, count: int) -> Ints | None:
    raw = as_bytes(data)
    ends = np.flatnonzero(raw < 0x80)[: count * _TOKENS] + 1  # noqa: PLR2004 - the continuation bit
    if len(ends) < count * _TOKENS or not count:
        return None
    starts = np.append(0, ends[:-1])
    sizes = ends - starts
    if sizes.max() > _VARINT_BYTES:
        return None
    used = raw[: ends[-1]]
    place = np.arange(len(used)) - np.repeat(starts, sizes)
    bits = (used & 0x7F).astype(np.int64) << (7 * place)
    tokens = np.add.reduceat(bits, starts).reshape(count, _TOKENS)
    if not bool((tokens[:, 0::2] == _LOCATION).all()):
        return None
    numbers = tokens[:, 1::2]
    decoded: Ints = (numbers >> 1) ^ -(numbers & 1)
    return decoded


def _any_locations(index: bytes) -> Ints:
    try:
        found = decode_struct(index)
        rows = [
            [int_of(location, field) for field in (1, 2, 3)] for location in structs_of(found[1][1])
        ]
        return np.array(rows, np.int64).reshape(-1, 3)
    except (ThriftError, KeyError, TypeError, OverflowError) as error:
        raise PagesError(f"the offset index is malformed: {error}") from error


_CHILDREN = 5  # SchemaElement
_CHUNK_TYPE, _ENCODINGS, _PATH, _CODEC, _CHUNK_VALUES = 1, 2, 3, 4, 5  # ColumnMetaData
_UNCOMPRESSED, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET = 6, 7, 9, 11
_FOOTER_BYTES = 4096
"""Space reserved for the footer, per column; names are rarely longer than some hundred bytes."""
_COPIED_FIELDS = (_CHUNK_TYPE, _ENCODINGS, _PATH, _CODEC, _UNCOMPRESSED)


class PagesColumn:
    """Metadata of a column chunk for the footers of files with some of its pages.

    Args:
        elements: the schema element of the column, after those of the groups that contain it.
        chunk: the metadata of the chunk.
    """

    def __init__(self, elements: Sequence[Struct], chunk: Struct) -> None:
        *groups, leaf = elements
        only = [{**group, _CHILDREN: (Wire.I32, 1)} for group in groups]
        self.elements = [encode_struct(element) for element in (*only, leaf)]
        self._chunk = {
            field: _encoded_list(chunk[field]) for field in _COPIED_FIELDS if field in chunk
        }

    def chunk(self, rows: int, start: int, dictionary_size: int, size: int) -> Struct:
        """Return the metadata of a chunk with some of the pages.

        Args:
            rows: number of rows of the pages.
            start: offset of the first page.
            dictionary_size: bytes of the dictionary page, which is the first; 0 if there is none.
            size: bytes of all pages.
        """
        chunk: Struct = dict(self._chunk)
        chunk[_CHUNK_VALUES] = (Wire.I64, rows)
        chunk[_COMPRESSED] = (Wire.I64, size)
        chunk[_DATA_OFFSET] = (Wire.I64, start + dictionary_size)
        if dictionary_size:
            chunk[_DICTIONARY_OFFSET] = (Wire.I64, start)
        return {2: (Wire.I64, start), 3: (Wire.STRUCT, chunk)}


def _encoded_list(value: tuple[Wire, object]) -> tuple[Wire, object]:
    """Encode a list, which is then written as its bytes; other values stay as they are."""
    is_list = value[0] is Wire.LIST
    return (Wire.LIST, encode_struct({1: value})[1:-1]) if is_list else value


class PagesFile:
    """A file of some pages of columns, in one buffer, into which the pages are read.

    Args:
        columns: their metadata.
        sizes: bytes of the dictionary page of each column, needed or not, and of its other pages.
    """

    def __init__(self, columns: Sequence[PagesColumn], sizes: Sequence[tuple[int, int]]) -> None:
        self._columns = columns
        self._sizes = sizes
        ends = accumulate(map(sum, sizes), initial=len(MAGIC))
        self._starts = [*ends]
        self._end = self._starts.pop()
        # Arrow's memory pool reuses memory; page faults of new memory cost as much as the copy
        self._buffer = pa.allocate_buffer(self._end + _FOOTER_BYTES * len(columns))
        self._view = memoryview(self._buffer).cast("B")

    def dictionary(self, column: int) -> memoryview:
        """Return the buffer of the dictionary page of a column, with its header."""
        start = self._starts[column]
        return self._view[start : start + self._sizes[column][0]]

    def pages(self, column: int) -> memoryview:
        """Return the buffer of the other pages of a column, with their headers, in order."""
        dictionary_size, size = self._sizes[column]
        start = self._starts[column] + dictionary_size
        return self._view[start : start + size]

    def decoded(
        self, root: Struct, rows: int, until: int, *, are_coded: Sequence[bool]
    ) -> pa.RecordBatch:
        """Decode the values of the pages up to a row.

        Args:
            root: the root element of the schema.
            rows: number of rows of the pages, the same of each column.
            until: the number of rows to decode, at least one.
            are_coded: whether the dictionary page of each column is needed.

        Returns:
            The first `until` rows, in Arrow's default types for the Parquet types; of a column in
            groups, structs with only that field.

        Raises:
            PagesError: the pages cannot be decoded, or have fewer rows.
        """
        end = footer_as_file(self._footer(root, rows, are_coded))[len(MAGIC) :]
        if len(end) > _FOOTER_BYTES * len(self._columns):
            raise PagesError("the footer is too large")
        self._view[: len(MAGIC)] = MAGIC
        self._view[self._end : self._end + len(end)] = end
        parts: list[pa.RecordBatch] = []
        try:
            file = open_reader(pa.BufferReader(self._buffer.slice(0, self._end + len(end))))
            for batch in file.iter_batches(until, [0], use_threads=False):
                parts.append(batch)
                until -= batch.num_rows
                if until <= 0:
                    break
            if until > 0:
                raise PagesError(f"the pages have fewer than {rows} rows")
            if len(parts) == 1:
                return parts[0]
            columns = zip(*(part.columns for part in parts), strict=True)
            found = [pa.concat_arrays(column) for column in columns]
        except (pa.ArrowException, OSError, ValueError) as error:
            raise PagesError(str(error)) from error
        return pa.RecordBatch.from_arrays(found, schema=parts[0].schema)

    def _footer(self, root: Struct, rows: int, are_coded: Sequence[bool]) -> bytes:
        chunks: list[object] = []
        for column, start, (dictionary, size), is_coded in zip(
            self._columns, self._starts, self._sizes, are_coded, strict=True
        ):
            if is_coded:
                chunks.append(column.chunk(rows, start, dictionary, dictionary + size))
            else:
                chunks.append(column.chunk(rows, start + dictionary, 0, size))
        group: Struct = {
            1: (Wire.LIST, ThriftList(Wire.STRUCT, chunks)),
            2: (Wire.I64, self._end),
            3: (Wire.I64, rows),
        }
        elements: list[object] = [{**root, _CHILDREN: (Wire.I32, len(chunks))}]
        elements += [element for column in self._columns for element in column.elements]
        return encode_struct(
            {
                1: (Wire.I32, 2),
                2: (Wire.LIST, ThriftList(Wire.STRUCT, elements)),
                3: (Wire.I64, rows),
                4: (Wire.LIST, ThriftList(Wire.STRUCT, [group])),
            }
        )
