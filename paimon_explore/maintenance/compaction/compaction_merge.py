"""The merge of a compaction, with what the changelog and the deletion vectors need to know of it.

Rows come in pieces that are complete for their keys. Every row knows its file, hence its level. On
tables that compact by lookup the row of a key above level 0 already stands for all older ones, so
of these only the one on the lowest level takes part; it may come from a file that is not compacted
itself, which is what "lookup" means.

| changelog producer | keys that count | before |
| --- | --- | --- |
| lookup | with a row on level 0 | the row above level 0 |
| full-compaction | with a row below the top level | the row on the top level |

Spec: primary-key-table/changelog-producer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
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
from paimon_explore.merge.section_merge import Piece, Task, functions_of, merge_piece
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine

FILE = "_COMPACT_FILE"
"""Column of int64: the position of a row's file in the bucket."""
POSITION = "_POSITION"
"""Column of int64: the position of a row in its file."""
_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 0, 1, 2, 3
_NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRules:
    """How rows are merged.

    Attributes:
        spec: the merge of the table, for all of its columns.
        producer: of the changelog; `input` and `none` make none here.
        lookup: whether a row above level 0 stands for all older ones of its key.
        vectors: whether replaced rows of other files are marked in deletion vectors.
        equal_columns: columns whose equality makes an update one that is not told; None: all
            updates are told.
        top: the highest level.
        levels: level of each file of the bucket.
        in_unit: whether each file is compacted, not only looked up.
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
        """Whether the first row of a key stays."""
        return self.spec.engine is MergeEngine.FIRST_ROW


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a piece.

    Attributes:
        rows: the merged rows with sequence numbers and kinds, retracts too.
        changelog: its changelog, None without one.
        deleted: positions of rows of other files that are replaced, by file.
    """

    rows: Sequence[pa.RecordBatch]
    changelog: pa.RecordBatch | None = None
    deleted: Mapping[int, npt.NDArray[np.uint64]] = field(default_factory=dict)


class CompactMerge:
    """Merges the pieces of one rewrite.

    Args:
        rules: of the table and the unit.
        tells: whether to make a changelog.
    """

    def __init__(self, rules: CompactRules, *, tells: bool) -> None:
        self._rules = rules
        self._tells = tells
        self._task = Task(
            spec=rules.spec,
            functions=functions_of(rules.spec),
            keep_retracts=True,
            alone_too=rules.lookup,
        )
        self._in_order = replace(self._task, by_run_order=True)

    @property
    def needs_files(self) -> bool:
        """Whether rows have to carry the column `FILE`."""
        return self._rules.lookup or self._tells

    def merge(self, parts: Sequence[pa.RecordBatch], *, by_run_order: bool = False) -> Outcome:
        """Merge a piece.

        Args:
            parts: with the columns of the table, sequence number, kind, and `FILE` if needed.
            by_run_order: as for a `Task`: parts need not be sorted by sequence numbers.
        """
        task = self._in_order if by_run_order else self._task
        if not self.needs_files:
            return Outcome(rows=list(merge_piece(Piece(parts), task)))
        known = _Known.of(Piece(parts), self._rules)
        kept = known.taking_part(self._rules)
        rows = merge_piece(Piece(_filtered(parts, kept)), task)
        merged = _one(list(rows), parts, task)
        keys = known.keys_of(merged, self._rules.spec)
        afters = np.full(len(known.befores), _NONE, np.int64)
        afters[keys] = np.arange(merged.num_rows)
        out = merged
        if self._rules.is_first_row and self._rules.lookup:
            out = merged.filter(mask_array(~known.is_elsewhere(self._rules)[keys]))
        return Outcome(
            rows=[out],
            changelog=self._changelog(known, merged, afters) if self._tells else None,
            deleted=known.replaced(self._rules) if self._rules.vectors else {},
        )

    def _changelog(self, known: "_Known", merged: pa.RecordBatch, afters: Ints) -> pa.RecordBatch:
        befores = known.befores
        kinds_after = ints_of(merged.column(VALUE_KIND)).astype(np.int8)
        was = _adds(befores, known.piece.kinds())
        stays = _adds(afters, kinds_after)
        changed = known.counts & was & stays
        if self._rules.is_first_row:
            changed[:] = False
        elif self._rules.equal_columns is not None:
            both = np.flatnonzero(changed)
            same = self._same(known, merged, befores[both], afters[both])
            changed[both[same]] = False
        gone = known.counts & was & ~stays
        offset = known.piece.count
        told = [
            (np.flatnonzero(known.counts & ~was & stays), _INSERT, False),
            (np.flatnonzero(gone), _DELETE, True),
            (np.flatnonzero(changed), _UPDATE_BEFORE, True),
            (np.flatnonzero(changed), _UPDATE_AFTER, False),
        ]
        keys = np.concatenate([part for part, _, _ in told])
        rows = np.concatenate(
            [befores[part] if old else afters[part] + offset for part, _, old in told]
        )
        kinds = np.concatenate([np.full(len(part), kind, np.int8) for part, kind, _ in told])
        if self._rules.is_first_row:  # told as it was written: +I or +U
            kinds = kinds_after[rows - offset]
        order = np.lexsort((kinds, keys))
        return _taken(known.piece, merged, rows[order], kinds[order], self._rules.spec)

    def _same(self, known: "_Known", merged: pa.RecordBatch, befores: Ints, afters: Ints) -> Bools:
        """Which updates leave the row as it was."""
        same = np.ones(len(befores), np.bool_)
        for name in self._rules.equal_columns or ():
            before = known.piece.column(name).take(index_array(befores))
            after = merged.column(name).take(index_array(afters))
            found = codes(pa.concat_arrays([before, after]))
            same &= found[: len(befores)] == found[len(befores) :]
        return same


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of a piece's g keys and n rows.

    Attributes:
        piece: the rows.
        keys: number of each row's key, ascending with the keys.
        files: of each row.
        counts: which keys the changelog is about.
        has_new: which keys have a row on level 0.
        befores: the row of each key that holds what was before, -1 without.
    """

    piece: Piece
    keys: Ints
    files: Ints
    counts: Bools
    has_new: Bools
    befores: Ints

    @classmethod
    def of(cls, piece: Piece, rules: CompactRules) -> "_Known":
        keys = ranks([piece.column(name) for name in rules.spec.keys], count=piece.count)
        files = ints_of(piece.column(FILE)).astype(np.int64)
        levels = rules.levels[files]
        count = int(keys.max()) + 1
        has_new = _marked(keys[levels == 0], count)
        if rules.lookup:
            old, counts = np.flatnonzero(levels > 0), has_new
        else:
            old = np.flatnonzero(levels == rules.top)
            counts = _marked(keys[levels != rules.top], count)
        befores = np.full(count, _NONE, np.int64)
        # A key's last assignment stays: its row on the lowest of these levels.
        old = old[np.argsort(-levels[old], kind="stable")]
        befores[keys[old]] = old
        return cls(
            piece=piece, keys=keys, files=files, counts=counts, has_new=has_new, befores=befores
        )

    def taking_part(self, rules: CompactRules) -> Bools:
        """Which rows are merged."""
        if not rules.lookup:
            return np.ones(len(self.keys), np.bool_)
        wanted = _marked(self.keys[rules.in_unit[self.files]], len(self.befores))
        chosen = np.zeros(len(self.keys), np.bool_)
        chosen[self.befores[self.befores >= 0]] = True
        chosen |= rules.levels[self.files] == 0
        return chosen & wanted[self.keys]

    def is_elsewhere(self, rules: CompactRules) -> Bools:
        """Which keys have their old row in a file that is not compacted."""
        found = self.befores >= 0
        found[found] = ~rules.in_unit[self.files[self.befores[found]]]
        return found

    def keys_of(self, merged: pa.RecordBatch, spec: MergeSpec) -> Ints:
        """The number of each merged row's key."""
        columns = [
            pa.concat_arrays([self.piece.column(name), merged.column(name)]) for name in spec.keys
        ]
        return ranks(columns, count=len(self.keys) + merged.num_rows)[len(self.keys) :]

    def replaced(self, rules: CompactRules) -> Mapping[int, npt.NDArray[np.uint64]]:
        """Rows of files that are not compacted, replaced by newer ones: positions by file."""
        rows = self.befores[self.is_elsewhere(rules) & self.has_new]
        files = self.files[rows]
        positions = ints_of(self.piece.column(POSITION).take(index_array(rows)))
        return {int(file): positions[files == file].astype(np.uint64) for file in np.unique(files)}


def _marked(keys: Ints, count: int) -> Bools:
    found = np.zeros(count, np.bool_)
    found[keys] = True
    return found


def _adds(rows: Ints, kinds: Int8s) -> Bools:
    """Which of n rows, -1 for none, are there and hold a value."""
    found = rows >= 0
    found[found] = ~is_retract(kinds[rows[found]])
    return found


def _filtered(parts: Sequence[pa.RecordBatch], kept: Bools) -> list[pa.RecordBatch]:
    found = []
    begin = 0
    for part in parts:
        mask = kept[begin : begin + part.num_rows]
        begin += part.num_rows
        if mask.any():
            found.append(part if mask.all() else part.filter(mask_array(mask)))
    return found


def _one(
    batches: Sequence[pa.RecordBatch], parts: Sequence[pa.RecordBatch], task: Task
) -> pa.RecordBatch:
    """All batches as one; an empty one of the right shape if there are none."""
    if len(batches) == 1:
        return batches[0]
    names = [*task.spec.columns, SEQUENCE_NUMBER, VALUE_KIND]
    if not batches:
        return parts[0].slice(0, 0).select(names)
    columns = [pa.concat_arrays([batch.column(name) for batch in batches]) for name in names]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def _taken(
    piece: Piece, merged: pa.RecordBatch, rows: Ints, kinds: Int8s, spec: MergeSpec
) -> pa.RecordBatch:
    """Rows of a piece (below its count) and of its merge (from there on)."""
    index = index_array(rows)
    columns: list[Column] = [
        pa.concat_arrays([piece.column(name), merged.column(name)]).take(index)
        for name in spec.columns
    ]
    numbers = np.concatenate([piece.numbers(), ints_of(merged.column(SEQUENCE_NUMBER))])[rows]
    columns += [int64_array(numbers), int8_array(kinds)]
    names = [*spec.columns, SEQUENCE_NUMBER, VALUE_KIND]
    fields = [pa.field(n, c.type) for n, c in zip(names, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
