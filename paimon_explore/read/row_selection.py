"""Sorted runs of which a merge chooses rows: first what decides, then the rest where it is wanted.

Theory of operation. Of each run only the columns that decide (keys, sequence fields and numbers,
row kinds) are streamed into the merge, which says batch by batch which of their rows are in the
result. Of these rows the positions in their file and the deciding columns are kept. As soon as
enough of a file is decided, its other columns are decoded behind it, a long batch at a time, and
the chosen rows are taken out of each batch at once. So little more than the result is held, a span
of which no row is chosen is not decoded at all, and the columns of one run are decoded while those
of no other are in the caches.

Rows come by run, in pieces that end with what is decided; those of a file in its order.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.data_file_reader import PositionedBatch
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import narrow_index
from paimon_explore.merge.sort_merge import choose_rows
from paimon_explore.read.data_file import DataFileSource, OpenRows, ReadRequest, open_rows

_LATER_BYTES = 32 << 20
"""What is decoded at a time behind the merge, of one run."""
_TAKE = pc.TakeOptions(boundscheck=False)

Offsets = npt.NDArray[np.uint16] | Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Portions:
    """How many rows are worked on at a time.

    Attributes:
        window: taken at a time: short row numbers do, and the values are in the caches. At most
            65,536.
        deciding: held of all runs until they are decided, about.
        later: decoded at a time behind the merge, of one run.
    """

    window: int = 1 << 16
    deciding: int = 1 << 20
    later: int = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class LateMerge:
    """A merge that chooses rows, and the columns of its result.

    Attributes:
        spec: the merge.
        fields: of the result.
        deciding: fields that are read first.
        by_run_order: as for `choose_rows`.
        portions: of the work.
    """

    spec: MergeSpec
    fields: tuple[DataField, ...]
    deciding: tuple[DataField, ...]
    by_run_order: bool
    portions: Portions = Portions()

    @property
    def later(self) -> tuple[DataField, ...]:
        """Fields that are read of chosen rows only."""
        first = {field.name for field in self.deciding}
        return tuple(field for field in self.fields if field.name not in first)


FilesOfRun = Sequence[tuple[DataFileSource, ReadRequest]]
"""The files of a sorted run in its order, and how the deciding columns are read."""


def read_chosen(runs: Sequence[FilesOfRun], merge: LateMerge) -> Iterator[pa.RecordBatch]:
    """The rows of sorted runs that a merge chooses.

    Args:
        runs: from the oldest to the newest.
        merge: what decides, and what is wanted.

    Yields:
        Batches of the wanted fields, none empty, of at most a window's rows.
    """
    opened = [_Run(files, merge, len(runs)) for files in runs]
    with ExitStack() as stack:
        for run in opened:
            stack.callback(run.close)
        streams = [run.deciding() for run in opened]
        for chosen in choose_rows(streams, merge.spec, by_run_order=merge.by_run_order):
            yield from opened[chosen.run].given(chosen.mask)
        for run in opened:
            yield from run.rest()


class _Run:
    """A sorted run: its files are opened one after the other, and closed when they are done."""

    def __init__(self, files: FilesOfRun, merge: LateMerge, count: int) -> None:
        self._files = files
        self._merge = merge
        portions = merge.portions
        least = max(portions.window // 4, 1)
        self._batch_rows = min(max(portions.deciding // count, least), portions.later)
        self._open: deque[_File] = deque()
        self._undecided: deque[tuple[_File, _Placed]] = deque()

    def close(self) -> None:
        """Close what is open."""
        while self._open:
            self._open.popleft().close()

    def deciding(self) -> Iterator[pa.RecordBatch]:
        """The deciding columns of all rows."""
        for source, request in self._files:
            file = _File(source, replace(request, batch_bytes=_LATER_BYTES), self._merge)
            self._open.append(file)
            for placed in file.deciding(self._batch_rows):
                self._undecided.append((file, placed))
                yield placed.rows

    def given(self, mask: Bools | None) -> Iterator[pa.RecordBatch]:
        """What can be given when the next batch of the run is decided."""
        file, placed = self._undecided.popleft()
        while self._open[0] is not file:
            yield from self._done()
        yield from file.given(placed, mask)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left when all is decided."""
        while self._open:
            yield from self._done()

    def _done(self) -> Iterator[pa.RecordBatch]:
        file = self._open[0]
        yield from file.rest()
        file.close()
        self._open.popleft()


@dataclass(frozen=True, slots=True)
class _Placed:
    """Deciding columns of consecutive rows of a file, some of which may be left out.

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
        """The position behind the last row."""
        if self.positions is None:
            return self.first + self.rows.num_rows
        return int(self.positions[-1]) + 1

    def chosen(self, mask: Bools | None, names: Sequence[str], most: int) -> Iterator["_Chosen"]:
        """The rows of a mask and some of their columns, so many rows at a time."""
        columns = [self.rows.column(name) for name in names]
        for begin in range(0, self.rows.num_rows, most):
            size = min(most, self.rows.num_rows - begin)
            places = None if mask is None else np.flatnonzero(mask[begin : begin + size])
            if places is not None and len(places) == size:
                places = None
            elif places is not None and not len(places):
                continue
            window = [column.slice(begin, size) for column in columns]
            first, offsets = self._offsets(begin, size, places)
            yield _Chosen(first, size, offsets, tuple(_taken(window, places, size)))

    def _offsets(self, begin: int, size: int, places: Ints | None) -> tuple[int, Offsets | None]:
        if self.positions is None:
            narrow = None if places is None else places.astype(np.uint16)
            return self.first + begin, narrow
        positions = self.positions[begin : begin + size]
        if places is not None:
            positions = positions.take(places)
        first = int(positions[0])
        return first, positions - first


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Chosen rows of a file.

    Attributes:
        first: the position from which on they are counted.
        rows: how many follow that, if all of these are chosen.
        offsets: ascending, from the first position on; None: all.
        columns: deciding columns that are wanted.
    """

    first: int
    rows: int
    offsets: Offsets | None
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return self.rows if self.offsets is None else len(self.offsets)

    @property
    def end(self) -> int:
        """The position behind the last row."""
        return self.first + (self.rows if self.offsets is None else int(self.offsets[-1]) + 1)

    @property
    def start(self) -> int:
        """The position of the first row."""
        return self.first + (0 if self.offsets is None else int(self.offsets[0]))

    def cut(self, position: int) -> tuple["_Chosen", "_Chosen | None"]:
        """The rows before a position, of which there are some, and the others."""
        if self.end <= position:
            return self, None
        size = position - self.first
        if self.offsets is None:
            count, before, behind = size, None, None
        else:
            count = int(np.searchsorted(self.offsets, size))
            before, behind = self.offsets[:count], self.offsets[count:].astype(np.int64) - size
        lower = tuple(column.slice(0, count) for column in self.columns)
        upper = tuple(column.slice(count) for column in self.columns)
        return (
            _Chosen(self.first, size, before, lower),
            _Chosen(position, self.rows - size, behind, upper),
        )


class _File:
    """A file of which rows are chosen."""

    def __init__(self, source: DataFileSource, request: ReadRequest, merge: LateMerge) -> None:
        self._portions = merge.portions
        self._stack = ExitStack()
        self._rows: OpenRows = self._stack.enter_context(open_rows(source, request))
        self._later = self._rows.columns(replace(request, fields=merge.later, system_columns=()))
        self._schema = pa.schema([arrow_field(field) for field in merge.fields])
        wanted = {field.name for field in merge.fields}
        self._kept = [field.name for field in merge.deciding if field.name in wanted]
        names = [*self._kept, *(field.name for field in merge.later)]
        self._places = [names.index(field.name) for field in merge.fields]
        self._chosen: deque[_Chosen] = deque()
        self._spans = deque(enumerate(self._rows.spans))
        self._batches: Iterator[PositionedBatch] | None = None
        self._at = 0

    def close(self) -> None:
        """Close the file."""
        self._batches = None
        self._stack.close()

    def deciding(self, batch_rows: int) -> Iterator[_Placed]:
        """The deciding columns of its rows."""
        request = replace(self._rows.request, batch_rows=batch_rows)
        columns = self._rows.columns(request)
        for batch, positions in self._rows.kept(columns, request):
            rows = columns.result(batch, positions)
            yield _Placed(batch.first if positions is None else int(positions[0]), positions, rows)

    def given(self, placed: _Placed, mask: Bools | None) -> Iterator[pa.RecordBatch]:
        """What can be given when a batch is decided."""
        self._chosen.extend(placed.chosen(mask, self._kept, self._portions.window))
        return self._decoded(placed.end)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left when all batches are decided."""
        return self._decoded(None)

    def _decoded(self, decided: int | None) -> Iterator[pa.RecordBatch]:
        """The rows of which enough is decided.

        Args:
            decided: the position up to which; None: all.
        """
        if not self._later.stored:
            while self._chosen:
                yield self._joined(self._chosen.popleft(), None)
            return
        while self._spans and self._chosen:
            index, span = self._spans[0]
            end = span.first + span.rows
            if self._chosen[0].start >= end:
                self._next_span()
            elif self._batches is None:
                self._at = span.first
                self._batches = self._rows.file.batches(
                    self._later.stored, (index,), self._portions.later
                )
            elif decided is not None and decided < min(self._at + self._portions.later, end):
                return
            else:
                yield from self._next_batch(self._batches)

    def _next_span(self) -> None:
        self._spans.popleft()
        self._batches = None

    def _next_batch(self, batches: Iterator[PositionedBatch]) -> Iterator[pa.RecordBatch]:
        batch = next(batches, None)
        if batch is None:
            self._next_span()
            return
        self._at = batch.first + batch.rows
        while self._chosen and self._chosen[0].start < self._at:
            chosen, behind = self._chosen.popleft().cut(self._at)
            if behind is not None:
                self._chosen.appendleft(behind)
            yield self._joined(chosen, batch)

    def _joined(self, chosen: _Chosen, batch: PositionedBatch | None) -> pa.RecordBatch:
        """The deciding columns of chosen rows and the others."""
        columns = list(chosen.columns)
        if batch is not None:
            begin, size = chosen.start, chosen.end - chosen.start
            offsets = chosen.offsets
            if offsets is not None and offsets[0]:
                offsets = offsets - offsets[0]
            window = [column.slice(begin - batch.first, size) for column in batch.columns]
            taken = tuple(_taken(window, offsets, size))
            part = PositionedBatch(first=chosen.first, rows=len(chosen), columns=taken)
            columns += self._later.result(part, None).columns
        elif self._later.sources:
            part = PositionedBatch(first=chosen.first, rows=len(chosen), columns=())
            columns += self._later.result(part, None).columns
        if not columns:
            rows = pa.StructArray.from_buffers(pa.struct([]), len(chosen), [None])
            return pa.RecordBatch.from_struct_array(rows)  # type: ignore[arg-type]  # a StructArray
        ordered = [columns[place] for place in self._places]
        return pa.RecordBatch.from_arrays(ordered, schema=self._schema)


def _taken(columns: Sequence[Column], places: Offsets | None, below: int) -> Iterator[Column]:
    """The values at some places; None: all."""
    if places is None:
        return iter(columns)
    index = narrow_index(places, below)  # type: ignore[arg-type]  # narrow ones do
    return (pc.call_function("take", [column, index], _TAKE) for column in columns)
