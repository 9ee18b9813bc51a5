"""Reading chosen rows of a row group: only the pages that hold them, column by column.

Pages are looked up by the file's page index, or by their headers where it has none
(`parquet_pages`), and decoded as files of their own (`parquet_piece`). What the index says of a
page's rows is checked against the page's header, for a wrong row number would give wrong rows.

Whatever does not add up, is unknown, or would not pay, leads back to the row group as a whole:
`PagesError`, or no `PagedRows` at all. Columns with members or repetition always do.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, offsets_from_sizes, take_rows
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import PageBounds, PagesError, StoredColumn
from paimon_explore.encoding.parquet.column_index import page_bounds
from paimon_explore.encoding.parquet.footer_fixes import TAIL_BYTES, footer_length
from paimon_explore.encoding.parquet.page_locations import (
    ChunkPlace,
    PageList,
    header_at,
    indexed_pages,
    walked_pages,
)
from paimon_explore.encoding.parquet.single_column_file import Piece, PieceFooter
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftList,
    decode_struct,
    int_of,
    struct_of,
    structs_of,
)
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
_FEW = 0.25
"""Share of the rows of some pages below which they are copied out of them."""


@dataclass(slots=True, kw_only=True)
class ParquetPages:
    """The pages of one open file.

    Attributes:
        file: open for random reading.
        path: for messages.
        leaves: indexes of the leaf columns by dotted path.
        arrow: the file's schema, for Arrow.
        footer: its thrift bytes where they were changed in memory, else empty.
        may_walk: whether many small reads are cheap, so that page headers can be looked up.
    """

    file: pa.NativeFile
    path: str
    leaves: Mapping[str, tuple[int, ...]]
    arrow: pa.Schema
    footer: bytes
    may_walk: bool
    _decoded: Struct | None = field(default=None)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file; fewer at its end."""
        self.file.seek(offset)
        return self.file.read(length)

    def read_into(self, offset: int, room: memoryview) -> None:
        """Bytes of the file, as many as there is room.

        Raises:
            PagesError: the file ends before.
        """
        self.file.seek(offset)
        if self.file.readinto(room) != len(room):
            raise PagesError("the file ends early")

    @property
    def decoded(self) -> Struct:
        """The footer.

        Raises:
            PagesError: it is encrypted.
        """
        if self._decoded is None:
            self._decoded = decode_struct(self.footer or self._stored_footer())
        if _ENCRYPTED in self._decoded:
            raise PagesError("the file is encrypted")
        return self._decoded

    def _stored_footer(self) -> bytes:
        size = self.file.size()
        tail = self.read(size - TAIL_BYTES, TAIL_BYTES)
        length = footer_length(tail, path=self.path, size=size)
        return self.read(size - TAIL_BYTES - length, length)

    def column(self, group: int, name: str, first: int) -> "_PagedColumn":
        """A column of a row group, whose first row is that of the file.

        Raises:
            PagesError: the column has members or repetition, or its place is not told.
        """
        elements = [*structs_of(self.decoded[_SCHEMA][1])]
        leaves = [element for element in elements[1:] if not int_of(element, _CHILDREN)]
        found = self.leaves.get(name, ())
        if len(found) != 1:
            raise PagesError("not one column")
        leaf = found[0]
        element = leaves[leaf]
        rows = [*structs_of(self.decoded[_ROW_GROUPS][1])][group]
        chunk = [*structs_of(rows[_COLUMNS][1])][leaf]
        meta = struct_of(chunk[_META][1])
        path = meta[_PATH][1]
        if not isinstance(path, ThriftList) or path.items != [element[_NAME][1]]:
            raise PagesError("the column has members")
        if int_of(element, _REPETITION) == _REPEATED or _CRYPTO in chunk or _FILE in chunk:
            raise PagesError("the column repeats, is encrypted or lies elsewhere")
        place = self._place(meta, int_of(rows, _ROWS))
        footer = PieceFooter(root=elements[0], element=element, chunk=meta)
        return _PagedColumn(
            pages=self, name=name, leaf=leaf, first=first, chunk=chunk, footer=footer, place=place
        )

    def _place(self, meta: Struct, rows: int | None) -> ChunkPlace:
        start, size = int_of(meta, _DATA_OFFSET), int_of(meta, _SIZE)
        if start is None or size is None or rows is None:
            raise PagesError("the chunk's place is not told")
        dictionary = int_of(meta, _DICTIONARY_OFFSET) or start
        if 0 < dictionary < start:
            start = dictionary
        if start < 0 or size < 0 or start + size > self.file.size():
            raise PagesError("the chunk ends behind the file")
        return ChunkPlace(start=start, size=size, rows=rows)


@dataclass(slots=True, kw_only=True)
class PagedGroup:
    """One row group; see `decoding.PagedRows`."""

    pages: ParquetPages
    group: int
    first: int
    batch_rows: int
    _columns: "dict[str, _PagedColumn]" = field(default_factory=dict)

    def bounds(self, column: StoredColumn) -> PageBounds | None:
        """See `decoding.PagedRows`."""
        with _adding_up():
            return self._column(column).bounds(to_arrow(column.type))

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """See `decoding.PagedRows`."""
        with _adding_up():
            return self._column(column).share(rows)

    def values(self, column: StoredColumn, rows: Ints) -> Column:
        """See `decoding.PagedRows`."""
        with _adding_up():
            found = self._column(column).values(rows)
        return conform(found, column.type, path=self.pages.path, column=column.name)

    def _column(self, column: StoredColumn) -> "_PagedColumn":
        if column.name not in self._columns:
            self._columns[column.name] = self.pages.column(self.group, column.name, self.first)
        return self._columns[column.name]


@contextmanager
def _adding_up() -> Iterator[None]:
    """Whatever is wrong with pages and indexes is a reason to read without them.

    What is wrong with the file itself is found and told then.
    """
    try:
        yield
    except PagesError:
        raise
    except (PaimonError, ValueError, KeyError, IndexError, OSError, OverflowError) as error:
        raise PagesError(str(error)) from error


@dataclass(slots=True, kw_only=True)
class _PagedColumn:
    """A column chunk: what its footer says, and its pages as far as they were looked up.

    Rows are positions in the file.
    """

    pages: ParquetPages
    name: str
    leaf: int
    first: int
    chunk: Struct
    footer: PieceFooter
    place: ChunkPlace
    _list: PageList | None = field(default=None)

    def bounds(self, data_type: pa.DataType) -> PageBounds | None:
        """Statistics of the pages, where there are usable ones."""
        index = self._index(_COLUMN_INDEX)
        if index is None or not self._is_ordered():
            return None
        if _OFFSET_INDEX[0] not in self.chunk or self._arrow != data_type:
            return None
        firsts = self._listed(self.first + self.place.rows).firsts
        physical, width = int_of(self.footer.element, _TYPE), int_of(self.footer.element, _WIDTH)
        if physical is None:
            return None
        found = page_bounds(index, physical, width, np.diff(firsts), data_type)
        return None if found is None else PageBounds(firsts=firsts, bounds=found)

    def share(self, rows: Ints) -> float:
        """How much of the row group lies on pages of some rows."""
        firsts = self._listed(int(rows[-1]) + 1).firsts
        is_needed = np.diff(np.searchsorted(rows, firsts)) > 0
        return float(np.diff(firsts)[is_needed].sum()) / self.place.rows

    def values(self, rows: Ints) -> Column:
        """The values of some rows, ascending, as Arrow decodes them."""
        pages = self._listed(int(rows[-1]) + 1)
        cuts = np.searchsorted(rows, pages.firsts)
        counts = np.diff(cuts)
        chosen = np.flatnonzero(counts)
        if cuts[0] or cuts[-1] != len(rows):
            raise PagesError("rows on no page")
        sizes = np.diff(pages.firsts)[chosen]
        piece = Piece(pages.dictionary[1], int(pages.sizes[chosen].sum()))
        self._read_pages(pages, chosen, piece.pages)
        is_coded = self._check(pages, chosen, piece.pages)
        if is_coded:
            self._read_dictionary(pages, piece.dictionary)
        ends = offsets_from_sizes(sizes)
        found = piece.decoded(self.footer, int(ends[-1]), is_coded=is_coded)
        if not _alike(found.type, self._arrow):
            raise PagesError(f"{found.type} on the pages, {self._arrow} by the schema")
        # a slice holds all of the pages
        if rows[-1] - rows[0] + 1 == len(rows) > len(found) * _FEW:
            return found.slice(int(rows[0] - pages.firsts[chosen[0]]), len(rows))
        places = rows + np.repeat(ends[:-1] - pages.firsts[chosen], counts[chosen])
        return take_rows(found, places)

    def _check(self, pages: PageList, chosen: Ints, data: memoryview) -> bool:
        """Whether any of the pages that lie behind each other needs the dictionary."""
        is_coded = False
        at = 0
        for page in chosen.tolist():
            size = int(pages.sizes[page])
            header = header_at(
                lambda start, length: bytes(data[start : start + length]), at, at + size
            )
            if header.is_dictionary or (
                header.rows != pages.firsts[page + 1] - pages.firsts[page]
                or header.end + header.size != size
            ):
                raise PagesError(f"page {page} is not what the index says")
            is_coded |= header.is_coded
            at += size
        return is_coded

    def _read_pages(self, pages: PageList, chosen: Ints, into: memoryview) -> None:
        """The pages behind each other; neighbours are read in one step."""
        ends = pages.offsets + pages.sizes
        breaks = np.flatnonzero(pages.offsets[chosen[1:]] != ends[chosen[:-1]])
        at = 0
        for first, last in zip(
            chosen[np.append(0, breaks + 1)].tolist(),
            chosen[np.append(breaks, len(chosen) - 1)].tolist(),
            strict=True,
        ):
            size = int(ends[last] - pages.offsets[first])
            self.pages.read_into(int(pages.offsets[first]), into[at : at + size])
            at += size

    def _read_dictionary(self, pages: PageList, into: memoryview) -> None:
        self.pages.read_into(pages.dictionary[0], into)
        header = header_at(lambda start, length: bytes(into[start : start + length]), 0, len(into))
        if not header.is_dictionary:
            raise PagesError("the dictionary page is missing")

    def _listed(self, until: int) -> PageList:
        """The pages up to a row at least, their rows counted from the file's first."""
        known = self._list
        if known is None or known.firsts[-1] < until:
            index = self._index(_OFFSET_INDEX)
            if index is not None:
                found = indexed_pages(index, self.place)
            elif self.pages.may_walk:
                rows = until - self.first if known is None else self.place.rows
                found = walked_pages(self.pages.read, self.place, rows)
            else:
                raise PagesError("no offset index")
            known = self._list = replace(found, firsts=found.firsts + self.first)
        return known

    def _index(self, fields: tuple[int, int]) -> bytes | None:
        """An index by the fields that tell its place."""
        offset, length = (int_of(self.chunk, name) for name in fields)
        if offset is None or length is None:
            return None
        if not 0 < length <= _MAX_INDEX_BYTES or not 0 < offset < self.pages.file.size():
            raise PagesError("an index is not in the file")
        return self.pages.read(offset, length)

    def _is_ordered(self) -> bool:
        """Whether the bounds are in the order of the column's type."""
        if _ORDERS not in self.pages.decoded:
            return False
        orders = [*structs_of(self.pages.decoded[_ORDERS][1])]
        return self.leaf < len(orders) and _BY_TYPE in orders[self.leaf]

    @property
    def _arrow(self) -> pa.DataType:
        found: pa.DataType = self.pages.arrow.field(self.name).type
        return found


def _alike(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a type is the expected one, but for forms that its writer told only Arrow."""
    return found == expected or _form(found) == _form(expected)


def _form(data_type: pa.DataType) -> object:
    if isinstance(data_type, pa.DictionaryType):
        data_type = data_type.value_type
    for form in (pa.types.is_string, pa.types.is_binary):
        if form(data_type):
            return form
    if pa.types.is_large_string(data_type):
        return pa.types.is_string
    return pa.types.is_binary if pa.types.is_large_binary(data_type) else data_type
