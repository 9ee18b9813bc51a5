"""Late materialization of Parquet columns: reads only the pages that contain selected rows.

Pages are located by the page index of the file, or by their headers if there is none,
and decoded as an in-memory file (`pages`). The number of rows of a page is checked against the page
header, as a wrong number would return wrong rows.

If page metadata is inconsistent, unknown or too expensive to use, `PagesError` is raised and the
whole row group is read. This is always so for nested columns.

The decoded metadata of the last files is kept: queries for single rows often read the same files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, build_fixed, offsets_from_sizes
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    PageBounds,
    PagesError,
    StoredColumn,
)
from paimon_explore.encoding.parquet.footer_fixes import stored_footer
from paimon_explore.encoding.parquet.page_bounds import header_bounds, indexed_bounds
from paimon_explore.encoding.parquet.pages import (
    ChunkPlace,
    PageList,
    PagesColumn,
    PagesFile,
    ReadRange,
    header_at,
    indexed_pages,
    walked_pages,
)
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftList,
    decode_struct,
    int_of,
    struct_of,
    structs_of,
)
from paimon_explore.encoding.parts_ahead import Range, requested
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
"""Rows are copied if they are at most this fraction of the decoded rows; else sliced."""
_VALUE_BYTES = 8
"""About the size of a decoded value."""


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
        column: for files with some of its pages.
        place: where it is.
        is_ordered: whether its bounds are in the order of the column's type.
        pages: those that were located so far; rows are positions in the file.
        bounds: the statistics of its pages, if they were decoded.
    """

    element: Struct
    chunk: Struct
    column: PagesColumn
    place: ChunkPlace
    is_ordered: bool
    pages: PageList | None = None
    bounds: PageBounds | None = None


class _FileMetadata:
    """A decoded footer, and the column chunks that were used.

    Args:
        decoded: the footer.

    Attributes:
        root: the root element of the schema.
    """

    def __init__(self, decoded: Struct) -> None:
        if _ENCRYPTED in decoded:
            raise PagesError("the file is encrypted")
        self.root, *elements = structs_of(decoded[_SCHEMA][1])
        self._leaves = [one for one in elements if not int_of(one, _CHILDREN)]
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
            column=PagesColumn(element, meta),
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

    def values(self, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        """See `PagedRows`."""
        with _as_pages_error():
            chosen = [self._column(column).chosen(rows) for column in columns]
            with requested(self.pages.file, [part for one in chosen for part in one.ranges]):
                found = {
                    name: values
                    for together in _together(chosen)
                    for name, values in _decoded(self.pages, together, rows)
                }
        return tuple(
            conform(found[column.name], column.type, path=self.pages.path, column=column.name)
            for column in columns
        )

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

    def chosen(self, rows: Ints) -> "_ChosenPages":
        """Return the pages that contain rows, which are in ascending order."""
        pages = self._pages_until(int(rows[-1]) + 1)
        splits = np.searchsorted(rows, pages.firsts)
        if splits[0] or splits[-1] != len(rows):
            raise PagesError("a requested row is not on any page")
        counts = np.diff(splits)
        at = np.flatnonzero(counts)
        return _ChosenPages(
            of=self,
            dictionary=pages.dictionary,
            offsets=pages.offsets[at],
            sizes=pages.sizes[at],
            firsts=pages.firsts[at],
            rows=pages.firsts[at + 1] - pages.firsts[at],
            counts=counts[at],
        )

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenPages:
    """The pages of a column that contain some rows.

    Attributes:
        of: the column.
        dictionary: offset and size of its dictionary page; size 0 if there is none.
        offsets: offset of each page, with its header, in the file.
        sizes: bytes of each page, with its header.
        firsts: first row of each page.
        rows: number of rows of each page.
        counts: how many of the rows are on each page.
    """

    of: _PagedColumn
    dictionary: tuple[int, int]
    offsets: Ints
    sizes: Ints
    firsts: Ints
    rows: Ints
    counts: Ints

    @property
    def ranges(self) -> list[Range]:
        """Offset and length of consecutive pages."""
        ends = self.offsets + self.sizes
        breaks = np.flatnonzero(self.offsets[1:] != ends[:-1])
        starts = self.offsets[np.append(0, breaks + 1)]
        stops = ends[np.append(breaks, len(ends) - 1)]
        return [*zip(starts.tolist(), (stops - starts).tolist(), strict=True)]

    @property
    def decoded_bytes(self) -> int:
        """About how much the pages take in memory, at least."""
        return max(int(self.sizes.sum()), _VALUE_BYTES * int(self.rows.sum()))

    def read(self, dictionary: memoryview, pages: memoryview) -> bool:
        """Read the pages into buffers; returns whether one of them needs the dictionary."""
        at = 0
        for start, size in self.ranges:
            self.of.pages.read_into(start, pages[at : at + size])
            at += size
        is_coded = self._check(pages)
        if is_coded:
            self.of.pages.read_into(self.dictionary[0], dictionary)
            if not header_at(_reader(dictionary), 0, len(dictionary)).is_dictionary:
                raise PagesError("the column chunk has no dictionary page")
        return is_coded

    def _check(self, data: memoryview) -> bool:
        """Check the headers of concatenated pages; returns whether a page needs the dictionary."""
        is_coded = False
        at = 0
        for size, rows in zip(self.sizes.tolist(), self.rows.tolist(), strict=True):
            header = header_at(_reader(data), at, at + size)
            if header.is_dictionary or header.rows != rows or header.end + header.size != size:
                raise PagesError("a page does not match the offset index")
            is_coded |= header.is_coded
            at += size
        return is_coded


def _reader(data: memoryview) -> ReadRange:
    return lambda start, length: bytes(data[start : start + length])


def _together(chosen: Iterable[_ChosenPages]) -> Iterable[Sequence[_ChosenPages]]:
    """Combine columns whose pages have the same rows, as many as are decoded in little memory."""
    found: list[list[_ChosenPages]] = []
    latest: dict[tuple[bytes, bytes], list[_ChosenPages]] = {}
    for one in chosen:
        same = (one.firsts.tobytes(), one.rows.tobytes())
        together = latest.get(same)
        size = sum(other.decoded_bytes for other in together or ())
        if together is None or size + one.decoded_bytes > BATCH_BYTES:
            together = latest[same] = []
            found.append(together)
        together.append(one)
    return found


def _decoded(
    pages: ParquetPages, chosen: Sequence[_ChosenPages], rows: Ints
) -> Iterator[tuple[str, Column]]:
    """Yield the names of columns, whose pages have the same rows, and their values at some rows."""
    ends = offsets_from_sizes(chosen[0].rows)
    places = rows + np.repeat(ends[:-1] - chosen[0].firsts, chosen[0].counts)
    file = PagesFile(
        [one.of.of.column for one in chosen],
        [(one.dictionary[1], int(one.sizes.sum())) for one in chosen],
    )
    are_coded = [one.read(file.dictionary(at), file.pages(at)) for at, one in enumerate(chosen)]
    start, until = int(places[0]), int(places[-1]) + 1
    found = file.decoded(pages.metadata.root, int(ends[-1]), until, are_coded=are_coded)
    # a slice keeps the memory of all pages
    if until - start == len(places) > until * _COPY_FRACTION:
        found = found.slice(start, len(places))
    else:
        found = pc.take(found, build_fixed(pa.int64(), places))  # type: ignore[arg-type]  # in stubs
    for one, values in zip(chosen, found.columns, strict=True):
        expected = pages.arrow.field(one.of.name).type
        if not _same_values(values.type, expected):
            raise PagesError(f"the pages have type {values.type}, the schema requires {expected}")
        yield one.of.name, values


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
