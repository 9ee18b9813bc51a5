"""Reader of splits: raw reads and merge on read.

Raw splits are read file by file. Others are divided into sections of overlapping key ranges; the
files of each section are grouped into sorted runs and merged in one streaming pass. Columns that
follow from the manifest are not read: `_VALUE_KIND` if there are no retractions, `_SEQUENCE_NUMBER`
if every run is newer than the one before.

A predicate is evaluated on the rows of raw files and on merged rows. Before a merge only its part
on key columns may skip rows, since an older version of a row must not reappear.
Spec: primary-key-table, merge read; concepts/spec/tableindex.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType, TypeRoot
from paimon_explore.data_types.traversal import check_known_types, is_root
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.first_rows import FirstBound
from paimon_explore.merge.key_records import RowKind, is_retract
from paimon_explore.merge.merge_spec import MergeSpec, deciding_columns, merge_spec, needed_columns
from paimon_explore.merge.numpy_columns import int8_array, ints_of, mask_array
from paimon_explore.merge.section_merge import Task, tied_groups
from paimon_explore.merge.sort_merge import key_sections, merge_runs
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    BLOB_AS_DESCRIPTOR,
    FILE_INDEX_READ_ENABLED,
    MERGE_ENGINE,
    SEQUENCE_SNAPSHOT_ORDERING,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET, file_index_path
from paimon_explore.read import readable_columns
from paimon_explore.read.batch_filter import filter_batches, in_partition
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
    with_number,
)
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.files_ahead import FilesAhead
from paimon_explore.read.format_reader_registry import data_file_name
from paimon_explore.read.run_order import (
    MAX_LATE_RUNS,
    MAX_RUNS,
    has_many_rows,
    in_order,
    may_retract,
    newest_records,
    runs_may_tie,
    selects_one_key,
)
from paimon_explore.scan.chains import file_schema
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import (
    BucketRange,
    DataSplit,
    DifferenceSplit,
    LayeredSplit,
    RetractedSplit,
    Split,
)
from paimon_explore.scan.splits.key_range_sections import key_ranks, runs_of_read, sections
from paimon_explore.scan.splits.row_id_ranges import grouped_indices
from paimon_explore.store.table_store import StoredTable

if TYPE_CHECKING:
    from pyroaring import BitMap

    from paimon_explore.encoding.deletion_vector import DeletionVector
    from paimon_explore.encoding.variant.paths import VariantPath
    from paimon_explore.read.data_evolution import ColumnFile, RowIdRange
    from paimon_explore.scan.predicate.variants.path_needs import VariantPaths
    from paimon_explore.scan.pruning.file_index_filter import IndexedRows

_Split = TypeVar("_Split", bound=Split)
_MERGED_ROWS = 65_536
"""Maximum rows of a batch for a merge, which keeps several batches in memory."""
BATCH_ROWS = 262_144
_PLAIN_BYTES = 16 << 20
"""Maximum bytes of a batch that is not merged."""
_SELECTING = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReader:
    """Reads splits of one table.

    Attributes:
        target: the table.
        columns: the columns to read, in result order.
        predicate: bound to the reading schema; only rows for which it is true are returned.
        batch_rows: maximum rows of a batch; batches of wide rows are shorter.
        system_columns: row kinds and sequence numbers, appended after the columns in this order;
            if given, retracted rows are also returned.
        use_threads: decode the columns of one batch in parallel.
        unrestricted: read all rows: the caller applies the rules of the catalog, or shows no rows.
        as_stored: return BLOBs as stored, to write them again: descriptors, not the contents.
        variant_paths: the paths at which VARIANT columns are needed, by name; what is at other
            paths may be missing from their values. Other columns are needed as a whole.
        first: other rows than the first ones, by one of the columns, may be left out.
    """

    target: StoredTable
    columns: tuple[str, ...]
    predicate: Expression = TRUE
    batch_rows: int = BATCH_ROWS
    system_columns: tuple[SystemColumn, ...] = ()
    use_threads: bool = True
    unrestricted: bool = False
    as_stored: bool = False
    variant_paths: "Mapping[str, tuple[VariantPath, ...]]" = field(default_factory=dict)
    first: FirstBound | None = None
    _schemas: dict[tuple[str, int], TableSchema] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        """Check the columns; see `check_readable_columns`."""
        schema = self.target.schema
        self._schemas.setdefault((self.target.store.paths.branch, schema.id), schema)
        keys = schema.project([*schema.partition_keys, *schema.primary_keys])
        check_known_types([*self.fields, *keys.fields], "reading")
        if not self.unrestricted:
            names = [field.name for field in self.fields]
            readable_columns.check_readable_columns(
                self.target.store, names, schema.options, self.target.options
            )

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns to read, then those that only the predicate reads."""
        read = names_of(self.predicate) - set(self.columns)
        names = (*self.columns, *(n for n in self.target.schema.row_type.names if n in read))
        return self.target.schema.project(names).fields

    @property
    def needed_paths(self) -> "VariantPaths":
        """The paths of the VARIANT columns that are not needed as a whole."""
        fields = self.fields
        if not any(is_root(field.type, TypeRoot.VARIANT) for field in fields):
            return ()
        from paimon_explore.scan.predicate.variants.path_needs import needed_paths  # noqa: PLC0415 - there is one

        hidden = {field.name: () for field in fields[len(self.columns) :]}
        return needed_paths(fields, {**hidden, **self.variant_paths}, self.predicate)

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Reads the rows of a split.

        Yields:
            Batches of the columns in their Arrow types and the system columns, none empty.

        Raises:
            FormatError: a data or index file breaks the format.
            MissingFileError: a file does not exist.
            UnsupportedFeatureError: a file format or feature that is not supported.
        """
        return self.read_each([split])

    def read_each(self, splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
        """Reads the rows of splits, in order; see `read`. Files of stores are requested ahead."""
        return chain.from_iterable(batches for _, batches in self.by_split(splits))

    def by_split(
        self, splits: Sequence[_Split]
    ) -> Iterator[tuple[_Split, Iterator[pa.RecordBatch]]]:
        """Reads splits as `read_each` does; yields each split with its batches."""
        with self.files_ahead.of_splits(splits):
            for split in splits:
                found = self._stored(split)  # rows that differ are compared by their contents
                yield split, found if type(split) is DifferenceSplit else self.with_contents(found)

    @property
    def files_ahead(self) -> FilesAhead:
        """Requests of the files that are read later."""
        return FilesAhead(
            store=self.target.store,
            schema=self.target.schema,
            columns=(*(field.name for field in self.fields), *self.system_columns),
            has_filter=self.predicate != TRUE,
            schemas=self._schemas,
        )

    def with_contents(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Replaces stored descriptors of BLOBs by their contents."""
        if self.as_stored:
            return batches
        return readable_columns.with_contents(
            batches, self.columns, self.target.schema, self.target.options, self.target.store
        )

    def _stored(self, split: Split) -> Iterator[pa.RecordBatch]:
        if isinstance(split, LayeredSplit):
            return self.filtered(self._layered(split))
        if isinstance(split, RetractedSplit):
            return self._retracted(split)
        if isinstance(split, DifferenceSplit):
            return self._difference(split)
        return self._raw(split) if split.raw_convertible else self._merged(split, self.spec)

    def filtered(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Filters rows with `fields` by the predicate and selects the columns."""
        names = [*self.columns, *self.system_columns]
        return filter_batches(batches, self.predicate, self.target.schema.row_type, names)

    def _raw(self, split: DataSplit) -> Iterator[pa.RecordBatch]:
        if split.same_rows:
            for group in grouped_indices(split.same_rows):
                yield from self._same_rows(split, group)
            return
        for row in range(split.count):
            yield from self.plain_file(split, row)

    def _same_rows(self, split: DataSplit, rows: list[int]) -> Iterator[pa.RecordBatch]:
        """Reads files with different columns of the same rows."""
        if len(rows) == 1:
            return self.plain_file(split, rows[0])
        from paimon_explore.read.data_evolution import (  # noqa: PLC0415 - data evolution
            merge_columns,
            remaining_row_ids,
        )

        files = [SplitFile(split=split, row=row, reader=self) for row in rows]
        row_ids = remaining_row_ids(split.source.row_ids, [file.row_id_range() for file in files])
        as_descriptor = not self.as_stored and self.target.options.value(BLOB_AS_DESCRIPTOR)
        parts = [file.columns(as_descriptor=as_descriptor) for file in files]
        merged = merge_columns(parts, self.fields, self.system_columns, row_ids=row_ids)
        return self.filtered(merged)

    def plain_file(self, split: DataSplit, row: int) -> Iterator[pa.RecordBatch]:
        """Reads a file whose rows are the table's rows, so that any predicate may skip rows."""
        file = SplitFile(split=split, row=row, reader=self)
        indexed = file.indexed_rows(self.predicate)
        if indexed is not None and indexed.skip:
            return iter(())
        fields, wanted = self.fields, len(self.columns)
        request = ReadRequest(
            fields=fields[:wanted],
            filter_fields=fields[wanted:],
            system_columns=self.system_columns,
            deleted=file.deleted(),
            selection=file.selected(indexed),
            predicate=None if self.predicate == TRUE else self.predicate,
            batch_rows=self.batch_rows,
            batch_bytes=_PLAIN_BYTES,
            use_threads=self.use_threads,
            variant_paths=self.needed_paths,
        )
        return read_data_file(file.source(), request)

    @property
    def spec(self) -> MergeSpec:
        """The merge spec of the table for the columns to read."""
        return merge_spec(self.effective_schema, [wanted.name for wanted in self.fields])

    def _layered(self, split: LayeredSplit) -> Iterator[pa.RecordBatch]:
        """Merges each layer, then the layers by key; all rows get the split's partition."""
        spec = self.spec
        whole = replace(
            self,
            columns=needed_columns(spec),
            predicate=self._on_keys,
            system_columns=(SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND),
            as_stored=True,
            variant_paths={},
        )
        layers = [
            (
                with_number(batch, SystemColumn.SEQUENCE_NUMBER, age)
                for batch in whole._layer(layer, split.buckets)  # noqa: SLF001 - of this class
            )
            for age, layer in enumerate(split.layers)
        ]
        merged = merge_runs(layers, spec, keep_retracts=bool(self.system_columns))
        row_type = self.target.schema.partition_type
        return (in_partition(batch, row_type, split.partition) for batch in merged)

    def _retracted(self, split: RetractedSplit) -> Iterator[pa.RecordBatch]:
        """Reads removed rows as -D; no rows if row kinds are not requested."""
        if SystemColumn.VALUE_KIND not in self.system_columns:
            return
        for batch in self._merged(split.of, self.spec):
            at = batch.schema.get_field_index(SystemColumn.VALUE_KIND)
            kinds = ints_of(batch.column(at)).astype(np.int8, copy=False)
            rows = pc.call_function("filter", [batch, mask_array(~is_retract(kinds))])
            if not rows.num_rows:
                continue
            gone = int8_array(np.full(rows.num_rows, RowKind.DELETE, np.int8))
            yield rows.set_column(at, rows.schema.field(at), gone)

    def _difference(self, split: DifferenceSplit) -> Iterator[pa.RecordBatch]:
        """Reads the rows that differ; retracted ones only if system columns are requested."""
        from paimon_explore.read.snapshot_diff import changed_rows  # noqa: PLC0415 - there are two

        names = self.target.schema.row_type.names
        whole = replace(self, columns=names, system_columns=(), variant_paths={})
        before, after = (whole._table_of(one) for one in (split.before, split.after))  # noqa: SLF001 - of this class
        found = changed_rows(before, after, split.keys, retracts=bool(self.system_columns))
        for batch in found.combine_chunks().to_batches(max_chunksize=self.batch_rows):
            if batch.num_rows:
                yield batch.select([*self.columns, *self.system_columns])

    def _table_of(self, splits: Iterable[Split]) -> pa.Table:
        """Reads splits into one table."""
        batches = self.with_contents(chain.from_iterable(map(self._stored, splits)))
        schema = arrow_schema(self.target.schema.project(self.columns))
        return pa.Table.from_batches(batches, schema=schema)

    def _layer(self, split: DataSplit, buckets: BucketRange | None) -> Iterator[pa.RecordBatch]:
        """Merges the files of a layer; postponed records of some buckets in their own order."""
        if split.bucket != POSTPONE_BUCKET:
            return self._stored(split)
        from paimon_explore.read.postponed_records import merged_postponed  # noqa: PLC0415 - rare

        stored = replace(self, system_columns=(SystemColumn.VALUE_KIND,))
        return merged_postponed(stored._raw(split), self.target, self.spec, buckets)  # noqa: SLF001 - of this class

    def _merged(self, split: DataSplit, spec: MergeSpec) -> Iterator[pa.RecordBatch]:
        keys = self.target.schema.project(self.target.schema.trimmed_primary_keys)
        lows, highs = key_ranks(split.files, keys)
        for section in sections(lows, highs):
            runs = runs_of_read(section, lows, highs)
            if len(runs) == 1 and not may_retract(split, runs[0]):
                for row in runs[0]:
                    yield from self.plain_file(split, row)
            else:
                yield from self.filtered(self._merge_section(split, runs, spec))

    def _merge_section(
        self, split: DataSplit, runs: list[list[int]], spec: MergeSpec
    ) -> Iterator[pa.RecordBatch]:
        keep = bool(self.system_columns)
        first = self.first if self.predicate == TRUE else None
        if self._has_complete_rows(split, runs):
            from paimon_explore.merge.lookup_merge_on_read import LEVEL, merge_complete_runs  # noqa: PLC0415 - lookup

            ties, on_keys = self._ties(split, runs)
            tagged = [self._run(split, run, spec, on_keys, level=LEVEL) for run in runs]
            return merge_complete_runs(tagged, spec, keep_retracts=keep, may_tie=ties)
        deciding = () if keep else self._deciding(split, runs, spec, first)
        ordered = not keep and not spec.sequence_fields
        if ordered:
            runs, ordered = in_order(split, runs, MAX_LATE_RUNS if deciding else MAX_RUNS)
        keys = self.target.schema.project(spec.keys).fields
        if ordered and selects_one_key(self._on_keys, keys, spec):
            streams = [
                self._run(split, run, spec, self._on_keys, with_sequence=False) for run in runs
            ]
            return merge_runs([newest_records(streams)], spec, by_run_order=True)
        ties, on_keys = (False, self._on_keys) if ordered else self._ties(split, runs)
        if deciding:
            from paimon_explore.read.row_selection import LateMerge, read_selected_rows  # noqa: PLC0415 - large

            late = LateMerge(
                spec=spec,
                fields=self.fields,
                deciding=deciding,
                by_run_order=ordered,
                may_tie=ties,
                first=first,
            )
            files = [
                list(self._files(split, run, deciding, on_keys, with_sequence=not ordered))
                for run in runs
            ]
            return read_selected_rows(files, late)
        streams = [self._run(split, run, spec, on_keys, with_sequence=not ordered) for run in runs]
        return merge_runs(
            streams, spec, keep_retracts=keep, by_run_order=ordered, may_tie=ties, key_order=keep
        )

    def _ties(self, split: DataSplit, runs: list[list[int]]) -> tuple[bool, Expression]:
        """Whether records may be tied, and the condition on keys by which a merge skips rows.

        The order of tied records depends on those of other keys, so if there are any among the
        wanted keys, all keys are merged.
        """
        on_keys = self._on_keys
        if not runs_may_tie(split, runs):
            return False, on_keys
        if on_keys == TRUE:
            return True, on_keys
        spec = merge_spec(self.effective_schema, self.target.schema.trimmed_primary_keys)
        task = Task(spec=spec, functions={})
        found = key_sections([self._run(split, run, spec, on_keys) for run in runs], spec.keys)
        ties = any(tied_groups(one, task)[1].any() for one in found)
        return ties, TRUE if ties else on_keys

    def _deciding(
        self, split: DataSplit, runs: list[list[int]], spec: MergeSpec, first: FirstBound | None
    ) -> tuple[DataField, ...]:
        """The columns to read first; empty if late materialization does not apply or pay off."""
        names = deciding_columns(spec)
        if names is None or not has_many_rows(split, runs, len(spec.columns)):
            return ()
        if not all(data_file_name(split.paths[at]).is_by_column for run in runs for at in run):
            return ()
        also = () if first is None else (first.first.column,)
        return self.target.schema.project(dict.fromkeys((*names, *also))).fields

    def _has_complete_rows(self, split: DataSplit, runs: list[list[int]]) -> bool:
        """Whether rows above level 0 include older ones that an aggregation must not see."""
        if self.target.options.value(MERGE_ENGINE) in _SELECTING or not needs_lookup(
            self.target.options
        ):
            return False
        levels = numbers(split.files.table, "level")[np.concatenate(runs)]
        return len(np.unique(levels[levels > 0])) > 1

    def _run(
        self,
        split: DataSplit,
        run: list[int],
        spec: MergeSpec,
        on_keys: Expression,
        *,
        with_sequence: bool = True,
        level: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Reads the rows of one sorted run, file by file, optionally with a column of levels."""
        fields = self.target.schema.project(needed_columns(spec)).fields
        files = self._files(split, run, fields, on_keys, with_sequence=with_sequence)
        for row, (source, request) in zip(run, files, strict=True):
            batches = read_data_file(source, request)
            if level is not None:
                number = int(numbers(split.files.table, "level")[row])
                batches = (with_number(batch, level, number) for batch in batches)
            yield from batches

    def _files(
        self,
        split: DataSplit,
        run: list[int],
        fields: tuple[DataField, ...],
        on_keys: Expression,
        *,
        with_sequence: bool,
    ) -> Iterator[tuple[DataFileSource, ReadRequest]]:
        """The files of one sorted run, with the request to read them for a merge."""
        system = (SystemColumn.SEQUENCE_NUMBER,) if with_sequence else ()
        if self.system_columns or may_retract(split, run):
            system = (*system, SystemColumn.VALUE_KIND)
        selects = self.target.options.value(MERGE_ENGINE) in _SELECTING
        paths = self.needed_paths if selects else ()  # other engines merge the values
        for row in run:
            file = SplitFile(split=split, row=row, reader=self)
            request = ReadRequest(
                fields=fields,
                system_columns=system,
                from_keys=True,
                deleted=file.deleted(),
                predicate=None if on_keys == TRUE else on_keys,
                batch_rows=min(self.batch_rows, _MERGED_ROWS),
                omit_insert_kinds=not self.system_columns,
                use_threads=self.use_threads,
                variant_paths=paths,
            )
            yield file.source(), request

    @property
    def _on_keys(self) -> Expression:
        """The part of the predicate on key columns, which may skip records before a merge."""
        return split_predicate(self.predicate, self.target.schema.trimmed_primary_keys).pushed

    @property
    def effective_schema(self) -> TableSchema:
        """The reading schema, including dynamic options."""
        return replace(self.target.schema, options=dict(self.target.options))

    def schema_of(self, branch: str, schema_id: int) -> TableSchema:
        """The schema that a file was written with."""
        if (branch, schema_id) not in self._schemas:
            found = file_schema(self.target.schema, self.target.store, branch, schema_id)
            self._schemas[branch, schema_id] = found
        return self._schemas[branch, schema_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFile:
    """A file of a split with its manifest entry."""

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
        """The path of the file."""
        return str(self.split.source.paths[self.split.start + self.row].as_py())

    def source(self) -> DataFileSource:
        """The file as input of the data file reader."""
        written = self._cell("write_cols").as_py()
        is_written = self._cell("file_source").as_py() == FileSource.APPEND
        newest = self._cell("max_sequence_number").as_py()
        stamped = is_written and self.reader.target.options.value(SEQUENCE_SNAPSHOT_ORDERING)
        return DataFileSource(
            file_io=self.reader.target.store.file_io,
            path=self.path,
            schema=self.reader.schema_of(self.split.branch, self._cell("schema_id").as_py()),
            size=self._cell("file_size").as_py(),
            write_cols=None if written is None else tuple(written),
            first_row_id=self._cell("first_row_id").as_py(),
            max_sequence_number=newest,
            sequence_number=newest if stamped else None,
            partition=self._cell("partition").as_py(),
        )

    def deleted(self) -> "DeletionVector | None":
        """The deletion vector of the file; None if it has none."""
        found = self.split.source.vectors[self.split.start + self.row]
        return None if found is None else load_vector(self.reader.target.store.file_io, found)

    def selected(self, indexed: "IndexedRows | None") -> "BitMap | None":
        """The only positions to read by indexes of the table and the file; None for all."""
        found = None if indexed is None else indexed.positions
        if (source := self.split.source).row_ids is None and source.positions is None:
            return found
        from paimon_explore.read.data_evolution import selected_positions  # noqa: PLC0415 - an index

        row = (self._cell(name).as_py() for name in ("file_name", "first_row_id", "row_count"))
        return selected_positions(source, found, *row)

    def row_id_range(self) -> "RowIdRange":
        """The row ids of the file, with its deletion vector."""
        from paimon_explore.read.data_evolution import RowIdRange  # noqa: PLC0415 - data evolution

        rows = self._cell("first_row_id").as_py(), self._cell("row_count").as_py()
        return RowIdRange(*rows, self.deleted())

    def columns(self, *, as_descriptor: bool = False) -> "ColumnFile":
        """The file as input for merging columns; see `column_file` (data evolution)."""
        from paimon_explore.read.data_evolution import column_file  # noqa: PLC0415 - data evolution

        source = replace(self.source(), as_descriptor=as_descriptor)
        return column_file(source, self._cell("row_count").as_py())

    def indexed_rows(self, predicate: Expression) -> "IndexedRows | None":
        """Evaluates a predicate on the file index; None if there is no index."""
        if predicate == TRUE or not self.reader.target.options.value(FILE_INDEX_READ_ENABLED):
            return None
        index = self._index()
        if index is None:
            return None
        from paimon_explore.scan.pruning.file_index_filter import indexed_rows  # noqa: PLC0415 - there is one

        written = self.source().schema.row_type
        trims_chars = data_file_name(self.path).format == "orc"  # the index does not
        same = {
            wanted: source.name
            for wanted in self.reader.target.schema.fields
            if (source := written.field_by_id(wanted.id)) is not None
            and replace(source.type, nullable=True) == replace(wanted.type, nullable=True)
            and not (trims_chars and is_root(wanted.type, TypeRoot.CHAR))
        }
        return indexed_rows(
            predicate,
            index,
            RowType(fields=tuple(same)),
            self._cell("row_count").as_py(),
            {wanted.name: name for wanted, name in same.items()},
            path=file_index_path(self.path, self._cell("extra_files").as_py()) or self.path,
        )

    def is_skipped(self, predicate: Expression) -> bool:
        """Whether no row can match by the file index."""
        indexed = self.indexed_rows(predicate)
        return indexed is not None and indexed.skip

    def _index(self) -> bytes | None:
        """The file index, from the manifest entry or from a file next to the data file."""
        embedded: bytes | None = self._cell("embedded_file_index").as_py()
        if embedded is not None:
            return embedded
        path = file_index_path(self.path, self._cell("extra_files").as_py())
        return None if path is None else self.reader.target.store.file_io.read(path)
