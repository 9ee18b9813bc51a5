"""Reader of one data file of any format into batches of the requested columns.

A data file is described by the schema it was written with (its `_SCHEMA_ID`), restricted to its
`_WRITE_COLS`; the caller requests columns of the reading schema, usually a newer one.

1. `read/schema_evolution.py` finds for each requested field the field with the same id in the
   file's schema, and thus its name in the file and the cast that is needed.
2. The format's reader, from `read/format_reader_registry.py`, decodes only those columns, in the
   file's types, with the physical position of the first row of each batch.
3. `read/deletion_vector_filter.py` drops rows that are deleted or not selected.
4. Values are cast to the requested types, missing columns become nulls, system columns are
   computed.

Positions are always physical: skipping row groups or stripes does not renumber rows.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_fixed,
    fixed_values,
    rows_without_columns,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    Bounded,
    OpenDataFile,
    PositionedBatch,
    Span,
    StoredColumn,
    decode_dictionary,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import DATA_FILE_THIN_MODE, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.deletion_vector_filter import FileRows, Positions, RowFilter, plain_rows
from paimon_explore.read.format_reader_registry import FileToOpen, data_file_name, open_data_file
from paimon_explore.read.schema_evolution import Casting, FieldSource, field_sources
from paimon_explore.scan.predicate.expression import Expression

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

    from paimon_explore.scan.predicate.variants.path_needs import VariantPaths

KEY_PREFIX = "_KEY_"
"""Prefix of the primary-key columns that primary-key tables store besides the value columns."""


class SystemColumn(StrEnum):
    """System columns, by their name in the result."""

    SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
    VALUE_KIND = "_VALUE_KIND"
    ROW_ID = "_ROW_ID"
    POSITION = "_POSITION"


_SYSTEM_FIELDS: Mapping[SystemColumn, "pa.Field[pa.DataType]"] = {
    SystemColumn.SEQUENCE_NUMBER: pa.field("_SEQUENCE_NUMBER", pa.int64()),
    SystemColumn.VALUE_KIND: pa.field("_VALUE_KIND", pa.int8()),
    SystemColumn.ROW_ID: pa.field("_ROW_ID", pa.int64()),
    SystemColumn.POSITION: pa.field("_POSITION", pa.int64()),
}
_SYSTEM_STORED: Mapping[SystemColumn, StoredColumn] = {
    column: StoredColumn(name=column.value, type=AtomicType(root=root))
    for column, root in (
        (SystemColumn.SEQUENCE_NUMBER, TypeRoot.BIGINT),
        (SystemColumn.VALUE_KIND, TypeRoot.TINYINT),
        (SystemColumn.ROW_ID, TypeRoot.BIGINT),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileSource:
    """A data file with the values of its manifest entry.

    Attributes:
        file_io: file system of the file.
        path: of the file; its last extension names the format (`.zst.parquet`, `.json.gz`).
        size: in bytes, if known; saves a request on object stores.
        schema: the table's schema of the entry's `_SCHEMA_ID`.
        write_cols: the entry's `_WRITE_COLS`: the columns in the file, as named in `schema`. None
            for all.
        first_row_id: the entry's `_FIRST_ROW_ID`; row ids that are not stored are this + position.
        max_sequence_number: the entry's; replaces sequence numbers that are not stored (row
            tracking). Without it they are null.
        sequence_number: replaces every stored sequence number (level-0 files of tables with
            `sequence.snapshot-ordering`, where it is the snapshot id of the manifest entry).
        partition: the entry's `_PARTITION`, the values of the partition columns.
        file_format: the format of the file; None if its name says it.
        as_descriptor: read the values of a blob file as descriptors of their place in the file.
    """

    file_io: FileIO
    path: str
    schema: TableSchema
    size: int | None = None
    write_cols: tuple[str, ...] | None = None
    first_row_id: int | None = None
    max_sequence_number: int | None = None
    sequence_number: int | None = None
    partition: bytes | None = None
    file_format: str | None = None
    as_descriptor: bool = False

    @property
    def stored_fields(self) -> tuple[DataField, ...]:
        """The table's columns that the file contains, in file order."""
        if self.write_cols is None:
            return self.schema.fields
        found = (self.schema.field(name) for name in self.write_cols)
        return tuple(field for field in found if field is not None)

    @property
    def stored_columns(self) -> tuple[StoredColumn, ...]:
        """All columns of the file in file order, for formats that do not store column names."""
        values = [StoredColumn(name=field.name, type=field.type) for field in self.stored_fields]
        if not self.schema.primary_keys:
            system = [column for column in SystemColumn if column in (self.write_cols or ())]
            return (*values, *(_SYSTEM_STORED[column] for column in system))
        keys = self.schema.trimmed_primary_keys
        if TableOptions(self.schema.options).value(DATA_FILE_THIN_MODE):
            keys = ()
        types = {column.name: column.type for column in values}
        return (
            *(
                StoredColumn(name=KEY_PREFIX + name, type=types[name])
                for name in keys
                if name in types
            ),
            _SYSTEM_STORED[SystemColumn.SEQUENCE_NUMBER],
            _SYSTEM_STORED[SystemColumn.VALUE_KIND],
            *values,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """The columns and rows to read from a data file.

    Attributes:
        fields: the requested columns in result order, with ids and types of the reading schema.
            Nested ROWs may have a subset of the table's fields. May be empty: batches then have the
            right number of rows and only the system columns.
        system_columns: appended after `fields`, in this order.
        from_keys: read trimmed primary-key columns from `_KEY_<name>` where the file has it (data
            and changelog files of primary-key tables); if False, and in thin files, the value
            column.
        deleted: positions to drop (a deletion vector), if any.
        selection: the only positions to keep (the result of a file index), if any.
        predicate: bound to the reading schema; rows that do not match are skipped where that is
            cheaper than reading them, by row group, stripe, page or row. Other rows may be
            returned, so the caller has to filter.
        filter_fields: the columns besides `fields` that the predicate reads. If given, only rows
            are returned for which it is true. These columns are not in the result, and not read
            where statistics show that all rows match.
        batch_rows: maximum rows of a batch; batches may be shorter, none is empty.
        batch_bytes: approximate maximum decoded size of a batch, if the format supports it.
        omit_insert_kinds: omit `_VALUE_KIND` if by the statistics of the file all records are +I.
        use_threads: decode columns of one batch in parallel.
        variant_paths: the paths of VARIANT columns that are only needed at these paths, by name in
            `fields` and `filter_fields`; what is at other paths may be missing from their values.
        stored_partition: read partition columns from the file if it has them. By default they have
            the values of the partition, as in Java: ORC files store other ones for CHAR (padded)
            and for timestamps of the last second before 1970.
        zone: for conversions between TIMESTAMP_LTZ and wall clock times: if a column's type was
            changed, and in ORC files without a writer time zone; None for the process's zone.
    """

    fields: tuple[DataField, ...]
    system_columns: tuple[SystemColumn, ...] = ()
    from_keys: bool = False
    deleted: "BitMap | BitMap64 | None" = None
    selection: "BitMap | BitMap64 | None" = None
    predicate: Expression | None = None
    filter_fields: tuple[DataField, ...] | None = None
    batch_rows: int = 65_536
    batch_bytes: int = BATCH_BYTES
    omit_insert_kinds: bool = False
    use_threads: bool = True
    variant_paths: "VariantPaths" = ()
    stored_partition: bool = False
    zone: tzinfo | None = None


def result_schema(request: ReadRequest) -> pa.Schema:
    """The schema of the batches that `read_data_file` returns for this request.

    `arrow_field` of each field, then the requested system columns: `_SEQUENCE_NUMBER` int64,
    `_VALUE_KIND` int8, `_ROW_ID` int64, `_POSITION` int64.
    """
    fields = [arrow_field(field) for field in request.fields]
    return pa.schema([*fields, *(_SYSTEM_FIELDS[column] for column in request.system_columns)])


def read_data_file(source: DataFileSource, request: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Reads the requested columns of one data file, in file order.

    Args:
        source: the file.
        request: columns, rows and batch size.

    Yields:
        Batches of `result_schema(request)`: columns in exactly `to_arrow(type)`. `_VALUE_KIND` is 0
        if the file does not store it; `_POSITION` is the row's 0-based position in the file. The
        file is opened at the first step and closed at the end or with the iterator.

    Raises:
        MissingFileError: the file does not exist.
        CorruptFileError: the bytes break the format, or the extension is not a known format.
        UnsupportedFeatureError: a format that is not supported (text, video), or whose optional
            package is not installed (lance, vortex, mosaic).

    Spec: concepts/spec/datafile; schema evolution: concepts/spec/schema.
    """
    with open_rows(source, request) as rows:
        columns = rows.columns(rows.request)
        for kept, positions in rows.kept(columns, rows.request):
            yield columns.result(kept, positions)


@contextmanager
def open_rows(source: DataFileSource, request: ReadRequest) -> Iterator["OpenRows"]:
    """Context manager: opens a data file from which several sets of columns can be read.

    Args:
        source: the file.
        request: the columns and rows to read first.

    Raises:
        MissingFileError: the file does not exist.
        CorruptFileError: the bytes break the format, or the extension is not a known format.
        UnsupportedFeatureError: a format that is not supported (text, video), or whose optional
            package is not installed (lance, vortex, mosaic).
    """
    to_open = FileToOpen(
        file_io=source.file_io,
        path=source.path,
        name=data_file_name(source.path, source.file_format),
        columns=source.stored_columns,
        options=TableOptions(source.schema.options),
        use_threads=request.use_threads,
        batch_bytes=request.batch_bytes,
        zone=request.zone,
        size=source.size,
        as_descriptor=source.as_descriptor,
    )
    with open_data_file(to_open) as opened:
        if request.omit_insert_kinds and _only_inserts(opened):
            wanted = [c for c in request.system_columns if c is not SystemColumn.VALUE_KIND]
            request = replace(request, system_columns=tuple(wanted))
        yield OpenRows(file=opened, source=source, request=request)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRows:
    """An open data file and the first request for it.

    Attributes:
        file: the open file.
        source: the file and its manifest entry.
        request: the first request, without row kinds if they are omitted (`omit_insert_kinds`).
    """

    file: OpenDataFile
    source: DataFileSource
    request: ReadRequest

    @property
    def spans(self) -> Sequence[Span]:
        """The parts of the file that can be skipped, in file order."""
        return self.file.spans

    def columns(self, request: ReadRequest) -> "ResultColumns":
        """Maps the columns of a request to those of the file."""
        return ResultColumns.of(self.source, request, self.file.names)

    def kept(self, columns: "ResultColumns", request: ReadRequest) -> Iterator[FileRows]:
        """Reads the stored columns of the rows that are not dropped."""
        rows = RowFilter.of(request.deleted, request.selection)
        return columns.rows(self.file, rows, request)


def _only_inserts(opened: OpenDataFile) -> bool:
    """Whether all records of a file are +I by its statistics."""
    kinds = _SYSTEM_STORED[SystemColumn.VALUE_KIND]
    if kinds.name not in opened.names:
        return True
    bounds = opened.bounds(kinds) if isinstance(opened, Bounded) else None
    if bounds is None or bounds.minimum.null_count or bounds.maximum.null_count:
        return False
    return not any(fixed_values(side, np.int8).any() for side in (bounds.minimum, bounds.maximum))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumns:
    """The mapping from the columns of a file to those of a result.

    Attributes:
        source: the file.
        casting: parameters of casts.
        schema: of the result.
        sources: per requested field its source and index in `stored`; None if not stored.
        unchanged: per requested field, whether its stored values are those of the result.
        system: the same as `sources` per system column.
        filter_sources: the same per column that only the predicate reads.
        stored: the columns to read; those that only the predicate reads are last.
    """

    source: DataFileSource
    casting: Casting
    schema: pa.Schema
    sources: tuple[tuple[FieldSource, int | None], ...]
    unchanged: tuple[bool, ...]
    system: tuple[tuple[SystemColumn, int | None], ...]
    filter_sources: tuple[tuple[FieldSource, int | None], ...]
    stored: tuple[StoredColumn, ...]

    @classmethod
    def of(
        cls, source: DataFileSource, request: ReadRequest, names: frozenset[str]
    ) -> "ResultColumns":
        """The mapping for a request and a file with columns of these names.

        It is computed once for all files of a schema that are read with the same fields.
        """
        kept = (source.schema, request.fields, request.filter_fields)
        key = (
            *map(id, kept),
            source.write_cols,
            request.system_columns,
            request.from_keys,
            request.variant_paths,
            request.stored_partition,
            names,
        )
        known = _mappings.get(key)
        if known is None:
            made = cls._made(source, request, names)
            if len(_mappings) >= _MAX_MAPPINGS:
                _mappings.clear()
            _mappings[key] = (kept, made)
            return made
        return replace(known[1], source=source, casting=_casting(source, request))

    @classmethod
    def _made(
        cls, source: DataFileSource, request: ReadRequest, names: frozenset[str]
    ) -> "ResultColumns":
        stored: list[StoredColumn] = []

        def add(column: StoredColumn) -> int | None:
            if column.name not in names:
                return None
            stored.append(column)
            return len(stored) - 1

        keys = source.schema.trimmed_primary_keys if request.from_keys else ()
        partition_keys = source.schema.partition_keys
        partition_fields = {field.id: field for field in source.schema.partition_type}
        paths = dict(request.variant_paths)

        def indexed(fields: Sequence[DataField]) -> Iterator[tuple[FieldSource, int | None]]:
            for found in field_sources(fields, source.stored_fields):
                key = partition_fields.get(found.wanted.id)
                if key is not None and not (request.stored_partition and key.name in names):
                    at = partition_keys.index(key.name)
                    yield replace(found, stored=key, partition=at), None
                    continue
                if found.stored is None:
                    yield found, None
                    continue
                name = found.stored.name
                if name in keys and KEY_PREFIX + name in names:
                    name = KEY_PREFIX + name
                wanted = paths.get(found.wanted.name, ())
                yield found, add(StoredColumn(name=name, type=found.stored.type, paths=wanted))

        sources = tuple(indexed(request.fields))
        system = tuple(
            (column, add(_SYSTEM_STORED[column]) if column in _SYSTEM_STORED else None)
            for column in request.system_columns
        )
        return cls(
            source=source,
            casting=_casting(source, request),
            schema=result_schema(request),
            sources=sources,
            unchanged=tuple(at is not None and found.is_unchanged for found, at in sources),
            system=system,
            filter_sources=tuple(indexed(request.filter_fields or ())),
            stored=tuple(stored),
        )

    def rows(
        self, opened: OpenDataFile, rows: RowFilter, request: ReadRequest
    ) -> Iterator[FileRows]:
        """Reads the stored columns of rows that are kept and may match the predicate."""
        if request.predicate is None:
            spans = [i for i, span in enumerate(opened.spans) if rows.may_keep(span)]
            return plain_rows(opened, self.stored, spans, rows, request.batch_rows)
        from paimon_explore.read.file_predicate import FilePredicate  # noqa: PLC0415 - a predicate
        from paimon_explore.read.row_filter import Projection, matching_rows  # noqa: PLC0415 - likewise

        read = (*self.sources, *self.filter_sources)
        predicate = FilePredicate.of(request.predicate, read, self.stored, self.casting)
        projection = Projection(
            stored=self.stored, output=self._output(request), batch_rows=request.batch_rows
        )
        return matching_rows(opened, predicate, projection, rows)

    def _output(self, request: ReadRequest) -> tuple[StoredColumn, ...] | None:
        """The stored columns of the result; None if rows that do not match may be returned."""
        if request.filter_fields is None:
            return None
        hidden = sum(at is not None for _, at in self.filter_sources)
        return self.stored[: len(self.stored) - hidden]

    def result(self, batch: PositionedBatch, positions: Positions | None) -> pa.RecordBatch:
        """Converts a batch of stored columns to the result.

        Args:
            batch: n rows.
            positions: of the rows; None if they are consecutive from `batch.first` on.
        """
        arrays = self.arrays(batch, positions)
        if not arrays:
            return rows_without_columns(batch.rows)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def arrays(self, batch: PositionedBatch, positions: Positions | None) -> list[Column]:
        """Converts a batch of stored columns to the columns of the result; see `result`."""
        stored = batch.columns
        arrays = [
            decode_dictionary(stored[at])  # type: ignore[index]  # an index, as it is stored
            if unchanged
            else source.column(None if at is None else stored[at], batch.rows, self.casting)
            for (source, at), unchanged in zip(self.sources, self.unchanged, strict=True)
        ]
        if self.system:
            if positions is None:
                positions = np.arange(batch.first, batch.first + batch.rows, dtype=np.int64)
            for column, at in self.system:
                values = None if at is None else stored[at]
                arrays.append(self._system_column(column, values, positions))
        return arrays

    def _system_column(
        self, column: SystemColumn, stored: "Column | None", positions: Positions
    ) -> Column:
        rows = len(positions)
        match column:
            case SystemColumn.POSITION:
                return _int64s(positions)
            case SystemColumn.VALUE_KIND:
                return _constant(0, rows).cast(pa.int8()) if stored is None else stored
            case SystemColumn.SEQUENCE_NUMBER:
                if self.source.sequence_number is not None:
                    return _constant(self.source.sequence_number, rows)
                fallback = _constant(self.source.max_sequence_number, rows)
            case SystemColumn.ROW_ID:
                first = self.source.first_row_id
                absent = _constant(None, rows)
                fallback = absent if first is None else _int64s(positions + first)
            case _:
                assert_never(column)
        if stored is None:
            return fallback
        filled: Column = pc.call_function("coalesce", [stored, fallback])
        return filled


_MAX_MAPPINGS = 64
_mappings: dict[Hashable, tuple[object, ResultColumns]] = {}
"""Mappings with the objects whose ids are in their keys, which keep these ids."""


def _casting(source: DataFileSource, request: ReadRequest) -> Casting:
    return Casting(
        path=source.path,
        zone=request.zone,
        partition=source.partition,
        partition_types=tuple(field.type for field in source.schema.partition_type),
    )


def _int64s(values: Positions) -> Column:
    return build_fixed(pa.int64(), values)


def _constant(value: int | None, rows: int) -> Column:
    # not by pa.scalar, which imports pandas
    valid = np.full(rows, value is not None)
    return build_fixed(pa.int64(), np.full(rows, value or 0, dtype=np.int64), valid)


def with_number(batch: pa.RecordBatch, name: str, number: int) -> pa.RecordBatch:
    """Return a batch with one number in all rows of a column, which may be new."""
    values: Column = pa.array(np.full(batch.num_rows, number), pa.int64())
    at = batch.schema.get_field_index(name)
    if at < 0:
        return batch.append_column(pa.field(name, pa.int64(), nullable=False), values)
    return batch.set_column(at, batch.schema.field(at), values)
