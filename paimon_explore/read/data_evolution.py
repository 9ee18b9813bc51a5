"""Data evolution: merges the columns of rows that are stored in several files.

For each row, every column is read from the newest file of the group that contains it. Files are
aligned by row id; rows for which no file contains a column are null.
Spec: append-table/data-evolution. Seen in: golden java200 `data_evolution`, `blob`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_fixed,
    concat_arrays,
    empty_array,
    null_array,
    rows_without_columns,
)
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.scan.manifest_arrays import row_array


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFile:
    """A file with some columns of a range of rows.

    Attributes:
        first: its first row id.
        row_count: number of rows.
        newest: its maximum sequence number; the greatest wins.
        schema: the schema it was written with.
        write_cols: the columns it contains, as named in that schema; None for all.
        read: reads fields of all its rows, in file order.
    """

    first: int
    row_count: int
    newest: int
    schema: TableSchema
    write_cols: tuple[str, ...] | None
    read: Callable[[tuple[DataField, ...]], Iterator[pa.RecordBatch]]

    def contains(self, field: DataField) -> bool:
        """Whether the file contains the column with this id."""
        source = self.schema.row_type.field_by_id(field.id)
        return source is not None and (self.write_cols is None or source.name in self.write_cols)


def merge_columns(
    files: Sequence[ColumnFile],
    fields: tuple[DataField, ...],
    system_columns: tuple[SystemColumn, ...] = (),
) -> Iterator[pa.RecordBatch]:
    """Reads the rows of a group of files with overlapping row ids, by ascending row id.

    Args:
        files: of one group.
        fields: the columns to read.
        system_columns: also read: row ids, sequence numbers (of the newest file), row kinds.

    Yields:
        Batches of the fields in their Arrow types, then the system columns.
    """
    first = min(file.first for file in files)
    count = max(file.first + file.row_count for file in files) - first
    newest_first = sorted(files, key=lambda file: file.newest, reverse=True)
    whole = _whole_columns(newest_first, fields, count)
    columns = [
        whole[field.name] if field.name in whole else _column(newest_first, field, first, count)
        for field in fields
    ]
    system = [_system_column(name, newest_first[0], first, count) for name in system_columns]
    added = [
        pa.field(str(name), column.type)
        for name, column in zip(system_columns, system, strict=True)
    ]
    if not fields and not system:
        yield rows_without_columns(count)
        return
    schema = pa.schema([*arrow_schema(RowType(fields=fields)), *added])
    yield pa.RecordBatch.from_arrays([*columns, *system], schema=schema)


def _system_column(name: SystemColumn, newest: ColumnFile, first: int, count: int) -> Column:
    match name:
        case SystemColumn.ROW_ID:
            numbers = np.arange(first, first + count)
        case SystemColumn.POSITION:
            numbers = np.arange(count)
        case SystemColumn.SEQUENCE_NUMBER:
            numbers = np.full(count, newest.newest)
        case SystemColumn.VALUE_KIND:
            return build_fixed(pa.int8(), np.zeros(count, np.int8), np.ones(count, np.bool_))
        case _:
            assert_never(name)
    return build_fixed(pa.int64(), numbers.astype(np.int64), np.ones(count, np.bool_))


def _whole_columns(
    files: Sequence[ColumnFile], fields: tuple[DataField, ...], count: int
) -> dict[str, Column]:
    """Reads the columns that one file contains for all rows, in one pass over each file."""
    owners: dict[int, list[DataField]] = {}
    for field in fields:
        owner = next((i for i, file in enumerate(files) if file.contains(field)), None)
        if owner is not None and files[owner].row_count == count:
            owners.setdefault(owner, []).append(field)
    found: dict[str, Column] = {}
    for owner, wanted in owners.items():
        columns = _read(files[owner], tuple(wanted))
        found.update({f.name: column for f, column in zip(wanted, columns, strict=True)})
    return found


def _read(file: ColumnFile, wanted: tuple[DataField, ...]) -> list[Column]:
    """Reads columns of a file for all rows."""
    batches = list(file.read(wanted))
    return [
        concat_arrays([batch.column(i) for batch in batches])
        if batches
        else empty_array(to_arrow(wanted[i].type))
        for i in range(len(wanted))
    ]


def _column(files: Sequence[ColumnFile], field: DataField, first: int, count: int) -> Column:
    """Reads one column of the whole range from several files."""
    parts: list[Column] = []
    source = np.full(count, -1, dtype=np.int64)
    offset = 0
    for file in files:
        start = file.first - first
        free = source[start : start + file.row_count] < 0
        if not file.contains(field) or not free.any():
            continue
        parts.extend(_read(file, (field,)))
        rows = np.arange(offset, offset + file.row_count)
        source[start : start + file.row_count][free] = rows[free]
        offset += file.row_count
    if not parts:
        return null_array(count, to_arrow(field.type))
    return concat_arrays(parts).take(row_array(source, source >= 0))
