"""What the footer of a Parquet file says, decoded once for the files that were read last.

Queries for single rows often read the same files. The key of what is kept is the path, the size and
all bytes of the footer, so that a file that was replaced under its name is decoded again.
"""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.encoding.data_file_reader import Span, SpanBounds
from paimon_explore.encoding.parquet.arrow_reader import FileMetaData, ParquetReader, open_reader
from paimon_explore.encoding.parquet.footer_fixes import (
    footer_as_file,
    readable_footer,
    stored_footer,
)
from paimon_explore.encoding.parquet.leaf_columns import LeafColumns, has_parts
from paimon_explore.encoding.parquet.row_group_statistics import row_group_bounds
from paimon_explore.encoding.parts_ahead import Range
from paimon_explore.frozen_dataclass import cached_property

if TYPE_CHECKING:
    from paimon_explore.encoding.parquet.page_metadata import PageMetadata

_FOOTER_ERRORS = ("Map keys must be annotated as required", "LogicalType that is not recognized")
"""What Arrow writes of footers that it can read once they are changed."""
_BUFFER_BYTES = 4096
_KEPT_FILES = 64
_KEPT_BYTES = 32 << 10
"""Maximum size of a footer that is kept; decoded it takes 12 times as much, 50 with `pages`."""


class ParquetMetadata:
    """The decoded footer of a file.

    Args:
        footer: its bytes, which Arrow can read.
        opened: a reader of them.

    Attributes:
        footer: its bytes, without length and magic.
        arrow: decoded by Arrow.
        schema: the Arrow schema.
        spans: the row groups.
        columns: the leaf columns.
        longest_values: upper bounds of the length of the strings in dictionaries that were
            examined, by row group and leaf column.
    """

    def __init__(self, footer: bytes, opened: ParquetReader) -> None:
        self.footer = footer
        self.arrow: FileMetaData = opened.metadata
        self.schema: pa.Schema = opened.schema_arrow
        self.spans = spans_of(self.arrow)
        self.columns = LeafColumns(self.arrow, self.schema)
        self.longest_values: dict[tuple[int, int], int] = {}
        self._checked: set[tuple[int, int]] = set()
        self._bounds: dict[tuple[int, pa.DataType], SpanBounds | None] = {}

    @cached_property
    def pages(self) -> "PageMetadata":
        """The footer as the reader of pages needs it.

        Raises:
            PagesError: the file is encrypted.
        """
        from paimon_explore.encoding.parquet.page_metadata import PageMetadata  # noqa: PLC0415 - selective reads

        return PageMetadata(self.footer)

    def check_chunks(
        self, file: pa.NativeFile, leaves: Collection[int], groups: Sequence[int]
    ) -> None:
        """Check that column chunks may be asked for, by `RowGroupMetaData.column`.

        Arrow decodes the metadata of a column chunk when it is asked for. In a read an error in it
        is an exception; there it ends the process.

        Args:
            file: opened for random access; nothing is read from it.
            leaves: the indexes of their columns.
            groups: their row groups.

        Raises:
            pa.ArrowException, OSError: the metadata of one of them is damaged.
        """
        chunks = {(group, leaf) for group in groups for leaf in leaves} - self._checked
        if not chunks:
            return
        # buffered, so that the chunks are not read when their readers are made
        opened = open_reader(file, metadata=self.arrow, buffer_size=_BUFFER_BYTES)
        for group in {group for group, _ in chunks}:
            wanted = sorted(leaf for place, leaf in chunks if place == group)
            for _ in opened.iter_batches(0, [group], wanted, use_threads=False):
                pass
        self._checked |= chunks

    def bounds(self, file: pa.NativeFile, leaf: int, data_type: pa.DataType) -> SpanBounds | None:
        """Return the statistics of a column; see `row_group_bounds`.

        Raises:
            pa.ArrowException, OSError: the metadata of a column chunk is damaged.
        """
        key = (leaf, data_type)
        if key not in self._bounds:
            self.check_chunks(file, [leaf], range(len(self.spans)))
            self._bounds[key] = row_group_bounds(self.arrow, self.footer, leaf, data_type)
        return self._bounds[key]


def read_metadata(file: pa.NativeFile, path: str) -> ParquetMetadata:
    """Read the footer of a file.

    Args:
        file: opened for random access.
        path: of the file.

    Raises:
        CorruptFileError: the file is not a Parquet file.
        pa.ArrowException, OSError, ValueError: its footer is damaged.
    """
    footer = stored_footer(file, path)
    decode = _kept_metadata if len(footer) <= _KEPT_BYTES else _decoded
    return decode(path, file.size(), footer)


def _decoded(path: str, size: int, footer: bytes) -> ParquetMetadata:
    """Decode a footer; it is changed first if Arrow cannot read it."""
    del size
    opened = _opened(footer)
    if opened is None:
        footer = readable_footer(footer, path=path)
        opened = open_reader(pa.BufferReader(footer_as_file(footer)))
    return ParquetMetadata(footer, opened)


_kept_metadata = lru_cache(maxsize=_KEPT_FILES)(_decoded)


def _opened(footer: bytes) -> ParquetReader | None:
    """Open a footer with Arrow; None if it must be changed first."""
    try:
        opened = open_reader(pa.BufferReader(footer_as_file(footer)))
    except (pa.ArrowInvalid, OSError) as error:
        if any(known in str(error) for known in _FOOTER_ERRORS):
            return None
        raise
    if not any(map(_may_be_int96, opened.schema_arrow.types)):
        return opened
    schema = opened.metadata.schema
    has_int96 = any(schema.column(i).physical_type == "INT96" for i in range(len(schema)))
    return None if has_int96 else opened


def _may_be_int96(data_type: pa.DataType) -> bool:
    """Whether a column of this type may contain INT96 values, which Arrow reads as timestamps."""
    return isinstance(data_type, pa.TimestampType) or has_parts(data_type)


def chunk_ranges(
    metadata: FileMetaData, group: int, is_wanted: Callable[[str], bool]
) -> list[Range]:
    """Return the parts of a file with the wanted column chunks of a row group.

    Args:
        metadata: of the file.
        group: the row group.
        is_wanted: whether the leaf column of a dotted path is wanted.
    """
    found = metadata.row_group(group)
    ranges = []
    for leaf in range(found.num_columns):
        if is_wanted(metadata.schema.column(leaf).path):
            chunk = found.column(leaf)
            first = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                first = min(first, chunk.dictionary_page_offset)
            ranges.append((first, chunk.total_compressed_size))
    return ranges


def spans_of(metadata: FileMetaData) -> tuple[Span, ...]:
    """Return the row groups as spans.

    Raises:
        ValueError: a row group lacks a column.
    """
    spans = []
    first = 0
    for group in range(metadata.num_row_groups):
        found = metadata.row_group(group)
        if found.num_columns != metadata.num_columns:
            raise ValueError(f"row group {group} must have {metadata.num_columns} column chunks")
        rows = found.num_rows
        spans.append(Span(first=first, rows=rows))
        first += rows
    return tuple(spans)
