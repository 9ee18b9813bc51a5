"""Late materialization of Parquet columns: reads only the pages that contain selected rows.

Pages are located by the page index of the file, or by their headers if there is none,
and decoded as an in-memory file (`pages`). The number of rows of a page is checked against the page
header, as a wrong number would return wrong rows.

If page metadata is inconsistent, unknown or too expensive to use, `PagesError` is raised and the
whole row group is read. This is always so for nested columns.

Page statistics of a column chunk, converted to Arrow.

They come from the ColumnIndex of the file or, if there is none, from the page headers.

The decoded metadata of the last files is kept: queries for single rows often read the same files.

Spec: Parquet format, `ColumnIndex` and `Statistics`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, offsets_from_sizes, take_rows
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    PageBounds,
    PagesError,
    SpanBounds,
    StoredColumn,
)
from paimon_explore.encoding.parquet.footer_fixes import stored_footer
from paimon_explore.encoding.parquet.pages import (
    ChunkPlace,
    PageList,
    SingleColumnFile,
    SingleColumnFooter,
    header_at,
    indexed_pages,
    walked_pages,
)
from paimon_explore.encoding.parquet.row_group_statistics import stored_bounds
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    ThriftList,
    decode_struct,
    int_of,
    struct_of,
    structs_of,
)
from paimon_explore.encoding.parts_ahead import requested
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass

_SCHEMA, _ROW_GROUPS, _ORDERS, _ENCRYPTED = 2, 4, 7, 8  # FileMetaData
_TYPE, _WIDTH, _REPETITION, _NAME, _CHILDREN = 1, 2, 3, 4, 5  # SchemaElement
_REPEATED = 2
_COLUMNS, _ROWS = 1, 3  # RowGroup
_FILE, _META, _CRYPTO = 1, 3, 8  # ColumnChunk
_OFFSET_INDEX, _COLUMN_INDEX = (4, 5), (6, 7)  # of it: offset and length
_PATH, _SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 7, 9, 11  # ColumnMetaData
_BY_TYPE = 1  # the only known ColumnOrder
_MAX_INDEX_BYTES = 16 << 20
_MIN_WALKED_ROWS = 16_384
"""Rows of a page from which on to read its header costs little compared with to decode it."""
_STATISTICS_BYTES = 16 << 10
"""Bytes read for a header with statistics; longer ones are not used."""
_KEPT_FILES = 64
_KEPT_BYTES = 32 << 10
"""Maximum size of a footer that is kept; decoded it takes about 15 times as much."""
_COPY_FRACTION = 0.25
"""Rows are copied if they are at most this fraction of the rows of their pages; else sliced."""


@dataclass(slots=True, kw_only=True)
class ParquetPages:
    """Access to the pages of an open file.

    Attributes:
        file: opened for random access.
        path: path of the file, for errors.
        leaves: indexes of the leaf columns by dotted path.
        arrow: the Arrow schema of the file.
        footer: the Thrift footer if it was changed in memory, else empty.
        may_walk: whether page headers may be read one by one, as small reads are cheap.
    """

    file: pa.NativeFile
    path: str
    leaves: Mapping[str, tuple[int, ...]]
    arrow: pa.Schema
    footer: bytes
    may_walk: bool
    _metadata: "_FileMetadata | None" = field(default=None)

    def read(self, offset: int, length: int) -> bytes:
        """Read bytes of the file; fewer at its end."""
        self.file.seek(offset)
        return self.file.read(length)

    def read_into(self, offset: int, buffer: memoryview) -> None:
        """Read bytes of the file into a buffer and fill it.

        Raises:
            PagesError: the file ends before.
        """
        self.file.seek(offset)
        if self.file.readinto(buffer) != len(buffer):
            raise PagesError("the file ends before the requested bytes")

    @property
    def metadata(self) -> "_FileMetadata":
        """The decoded footer.

        Raises:
            PagesError: the file is encrypted.
        """
        if self._metadata is None:
            footer = self.footer or stored_footer(self.file, self.path)
            decode = _kept_metadata if len(footer) <= _KEPT_BYTES else _kept_metadata.__wrapped__
            self._metadata = decode(self.path, footer)
        return self._metadata

    def column(self, group: int, name: str, first: int) -> "_PagedColumn":
        """Return a column of a row group; `first` is the position of its first row in the file.

        Raises:
            PagesError: the column is nested, or its location is unknown.
        """
        found = self.leaves.get(name, ())
        if len(found) != 1:
            raise PagesError("the column has more than one leaf column")
        chunk = self.metadata.chunk(group, found[0])
        if chunk.place.start + chunk.place.size > self.file.size():
            raise PagesError("the column chunk extends beyond the end of the file")
        return _PagedColumn(pages=self, name=name, first=first, of=chunk)


@dataclass(slots=True, kw_only=True)
class _ColumnChunk:
    """The metadata of a column chunk, as far as it is known.

    Attributes:
        element: its element of the schema.
        chunk: of the footer.
        footer: for files with some of its pages.
        place: where it is.
        is_ordered: whether its bounds are in the order of the column's type.
        pages: those that were located so far; rows are positions in the file.
        bounds: the statistics of its pages, if they were decoded.
    """

    element: Struct
    chunk: Struct
    footer: SingleColumnFooter
    place: ChunkPlace
    is_ordered: bool
    pages: PageList | None = None
    bounds: PageBounds | None = None


class _FileMetadata:
    """A decoded footer, and the column chunks that were used.

    Args:
        decoded: the footer.
    """

    def __init__(self, decoded: Struct) -> None:
        if _ENCRYPTED in decoded:
            raise PagesError("the file is encrypted")
        self._elements = [*structs_of(decoded[_SCHEMA][1])]
        self._leaves = [one for one in self._elements[1:] if not int_of(one, _CHILDREN)]
        self._groups = [
            ([*structs_of(group[_COLUMNS][1])], int_of(group, _ROWS))
            for group in structs_of(decoded[_ROW_GROUPS][1])
        ]
        self._orders = [*structs_of(decoded[_ORDERS][1])] if _ORDERS in decoded else []
        self._chunks: dict[tuple[int, int], _ColumnChunk] = {}

    def chunk(self, group: int, leaf: int) -> _ColumnChunk:
        """Return a column chunk.

        Raises:
            PagesError: the column is nested, or its location is unknown.
        """
        found = self._chunks.get((group, leaf))
        if found is None:
            found = self._chunks[group, leaf] = self._new_chunk(group, leaf)
        return found

    def _new_chunk(self, group: int, leaf: int) -> _ColumnChunk:
        element, (chunks, rows) = self._leaves[leaf], self._groups[group]
        chunk = chunks[leaf]
        meta = struct_of(chunk[_META][1])
        path = meta[_PATH][1]
        if not isinstance(path, ThriftList) or path.items != [element[_NAME][1]]:
            raise PagesError("the column is nested")
        if int_of(element, _REPETITION) == _REPEATED:
            raise PagesError("the column is repeated")
        if _CRYPTO in chunk:
            raise PagesError("the column chunk is encrypted")
        if _FILE in chunk:
            raise PagesError("the column chunk is stored in another file")
        return _ColumnChunk(
            element=element,
            chunk=chunk,
            footer=SingleColumnFooter(root=self._elements[0], element=element, chunk=meta),
            place=_place(meta, rows),
            is_ordered=leaf < len(self._orders) and _BY_TYPE in self._orders[leaf],
        )


@lru_cache(maxsize=_KEPT_FILES)
def _kept_metadata(path: str, footer: bytes) -> _FileMetadata:
    """Decode a footer; the path and all of its bytes tell whether it is known."""
    del path
    return _FileMetadata(decode_struct(footer))


def _place(meta: Struct, rows: int | None) -> ChunkPlace:
    start, size = int_of(meta, _DATA_OFFSET), int_of(meta, _SIZE)
    if start is None or size is None or rows is None:
        raise PagesError("the footer lacks the location of the column chunk")
    dictionary = int_of(meta, _DICTIONARY_OFFSET) or start
    if 0 < dictionary < start:
        start = dictionary
    if start < 0 or size < 0:
        raise PagesError("the column chunk begins before the file, or has a negative size")
    return ChunkPlace(start=start, size=size, rows=rows)


@dataclass(slots=True, kw_only=True)
class PagedGroup:
    """Pages of a row group; see `PagedRows`."""

    pages: ParquetPages
    group: int
    first: int
    batch_rows: int
    page_rows: None = None
    _columns: "dict[str, _PagedColumn]" = field(default_factory=dict)

    def bounds(self, column: StoredColumn) -> PageBounds | None:
        """See `PagedRows`."""
        with _as_pages_error():
            return self._column(column).bounds(to_arrow(column.type))

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """See `PagedRows`."""
        with _as_pages_error():
            return self._column(column).share(rows)

    def values(self, column: StoredColumn, rows: Ints) -> Column:
        """See `PagedRows`."""
        with _as_pages_error():
            found = self._column(column).values(rows)
        return conform(found, column.type, path=self.pages.path, column=column.name)

    def _column(self, column: StoredColumn) -> "_PagedColumn":
        if column.name not in self._columns:
            self._columns[column.name] = self.pages.column(self.group, column.name, self.first)
        return self._columns[column.name]


@contextmanager
def _as_pages_error() -> Iterator[None]:
    """Translate all errors to `PagesError`: the row group is then read without page metadata.

    If the file itself is damaged, that read fails with the actual error.
    """
    try:
        yield
    except PagesError:
        raise
    except (PaimonError, ValueError, KeyError, IndexError, OSError, OverflowError) as error:
        raise PagesError(str(error)) from error


@dataclass(slots=True, kw_only=True)
class _PagedColumn:
    """A column chunk of an open file; rows are positions in the file."""

    pages: ParquetPages
    name: str
    first: int
    of: _ColumnChunk

    def bounds(self, data_type: pa.DataType) -> PageBounds | None:
        """Return the statistics of the pages; None if there are no usable ones."""
        of = self.of
        physical, width = int_of(of.element, _TYPE), int_of(of.element, _WIDTH)
        if physical is None or not of.is_ordered or self._arrow != data_type:
            return None
        if of.bounds is not None:
            return of.bounds
        if _COLUMN_INDEX[0] in of.chunk:
            index = self._index(_COLUMN_INDEX)
            if index is None or _OFFSET_INDEX[0] not in of.chunk:
                return None
            firsts = self._pages_until(self.first + of.place.rows).firsts
            found = indexed_bounds(index, physical, width, np.diff(firsts), data_type)
        else:
            if not self.pages.may_walk or self._rows_of_first_page() < _MIN_WALKED_ROWS:
                return None
            pages = self._pages_until(self.first + of.place.rows)
            firsts = pages.firsts
            headers = [self.pages.read(at, _STATISTICS_BYTES) for at in pages.offsets.tolist()]
            found = header_bounds(headers, physical, width, data_type)
        of.bounds = None if found is None else PageBounds(firsts=firsts, bounds=found)
        return of.bounds

    def _rows_of_first_page(self) -> int:
        firsts = self._pages_until(self.first + 1).firsts
        return int(firsts[1] - firsts[0])

    def share(self, rows: Ints) -> float:
        """Return the fraction of the row group that is on the pages of some rows."""
        firsts = self._pages_until(int(rows[-1]) + 1).firsts
        is_needed = np.diff(np.searchsorted(rows, firsts)) > 0
        return float(np.diff(firsts)[is_needed].sum()) / self.of.place.rows

    def values(self, rows: Ints) -> Column:
        """Read the values of rows, in ascending order, as Arrow decodes them."""
        pages = self._pages_until(int(rows[-1]) + 1)
        splits = np.searchsorted(rows, pages.firsts)
        counts = np.diff(splits)
        selected = np.flatnonzero(counts)
        if splits[0] or splits[-1] != len(rows):
            raise PagesError("a requested row is not on any page")
        sizes = np.diff(pages.firsts)[selected]
        file = SingleColumnFile(pages.dictionary[1], int(pages.sizes[selected].sum()))
        self._read_pages(pages, selected, file.pages)
        is_coded = self._check(pages, selected, file.pages)
        if is_coded:
            self._read_dictionary(pages, file.dictionary)
        ends = offsets_from_sizes(sizes)
        found = file.decoded(self.of.footer, int(ends[-1]), is_coded=is_coded)
        if not _same_values(found.type, self._arrow):
            raise PagesError(f"the pages have type {found.type}, the schema requires {self._arrow}")
        # a slice keeps the memory of all pages
        if rows[-1] - rows[0] + 1 == len(rows) > len(found) * _COPY_FRACTION:
            return found.slice(int(rows[0] - pages.firsts[selected[0]]), len(rows))
        places = rows + np.repeat(ends[:-1] - pages.firsts[selected], counts[selected])
        return take_rows(found, places)

    def _check(self, pages: PageList, selected: Ints, data: memoryview) -> bool:
        """Check the headers of concatenated pages; returns whether a page needs the dictionary."""
        is_coded = False
        at = 0
        for page in selected.tolist():
            size = int(pages.sizes[page])
            header = header_at(
                lambda start, length: bytes(data[start : start + length]), at, at + size
            )
            if header.is_dictionary or (
                header.rows != pages.firsts[page + 1] - pages.firsts[page]
                or header.end + header.size != size
            ):
                raise PagesError(f"page {page} does not match the offset index")
            is_coded |= header.is_coded
            at += size
        return is_coded

    def _read_pages(self, pages: PageList, selected: Ints, into: memoryview) -> None:
        """Read pages into a buffer; adjacent pages are read in one request."""
        ends = pages.offsets + pages.sizes
        breaks = np.flatnonzero(pages.offsets[selected[1:]] != ends[selected[:-1]])
        starts = pages.offsets[selected[np.append(0, breaks + 1)]]
        stops = ends[selected[np.append(breaks, len(selected) - 1)]]
        sizes = (stops - starts).tolist()
        ranges = [*zip(starts.tolist(), sizes, strict=True)]
        at = 0
        with requested(self.pages.file, ranges):
            for start, size in ranges:
                self.pages.read_into(start, into[at : at + size])
                at += size

    def _read_dictionary(self, pages: PageList, into: memoryview) -> None:
        self.pages.read_into(pages.dictionary[0], into)
        header = header_at(lambda start, length: bytes(into[start : start + length]), 0, len(into))
        if not header.is_dictionary:
            raise PagesError("the column chunk has no dictionary page")

    def _pages_until(self, until: int) -> PageList:
        """Return the pages up to at least a row."""
        known = self.of.pages
        if known is None or known.firsts[-1] < until:
            index = self._index(_OFFSET_INDEX)
            if index is not None:
                found = indexed_pages(index, self.of.place)
            elif self.pages.may_walk:
                rows = until - self.first if known is None else self.of.place.rows
                found = walked_pages(self.pages.read, self.of.place, rows)
            else:
                raise PagesError("the file has no offset index")
            known = self.of.pages = replace(found, firsts=found.firsts + self.first)
        return known

    def _index(self, fields: tuple[int, int]) -> bytes | None:
        """Read an index by the fields of its offset and length."""
        offset, length = (int_of(self.of.chunk, name) for name in fields)
        if offset is None or length is None:
            return None
        if not 0 < length <= _MAX_INDEX_BYTES:
            raise PagesError(f"a page index must have 1 to {_MAX_INDEX_BYTES:,} bytes")
        if not 0 < offset < self.pages.file.size():
            raise PagesError("a page index must be within the file")
        return self.pages.read(offset, length)

    @property
    def _arrow(self) -> pa.DataType:
        found: pa.DataType = self.pages.arrow.field(self.name).type
        return found


def _same_values(found: pa.DataType, expected: pa.DataType) -> bool:
    """Return whether two types differ at most in dictionary encoding or offset width."""
    return found == expected or _value_type(found) == _value_type(expected)


def _value_type(data_type: pa.DataType) -> object:
    if isinstance(data_type, pa.DictionaryType):
        data_type = data_type.value_type
    for form in (pa.types.is_string, pa.types.is_binary):
        if form(data_type):
            return form
    if pa.types.is_large_string(data_type):
        return pa.types.is_string
    return pa.types.is_binary if pa.types.is_large_binary(data_type) else data_type


_NULL_PAGES, _MIN_VALUES, _MAX_VALUES, _NULL_COUNTS = 1, 2, 3, 5
_TRUE = 1
_OF_PAGE = ((5, 5), (8, 8))
"""Data page headers within a PageHeader, versions 1 and 2, and the statistics within each."""
_NULL_COUNT, _MAX_VALUE, _MIN_VALUE = 3, 5, 6  # Statistics
_LISTS = (_NULL_PAGES, _MIN_VALUES, _MAX_VALUES)


def indexed_bounds(
    index: bytes, physical: int, width: int | None, rows: Ints, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per page, from the ColumnIndex.

    Args:
        index: the bytes of the ColumnIndex.
        physical: number of the column's physical type.
        width: bytes per value of a fixed-length type.
        rows: number of rows of each page.
        data_type: the column's Arrow type, the same in the file and in the table.

    Returns:
        None if the index is malformed, has another number of pages, or the type has no usable
        order.
    """
    try:
        found = decode_struct(index)
        lists = [found[field][1] for field in _LISTS]
    except (ThriftError, KeyError):
        return None
    empty, lows, highs = (_items(values, len(rows)) for values in lists)
    if empty is None or lows is None or highs is None:
        return None
    is_empty = [item == _TRUE for item in empty]
    counted = _items(found[_NULL_COUNTS][1], len(rows)) if _NULL_COUNTS in found else None
    nulls = [
        size if skip else (count if isinstance(count, int) else None)
        for skip, count, size in zip(
            is_empty, counted or [None] * len(rows), rows.tolist(), strict=True
        )
    ]
    minimums, maximums = (
        [None if skip else value for value, skip in zip(values, is_empty, strict=True)]
        for values in (lows, highs)
    )
    return stored_bounds(minimums, maximums, nulls, (physical, width), data_type)


def header_bounds(
    headers: Sequence[bytes], physical: int, width: int | None, data_type: pa.DataType
) -> SpanBounds | None:
    """Return the same from the headers of the pages; bytes after a header are ignored."""
    try:
        found = [_header_statistics(header) for header in headers]
    except ThriftError:
        return None
    lows, highs = (
        [page.get(field, (None, None))[1] for page in found] for field in (_MIN_VALUE, _MAX_VALUE)
    )
    nulls = [int_of(page, _NULL_COUNT) for page in found]
    return stored_bounds(lows, highs, nulls, (physical, width), data_type)


def _header_statistics(header: bytes) -> Struct:
    page = decode_struct(header)
    for number, statistics in _OF_PAGE:
        inside = struct_of(page[number][1]) if number in page else {}
        if statistics in inside:
            return struct_of(inside[statistics][1])
    return {}


def _items(values: object, count: int) -> list[object] | None:
    if not isinstance(values, ThriftList) or len(values.items) != count:
        return None
    return values.items
