"""Reads the rows of a unit in order and keeps the latest ones, to scroll in both directions."""

from collections import deque
from collections.abc import Callable, Iterator

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass

MAX_BYTES = 64 << 20
"""Approximate maximum size of the kept rows."""
MAX_SKIPPED = 400_000
"""Number of rows that are read at a time to reach a row; the caller then asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some consecutive rows of a unit.

    Attributes:
        rows: the rows from the requested one on; fewer than requested at the end of the unit.
        end: number of rows of the unit, once it is known.
        is_partial: whether reading has to continue to reach the requested rows.
    """

    rows: pa.Table
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

    def window(self, offset: int, count: int, max_skipped: int = MAX_SKIPPED) -> Window:
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
                return Window(rows=self._slice(offset, count), is_partial=True)
            read += self._step(offset)
        return Window(rows=self._slice(offset, count), end=self._next if self._is_done else None)

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
