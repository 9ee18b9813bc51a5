"""Column chunks of a Parquet footer, and their pages as far as these were located.

Spec: Parquet format, `FileMetaData`.
"""

from collections.abc import Iterable, Iterator

from paimon_explore.encoding.data_file_reader import PageBounds, PagesError
from paimon_explore.encoding.parquet.pages import ChunkPlace, PageList, PagesColumn
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftList,
    decode_struct,
    int_of,
    struct_of,
    structs_of,
)
from paimon_explore.frozen_dataclass import dataclass

_SCHEMA, _ROW_GROUPS, _ORDERS, _ENCRYPTED = 2, 4, 7, 8  # FileMetaData
_REPETITION, _NAME, _CHILDREN = 3, 4, 5  # SchemaElement
_REPEATED = 2
_COLUMNS, _ROWS = 1, 3  # RowGroup
_FILE, _META, _CRYPTO = 1, 3, 8  # ColumnChunk
_PATH, _SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 7, 9, 11  # ColumnMetaData
_BY_TYPE = 1  # the only known ColumnOrder


@dataclass(slots=True, kw_only=True)
class ColumnChunk:
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


class PageMetadata:
    """A decoded footer, and the column chunks that were used.

    Args:
        footer: its bytes.

    Attributes:
        root: the root element of the schema.

    Raises:
        PagesError: the file is encrypted.
    """

    def __init__(self, footer: bytes) -> None:
        decoded = decode_struct(footer)
        if _ENCRYPTED in decoded:
            raise PagesError("the file is encrypted")
        self.root, *elements = structs_of(decoded[_SCHEMA][1])
        self._leaves = [*_leaves(elements)]
        self._groups = [
            ([*structs_of(group[_COLUMNS][1])], int_of(group, _ROWS))
            for group in structs_of(decoded[_ROW_GROUPS][1])
        ]
        self._orders = [*structs_of(decoded[_ORDERS][1])] if _ORDERS in decoded else []
        self._chunks: dict[tuple[int, int], ColumnChunk] = {}

    def chunk(self, group: int, leaf: int) -> ColumnChunk:
        """Return a column chunk.

        Raises:
            PagesError: the column is part of a list or map, or its location is unknown.
        """
        found = self._chunks.get((group, leaf))
        if found is None:
            found = self._chunks[group, leaf] = self._new_chunk(group, leaf)
        return found

    def _new_chunk(self, group: int, leaf: int) -> ColumnChunk:
        elements, (chunks, rows) = self._leaves[leaf], self._groups[group]
        chunk = chunks[leaf]
        meta = struct_of(chunk[_META][1])
        path = meta[_PATH][1]
        names = [element[_NAME][1] for element in elements]
        if not isinstance(path, ThriftList) or path.items != names:
            raise PagesError("the path of the column does not match the schema")
        if any(int_of(element, _REPETITION) == _REPEATED for element in elements):
            raise PagesError("the column is repeated")
        if _CRYPTO in chunk:
            raise PagesError("the column chunk is encrypted")
        if _FILE in chunk:
            raise PagesError("the column chunk is stored in another file")
        return ColumnChunk(
            element=elements[-1],
            chunk=chunk,
            column=PagesColumn(elements, meta),
            place=_place(meta, rows),
            is_ordered=leaf < len(self._orders) and _BY_TYPE in self._orders[leaf],
        )


def _leaves(elements: Iterable[Struct]) -> Iterator[tuple[Struct, ...]]:
    """Yield the element of each leaf column, after the elements of the groups that contain it."""
    groups: list[Struct] = []
    open_children: list[int] = []
    for element in elements:
        while open_children and not open_children[-1]:
            groups.pop()
            open_children.pop()
        if open_children:
            open_children[-1] -= 1
        if children := int_of(element, _CHILDREN):
            groups.append(element)
            open_children.append(children)
        else:
            yield (*groups, element)


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
