"""The merge of sorted runs in bounded memory.

Theory of operation. Every run comes in batches sorted by key. Of each run some batches are held.
The smallest of the last keys held is a pivot: no run can still bring a row at or below it, so all
held rows up to the pivot form a piece that is complete for its keys. The piece is merged, the rest
is kept, runs that hold little are filled up again. Memory: about two batches per run. A piece of
very long values is cut further.
"""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, keep_freed_blocks
from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.single_key import KeyTuple, key_at, rows_up_to
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.section_merge import (
    Piece,
    Task,
    chosen_rows,
    functions_of,
    merge_piece,
    passed,
)

_ENOUGH_ROWS = 32_768
"""A run that holds fewer rows is filled up before the next piece is cut ..."""
_ENOUGH_BYTES = 4 << 20
"""... unless it holds that many bytes."""
_PIECE_BYTES = 512 * 1024 * 1024
"""A larger piece is cut in two: Arrow columns of one piece have to stay below 2 GiB."""


def merge_runs(
    runs: Sequence[Iterator[pa.RecordBatch]],
    spec: MergeSpec,
    *,
    keep_retracts: bool = False,
    by_run_order: bool = False,
    key_order: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Merge the sorted runs of one section of one bucket.

    A run is a sequence of batches, ascending by key over all of them, each key at most once. A
    level-0 file is a run of its own. Batches carry `needed_columns(spec)` (more do no harm, any
    order), key columns under their own names, in the types of `to_arrow`; and

    - `_SEQUENCE_NUMBER` int64, unless `by_run_order`;
    - `_VALUE_KIND` int8. A run may go without it if it holds no -U and no -D record, which manifest
      entries tell (`delete_row_count`); its records then count as +I.

    Args:
        runs: from the oldest to the newest; only `by_run_order` and records of equal sequence
            numbers depend on the order of runs. May be empty.
        spec: the merge.
        keep_retracts: results that are -D or -U are kept too, and every batch ends with
            `_SEQUENCE_NUMBER` and `_VALUE_KIND` (compaction, audit log). A key with one record
            keeps its kind. False: only rows that exist, only the wanted columns.
        by_run_order: the caller knows (from the manifest) that every record of a later run is newer
            than all of the runs before it: sequence numbers are neither needed nor looked at. Not
            with `keep_retracts`, which needs them for the result.
        key_order: rows come in key order. False: any order within a piece of the merge, which is
            faster for deduplicate and first-row.

    Yields:
        Batches of `spec.columns` (and the two system columns with `keep_retracts`), none empty, of
        any length.

    Raises:
        FormatError: retract records that the engine does not accept, or a function does not.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    if by_run_order and keep_retracts:
        raise InvalidInputError(
            "Retracted records can only be kept with sequence numbers, not in run order."
        )
    task = Task(
        spec=spec,
        functions=functions_of(spec),
        keep_retracts=keep_retracts,
        by_run_order=by_run_order,
        key_order=key_order,
    )
    found = _one_run(runs[0], task) if len(runs) == 1 else _several_runs(runs, task)
    return (batch for batch in found if batch.num_rows)


def _one_run(run: Iterator[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    for batch in run:
        yield passed(batch, task)


def _several_runs(runs: Sequence[Iterator[pa.RecordBatch]], task: Task) -> Iterator[pa.RecordBatch]:
    for parts in _pieces(runs, task.spec.keys):
        yield from merge_piece(Piece([part.rows for part in parts]), task)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A batch of a run after the merge.

    Attributes:
        run: which of the runs.
        batch: as the run gave it.
        mask: which of its rows are in the result; None: all.
    """

    run: int
    batch: pa.RecordBatch
    mask: Bools | None


def choose_rows(
    runs: Sequence[Iterator[pa.RecordBatch]], spec: MergeSpec, *, by_run_order: bool = False
) -> Iterator[Chosen]:
    """The rows of sorted runs that an engine chooses: what `merge_runs` gives, by its places.

    So the other columns need be decoded for these rows only.

    Args:
        runs: as for `merge_runs`, with `deciding_columns(spec)`; more do no harm.
        spec: the merge; its engine is one that chooses rows.
        by_run_order: as for `merge_runs`.

    Yields:
        Each batch of each run that has rows, once all of it is decided: those of a run in its
        order.

    Raises:
        FormatError: as `merge_runs`.
    """
    task = Task(spec=spec, functions={}, by_run_order=by_run_order, key_order=False)
    decided: list[list[Bools | None]] = [[] for _ in runs]
    for parts in _pieces(runs, spec.keys):
        masks = chosen_rows(Piece([part.rows for part in parts]), task)
        for part, mask in zip(parts, masks, strict=True):
            found = decided[part.run]
            found.append(mask if part.is_whole or mask is not None else _all_of(part))
            if part.is_last:
                yield Chosen(part.run, part.batch, _together(found))
                found.clear()


def _all_of(part: "_Part") -> Bools:
    return np.ones(part.rows.num_rows, np.bool_)


def _together(masks: Sequence[Bools | None]) -> Bools | None:
    known = [mask for mask in masks if mask is not None]
    return known[0] if len(known) == 1 else np.concatenate(known) if known else None


def key_pieces(
    runs: Sequence[Iterator[pa.RecordBatch]], keys: Sequence[str]
) -> Iterator[Sequence[pa.RecordBatch]]:
    """The rows of sorted runs in pieces, unmerged: a piece holds all rows of its keys.

    Args:
        runs: as for `merge_runs`; any columns besides the keys.
        keys: the key columns.

    Yields:
        Parts of the runs, in the order of the runs, none empty; pieces ascend by key.

    Raises:
        FormatError: a run is not sorted.
    """
    for parts in _pieces(runs, keys):
        yield [part.rows for part in parts]


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive rows of a batch.

    Attributes:
        run: which of the runs has them.
        batch: all of the batch.
        begin: of the rows in it.
        rows: they.
    """

    run: int
    batch: pa.RecordBatch
    begin: int
    rows: pa.RecordBatch

    @property
    def is_last(self) -> bool:
        """Whether they end the batch."""
        return self.begin + self.rows.num_rows == self.batch.num_rows

    @property
    def is_whole(self) -> bool:
        """Whether they are all of the batch."""
        return self.rows.num_rows == self.batch.num_rows

    def key(self, keys: Sequence[str], row: int) -> KeyTuple:
        """The key of a row."""
        return key_at([self.rows.column(name) for name in keys], row)

    def cut(self, keys: Sequence[str], pivot: KeyTuple) -> tuple["_Part | None", "_Part | None"]:
        """The rows up to a key, and those behind it."""
        columns = [self.rows.column(name) for name in keys]
        size = self.rows.num_rows
        count = size
        if key_at(columns, size - 1) > pivot:
            count = rows_up_to(columns, pivot, count=size)
        if count in (0, size):
            return (self, None) if count else (None, self)
        behind = _Part(self.run, self.batch, self.begin + count, self.rows.slice(count))
        return _Part(self.run, self.batch, self.begin, self.rows.slice(0, count)), behind


def _pieces(
    runs: Sequence[Iterator[pa.RecordBatch]], keys: Sequence[str]
) -> Iterator[Sequence[_Part]]:
    keep_freed_blocks()
    held = [_Held(run, at, keys) for at, run in enumerate(runs)]
    while True:
        for run in held:
            run.fill()
        held = [run for run in held if not run.is_empty]
        if not held:
            return
        pivot = min((run.last_key for run in held if run.is_open), default=None)
        parts = [part for run in held for part in run.cut(pivot)]
        if len(held) == 1:
            yield from ([part] for part in parts)
        else:
            yield from _bounded(parts, keys)


def _bounded(parts: Sequence[_Part], keys: Sequence[str]) -> Iterator[Sequence[_Part]]:
    """The parts of a piece, cut at common keys until they are small."""
    largest = max(parts, key=lambda part: part.rows.num_rows)
    count = largest.rows.num_rows
    if count == 1 or sum(part.rows.nbytes for part in parts) <= _PIECE_BYTES:
        yield parts
        return
    pivot = largest.key(keys, count // 2 - 1)
    halves = [part.cut(keys, pivot) for part in parts]
    yield from _bounded([lower for lower, _ in halves if lower], keys)
    yield from _bounded([upper for _, upper in halves if upper], keys)


class _Held:
    """What is held of one run.

    Attributes:
        is_open: whether the run may bring more rows.
        last_key: of the rows held.
    """

    def __init__(self, run: Iterator[pa.RecordBatch], at: int, keys: Sequence[str]) -> None:
        self._run = run
        self._at = at
        self._keys = keys
        self._parts: deque[_Part] = deque()
        self._rows = 0
        self.is_open = True
        self.last_key: KeyTuple = ()

    @property
    def is_empty(self) -> bool:
        """Whether no rows are left."""
        return not self._rows

    def fill(self) -> None:
        """Load batches until enough rows are held."""
        while self.is_open and self._rows < _ENOUGH_ROWS:
            if self._rows and sum(part.rows.nbytes for part in self._parts) >= _ENOUGH_BYTES:
                return
            batch = next(self._run, None)
            if batch is None:
                self.is_open = False
            elif batch.num_rows:
                self._take_up(batch)

    def _take_up(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(name) for name in self._keys]
        if self.last_key and key_at(columns, 0) <= self.last_key:
            raise FormatError(
                f"A sorted run is not sorted: key {columns[0][0]} is out of order.",
                hint="Rows of a primary-key data file are sorted by key, and each key occurs once.",
            )
        self._parts.append(_Part(self._at, batch, 0, batch))
        self._rows += batch.num_rows
        self.last_key = key_at(columns, batch.num_rows - 1)

    def cut(self, pivot: KeyTuple | None) -> list[_Part]:
        """Take out the rows up to a key; None: all that is held."""
        parts: list[_Part] = []
        while self._parts:
            first = self._parts[0]
            lower, upper = (first, None) if pivot is None else first.cut(self._keys, pivot)
            if lower is not None:
                parts.append(lower)
                self._rows -= lower.rows.num_rows
            if upper is not None:
                self._parts[0] = upper
                break
            self._parts.popleft()
        return parts
