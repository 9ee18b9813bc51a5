"""The source rows of a merge, converted to types of the table format."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow import arrow_schema, from_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.arrow_cast import conform, plain_form
from paimon_explore.write.input.arrow_stream import ArrowStream, batches_of
from paimon_explore.write.input.table_batches import Rows

_INDEX = re.compile(r"__index_level_\d+__")
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)


def source_rows(source: Rows, target: RowType) -> tuple[RowType, pa.RecordBatch]:
    """Load all rows of a source into memory.

    Args:
        source: an Arrow table, batch or reader, a data frame, another table, or dictionaries.
        target: the table's columns; values of dictionaries get the types of columns of that name.

    Returns:
        The columns, nullable, and the rows.

    Raises:
        InvalidInputError: the rows cannot be read, or two columns have the same name.
    """
    rows = _table_of(source, target)
    names = [name for name in rows.schema.names if not _INDEX.fullmatch(name)]
    if len({name.lower() for name in names}) != len(names):
        lower = [name.lower() for name in names]
        first, second = [n for n in names if lower.count(n.lower()) > 1][:2]
        problem = f"The names of the source columns {first!r} and {second!r} differ only in case."
        if first == second:
            problem = f"The source has two columns named {first!r}."
        raise InvalidInputError(problem, hint="Rename one of them.")
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
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    fields = [
        replace(field, type=with_nullable(field.type, nullable=True), default_value=None)
        for field in target
    ]
    row_type = RowType(fields=tuple(fields))
    parts = [pa.Table.from_batches([b]) for b in batches_of(source, row_type, lambda _: None)]
    if parts:
        return parts[0] if len(parts) == 1 else _concat(parts)
    if isinstance(source, ArrowStream):
        return pa.RecordBatchReader.from_stream(source).read_all()
    return arrow_schema(row_type).empty_table()


def _concat(parts: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"The batches of the source have different columns: {error}."
        ) from error


def _one(values: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    return plain_form(values.combine_chunks() if values.num_chunks else pa.array([], values.type))


def _type_of(array: Column, known: DataType | None) -> DataType:
    if pat.is_null(array.type):
        return _STRING if known is None else with_nullable(known, nullable=True)
    return from_arrow(array.type)
