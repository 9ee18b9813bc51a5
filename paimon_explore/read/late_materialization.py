"""Late materialization: decodes the predicate's columns first, the others only for matching rows.

It is used for spans (row groups) whose pages can be decoded individually and that are large enough
for it to pay off.

1. If the file has page bounds, or a file index left few rows, only those pages of the predicate's
   columns are decoded that may contain a match, window by window, and of the other columns the
   pages of the matches.
2. Else the predicate's columns are streamed and the matches kept. If these are on few pages of the
   other columns, only those pages are decoded.
3. Else, and as soon as there are many matches, the other columns are streamed in step with them.
   This costs no more than reading all columns at once.

If pages cannot be used, 1 and 2 continue with 3 after the last returned row. Rows are returned in
file order with their physical positions, and each one matches.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
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
    MAX_DECODED_SHARE,
    OpenDataFile,
    PageBounds,
    PagedRows,
    PagesError,
    PositionedBatch,
    Span,
    StoredColumn,
    are_on_few_pages,
    decode_dictionary,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_vector_filter import FileRows, RowFilter
from paimon_explore.read.file_predicate import COPY_SHARE, FilePredicate, only_matches
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats

PositionedRows = tuple[PositionedBatch, Ints]
"""Rows and their positions."""

_FEW_CANDIDATES = 0.25
_HELD_ROWS = 1 << 20
_WINDOW_BATCHES = 2
_SURE = 2
_MAX_TURNS = 16
"""Maximum number of changes between parts that certainly match and others."""
_MAX_ROWS = 2**62
_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matches:
    """Matching rows: positions and the predicate's columns."""

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
    """A span (row group) that is read with late materialization.

    Attributes:
        file: the open file.
        pages: of the span.
        index: of the span.
        stored: columns to read, including the predicate's.
        output: columns of the result, the first ones of `stored`. None for all; rows that do not
            match may then be returned if the predicate fails on a row.
        predicate: the predicate.
        rows: the filter by position.
        batch_rows: maximum rows of a batch.
    """

    file: OpenDataFile
    pages: PagedRows
    index: int
    stored: tuple[StoredColumn, ...]
    predicate: FilePredicate
    rows: RowFilter
    batch_rows: int
    output: tuple[StoredColumn, ...] | None = None

    @property
    def result(self) -> tuple[StoredColumn, ...]:
        """The columns of the result."""
        return self.stored if self.output is None else self.output

    @property
    def span(self) -> Span:
        """The span with its position in the file."""
        return self.file.spans[self.index]

    @property
    def rest(self) -> tuple[StoredColumn, ...]:
        """The columns of the result that the predicate does not read."""
        return tuple(column for column in self.result if column not in self.predicate.columns)

    @property
    def _is_hidden(self) -> bool:
        """Whether the predicate reads a column that is not in the result."""
        return not set(self.predicate.columns).issubset(self.result)

    def has_few_candidates(self) -> bool:
        """Whether page bounds exclude most rows of the span."""
        try:
            starts, ends, _ = self._by_bounds()
        except PagesError:
            return False
        return bool((ends - starts).sum() <= self.span.rows * _FEW_CANDIDATES)

    def batches(self) -> Iterator[FileRows]:
        """Reads the matches with the columns of the result, in file order."""
        done = self.span.first
        try:
            for found in self._matches():
                yield found
                done = int(found[1][-1]) + 1
        except PagesError:
            held: list[_Matches] = []
            yield from self._with_streamed_rest(held, self._streamed(done))
        except InvalidInputError:
            # The predicate fails on a row that may not be in the result: let the caller filter.
            rows = self._unfiltered(done)
            if self.output is None:
                yield from rows
            else:
                yield from only_matches(rows, self.predicate, self.stored, len(self.output))

    def _matches(self) -> Iterator[PositionedRows]:
        candidates = self._candidates()
        if candidates is not None:
            for window, is_sure in candidates:
                if is_sure:
                    yield from self._certain_matches(self.rows.remaining(window))
                else:
                    yield from self._with_rest_pages(self._on_pages(window))
            return
        held: list[_Matches] = []
        count = 0
        matches = self._streamed(self.span.first)
        for found in matches:
            held.append(found)
            count += len(found)
            if not self.rest or count > min(self.span.rows * MAX_DECODED_SHARE / 2, _HELD_ROWS):
                yield from self._with_streamed_rest(held, matches)
                return
        all_matches = _concatenated(held)
        if all_matches is None:
            return
        if are_on_few_pages(
            self.pages, self.rest, self.span, all_matches.positions, self.span.rows
        ):
            yield from self._with_rest_pages(all_matches)
        else:
            until = int(all_matches.positions[-1]) + 1 - self.span.first
            yield from self._with_streamed_rest([all_matches], iter(()), until)

    def _candidates(self) -> Iterator[tuple[Ints, bool]] | None:
        """Windows of rows that may match, each with whether all of its rows certainly match.

        None if they are unknown, or more than half of the span.
        """
        span = self.span
        starts, ends, is_sure = self._by_bounds()
        if self.rows.selected is not None:
            rows = self.rows.within(span)
            if not len(starts):
                return iter(())
            at = np.searchsorted(starts, rows, "right") - 1
            rows = rows[(at >= 0) & (rows < ends[at])]
            if len(rows) > span.rows * MAX_DECODED_SHARE:
                return None
            size = self._window
            return ((rows[i : i + size], False) for i in range(0, len(rows), size))
        if (ends - starts).sum() > span.rows * MAX_DECODED_SHARE:
            return None
        turns = np.flatnonzero(is_sure[1:] != is_sure[:-1]) + 1
        return (
            (window, bool(is_sure[part[0]]))
            for part in np.split(np.arange(len(starts)), turns)
            for window in _windows(starts[part], (ends - starts)[part], self._window)
        )

    def _by_bounds(self) -> tuple[Ints, Ints, Bools]:
        """Start and end of the parts of the span that may match by their page bounds.

        Also whether a part certainly matches, if that avoids reading columns.
        """
        span = self.span
        bounds = {
            name: found
            for name, column in self.predicate.bounded.items()
            if (found := self.pages.bounds(column))
        }
        if not bounds:
            return np.array([span.first]), np.array([span.first + span.rows]), np.array([False])
        edges = np.unique(np.concatenate([found.firsts for found in bounds.values()]))
        rows = np.diff(edges)
        stats = {name: _stats_of(found, edges) for name, found in bounds.items()}
        outcomes = self.predicate.outcomes(rows, stats)
        kinds = outcomes.true.astype(np.int8)
        sure = outcomes.true & ~outcomes.false & ~outcomes.unknown
        if self._is_hidden and np.count_nonzero(sure[1:] != sure[:-1]) <= _MAX_TURNS:
            kinds += sure
        firsts = np.flatnonzero(np.concatenate([[True], kinds[1:] != kinds[:-1]]))
        lasts = np.append(firsts[1:], len(kinds))
        some = kinds[firsts] > 0
        return edges[firsts[some]], edges[lasts[some]], kinds[firsts[some]] == _SURE

    @property
    def _window(self) -> int:
        return min(self.batch_rows, self.pages.batch_rows) * _WINDOW_BATCHES

    def _on_pages(self, window: Ints) -> _Matches:
        rows = self.rows.remaining(window)
        if not len(rows):
            return _Matches(positions=rows, columns=())
        columns = self.pages.values(self.predicate.columns, rows)
        return self._filtered(rows, len(rows), columns)

    def _streamed(self, start: int) -> Iterator[_Matches]:
        """Streams the predicate's columns and returns the matches from a position on."""
        for batch in self.file.batches(self.predicate.columns, (self.index,), self.batch_rows):
            kept, positions = self.rows.kept(batch)
            rows = kept.first if positions is None else positions
            found = self._filtered(rows, kept.rows, kept.columns)
            if len(found) and found.positions[0] < start:
                found = found.slice(int(np.searchsorted(found.positions, start)), len(found))
            if len(found):
                yield found

    def _filtered(self, rows: Ints | int, count: int, columns: tuple[Column, ...]) -> _Matches:
        """Filters rows that are at given positions, or consecutive from one position on."""
        truth = self.predicate.truth(columns, count)
        matching = truth.true_count
        if not matching:
            return _Matches(positions=_NOTHING, columns=())
        mask = bool_values(truth) & valid_mask(truth)
        first = int(np.argmax(mask))
        # A slice keeps the whole batch in memory.
        if matching > count * COPY_SHARE and truth.slice(first, matching).true_count == matching:
            kept = tuple(decode_dictionary(column.slice(first, matching)) for column in columns)
            if isinstance(rows, int):
                rows, first = np.arange(rows + first, rows + first + matching), 0
            found = rows[first : first + matching]
        else:
            kept = tuple(decode_dictionary(pc.filter(column, truth)) for column in columns)
            at = np.flatnonzero(mask)
            found = at + rows if isinstance(rows, int) else rows[at]
        return _Matches(positions=found, columns=kept)

    def _with_rest_pages(self, matches: _Matches) -> Iterator[PositionedRows]:
        """Adds the remaining columns to matches, decoding only their pages."""
        for start in range(0, len(matches), self._window):
            part = matches.slice(start, start + self._window)
            rest = self.pages.values(self.rest, part.positions)
            yield from self._combined(part, rest)

    def _certain_matches(self, rows: Ints) -> Iterator[PositionedRows]:
        """Reads rows that certainly match, at most a window."""
        if len(rows):
            columns = self.pages.values(self.result, rows)
            yield from self._in_batches(rows, columns)

    def _with_streamed_rest(
        self, held: Sequence[_Matches], more: Iterator[_Matches], until: int = _MAX_ROWS
    ) -> Iterator[PositionedRows]:
        """Adds the remaining columns to matches, decoding these columns up to the last match.

        Args:
            held: the first matches.
            more: the others.
            until: number of rows of the span up to the last match, if it is known.
        """
        if not self.rest:
            for found in (*held, *more):
                yield from self._combined(found, [])
            return
        queue = _Queue(held, more)
        for batch in self.file.batches(self.rest, (self.index,), min(self.batch_rows, until)):
            part = queue.before(batch.first + batch.rows)
            if part is not None:
                rest = [_take(column, part.positions - batch.first) for column in batch.columns]
                yield from self._combined(part, rest)
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

    def _combined(self, matches: _Matches, rest: Sequence[Column]) -> Iterator[PositionedRows]:
        """Combines both sets of columns in result order, in batches."""
        by_column = dict(
            zip((*self.predicate.columns, *self.rest), (*matches.columns, *rest), strict=True)
        )
        columns = tuple(by_column[column] for column in self.result)
        yield from self._in_batches(matches.positions, columns)

    def _in_batches(self, positions: Ints, columns: tuple[Column, ...]) -> Iterator[PositionedRows]:
        size = min(self.batch_rows, self.pages.batch_rows)
        for start in range(0, len(positions), size):
            parts = tuple(column.slice(start, size) for column in columns)
            yield _positioned(positions[start : start + size], parts)


class _Queue:
    """A queue that regroups matches by position."""

    def __init__(self, held: Iterable[_Matches], more: Iterator[_Matches]) -> None:
        self._held = list(held)
        self._more = more
        self._all_found = False

    @property
    def is_done(self) -> bool:
        """Whether there are no further matches."""
        return self._all_found and not self._held

    def before(self, end: int) -> _Matches | None:
        """Takes the next matches before a position."""
        while not self._all_found and not (self._held and self._held[-1].positions[-1] >= end):
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
        return _concatenated(taken)


def _concatenated(parts: Sequence[_Matches]) -> _Matches | None:
    """Concatenates matches; None if there are none."""
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


def _take(column: Column, indices: Ints) -> Column:
    """The values at ascending indices; a slice if they are consecutive."""
    first, last = int(indices[0]), int(indices[-1])
    if last - first + 1 == len(indices):
        return column.slice(first, len(indices))
    return take_rows(column, indices)


def _windows(starts: Ints, sizes: Ints, limit: int) -> Iterator[Ints]:
    """The positions of consecutive ranges, at most `limit` at a time."""
    ends = offsets_from_sizes(sizes)
    for low in range(0, int(ends[-1]), limit):
        high = min(low + limit, int(ends[-1]))
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


def _stats_of(found: PageBounds, edges: Ints) -> ColumnStats:
    """Page statistics of the parts between edges, each of which is on one page."""
    pages = np.searchsorted(found.firsts, edges[:-1], "right") - 1
    rows, parts = np.diff(found.firsts)[pages], np.diff(edges)
    counts = take_rows(found.bounds.null_count, pages)
    nulls = fixed_values(counts, np.int64).view(np.int64)
    # The null count of a part is known if the page has no nulls or only nulls.
    known = valid_mask(counts) & ((nulls == 0) | (nulls == rows) | (parts == rows))
    return ColumnStats(
        minimum=take_rows(found.bounds.minimum, pages),
        maximum=take_rows(found.bounds.maximum, pages),
        null_count=build_fixed(pa.int64(), np.minimum(nulls, parts), known),
    )
