"""Data evolution: merges the columns of rows that are stored in several files.

For each row, every column is read from the newest file of the group that contains it. Files are
aligned by row id; rows for which no file contains a column are null. A blob file may refer to older
files for some of its rows.
Spec: append-table/data-evolution. Seen in: golden java200 `data_evolution`, `blob`.

The rows of data files that remain after indexes of the table and deletion vectors.

Global indexes find row ids of the table. A file that is read by itself gets positions from them;
files with different columns of the same rows are merged by row id, without the rows that a
deletion vector of one of them marks. Primary-key indexes find positions in files at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, assert_never

import numpy as np
import pyarrow as pa
from pyroaring import BitMap, BitMap64

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    build_fixed,
    concat_arrays,
    empty_array,
    null_array,
    rows_without_columns,
)
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.encoding.blob.blob_file import ELSEWHERE, BlobDataFile
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    open_rows,
    read_data_file,
)
from paimon_explore.read.deletion_vector_filter import Positions, positions
from paimon_explore.scan.manifest_arrays import row_array
from paimon_explore.scan.splits.data_split import LocatedFiles
from paimon_explore.scan.splits.row_id_ranges import is_column_file

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
        is_column_file: whether it stores columns beside the data file of its rows.
        elsewhere: returns which rows refer to the next older file with their column (blob files);
            None if no row does.
    """

    first: int
    row_count: int
    newest: int
    schema: TableSchema
    write_cols: tuple[str, ...] | None
    read: Callable[[tuple[DataField, ...], "BitMap | None"], Iterator[pa.RecordBatch]]
    is_column_file: bool = False
    elsewhere: Callable[[], Bools] | None = None

    def contains(self, field: DataField) -> bool:
        """Whether the file, or its partition, has the column with this id."""
        source = self.schema.row_type.field_by_id(field.id)
        known = None if self.write_cols is None else (*self.write_cols, *self.schema.partition_keys)
        return source is not None and (known is None or source.name in known)

    def without_columns_of(self, files: Sequence["ColumnFile"]) -> "ColumnFile":
        """Returns a file of all columns without those that column files contain.

        Data files do not store them, also if their `_WRITE_COLS` is null, as writers of 2.1 leave
        it with `data-evolution.write-cols-optimization.enabled`.
        """
        others = [file for file in files if file.is_column_file]
        if self.write_cols is not None or not others:
            return self
        fields = (f for f in self.schema.fields if not any(other.contains(f) for other in others))
        return replace(self, write_cols=tuple(field.name for field in fields))


def column_file(source: DataFileSource, row_count: int) -> ColumnFile:
    """Returns a data file as input for merging columns.

    Args:
        source: the file, with row ids.
        row_count: number of rows.
    """
    return ColumnFile(
        first=source.first_row_id or 0,
        row_count=row_count,
        newest=source.max_sequence_number or 0,
        schema=source.schema,
        write_cols=source.write_cols,
        read=lambda fields, selection: read_data_file(
            source, ReadRequest(fields=fields, selection=selection)
        ),
        is_column_file=is_column_file(source.path),
        elsewhere=partial(_rows_elsewhere, source) if source.path.endswith(".blob") else None,
    )


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
        system_columns: also read: row ids, sequence numbers (of the newest file that is no blob
            file), row kinds.
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
    parts = [_Part.of(file.without_columns_of(files), row_ids) for file in newest_first]
    whole = _whole_columns(parts, fields, len(row_ids))
    columns = [
        whole[field.name] if field.name in whole else _column(parts, field, len(row_ids))
        for field in fields
    ]
    # Java does not count blob files
    newest = next((f.newest for f in newest_first if f.elsewhere is None), newest_first[0].newest)
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

    @property
    def elsewhere(self) -> Bools:
        """Which of the requested rows refer to an older file."""
        if self.file.elsewhere is None or not self.count:
            return np.zeros(self.count, np.bool_)
        found = self.file.elsewhere()
        return found if self.selection is None else found[positions(self.selection)]

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
        having = [i for i, part in enumerate(parts) if part.file.contains(field)]
        if not having or parts[having[0]].count != count:
            continue
        if len(having) == 1 or not parts[having[0]].elsewhere.any():
            owners.setdefault(having[0], []).append(field)
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
        if not part.file.contains(field):
            continue
        free = source[part.start : part.start + part.count] < 0
        free &= ~part.elsewhere
        if not free.any():
            continue
        values.extend(part.read((field,)))
        rows = np.arange(offset, offset + part.count)
        source[part.start : part.start + part.count][free] = rows[free]
        offset += part.count
    if not values:
        return null_array(count, to_arrow(field.type))
    return concat_arrays(values).take(row_array(source, source >= 0))


def _rows_elsewhere(source: DataFileSource) -> Bools:
    """Returns which rows of a blob file refer to the next older file with their column.

    Raises:
        CorruptFileError: the list of entries is damaged.
        MissingFileError: the file does not exist.
    """
    with open_rows(source, ReadRequest(fields=())) as rows:
        if not isinstance(rows.file, BlobDataFile):
            raise CorruptFileError(source.path, "extension", "must be that of a blob file")
        found: Bools = rows.file.sizes == ELSEWHERE
        return found


@dataclass(frozen=True, slots=True)
class RowIdRange:
    """The row ids of a file, with its deletion vector.

    Attributes:
        first: its first row id.
        row_count: number of rows.
        deleted: positions of deleted rows, if any.
    """

    first: int
    row_count: int
    deleted: BitMap | BitMap64 | None = None

    @property
    def after(self) -> int:
        """The last row id plus 1."""
        return self.first + self.row_count


def selected_positions(
    files: LocatedFiles, others: BitMap | None, name: str, first: int | None, row_count: int
) -> BitMap | None:
    """Returns the positions to read in a file; None for all its rows.

    Args:
        files: with the rows that indexes of the table found.
        others: the positions to read by other means; None for all.
        name: of the file.
        first: its first row id; None if it has none.
        row_count: its number of rows.
    """
    found = None if files.positions is None else files.positions.get(name)
    if files.row_ids is not None and first is not None:
        own = files.row_ids & BitMap64(range(first, first + row_count))
        if len(own) < row_count:
            found = BitMap((positions(own) - first).astype(np.uint32))
    if found is None or others is None:
        return others if found is None else found
    return found & others


def remaining_row_ids(row_ids: BitMap64 | None, files: Sequence[RowIdRange]) -> Positions | None:
    """Returns the ascending row ids to read from files of the same rows; None for all.

    >>> from pyroaring import BitMap
    >>> files = [RowIdRange(10, 4, BitMap([1]))]
    >>> remaining_row_ids(None, files).tolist()
    [10, 12, 13]
    """
    if row_ids is None and all(file.deleted is None for file in files):
        return None
    first, after = min(file.first for file in files), max(file.after for file in files)
    wanted = np.ones(after - first, np.bool_)
    if row_ids is not None:
        wanted[:] = False
        wanted[positions(row_ids & BitMap64(range(first, after))) - first] = True
    for file in files:
        if file.deleted is not None:
            wanted[positions(file.deleted) + (file.first - first)] = False
    return np.flatnonzero(wanted) + first
