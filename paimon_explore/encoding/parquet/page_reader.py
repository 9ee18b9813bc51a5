"""Late materialization of Parquet columns: reads only the pages that contain selected rows.

Pages are located by the page index of the file, or by their headers if there is none,
and decoded as an in-memory file (`pages`). The number of rows of a page is checked against the page
header, as a wrong number would return wrong rows.

If page metadata is inconsistent, unknown or too expensive to use, `PagesError` is raised and the
whole row group is read. This is always so for lists, maps and variants; the leaf columns of a ROW
are decoded individually and combined.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, build_fixed, offsets_from_sizes
from paimon_explore.data_types.definitions import AtomicType, DataType, RowType
from paimon_explore.data_types.traversal import leaf_prefixes
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    PageBounds,
    PagesError,
    StoredColumn,
)
from paimon_explore.encoding.parquet.file_metadata import ParquetMetadata
from paimon_explore.encoding.parquet.page_bounds import header_bounds, indexed_bounds
from paimon_explore.encoding.parquet.page_metadata import ColumnChunk
from paimon_explore.encoding.parquet.pages import (
    PageList,
    PagesFile,
    ReadRange,
    header_at,
    indexed_pages,
    walked_pages,
)
from paimon_explore.encoding.parquet.thrift_compact import (
    int_of,
)
from paimon_explore.encoding.parts_ahead import Range, requested
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass

_TYPE, _WIDTH = 1, 2  # SchemaElement
_OFFSET_INDEX, _COLUMN_INDEX = (4, 5), (6, 7)  # ColumnChunk: offset and length
_MAX_INDEX_BYTES = 16 << 20
_MIN_WALKED_ROWS = 16_384
"""Rows of a page from which on to read its header costs little compared with to decode it."""
_STATISTICS_BYTES = 16 << 10
"""Bytes read for a header with statistics; longer ones are not used."""
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
        metadata: the decoded footer.
        may_walk: whether page headers may be read one by one, as small reads are cheap.
    """

    file: pa.NativeFile
    path: str
    metadata: ParquetMetadata
    may_walk: bool

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

    def columns(self, group: int, column: StoredColumn, first: int) -> "list[_PagedColumn]":
        """Return the leaf columns of a column of a row group, several of a ROW.

        Args:
            group: number of the row group.
            column: a column of the file.
            first: position of the first row of the row group in the file.

        Raises:
            PagesError: the column contains lists, maps or variants, or its location is unknown.
        """
        decoded = self.metadata.schema.field(column.name).type
        return [
            self._leaf(group, name, data_type, first)
            for name, data_type in _leaf_types(column.name, column.type, decoded)
        ]

    def _leaf(self, group: int, name: str, data_type: pa.DataType, first: int) -> "_PagedColumn":
        found = self.metadata.columns.by_path.get(name, ())
        if len(found) != 1:
            raise PagesError("the column has no leaf column of its own")
        chunk = self.metadata.pages.chunk(group, found[0])
        if chunk.place.start + chunk.place.size > self.file.size():
            raise PagesError("the column chunk extends beyond the end of the file")
        return _PagedColumn(pages=self, name=name, data_type=data_type, first=first, of=chunk)


@dataclass(slots=True, kw_only=True)
class PagedGroup:
    """Pages of a row group; see `PagedRows`."""

    pages: ParquetPages
    group: int
    first: int
    batch_rows: int
    distinct: frozenset[str] | None = None
    page_rows: None = None
    _columns: "dict[str, list[_PagedColumn]]" = field(default_factory=dict)

    def bounds(self, column: StoredColumn) -> PageBounds | None:
        """See `PagedRows`."""
        with _as_pages_error():
            leaf, *others = self._leaves(column)
            return None if others else leaf.bounds(to_arrow(column.type))

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """See `PagedRows`."""
        with _as_pages_error():
            shares = [leaf.share(rows) for leaf in self._leaves(column)]
            return sum(shares) / len(shares)

    def values(self, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        """See `PagedRows`."""
        with _as_pages_error():
            leaves = [leaf for column in columns for leaf in self._leaves(column)]
            chosen = [leaf.chosen(rows) for leaf in leaves]
            with requested(self.pages.file, [part for one in chosen for part in one.ranges]):
                found = {
                    name: values
                    for together in _together(chosen)
                    for name, values in _decoded(self.pages, together, rows)
                }
            arrays = [
                _assembled(column.type, [found[leaf.name] for leaf in self._leaves(column)])
                for column in columns
            ]
        return tuple(
            conform(array, column.type, path=self.pages.path, column=column.name)
            for array, column in zip(arrays, columns, strict=True)
        )

    def _leaves(self, column: StoredColumn) -> "list[_PagedColumn]":
        if column.name not in self._columns:
            self._columns[column.name] = self.pages.columns(self.group, column, self.first)
        return self._columns[column.name]


def _leaf_types(
    name: str, data_type: DataType, decoded: pa.DataType
) -> Iterator[tuple[str, pa.DataType]]:
    """Yield the dotted paths of the leaf columns of a column, and their types when decoded.

    Raises:
        PagesError: the column contains lists, maps or variants.
    """
    if isinstance(data_type, RowType) and isinstance(decoded, pa.StructType) and data_type.fields:
        for part in data_type:
            yield from _leaf_types(f"{name}.{part.name}", part.type, decoded.field(part.name).type)
    elif isinstance(data_type, AtomicType) and not decoded.num_fields:
        yield name, decoded
    else:
        raise PagesError("the column is nested")


def _assembled(data_type: DataType, leaves: Sequence[Column]) -> Column:
    """Combine the leaf columns of a column, each in structs with one field."""
    first = leaves[0]
    if not isinstance(data_type, RowType) or not isinstance(first, pa.StructArray):
        return first
    at, parts = 0, []
    for part in data_type:
        count = len(leaf_prefixes("", part.type))
        own = [leaf.field(0) for leaf in leaves[at : at + count]]  # type: ignore[attr-defined]  # structs
        parts.append(_assembled(part.type, own))
        at += count
    mask = first.is_null() if first.null_count else None
    return pa.StructArray.from_arrays(parts, [part.name for part in data_type], mask=mask)


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
    """A column chunk of an open file; rows are positions in the file.

    Attributes:
        pages: of the file.
        name: dotted path of the leaf column.
        data_type: Arrow's type of its values in this file.
        first: position of the first row of the row group.
        of: its metadata.
    """

    pages: ParquetPages
    name: str
    data_type: pa.DataType
    first: int
    of: ColumnChunk

    def bounds(self, data_type: pa.DataType) -> PageBounds | None:
        """Return the statistics of the pages; None if there are no usable ones."""
        of = self.of
        physical, width = int_of(of.element, _TYPE), int_of(of.element, _WIDTH)
        if physical is None or not of.is_ordered or self.data_type != data_type:
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
        offsets, sizes, firsts = pages.offsets[at], pages.sizes[at], pages.firsts[at]
        page_rows = pages.firsts[at + 1] - firsts
        return _ChosenPages(
            of=self,
            dictionary=pages.dictionary,
            sizes=sizes,
            firsts=firsts,
            rows=page_rows,
            counts=counts[at],
            ranges=_consecutive(offsets.tolist(), sizes.tolist()),
            decoded_bytes=max(int(sizes.sum()), _VALUE_BYTES * int(page_rows.sum())),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenPages:
    """The pages of a column that contain some rows.

    Attributes:
        of: the column.
        dictionary: offset and size of its dictionary page; size 0 if there is none.
        sizes: bytes of each page, with its header.
        firsts: first row of each page.
        rows: number of rows of each page.
        counts: how many of the rows are on each page.
        ranges: offset and length of consecutive pages.
        decoded_bytes: about how much the pages take in memory, at least.
    """

    of: _PagedColumn
    dictionary: tuple[int, int]
    sizes: Ints
    firsts: Ints
    rows: Ints
    counts: Ints
    ranges: Sequence[Range]
    decoded_bytes: int

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
    latest: dict[tuple[bytes, bytes], tuple[list[_ChosenPages], int]] = {}
    for one in chosen:
        same = (one.firsts.tobytes(), one.rows.tobytes())
        together, size = latest.get(same, (None, 0))
        if together is None or size + one.decoded_bytes > BATCH_BYTES:
            together, size = [], 0
            found.append(together)
        together.append(one)
        latest[same] = (together, size + one.decoded_bytes)
    return found


def _consecutive(offsets: Sequence[int], sizes: Sequence[int]) -> list[Range]:
    """Offset and length of consecutive pages."""
    found: list[Range] = []
    end = -1
    for offset, size in zip(offsets, sizes, strict=True):
        if offset == end:
            first, length = found.pop()
            found.append((first, length + size))
        else:
            found.append((offset, size))
        end = offset + size
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
    found = file.decoded(pages.metadata.pages.root, int(ends[-1]), until, are_coded=are_coded)
    # a slice keeps the memory of all pages
    if until - start == len(places) > until * _COPY_FRACTION:
        found = found.slice(start, len(places))
    else:
        found = pc.take(found, build_fixed(pa.int64(), places))  # type: ignore[arg-type]  # in stubs
    for one, values in zip(chosen, found.columns, strict=True):
        expected, decoded = one.of.data_type, values.type
        while isinstance(decoded, pa.StructType):
            decoded = decoded.field(0).type
        if not _same_values(decoded, expected):
            raise PagesError(f"the pages have type {decoded}, the schema requires {expected}")
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
