"""Some pages of one column as a Parquet file of their own, in memory, which Arrow decodes.

Arrow cannot skip pages. But a page needs nothing beside its chunk's dictionary, so chosen pages can
be put behind each other as they are, compressed, under a footer that knows of one column and one
row group. The footer is made of the parts of the file's own: the element of the schema and the
metadata of the chunk, less what is only true of the whole chunk.

Spec: Parquet format, `parquet.thrift`.
"""

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import PagesError
from paimon_explore.encoding.parquet.footer_fixes import MAGIC, footer_as_file
from paimon_explore.encoding.parquet.thrift_compact import Struct, ThriftList, Wire, encode_struct
from paimon_explore.frozen_dataclass import dataclass

_CHILDREN = 5  # SchemaElement
_TYPE, _ENCODINGS, _PATH, _CODEC, _VALUES = 1, 2, 3, 4, 5  # ColumnMetaData
_UNCOMPRESSED, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET = 6, 7, 9, 11
_FOOTER_BYTES = 4096
"""Room for a footer of one column; names are rarely longer than some hundred bytes."""
_KEPT = (_TYPE, _ENCODINGS, _PATH, _CODEC, _UNCOMPRESSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceFooter:
    """What the footers of all pieces of a column chunk have in common.

    Attributes:
        root: the element of the schema above the columns.
        element: the column's.
        chunk: the chunk's metadata.
    """

    root: Struct
    element: Struct
    chunk: Struct

    def encoded(self, rows: int, dictionary_size: int, size: int) -> bytes:
        """The footer of a piece, after which the pieces' bytes are expected behind the magic.

        Args:
            rows: of the pages.
            dictionary_size: bytes of the dictionary page, the first; 0 where there is none.
            size: bytes of all pages.
        """
        chunk: Struct = {field: self.chunk[field] for field in _KEPT if field in self.chunk}
        chunk[_VALUES] = (Wire.I64, rows)
        chunk[_COMPRESSED] = (Wire.I64, size)
        chunk[_DATA_OFFSET] = (Wire.I64, len(MAGIC) + dictionary_size)
        if dictionary_size:
            chunk[_DICTIONARY_OFFSET] = (Wire.I64, len(MAGIC))
        column: Struct = {2: (Wire.I64, len(MAGIC)), 3: (Wire.STRUCT, chunk)}
        group: Struct = {
            1: (Wire.LIST, ThriftList(Wire.STRUCT, [column])),
            2: (Wire.I64, size),
            3: (Wire.I64, rows),
        }
        root: Struct = {**self.root, _CHILDREN: (Wire.I32, 1)}
        return encode_struct(
            {
                1: (Wire.I32, 2),
                2: (Wire.LIST, ThriftList(Wire.STRUCT, [root, self.element])),
                3: (Wire.I64, rows),
                4: (Wire.LIST, ThriftList(Wire.STRUCT, [group])),
            }
        )


class Piece:
    """A piece under construction: room for its pages, in one buffer, into which they are read."""

    def __init__(self, dictionary_size: int, size: int) -> None:
        """Make room.

        Args:
            dictionary_size: bytes of the chunk's dictionary page, needed or not.
            size: bytes of the other pages.
        """
        self._start = len(MAGIC) + dictionary_size
        self._end = self._start + size
        # Arrow's pool gives memory out that was used before; new memory costs as much as the copy
        self._buffer = pa.allocate_buffer(self._end + _FOOTER_BYTES)
        self._view = memoryview(self._buffer).cast("B")

    @property
    def dictionary(self) -> memoryview:
        """Room for the dictionary page, with its header."""
        return self._view[len(MAGIC) : self._start]

    @property
    def pages(self) -> memoryview:
        """Room for the other pages, with their headers, in order."""
        return self._view[self._start : self._end]

    def decoded(self, footer: PieceFooter, rows: int, *, is_coded: bool) -> Column:
        """The values of the pages.

        Args:
            footer: of the chunk.
            rows: of the pages.
            is_coded: whether the dictionary is there and needed.

        Returns:
            `rows` values, in the type that Arrow gives the column when it knows of no other schema.

        Raises:
            PagesError: the pages cannot be decoded, or hold another number of values.
        """
        first = 0 if is_coded else self._start - len(MAGIC)
        dictionary_size = self._start - len(MAGIC) - first
        size = self._end - first - len(MAGIC)
        end = footer_as_file(footer.encoded(rows, dictionary_size, size))[len(MAGIC) :]
        if len(end) > _FOOTER_BYTES:
            raise PagesError("the footer has no room")
        self._view[first : first + len(MAGIC)] = MAGIC
        self._view[self._end : self._end + len(end)] = end
        file = self._buffer.slice(first, self._end + len(end) - first)
        try:
            table = pq.ParquetFile(pa.BufferReader(file)).read(use_threads=False)
            chunks: list[Column] = table.column(0).chunks
            found = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise PagesError(str(error)) from error
        if len(found) != rows:
            raise PagesError(f"{len(found)} values on pages of {rows}")
        return found
