"""The merge of a compaction, which also produces the changelog and the deleted row positions.

The input is split by key, so that all rows of a key are merged together. Every row has a file and
thus a level. In tables that compact by lookup, the row of a key on the lowest level above 0 already
includes all older rows; only this row is merged with those of level 0. It may come from a file that
is not compacted itself, in which the key is looked up.

| changelog producer | keys in the changelog | row before |
| --- | --- | --- |
| lookup | keys with a row on level 0 | the row above level 0 |
| full-compaction | keys with a row below the top level | the row on the top level |

Spec: primary-key-table/changelog-producer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, concat_batches
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER, VALUE_KIND, MergeSpec
from paimon_explore.merge.numpy_columns import (
    Int8s,
    index_array,
    int8_array,
    int64_array,
    ints_of,
    mask_array,
)
from paimon_explore.merge.section_merge import (
    Section,
    Task,
    functions_of,
    merge_kept_rows,
    merge_section,
)
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine

FILE = "_COMPACT_FILE"
"""Int64 column: the position of a row's file in the bucket."""
POSITION = "_POSITION"
"""Int64 column: the position of a row in its file."""
_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 0, 1, 2, 3
_NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRules:
    """The rules of a compaction's merge.

    Attributes:
        spec: merge specification of the table, for all columns.
        producer: the changelog producer; `input` and `none` write no changelog here.
        lookup: whether a row above level 0 includes all older rows of its key.
        vectors: whether replaced rows of other files are deleted with deletion vectors.
        equal_columns: omit updates from the changelog that leave these columns equal; None for
            no such updates.
        top: the highest level.
        levels: level of each file of the bucket.
        in_unit: whether each file is compacted, not only used for lookups.
    """

    spec: MergeSpec
    producer: ChangelogProducer
    lookup: bool
    vectors: bool
    equal_columns: tuple[str, ...] | None
    top: int
    levels: Ints
    in_unit: Bools

    @property
    def is_first_row(self) -> bool:
        """Whether the merge engine is first-row."""
        return self.spec.engine is MergeEngine.FIRST_ROW


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """The result of merging some keys.

    Attributes:
        rows: the merged rows with sequence numbers and kinds, including retracts.
        changelog: the changelog rows; None if no changelog is written.
        deleted: by file, positions of replaced rows in files that are not compacted.
    """

    rows: Sequence[pa.RecordBatch]
    changelog: pa.RecordBatch | None = None
    deleted: Mapping[int, npt.NDArray[np.uint64]] = field(default_factory=dict)


class CompactionMerge:
    """Merges the rows of one rewrite.

    Args:
        rules: the rules of the table and the compaction unit.
        writes_changelog: whether to produce a changelog.
    """

    def __init__(self, rules: CompactionRules, *, writes_changelog: bool) -> None:
        self._rules = rules
        self._writes_changelog = writes_changelog
        self._task = Task(
            spec=rules.spec,
            functions=functions_of(rules.spec),
            keep_retracts=True,
            merge_single_rows=rules.lookup,
        )
        self._in_order = replace(self._task, by_run_order=True)

    @property
    def needs_files(self) -> bool:
        """Whether the input needs the column `FILE`."""
        return self._rules.lookup or self._writes_changelog

    def merge(self, section: Section, *, by_run_order: bool = False) -> MergeResult:
        """Merge all rows of some keys.

        Args:
            section: rows with the table's columns, sequence number, kind, and `FILE` if needed.
            by_run_order: as for a `Task`: parts need not be sorted by sequence numbers.
        """
        task = self._in_order if by_run_order else self._task
        if not self.needs_files:
            return MergeResult(rows=list(merge_section(section, task)))
        states = _KeyStates.of(section, self._rules)
        rows = merge_kept_rows(section, states.merged_rows(self._rules), task)
        merged = _concat(list(rows), section.parts, task)
        keys = states.keys_of(merged, self._rules.spec)
        afters = np.full(len(states.befores), _NONE, np.int64)
        afters[keys] = np.arange(merged.num_rows)
        out = merged
        if self._rules.is_first_row and self._rules.lookup:
            out = merged.filter(mask_array(~states.is_outside_unit(self._rules)[keys]))
        return MergeResult(
            rows=[out],
            changelog=self._changelog(states, merged, afters) if self._writes_changelog else None,
            deleted=states.replaced(self._rules) if self._rules.vectors else {},
        )

    def _changelog(
        self, states: "_KeyStates", merged: pa.RecordBatch, afters: Ints
    ) -> pa.RecordBatch:
        befores = states.befores
        kinds_after = ints_of(merged.column(VALUE_KIND)).astype(np.int8)
        existed = _has_value(befores, states.section.kinds())
        exists = _has_value(afters, kinds_after)
        changed = states.in_changelog & existed & exists
        if self._rules.is_first_row:
            changed[:] = False
        elif self._rules.equal_columns is not None:
            both = np.flatnonzero(changed)
            same = self._is_equal(states, merged, befores[both], afters[both])
            changed[both[same]] = False
        offset = states.section.count
        changes = [
            (np.flatnonzero(states.in_changelog & ~existed & exists), _INSERT, False),
            (np.flatnonzero(states.in_changelog & existed & ~exists), _DELETE, True),
            (np.flatnonzero(changed), _UPDATE_BEFORE, True),
            (np.flatnonzero(changed), _UPDATE_AFTER, False),
        ]
        keys = np.concatenate([part for part, _, _ in changes])
        rows = np.concatenate(
            [befores[part] if old else afters[part] + offset for part, _, old in changes]
        )
        kinds = np.concatenate([np.full(len(part), kind, np.int8) for part, kind, _ in changes])
        if self._rules.is_first_row:  # as it was written: +I or +U
            kinds = kinds_after[rows - offset]
        order = np.lexsort((kinds, keys))
        return _take(states.section, merged, rows[order], kinds[order], self._rules.spec)

    def _is_equal(
        self, states: "_KeyStates", merged: pa.RecordBatch, befores: Ints, afters: Ints
    ) -> Bools:
        """Return which updates leave the compared columns equal."""
        same = np.ones(len(befores), np.bool_)
        for name in self._rules.equal_columns or ():
            before = states.section.column(name).take(index_array(befores))
            after = merged.column(name).take(index_array(afters))
            found = codes(pa.concat_arrays([before, after]))
            same &= found[: len(befores)] == found[len(befores) :]
        return same


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyStates:
    """The g keys of n input rows and their state before the merge.

    Attributes:
        section: the rows.
        keys: number of each row's key, in key order.
        files: file of each row.
        in_changelog: which keys the changelog includes if they changed.
        has_new: which keys have a row on level 0.
        befores: the row with the state of each key before; -1 without.
    """

    section: Section
    keys: Ints
    files: Ints
    in_changelog: Bools
    has_new: Bools
    befores: Ints

    @classmethod
    def of(cls, section: Section, rules: CompactionRules) -> "_KeyStates":
        keys = ranks([section.column(name) for name in rules.spec.keys], count=section.count)
        files = ints_of(section.column(FILE)).astype(np.int64)
        levels = rules.levels[files]
        count = int(keys.max()) + 1
        has_new = _mask(keys[levels == 0], count)
        if rules.lookup:
            old, in_changelog = np.flatnonzero(levels > 0), has_new
        else:
            old = np.flatnonzero(levels == rules.top)
            in_changelog = _mask(keys[levels != rules.top], count)
        befores = np.full(count, _NONE, np.int64)
        # The last assignment to a key wins, which is its row on the lowest of these levels.
        old = old[np.argsort(-levels[old], kind="stable")]
        befores[keys[old]] = old
        return cls(
            section=section,
            keys=keys,
            files=files,
            in_changelog=in_changelog,
            has_new=has_new,
            befores=befores,
        )

    def merged_rows(self, rules: CompactionRules) -> Bools:
        """Return which rows are merged."""
        if not rules.lookup:
            return np.ones(len(self.keys), np.bool_)
        in_unit = _mask(self.keys[rules.in_unit[self.files]], len(self.befores))
        found = np.zeros(len(self.keys), np.bool_)
        found[self.befores[self.befores >= 0]] = True
        found |= rules.levels[self.files] == 0
        return found & in_unit[self.keys]

    def is_outside_unit(self, rules: CompactionRules) -> Bools:
        """Return which keys have their old row in a file that is not compacted."""
        found = self.befores >= 0
        found[found] = ~rules.in_unit[self.files[self.befores[found]]]
        return found

    def keys_of(self, merged: pa.RecordBatch, spec: MergeSpec) -> Ints:
        """Return the key number of each merged row."""
        columns = [
            pa.concat_arrays([self.section.column(name), merged.column(name)]) for name in spec.keys
        ]
        return ranks(columns, count=len(self.keys) + merged.num_rows)[len(self.keys) :]

    def replaced(self, rules: CompactionRules) -> Mapping[int, npt.NDArray[np.uint64]]:
        """Return the positions of replaced rows in files that are not compacted, by file."""
        rows = self.befores[self.is_outside_unit(rules) & self.has_new]
        files = self.files[rows]
        positions = ints_of(self.section.column(POSITION).take(index_array(rows)))
        return {int(file): positions[files == file].astype(np.uint64) for file in np.unique(files)}


def _mask(keys: Ints, count: int) -> Bools:
    found = np.zeros(count, np.bool_)
    found[keys] = True
    return found


def _has_value(rows: Ints, kinds: Int8s) -> Bools:
    """Return which of n rows exist (-1 for none) and are not retracts."""
    found = rows >= 0
    found[found] = ~is_retract(kinds[rows[found]])
    return found


def _concat(
    batches: Sequence[pa.RecordBatch], parts: Sequence[pa.RecordBatch], task: Task
) -> pa.RecordBatch:
    """Concatenate batches; return an empty batch of the same columns if there are none."""
    names = [*task.spec.columns, SEQUENCE_NUMBER, VALUE_KIND]
    return concat_batches(batches) if batches else parts[0].slice(0, 0).select(names)


def _take(
    section: Section, merged: pa.RecordBatch, rows: Ints, kinds: Int8s, spec: MergeSpec
) -> pa.RecordBatch:
    """Take rows of the input (numbers below its count) and of the merged rows (other numbers)."""
    index = index_array(rows)
    columns: list[Column] = [
        pa.concat_arrays([section.column(name), merged.column(name)]).take(index)
        for name in spec.columns
    ]
    numbers = np.concatenate([section.numbers(), ints_of(merged.column(SEQUENCE_NUMBER))])[rows]
    columns += [int64_array(numbers), int8_array(kinds)]
    names = [*spec.columns, SEQUENCE_NUMBER, VALUE_KIND]
    fields = [pa.field(n, c.type) for n, c in zip(names, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
