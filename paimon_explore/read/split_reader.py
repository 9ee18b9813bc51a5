"""The rows of a split.

Raw splits are read file by file. Others are cut into sections of overlapping key ranges; each
section's files are laid into sorted runs and merged in one streaming pass. What the manifest
already tells is not read from files: without retracted rows no `_VALUE_KIND`, and where every run
is wholly newer than the one before no `_SEQUENCE_NUMBER`.

A predicate is checked on the rows of raw files as they are read, and on the rows that a merge
gives. Before a merge it may only skip by key columns, since an older version of a row must not
resurface.
Spec: primary-key-table, merge read; concepts/spec/tableindex.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import bool_values, take_rows, valid_mask
from paimon_explore.data_types.definitions import DataField, RowType, TypeRoot, with_nullable
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.encoder import decode_rows
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.key_records import RowKind, is_retract
from paimon_explore.merge.lookup_merge import LEVEL, merge_complete_runs
from paimon_explore.merge.merge_spec import MergeSpec, deciding_columns, merge_spec, needed_columns
from paimon_explore.merge.numpy_columns import int8_array, ints_of, mask_array
from paimon_explore.merge.sort_merge import merge_runs
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    FILE_INDEX_READ_ENABLED,
    MERGE_ENGINE,
    SEQUENCE_SNAPSHOT_ORDERING,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import file_in
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
)
from paimon_explore.read.format_readers import data_file_name
from paimon_explore.scan.manifest_arrays import byte_array, column, numbers, row_array
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import (
    DataSplit,
    DeletionFile,
    DifferenceSplit,
    LayeredSplit,
    RetractedSplit,
    Split,
)
from paimon_explore.scan.splits.key_range_sections import by_age, key_ranks, sections, sorted_runs
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.encoding.deletion_vector import DeletionVector
    from paimon_explore.read.data_evolution import ColumnFile
    from paimon_explore.scan.pruning.file_index_filter import IndexedRows

INDEX_SUFFIX = ".index"
_MERGED_ROWS = 65_536
"""Most rows of a batch that goes into a merge, where several are held."""
BATCH_ROWS = 262_144
_PLAIN_BYTES = 16 << 20
"""Bytes of a batch that goes into no merge: few are held at a time."""
_MOST = 0.5
"""Share of the rows of a batch for which all of it may be held."""
_LATE_ROWS = 65_536
"""Fewer rows than that are read at once, with all their columns."""
_MOST_RUNS = 16
"""No more files are merged as runs of their own, for of each some batches are held."""
_CHOOSING = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReader:
    """Reads splits of one table into the wanted columns.

    Attributes:
        store: of the main branch; other branches are reached through it.
        schema: the reading schema.
        options: of the table, with dynamic ones on top.
        columns: wanted columns in result order.
        predicate: bound to the reading schema; only rows of which it is true are given.
        batch_rows: no batch is longer; those of wide rows are shorter, by their bytes.
        system_columns: also wanted, after the columns, in this order: row kinds and sequence
            numbers, with which retracted rows are given too.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    columns: tuple[str, ...]
    predicate: Expression = TRUE
    batch_rows: int = BATCH_ROWS
    system_columns: tuple[SystemColumn, ...] = ()
    _schemas: dict[tuple[str, int], TableSchema] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The wanted columns, then those that only the predicate reads."""
        read = names_of(self.predicate) - set(self.columns)
        names = (*self.columns, *(n for n in self.schema.row_type.names if n in read))
        return self.schema.project(names).fields

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The split's rows.

        Yields:
            Batches of the wanted columns in their Arrow types and the wanted system columns, none
            empty.

        Raises:
            FormatError: a data or index file breaks the format.
            MissingFileError: a file is gone.
            UnsupportedFeatureError: a file format or feature that is not read.
        """
        if isinstance(split, LayeredSplit):
            return self._tested(split, self._layered(split))
        if isinstance(split, RetractedSplit):
            return self._gone(split)
        if isinstance(split, DifferenceSplit):
            return self._changed(split)
        return self._raw(split) if split.raw_convertible else self._merged(split, self.spec)

    def _tested(self, split: Split, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of rows with `fields` those of which the predicate is true, with the wanted columns."""
        if self._has_char_partition:
            batches = (self._in_partition(batch, split.partition) for batch in batches)
        return filter_batches(batches, self)

    @property
    def _has_char_partition(self) -> bool:
        """Whether files may hold a partition's values in another form: padded, as CHAR in ORC."""
        keys = self.schema.partition_keys
        return bool(keys) and any(
            is_root(field.type, TypeRoot.CHAR) for field in self.fields if field.name in keys
        )

    def _raw(self, split: DataSplit) -> Iterator[pa.RecordBatch]:
        if split.same_rows:
            for group in _groups(split.same_rows):
                yield from self._same_rows(split, group)
            return
        for row in range(len(split.files)):
            yield from self._plain_file(split, row)

    def _same_rows(self, split: DataSplit, rows: list[int]) -> Iterator[pa.RecordBatch]:
        """The rows of files that hold different columns of them."""
        if len(rows) == 1:
            return self._plain_file(split, rows[0])
        from paimon_explore.read.data_evolution import merge_columns  # noqa: PLC0415 - data evolution

        files = [SplitFile(split=split, row=row, reader=self).columns() for row in rows]
        return self._tested(split, merge_columns(files, self.fields, self.system_columns))

    def _plain_file(self, split: DataSplit, row: int) -> Iterator[pa.RecordBatch]:
        """A file whose rows are the table's rows: any predicate may skip in it."""
        file = SplitFile(split=split, row=row, reader=self)
        indexed = file.indexed_rows(self.predicate)
        if indexed is not None and indexed.skip:
            return iter(())
        fields, wanted = self.fields, len(self.columns)
        request = ReadRequest(
            fields=fields[:wanted],
            tested=fields[wanted:],
            system_columns=self.system_columns,
            deleted=file.deleted(),
            selection=None if indexed is None else indexed.positions,
            predicate=None if self.predicate == TRUE else self.predicate,
            batch_rows=self.batch_rows,
            batch_bytes=_PLAIN_BYTES,
        )
        if not self._has_char_partition:
            return read_data_file(file.source(), request)
        request = replace(request, fields=fields, tested=None)
        return self._tested(split, read_data_file(file.source(), request))

    @property
    def spec(self) -> MergeSpec:
        """The merge of the table, for the wanted columns."""
        return merge_spec(self.schema_in_force, [wanted.name for wanted in self.fields])

    def _layered(self, split: LayeredSplit) -> Iterator[pa.RecordBatch]:
        """Layers merged each by itself, then over each other, all with one partition's values."""
        spec = self.spec
        whole = replace(
            self,
            columns=needed_columns(spec),
            predicate=TRUE,
            system_columns=(SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND),
        )
        layers = [
            (with_sequence(batch, age) for batch in whole.read(layer))
            for age, layer in enumerate(split.layers)
        ]
        merged = merge_runs(layers, spec, keep_retracts=bool(self.system_columns))
        return (self._in_partition(batch, split.partition) for batch in merged)

    def _gone(self, split: RetractedSplit) -> Iterator[pa.RecordBatch]:
        """The rows that were there, as -D; none for who does not ask for row kinds."""
        if SystemColumn.VALUE_KIND not in self.system_columns:
            return
        for batch in self._merged(split.of, self.spec):
            at = batch.schema.get_field_index(SystemColumn.VALUE_KIND)
            kinds = ints_of(batch.column(at)).astype(np.int8, copy=False)
            rows = batch.filter(mask_array(~is_retract(kinds)))
            if not rows.num_rows:
                continue
            gone = int8_array(np.full(rows.num_rows, RowKind.DELETE, np.int8))
            yield rows.set_column(at, rows.schema.field(at), gone)

    def _changed(self, split: DifferenceSplit) -> Iterator[pa.RecordBatch]:
        """The rows that differ between two states; retracted ones only for who asks for kinds."""
        from paimon_explore.read.snapshot_diff import changed_rows  # noqa: PLC0415 - there are two

        whole = replace(self, columns=self.schema.row_type.names, system_columns=())
        before, after = (whole.table_of(splits) for splits in (split.before, split.after))
        found = changed_rows(before, after, split.keys)
        if not self.system_columns:
            kinds = ints_of(column(found, SystemColumn.VALUE_KIND)).astype(np.int8, copy=False)
            found = found.filter(mask_array(~is_retract(kinds)))
        for batch in found.combine_chunks().to_batches(max_chunksize=self.batch_rows):
            if batch.num_rows:
                yield batch.select([*self.columns, *self.system_columns])

    def table_of(self, splits: Iterable[Split]) -> pa.Table:
        """The rows of splits, all at once."""
        batches = [batch for split in splits for batch in self.read(split)]
        return pa.Table.from_batches(
            batches, schema=arrow_schema(self.schema.project(self.columns))
        )

    def _in_partition(self, batch: pa.RecordBatch, partition: bytes) -> pa.RecordBatch:
        """The batch with the values of a partition in the partition columns."""
        row_type = self.schema.partition_type
        values = decode_rows(
            byte_array([partition]),
            [wanted.type for wanted in row_type],
            where="_PARTITION",
        )
        for wanted, value in zip(row_type, values, strict=True):
            at = batch.schema.get_field_index(wanted.name)
            if at >= 0:
                column = take_rows(value, np.zeros(batch.num_rows, np.int64))
                batch = batch.set_column(at, batch.schema.field(at), column)
        return batch

    def _merged(self, split: DataSplit, spec: MergeSpec) -> Iterator[pa.RecordBatch]:
        keys = self.schema.project(self.schema.trimmed_primary_keys)
        lows, highs = key_ranks(split.files, keys)
        newest = numbers(split.files.table, "max_sequence_number")
        for section in sections(lows, highs):
            runs = by_age(sorted_runs(section, lows, highs), newest)
            if len(runs) == 1 and not _retracts(split, runs[0]):
                for row in runs[0]:
                    yield from self._plain_file(split, row)
            else:
                yield from self._tested(split, self._merge_section(split, runs, spec))

    def _merge_section(
        self, split: DataSplit, runs: list[list[int]], spec: MergeSpec
    ) -> Iterator[pa.RecordBatch]:
        keep = bool(self.system_columns)
        if self._has_complete_rows(split, runs):
            tagged = [self._run(split, run, spec, with_sequence=True, level=True) for run in runs]
            return merge_complete_runs(tagged, spec, keep_retracts=keep)
        ordered = not keep and not spec.sequence_fields
        if ordered:
            runs, ordered = in_order(split, runs)
        if not keep and (deciding := self._deciding(split, runs, spec)):
            from paimon_explore.read.row_selection import LateMerge, read_chosen  # noqa: PLC0415 - large

            late = LateMerge(spec=spec, fields=self.fields, deciding=deciding, by_run_order=ordered)
            files = [
                list(self._files(split, run, deciding, with_sequence=not ordered)) for run in runs
            ]
            return read_chosen(files, late)
        streams = [self._run(split, run, spec, with_sequence=not ordered) for run in runs]
        return merge_runs(streams, spec, keep_retracts=keep, by_run_order=ordered, key_order=keep)

    def _deciding(
        self, split: DataSplit, runs: list[list[int]], spec: MergeSpec
    ) -> tuple[DataField, ...]:
        """The columns to read first, of enough rows for that to pay; none: all at once."""
        names = deciding_columns(spec)
        rows = numbers(split.files.table, "row_count")
        if names is None or sum(int(rows[run].sum()) for run in runs) < _LATE_ROWS:
            return ()
        if not all(data_file_name(split.paths[at]).is_by_column for run in runs for at in run):
            return ()
        return self.schema.project(names).fields

    def _has_complete_rows(self, split: DataSplit, runs: list[list[int]]) -> bool:
        """Whether rows above level 0 stand for others that a computing merge must not see."""
        if self.options.value(MERGE_ENGINE) in _CHOOSING or not needs_lookup(self.options):
            return False
        levels = numbers(split.files.table, "level")
        return len({int(levels[row]) for run in runs for row in run} - {0}) > 1

    def _run(
        self,
        split: DataSplit,
        run: list[int],
        spec: MergeSpec,
        *,
        with_sequence: bool,
        level: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of one sorted run, file by file; with their level if asked."""
        fields = self.schema.project(needed_columns(spec)).fields
        files = self._files(split, run, fields, with_sequence=with_sequence)
        for row, (source, request) in zip(run, files, strict=True):
            batches = read_data_file(source, request)
            if level:
                file = SplitFile(split=split, row=row, reader=self)
                yield from (_with_level(batch, file) for batch in batches)
            else:
                yield from batches

    def _files(
        self,
        split: DataSplit,
        run: list[int],
        fields: tuple[DataField, ...],
        *,
        with_sequence: bool,
    ) -> Iterator[tuple[DataFileSource, ReadRequest]]:
        """The files of one sorted run, and how they are read for a merge."""
        system = (SystemColumn.SEQUENCE_NUMBER,) if with_sequence else ()
        if self.system_columns or _retracts(split, run):
            system = (*system, SystemColumn.VALUE_KIND)
        on_keys = split_predicate(self.predicate, self.schema.trimmed_primary_keys).pushed
        for row in run:
            file = SplitFile(split=split, row=row, reader=self)
            request = ReadRequest(
                fields=fields,
                system_columns=system,
                from_keys=True,
                deleted=file.deleted(),
                predicate=None if on_keys == TRUE else on_keys,
                batch_rows=min(self.batch_rows, _MERGED_ROWS),
                kinds_if_any=not self.system_columns,
            )
            yield file.source(), request

    @property
    def schema_in_force(self) -> TableSchema:
        """The reading schema with dynamic options in it."""
        return replace(self.schema, options=dict(self.options))

    def schema_of(self, branch: str, schema_id: int) -> TableSchema:
        """The schema a file was written with."""
        if (branch, schema_id) not in self._schemas:
            found = self.store.for_branch(branch).schemas.load(schema_id)
            self._schemas[branch, schema_id] = found
        return self._schemas[branch, schema_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFile:
    """One file of a split, and what its manifest entry says."""

    split: DataSplit
    row: int
    reader: SplitReader

    def value(self, column: str) -> object:
        """A column of the manifest entry."""
        return self._cell(column).as_py()

    def _cell(self, column: str) -> "pa.Scalar[pa.DataType]":
        values = self.split.source.entries.table.column(column)
        found: pa.Scalar[pa.DataType] = values[self.split.start + self.row]
        return found

    @property
    def path(self) -> str:
        """Where it lies."""
        return str(self.split.source.paths[self.split.start + self.row].as_py())

    def source(self) -> DataFileSource:
        """What the data file reader has to know."""
        written = self._cell("write_cols").as_py()
        level_0 = self._cell("level").as_py() == 0
        newest = self._cell("max_sequence_number").as_py()
        stamped = level_0 and self.reader.options.value(SEQUENCE_SNAPSHOT_ORDERING)
        return DataFileSource(
            file_io=self.reader.store.file_io,
            path=self.path,
            schema=self.reader.schema_of(self.split.branch, self._cell("schema_id").as_py()),
            size=self._cell("file_size").as_py(),
            write_cols=None if written is None else tuple(written),
            first_row_id=self._cell("first_row_id").as_py(),
            max_sequence_number=newest,
            sequence_number=newest if stamped else None,
        )

    def deleted(self) -> "DeletionVector | None":
        """Positions that its deletion vector deletes."""
        name = self._cell("file_name").as_py()
        found = self.split.deletion_files.get(name)
        return None if found is None else load_vector(self.reader.store.file_io, found)

    def columns(self) -> "ColumnFile":
        """The file as one that holds some columns of its rows."""
        from paimon_explore.read.data_evolution import ColumnFile  # noqa: PLC0415 - data evolution

        source = self.source()
        return ColumnFile(
            first=self._cell("first_row_id").as_py(),
            row_count=self._cell("row_count").as_py(),
            newest=self._cell("max_sequence_number").as_py(),
            schema=source.schema,
            write_cols=source.write_cols,
            read=lambda fields: read_data_file(source, ReadRequest(fields=fields)),
        )

    def indexed_rows(self, predicate: Expression) -> "IndexedRows | None":
        """The rows that its file index leaves for a predicate; None if none tells."""
        if predicate == TRUE or not self.reader.options.value(FILE_INDEX_READ_ENABLED):
            return None
        index = self._index()
        if index is None:
            return None
        from paimon_explore.scan.pruning.file_index_filter import indexed_rows  # noqa: PLC0415 - there is one

        written = self.source().schema.row_type
        same: dict[DataField, str] = {}
        for wanted in self.reader.schema.fields:
            source = written.field_by_id(wanted.id)
            if source is not None and _same_type(source, wanted):
                same[wanted] = source.name
        return indexed_rows(
            predicate,
            index,
            RowType(fields=tuple(same)),
            self._cell("row_count").as_py(),
            {wanted.name: name for wanted, name in same.items()},
        )

    def is_skipped(self, predicate: Expression) -> bool:
        """Whether its file index says that no row can match."""
        indexed = self.indexed_rows(predicate)
        return indexed is not None and indexed.skip

    def _index(self) -> bytes | None:
        """The file index: in the manifest entry, or in a file beside the data file."""
        embedded: bytes | None = self._cell("embedded_file_index").as_py()
        if embedded is not None:
            return embedded
        extra = self._cell("extra_files").as_py()
        name = next((n for n in extra if n.endswith(INDEX_SUFFIX)), None)
        if name is None:
            return None
        return self.reader.store.file_io.read(file_in(parent(self.path), name))


def _same_type(source: DataField, wanted: DataField) -> bool:
    return with_nullable(source.type, nullable=True) == with_nullable(wanted.type, nullable=True)


def load_vector(file_io: FileIO, found: DeletionFile) -> "DeletionVector":
    """A deletion vector from its index file.

    Raises:
        CorruptFileError: it breaks its layout.
        MissingFileError: the index file is gone.
    """
    from paimon_explore.encoding.deletion_vector import (  # noqa: PLC0415 - there is one
        FRAME_BYTES,
        decode_vector,
    )

    record = file_io.read_range(found.path, found.offset, found.length + FRAME_BYTES)
    return decode_vector(record, found.length, path=found.path, cardinality=found.cardinality)


def filter_batches(
    batches: Iterator[pa.RecordBatch], reader: SplitReader
) -> Iterator[pa.RecordBatch]:
    """Only rows of which the reader's predicate is true, only the wanted columns."""
    names = [*reader.columns, *reader.system_columns]
    if reader.predicate != TRUE:
        return _matching(batches, reader, names)
    return (batch.select(names) for batch in batches if batch.num_rows)


def _matching(
    batches: Iterator[pa.RecordBatch], reader: SplitReader, names: list[str]
) -> Iterator[pa.RecordBatch]:
    from paimon_explore.scan.predicate.evaluator import evaluate  # noqa: PLC0415 - there is a predicate

    row_type = reader.schema.row_type
    for batch in batches:
        truth: pa.BooleanArray = evaluate(reader.predicate, batch, row_type)  # type: ignore[assignment]  # of a batch, an array
        count = truth.true_count
        if count:
            # wide batches lose their columns first; one without columns would lose its rows
            kept = _true_rows(batch.select(names) if names else batch, truth, count)
            yield kept.select(names)


def _true_rows(batch: pa.RecordBatch, truth: pa.BooleanArray, count: int) -> pa.RecordBatch:
    """The rows of which it is true; without a copy where they are most and lie together."""
    if count > batch.num_rows * _MOST:
        first = int(np.argmax(bool_values(truth) & valid_mask(truth)))
        if truth.slice(first, count).true_count == count:
            return batch.slice(first, count)
    return batch.filter(truth)


def runs_in_order(split: DataSplit, runs: list[list[int]]) -> bool:
    """Whether every record of a run is newer than all records of the runs before it."""
    lows = numbers(split.files.table, "min_sequence_number")
    highs = numbers(split.files.table, "max_sequence_number")
    return all(highs[old].max() < lows[new].min() for old, new in pairwise(runs))


def in_order(split: DataSplit, runs: list[list[int]]) -> tuple[list[list[int]], bool]:
    """The runs, and whether they are in order; single files where only these are.

    Writes whose key ranges move on, each meeting only the one before, make few runs out of many
    files: the first run then holds the oldest and the newest.
    """
    if runs_in_order(split, runs):
        return runs, True
    newest = numbers(split.files.table, "max_sequence_number")
    files = by_age([[row] for run in runs for row in run], newest)
    found = len(files) <= _MOST_RUNS and runs_in_order(split, files)
    return (files, True) if found else (runs, False)


def _retracts(split: DataSplit, run: list[int]) -> bool:
    """Whether the files of a run may hold -U or -D records.

    An unknown count says yes. So does level 0, whatever the count: pypaimon 2.1 states 0 for files
    that hold deletes.
    """
    counts = split.files.table.column("delete_row_count")
    levels = split.files.table.column("level")
    return any(counts[row].as_py() != 0 or levels[row].as_py() == 0 for row in run)


def _with_level(batch: pa.RecordBatch, file: SplitFile) -> pa.RecordBatch:
    """The batch with the level of its file."""
    level = numbers(file.split.files.table, "level")[file.row]
    column = row_array(np.full(batch.num_rows, level))
    return batch.append_column(pa.field(LEVEL, pa.int64(), nullable=False), column)


def _groups(numbers: tuple[int, ...]) -> list[list[int]]:
    """Places of equal numbers, which stand together."""
    groups = groupby(range(len(numbers)), key=numbers.__getitem__)
    return [list(places) for _, places in groups]


def with_sequence(batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
    """The batch with one sequence number for all rows."""
    at = batch.schema.get_field_index(SystemColumn.SEQUENCE_NUMBER)
    column = row_array(np.full(batch.num_rows, number))
    return batch.set_column(at, batch.schema.field(at), column)
