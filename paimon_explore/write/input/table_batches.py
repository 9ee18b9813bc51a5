"""Convert input rows to record batches with exactly the columns of a table.

Columns are matched by name; `arrow_stream` lists the accepted forms of input.
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
from paimon_explore.data_types.definitions import TEXTS, DataField, RowType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.arrow_type_conversion import is_utf8
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.file_layout import cached_by_identity
from paimon_explore.write.input.arrow_cast import conform, nulls_of
from paimon_explore.write.input.arrow_stream import ArrowStream, batches_of
from paimon_explore.write.input.python_values import column_of_values, default_of
from paimon_explore.write.input.row_kinds import CHANGE_KIND, ROW_KIND
from paimon_explore.write.input.safe_cast import is_unlimited

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


Row: TypeAlias = Mapping[str, object]
Part: TypeAlias = pa.Table | pa.RecordBatch | ArrowStream
Rows: TypeAlias = (
    Part | pa.RecordBatchReader | Mapping[str, Iterable[object]] | Iterable[Row | Part]
)
"""Input rows: a table or stream, an iterable of those, columns by name, or single rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputShape:
    """Columns that input rows are converted to.

    Attributes:
        row_type: the table's columns.
        extra: further allowed columns, such as the row kind; they are passed on unchanged.
    """

    row_type: RowType
    extra: frozenset[str] = frozenset()


def open_rows(data: Rows, shape: InputShape) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of the table's columns, in schema order and `to_arrow` types.

    A missing column gets its default value, or null. Extra columns of the shape come last, if the
    data has them, in the data's types.

    Args:
        data: the rows.
        shape: the table's columns and the allowed extra columns.

    Yields:
        Batches, none empty.

    Raises:
        InvalidInputError: a column is unknown, a value is missing, null or does not fit (named by
            column and row), or the form of the data is not accepted.
    """
    first_row = 0
    check = partial(_check_names, shape=shape)
    for batch in batches_of(data, shape.row_type, check):
        if batch.num_rows:
            yield _conformed(batch, shape, first_row)
            first_row += batch.num_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What the batches of a table's rows share.

    Attributes:
        schema: Arrow schema of the rows.
        types: Arrow type of each column.
        unlimited: whether each column can store all values of its Arrow type, see `is_unlimited`.
        texts: whether each column has texts.
    """

    schema: pa.Schema
    types: tuple[pa.DataType, ...]
    unlimited: tuple[bool, ...]
    texts: tuple[bool, ...]


@cached_by_identity
def _target_of(fields: tuple[DataField, ...]) -> _Target:
    schema = arrow_schema(RowType(fields=fields))
    return _Target(
        schema=schema,
        types=tuple(field.type for field in schema),
        unlimited=tuple(is_unlimited(field.type) for field in fields),
        texts=tuple(is_root(field.type, *TEXTS) for field in fields),
    )


def _conformed(batch: pa.RecordBatch, shape: InputShape, first_row: int) -> pa.RecordBatch:
    names = batch.schema.names
    _check_names(names, shape)
    found = dict(zip(names, batch.columns, strict=True))
    target = _target_of(shape.row_type.fields)
    columns: list[Column] = []
    for field, data_type, unlimited, is_text in zip(
        shape.row_type.fields, target.types, target.unlimited, target.texts, strict=True
    ):
        column = found.get(field.name)
        if column is None:
            columns.append(absent_column(field, batch.num_rows))
        elif (
            unlimited
            and column.type.equals(data_type)
            and (field.type.nullable or not column.null_count)
            and (not is_text or is_utf8(column))
        ):
            columns.append(column)
        else:
            columns.append(conform(column, field.type, where=field.name, first_row=first_row))
    schema = target.schema
    for name in sorted(shape.extra.intersection(names)):
        columns.append(found[name])
        schema = schema.append(batch.schema.field(name))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def is_pandas_index(name: str) -> bool:
    """Return whether a column is the index of a pandas data frame, which is not written."""
    return _PANDAS_INDEX.fullmatch(name) is not None


def _check_names(names: Sequence[str], shape: InputShape) -> None:
    known = set(shape.row_type.names) | shape.extra
    unknown = [name for name in names if name not in known and not is_pandas_index(name)]
    if unknown:
        alike = [name for name in known if name.lower() == unknown[0].lower()]
        hint = f"Columns: {choices(shape.row_type.names)}."
        if alike:
            hint = f"Did you mean {alike[0]!r}? Column names are case-sensitive."
        if unknown[0] == CHANGE_KIND and ROW_KIND in shape.extra:
            hint = f"Rename the column to {ROW_KIND!r} to apply changes, or leave it out."
        raise InvalidInputError(f"The table has no column {unknown[0]!r}.", hint=hint)
    if len(set(names)) < len(names):
        duplicates = [name for name, count in Counter(names).items() if count > 1]
        raise InvalidInputError(f"The data has two columns named {min(duplicates)!r}.")


def absent_column(field: DataField, count: int) -> Column:
    """Return default values, or nulls, for a column that the data does not have.

    Raises:
        InvalidInputError: the column is NOT NULL and has no default value.
    """
    if field.default_value is not None:
        value = default_of(field)
        return pa.concat_arrays([value]) if count == 1 else _repeated(value, count)
    if not field.type.nullable:
        raise InvalidInputError(
            f"Column {field.name!r} is missing, but the column is NOT NULL and has no default "
            "value."
        )
    return nulls_of(count, field.type)


def _repeated(value: Column, count: int) -> Column:
    return value.take(pa.repeat(pa.scalar(0, pa.int32()), count))


def with_partition(
    data: Rows, row_type: RowType, partition: Mapping[str, object]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with missing partition columns filled from the values of a partition.

    Args:
        data: the rows.
        row_type: the table's columns.
        partition: values of partition columns; a string is parsed as the column's type.

    Raises:
        InvalidInputError: a value does not fit its column.
    """
    known = [(field, partition[field.name]) for field in row_type if field.name in partition]
    values = {field.name: _partition_value(value, field) for field, value in known}
    for batch in batches_of(data, row_type, lambda _: None):
        filled = batch
        for name, value in values.items():
            if name not in batch.schema.names:
                filled = filled.append_column(name, _repeated(value, batch.num_rows))
        yield filled


def _partition_value(value: object, field: DataField) -> Column:
    if isinstance(value, str) and not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
        return default_of(replace(field, default_value=value))
    return column_of_values([value], field.name, field.type, first_row=-1)
