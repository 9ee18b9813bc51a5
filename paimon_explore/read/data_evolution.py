"""Data evolution: merges the columns of rows that are stored in several files.

For each row, every column is read from the newest file of the group that contains it. Files are
aligned by row id; rows for which no file contains a column are null.
Spec: append-table/data-evolution. Seen in: golden java200 `data_evolution`, `blob`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

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
from paimon_explore.read.deletion_vector_filter import Positions
from paimon_explore.scan.manifest_arrays import row_array

if TYPE_CHECKING:
    from pyroaring import BitMap


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFile:
    """A file with some columns of a range of rows.

    Attributes:
        first: its first row id.
        row_count: number of rows.
        newest: its maximum sequence number; the greatest wins.
        schema: the schema it was written with.
        write_cols: the columns it contains, as named in that schema; None for all.
        read: reads fields of some rows, in file order; of all rows if the positions are None.
    """

    first: int
    row_count: int
    newest: int
    schema: TableSchema
    write_cols: tuple[str, ...] | None
    read: Callable[[tuple[DataField, ...], "BitMap | None"], Iterator[pa.RecordBatch]]

    def contains(self, field: DataField) -> bool:
        """Whether the file contains the column with this id."""
        source = self.schema.row_type.field_by_id(field.id)
        return source is not None and (self.write_cols is None or source.name in self.write_cols)


def merge_columns(
    files: Sequence[ColumnFile],
    fields: tuple[DataField, ...],
    system_columns: tuple[SystemColumn, ...] = (),
    *,
    row_ids: Positions | None = None,
) -> Iterator[pa.RecordBatch]:
    """Reads the rows of a group of files with overlapping row ids, by ascending row id.

    Args:
        files: of one group.
        fields: the columns to read.
        system_columns: also read: row ids, sequence numbers (of the newest file), row kinds.
        row_ids: of the only rows to read, ascending; None for all.

    Yields:
        Batches of the fields in their Arrow types, then the system columns.
    """
    first = min(file.first for file in files)
    if row_ids is None:
        row_ids = np.arange(first, max(file.first + file.row_count for file in files))
    if not len(row_ids):
        return
    newest_first = sorted(files, key=lambda file: file.newest, reverse=True)
    parts = [_Part.of(file, row_ids) for file in newest_first]
    whole = _whole_columns(parts, fields, len(row_ids))
    columns = [
        whole[field.name] if field.name in whole else _column(parts, field, len(row_ids))
        for field in fields
    ]
    newest = newest_first[0].newest
    system = [_system_column(name, newest, row_ids, first) for name in system_columns]
    added = [
        pa.field(str(name), column.type)
        for name, column in zip(system_columns, system, strict=True)
    ]
    if not fields and not system:
        yield rows_without_columns(len(row_ids))
        return
    schema = pa.schema([*arrow_schema(RowType(fields=fields)), *added])
    yield pa.RecordBatch.from_arrays([*columns, *system], schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The requested rows of a file.

    Attributes:
        file: the file.
        start: index of the first of these rows among all requested rows.
        count: their number.
        selection: their positions in the file; None for all its rows.
    """

    file: ColumnFile
    start: int
    count: int
    selection: "BitMap | None"

    @classmethod
    def of(cls, file: ColumnFile, row_ids: Positions) -> "_Part":
        """The rows of a file among ascending row ids."""
        start, end = np.searchsorted(row_ids, (file.first, file.first + file.row_count)).tolist()
        selection = None
        if end - start < file.row_count:
            from pyroaring import BitMap  # noqa: PLC0415 - some rows only

            selection = BitMap((row_ids[start:end] - file.first).astype(np.uint32))
        return cls(file=file, start=start, count=end - start, selection=selection)

    def read(self, wanted: tuple[DataField, ...]) -> list[Column]:
        """Reads columns of the requested rows."""
        batches = list(self.file.read(wanted, self.selection)) if self.count else []
        return [
            concat_arrays([batch.column(i) for batch in batches])
            if batches
            else empty_array(to_arrow(wanted[i].type))
            for i in range(len(wanted))
        ]


def _system_column(name: SystemColumn, newest: int, row_ids: Positions, first: int) -> Column:
    match name:
        case SystemColumn.ROW_ID:
            numbers = row_ids
        case SystemColumn.POSITION:
            numbers = row_ids - first
        case SystemColumn.SEQUENCE_NUMBER:
            numbers = np.full(len(row_ids), newest)
        case SystemColumn.VALUE_KIND:
            count = len(row_ids)
            return build_fixed(pa.int8(), np.zeros(count, np.int8), np.ones(count, np.bool_))
        case _:
            assert_never(name)
    return build_fixed(pa.int64(), numbers.astype(np.int64), np.ones(len(row_ids), np.bool_))


def _whole_columns(
    parts: Sequence[_Part], fields: tuple[DataField, ...], count: int
) -> dict[str, Column]:
    """Reads the columns that one file contains for all rows, in one pass over each file."""
    owners: dict[int, list[DataField]] = {}
    for field in fields:
        owner = next((i for i, part in enumerate(parts) if part.file.contains(field)), None)
        if owner is not None and parts[owner].count == count:
            owners.setdefault(owner, []).append(field)
    found: dict[str, Column] = {}
    for owner, wanted in owners.items():
        columns = parts[owner].read(tuple(wanted))
        found.update({f.name: column for f, column in zip(wanted, columns, strict=True)})
    return found


def _column(parts: Sequence[_Part], field: DataField, count: int) -> Column:
    """Reads one column of the requested rows from several files."""
    values: list[Column] = []
    source = np.full(count, -1, dtype=np.int64)
    offset = 0
    for part in parts:
        free = source[part.start : part.start + part.count] < 0
        if not part.file.contains(field) or not free.any():
            continue
        values.extend(part.read((field,)))
        rows = np.arange(offset, offset + part.count)
        source[part.start : part.start + part.count][free] = rows[free]
        offset += part.count
    if not values:
        return null_array(count, to_arrow(field.type))
    return concat_arrays(values).take(row_array(source, source >= 0))
