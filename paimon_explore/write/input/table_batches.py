"""Whatever the caller has, as batches of exactly the table's columns.

Columns are matched by name; see `input_forms` for what may be given.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, RowType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.input.arrow_cast import conform, nulls_of
from paimon_explore.write.input.arrow_stream import ArrowStream, batches_of
from paimon_explore.write.input.python_values import column_of_values, default_of

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


Row: TypeAlias = Mapping[str, object]
Part: TypeAlias = pa.Table | pa.RecordBatch | ArrowStream
Rows: TypeAlias = (
    Part | pa.RecordBatchReader | Mapping[str, Iterable[object]] | Iterable[Row | Part]
)
"""What can be written: whole tables and streams, parts of them, columns by name, single rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputShape:
    """What the rows of an input have to become.

    Attributes:
        row_type: the table's columns.
        extra: columns that may come besides, such as the row kind; they are passed on as they are.
    """

    row_type: RowType
    extra: frozenset[str] = frozenset()


def open_rows(data: Rows, shape: InputShape) -> Iterator[pa.RecordBatch]:
    """The rows in batches of the table's columns, in schema order and `to_arrow` types.

    A missing column gets its default value, or null. Extra columns of the shape come last, if the
    data has them, in the data's types.

    Args:
        data: the rows.
        shape: the table's columns and what else may come.

    Yields:
        Batches, none empty.

    Raises:
        InvalidInputError: an unknown column; a missing, null or unfit value, named by column and
            row; or data of a kind that cannot be written.
    """
    first_row = 0
    check = partial(_check_names, shape=shape)
    for batch in batches_of(data, shape.row_type, check):
        if batch.num_rows:
            yield _conformed(batch, shape, first_row)
            first_row += batch.num_rows


def _conformed(batch: pa.RecordBatch, shape: InputShape, first_row: int) -> pa.RecordBatch:
    names = batch.schema.names
    _check_names(names, shape)
    columns: list[Column] = []
    for field in shape.row_type:
        if field.name in names:
            column = batch.column(names.index(field.name))
            columns.append(conform(column, field.type, where=field.name, first_row=first_row))
        else:
            columns.append(absent_column(field, batch.num_rows))
    schema = arrow_schema(shape.row_type)
    for name in sorted(shape.extra.intersection(names)):
        columns.append(batch.column(names.index(name)))
        schema = schema.append(batch.schema.field(name))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _check_names(names: Sequence[str], shape: InputShape) -> None:
    known = set(shape.row_type.names) | shape.extra
    unknown = [name for name in names if name not in known and not _PANDAS_INDEX.fullmatch(name)]
    if unknown:
        alike = [name for name in known if name.lower() == unknown[0].lower()]
        hint = f"Its columns: {choices(shape.row_type.names)}."
        if alike:
            hint = f"It has {alike[0]!r}: upper and lower case count."
        raise InvalidInputError(f"The table has no column {unknown[0]!r}.", hint=hint)
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise InvalidInputError(f"The data has two columns {min(twice)!r}.")


def absent_column(field: DataField, count: int) -> Column:
    """The values of a column that the data does not have.

    Raises:
        InvalidInputError: the column takes no null and has no default value.
    """
    if field.default_value is not None:
        value = default_of(field)
        return pa.concat_arrays([value]) if count == 1 else _repeated(value, count)
    if not field.type.nullable:
        raise InvalidInputError(
            f"Column {field.name!r} is missing, and it is NOT NULL without a default value."
        )
    return nulls_of(count, field.type)


def _repeated(value: Column, count: int) -> Column:
    return value.take(pa.repeat(pa.scalar(0, pa.int32()), count))


def with_partition(
    data: Rows, row_type: RowType, partition: Mapping[str, object]
) -> Iterator[pa.RecordBatch]:
    """The rows with the values of a partition in those of its columns that they do not have.

    Args:
        data: the rows.
        row_type: the table's columns.
        partition: values of partition columns; a text may stand for a value of any type.

    Raises:
        InvalidInputError: a value that is none of its column.
    """
    known = [(field, partition[field.name]) for field in row_type if field.name in partition]
    values = {field.name: _partition_value(value, field) for field, value in known}
    for batch in batches_of(data, row_type, lambda _: None):
        whole = batch
        for name, value in values.items():
            if name not in batch.schema.names:
                whole = whole.append_column(name, _repeated(value, batch.num_rows))
        yield whole


def _partition_value(value: object, field: DataField) -> Column:
    if isinstance(value, str) and not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
        return default_of(replace(field, default_value=value))
    return column_of_values([value], field.name, field.type, first_row=-1)
