"""The fate of stored records: returned by reads, deleted, or replaced by which other record.

For the records of a window of a file, the records with the same keys in the other live files of
the bucket are read: only their keys, sequence numbers and row kinds, and only pages whose key
range overlaps the window's. The order of the records of a key, and which of them is selected, are
computed by the functions that also merge on read.

Reads the stored records of files, with what a read does with each of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rows.row_units import RowUnit, key_condition
from paimon_explore.inspection.rows.unit_reader import (
    RowPage,
    RowStream,
    UnitReader,
    Window,
    file_of,
)
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
)
from paimon_explore.metadata.manifest.manifest_table import as_array
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.rows_at_positions import read_rows_at
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import column, group_numbers, numbers, row_array, text
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.key_range_sections import key_ranks

SYSTEM = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND, SystemColumn.POSITION)
_FILE = "_FILE_INDEX"
_OWN = "_OWN_ROW"


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
    """

    fate: Fate
    reason: str = ""


_RETURNED = RecordStatus(Fate.RETURNED)


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
        self._newest = numbers(table, "max_sequence_number")
        self._names = text(table, "file_name")
        self._vectors: dict[int, DeletionVector | None] = {}
        self._key_ranks: dict[int, tuple[Ints, Ints, Ints]] = {}

    def vector(self, file: int) -> DeletionVector | None:
        """The deletion vector of a file."""
        if file not in self._vectors:
            found = self._split.deletion_files.get(str(self._names[file]))
            vector = None if found is None else load_vector(self._reader.store.file_io, found)
            self._vectors[file] = vector
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
        vector = self.vector(file)
        deleted = np.array([vector is not None and p in vector for p in positions.tolist()], bool)
        if self._is_hidden(file):
            why = RecordStatus(Fate.HIDDEN, "not visible before compaction")
            found = [why] * rows.num_rows
        elif self._target.keys is None or not rows.num_rows:
            found = [self._of_append(file)] * rows.num_rows
        else:
            kept = np.flatnonzero(~deleted)
            judged = self._judged(file, rows.take(row_array(kept))) if len(kept) else []
            found = [_RETURNED] * rows.num_rows
            for at, status in zip(kept.tolist(), judged, strict=True):
                found[at] = status
        by_vector = RecordStatus(Fate.DELETED, "hidden by deletion vector")
        return [
            by_vector if gone else one for gone, one in zip(deleted.tolist(), found, strict=True)
        ]

    def _of_append(self, file: int) -> RecordStatus:
        """The status of the records of a file that no merge and no deletion vector concerns."""
        columns = self._split.files.table.column("write_cols")[file].as_py()
        if columns is None or not self._target.options.value(DATA_EVOLUTION_ENABLED):
            return _RETURNED
        return RecordStatus(Fate.COMBINED, f"combined: only {', '.join(columns)}")

    def _is_hidden(self, file: int) -> bool:
        if self._target.keys is None:
            return False
        level_0 = self._target.hides_level_0 and self._levels[file] == 0
        return bool(level_0 or self._buckets[file] == POSTPONE_BUCKET)

    @property
    def spec(self) -> MergeSpec:
        """The merge of the key columns."""
        return merge_spec(self._reader.effective_schema, self._target.schema.trimmed_primary_keys)

    def _judged(self, file: int, rows: pa.Table) -> list[RecordStatus]:
        """The statuses of records of a primary-key table that no deletion vector deletes."""
        spec = self.spec
        names = needed_columns(spec)
        own = _tagged(rows.select([*names, *SYSTEM]), file, np.arange(rows.num_rows))
        others = self._others(file, rows.select(spec.keys), names)
        parts = sorted([(file, own), *others], key=lambda one: int(self._newest[one[0]]))
        whole = pa.concat_tables([part for _, part in parts]).combine_chunks()
        arrays = [as_array(values) for values in whole.columns]
        batch = pa.RecordBatch.from_arrays(arrays, names=whole.column_names)
        judge = _Judge(
            spec=spec,
            batch=batch,
            name_of=lambda at: str(self._names[at]),
            levels=self._levels,
            covers=self._covers([at for at, _ in parts], spec),
        )
        statuses = judge.statuses()
        found: list[RecordStatus] = [_RETURNED] * rows.num_rows
        for at, mine in enumerate(numbers(whole, _OWN).tolist()):
            if mine >= 0:
                found[mine] = statuses[at]
        return found

    def _covers(self, files: Sequence[int], spec: MergeSpec) -> bool:
        """Whether records above level 0 include those on deeper levels."""
        if spec.engine in (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW):
            return False
        levels = {int(self._levels[at]) for at in files} - {0}
        return needs_lookup(self._target.options) and len(levels) > 1

    def _others(
        self, file: int, keys: pa.Table, names: Sequence[str]
    ) -> list[tuple[int, pa.Table]]:
        """The records with these keys in the other files of the bucket."""
        fields = self._target.schema.project(names).fields
        condition = key_condition(keys, self._target.schema.row_type)
        found = []
        for at in self._overlapping(file):
            source = SplitFile(split=self._split, row=at, reader=self._reader)
            vector = self.vector(at)
            request = ReadRequest(
                fields=fields,
                system_columns=SYSTEM,
                from_keys=True,
                deleted=vector,
                predicate=None if condition == TRUE else condition,
            )
            batches = [
                _with_keys(batch, keys) for batch in read_data_file(source.source(), request)
            ]
            kept = [batch for batch in batches if batch.num_rows]
            if kept:
                rows = pa.Table.from_batches(kept)
                found.append((at, _tagged(rows, at, np.full(rows.num_rows, -1))))
        return found

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


def _tagged(rows: pa.Table, file: int, own: Ints) -> pa.Table:
    rows = rows.append_column(_FILE, row_array(np.full(rows.num_rows, file)))
    return rows.append_column(_OWN, row_array(own))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """Determines the statuses of all records of some keys.

    Attributes:
        spec: the merge.
        batch: the records, those of older files first.
        name_of: the name of a file by its index.
        levels: file levels by index.
        covers: whether records above level 0 include those on deeper levels.
    """

    spec: MergeSpec
    batch: pa.RecordBatch
    name_of: Callable[[int], str]
    levels: Ints
    covers: bool

    def statuses(self) -> list[RecordStatus]:
        """The statuses, in the order of the records."""
        found: list[RecordStatus] = [_RETURNED] * self.batch.num_rows
        groups = record_groups(Section([self.batch]), Task(spec=self.spec, functions={}))
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
            return RecordStatus(Fate.RETRACTS, "deletes the key") if retracts[at] else _RETURNED
        verb = "deleted" if retracts[winner] else "replaced"
        if self.spec.engine is MergeEngine.FIRST_ROW:
            verb = "not the first row: replaced"
        fate = Fate.DELETED if retracts[winner] else Fate.REPLACED
        return RecordStatus(fate, f"{verb} by {self._place(winner)}")

    def _place(self, at: int) -> str:
        number = self.batch.column(SystemColumn.SEQUENCE_NUMBER)[at].as_py()
        name = self.name_of(self.batch.column(_FILE)[at].as_py())
        return f"sequence {number} in {name}"

    def _combine(self, groups: Groups, found: list[RecordStatus]) -> None:
        kinds = self._kinds
        covering = self._covering(groups) if self.covers else {}
        for at, by in covering.items():
            found[at] = RecordStatus(Fate.REPLACED, f"included in {self._place(by)}")
        groups = _without(groups, covering)
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
        levels = self.levels[numbers(pa.Table.from_batches([self.batch]), _FILE)]
        found: dict[int, int] = {}
        for rows in np.split(groups.order, groups.starts[1:]):
            above = [at for at in rows.tolist() if levels[at] > 0]
            lowest = min(above, key=lambda at: int(levels[at]), default=None)
            found.update({at: lowest for at in above if lowest is not None and at != lowest})
        return found


def _without(groups: Groups, rows: Mapping[int, int]) -> Groups:
    """The groups without some rows; no group becomes empty."""
    if not rows:
        return groups
    keep = ~np.isin(groups.order, list(rows))
    kept = np.add.reduceat(keep, groups.starts, dtype=np.int64)
    return replace(groups, order=groups.order[keep], starts=np.cumsum(kept) - kept)


_KINDS = ("+I", "-U", "+U", "-D")
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


class RecordReader:
    """Reads stored records, a unit per file.

    Args:
        units: reads the units.
        live: all live files of the snapshot.
    """

    def __init__(self, units: UnitReader, live: DataSplit) -> None:
        self._units = units
        self._target = units.target
        self._statuses = RecordStatuses(self._target, units.split_reader(()), live)
        self._stream: tuple[tuple[int, tuple[str, ...]], RowStream] | None = None

    def page(self, at: int, offset: int, count: int, names: tuple[str, ...]) -> RowPage:
        """Read records of a file.

        Raises:
            PaimonError: a file of the bucket cannot be read.
        """
        unit = self._units.units[at]
        deciding = tuple(name for name in self._deciding() if name not in names)
        reader = self._units.split_reader((*names, *deciding))
        fields = self._target.schema.project(reader.columns).fields
        request = ReadRequest(fields=fields, system_columns=SYSTEM)
        if self._units.rest == TRUE:
            window = _by_position(unit, reader, request, range(offset, offset + count))
        else:
            window = self._matching(at, reader, request).window(offset, count)
        file = 0 if unit.files is None else unit.files[0]
        statuses = self._statuses.of(file, window.rows)
        return RowPage(
            unit=at,
            offset=offset,
            rows=window.rows.select(list(names)),
            records=tuple(self._described(unit, window.rows, statuses)),
            end=window.end,
            is_partial=window.is_partial,
        )

    def _deciding(self) -> tuple[str, ...]:
        """The columns that decide about the merge of records."""
        if self._target.keys is None:
            return ()
        schema = self._units.split_reader(()).effective_schema
        return needed_columns(merge_spec(schema, schema.trimmed_primary_keys))

    def _matching(self, at: int, reader: SplitReader, request: ReadRequest) -> RowStream:
        """The records that match the condition."""
        key = (at, reader.columns)
        if self._stream is None or self._stream[0] != key:
            read = {one.name for one in request.fields}
            hidden = tuple(one for one in reader.fields if one.name not in read)
            matching = replace(request, predicate=self._units.rest, filter_fields=hidden)
            source = file_of(self._units.units[at], reader).source()
            own = arrow_schema(self._target.schema.project(reader.columns))
            types = (pa.int64(), pa.int8(), pa.int64())
            system = [pa.field(n.value, t) for n, t in zip(SYSTEM, types, strict=True)]
            schema = pa.schema([*own, *system])
            self._stream = key, RowStream(schema, lambda: read_data_file(source, matching))
        return self._stream[1]

    def _described(
        self, unit: RowUnit, rows: pa.Table, statuses: Sequence[RecordStatus]
    ) -> Iterator[tuple[object, ...]]:
        file = file_of(unit, self._units.split_reader(()))
        name, level = file.value("file_name"), file.value("level")
        is_keyed = self._target.keys is not None
        sequences, kinds, positions = (rows.column(one).to_pylist() for one in SYSTEM)
        for at, status in enumerate(statuses):
            kind = _KINDS[int(kinds[at] or 0)]
            number = sequences[at] if is_keyed else None
            yield status.fate.value, status.reason, number, kind, level, name, positions[at]


def _by_position(unit: RowUnit, reader: SplitReader, request: ReadRequest, wanted: range) -> Window:
    rows = np.arange(wanted.start, max(min(wanted.stop, unit.most), wanted.start), dtype=np.int64)
    found = read_rows_at(file_of(unit, reader).source(), request, rows)
    end = wanted.start + found.num_rows
    is_last = found.num_rows < len(rows) or end >= unit.most
    return Window(rows=found, end=min(end, unit.most) if is_last else None)
