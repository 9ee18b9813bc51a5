"""Reader of several small Parquet files with the same columns as if they were one file.

Opening a data file and converting its batches costs several times what Arrow needs to decode a
small file. Here the contents of many files are decoded one after another, and their rows are
converted together. Files that may need a repair of their footer, or whose decoded size may not be
small, are refused; they have to be read by `open_parquet`.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import pyarrow as pa

from paimon_explore.data_types.traversal import leaf_prefixes
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn
from paimon_explore.encoding.parquet.arrow_reader import (
    ColumnChunkMetaData,
    ParquetReader,
    open_reader,
)
from paimon_explore.encoding.parquet.leaf_columns import LeafColumns
from paimon_explore.encoding.parquet.reader import conformed_column, consecutive
from paimon_explore.encoding.positional_batches import rows_without_columns, sliced
from paimon_explore.limits import memory_limit

_DECODED_BYTES = 32 << 20
"""Decoded size of a column up to which a file is small."""


class SmallParquetFiles:
    """The rows of small Parquet files; see `OpenDataFile`. Each file is a span.

    Args:
        files: opened, all with the same columns.
        path: of one of the files, for errors.
    """

    def __init__(self, files: Sequence[ParquetReader], path: str) -> None:
        self._files = files
        self._path = path
        self._schema = files[0].schema_arrow
        self._columns = LeafColumns(files[0].metadata, self._schema)
        rows = [file.metadata.num_rows for file in files]
        firsts = accumulate(rows, initial=0)
        self.spans = tuple(
            Span(first=first, rows=count) for first, count in zip(firsts, rows, strict=False)
        )

    @property
    def names(self) -> frozenset[str]:
        """Names of the top-level columns."""
        return frozenset(self._schema.names)

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of files; see `OpenDataFile`.

        Raises:
            pyarrow.ArrowException: a file is damaged.
            CorruptFileError: a value does not have the type of its column.
        """
        if not columns:
            yield from rows_without_columns([self.spans[i] for i in spans], batch_rows)
            return
        leaves = self._columns.below(
            [path for column in columns for path in leaf_prefixes(column.name, column.type)]
        )
        for run in consecutive(spans):
            tables = [self._files[i].read_all(leaves, use_threads=False) for i in run]
            for batch in pa.concat_tables(tables).combine_chunks().to_batches():
                arrays = tuple(
                    conformed_column(batch.column(column.name), column, self._path)
                    for column in columns
                )
                yield from sliced(arrays, self.spans[run[0]].first, batch.num_rows, batch_rows)


def open_small_files(contents: Sequence[bytes], path: str) -> SmallParquetFiles | None:
    """Open the contents of small Parquet files; None if they cannot be read together.

    Args:
        contents: of at least one file.
        path: of one of the files, for errors.

    Raises:
        pyarrow.ArrowException, OSError: a file is damaged.
    """
    files = [open_reader(pa.BufferReader(content)) for content in contents]
    schema = files[0].schema_arrow
    if any(_has_nanoseconds(field.type) for field in schema):
        return None
    if not all(file.schema_arrow.equals(schema) for file in files[1:]):
        return None
    return SmallParquetFiles(files, path) if all(map(_is_small, files)) else None


def _has_nanoseconds(kind: pa.DataType) -> bool:
    """Whether a type has timestamps of nanoseconds, which may be INT96 and need a repair."""
    if isinstance(kind, pa.TimestampType):
        return str(kind.unit) == "ns"
    return any(_has_nanoseconds(kind.field(at).type) for at in range(kind.num_fields))


def _is_small(file: ParquetReader) -> bool:
    """Whether no column can exceed memory if its longest value is repeated in every row.

    Also not if the values of a dictionary are long by its statistics: little of a file would then
    decode to much.
    """
    metadata = file.metadata
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    rows: int = metadata.num_rows
    bound: int = sum(group.total_byte_size for group in groups) * rows
    if bound > memory_limit():
        return False
    return bound <= _DECODED_BYTES or not any(
        chunk.has_dictionary_page
        and chunk.physical_type == "BYTE_ARRAY"
        and chunk.total_uncompressed_size * rows > _DECODED_BYTES
        and _longest_bound(chunk) * rows > _DECODED_BYTES
        for group in map(metadata.row_group, range(metadata.num_row_groups))
        for chunk in map(group.column, range(group.num_columns))
    )


def _longest_bound(chunk: ColumnChunkMetaData) -> int:
    """The length of the longer bound of a column chunk; its size if it has no bounds."""
    found = chunk.statistics
    if found is None or not found.has_min_max:
        return chunk.total_uncompressed_size
    return max(len(found.min_raw or b""), len(found.max_raw or b""))
