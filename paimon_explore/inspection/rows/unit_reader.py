"""Reads the rows of the units of a view: of files by position, of others as streams.

Reads the rows of a unit in order and keeps the latest ones, to scroll in both directions.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rows.row_units import RowUnit
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import ReadRequest, SystemColumn
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.deletion_vector_filter import positions as positions_of
from paimon_explore.read.rows_at_positions import read_rows_at
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction
from paimon_explore.scan.splits.data_split import DataSplit

MAX_BYTES = 64 << 20
"""Approximate maximum size of the kept rows."""
MAX_SKIPPED = 400_000
"""Number of rows that are read at a time to reach a row; the caller then asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPage:
    """Some consecutive rows of a unit.

    Attributes:
        unit: number of the unit.
        offset: number of the first row within the unit.
        rows: the rows from the requested one on; fewer than requested at the end of the unit.
        records: for each stored record its status, reason, sequence number, row kind, level, file
            and position; None for merged rows.
        end: number of rows of the unit, once it is known.
        is_partial: whether reading has to continue to reach the requested rows.
    """

    unit: int = 0
    offset: int = 0
    rows: pa.Table
    records: tuple[tuple[object, ...], ...] | None = None
    end: int | None = None
    is_partial: bool = False


class RowStream:
    """The rows of a unit that has to be read from its start.

    Args:
        schema: of the rows.
        read: starts to read.
        max_bytes: approximate maximum size of the rows that are kept.
    """

    def __init__(
        self,
        schema: pa.Schema,
        read: Callable[[], Iterator[pa.RecordBatch]],
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._schema = schema
        self._read = read
        self._max_bytes = max_bytes
        self._start()

    def _start(self) -> None:
        self._batches: deque[pa.RecordBatch] = deque()
        self._first = self._next = self._bytes = 0
        self._is_done = False
        self._source = self._read()

    def window(self, offset: int, count: int, max_skipped: int = MAX_SKIPPED) -> RowPage:
        """Read rows.

        Args:
            offset: the first row.
            count: maximum number of rows.
            max_skipped: number of rows before the window to read at a time.
        """
        if offset < self._first:
            self._start()
        read = 0
        while not self._is_done and self._next < offset + count:
            if read >= max_skipped:
                return RowPage(rows=self._slice(offset, count), is_partial=True)
            read += self._step(offset)
        return RowPage(rows=self._slice(offset, count), end=self._next if self._is_done else None)

    def _step(self, offset: int) -> int:
        """Read the next batch; returns its number of rows."""
        batch = next(self._source, None)
        if batch is None:
            self._is_done = True
            return 0
        self._batches.append(batch)
        self._next += batch.num_rows
        self._bytes += batch.nbytes
        while self._bytes > self._max_bytes and self._first + self._batches[0].num_rows <= offset:
            dropped = self._batches.popleft()
            self._first += dropped.num_rows
            self._bytes -= dropped.nbytes
        return batch.num_rows

    def _slice(self, offset: int, count: int) -> pa.Table:
        start = self._first
        parts = []
        for batch in self._batches:
            low, high = max(offset - start, 0), min(offset + count - start, batch.num_rows)
            if low < high:
                parts.append(batch.slice(low, high - low))
            start += batch.num_rows
        return pa.Table.from_batches(parts, schema=self._schema)


_BATCH_ROWS = 65_536


class UnitReader:
    """Reads units; keeps one stream and one deletion vector between pages.

    Args:
        target: the table at a snapshot.
        rest: the condition on rows, bound to the columns of the table.
        units: the units of the view.
    """

    def __init__(self, target: ScanTarget, rest: Expression, units: Sequence[RowUnit]) -> None:
        self.target = target
        self.rest = rest
        self.units = units
        self._schemas: dict[tuple[str, int], TableSchema] = {}
        self._stream: tuple[object, RowStream] | None = None
        self._vector: tuple[int, Ints] | None = None

    def split_reader(self, names: Sequence[str], more: Expression = TRUE) -> SplitReader:
        """A reader of some columns, with a further condition."""
        parts = [part for part in (self.rest, more) if part != TRUE]
        return SplitReader(
            target=self.target,
            columns=tuple(names),
            predicate=conjunction(parts),
            batch_rows=_BATCH_ROWS,
            _schemas=self._schemas,
        )

    def page(self, unit: int, offset: int, count: int, names: tuple[str, ...]) -> RowPage:
        """Read merged rows of a unit.

        Raises:
            PaimonError: a file cannot be read.
        """
        if self.units[unit].is_file and self.rest == TRUE:
            return self._file_page(unit, offset, count, names)
        schema = arrow_schema(self.target.schema.project(names))
        stream = self.stream((unit, names), schema, lambda: self.read(self.units[unit], names))
        return replace(stream.window(offset, count), unit=unit, offset=offset)

    def read(
        self, unit: RowUnit, names: Sequence[str], more: Expression = TRUE
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of a unit that match a further condition."""
        conditions = [part for part in (unit.within, more) if part != TRUE]
        return read_split(self.split_reader(names, conjunction(conditions)), unit.to_read)

    def stream(
        self, key: object, schema: pa.Schema, read: Callable[[], Iterator[pa.RecordBatch]]
    ) -> RowStream:
        """The stream of what a key names; the latest one is kept for the next page."""
        if self._stream is None or self._stream[0] != key:
            self._stream = key, RowStream(schema, read)
        return self._stream[1]

    def _file_page(self, at: int, offset: int, count: int, names: tuple[str, ...]) -> RowPage:
        """Rows of a file by position, without those of its deletion vector."""
        reader = self.split_reader(names)
        request = ReadRequest(fields=reader.fields, system_columns=(SystemColumn.POSITION,))
        wanted = range(offset, offset + count)
        window = rows_by_position(self.units[at], reader, request, wanted, self._deleted(at))
        return replace(window, unit=at, offset=offset, rows=window.rows.select(list(names)))

    def _deleted(self, at: int) -> Ints:
        """The positions in the deletion vector of a file, ascending."""
        vector = self.units[at].vector
        if vector is None:
            return np.zeros(0, np.int64)
        if self._vector is None or self._vector[0] != at:
            self._vector = at, positions_of(load_vector(self.target.store.file_io, vector))
        return self._vector[1]


def rows_by_position(
    unit: RowUnit,
    reader: SplitReader,
    request: ReadRequest,
    wanted: range,
    deleted: Ints | None = None,
) -> RowPage:
    """Rows of a file, counted without those at the deleted positions."""
    rows = np.arange(wanted.start, max(min(wanted.stop, unit.most), wanted.start), dtype=np.int64)
    if deleted is not None and len(deleted):
        rows += np.searchsorted(deleted - np.arange(len(deleted)), rows, side="right")
    stored = read_rows_at(file_of(unit, reader).source(), request, rows)
    batches = reader.with_contents(iter(stored.to_batches()))
    found = pa.Table.from_batches(batches, stored.schema)
    end = wanted.start + found.num_rows
    is_last = found.num_rows < len(rows) or end >= unit.most
    return RowPage(rows=found, end=min(end, unit.most) if is_last else None)


def file_of(unit: RowUnit, reader: SplitReader) -> SplitFile:
    """The single file of a unit."""
    assert isinstance(unit.split, DataSplit)  # noqa: S101 - a file of a split
    return SplitFile(split=unit.split, row=(unit.files or (0,))[0], reader=reader)
