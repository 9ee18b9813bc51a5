"""In-memory Parquet file with selected pages of one column, which Arrow decodes.

Arrow cannot skip pages. A page depends only on the dictionary of its chunk, so selected pages are
concatenated as they are, compressed, with a footer of one column and one row group. The footer is
built from the schema element and the chunk metadata of the original file, without the fields that
apply to the whole chunk only.

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
"""Space reserved for the footer; column names are rarely longer than some hundred bytes."""
_COPIED_FIELDS = (_TYPE, _ENCODINGS, _PATH, _CODEC, _UNCOMPRESSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleColumnFooter:
    """Metadata of a column chunk for the footers of its single-column files.

    Attributes:
        root: the root element of the schema.
        element: the schema element of the column.
        chunk: the metadata of the chunk.
    """

    root: Struct
    element: Struct
    chunk: Struct

    def encoded(self, rows: int, dictionary_size: int, size: int) -> bytes:
        """Encode the footer of a file whose pages follow the magic.

        Args:
            rows: number of rows of the pages.
            dictionary_size: bytes of the dictionary page, which is the first; 0 if there is none.
            size: bytes of all pages.
        """
        chunk: Struct = {
            field: self.chunk[field] for field in _COPIED_FIELDS if field in self.chunk
        }
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


class SingleColumnFile:
    """A single-column file in one buffer, into which the pages are read."""

    def __init__(self, dictionary_size: int, size: int) -> None:
        """Allocate the buffer.

        Args:
            dictionary_size: bytes of the dictionary page of the chunk, needed or not.
            size: bytes of the other pages.
        """
        self._start = len(MAGIC) + dictionary_size
        self._end = self._start + size
        # Arrow's memory pool reuses memory; page faults of new memory cost as much as the copy
        self._buffer = pa.allocate_buffer(self._end + _FOOTER_BYTES)
        self._view = memoryview(self._buffer).cast("B")

    @property
    def dictionary(self) -> memoryview:
        """Buffer of the dictionary page, with its header."""
        return self._view[len(MAGIC) : self._start]

    @property
    def pages(self) -> memoryview:
        """Buffer of the other pages, with their headers, in order."""
        return self._view[self._start : self._end]

    def decoded(self, footer: SingleColumnFooter, rows: int, *, is_coded: bool) -> Column:
        """Decode the values of the pages.

        Args:
            footer: metadata of the chunk.
            rows: number of rows of the pages.
            is_coded: whether the dictionary page is needed.

        Returns:
            `rows` values, in Arrow's default type for the Parquet type.

        Raises:
            PagesError: the pages cannot be decoded, or have another number of values.
        """
        first = 0 if is_coded else self._start - len(MAGIC)
        dictionary_size = self._start - len(MAGIC) - first
        size = self._end - first - len(MAGIC)
        end = footer_as_file(footer.encoded(rows, dictionary_size, size))[len(MAGIC) :]
        if len(end) > _FOOTER_BYTES:
            raise PagesError("the footer is too large")
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
            raise PagesError(f"the pages have {len(found)} values for {rows} rows")
        return found
