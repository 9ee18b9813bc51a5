"""Rows whose columns lie in several files (data evolution).

Every wanted column comes, row by row, from the newest file of the group that holds it. Files are laid
over the group's range of row ids; where none holds a column it is null.
Spec: append-table/data-evolution. Seen in: golden java200 `data_evolution`, `blob`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa

from paimon_explore.metadata.schema import TableSchema
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.types.arrow import arrow_schema
from paimon_explore.types.data_types import DataField, RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFile:
    """One file of a group.

    Attributes:
        first: its first row id.
        row_count: its rows.
        newest: its greatest sequence number; the greater one wins.
        schema: it was written with.
        write_cols: columns it holds, as of that schema; None for all.
        read: reads wanted fields of it, all rows, in file order.
    """

    first: int
    row_count: int
    newest: int
    schema: TableSchema
    write_cols: tuple[str, ...] | None
    read: Callable[[tuple[DataField, ...]], Iterator[pa.RecordBatch]]

    def holds(self, field: DataField) -> bool:
        """Whether the file has the column of that id."""
        source = self.schema.row_type.field_by_id(field.id)
        return source is not None and (self.write_cols is None or source.name in self.write_cols)


def merge_columns(
    files: Sequence[ColumnFile],
    fields: tuple[DataField, ...],
    system_columns: tuple[SystemColumn, ...] = (),
) -> Iterator[pa.RecordBatch]:
    """The rows of a group of files with overlapping row ids, by ascending row id.

    Args:
        files: of one group.
        fields: wanted columns.
        system_columns: wanted besides: row ids, sequence numbers (the newest file's), row kinds.

    Yields:
        Batches of the wanted fields in their Arrow types, then the system columns.
    """
    first = min(file.first for file in files)
    count = max(file.first + file.row_count for file in files) - first
    newest_first = sorted(files, key=lambda file: file.newest, reverse=True)
    whole = _whole_columns(newest_first, fields, count)
    columns = [whole.get(f.name) or _column(newest_first, f, first, count) for f in fields]
    rows = pa.Table.from_arrays(columns, schema=arrow_schema(RowType(fields=fields)))
    for name in system_columns:
        match name:
            case SystemColumn.ROW_ID | SystemColumn.POSITION:
                offset = first if name is SystemColumn.ROW_ID else 0
                column = pa.array(np.arange(offset, offset + count))
            case SystemColumn.SEQUENCE_NUMBER:
                column = pa.repeat(pa.scalar(newest_first[0].newest, pa.int64()), count)
            case SystemColumn.VALUE_KIND:
                column = pa.repeat(pa.scalar(0, pa.int8()), count)
            case _:
                assert_never(name)
        rows = rows.append_column(str(name), column)
    yield from rows.to_batches()


def _whole_columns(
    files: Sequence[ColumnFile], fields: tuple[DataField, ...], count: int
) -> dict[str, pa.ChunkedArray]:
    """Columns whose newest file holds them for all rows, read with one pass over each file."""
    owners: dict[int, list[DataField]] = {}
    for field in fields:
        owner = next((i for i, file in enumerate(files) if file.holds(field)), None)
        if owner is not None and files[owner].row_count == count:
            owners.setdefault(owner, []).append(field)
    found: dict[str, pa.ChunkedArray] = {}
    for owner, wanted in owners.items():
        rows = pa.Table.from_batches(files[owner].read(tuple(wanted)))
        found.update({field.name: rows.column(field.name) for field in wanted})
    return found


def _column(
    files: Sequence[ColumnFile], field: DataField, first: int, count: int
) -> pa.ChunkedArray:
    """One column over the whole range."""
    kind = arrow_schema(RowType(fields=(field,))).field(0).type
    pieces: list[pa.Array] = []
    source = np.full(count, -1, dtype=np.int64)
    offset = 0
    for file in files:
        start = file.first - first
        free = source[start : start + file.row_count] < 0
        if not file.holds(field) or not free.any():
            continue
        values = pa.Table.from_batches(file.read((field,))).column(0).combine_chunks()
        pieces.append(values)
        rows = np.arange(offset, offset + file.row_count)
        source[start : start + file.row_count][free] = rows[free]
        offset += file.row_count
    if not pieces:
        return pa.chunked_array([pa.nulls(count, kind)])
    if len(pieces) == 1 and len(pieces[0]) == count:
        return pa.chunked_array(pieces)
    indices = pa.array(source, mask=source < 0)
    return pa.chunked_array([pa.concat_arrays(pieces).take(indices)])
