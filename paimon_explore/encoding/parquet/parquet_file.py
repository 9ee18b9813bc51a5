"""Parquet files, opened with Arrow's reader.

`pyarrow.parquet.ParquetFile` loads `pyarrow.fs` with its object stores and `ssl`, which takes 15 ms
of the first read of a process, and looks at the paths of all leaf columns of each file it opens.
"""

from collections.abc import Iterator, Sequence
from inspect import signature
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyarrow import _parquet as pq

_AS_DEFAULT: dict[str, Any] = {"arrow_extensions_enabled": True}
"""What `pyarrow.parquet` sets, if this version of pyarrow has it."""
_SETTINGS = {
    name: value
    for name, value in _AS_DEFAULT.items()
    if name in signature(pq.ParquetReader.open).parameters
}


class ParquetFile:
    """An open Parquet file.

    Args:
        source: opened for random access, or with the contents; the caller closes it.
        metadata: of the file, if it has been read before.
        pre_buffer: whether column chunks are requested together before they are decoded.
        buffer_size: of reads in bytes; 0 to read whole column chunks.
        read_dictionary: paths of the string columns to read as dictionary arrays.

    Raises:
        pyarrow.ArrowException, OSError: the footer is damaged or cannot be read.
    """

    def __init__(
        self,
        source: pa.NativeFile,
        *,
        metadata: pq.FileMetaData | None = None,
        pre_buffer: bool = False,
        buffer_size: int = 0,
        read_dictionary: Sequence[str] = (),
    ) -> None:
        self._reader = pq.ParquetReader()
        self._reader.open(
            source,
            metadata=metadata,
            pre_buffer=pre_buffer,
            buffer_size=buffer_size,
            read_dictionary=read_dictionary or None,
            **_SETTINGS,
        )
        self.metadata = self._reader.metadata
        self._names: dict[str, list[int]] = {}

    @property
    def schema_arrow(self) -> pa.Schema:
        """The columns as Arrow reads them."""
        return self._reader.schema_arrow

    def iter_batches(
        self, rows: int, *, row_groups: Sequence[int], columns: Sequence[str], use_threads: bool
    ) -> Iterator[pa.RecordBatch]:
        """Yield the record batches of row groups.

        Args:
            rows: maximum rows of a batch, at least 1.
            row_groups: their indexes.
            columns: dotted paths of leaf columns, or what such paths begin with.
            use_threads: whether columns are decoded in parallel.
        """
        leaves = self._leaves(columns)
        return self._reader.iter_batches(
            rows, row_groups=list(row_groups), column_indices=leaves, use_threads=use_threads
        )

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Read columns, which are chosen as by `iter_batches`, or all, in this thread."""
        leaves = None if columns is None else self._leaves(columns)
        return self._reader.read_all(column_indices=leaves, use_threads=False)

    def _leaves(self, columns: Sequence[str]) -> list[int]:
        """Return the indexes of leaf columns."""
        if not self._names:
            for leaf, path in enumerate(self._reader.column_paths):
                for name in accumulate(path, "{}.{}".format):
                    self._names.setdefault(name, []).append(leaf)
        return [leaf for column in columns for leaf in self._names.get(column, ())]
