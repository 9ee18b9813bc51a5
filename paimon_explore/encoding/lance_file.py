"""Reader of Lance files, by the optional package `pylance`.

The library opens files by path, so that files of other storages are copied to the local disk first.
A Lance file has no row groups: every range of rows can be read by itself.

Spec: concepts/spec/fileformat, Lance section. Seen in: files of pypaimon 2.1.
"""

from collections.abc import Iterator, Sequence

import lance.file
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.data_file_reader import Paged, PositionedBatch, Span, StoredColumn
from paimon_explore.encoding.native_libraries import native_decoding
from paimon_explore.encoding.positional_batches import (
    TakenRows,
    conformed,
    rows_without_columns,
)
from paimon_explore.errors import CorruptFileError

SPAN_ROWS = 1 << 16
"""Number of rows of a span."""
_FEW_ROWS = 1024


class LanceDataFile(Paged):
    """An open Lance file; see `OpenDataFile`. Its spans are ranges of `SPAN_ROWS` rows.

    Args:
        local_file: absolute path of the file, or of its copy, on the local disk.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the footer is damaged.
    """

    def __init__(self, local_file: str, path: str) -> None:
        self._local_file = local_file
        self._path = path
        with native_decoding(path, "footer"):
            metadata = lance.file.LanceFileReader(local_file).metadata()
            self.names = frozenset(metadata.schema.names)
            """Names of the columns."""
            rows = int(metadata.num_rows)
        self.spans = tuple(
            Span(first=first, rows=min(SPAN_ROWS, rows - first))
            for first in range(0, rows, SPAN_ROWS)
        )
        """Ranges of rows."""

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
        names = [column.name for column in columns]
        with native_decoding(self._path, "columns"):
            reader = lance.file.LanceFileReader(self._local_file, columns=names)
        for index in spans:
            span = self.spans[index]
            where = f"rows {span.first} to {span.first + span.rows}"
            with native_decoding(self._path, where):
                found: pa.Table = reader.read_range(
                    span.first, span.rows, batch_size=batch_rows
                ).to_table()
            if found.num_rows != span.rows:
                rule = f"must have {span.rows} rows as stated in the footer"
                raise CorruptFileError(self._path, where, rule)
            first = span.first
            for batch in found.to_batches(max_chunksize=batch_rows):
                yield from conformed(batch, columns, first, batch_rows, path=self._path)
                first += batch.num_rows

    def paged(self, columns: Sequence[StoredColumn], span: int) -> TakenRows | None:
        """Return the rows of a span as pages of one row; see `Paged`."""
        del columns
        found = self.spans[span]
        if found.rows < _FEW_ROWS:
            return None
        return TakenRows(path=self._path, span=found, take=self._taken)

    def _taken(self, column: str, rows: Ints) -> pa.Table:
        with native_decoding(self._path, f"column {column}"):
            reader = lance.file.LanceFileReader(self._local_file, columns=[column])
            found: pa.Table = reader.take_rows(rows.tolist(), batch_size=len(rows)).to_table()
        return found
