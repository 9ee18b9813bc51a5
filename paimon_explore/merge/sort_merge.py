"""Sort-merge of sorted runs in bounded memory.

Every run is a stream of batches sorted by key, of which some are buffered. The smallest of the last
buffered keys is the pivot: no run can return further rows up to it, so all buffered rows up to the
pivot form a section with all rows of its keys. The section is merged, and the buffers are refilled.
Memory: about two batches per run. Sections with very long values are split further.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow_buffers import Bools, Column, keep_freed_blocks
from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.normalized_keys import normalized_floats
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.merge_tree import LOOKED_UP, MergeTree
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.merge.section_merge import (
    Section,
    Task,
    functions_of,
    merge_section,
    pass_through,
    selected_rows,
)

_ENOUGH_ROWS = 32_768
"""Buffers with fewer rows are refilled before the next section ..."""
_ENOUGH_BYTES = 4 << 20
"""... unless they have this many bytes."""
_SECTION_BYTES = 512 * 1024 * 1024
"""Larger sections are split in two, because Arrow columns have to stay below 2 GiB."""
KeyTuple: TypeAlias = tuple[object, ...]
"""A key that compares with other keys of the same columns in Python."""


def merge_runs(
    runs: Sequence[Iterator[pa.RecordBatch]],
    spec: MergeSpec,
    *,
    keep_retracts: bool = False,
    by_run_order: bool = False,
    may_tie: bool = False,
    key_order: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Merges the sorted runs of one bucket or of one of its sections.

    A run is a stream of batches, sorted by key across batches, each key at most once. Every level-0
    file is a separate run. Batches have `needed_columns(spec)` (and possibly others, in any order),
    with key columns under their own names, in the types of `to_arrow`; and

    - `_SEQUENCE_NUMBER` int64, unless `by_run_order`;
    - `_VALUE_KIND` int8. A run without -U and -D records (see `delete_row_count` of manifest
      entries) may omit it; its records are then +I.

    Args:
        runs: with `by_run_order` from the oldest to the newest; with `may_tie` all runs of a
            section in the order of Java. Otherwise the order does not matter. May be empty.
        spec: the merge spec.
        keep_retracts: keep results that are -D or -U, and append `_SEQUENCE_NUMBER` and
            `_VALUE_KIND` (compaction, audit log). A key with one record keeps its kind. If False,
            only existing rows with the requested columns are returned.
        by_run_order: the caller knows (from the manifest) that all records of a run are newer than
            those of the runs before it: sequence numbers are not used. Not with `keep_retracts`,
            which needs them for the result.
        may_tie: records of different runs may have the same key and sequence number. They are then
            ordered as in Java, see `merge.merge_tree`. Not with `by_run_order`.
        key_order: return rows in key order. If False, any order within a section, which is faster
            for deduplicate and first-row.

    Yields:
        Batches of `spec.columns` (and the two system columns with `keep_retracts`), none empty, of
        any length.

    Raises:
        FormatError: retract records that the engine or a function does not accept.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    if by_run_order and keep_retracts:
        raise InvalidInputError("The arguments keep_retracts and by_run_order cannot be combined.")
    task = Task(
        spec=spec,
        functions=functions_of(spec),
        keep_retracts=keep_retracts,
        by_run_order=by_run_order,
        key_order=key_order,
    )
    found = (pass_through(batch, task) for run in runs for batch in run)
    if len(runs) != 1:
        sections = key_sections(runs, spec.keys, may_tie=may_tie)
        found = (batch for section in sections for batch in merge_section(section, task))
    return (batch for batch in found if batch.num_rows)


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The rows of a batch that a merge selected.

    Attributes:
        run: the index of the run.
        batch: the batch of the run.
        mask: which of its rows are in the result; None for all.
    """

    run: int
    batch: pa.RecordBatch
    mask: Bools | None


def select_rows(
    runs: Sequence[Iterator[pa.RecordBatch]],
    spec: MergeSpec,
    *,
    by_run_order: bool = False,
    may_tie: bool = False,
) -> Iterator[SelectedRows]:
    """Like `merge_runs`, but returns which rows are selected instead of the rows.

    The other columns then need to be decoded for these rows only.

    Args:
        runs: as for `merge_runs`, with at least `deciding_columns(spec)`.
        spec: the merge spec, with an engine that selects rows.
        by_run_order: as for `merge_runs`.
        may_tie: as for `merge_runs`.

    Yields:
        Each batch of each run once all its rows are decided; those of a run in order.

    Raises:
        FormatError: as for `merge_runs`.
    """
    task = Task(spec=spec, functions={}, by_run_order=by_run_order, key_order=False)
    decided: list[list[Bools | None]] = [[] for _ in runs]
    tree = MergeTree(len(runs)) if may_tie else None
    for parts in _sections(runs, spec.keys, tree):
        masks = selected_rows(_section(parts, tree), task)
        for part, mask in zip(parts, masks, strict=True):
            found = decided[part.run]
            every = mask is None and not part.is_whole
            found.append(np.ones(part.rows.num_rows, np.bool_) if every else mask)
            if part.is_last:
                yield SelectedRows(part.run, part.batch, _concatenated(found))
                found.clear()


def _concatenated(masks: Sequence[Bools | None]) -> Bools | None:
    known = [mask for mask in masks if mask is not None]
    return known[0] if len(known) == 1 else np.concatenate(known) if known else None


def key_sections(
    runs: Sequence[Iterator[pa.RecordBatch]],
    keys: Sequence[str],
    *,
    may_tie: bool = False,
    looked_up: int = 0,
) -> Iterator[Section]:
    """Splits sorted runs into sections without merging them; a section has all rows of its keys.

    Args:
        runs: as for `merge_runs`, with any columns besides the keys.
        keys: the key columns.
        may_tie: as for `merge_runs`; the sections must then be merged in their order.
        looked_up: how many runs come before those of the section, in which compaction looks up
            keys.

    Yields:
        Sections ascending by key, with parts in the order of the runs, none empty.

    Raises:
        FormatError: a run is not sorted.
    """
    tree = MergeTree(len(runs) - looked_up) if may_tie else None
    for parts in _sections(runs, keys, tree, looked_up):
        yield _section(parts, tree, looked_up)


def _section(
    parts: Sequence["_Part"], tree: MergeTree | None = None, looked_up: int = 0
) -> Section:
    leaves = [max(part.run - looked_up, LOOKED_UP) for part in parts]
    return Section([part.rows for part in parts], leaves=leaves, tree=tree)


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive rows of a batch.

    Attributes:
        run: the index of the run.
        batch: the whole batch.
        begin: the index of the first row in the batch.
        rows: the rows.
    """

    run: int
    batch: pa.RecordBatch
    begin: int
    rows: pa.RecordBatch

    @property
    def is_last(self) -> bool:
        """Whether these are the last rows of the batch."""
        return self.begin + self.rows.num_rows == self.batch.num_rows

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the batch."""
        return self.rows.num_rows == self.batch.num_rows

    def key(self, keys: Sequence[str], row: int) -> KeyTuple:
        """The key of a row."""
        return key_at([self.rows.column(name) for name in keys], row)

    def split_at(
        self, keys: Sequence[str], pivot: KeyTuple
    ) -> tuple["_Part | None", "_Part | None"]:
        """Splits into the rows up to a key and those after it."""
        columns = [self.rows.column(name) for name in keys]
        size = self.rows.num_rows
        count = size
        if key_at(columns, size - 1) > pivot:
            count = rows_up_to(columns, pivot, count=size)
        if count in (0, size):
            return (self, None) if count else (None, self)
        after = _Part(self.run, self.batch, self.begin + count, self.rows.slice(count))
        return _Part(self.run, self.batch, self.begin, self.rows.slice(0, count)), after


def _sections(
    runs: Sequence[Iterator[pa.RecordBatch]],
    keys: Sequence[str],
    tree: MergeTree | None = None,
    looked_up: int = 0,
) -> Iterator[Sequence[_Part]]:
    keep_freed_blocks()
    held = [_RunBuffer(run, at, keys) for at, run in enumerate(runs)]
    while True:
        for run in held:
            run.fill()
        if tree is not None:
            for run in held:
                if run.is_empty and run.at >= looked_up:
                    tree.finish(run.at - looked_up)
        held = [run for run in held if not run.is_empty]
        if not held:
            return
        pivot = min((run.last_key for run in held if run.is_open), default=None)
        parts = [part for run in held for part in run.take_until(pivot)]
        if len(held) == 1:
            yield from ([part] for part in parts)
        else:
            yield from _bounded(parts, keys)


def _bounded(parts: Sequence[_Part], keys: Sequence[str]) -> Iterator[Sequence[_Part]]:
    """Splits the parts of a section at common keys until it is small enough."""
    largest = max(parts, key=lambda part: part.rows.num_rows)
    count = largest.rows.num_rows
    if count == 1 or sum(part.rows.nbytes for part in parts) <= _SECTION_BYTES:
        yield parts
        return
    pivot = largest.key(keys, count // 2 - 1)
    halves = [part.split_at(keys, pivot) for part in parts]
    yield from _bounded([lower for lower, _ in halves if lower], keys)
    yield from _bounded([upper for _, upper in halves if upper], keys)


def _fixed_row_bytes(schema: pa.Schema) -> int:
    """Return the bytes of the columns of fixed width in a row."""
    types = [field.type for field in schema]
    return sum(kind.bit_width // 8 for kind in types if pa.types.is_primitive(kind))


class _RunBuffer:
    """The buffered rows of one run.

    Attributes:
        at: the index of the run.
        is_open: whether the run may return further rows.
        last_key: of the buffered rows.
    """

    def __init__(self, run: Iterator[pa.RecordBatch], at: int, keys: Sequence[str]) -> None:
        self._run = run
        self.at = at
        self._keys = keys
        self._parts: deque[_Part] = deque()
        self._rows = 0
        self._row_bytes: int | None = None
        self.is_open = True
        self.last_key: KeyTuple = ()

    @property
    def is_empty(self) -> bool:
        """Whether no rows are buffered."""
        return not self._rows

    def fill(self) -> None:
        """Reads batches until enough rows are buffered."""
        while self.is_open and self._rows < _ENOUGH_ROWS:
            if self._rows and self._has_enough_bytes():
                return
            batch = next(self._run, None)
            if batch is None:
                self.is_open = False
            elif batch.num_rows:
                self._take_up(batch)

    def _has_enough_bytes(self) -> bool:
        if self._row_bytes is None:
            self._row_bytes = _fixed_row_bytes(self._parts[0].batch.schema)
        if self._rows * self._row_bytes >= _ENOUGH_BYTES:
            return True  # measuring exactly takes long with many columns
        return sum(part.rows.nbytes for part in self._parts) >= _ENOUGH_BYTES

    def _take_up(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(name) for name in self._keys]
        if self.last_key and key_at(columns, 0) <= self.last_key:
            raise FormatError(
                "The rows of a sorted run are not in key order: "
                f"key {columns[0][0]} follows a larger or equal key.",
                hint="Run t.maintenance.fsck(read_rows=True) to find files that are not sorted.",
            )
        self._parts.append(_Part(self.at, batch, 0, batch))
        self._rows += batch.num_rows
        self.last_key = key_at(columns, batch.num_rows - 1)

    def take_until(self, pivot: KeyTuple | None) -> list[_Part]:
        """Removes and returns the rows up to a key; None for all."""
        parts: list[_Part] = []
        while self._parts:
            first = self._parts[0]
            lower, upper = (first, None) if pivot is None else first.split_at(self._keys, pivot)
            if lower is not None:
                parts.append(lower)
                self._rows -= lower.rows.num_rows
            if upper is not None:
                self._parts[0] = upper
                break
            self._parts.popleft()
        return parts


def key_at(columns: Sequence[Column], row: int) -> KeyTuple:
    """The key of one row."""
    return tuple(part for column in columns for part in _key_parts(column, row))


def _key_parts(column: Column, row: int) -> tuple[object, ...]:
    scalar = column[row]
    if not scalar.is_valid:
        return (0, 0)
    kind = column.type
    if pat.is_floating(kind):
        return (1, int(normalized_floats(column.slice(row, 1))[0]))
    if pat.is_temporal(kind):
        return (1, int(ints_of(column.slice(row, 1))[0]))
    value = scalar.as_py()
    return (1, value.encode() if isinstance(value, str) else value)


def rows_up_to(columns: Sequence[Column], key: KeyTuple, *, count: int) -> int:
    """Number of the n sorted rows that are not above a key, by binary search."""
    return bisect_right(range(count), key, key=lambda at: key_at(columns, at))
