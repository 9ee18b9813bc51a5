"""Merge on read with late materialization: merges the key columns, then decodes selected rows.

For merge engines that select rows (deduplicate, first-row). Only the deciding columns of each run
(keys, sequence fields and numbers, row kinds) are streamed into the merge, which returns for each
batch the rows that are in the result. Of these rows the file positions and deciding columns are
kept. Once enough rows of a file are decided, its other columns are decoded, one long batch at a
time, and the selected rows are taken from each batch. So little more than the result is in memory,
spans without a selected row are not decoded, nor pages if the selected rows of a span are on few
of them, and the columns of different runs do not compete for the CPU caches.

Rows are returned run by run; those of a file in file order.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    filter_rows,
    rows_without_columns,
    take_rows,
)
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.data_file_reader import (
    Paged,
    PagesError,
    PositionedBatch,
    Span,
    are_on_few_pages,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.first_rows import FirstBound, FirstValues
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import narrow_index
from paimon_explore.merge.sort_merge import SelectedRows, select_rows
from paimon_explore.read.data_file import DataFileSource, OpenRows, ReadRequest, open_rows

_LATER_BYTES = 32 << 20
"""Maximum bytes that are decoded at a time for one run."""
_MAX_PAGED_SHARE = 0.25
"""Share of the rows of a span above which its pages are not considered."""
_TAKE = pc.TakeOptions(boundscheck=False)

Offsets = npt.NDArray[np.uint16] | Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLimits:
    """Limits on the rows that are processed at a time.

    Attributes:
        window: rows per take, at most 65,536, so that 16-bit indices are sufficient and the values
            stay in the CPU caches.
        deciding: approximate number of undecided rows of all runs.
        later: rows per batch of the other columns, per run.
    """

    window: int = 1 << 16
    deciding: int = 1 << 20
    later: int = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class LateMerge:
    """A merge that selects rows, and the columns of its result.

    Attributes:
        spec: the merge.
        fields: of the result.
        deciding: fields that are read first.
        by_run_order: as for `select_rows`.
        may_tie: as for `select_rows`.
        first: other rows than those that can be among the first ones may be left out; the column
            of their order is a deciding field, and in the result.
        limits: on rows per step.
    """

    spec: MergeSpec
    fields: tuple[DataField, ...]
    deciding: tuple[DataField, ...]
    by_run_order: bool
    may_tie: bool = False
    first: FirstBound | None = None
    limits: RowLimits = RowLimits()


@dataclass(frozen=True, slots=True)
class _Result:
    """How the columns of a result are put together.

    Attributes:
        merge: the merge.
        later: fields that are read for selected rows only.
        schema: of the result.
        kept: names of the deciding fields that are in the result.
        order: the index of each column of the result among the kept and the later ones.
    """

    merge: LateMerge
    later: tuple[DataField, ...]
    schema: pa.Schema
    kept: Sequence[str]
    order: Sequence[int]

    @classmethod
    def of(cls, merge: LateMerge) -> "_Result":
        """The result of a merge."""
        first = {field.name for field in merge.deciding}
        later = tuple(field for field in merge.fields if field.name not in first)
        wanted = {field.name for field in merge.fields}
        kept = [field.name for field in merge.deciding if field.name in wanted]
        index = {name: at for at, name in enumerate([*kept, *(field.name for field in later)])}
        return cls(
            merge=merge,
            later=later,
            schema=pa.schema([arrow_field(field) for field in merge.fields]),
            kept=kept,
            order=[index[field.name] for field in merge.fields],
        )


FilesOfRun = Sequence[tuple[DataFileSource, ReadRequest]]
"""The files of a sorted run in key order, with the request for the deciding columns."""


def read_selected_rows(runs: Sequence[FilesOfRun], merge: LateMerge) -> Iterator[pa.RecordBatch]:
    """Reads the rows of sorted runs that a merge selects.

    Args:
        runs: as for `select_rows`.
        merge: the merge and the columns of the result.

    Yields:
        Batches of the result's fields, none empty, of at most `window` rows.
    """
    result = _Result.of(merge)
    opened = [_Run(files, result, len(runs)) for files in runs]
    with ExitStack() as stack:
        for run in opened:
            stack.callback(run.close)
        streams = [run.deciding() for run in opened]
        found = select_rows(
            streams, merge.spec, by_run_order=merge.by_run_order, may_tie=merge.may_tie
        )
        for selected in found if merge.first is None else _first_rows(found, merge.first):
            yield from opened[selected.run].completed(selected.mask)
        for run in opened:
            yield from run.rest()


def _first_rows(found: Iterator[SelectedRows], bound: FirstBound) -> Iterator[SelectedRows]:
    """Selects of merged rows those that can be among the first ones."""
    best = FirstValues(bound)
    for rows in found:
        mask = np.ones(rows.batch.num_rows, np.bool_) if rows.mask is None else rows.mask.copy()
        positions = np.flatnonzero(mask)
        mask[positions] = best.kept(take_rows(rows.batch.column(bound.first.column), positions))
        yield replace(rows, mask=mask)


class _Run:
    """A sorted run; its files are opened one after another and closed when they are finished."""

    def __init__(self, files: FilesOfRun, result: _Result, count: int) -> None:
        self._files = files
        self._result = result
        limits = result.merge.limits
        minimum = max(limits.window // 4, 1)
        self._batch_rows = min(max(limits.deciding // count, minimum), limits.later)
        self._open: deque[_File] = deque()
        self._undecided: deque[tuple[_File, _DecidingRows]] = deque()

    def close(self) -> None:
        """Closes the open files."""
        while self._open:
            self._open.popleft().close()

    def deciding(self) -> Iterator[pa.RecordBatch]:
        """Reads the deciding columns of all rows."""
        for source, request in self._files:
            file = _File(source, replace(request, batch_bytes=_LATER_BYTES), self._result)
            self._open.append(file)
            for rows in file.deciding(self._batch_rows):
                self._undecided.append((file, rows))
                yield rows.rows

    def completed(self, mask: Bools | None) -> Iterator[pa.RecordBatch]:
        """Returns the rows that are complete once the next batch of the run is decided."""
        file, rows = self._undecided.popleft()
        while self._open[0] is not file:
            yield from self._done()
        yield from file.completed(rows, mask)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Returns the remaining rows once all batches are decided."""
        while self._open:
            yield from self._done()

    def _done(self) -> Iterator[pa.RecordBatch]:
        file = self._open[0]
        yield from file.rest()
        file.close()
        self._open.popleft()


@dataclass(frozen=True, slots=True)
class _DecidingRows:
    """Deciding columns of a batch of rows of a file, with their positions.

    Attributes:
        first: position of the first row.
        positions: of all rows; None if they are consecutive.
        rows: their columns.
    """

    first: int
    positions: Ints | None
    rows: pa.RecordBatch

    @property
    def end(self) -> int:
        """The position after the last row."""
        if self.positions is None:
            return self.first + self.rows.num_rows
        return int(self.positions[-1]) + 1

    def select(
        self, mask: Bools | None, names: Sequence[str], limit: int
    ) -> Iterator["_SelectedRows"]:
        """Selects rows by a mask, with some of their columns, in windows of `limit` rows.

        Most rows of a window that are consecutive are not copied; few are, as they would keep all
        of its rows in memory.
        """
        columns = [self.rows.column(name) for name in names]
        for start in range(0, self.rows.num_rows, limit):
            begin, size = start, min(limit, self.rows.num_rows - start)
            indices = None if mask is None else np.flatnonzero(mask[begin : begin + size])
            if indices is not None:
                count = len(indices)
                if not count:
                    continue
                if 2 * count >= size and indices[-1] - indices[0] == count - 1:
                    begin, size, indices = begin + int(indices[0]), count, None
            window = [column.slice(begin, size) for column in columns]
            first, offsets = self._offsets(begin, size, indices)
            yield _SelectedRows(first, size, offsets, tuple(_taken(window, indices, size)))

    def _offsets(self, begin: int, size: int, indices: Ints | None) -> tuple[int, Offsets | None]:
        if self.positions is None:
            narrow = None if indices is None else indices.astype(np.uint16)
            return self.first + begin, narrow
        positions = self.positions[begin : begin + size]
        if indices is not None:
            positions = positions.take(indices)
        first = int(positions[0])
        return first, positions - first


@dataclass(frozen=True, slots=True)
class _SelectedRows:
    """Selected rows of a file.

    Attributes:
        first: the position that offsets are relative to.
        rows: the number of rows from there on, if all of them are selected.
        offsets: ascending, relative to `first`; None for all.
        columns: the deciding columns that are in the result.
    """

    first: int
    rows: int
    offsets: Offsets | None
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return self.rows if self.offsets is None else len(self.offsets)

    @property
    def end(self) -> int:
        """The position after the last row."""
        return self.first + (self.rows if self.offsets is None else int(self.offsets[-1]) + 1)

    @property
    def positions(self) -> Ints:
        """The positions of the rows."""
        if self.offsets is None:
            return np.arange(self.first, self.end)
        return self.offsets.astype(np.int64) + self.first

    @property
    def start(self) -> int:
        """The position of the first row."""
        return self.first + (0 if self.offsets is None else int(self.offsets[0]))

    def where(self, mask: Bools) -> "_SelectedRows":
        """Selects the rows where a mask is true."""
        offsets = np.arange(self.rows) if self.offsets is None else self.offsets
        columns = tuple(filter_rows(column, mask) for column in self.columns)
        return _SelectedRows(self.first, self.rows, offsets[mask], columns)

    def split_at(self, position: int) -> tuple["_SelectedRows", "_SelectedRows | None"]:
        """Splits into the rows before a position, at least one, and the others."""
        if self.end <= position:
            return self, None
        size = position - self.first
        if self.offsets is None:
            count, before, after = size, None, None
        else:
            count = int(np.searchsorted(self.offsets, size))
            before, after = self.offsets[:count], self.offsets[count:].astype(np.int64) - size
        lower = tuple(column.slice(0, count) for column in self.columns)
        upper = tuple(column.slice(count) for column in self.columns)
        return (
            _SelectedRows(self.first, size, before, lower),
            _SelectedRows(position, self.rows - size, after, upper),
        )


class _File:
    """A file from which rows are selected."""

    def __init__(self, source: DataFileSource, request: ReadRequest, result: _Result) -> None:
        self._limits = result.merge.limits
        self._result = result
        self._stack = ExitStack()
        self._rows: OpenRows = self._stack.enter_context(open_rows(source, request))
        self._later = self._rows.columns(replace(request, fields=result.later, system_columns=()))
        self._selected: deque[_SelectedRows] = deque()
        self._spans = deque(enumerate(self._rows.spans))
        self._batches: Iterator[PositionedBatch] | None = None
        self._at = self._until = 0

    def close(self) -> None:
        """Closes the file."""
        self._batches = None
        self._stack.close()

    def deciding(self, batch_rows: int) -> Iterator[_DecidingRows]:
        """Reads the deciding columns of its rows."""
        request = replace(self._rows.request, batch_rows=batch_rows)
        columns = self._rows.columns(request)
        for batch, positions in self._rows.kept(columns, request):
            rows = columns.result(batch, positions)
            yield _DecidingRows(
                batch.first if positions is None else int(positions[0]), positions, rows
            )

    def completed(self, rows: _DecidingRows, mask: Bools | None) -> Iterator[pa.RecordBatch]:
        """Returns the rows that are complete once a batch is decided."""
        self._selected.extend(rows.select(mask, self._result.kept, self._limits.window))
        return self._decoded(rows.end)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Returns the remaining rows once all batches are decided."""
        if self._result.merge.first is not None:
            self._drop_rows_beyond(self._result.merge.first)
        return self._decoded(None)

    def _decoded(self, decided: int | None) -> Iterator[pa.RecordBatch]:
        """Decodes the other columns where enough rows are decided.

        Args:
            decided: the position up to which rows are decided; None for all.
        """
        if not self._later.stored:
            while self._selected:
                yield self._joined(self._selected.popleft(), ())
            return
        while self._spans and self._selected:
            index, span = self._spans[0]
            end = span.first + span.rows
            if self._selected[0].start >= end:
                self._next_span()  # also if the batch so far had the last selected row
            elif self._batches is None:
                if decided is not None and decided < end:
                    if decided < span.first + self._limits.later or self._are_few(span, decided):
                        return
                elif found := self._on_few_pages(index, span):
                    yield from found
                    continue
                self._at = span.first
                rows = self._rows_to_decode(span)
                self._until = end if span.rows > self._limits.later else span.first + rows
                self._batches = self._rows.file.batches(self._later.stored, (index,), rows)
            elif decided is not None and decided < min(self._at + self._limits.later, end):
                return
            else:
                yield from self._next_batch()

    def _drop_rows_beyond(self, bound: FirstBound) -> None:
        """Drops selected rows that later ones have shown not to be among the first."""
        at = self._result.kept.index(bound.first.column)
        found = ((rows, bound.reached(rows.columns[at])) for rows in self._selected)
        self._selected = deque(rows.where(mask) for rows, mask in found if mask.any())

    def _are_few(self, span: Span, end: int) -> bool:
        """Whether few rows of a span are selected up to a position, so that pages may pay off."""
        rows = takewhile(lambda rows: rows.start < end, self._selected)
        share = sum(map(len, rows)) / max(end - span.first, 1)
        return share <= _MAX_PAGED_SHARE and isinstance(self._rows.file, Paged)

    def _on_few_pages(self, index: int, span: Span) -> list[pa.RecordBatch]:
        """Decodes only the pages with the selected rows of a span; empty if these are many."""
        end = span.first + span.rows
        file = self._rows.file
        if not isinstance(file, Paged) or not self._are_few(span, end):
            return []
        pages = file.paged(self._later.stored, index)
        if pages is None:
            return []
        waiting, parts = self._selected.copy(), list[_SelectedRows]()
        while waiting and waiting[0].start < end:
            part, after = waiting.popleft().split_at(end)
            parts.append(part)
            if after is not None:
                waiting.appendleft(after)
        positions = np.concatenate([part.positions for part in parts])
        otherwise = self._rows_to_decode(span) if span.rows <= self._limits.later else span.rows
        if len(positions) > pages.batch_rows or not are_on_few_pages(
            pages, self._later.stored, span, positions, otherwise
        ):
            return []
        try:
            columns = pages.values(self._later.stored, positions)
        except PagesError:
            return []
        self._selected = waiting
        ends = np.cumsum([len(part) for part in parts])
        return [
            self._joined(part, [column.slice(at - len(part), len(part)) for column in columns])
            for part, at in zip(parts, ends.tolist(), strict=True)
        ]

    def _rows_to_decode(self, span: Span) -> int:
        """The rows of a batch of a span: if it has one batch, those up to the last selected row."""
        if span.rows > self._limits.later:
            return self._limits.later
        end = span.first + span.rows
        last = max(min(rows.end, end) for rows in self._selected if rows.start < end)
        return last - span.first

    def _next_span(self) -> None:
        self._spans.popleft()
        self._batches = None

    def _next_batch(self) -> Iterator[pa.RecordBatch]:
        batch = None if self._batches is None else next(self._batches, None)
        if batch is None:
            self._next_span()
            return
        self._at = batch.first + batch.rows
        if self._at >= self._until:
            self._next_span()  # else the last batch stays in memory as long as the iterator
        while self._selected and self._selected[0].start < self._at:
            selected, after = self._selected.popleft().split_at(self._at)
            if after is not None:
                self._selected.appendleft(after)
            yield self._joined(selected, _values_at(selected, batch))

    def _joined(self, selected: _SelectedRows, values: Sequence[Column]) -> pa.RecordBatch:
        """Combines the deciding columns of selected rows with the others, as they are stored."""
        columns = list(selected.columns)
        if self._later.sources:
            part = PositionedBatch(first=selected.first, rows=len(selected), columns=tuple(values))
            columns += self._later.arrays(part, None)
        if not columns:
            return rows_without_columns(len(selected))
        ordered = [columns[index] for index in self._result.order]
        return pa.RecordBatch.from_arrays(ordered, schema=self._result.schema)


def _values_at(selected: _SelectedRows, batch: PositionedBatch) -> Sequence[Column]:
    """The values of selected rows of a batch."""
    begin, size, offsets = selected.start, selected.end - selected.start, selected.offsets
    if len(selected) == size and 2 * size >= batch.rows:
        offsets = None
    elif offsets is not None and offsets[0]:
        offsets = offsets - offsets[0]
    window = [column.slice(begin - batch.first, size) for column in batch.columns]
    return list(_taken(window, offsets, size))


def _taken(columns: Sequence[Column], indices: Offsets | None, below: int) -> Iterator[Column]:
    """Takes the values at indices; None for all."""
    if indices is None:
        return iter(columns)
    index = narrow_index(indices, below)  # type: ignore[arg-type]  # uint16 is accepted
    return (pc.call_function("take", [column, index], _TAKE) for column in columns)
