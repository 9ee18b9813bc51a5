"""The fate of stored records: returned by reads, deleted, or replaced by which other record.

For the records of a window of a file, the records with the same keys in the other live files of
the bucket are read: only their keys, sequence numbers and row kinds, and only pages whose key
range overlaps the window's. The order of the records of a key, and which of them is selected, are
computed by the functions that also merge on read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Bools, Ints, int64_values
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rows.row_units import key_condition
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.keys.key_groups import Groups, ranks
from paimon_explore.merge.merge_spec import MergeSpec, merge_spec, needed_columns
from paimon_explore.merge.section_merge import (
    Section,
    Task,
    functions_of,
    merge_groups,
    newest_rows,
    oldest_rows,
    record_groups,
    tied_groups,
)
from paimon_explore.merge.sort_merge import key_sections
from paimon_explore.metadata.manifest.manifest_table import as_array
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import column, group_numbers, numbers, row_array, text
from paimon_explore.scan.plan import ScanTarget, plan_scan
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.key_range_sections import key_ranks, runs_of_read, sections
from paimon_explore.scan.splits.postponed_splits import in_merged_partitions

SYSTEM = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND, SystemColumn.POSITION)
"""The columns of a stored record that decide about its fate, besides keys and sequence fields."""
KINDS = ("+I", "-U", "+U", "-D")
"""Row kinds by their number in files."""
_RECORD_FIELDS: list[tuple[str, pa.DataType]] = [
    ("_STATUS", pa.string()),
    ("_REASON", pa.string()),
    ("_SEQUENCE_NUMBER", pa.int64()),
    ("_VALUE_KIND", pa.string()),
    ("_LEVEL", pa.int32()),
    ("_FILE", pa.string()),
    ("_POSITION", pa.int64()),
]
RECORD_COLUMNS = pa.schema(_RECORD_FIELDS)
"""The columns that describe a stored record."""
_FILE = "_FILE_INDEX"


def stored_schema(row_type: RowType) -> pa.Schema:
    """The columns of stored records: those of the table, and `SYSTEM`."""
    types = (pa.int64(), pa.int8(), pa.int64())
    return pa.schema([*arrow_schema(row_type), *map(pa.field, SYSTEM, types)])


class Fate(StrEnum):
    """What a read does with a stored record."""

    RETURNED = "returned"
    COMBINED = "combined"
    DELETED = "deleted"
    REPLACED = "replaced"
    HIDDEN = "hidden"
    RETRACTS = "retracts"


@dataclass(frozen=True, slots=True)
class RecordStatus:
    """What a read does with a record, and why.

    Attributes:
        fate: what.
        reason: why, as text; empty if a read returns the record.
        file: name of the file with the record that replaces this one; empty if there is none.
    """

    fate: Fate
    reason: str = ""
    file: str = ""

    @property
    def text(self) -> str:
        """The reason with the file."""
        return f"{self.reason} in {self.file}" if self.file else self.reason


RETURNED = RecordStatus(Fate.RETURNED)
BY_VECTOR = RecordStatus(Fate.DELETED, "hidden by deletion vector")
NOT_COMPACTED = RecordStatus(Fate.HIDDEN, "not visible before compaction")
MERGED_ON_READ = RecordStatus(Fate.COMBINED, "merged on read with postponed records")


def is_hidden(target: ScanTarget, level: int, bucket: int) -> bool:
    """Whether reads skip a file of a primary-key table until it is compacted."""
    if bucket == POSTPONE_BUCKET:
        return not target.merges_postponed
    return target.hides_level_0 and level == 0


class RecordStatuses:
    """Determines the statuses of the records of live files.

    Args:
        target: the table at a snapshot.
        reader: of the target.
        split: all live files of the snapshot.
    """

    def __init__(self, target: ScanTarget, reader: SplitReader, split: DataSplit) -> None:
        self._target = target
        self._split = split
        self._reader = reader
        table = split.files.table
        self._groups = group_numbers(table)
        self._levels = numbers(table, "level")
        self._buckets = numbers(table, "bucket")
        self._names = text(table, "file_name")
        self._merged = target.merges_postponed & in_merged_partitions(split.files)
        self._vectors: dict[int, DeletionVector | None] = {}
        self._key_ranks: dict[int, tuple[Ints, Ints, Ints]] = {}

    def _vector(self, file: int) -> DeletionVector | None:
        """The deletion vector of a file."""
        if file not in self._vectors:
            found = self._split.deletion_files.get(str(self._names[file]))
            file_io = self._reader.target.store.file_io
            self._vectors[file] = None if found is None else load_vector(file_io, found)
        return self._vectors[file]

    def of(self, file: int, rows: pa.Table) -> list[RecordStatus]:
        """The status of each record of a part of a file.

        Args:
            file: index of the file.
            rows: its records, with the columns that decide about the merge and `SYSTEM`.

        Raises:
            PaimonError: another file of the bucket cannot be read.
        """
        positions = numbers(rows, SystemColumn.POSITION)
        vector = self._vector(file)
        deleted = np.array([vector is not None and p in vector for p in positions.tolist()], bool)
        if self._is_hidden(file):
            found = [NOT_COMPACTED] * rows.num_rows
        elif self._merged[file]:
            found = [MERGED_ON_READ] * rows.num_rows
        elif self._target.keys is None or not rows.num_rows:
            found = [self._of_append(file)] * rows.num_rows
        else:
            kept = np.flatnonzero(~deleted)
            judged = self._judged(file, rows.take(row_array(kept))) if len(kept) else []
            found = [RETURNED] * rows.num_rows
            for at, status in zip(kept.tolist(), judged, strict=False):
                found[at] = status
        return [BY_VECTOR if gone else one for gone, one in zip(deleted, found, strict=True)]

    def _of_append(self, file: int) -> RecordStatus:
        """The status of the records of a file that no merge and no deletion vector concerns."""
        columns = self._split.files.table.column("write_cols")[file].as_py()
        if columns is None or not self._target.options.value(DATA_EVOLUTION_ENABLED):
            return RETURNED
        return RecordStatus(Fate.COMBINED, f"combined: only {', '.join(columns)}")

    def _is_hidden(self, file: int) -> bool:
        level, bucket = int(self._levels[file]), int(self._buckets[file])
        return self._target.keys is not None and is_hidden(self._target, level, bucket)

    def _judged(self, file: int, rows: pa.Table) -> list[RecordStatus]:
        """The statuses of records of a primary-key table that no deletion vector deletes.

        Those of the other records with their keys follow.
        """
        spec = key_merge(self._target)
        names = needed_columns(spec)
        condition = key_condition(rows.select(spec.keys), self._target.schema.row_type)
        parts = {file: rows.select([*names, *SYSTEM])}
        parts.update(self._others(file, rows.select(spec.keys), names, condition))
        records = KeyRecords.of(
            self._target,
            {str(self._names[at]): part for at, part in parts.items()},
            levels=[int(self._levels[at]) for at in parts],
            condition=condition,
        )
        return records.statuses(records.groups())

    def _others(
        self, file: int, keys: pa.Table, names: Sequence[str], condition: Expression
    ) -> Iterator[tuple[int, pa.Table]]:
        """The records with these keys in the other files of the bucket."""
        fields = self._target.schema.project(names).fields
        for at in self._overlapping(file):
            source = SplitFile(split=self._split, row=at, reader=self._reader)
            request = ReadRequest(
                fields=fields,
                system_columns=SYSTEM,
                from_keys=True,
                deleted=self._vector(at),
                predicate=None if condition == TRUE else condition,
            )
            batches = [
                _with_keys(batch, keys) for batch in read_data_file(source.source(), request)
            ]
            kept = [batch for batch in batches if batch.num_rows]
            if kept:
                yield at, pa.Table.from_batches(kept)

    def _overlapping(self, file: int) -> list[int]:
        """The other visible files of the bucket whose key range overlaps."""
        group = int(self._groups[file])
        if group not in self._key_ranks:
            members = np.flatnonzero(self._groups == group)
            keys = self._target.keys
            assert keys is not None  # noqa: S101 - a primary-key table
            low, high = key_ranks(self._split.files.take(members), keys)
            self._key_ranks[group] = members, np.minimum(low, high), np.maximum(low, high)
        members, lows, highs = self._key_ranks[group]
        here = int(np.flatnonzero(members == file)[0])
        near = members[(lows <= highs[here]) & (highs >= lows[here])]
        return [at for at in near.tolist() if at != file and not self._is_hidden(at)]


def _with_keys(batch: pa.RecordBatch, keys: pa.Table) -> pa.RecordBatch:
    """The rows whose key is one of the given ones."""
    count = batch.num_rows
    if not count:
        return batch
    both = [
        pa.concat_arrays([batch.column(name), column(keys, name)]) for name in keys.column_names
    ]
    found = ranks(both, count=count + keys.num_rows)
    mask = np.isin(found[:count], found[count:])
    return batch.filter(pa.array(mask))


def key_merge(target: ScanTarget) -> MergeSpec:
    """The merge of the key columns of a table."""
    schema = target.schema
    return merge_spec(replace(schema, options=dict(target.options)), schema.trimmed_primary_keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecords:
    """Stored records of some keys of one bucket.

    Attributes:
        target: the table at a snapshot.
        spec: the merge.
        batch: the records.
        names: names of the files.
        files: for each record the number of its file.
        levels: for each record the level of its file.
        condition: true for the keys; others may match.
    """

    target: ScanTarget
    spec: MergeSpec
    batch: pa.RecordBatch
    names: Sequence[str]
    files: Ints
    levels: Ints
    condition: Expression

    @staticmethod
    def of(
        target: ScanTarget,
        parts: Mapping[str, pa.Table],
        *,
        levels: Sequence[int],
        condition: Expression,
    ) -> "KeyRecords":
        """The records in some files.

        Args:
            target: the table at a snapshot.
            parts: by name of a file its records, with the columns that decide and `SYSTEM`.
            levels: of the files.
            condition: true for the keys of the records; others may match.
        """
        whole = pa.concat_tables(parts.values()).combine_chunks()
        arrays = [as_array(values) for values in whole.columns]
        sizes = [part.num_rows for part in parts.values()]
        return KeyRecords(
            target=target,
            spec=key_merge(target),
            batch=pa.RecordBatch.from_arrays(arrays, names=whole.column_names),
            names=tuple(parts),
            files=np.repeat(np.arange(len(sizes)), sizes),
            levels=np.repeat(np.array(levels, np.int64), sizes),
            condition=condition,
        )

    def groups(self) -> Groups:
        """The records by key, oldest first."""
        section = Section([self.batch])
        groups, tied = tied_groups(section, Task(spec=self.spec, functions={}))
        if not tied.any():
            return groups
        positions = int64_values(self.batch.column(SystemColumn.POSITION))
        wanted = {name: positions[self.files == at] for at, name in enumerate(self.names)}
        found = _merge_turns(self.target, self.condition, wanted)
        places = zip(self.files.tolist(), positions.tolist(), strict=True)
        turns = np.array([found.get((self.names[file], at), -1) for file, at in places])
        order = groups.order[np.lexsort((turns[groups.order], np.cumsum(~tied)))]
        return Groups(order, groups.starts)

    def statuses(self, groups: Groups) -> list[RecordStatus]:
        """The statuses of the records of `groups`, which has all visible ones of its keys."""
        found: list[RecordStatus] = [RETURNED] * self.batch.num_rows
        if not len(groups.starts):
            return found
        if self.spec.engine in (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW):
            self._select(groups, found)
        else:
            self._combine(groups, found)
        return found

    @property
    def _kinds(self) -> "np.ndarray[tuple[int], np.dtype[np.int8]]":
        return Section([self.batch]).kinds()

    def _select(self, groups: Groups, found: list[RecordStatus]) -> None:
        kinds, retracts = self._kinds, is_retract(self._kinds)
        first = self.spec.engine is MergeEngine.FIRST_ROW
        select = oldest_rows if first else newest_rows
        try:
            winners = set(select(groups, kinds, ignore_delete=self.spec.ignore_delete).tolist())
        except FormatError as error:
            found[:] = [RecordStatus(Fate.HIDDEN, f"cannot be merged: {error.message}")] * len(
                found
            )
            return
        for rows in np.split(groups.order, groups.starts[1:]):
            winner = next((at for at in rows.tolist() if at in winners), None)
            for at in rows.tolist():
                found[at] = self._selected(at, winner, retracts)

    def _selected(self, at: int, winner: int | None, retracts: Bools) -> RecordStatus:
        if winner is None or (at != winner and self.spec.ignore_delete and retracts[at]):
            return RecordStatus(Fate.HIDDEN, "ignored: option ignore-delete is true")
        if at == winner:
            return RecordStatus(Fate.RETRACTS, "deletes the key") if retracts[at] else RETURNED
        verb = "deleted" if retracts[winner] else "replaced"
        if self.spec.engine is MergeEngine.FIRST_ROW:
            verb = "not the first row: replaced"
        fate = Fate.DELETED if retracts[winner] else Fate.REPLACED
        return self._by(fate, f"{verb} by", winner)

    def _by(self, fate: Fate, verb: str, other: int) -> RecordStatus:
        number = self.batch.column(SystemColumn.SEQUENCE_NUMBER)[other].as_py()
        return RecordStatus(fate, f"{verb} sequence {number}", self.names[int(self.files[other])])

    def _combine(self, groups: Groups, found: list[RecordStatus]) -> None:
        kinds = self._kinds
        covering = self._covering(groups)
        for at, by in covering.items():
            found[at] = self._by(Fate.REPLACED, "included in", by)
        groups = groups.where(~np.isin(groups.order, list(covering)))
        gone = self._gone(groups)
        retracts = is_retract(kinds)
        for key, rows in enumerate(np.split(groups.order, groups.starts[1:])):
            others = len(rows) - 1
            for at in rows.tolist():
                if gone is None:
                    found[at] = RecordStatus(Fate.COMBINED, "combined")
                elif gone[key]:
                    fate = Fate.RETRACTS if retracts[at] else Fate.DELETED
                    found[at] = RecordStatus(fate, "the merge removes the key")
                elif retracts[at] and self.spec.ignore_delete:
                    found[at] = RecordStatus(Fate.HIDDEN, "ignored: option ignore-delete is true")
                elif others:
                    records = "1 other record" if others == 1 else f"{others} other records"
                    found[at] = RecordStatus(Fate.COMBINED, f"combined with {records} of the key")

    def _gone(self, groups: Groups) -> Bools | None:
        """Whether the merge removes each key; None if the merge fails."""
        task = Task(spec=self.spec, functions=functions_of(self.spec), keep_retracts=True)
        try:
            merged = merge_groups(Section([self.batch]), task, groups)
        except FormatError:
            return None
        return is_retract(Section([merged]).kinds())

    def _covering(self, groups: Groups) -> Mapping[int, int]:
        """Records above level 0 that are included in the one on the lowest level above 0."""
        if not needs_lookup(self.target.options):
            return {}
        found: dict[int, int] = {}
        for rows in np.split(groups.order, groups.starts[1:]):
            above = [at for at in rows.tolist() if self.levels[at] > 0]
            lowest = min(above, key=lambda at: int(self.levels[at]), default=None)
            found.update({at: lowest for at in above if lowest is not None and at != lowest})
        return found


def _merge_turns(
    target: ScanTarget, condition: Expression, wanted: Mapping[str, Ints]
) -> dict[tuple[str, int], int]:
    """The turns of stored records in the merges of a read, by file name and position.

    The order of tied records depends on the records of other keys, so whole sections are read. A
    turn counts within a part of a section, which has all records of its keys.

    Args:
        target: the table at a snapshot.
        condition: true for the keys of the records; others may match.
        wanted: the positions of the records, by name of their file.
    """
    spec = key_merge(target)
    keys = target.schema.project(spec.keys)
    task = Task(spec=spec, functions={})
    reader = SplitReader(target=target, columns=needed_columns(spec), unrestricted=True)
    found: dict[tuple[str, int], int] = {}
    for split in plan_scan(target, condition).splits:
        if not isinstance(split, DataSplit) or split.raw_convertible:
            continue
        names = text(split.files.table, "file_name")
        lows, highs = key_ranks(split.files, keys)
        for section in sections(lows, highs):
            runs = [_run(reader, split, run) for run in runs_of_read(section, lows, highs)]
            for part in key_sections(runs, spec.keys, may_tie=True):
                order = record_groups(part, task).order
                files = int64_values(part.column(_FILE))[order]
                at = int64_values(part.column(SystemColumn.POSITION))[order]
                for file in np.unique(files).tolist():
                    name = str(names[file])
                    turns = np.flatnonzero((files == file) & np.isin(at, wanted.get(name, ())))
                    found.update(
                        ((name, row), turn)
                        for row, turn in zip(at[turns].tolist(), turns.tolist(), strict=True)
                    )
    return found


def _run(reader: SplitReader, split: DataSplit, run: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """The records of a sorted run, with the number of their file."""
    for row in run:
        file = SplitFile(split=split, row=row, reader=reader)
        request = ReadRequest(
            fields=reader.fields, system_columns=SYSTEM, from_keys=True, deleted=file.deleted()
        )
        for batch in read_data_file(file.source(), request):
            yield batch.append_column(_FILE, row_array(np.full(batch.num_rows, row)))
