"""Conversion of Paimon types and Arrow batches to Spark's types and Arrow schema.

| Paimon | Spark | note |
| --- | --- | --- |
| BOOLEAN … DOUBLE, DECIMAL, DATE | the same | |
| CHAR, VARCHAR | STRING | lengths are checked when written |
| BINARY, VARBINARY, BLOB, GEOMETRY, GEOGRAPHY | BINARY | geometries as well-known binary |
| TIME | TIME | |
| TIMESTAMP | TIMESTAMP_NTZ | Spark has microseconds: TIMESTAMP(7) to (9) are truncated |
| TIMESTAMP_LTZ | TIMESTAMP | the same |
| ARRAY, MAP, ROW | the same | |
| VECTOR | ARRAY | the length is checked when written |
| MULTISET | MAP of element to INT | |
| VARIANT | VARIANT | `toArrow()` and `toPandas()` of a variant with nulls fail inside PySpark |

From Spark 4.2 on a batch must have exactly the declared schema: nullability, the time zone "UTC",
microseconds. So every batch is rebuilt from its columns; columns that already have the right type
are not copied.
"""

from collections.abc import Mapping, Sequence
from itertools import starmap

import numpy as np
import pyarrow as pa
from pyspark.sql import types as st

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_list,
    build_struct,
    list_offsets,
    valid_mask,
)
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

_COUNT = AtomicType(root=TypeRoot.INT, nullable=False)
_SPARK_DIGITS = 6
_SIMPLE: Mapping[TypeRoot, st.DataType] = {
    TypeRoot.BOOLEAN: st.BooleanType(),
    TypeRoot.TINYINT: st.ByteType(),
    TypeRoot.SMALLINT: st.ShortType(),
    TypeRoot.INT: st.IntegerType(),
    TypeRoot.BIGINT: st.LongType(),
    TypeRoot.FLOAT: st.FloatType(),
    TypeRoot.DOUBLE: st.DoubleType(),
    **dict.fromkeys(TEXTS, st.StringType()),
    **dict.fromkeys(BYTES | SPATIAL | {TypeRoot.BLOB, TypeRoot.UNKNOWN}, st.BinaryType()),
    TypeRoot.DATE: st.DateType(),
    TypeRoot.TIMESTAMP: st.TimestampNTZType(),
    TypeRoot.TIMESTAMP_LTZ: st.TimestampType(),
    TypeRoot.VARIANT: st.VariantType(),
}
_FROM_SPARK: Mapping[type[st.DataType], TypeRoot] = {
    type(_SIMPLE[root]): root for root in VECTOR_ELEMENTS | {TypeRoot.DATE, TypeRoot.VARIANT}
}
_VARIANT_WIRE = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
_WIRE: Mapping[type[st.DataType], pa.DataType] = {
    **{kind: to_arrow(AtomicType(root=root)) for kind, root in _FROM_SPARK.items()},
    st.StringType: pa.string(),
    st.BinaryType: pa.binary(),
    st.TimeType: pa.time64("ns"),
    st.TimestampNTZType: pa.timestamp("us"),
    st.TimestampType: pa.timestamp("us", "UTC"),
    st.VariantType: _VARIANT_WIRE,
}


def spark_schema(row_type: RowType) -> st.StructType:
    """Return the Spark schema of a table's rows, including comments."""
    return st.StructType([_spark_field(field) for field in row_type])


def _spark_field(field: DataField) -> st.StructField:
    metadata = {} if field.description is None else {"comment": field.description}
    return st.StructField(field.name, spark_type(field.type), field.type.nullable, metadata)


def spark_type(data_type: DataType) -> st.DataType:  # noqa: PLR0911 - one for each kind of type
    """Return the Spark type of a column.

    >>> spark_type(AtomicType(root=TypeRoot.TIMESTAMP, precision=3))
    TimestampNTZType()
    """
    match data_type:
        case AtomicType(root=TypeRoot.DECIMAL):
            return st.DecimalType(data_type.precision or 1, data_type.scale or 0)
        case AtomicType(root=TypeRoot.TIME):
            return st.TimeType(min(data_type.precision or 0, _SPARK_DIGITS))
        case AtomicType(root=root):
            return _SIMPLE[root]
        case ArrayType(element=element) | VectorType(element=element):
            return st.ArrayType(spark_type(element), element.nullable)
        case MultisetType(element=element):
            return st.MapType(spark_type(element), st.IntegerType(), valueContainsNull=False)
        case MapType(key=key, value=value):
            return st.MapType(spark_type(key), spark_type(value), value.nullable)
        case RowType():
            return spark_schema(data_type)


def paimon_type(spark: st.DataType, *, nullable: bool = True) -> DataType | None:  # noqa: PLR0911 - one for each kind of type
    """Return the Paimon type for a Spark type; None if there is none.

    >>> paimon_type(st.TimestampType()).root.name
    'TIMESTAMP_LTZ'
    """
    match spark:
        case st.DecimalType():
            root, first, second = TypeRoot.DECIMAL, spark.precision, spark.scale
            return AtomicType(root=root, precision=first, scale=second, nullable=nullable)
        case st.CharType() | st.VarcharType():
            root = TypeRoot.CHAR if isinstance(spark, st.CharType) else TypeRoot.VARCHAR
            return AtomicType(root=root, length=spark.length, nullable=nullable)
        case st.StringType():
            return AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH, nullable=nullable)
        case st.BinaryType():
            return AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH, nullable=nullable)
        case st.TimestampNTZType() | st.TimestampType():
            is_local = isinstance(spark, st.TimestampType)
            root = TypeRoot.TIMESTAMP_LTZ if is_local else TypeRoot.TIMESTAMP
            return AtomicType(root=root, precision=_SPARK_DIGITS, nullable=nullable)
        case st.TimeType():
            return AtomicType(root=TypeRoot.TIME, precision=spark.precision, nullable=nullable)
        case st.ArrayType() | st.MapType() | st.StructType():
            return _nested(spark, nullable=nullable)
        case _:
            known = _FROM_SPARK.get(type(spark))
            return None if known is None else AtomicType(root=known, nullable=nullable)


def _nested(spark: st.ArrayType | st.MapType | st.StructType, *, nullable: bool) -> DataType | None:
    match spark:
        case st.ArrayType():
            element = paimon_type(spark.elementType, nullable=spark.containsNull)
            return None if element is None else ArrayType(element=element, nullable=nullable)
        case st.MapType():
            key = paimon_type(spark.keyType, nullable=False)
            value = paimon_type(spark.valueType, nullable=spark.valueContainsNull)
            if key is None or value is None:
                return None
            return MapType(key=key, value=value, nullable=nullable)
        case _:
            kinds = [paimon_type(f.dataType, nullable=f.nullable) for f in spark.fields]
            fields = [
                DataField(id=at, name=f.name, type=kind, description=f.metadata.get("comment"))
                for at, (f, kind) in enumerate(zip(spark.fields, kinds, strict=True))
                if kind is not None
            ]
            same = len(fields) == len(kinds)
            return RowType(fields=tuple(fields), nullable=nullable) if same else None


def wire_schema(schema: st.StructType) -> pa.Schema:
    """Return the Arrow schema in which Spark exchanges rows of a schema."""
    return pa.schema([_wire_field(field) for field in schema.fields])


def _wire_field(field: st.StructField) -> "pa.Field[pa.DataType]":
    wire = wire_type(field.dataType)
    return pa.field(field.name, wire, nullable=field.nullable or pa.types.is_null(wire))


def wire_type(spark: st.DataType) -> pa.DataType:
    """Return the Arrow type in which Spark exchanges values of a type.

    Types without a Paimon equivalent map to null, which no column accepts.
    """
    match spark:
        case st.DecimalType():
            return pa.decimal128(spark.precision, spark.scale)
        case st.ArrayType():
            element = wire_type(spark.elementType)
            return pa.list_(pa.field("element", element, nullable=spark.containsNull))
        case st.MapType():
            key = pa.field("key", wire_type(spark.keyType), nullable=False)
            item = pa.field("value", wire_type(spark.valueType), nullable=spark.valueContainsNull)
            arrow: pa.DataType = pa.map_(key, item)  # type: ignore[call-overload] # stubs know no fields
            return arrow
        case st.StructType():
            return pa.struct([_wire_field(field) for field in spark.fields])
        case _:
            return _WIRE.get(type(spark), pa.null())


def to_spark(batch: pa.RecordBatch, row_type: RowType, wire: pa.Schema) -> pa.RecordBatch:
    """Convert rows to Spark's Arrow schema.

    Args:
        batch: n rows in the Arrow types of `data_types.arrow`.
        row_type: their columns, in order.
        wire: `wire_schema(spark_schema(row_type))`.
    """
    parts = zip(batch.columns, row_type, wire, strict=True)
    columns = [_column(column, field.type, out.type) for column, field, out in parts]
    return pa.RecordBatch.from_arrays(columns, schema=wire)


def _column(  # noqa: PLR0911 - one for each kind of type
    array: Column, data_type: DataType, wire: pa.DataType
) -> Column:
    if array.type.equals(wire, check_metadata=True):
        return array
    match data_type:
        case AtomicType(root=TypeRoot.VARIANT):
            children = [array.field(0), array.field(1)]  # type: ignore[attr-defined]  # a struct
            return build_struct(wire, children, valid_mask(array))
        case AtomicType():
            return _atomic(array, wire)
        case ArrayType(element=element):
            return _list(array, element, wire)
        case VectorType(element=element):
            return _list(array.cast(pa.list_(array.type.field(0))), element, wire)
        case MultisetType(element=element):
            return _map(array, (element, _COUNT), wire)
        case MapType(key=key, value=value):
            return _map(array, (key, value), wire)
        case RowType():
            fields = enumerate(data_type)
            return _struct(array, [(i, f.type, wire.field(i).type) for i, f in fields], wire)


def _atomic(array: Column, wire: pa.DataType) -> Column:
    if pa.types.is_timestamp(array.type) and array.type.unit == "ns":
        array = pc.floor_temporal(array, unit="microsecond")  # type: ignore[call-overload] # stubs
    return array.cast(wire)


def _list(array: Column, element: DataType, wire: pa.DataType) -> Column:
    values = _column(array.values, element, wire.field(0).type)  # type: ignore[attr-defined]  # a list
    return build_list(wire, list_offsets(array), [values], valid_mask(array))


def _map(array: Column, kinds: Sequence[DataType], wire: pa.DataType) -> Column:
    pairs = wire.field(0).type
    sides = (array.keys, array.items)  # type: ignore[attr-defined]  # a map
    both = zip(sides, kinds, (pairs.field(0).type, pairs.field(1).type), strict=True)
    children = list(starmap(_column, both))
    entries = build_struct(pairs, children, np.ones(len(children[0]), np.bool_))
    return build_list(wire, list_offsets(array), [entries], valid_mask(array))


def _struct(
    array: Column, parts: Sequence[tuple[int, DataType, pa.DataType]], wire: pa.DataType
) -> Column:
    children = [
        _column(array.field(at), data_type, out)  # type: ignore[attr-defined]  # a struct
        for at, data_type, out in parts
    ]
    return build_struct(wire, children, valid_mask(array))


def from_spark(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Rename the columns of Spark's rows to the table's; the writer casts the values."""
    return pa.RecordBatch.from_arrays(batch.columns, names=list(names))
