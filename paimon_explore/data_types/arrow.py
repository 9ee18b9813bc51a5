"""Conversion between Paimon types and Arrow types.

All row data inside the package has exactly the types of `to_arrow`.

Spec: program-api/python-api, data types.
"""

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.definitions import (
    BYTES,
    MAX_LENGTH,
    SPATIAL,
    TEXTS,
    VECTOR_ELEMENTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.data_types.object_columns import check_pandas_types
from paimon_explore.data_types.traversal import entry_types, is_root
from paimon_explore.data_types.type_parser import MAX_DEPTH
from paimon_explore.errors import InvalidInputError

Unit = Literal["s", "ms", "us", "ns"]
PER_SECOND: Mapping[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Ticks of a second by Arrow's unit."""

_UNITS: tuple[tuple[int, Unit], ...] = ((0, "s"), (3, "ms"), (6, "us"), (9, "ns"))
_DIGITS: Mapping[str, int] = {unit: digits for digits, unit in _UNITS}
_MAX_DECIMAL_PRECISION = 38
_UINT64_DIGITS = 20
_CAST_FIRST = "Cast the column to another type first."

VARIANT_ARROW: pa.StructType = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False),
    ]
)
"""A variant's two byte strings."""


_ATOMIC = (
    *(pa.string(), pa.binary(), pa.bool_(), pa.int8(), pa.int32(), pa.int64(), pa.float64()),
    *(pa.timestamp("ms"), pa.timestamp("us")),
)
_TYPES: Mapping[str, pa.DataType] = {
    **{str(kind): kind for kind in _ATOMIC},
    **{f"list<{kind}>": pa.list_(kind) for kind in _ATOMIC},
}


def schema_from_text(*columns: "str | pa.Field[pa.DataType]") -> pa.Schema:
    """Return the schema of columns that are written as text, or given as fields.

    Args:
        columns: fields, or texts of columns separated by commas: a name, a type by the name that
            Arrow has for it or `list<…>` of one, and `not null` for a column without nulls.

    >>> schema_from_text("id int64 not null, tags list<string>").field("tags").type
    ListType(list<item: string>)
    """
    return pa.schema(
        [
            field
            for given in columns
            for field in (map(_field, given.split(", ")) if isinstance(given, str) else (given,))
        ]
    )


def _field(text: str) -> "pa.Field[pa.DataType]":
    name, kind, *rest = text.split(" ", 2)
    return pa.field(name, _TYPES[kind], nullable=not rest)


def is_variant_storage(arrow: pa.DataType) -> bool:
    """Return whether an Arrow type stores variants: a struct of the two byte strings."""
    return (
        isinstance(arrow, pa.StructType)
        and {field.name for field in arrow} == {"value", "metadata"}
        and arrow.num_fields == VARIANT_ARROW.num_fields
        and all(
            pat.is_binary(field.type)
            or pat.is_large_binary(field.type)
            or pat.is_binary_view(field.type)
            for field in arrow
        )
    )


def timestamp_unit(precision: int | None) -> Unit:
    """Return the Arrow unit of timestamps with a number of fraction digits."""
    return next(unit for digits, unit in _UNITS if (precision or 0) <= digits)


def to_arrow(data_type: DataType) -> pa.DataType:
    """Return the Arrow type of a column's data.

    >>> to_arrow(AtomicType(root=TypeRoot.TIMESTAMP, precision=3))
    TimestampType(timestamp[ms])
    """
    match data_type:
        case AtomicType():
            return _atomic_to_arrow(data_type)
        case ArrayType():
            return pa.list_(_child("item", data_type.element))
        case VectorType():
            return pa.list_(_child("item", data_type.element), data_type.length)
        case MapType() | MultisetType():
            key, value = entry_types(data_type)
            return _map_type(key, _child("value", value))
        case RowType():
            return pa.struct([arrow_field(field) for field in data_type.fields])


def _child(name: str, data_type: DataType) -> "pa.Field[pa.DataType]":
    return pa.field(name, to_arrow(data_type), nullable=data_type.nullable)


def _map_type(key: DataType, value: "pa.Field[pa.DataType]") -> pa.DataType:
    field = pa.field("key", to_arrow(key), nullable=False)
    arrow: pa.DataType = pa.map_(field, value)  # type: ignore[call-overload] # stubs know no fields
    return arrow


def _atomic_to_arrow(atomic: AtomicType) -> pa.DataType:
    match atomic.root:
        case TypeRoot.DECIMAL:
            return pa.decimal128(atomic.precision or 1, atomic.scale or 0)
        case TypeRoot.TIMESTAMP:
            return pa.timestamp(timestamp_unit(atomic.precision))
        case TypeRoot.TIMESTAMP_LTZ:
            return pa.timestamp(timestamp_unit(atomic.precision), "UTC")
        case root:
            return _SIMPLE[root]


_SIMPLE: Mapping[TypeRoot, pa.DataType] = {
    TypeRoot.BOOLEAN: pa.bool_(),
    TypeRoot.TINYINT: pa.int8(),
    TypeRoot.SMALLINT: pa.int16(),
    TypeRoot.INT: pa.int32(),
    TypeRoot.BIGINT: pa.int64(),
    TypeRoot.FLOAT: pa.float32(),
    TypeRoot.DOUBLE: pa.float64(),
    **dict.fromkeys(TEXTS, pa.string()),
    **dict.fromkeys(BYTES | SPATIAL | {TypeRoot.UNKNOWN}, pa.binary()),
    TypeRoot.DATE: pa.date32(),
    TypeRoot.TIME: pa.time32("ms"),
    TypeRoot.VARIANT: VARIANT_ARROW,
    TypeRoot.BLOB: pa.large_binary(),
}


def arrow_field(field: DataField) -> "pa.Field[pa.DataType]":
    """Return the Arrow field of a column, without metadata."""
    return pa.field(field.name, to_arrow(field.type), nullable=field.type.nullable)


def arrow_schema(row_type: RowType) -> pa.Schema:
    """Return the Arrow schema of a table's rows."""
    return pa.schema([arrow_field(field) for field in row_type.fields])


def row_type_from_arrow(schema: pa.Schema) -> RowType:
    """Return the row type of an Arrow schema; field ids are assigned as by the Java schema builder.

    A field's metadata key `description` or `comment` becomes its description.

    Raises:
        InvalidInputError: a column's Arrow type has no corresponding Paimon type.
    """
    check_pandas_types(schema)
    return RowType(fields=assigned_ids(_from_arrow_field(field) for field in schema))


def _from_arrow_field(field: "pa.Field[pa.DataType]") -> DataField:
    metadata = field.metadata or {}
    comment = metadata.get(b"description", metadata.get(b"comment"))
    try:
        data_type = from_arrow(field.type, nullable=field.nullable)
    except InvalidInputError as error:
        msg = f"Column {field.name!r}: {error.message}"
        raise InvalidInputError(msg, hint=error.hint) from error
    return DataField(
        id=0,
        name=field.name,
        type=data_type,
        description=None if comment is None else comment.decode("utf-8", "replace"),
    )


def from_arrow(arrow: pa.DataType, *, nullable: bool = True) -> DataType:
    """Return the Paimon type that can store the values of an Arrow type.

    Unsigned integers become the next wider signed type, dictionaries the type of their values.
    Fields of structs get the id 0; `row_type_from_arrow` assigns ids.

    Raises:
        InvalidInputError: the Arrow type has no corresponding Paimon type.

    >>> from_arrow(pa.dictionary(pa.int32(), pa.string())).length
    2147483647
    """
    _check_depth(arrow)
    return _from_arrow(arrow, nullable=nullable)


def _check_depth(arrow: pa.DataType) -> None:
    """Reject types nested too deeply to be read back from a schema file."""
    level = [arrow]
    for _ in range(MAX_DEPTH):
        level = [one.field(i).type for one in level for i in range(one.num_fields)]
        if not level:
            return
    raise InvalidInputError(f"Types may be nested at most {MAX_DEPTH} levels deep.")


def _from_arrow(arrow: pa.DataType, *, nullable: bool) -> DataType:
    if isinstance(arrow, pa.BaseExtensionType):
        return _from_arrow(arrow.storage_type, nullable=nullable)
    if isinstance(arrow, pa.DictionaryType):
        return _from_arrow(arrow.value_type, nullable=nullable)
    if pat.is_nested(arrow):
        return _nested_from_arrow(arrow, nullable=nullable)
    if arrow in _FROM_SIMPLE:
        root, length = _FROM_SIMPLE[arrow]
        return AtomicType(root=root, nullable=nullable, length=length)
    if pat.is_decimal(arrow):
        return _from_decimal(arrow, nullable=nullable)
    return _family(arrow, nullable=nullable)


def _nested_from_arrow(arrow: pa.DataType, *, nullable: bool) -> DataType:
    if arrow.equals(VARIANT_ARROW):
        return AtomicType(root=TypeRoot.VARIANT, nullable=nullable)
    if isinstance(arrow, pa.StructType):
        return RowType(fields=tuple(_from_arrow_field(field) for field in arrow), nullable=nullable)
    if isinstance(arrow, pa.MapType):
        return MapType(
            key=_from_arrow(arrow.key_type, nullable=False),
            value=_from_arrow(arrow.item_type, nullable=arrow.item_field.nullable),
            nullable=nullable,
        )
    if isinstance(arrow, (pa.FixedSizeListType, *_LISTS)):
        element = _element(arrow)
        if isinstance(arrow, pa.FixedSizeListType) and is_root(element, *VECTOR_ELEMENTS):
            return VectorType(element=element, length=arrow.list_size, nullable=nullable)
        return ArrayType(element=element, nullable=nullable)
    raise _unknown(arrow)


def _element(arrow: pa.DataType) -> DataType:
    field = arrow.field(0)
    return _from_arrow(field.type, nullable=field.nullable)


def _unknown(arrow: pa.DataType) -> InvalidInputError:
    return InvalidInputError(
        f"Arrow type {arrow} has no corresponding Paimon type.", hint=_CAST_FIRST
    )


_LISTS = (pa.ListType, pa.LargeListType, pa.ListViewType, pa.LargeListViewType)

_FROM_SIMPLE: Mapping[pa.DataType, tuple[TypeRoot, int | None]] = {
    pa.bool_(): (TypeRoot.BOOLEAN, None),
    pa.int8(): (TypeRoot.TINYINT, None),
    pa.uint8(): (TypeRoot.SMALLINT, None),
    pa.int16(): (TypeRoot.SMALLINT, None),
    pa.uint16(): (TypeRoot.INT, None),
    pa.int32(): (TypeRoot.INT, None),
    pa.uint32(): (TypeRoot.BIGINT, None),
    pa.int64(): (TypeRoot.BIGINT, None),
    pa.float16(): (TypeRoot.FLOAT, None),
    pa.float32(): (TypeRoot.FLOAT, None),
    pa.float64(): (TypeRoot.DOUBLE, None),
    pa.string(): (TypeRoot.VARCHAR, MAX_LENGTH),
    pa.large_string(): (TypeRoot.VARCHAR, MAX_LENGTH),
    pa.string_view(): (TypeRoot.VARCHAR, MAX_LENGTH),
    pa.binary(): (TypeRoot.VARBINARY, MAX_LENGTH),
    pa.binary_view(): (TypeRoot.VARBINARY, MAX_LENGTH),
    pa.large_binary(): (TypeRoot.BLOB, None),
    pa.date32(): (TypeRoot.DATE, None),
    pa.date64(): (TypeRoot.DATE, None),
}


def _from_decimal(arrow: pa.DataType, *, nullable: bool) -> AtomicType:
    if not isinstance(arrow, _DECIMALS):
        raise _unknown(arrow)
    precision, scale = arrow.precision, arrow.scale
    if precision > _MAX_DECIMAL_PRECISION or not 0 <= scale <= precision:
        raise InvalidInputError(
            f"Arrow type {arrow} has no corresponding Paimon type: DECIMAL requires a "
            f"precision of 1 to {_MAX_DECIMAL_PRECISION} and a scale from 0 to the precision.",
            hint=_CAST_FIRST,
        )
    return AtomicType(root=TypeRoot.DECIMAL, nullable=nullable, precision=precision, scale=scale)


def _family(arrow: pa.DataType, *, nullable: bool) -> AtomicType:
    if isinstance(arrow, pa.TimestampType):
        root = TypeRoot.TIMESTAMP if arrow.tz is None else TypeRoot.TIMESTAMP_LTZ
        return AtomicType(root=root, nullable=nullable, precision=_DIGITS[arrow.unit])
    if pat.is_time(arrow):
        return AtomicType(root=TypeRoot.TIME, nullable=nullable, precision=0)
    if isinstance(arrow, pa.FixedSizeBinaryType) and arrow.byte_width > 0:
        return AtomicType(root=TypeRoot.BINARY, nullable=nullable, length=arrow.byte_width)
    if pat.is_uint64(arrow):
        return AtomicType(
            root=TypeRoot.DECIMAL, nullable=nullable, precision=_UINT64_DIGITS, scale=0
        )
    raise _unknown(arrow)


_DECIMALS = (pa.Decimal32Type, pa.Decimal64Type, pa.Decimal128Type, pa.Decimal256Type)
