"""The rows of a span that fulfil a predicate: its columns first, the others where it holds.

Theory of operation. A span is read late where its pages can be decoded one by one and it is large
enough for that to pay.

1. Where the file has bounds of its pages, or a file index left few rows, only those pages of the
   predicate's columns are decoded that may hold a match, window by window, and of the other columns
   the pages of the matches.
2. Else the predicate's columns are streamed and the matches kept. If those lie on few pages of the
   other columns, only these are decoded.
3. Else, and as soon as the matches are many, the other columns are streamed beside them: that costs
   what reading all columns at once costs.

Pages that cannot be used lead from 1 and 2 to 3, behind the last row that was given. Rows come in
file order, with their physical positions, and each of them is a match.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    bool_values,
    build_fixed,
    expand_ranges,
    fixed_values,
    offsets_from_sizes,
    take_rows,
    valid_mask,
)
from paimon_explore.encoding.data_file_reader import (
    OpenDataFile,
    PageBounds,
    PagedRows,
    PagesError,
    PositionedBatch,
    Span,
    StoredColumn,
    decode_dictionary,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_filter import FileRows, RowFilter
from paimon_explore.read.file_predicate import FEW, Condition, only_matches
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats

PositionedRows = tuple[PositionedBatch, Ints]
"""Rows and their positions."""

_MOST = 0.5
"""Share of the rows from which on all of a span is decoded."""
_PAGE_ROWS = 20_000
"""What writers put on a page at most, if they bound it by rows."""
_HELD_ROWS = 1 << 20
_WINDOW_BATCHES = 2
_SURE = 2
_MOST_TURNS = 16
"""How often parts that match for sure may follow others, for each is decoded by itself."""
_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matches:
    """Matching rows: their positions and the predicate's columns."""

    positions: Ints
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.positions)

    def slice(self, start: int, end: int) -> "_Matches":
        return _Matches(
            positions=self.positions[start:end],
            columns=tuple(column.slice(start, end - start) for column in self.columns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LateSpan:
    """A span to read late.

    Attributes:
        file: open.
        pages: of the span.
        index: of the span.
        stored: columns to read, the predicate's among them.
        given: columns of the result, the first ones of `stored`; None for all of them, and where
            the predicate fails on a row, others come too.
        condition: what rows have to fulfil.
        rows: which may be kept besides.
        batch_rows: no batch is longer.
    """

    file: OpenDataFile
    pages: PagedRows
    index: int
    stored: tuple[StoredColumn, ...]
    condition: Condition
    rows: RowFilter
    batch_rows: int
    given: tuple[StoredColumn, ...] | None = None

    @property
    def result(self) -> tuple[StoredColumn, ...]:
        """The columns of the result."""
        return self.stored if self.given is None else self.given

    @property
    def span(self) -> Span:
        """The span."""
        return self.file.spans[self.index]

    @property
    def rest(self) -> tuple[StoredColumn, ...]:
        """The columns of the result that the predicate does not read."""
        return tuple(column for column in self.result if column not in self.condition.columns)

    @property
    def _is_hidden(self) -> bool:
        """Whether the predicate reads a column that is not in the result."""
        return not set(self.condition.columns).issubset(self.result)

    def batches(self) -> Iterator[FileRows]:
        """The matches with all columns, in file order."""
        done = self.span.first
        try:
            for found in self._given():
                yield found
                done = int(found[1][-1]) + 1
        except PagesError:
            held: list[_Matches] = []
            yield from self._beside(held, self._streamed(done))
        except InvalidInputError:
            # the predicate fails on a row that may be none of the result: who filters finds out
            rows = self._unfiltered(done)
            if self.given is None:
                yield from rows
            else:
                yield from only_matches(rows, self.condition, self.stored, len(self.given))

    def _given(self) -> Iterator[PositionedRows]:
        candidates = self._candidates()
        if candidates is not None:
            for window, is_sure in candidates:
                if is_sure:
                    yield from self._taken(self.rows.left(window))
                else:
                    yield from self._completed(self._on_pages(window))
            return
        held: list[_Matches] = []
        count = 0
        matches = self._streamed(self.span.first)
        for found in matches:
            held.append(found)
            count += len(found)
            if not self.rest or count > min(self.span.rows * _MOST / 2, _HELD_ROWS):
                yield from self._beside(held, matches)
                return
        together = _joined(held)
        if together is None:
            return
        if self._lie_together(together.positions):
            yield from self._completed(together)
        else:
            yield from self._beside([together], iter(()))

    def _candidates(self) -> Iterator[tuple[Ints, bool]] | None:
        """Rows that may match, in windows; None where they are not known or most.

        With each window whether all of its rows match for sure.
        """
        span = self.span
        starts, ends, is_sure = self._by_bounds()
        if self.rows.selected is not None:
            rows = self.rows.within(span)
            if not len(starts):
                return iter(())
            at = np.searchsorted(starts, rows, "right") - 1
            rows = rows[(at >= 0) & (rows < ends[at])]
            if len(rows) > span.rows * _MOST:
                return None
            size = self._window
            return ((rows[i : i + size], False) for i in range(0, len(rows), size))
        if (ends - starts).sum() > span.rows * _MOST:
            return None
        turns = np.flatnonzero(is_sure[1:] != is_sure[:-1]) + 1
        return (
            (window, bool(is_sure[part[0]]))
            for part in np.split(np.arange(len(starts)), turns)
            for window in _windows(starts[part], (ends - starts)[part], self._window)
        )

    def _by_bounds(self) -> tuple[Ints, Ints, Bools]:
        """Where the parts of the span begin and end that may match by the bounds of pages.

        And which parts match for sure, where that spares columns of being read.
        """
        span = self.span
        bounds = {
            name: found
            for name, column in self.condition.bounded.items()
            if (found := self.pages.bounds(column))
        }
        if not bounds:
            return np.array([span.first]), np.array([span.first + span.rows]), np.array([False])
        cuts = np.unique(np.concatenate([found.firsts for found in bounds.values()]))
        rows = np.diff(cuts)
        stats = {name: _stats_of(found, cuts) for name, found in bounds.items()}
        judged = self.condition.outcomes(rows, stats)
        kinds = judged.true.astype(np.int8)
        sure = judged.true & ~judged.false & ~judged.unknown
        if self._is_hidden and np.count_nonzero(sure[1:] != sure[:-1]) <= _MOST_TURNS:
            kinds += sure
        firsts = np.flatnonzero(np.concatenate([[True], kinds[1:] != kinds[:-1]]))
        lasts = np.append(firsts[1:], len(kinds))
        some = kinds[firsts] > 0
        return cuts[firsts[some]], cuts[lasts[some]], kinds[firsts[some]] == _SURE

    @property
    def _window(self) -> int:
        return min(self.batch_rows, self.pages.batch_rows) * _WINDOW_BATCHES

    def _on_pages(self, window: Ints) -> _Matches:
        rows = self.rows.left(window)
        if not len(rows):
            return _Matches(positions=rows, columns=())
        columns = tuple(self.pages.values(column, rows) for column in self.condition.columns)
        return self._tested(rows, len(rows), columns)

    def _streamed(self, start: int) -> Iterator[_Matches]:
        """The matches from a position on, their columns decoded as they lie in the file."""
        for batch in self.file.batches(self.condition.columns, (self.index,), self.batch_rows):
            kept, positions = self.rows.kept(batch)
            rows = kept.first if positions is None else positions
            found = self._tested(rows, kept.rows, kept.columns)
            if len(found) and found.positions[0] < start:
                found = found.slice(int(np.searchsorted(found.positions, start)), len(found))
            if len(found):
                yield found

    def _tested(self, rows: Ints | int, count: int, columns: tuple[Column, ...]) -> _Matches:
        """The matches among rows: at some positions, or consecutive from one on."""
        truth = self.condition.truth(columns, count)
        matching = truth.true_count
        if not matching:
            return _Matches(positions=_NOTHING, columns=())
        places = bool_values(truth) & valid_mask(truth)
        first = int(np.argmax(places))
        # a slice holds all of the batch
        if matching > count * FEW and truth.slice(first, matching).true_count == matching:
            kept = tuple(decode_dictionary(column.slice(first, matching)) for column in columns)
            if isinstance(rows, int):
                rows, first = np.arange(rows + first, rows + first + matching), 0
            found = rows[first : first + matching]
        else:
            kept = tuple(decode_dictionary(column.filter(truth)) for column in columns)
            at = np.flatnonzero(places)
            found = at + rows if isinstance(rows, int) else rows[at]
        return _Matches(positions=found, columns=kept)

    def _lie_together(self, rows: Ints) -> bool:
        """Whether the rest of some rows lies on few pages."""
        edges = np.arange(self.span.first, self.span.first + self.span.rows, _PAGE_ROWS)
        most = (
            np.count_nonzero(np.diff(np.searchsorted(rows, edges), append=len(rows))) * _PAGE_ROWS
        )
        if not self.rest or most > max(self.span.rows * _MOST, _PAGE_ROWS):
            return False
        try:
            shares = [self.pages.share(column, rows) for column in self.rest]
        except PagesError:
            return False
        return sum(shares) < _MOST * len(shares)

    def _completed(self, matches: _Matches) -> Iterator[PositionedRows]:
        """The matches with the rest of the columns, off its pages."""
        for start in range(0, len(matches), self._window):
            part = matches.slice(start, start + self._window)
            rest = [self.pages.values(column, part.positions) for column in self.rest]
            yield from self._cut(part, rest)

    def _taken(self, rows: Ints) -> Iterator[PositionedRows]:
        """Rows that match for sure, at most a window of them."""
        if len(rows):
            columns = tuple(self.pages.values(column, rows) for column in self.result)
            yield from self._in_batches(rows, columns)

    def _beside(
        self, held: Sequence[_Matches], more: Iterator[_Matches]
    ) -> Iterator[PositionedRows]:
        """The matches with the rest of the columns, of which all is decoded."""
        if not self.rest:
            for found in (*held, *more):
                yield from self._cut(found, [])
            return
        queue = _Queue(held, more)
        for batch in self.file.batches(self.rest, (self.index,), self.batch_rows):
            part = queue.before(batch.first + batch.rows)
            if part is not None:
                rest = [_at(column, part.positions - batch.first) for column in batch.columns]
                yield from self._cut(part, rest)
            if queue.is_done:
                return

    def _unfiltered(self, start: int) -> Iterator[PositionedRows]:
        for batch in self.file.batches(self.stored, (self.index,), self.batch_rows):
            kept, positions = self.rows.kept(batch)
            if positions is None:
                positions = np.arange(kept.first, kept.first + kept.rows)
            at = int(np.searchsorted(positions, start))
            if at < kept.rows:
                columns = tuple(column.slice(at) for column in kept.columns)
                yield _positioned(positions[at:], columns)

    def _cut(self, matches: _Matches, rest: Sequence[Column]) -> Iterator[PositionedRows]:
        """Batches of all columns in their order."""
        by_column = dict(
            zip((*self.condition.columns, *self.rest), (*matches.columns, *rest), strict=True)
        )
        columns = tuple(by_column[column] for column in self.result)
        yield from self._in_batches(matches.positions, columns)

    def _in_batches(self, positions: Ints, columns: tuple[Column, ...]) -> Iterator[PositionedRows]:
        size = min(self.batch_rows, self.pages.batch_rows)
        for start in range(0, len(positions), size):
            parts = tuple(column.slice(start, size) for column in columns)
            yield _positioned(positions[start : start + size], parts)


class _Queue:
    """Matches that are found on the way and taken in other portions."""

    def __init__(self, held: Iterable[_Matches], more: Iterator[_Matches]) -> None:
        self._held = list(held)
        self._more = more
        self._all_found = False

    @property
    def is_done(self) -> bool:
        """Whether no match can come."""
        return self._all_found and not self._held

    def before(self, end: int) -> _Matches | None:
        """The next matches before a position."""
        while not self._all_found and not (self._held and self._held[-1].positions[-1] >= end - 1):
            found = next(self._more, None)
            if found is None:
                self._all_found = True
            else:
                self._held.append(found)
        taken: list[_Matches] = []
        while self._held and self._held[0].positions[0] < end:
            first = self._held.pop(0)
            count = int(np.searchsorted(first.positions, end))
            taken.append(first.slice(0, count))
            if count < len(first):
                self._held.insert(0, first.slice(count, len(first)))
                break
        return _joined(taken)


def _joined(parts: Sequence[_Matches]) -> _Matches | None:
    """Matches behind each other as one; None for none."""
    if len(parts) < 2:  # noqa: PLR2004 - nothing to join
        return parts[0] if parts else None
    columns = zip(*(part.columns for part in parts), strict=True)
    return _Matches(
        positions=np.concatenate([part.positions for part in parts]),
        columns=tuple(pa.concat_arrays(column) for column in columns),
    )


def _positioned(positions: Ints, columns: tuple[Column, ...]) -> PositionedRows:
    batch = PositionedBatch(first=int(positions[0]), rows=len(positions), columns=columns)
    return batch, positions


def _at(column: Column, places: Ints) -> Column:
    """The values at ascending places."""
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == len(places):
        return column.slice(first, len(places))
    return take_rows(column, places)


def _windows(starts: Ints, sizes: Ints, most: int) -> Iterator[Ints]:
    """The positions of consecutive ranges, at most so many at a time."""
    ends = offsets_from_sizes(sizes)
    for low in range(0, int(ends[-1]), most):
        high = min(low + most, int(ends[-1]))
        end = int(np.searchsorted(ends, high))
        begin = int(np.searchsorted(ends, low, "right")) - 1
        first, size = starts[begin:end].copy(), sizes[begin:end].copy()
        first[0] += low - ends[begin]
        size[0] -= low - ends[begin]
        size[-1] -= ends[end] - high
        yield (
            np.arange(first[0], first[0] + size[0])
            if len(first) == 1
            else expand_ranges(first, size)
        )


def _stats_of(found: PageBounds, cuts: Ints) -> ColumnStats:
    """Statistics of pages for the parts between cuts, each of which lies on one page."""
    pages = np.searchsorted(found.firsts, cuts[:-1], "right") - 1
    rows, parts = np.diff(found.firsts)[pages], np.diff(cuts)
    counts = take_rows(found.bounds.null_count, pages)
    nulls = fixed_values(counts, np.int64).view(np.int64)
    # a part of a page without nulls has none, one of a page of nulls only these
    told = valid_mask(counts) & ((nulls == 0) | (nulls == rows) | (parts == rows))
    return ColumnStats(
        minimum=take_rows(found.bounds.minimum, pages),
        maximum=take_rows(found.bounds.maximum, pages),
        null_count=build_fixed(pa.int64(), np.minimum(nulls, parts), told),
    )
