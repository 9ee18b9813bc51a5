"""The merge of sorted runs in bounded memory.

Theory of operation. Every run comes in batches sorted by key. Of each run some batches are held.
The smallest of the last keys held is a pivot: no run can still bring a row at or below it, so all
held rows up to the pivot form a piece that is complete for its keys. The piece is merged, the rest
is kept, runs that hold little are filled up again. Memory: about two batches per run. A piece of
very long values is cut further.
"""

from collections import deque
from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.merge.piece import Piece, Task, functions_of, merge_piece, passed
from paimon_explore.merge.single_key import KeyTuple, key_at, rows_up_to
from paimon_explore.merge.spec import MergeSpec

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
        raise InvalidInputError("Kept retracts need sequence numbers: not by run order.")
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
    held = [_Held(run, task.spec.keys) for run in runs]
    while True:
        for run in held:
            run.fill()
        held = [run for run in held if not run.is_empty]
        if not held:
            return
        if len(held) == 1 and held[0].is_open:
            yield from (passed(batch, task) for batch in held[0].rest())
            return
        pivot = min((run.last_key for run in held if run.is_open), default=None)
        parts = [part for run in held for part in run.cut(pivot)]
        for piece in _bounded(parts, task.spec.keys):
            yield from merge_piece(Piece(piece), task)


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
    held = [_Held(run, keys) for run in runs]
    while True:
        for run in held:
            run.fill()
        held = [run for run in held if not run.is_empty]
        if not held:
            return
        pivot = min((run.last_key for run in held if run.is_open), default=None)
        yield from _bounded([part for run in held for part in run.cut(pivot)], keys)


def _bounded(
    parts: Sequence[pa.RecordBatch], keys: Sequence[str]
) -> Iterator[Sequence[pa.RecordBatch]]:
    """The parts of a piece, cut at common keys until they are small."""
    largest = max(parts, key=lambda part: part.num_rows)
    if largest.num_rows == 1 or sum(part.nbytes for part in parts) <= _PIECE_BYTES:
        yield parts
        return
    pivot = key_at([largest.column(name) for name in keys], largest.num_rows // 2 - 1)
    lower, upper = [], []
    for part in parts:
        count = rows_up_to([part.column(name) for name in keys], pivot, count=part.num_rows)
        lower += [part.slice(0, count)] if count else []
        upper += [part.slice(count)] if count < part.num_rows else []
    yield from _bounded(lower, keys)
    yield from _bounded(upper, keys)


class _Held:
    """What is held of one run.

    Attributes:
        is_open: whether the run may bring more rows.
        last_key: of the rows held.
    """

    def __init__(self, run: Iterator[pa.RecordBatch], keys: Sequence[str]) -> None:
        self._run = run
        self._keys = keys
        self._batches: deque[pa.RecordBatch] = deque()
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
            if self._rows and sum(batch.nbytes for batch in self._batches) >= _ENOUGH_BYTES:
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
                f"A sorted run is not sorted: the key {columns[0][0]} comes too late.",
                hint="Rows of a primary-key data file ascend by key, each key once.",
            )
        self._batches.append(batch)
        self._rows += batch.num_rows
        self.last_key = key_at(columns, batch.num_rows - 1)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """All that is left of the run."""
        yield from self._batches
        yield from self._run

    def cut(self, pivot: KeyTuple | None) -> list[pa.RecordBatch]:
        """Take out the rows up to a key; None: all that is held."""
        parts = []
        while self._batches:
            batch = self._batches[0]
            columns = [batch.column(name) for name in self._keys]
            count = batch.num_rows
            if pivot is not None and key_at(columns, count - 1) > pivot:
                count = rows_up_to(columns, pivot, count=count)
            if count:
                parts.append(batch.slice(0, count))
                self._rows -= count
            if count < batch.num_rows:
                self._batches[0] = batch.slice(count)
                break
            self._batches.popleft()
        return parts
