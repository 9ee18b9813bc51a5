"""Reader of Vortex files, by the optional package `vortex-data`.

Spec: concepts/spec/fileformat, Vortex section. Seen in: files of pypaimon 2.1.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise

import pyarrow as pa
import vortex

from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn
from paimon_explore.encoding.native_libraries import PositionalSource, native_decoding
from paimon_explore.encoding.positional_batches import conformed, rows_without_columns
from paimon_explore.errors import CorruptFileError


class VortexDataFile:
    """An open Vortex file; see `OpenDataFile`. Its spans are those that Vortex suggests.

    Args:
        stream: the file, opened for random access.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the footer is damaged.
    """

    def __init__(self, stream: pa.NativeFile, path: str) -> None:
        self._path = path
        self._source = PositionalSource(stream)
        with self._decoding("footer"):
            self._file = vortex.open_readable(self._source, without_segment_cache=True)
            self.names = frozenset(self._file.dtype.to_arrow_schema().names)
            """Names of the columns."""
            splits = self._file.splits()
        self.spans = tuple(Span(first=start, rows=end - start) for start, end in splits)
        """Row ranges that are decoded together."""
        starts = [0, *(span.first + span.rows for span in self.spans)]
        if [span.first for span in self.spans] != starts[:-1] or starts[-1] != len(self._file):
            raise CorruptFileError(path, "footer", "the row ranges must cover all rows in order")

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of spans in file order; see `OpenDataFile`.

        Raises:
            CorruptFileError: a part of the file is damaged.
        """
        if not columns:
            yield from rows_without_columns([self.spans[span] for span in spans], batch_rows)
            return
        with self._decoding("columns"):
            scan = self._file.to_repeated_scan(
                [column.name for column in columns], batch_size=batch_rows
            )
        for start, end in self._ranges(spans):
            first = start
            with self._decoding(f"rows {start} to {end}"):
                reader: pa.RecordBatchReader = scan.execute(row_range=(start, end)).to_arrow()
            while True:
                with self._decoding(f"rows {first} to {end}"):
                    batch = next(reader, None)
                if batch is None:
                    break
                yield from conformed(batch, columns, first, batch_rows, path=self._path)
                first += batch.num_rows
            if first != end:
                rule = f"must have {end - start} rows as stated in the footer"
                raise CorruptFileError(self._path, f"rows {start} to {end}", rule)

    def _decoding(self, what: str) -> AbstractContextManager[None]:
        return native_decoding(self._path, what, self._source)

    def _ranges(self, spans: Sequence[int]) -> list[tuple[int, int]]:
        """Return the row ranges of adjacent spans."""
        if not spans:
            return []
        breaks = [i + 1 for i, (one, other) in enumerate(pairwise(spans)) if other != one + 1]
        groups = [spans[a:b] for a, b in pairwise([0, *breaks, len(spans)])]
        return [
            (
                self.spans[group[0]].first,
                self.spans[group[-1]].first + self.spans[group[-1]].rows,
            )
            for group in groups
        ]
