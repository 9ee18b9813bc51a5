"""Compaction of one compaction unit of a primary-key bucket.

The result is a commit message that replaces the old files by the new ones. New files are invisible
until the message is committed, and are deleted if the compaction fails.

Spec: primary-key-table, compaction; concepts/spec/tableindex, deletion vectors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import numpy as np
import pyarrow as pa

from paimon_explore.commit.file_changes import with_column
from paimon_explore.data_types.arrow import PER_SECOND, timestamp_unit
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, fixed_values, valid_mask
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import InvalidInputError, undo_on_error
from paimon_explore.frozen_dataclass import cached_property, dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import (
    BucketVectors,
    replaced_vectors,
)
from paimon_explore.maintenance.compaction.compaction_merge import (
    FILE,
    CompactionMerge,
    CompactionRules,
    MergeResult,
)
from paimon_explore.maintenance.compaction.compaction_plan import (
    CompactionUnitPlan,
    FileGroup,
    Rewrite,
    Section,
    Step,
    Upgrade,
)
from paimon_explore.maintenance.compaction.primary_key_indexes import BucketIndexes
from paimon_explore.maintenance.compaction.universal_compaction import CompactionUnit, Levels
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.merge_spec import VALUE_KIND, merge_spec
from paimon_explore.merge.numpy_columns import int64_array, ints_of, mask_array
from paimon_explore.merge.sort_merge import key_sections
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    FileSource,
    ManifestEntries,
)
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine
from paimon_explore.metadata.options.table_options import MAX_INT64, SECOND_MS, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.run_order import in_order, runs_may_tie
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.new_file_names import FileLocation
from paimon_explore.write.primary_key_writer import schema_with
from paimon_explore.write.table_layouts import KEY_PREFIX, changelog_layout, keyed_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_MIN_MILLIS = 1_000_000_000_000
"""BIGINT times from this value are milliseconds, smaller ones seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordExpiry:
    """The expiry rule of a table's records.

    Attributes:
        schema: schema of the table.
        column: the time column.
        oldest: rows with an earlier time have expired; in seconds since the epoch.
    """

    schema: TableSchema
    column: DataField
    oldest: int

    def live_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop expired rows."""
        found = self._expired(batch.column(self.column.name))
        return batch.filter(mask_array(~found)) if found.any() else batch

    def files(self, entries: ManifestEntries) -> list[int]:
        """Return the positions of files whose statistics show expired rows."""
        read = ["value_min", "value_stats_cols", "schema_id"]
        rows = entries.table.select(read).to_pylist()
        return [i for i, row in enumerate(rows) if self._has_expired(row)]

    def _has_expired(self, row: dict[str, object]) -> bool:
        if row["schema_id"] != self.schema.id:
            return False
        named, minimum = row["value_stats_cols"], row["value_min"]
        names = self.schema.row_type.names if named is None else named
        assert isinstance(names, Sequence)  # noqa: S101 - a list, or the names of the schema
        assert isinstance(minimum, bytes)  # noqa: S101 - never null
        if self.column.name not in names:
            return False
        types = [column.type for column in self.schema.project(list(map(str, names)))]
        minima = decode_rows(pa.array([minimum], pa.binary()), types, where="_MIN_VALUES")
        return bool(self._expired(minima[list(names).index(self.column.name)]).any())

    def _expired(self, times: Column) -> Bools:
        expired: Bools = (self._seconds(times) < self.oldest) & valid_mask(times)
        return expired

    def _seconds(self, times: Column) -> Ints:
        data_type = self.column.type
        assert isinstance(data_type, AtomicType)  # noqa: S101 - checked when made
        if data_type.root is TypeRoot.INT:
            return fixed_values(times, np.int32).astype(np.int64)
        values = fixed_values(times, np.int64).astype(np.int64)
        if data_type.root is TypeRoot.BIGINT:
            return np.where(values >= _MIN_MILLIS, values // SECOND_MS, values)
        return values // PER_SECOND[timestamp_unit(data_type.precision)]


def record_expiry(schema: TableSchema, options: TableOptions, now: int) -> RecordExpiry | None:
    """Return the record expiry configured by the options; None if records do not expire.

    Args:
        schema: schema of the table.
        options: effective options.
        now: epoch milliseconds.

    Raises:
        InvalidInputError: the time column is not configured or does not exist.
    """
    age = options.value(opt.RECORD_LEVEL_EXPIRE_TIME)
    if age is None or not schema.primary_keys:
        return None
    name = options.value(opt.RECORD_LEVEL_TIME_FIELD)
    column = None if name is None else schema.field(name)
    if column is None:
        key = opt.RECORD_LEVEL_TIME_FIELD.key
        raise InvalidInputError(
            f"Option {opt.RECORD_LEVEL_EXPIRE_TIME.key!r} requires a time column.",
            hint=f"Set the option {key!r} to a column of type INT, BIGINT or TIMESTAMP.",
        )
    oldest = now // SECOND_MS - age // SECOND_MS
    return RecordExpiry(schema=schema, column=column, oldest=oldest)


_FILE_FIELD = pa.field(FILE, pa.int64(), nullable=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryKeyBucket:
    """One bucket of a primary-key table.

    Attributes:
        target: the table.
        split: all live files of the bucket, in any order, with their deletion vectors.
        levels: the LSM tree of the files.
        index: the index files of the bucket.
    """

    target: WriteTarget
    split: DataSplit
    levels: Levels
    index: IndexEntries = field(default_factory=IndexEntries.empty)

    @property
    def expiry(self) -> RecordExpiry | None:
        """Return the record expiry of the table; None if records do not expire."""
        target = self.target
        return record_expiry(target.schema, target.options, target.clock())

    @property
    def keys(self) -> RowType:
        """Return the trimmed primary key."""
        return self.target.schema.project(self.target.schema.trimmed_primary_keys)

    @property
    def files_with_deletions(self) -> list[int]:
        """Return the files with a deletion vector."""
        names = self.split.files.table.column("file_name").to_pylist()
        vectors = self.split.deletion_files
        return [i for i, name in enumerate(names) if name in vectors]


@dataclass(slots=True)
class _Result:
    """The result of a compaction so far.

    Attributes:
        before: positions of replaced files.
        after: entries of new or upgraded files.
        changelog: entries of changelog files.
    """

    before: list[int] = field(default_factory=list)
    after: list[ManifestEntries] = field(default_factory=list)
    changelog: list[ManifestEntries] = field(default_factory=list)


class UnitCompaction:
    """Compacts one unit of a bucket.

    Args:
        bucket: the bucket.
        unit: the compaction unit.
    """

    def __init__(self, bucket: PrimaryKeyBucket, unit: CompactionUnit) -> None:
        self._bucket = bucket
        self._unit = unit
        self._target = bucket.target
        schema, options = bucket.target.schema, bucket.target.options
        self._files = bucket.split.files
        self._levels: Ints = numbers(self._files.table, "level")
        self._vectors = BucketVectors(bucket.target, bucket.split)
        self._indexes = BucketIndexes(bucket.target, bucket.split, bucket.index)
        self._rules = _rules_of(schema, options, bucket, unit, self._levels)
        is_lowest = unit.level >= bucket.levels.highest or self._rules.vectors
        is_chain = options.value(opt.CHAIN_TABLE_ENABLED)  # earlier partitions are below
        self._drops_retracts = is_lowest and unit.level != 0 and not is_chain
        self._names = bucket.target.file_names()
        self._reader = SplitReader(
            unrestricted=True, as_stored=True, target=bucket.target, columns=schema.row_type.names
        )
        self._expiry = bucket.expiry
        self._ranks = key_ranks(self._files, bucket.keys)
        self._writers: list[DataFileWriter] = []

    def groups(self) -> list[FileGroup]:
        """Return which files are replaced together; nothing is read or written."""
        return [self._group(step) for step in self._steps()]

    def _group(self, step: Step) -> FileGroup:
        level, drops = self._unit.level, self._drops_retracts
        if isinstance(step, Rewrite):
            return FileGroup(sections=step.sections, level=level, drops_retracts=drops)
        return FileGroup(
            sections=(((step.file,),),),
            level=level,
            rewritten=self._upgrade_needs(step.file)[1],
            drops_retracts=drops,
        )

    def run(self) -> CommitMessage:
        """Write the new files and return the commit message.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
        """
        result = _Result()
        with undo_on_error(self.abort):
            for step in self._steps():
                if isinstance(step, Rewrite):
                    self._rewrite(step, result)
                else:
                    self._upgrade(step, result)
            return self._message(result)

    def abort(self) -> None:
        """Delete all new files."""
        for writer in self._writers:
            writer.abort()
        self._vectors.abort()
        self._indexes.abort()

    def _steps(self) -> list[Step]:
        plan = CompactionUnitPlan(
            self._unit,
            self._files,
            self._ranks,
            options=self._target.options,
            top=self._bucket.levels.top,
            expired=() if self._expiry is None else self._expiry.files(self._files),
        )
        return plan.steps()

    # ------------------------------------------------------------ upgrade

    def _upgrade(self, step: Upgrade, result: _Result) -> None:
        must_merge, must_rewrite = self._upgrade_needs(step.file)
        single = Rewrite(sections=(((step.file,),),))
        if must_rewrite:
            self._rewrite(single, result)
            return
        if must_merge:
            self._rewrite(single, result, writes_data=False)
        result.before.append(step.file)
        result.after.append(_at_level(self._files.slice(step.file, 1), self._unit.level))

    def _upgrade_needs(self, file: int) -> tuple[bool, bool]:
        """Whether an upgraded file must be merged with others, and whether it must be rewritten."""
        if not self._rules.lookup:
            producer = self._rules.producer is ChangelogProducer.FULL_COMPACTION
            return producer and self._unit.level == self._bucket.levels.top, False
        if self._levels[file] != 0:
            return False, False
        retracts = self._files.table.column("delete_row_count")[file].as_py()
        layouts = [self._layout(0).format, self._layout(self._unit.level).format]
        if layouts[0] != layouts[1] or (self._rules.vectors and retracts != 0):
            return True, True
        if self._unit.level == self._bucket.levels.top:
            return True, False
        spec = self._rules.spec
        latest = spec.engine is MergeEngine.DEDUPLICATE and not spec.sequence_fields
        return True, not latest

    # ------------------------------------------------------------ rewrite

    def _rewrite(self, step: Rewrite, result: _Result, *, writes_data: bool = True) -> None:
        """Merge sections into new files, or only into a changelog and deletion vectors."""
        merge = CompactionMerge(self._rules, writes_changelog=self._writes_changelog(step))
        data = self._writer(self._layout(self._unit.level)) if writes_data else None
        changelog = self._writer(self._changelog_layout())
        lookups = [(section, self._runs(section)) for section in step.sections]
        first = self._bucket.split.start
        read = [first + file for _, runs in lookups for run in runs for file in run]
        with self._reader.files_ahead.of_files(self._bucket.split.source, read):
            for section, found in lookups:
                looked_up = len(found) - len(section)
                for merged in self._merged(found, looked_up, merge):
                    for file, positions in merged.deleted.items():
                        self._vectors.delete(file, positions)
                    if merged.changelog is not None:
                        _write(changelog, merged.changelog)
                    if data is not None:
                        for batch in merged.rows:
                            kept = _without_retracts(batch) if self._drops_retracts else batch
                            _write(data, kept)
        result.changelog.append(self._entries(changelog))
        if data is not None:
            result.before.extend(step.files)
            result.after.append(self._entries(data))
            self._vectors.remove(step.files)

    def _merged(
        self, found: list[list[int]], looked_up: int, merge: CompactionMerge
    ) -> Iterator[MergeResult]:
        """Merge the runs of a section; the first ones are those in which keys are looked up."""
        runs, ordered = in_order(self._bucket.split, found)
        parts = key_sections(
            [self._run(run, merge) for run in runs],
            self._rules.spec.keys,
            may_tie=not ordered and runs_may_tie(self._bucket.split, runs),
            looked_up=looked_up,
        )
        return (merge.merge(part, by_run_order=ordered) for part in parts)

    def _writes_changelog(self, step: Rewrite) -> bool:
        match self._rules.producer:
            case ChangelogProducer.LOOKUP:
                return self._unit.level != 0 and bool((self._levels[list(step.files)] == 0).any())
            case ChangelogProducer.FULL_COMPACTION:
                return self._unit.level == self._bucket.levels.top
            case ChangelogProducer.NONE | ChangelogProducer.INPUT:
                return False

    def _runs(self, section: Section) -> list[list[int]]:
        """Return the runs of a section, preceded by the runs in which its keys are looked up."""
        runs = [list(run) for run in section]
        files = [file for run in runs for file in run]
        if self._rules.lookup and (self._levels[files] == 0).any():
            runs = [*self._lookup_runs(files), *runs]
        return runs

    def _lookup_runs(self, files: Sequence[int]) -> list[list[int]]:
        """Return the runs above the output level whose key ranges overlap these files."""
        lows, highs = self._ranks
        low, high = lows[list(files)].min(), highs[list(files)].max()
        found = (~self._rules.in_unit) & (self._levels > self._unit.level)
        found &= (lows <= high) & (highs >= low)
        runs = []
        for level in np.unique(self._levels[found]):
            own = np.flatnonzero(found & (self._levels == level))
            runs.append(own[np.argsort(lows[own], kind="stable")].tolist())
        return runs

    def _run(self, run: Sequence[int], merge: CompactionMerge) -> Iterator[pa.RecordBatch]:
        system: tuple[SystemColumn, ...] = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND)
        if self._rules.vectors:
            system = (*system, SystemColumn.POSITION)
        for row in run:
            file = SplitFile(split=self._bucket.split, row=row, reader=self._reader)
            request = ReadRequest(
                fields=self._reader.fields,
                system_columns=system,
                from_keys=True,
                deleted=file.deleted(),
            )
            for batch in read_data_file(file.source(), request):
                kept = batch if self._expiry is None else self._expiry.live_rows(batch)
                if kept.num_rows:
                    yield _with_file(kept, row) if merge.needs_files else kept

    # ------------------------------------------------------------ new files and the commit message

    @cached_property
    def _location(self) -> FileLocation:
        split = self._bucket.split
        return self._target.file_location(split.partition, split.bucket, self._names)

    def _layout(self, level: int) -> FileLayout:
        layout = keyed_layout(
            self._target.schema, self._target.options, level=level, source=FileSource.COMPACT
        )
        return replace(layout, target_rows=MAX_INT64)

    def _changelog_layout(self) -> FileLayout:
        layout = changelog_layout(self._target.schema, self._target.options)
        return replace(layout, level=self._unit.level, target_rows=MAX_INT64)

    def _writer(self, layout: FileLayout) -> "_RowsWriter":
        writer = DataFileWriter(self._location, layout)
        self._writers.append(writer)
        columns = tuple(column.name for column in layout.fields)
        return _RowsWriter(writer=writer, columns=columns)

    def _entries(self, writer: "_RowsWriter") -> ManifestEntries:
        split = self._bucket.split
        return entries_of(writer.writer.close(), **split.bucket_fields)

    def _message(self, result: _Result) -> CommitMessage:
        split = self._bucket.split
        vectors = self._vectors.write()
        after = _joined(result.after)
        indexes = self._indexes.replace(result.before, after)
        return CommitMessage(
            **split.bucket_fields,
            compact_before=self._files.take(np.array(result.before, np.int64)),
            compact_after=after,
            compact_changelog=_joined(result.changelog),
            compact_new_index_files=IndexEntries.concat([vectors, indexes.new]),
            compact_deleted_index_files=IndexEntries.concat(
                [replaced_vectors(self._bucket.index, vectors), indexes.deleted]
            ),
        )


class IndexBuild:
    """Builds the indexes that the files of a bucket lack, for example since an option is set.

    Args:
        bucket: the bucket.
    """

    def __init__(self, bucket: PrimaryKeyBucket) -> None:
        self._split = bucket.split
        self._indexes = BucketIndexes(bucket.target, bucket.split, bucket.index)

    def groups(self) -> list[FileGroup]:
        """Return no files: all stay as they are."""
        return []

    def run(self) -> CommitMessage:
        """Write the index files and return the commit message.

        Raises:
            FormatError: a data file is malformed.
            StorageError: a file cannot be read or written.
        """
        with undo_on_error(self._indexes.abort):
            changes = self._indexes.replace((), ManifestEntries.empty())
        return CommitMessage(
            **self._split.bucket_fields,
            compact_new_index_files=changes.new,
            compact_deleted_index_files=changes.deleted,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowsWriter:
    """A writer and the columns of its files."""

    writer: DataFileWriter
    columns: tuple[str, ...]


def _write(writer: _RowsWriter, rows: pa.RecordBatch) -> None:
    columns = [rows.column(name.removeprefix(KEY_PREFIX)) for name in writer.columns]
    writer.writer.write(pa.Table.from_arrays(columns, names=list(writer.columns)))


def _without_retracts(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Drop retract rows (-U and -D)."""
    kinds = ints_of(rows.column(VALUE_KIND)).astype(np.int8, copy=False)
    found = is_retract(kinds)
    return rows.filter(mask_array(~found)) if found.any() else rows


def _with_file(batch: pa.RecordBatch, file: int) -> pa.RecordBatch:
    column: Column = int64_array(np.full(batch.num_rows, file, np.int64))
    return batch.append_column(_FILE_FIELD, column)


def _joined(parts: Sequence[ManifestEntries]) -> ManifestEntries:
    return ManifestEntries.concat([part for part in parts if len(part)])


def _at_level(entries: ManifestEntries, level: int) -> ManifestEntries:
    return with_column(entries, "level", pa.repeat(pa.scalar(level, pa.int32()), len(entries)))


def _rules_of(
    schema: TableSchema,
    options: TableOptions,
    bucket: PrimaryKeyBucket,
    unit: CompactionUnit,
    levels: Ints,
) -> CompactionRules:
    ignored = options.value(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS)
    compared = tuple(name for name in schema.row_type.names if name not in ignored)
    in_unit: Bools = np.zeros(len(levels), np.bool_)
    in_unit[list(unit.files)] = True
    return CompactionRules(
        spec=merge_spec(schema_with(schema, options)),
        producer=options.value(opt.CHANGELOG_PRODUCER),
        lookup=needs_lookup(options),
        vectors=options.value(opt.DELETION_VECTORS_ENABLED),
        equal_columns=compared if options.value(opt.CHANGELOG_PRODUCER_ROW_DEDUPLICATE) else None,
        top=bucket.levels.top,
        levels=levels,
        in_unit=in_unit,
    )
