"""The source of a merge: any rows, in types of the table format."""

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.encoding.buffers import Column, no_rows
from paimon_explore.errors import InvalidInputError
from paimon_explore.types.arrow import arrow_schema, from_arrow, to_arrow
from paimon_explore.types.data_types import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.write.input_cast import conform
from paimon_explore.write.input_rows import ArrowStream, InputShape, Rows, open_rows

_INDEX = re.compile(r"__index_level_\d+__")
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)


def source_rows(source: Rows, target: RowType) -> tuple[RowType, pa.RecordBatch]:
    """The rows of a source, all in memory.

    Args:
        source: an Arrow table, batch or reader, a data frame, another table, or dictionaries.
        target: the table's columns; dictionaries have their types where the names are the same.

    Returns:
        The columns, nullable, and the rows.

    Raises:
        InvalidInputError: rows that cannot be taken, or two columns of one name.
    """
    rows = _table_of(source, target)
    names = [name for name in rows.schema.names if not _INDEX.fullmatch(name)]
    if len({name.lower() for name in names}) != len(names):
        raise InvalidInputError("The source has two columns of one name.")
    fields: list[DataField] = []
    columns: list[Column] = []
    for number, name in enumerate(names):
        array = _one(rows.column(name))
        known = target.field(name)
        kind = _type_of(array, None if known is None else known.type)
        fields.append(DataField(id=number, name=name, type=kind))
        columns.append(conform(array, kind, where=name))
    row_type = RowType(fields=tuple(fields))
    return row_type, pa.RecordBatch.from_arrays(columns, schema=arrow_schema(row_type))


def _table_of(source: object, target: RowType) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    if isinstance(source, ArrowStream):
        return pa.RecordBatchReader.from_stream(source).read_all()
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        return _table_of_rows(source, target)
    raise InvalidInputError(
        f"Rows cannot be taken from a {type(source).__name__}.",
        hint="Give an Arrow table, a data frame, another table, or a list of dictionaries.",
    )


def _table_of_rows(rows: Sequence[Mapping[str, object]], target: RowType) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(target.names)
    columns: dict[str, Column] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        known = target.field(name)
        if known is None:
            columns[name] = _inferred(name, values)
            continue
        field = DataField(id=0, name=name, type=with_nullable(known.type, nullable=True))
        shape = InputShape(row_type=RowType(fields=(field,)))
        batches = list(open_rows([{name: value} for value in values], shape))
        parts = [batch.column(0) for batch in batches]
        columns[name] = pa.concat_arrays(parts) if parts else no_rows(to_arrow(known.type))
    return pa.table(columns)


def _inferred(name: str, values: list[object]) -> Column:
    """A column that the table does not have, in the type of its values."""
    try:
        found: Column = pa.array(values)  # type: ignore[arg-type]  # any values
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"Column {name!r} of the source: {error}.") from error
    return found


def _one(values: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    array: Column = values.combine_chunks() if values.num_chunks else pa.array([], values.type)
    if pat.is_dictionary(array.type):
        return array.dictionary_decode()  # type: ignore[attr-defined,no-any-return]  # a dictionary array
    return array


def _type_of(array: Column, known: DataType | None) -> DataType:
    if pat.is_null(array.type):
        return _STRING if known is None else with_nullable(known, nullable=True)
    return from_arrow(array.type)
