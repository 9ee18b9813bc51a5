"""Checks of Parquet metadata, before column chunks are asked for by `RowGroupMetaData.column`.

Arrow decodes the metadata of a column chunk, and its statistics, when they are asked for. Elsewhere
an error in them is an exception; there it ends the process.
"""

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    Wire,
    decode_struct_at,
    encode_struct,
    int_of,
    struct_of,
)

_BUFFER_BYTES = 4096
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_FIXED, _VARIABLE = "FIXED_LEN_BYTE_ARRAY", "BYTE_ARRAY"
_DATA_OFFSET, _STATISTICS = 2, 5
"""Fields of ColumnMetaData, counted from the sizes on."""
_BOUNDS = (1, 2, 5, 6)
"""Fields of Statistics with a value."""


class MetadataChecks:
    """Checks of the metadata of an open file.

    Args:
        file: opened for random access; nothing is read from it.
        metadata: its decoded footer.
    """

    def __init__(self, file: pa.NativeFile, metadata: pq.FileMetaData) -> None:
        self._file = file
        self._metadata = metadata
        self._checked: set[tuple[int, int]] = set()
        self._footer = b""

    def check_chunks(self, leaves: Collection[int], groups: Sequence[int]) -> None:
        """Check that column chunks may be asked for.

        Raises:
            pa.ArrowException, OSError: the metadata of one of them is damaged.
        """
        chunks = {(group, leaf) for group in groups for leaf in leaves} - self._checked
        if not chunks:
            return
        # buffered, so that the chunks are not read when their readers are made
        opened = pq.ParquetFile(
            self._file, metadata=self._metadata, buffer_size=_BUFFER_BYTES, pre_buffer=False
        )
        for group in {group for group, _ in chunks}:
            wanted = sorted(leaf for place, leaf in chunks if place == group)
            for _ in opened.reader.iter_batches(
                0, row_groups=[group], column_indices=wanted, use_threads=False
            ):
                pass
        self._checked |= chunks

    def has_sound_statistics(self, leaf: int) -> bool:
        """Return whether the statistics of a leaf column may be asked for, in all row groups.

        Raises:
            pa.ArrowException, OSError: the metadata of a column chunk is damaged.
        """
        groups = range(self._metadata.num_row_groups)
        self.check_chunks([leaf], groups)
        column = self._metadata.schema.column(leaf)
        kind = column.physical_type
        width = (column.length if kind == _FIXED else _WIDTHS.get(kind)) or 0
        chunks = (self._metadata.row_group(group).column(leaf) for group in groups)
        return all(
            chunk.physical_type == kind
            and (kind == _VARIABLE or all(_fits(one, width) for one in self._statistics(chunk)))
            for chunk in chunks
        )

    def _statistics(self, chunk: pq.ColumnChunkMetaData) -> Iterator[Struct]:
        """Yield the statistics of a column chunk, and what may be taken for it.

        Its place in the footer is not known, but its sizes, which are consecutive fields.
        """
        if not self._footer:  # as Arrow encodes it, in which a value has one form only
            sink = pa.BufferOutputStream()
            self._metadata.write_metadata_file(sink)
            self._footer = sink.getvalue().to_pybytes()
        sizes = (chunk.num_values, chunk.total_uncompressed_size, chunk.total_compressed_size)
        fields: Struct = {at: (Wire.I64, size) for at, size in enumerate(sizes, 1)}
        pattern = encode_struct(fields)[:-1]
        at = self._footer.find(pattern)
        while at >= 0:
            rest = decode_struct_at(self._footer, at + len(pattern))[0]
            if _STATISTICS in rest and int_of(rest, _DATA_OFFSET) == chunk.data_page_offset:
                yield struct_of(rest[_STATISTICS][1])
            at = self._footer.find(pattern, at + 1)


def _fits(statistics: Struct, width: int) -> bool:
    """Return whether the bounds have the width of the column's values."""
    bounds = [statistics[field][1] for field in _BOUNDS if field in statistics]
    return all(isinstance(bound, bytes) and len(bound) in (0, width) for bound in bounds)
