"""One data file of any format into batches of the wanted columns.

Theory of operation. A data file is described by the schema it was written with (its `_SCHEMA_ID`),
restricted to its `_WRITE_COLS`; the caller wants columns of a newer or other schema.

1. `read/schema_evolution.py` finds for every wanted field the field of the same id in the file's
   schema, so the *name* under which the file holds it, and what to do with the values afterwards.
2. The format's reader, chosen by `read/format_readers.py`, decodes only those columns, in the
   file's types, together with the physical position of the first row of each batch.
3. `read/deletion_filter.py` drops rows that are deleted or not selected.
4. Values are cast to the wanted types, absent columns become nulls, system columns are computed.

Positions are always physical: skipping row groups or stripes never renumbers rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import Column, build_fixed, fixed_values
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    Bounded,
    OpenDataFile,
    PositionedBatch,
    Span,
    StoredColumn,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import DATA_FILE_THIN_MODE, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.deletion_filter import FileRows, Positions, RowFilter, plain_rows
from paimon_explore.read.format_readers import FileToOpen, data_file_name, open_data_file
from paimon_explore.read.schema_evolution import Casting, FieldSource, field_sources
from paimon_explore.scan.predicate.expression import Expression

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

KEY_PREFIX = "_KEY_"
"""Before the name of a primary-key column whose value is stored apart from the row's."""


class SystemColumn(StrEnum):
    """Columns that are no columns of the table, by their name in the result."""

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
    """A data file and what its manifest entry says about it.

    Attributes:
        file_io: where the file lies.
        path: of the file; its last extension names the format (`.zst.parquet`, `.json.gz`).
        size: in bytes, if known; saves a request on object stores.
        schema: the table's schema of the entry's `_SCHEMA_ID`.
        write_cols: the entry's `_WRITE_COLS`: names, as of `schema`, that the file holds. None is
            all of them.
        first_row_id: the entry's `_FIRST_ROW_ID`; row ids that are not stored are this + position.
        max_sequence_number: the entry's; stands in for sequence numbers that are not stored (row
            tracking). Without it they are null.
        sequence_number: replaces every stored sequence number (level-0 files of tables with
            `sequence.snapshot-ordering`, where it is the snapshot id of the manifest entry).
    """

    file_io: FileIO
    path: str
    schema: TableSchema
    size: int | None = None
    write_cols: tuple[str, ...] | None = None
    first_row_id: int | None = None
    max_sequence_number: int | None = None
    sequence_number: int | None = None

    @property
    def stored_fields(self) -> tuple[DataField, ...]:
        """The table's columns that the file holds, in its order."""
        if self.write_cols is None:
            return self.schema.fields
        found = (self.schema.field(name) for name in self.write_cols)
        return tuple(field for field in found if field is not None)

    @property
    def stored_columns(self) -> tuple[StoredColumn, ...]:
        """What the file holds, in its order: needed where the file itself does not name it."""
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
    """What to read of a data file.

    Attributes:
        fields: the wanted columns in result order, ids and types of the reading schema. Nested ROW
            fields may be a part of what the table has. May be empty: batches then have the right
            number of rows and only the system columns.
        system_columns: appended after `fields`, in this order.
        from_keys: read trimmed primary-key columns from `_KEY_<name>` where the file has it (data
            and changelog files of primary-key tables); thin files and False: the value column.
        deleted: positions to drop (a deletion vector), if any.
        selection: the only positions to keep (a file index's answer), if any.
        predicate: bound to the reading schema; rows that do not match are left out where that is
            cheaper than to read them, as whole row groups, stripes, pages or one by one. Others
            may come, so the caller filters.
        tested: the columns besides `fields` that the predicate reads. If given, only rows come of
            which it is true, and these columns are not in the result: nor are they read where
            statistics say that it is true of all rows.
        batch_rows: no batch is longer; batches may be shorter, none is empty.
        batch_bytes: about what a batch takes at most, decoded, where the format can tell.
        kinds_if_any: leave `_VALUE_KIND` out of the batches of a file by whose statistics all its
            records are +I.
        use_threads: decode columns of one batch in parallel.
        zone: where local-zoned timestamps meet wall clocks: when a column's type was changed, and
            in ORC files that do not name their writer's zone; None for the zone of this process.
    """

    fields: tuple[DataField, ...]
    system_columns: tuple[SystemColumn, ...] = ()
    from_keys: bool = False
    deleted: "BitMap | BitMap64 | None" = None
    selection: "BitMap | BitMap64 | None" = None
    predicate: Expression | None = None
    tested: tuple[DataField, ...] | None = None
    batch_rows: int = 65_536
    batch_bytes: int = BATCH_BYTES
    kinds_if_any: bool = False
    use_threads: bool = True
    zone: tzinfo | None = None


def result_schema(request: ReadRequest) -> pa.Schema:
    """The schema of every batch that `read_data_file` gives for this request.

    `arrow_field` of each wanted field, then `_SEQUENCE_NUMBER` int64, `_VALUE_KIND` int8, `_ROW_ID`
    int64, `_POSITION` int64 as asked for.
    """
    fields = [arrow_field(field) for field in request.fields]
    return pa.schema([*fields, *(_SYSTEM_FIELDS[column] for column in request.system_columns)])


def read_data_file(source: DataFileSource, request: ReadRequest) -> Iterator[pa.RecordBatch]:
    """Read the wanted columns of one data file, in file order.

    Args:
        source: the file.
        request: columns, rows and batch size.

    Yields:
        Batches of `result_schema(request)`: columns in exactly `to_arrow(type)`. `_VALUE_KIND` is 0
        where the file has none; `_POSITION` is the row's 0-based place in the file before any row
        was dropped. The file is opened at the first step, closed at the end or with the iterator.

    Raises:
        MissingFileError: the file is not there.
        CorruptFileError: the bytes break the format, or the extension is none of Paimon's.
        UnsupportedFeatureError: a format that needs an engine (lance, vortex, mosaic, text).

    Spec: concepts/spec/datafile; schema evolution: concepts/spec/schema.
    """
    with open_rows(source, request) as rows:
        columns = rows.columns(rows.request)
        for kept, positions in rows.kept(columns, rows.request):
            yield columns.result(kept, positions)


@contextmanager
def open_rows(source: DataFileSource, request: ReadRequest) -> Iterator["OpenRows"]:
    """A data file from which several sets of columns can be read; closed at the end of the block.

    Args:
        source: the file.
        request: what to read first.

    Raises:
        MissingFileError: the file is not there.
        CorruptFileError: the bytes break the format, or the extension is none of Paimon's.
        UnsupportedFeatureError: a format that needs an engine (lance, vortex, mosaic, text).
    """
    to_open = FileToOpen(
        file_io=source.file_io,
        path=source.path,
        name=data_file_name(source.path),
        columns=source.stored_columns,
        options=TableOptions(source.schema.options),
        use_threads=request.use_threads,
        batch_bytes=request.batch_bytes,
        zone=request.zone,
    )
    with open_data_file(to_open) as opened:
        if request.kinds_if_any and _only_inserts(opened):
            wanted = [c for c in request.system_columns if c is not SystemColumn.VALUE_KIND]
            request = replace(request, system_columns=tuple(wanted))
        yield OpenRows(file=opened, source=source, request=request)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRows:
    """An open data file and what is read of it first.

    Attributes:
        file: open.
        source: what its manifest entry says.
        request: what to read first, without row kinds if only those of the file matter.
    """

    file: OpenDataFile
    source: DataFileSource
    request: ReadRequest

    @property
    def spans(self) -> Sequence[Span]:
        """The parts that can be skipped, in file order."""
        return self.file.spans

    def columns(self, request: ReadRequest) -> "ResultColumns":
        """How the columns of a request come from those of the file."""
        return ResultColumns.of(self.source, request, self.file.names)

    def kept(self, columns: "ResultColumns", request: ReadRequest) -> Iterator[FileRows]:
        """The stored columns of the rows that are not dropped."""
        rows = RowFilter.of(request.deleted, request.selection)
        return columns.rows(self.file, rows, request)


def _only_inserts(opened: OpenDataFile) -> bool:
    """Whether the statistics of a file say that each record's kind is 0."""
    kinds = _SYSTEM_STORED[SystemColumn.VALUE_KIND]
    if kinds.name not in opened.names:
        return True
    bounds = opened.bounds(kinds) if isinstance(opened, Bounded) else None
    if bounds is None or bounds.minimum.null_count or bounds.maximum.null_count:
        return False
    return not any(fixed_values(side, np.int8).any() for side in (bounds.minimum, bounds.maximum))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumns:
    """How the columns of a result come from those of the file.

    Attributes:
        schema: of the result.
        sources: of the wanted fields, each with the place in `stored` or None.
        system: of the system columns likewise, for those the file stores.
        tested: of the columns that only the predicate reads, likewise.
        stored: columns to read; those that only the predicate reads are the last.
    """

    source: DataFileSource
    casting: Casting
    schema: pa.Schema
    sources: tuple[tuple[FieldSource, int | None], ...]
    system: tuple[tuple[SystemColumn, int | None], ...]
    tested: tuple[tuple[FieldSource, int | None], ...]
    stored: tuple[StoredColumn, ...]

    @classmethod
    def of(
        cls, source: DataFileSource, request: ReadRequest, names: frozenset[str]
    ) -> "ResultColumns":
        """The columns of a request for a file that has some names."""
        stored: list[StoredColumn] = []

        def place(column: StoredColumn) -> int | None:
            if column.name not in names:
                return None
            stored.append(column)
            return len(stored) - 1

        keys = source.schema.trimmed_primary_keys if request.from_keys else ()

        def placed(fields: Sequence[DataField]) -> Iterator[tuple[FieldSource, int | None]]:
            for found in field_sources(fields, source.stored_fields):
                if found.stored is None:
                    yield found, None
                    continue
                name = found.stored.name
                if name in keys and KEY_PREFIX + name in names:
                    name = KEY_PREFIX + name
                yield found, place(StoredColumn(name=name, type=found.stored.type))

        sources = tuple(placed(request.fields))
        system = tuple(
            (column, place(_SYSTEM_STORED[column]) if column in _SYSTEM_STORED else None)
            for column in request.system_columns
        )
        return cls(
            source=source,
            casting=Casting(path=source.path, zone=request.zone),
            schema=result_schema(request),
            sources=sources,
            system=system,
            tested=tuple(placed(request.tested or ())),
            stored=tuple(stored),
        )

    def rows(
        self, opened: OpenDataFile, rows: RowFilter, request: ReadRequest
    ) -> Iterator[FileRows]:
        """The rows of the stored columns that are kept and may match the predicate."""
        if request.predicate is None:
            spans = [i for i, span in enumerate(opened.spans) if rows.may_keep(span)]
            return plain_rows(opened, self.stored, spans, rows, request.batch_rows)
        from paimon_explore.read.file_predicate import Condition  # noqa: PLC0415 - a predicate
        from paimon_explore.read.row_filter import Wanted, matching_rows  # noqa: PLC0415 - likewise

        read = (*self.sources, *self.tested)
        condition = Condition.of(request.predicate, read, self.stored, self.casting)
        wanted = Wanted(
            stored=self.stored, given=self._given(request), batch_rows=request.batch_rows
        )
        return matching_rows(opened, condition, wanted, rows)

    def _given(self, request: ReadRequest) -> tuple[StoredColumn, ...] | None:
        """The stored columns of the result; None where rows may come that do not match."""
        if request.tested is None:
            return None
        hidden = sum(at is not None for _, at in self.tested)
        return self.stored[: len(self.stored) - hidden]

    def result(self, batch: PositionedBatch, positions: Positions | None) -> pa.RecordBatch:
        """The wanted columns of a batch of stored ones.

        Args:
            batch: n rows.
            positions: of the rows; None when they are consecutive from `batch.first` on.
        """
        arrays = [
            source.column(None if at is None else batch.columns[at], batch.rows, self.casting)
            for source, at in self.sources
        ]
        if self.system:
            if positions is None:
                positions = np.arange(batch.first, batch.first + batch.rows, dtype=np.int64)
            for column, at in self.system:
                stored = None if at is None else batch.columns[at]
                arrays.append(self._system_column(column, stored, positions))
        if not arrays:
            rows = pa.StructArray.from_buffers(pa.struct([]), batch.rows, [None])
            return pa.RecordBatch.from_struct_array(rows)  # type: ignore[arg-type]  # a StructArray
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

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


def _int64s(values: Positions) -> Column:
    return build_fixed(pa.int64(), values)


def _constant(value: int | None, rows: int) -> Column:
    # not by pa.scalar, which imports pandas
    valid = np.full(rows, value is not None)
    return build_fixed(pa.int64(), np.full(rows, value or 0, dtype=np.int64), valid)
