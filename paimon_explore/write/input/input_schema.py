"""The types of input rows, to add columns to a table and to widen types before a write.

Arrow data, data frames and streams have types. Those of Python values are inferred: a new column
gets BIGINT for integers and DOUBLE for floats, and a column of the table is compared with the
narrowest type that stores the values. Maps, multisets and variants of the table keep their types:
their Python values may be dictionaries, pairs or anything, which tell no type.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from itertools import chain
from typing import TypeGuard, cast

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.arrow_buffers import Column, offsets_from_sizes
from paimon_explore.data_types.definitions import (
    ArrayType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.input.arrow_stream import ArrowStream, batches_of
from paimon_explore.write.input.python_arrays import UNFIT, own_array
from paimon_explore.write.input.python_values import mixed_types
from paimon_explore.write.input.row_kinds import ROW_KIND
from paimon_explore.write.input.table_batches import Rows, is_pandas_index

_NO_COLUMNS = RowType(fields=())
_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedRows:
    """Input rows with the types of their columns.

    Attributes:
        rows: the rows.
        new: the columns with the types that new columns get.
        known: the columns with the types that columns of the table are compared with.
        untyped: the columns without a type, because they contain only nulls or empty lists.
    """

    rows: Rows
    new: RowType
    known: RowType
    untyped: Sequence[str] = ()


def typed_rows(data: Rows, row_type: RowType) -> TypedRows:
    """Find the types of input rows; the rows of a stream are not read.

    Args:
        data: the rows.
        row_type: the table's columns.

    Raises:
        InvalidInputError: the columns of a generator are only known after all rows, or the values
            of a column have no common type.
    """
    if isinstance(data, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return _typed(data, data.schema, data.schema)
    if isinstance(data, ArrowStream) and not isinstance(data, Sized):
        reader = pa.RecordBatchReader.from_stream(data)
        return _typed(reader, reader.schema, reader.schema)
    if isinstance(data, Iterable) and not isinstance(data, Sized):
        return _first_part(iter(data), row_type)
    inferred = set[str]()

    def natural_column(
        values: Sequence[object], name: str, data_type: DataType, _first_row: int
    ) -> Column:
        inferred.add(name)
        try:
            return _natural_array(values, data_type)
        except UNFIT as error:
            raise mixed_types(name, error) from error

    batches = list(batches_of(data, row_type, lambda _: None, natural_column))
    natural = _unified([batch.schema for batch in batches])
    is_typed = isinstance(data, ArrowStream) or _has_arrow_parts(data)
    narrowed = [_narrowed(one, inferred if is_typed else one.schema.names) for one in batches]
    return _typed(data, natural, _unified(narrowed))


def _has_arrow_parts(data: object) -> bool:
    return isinstance(data, Sequence) and bool(data) and not isinstance(data[0], Mapping)


def _first_part(parts: Iterator[object], row_type: RowType) -> TypedRows:
    """Find the types of a generator of tables by its first one."""
    first = next(parts, None)
    if first is None:
        return TypedRows(rows=[], new=_NO_COLUMNS, known=_NO_COLUMNS)
    if not isinstance(first, pa.Table | pa.RecordBatch | ArrowStream):
        raise InvalidInputError(
            "The columns of a generator of rows are not known before the last row.",
            hint="Pass a list, or a generator of Arrow tables or batches, for merge_schema=True.",
        )
    found = typed_rows(first, row_type)
    rows = cast("Rows", chain([found.rows], parts))
    return replace(found, rows=rows)


def _keeps_type(data_type: DataType) -> bool:
    """Return whether a type has maps, multisets or variants, at any depth."""
    return any(
        isinstance(part, MapType | MultisetType) or is_root(part, TypeRoot.VARIANT)
        for part in parts(data_type)
    )


def _natural_array(values: Sequence[object], data_type: DataType | None) -> Column:
    """Convert values to an array of the types that they have, null where a type is kept.

    Values that do not fit the shape of the type are null as well: the write refuses them.
    """
    if data_type is None or not _keeps_type(data_type):
        return own_array(values)
    if isinstance(data_type, ArrayType):
        lists = [value if _is_collection(value) else () for value in values]
        elements = _natural_array([*chain.from_iterable(lists)], data_type.element)
        offsets = offsets_from_sizes(np.array([*map(len, lists)], np.int64))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), elements)
    if isinstance(data_type, RowType):
        rows = [value if isinstance(value, Mapping) else {} for value in values]
        fields = {
            name: _natural_array([row.get(name) for row in rows], _type_of(data_type, name))
            for name in dict.fromkeys(chain.from_iterable(rows))
        }
        if fields:
            return pa.StructArray.from_arrays([*fields.values()], [*fields])
    return pa.nulls(len(values))


def _is_collection(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _type_of(row_type: RowType, name: str) -> DataType | None:
    field = row_type.field(name)
    return None if field is None else field.type


def _unified(schemas: Sequence[pa.Schema]) -> pa.Schema:
    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"The rows have columns of different types: {error}.",
            hint="Convert the rows to one Arrow table first.",
        ) from error


def _typed(rows: Rows, new: pa.Schema, known: pa.Schema) -> TypedRows:
    names = [name for name in new.names if name != ROW_KIND and not is_pandas_index(name)]
    types = {name: _without_nulls(new.field(name).type) for name in names}
    typed = [name for name, kind in types.items() if kind is not None]
    return TypedRows(
        rows=rows,
        new=_row_type(new, typed),
        known=_row_type(known, typed),
        untyped=[name for name in names if name not in typed],
    )


def _row_type(schema: pa.Schema, names: Iterable[str]) -> RowType:
    fields = map(schema.field, names)
    typed = [one.with_type(_without_nulls(one.type) or one.type) for one in fields]
    return row_type_from_arrow(pa.schema(typed))


def _without_nulls(kind: pa.DataType) -> pa.DataType | None:
    """Return a type without the parts that have no values; None if nothing is left."""
    if pat.is_null(kind):
        return None
    if isinstance(kind, pa.StructType):
        parts = [(one, _without_nulls(one.type)) for one in kind]
        return pa.struct([one.with_type(left) for one, left in parts if left is not None]) or None
    if isinstance(kind, pa.MapType):
        key, value = _without_nulls(kind.key_type), _without_nulls(kind.item_type)
        return None if key is None or value is None else pa.map_(key, value)
    if not pat.is_nested(kind):
        return kind
    element = _without_nulls(kind.field(0).type)
    if isinstance(kind, pa.ListType) and element is not None:
        return pa.list_(kind.value_field.with_type(element))
    return None if element is None else kind


def _narrowed(batch: pa.RecordBatch, names: Container[str]) -> pa.Schema:
    """Return the columns of a batch, those with the names with the narrowest types."""
    named = zip(batch.schema.names, batch.columns, strict=True)
    kinds = {name: _narrowest(one) if name in names else one.type for name, one in named}
    return pa.schema(kinds)


def _narrowest(array: Column) -> pa.DataType:
    """Return the narrowest type of the values, down to the fields of structs."""
    if pat.is_integer(array.type) and not pat.is_unsigned_integer(array.type):
        return next(one for one in _INTEGERS if _fits(array, one))
    if pat.is_float64(array.type):
        return pa.float32()
    if isinstance(array, pa.StructArray):
        fields = [array.type.field(at) for at in range(array.type.num_fields)]
        parts = [pa.field(one.name, _narrowest(array.field(at))) for at, one in enumerate(fields)]
        return pa.struct(parts)
    if isinstance(array, pa.ListArray):
        return pa.list_(_narrowest(array.flatten()))
    return array.type


def _fits(array: Column, data_type: pa.DataType) -> bool:
    try:
        pc.cast(array, data_type)
    except pa.ArrowInvalid:
        return False
    return True
