"""Shredding of VARIANT columns on write; `shredding` has the layout and the way back.

The type by which a column is shredded says which parts are stored by themselves: keys of objects,
elements of arrays, and scalars. A value is taken out only if it has that type already, so that
reading gives the same value: integers in the range of the type, decimals of the same scale. Java
also takes numbers that are equal in another scale. Any other value stays in `value`.

Spec: the Parquet Variant Shredding specification; option `variant.shreddingSchema`.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_struct,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant import encoder as write
from paimon_explore.encoding.variant.arrow_values import variant_readers
from paimon_explore.encoding.variant.decoder import Kind, Raw, VariantReader
from paimon_explore.errors import UnsupportedFeatureError

_INTEGER_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INT: 32, TypeRoot.BIGINT: 64}
INTEGERS = frozenset({Kind.INT1, Kind.INT2, Kind.INT4, Kind.INT8})
"""Kinds of integers."""
_DECIMALS = frozenset({Kind.DECIMAL4, Kind.DECIMAL8, Kind.DECIMAL16})
_KINDS = {
    TypeRoot.BOOLEAN: frozenset({Kind.TRUE, Kind.FALSE}),
    TypeRoot.FLOAT: frozenset({Kind.FLOAT}),
    TypeRoot.DOUBLE: frozenset({Kind.DOUBLE}),
    TypeRoot.DECIMAL: _DECIMALS,
    TypeRoot.VARCHAR: frozenset({Kind.TEXT}),
    TypeRoot.VARBINARY: frozenset({Kind.BINARY}),
    TypeRoot.DATE: frozenset({Kind.DATE}),
    TypeRoot.TIMESTAMP: frozenset({Kind.TIMESTAMP_NTZ}),
    TypeRoot.TIMESTAMP_LTZ: frozenset({Kind.TIMESTAMP}),
    **dict.fromkeys(_INTEGER_BITS, INTEGERS),
}
_MICROS = 6
_MAX_LENGTH = 2**31 - 1
_BYTES = AtomicType(root=TypeRoot.VARBINARY, length=_MAX_LENGTH)


class _Leaf:
    """The kind and content of a scalar; None for other values."""

    def leaf(self, kind: Kind, raw: Raw) -> tuple[Kind, Raw] | None:
        return kind, raw

    def array(self, elements: list[tuple[Kind, Raw] | None]) -> tuple[Kind, Raw] | None:
        del elements
        return None

    def object(self, fields: list[tuple[str, tuple[Kind, Raw] | None]]) -> tuple[Kind, Raw] | None:
        del fields
        return None


def check_shredded_type(data_type: DataType, column: str) -> None:
    """Check that variants can be shredded by a type.

    Raises:
        UnsupportedFeatureError: they cannot.
    """
    match data_type:
        case RowType(fields=fields) if fields:
            for field in fields:
                check_shredded_type(field.type, column)
        case ArrayType(element=element):
            check_shredded_type(element, column)
        case AtomicType(root=root) if root in _KINDS and _has_range_of_variants(data_type):
            pass
        case _:
            raise UnsupportedFeatureError(
                f"shredding the VARIANT column {column!r} by type {type_text(data_type)}",
                hint="Use ROW, ARRAY, BOOLEAN, integers, FLOAT, DOUBLE, DECIMAL, STRING, BYTES, "
                "DATE, TIMESTAMP(6) or TIMESTAMP_LTZ(6).",
            )


def _has_range_of_variants(data_type: AtomicType) -> bool:
    match data_type.root:
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return data_type.precision == _MICROS
        case TypeRoot.VARCHAR | TypeRoot.VARBINARY:
            return data_type.length in {None, _MAX_LENGTH}
        case _:
            return True


def shredded_type(data_type: DataType) -> RowType:
    """Return the columns in which variants are stored that are shredded by a type."""
    metadata = DataField(id=0, name="metadata", type=with_nullable(_BYTES, nullable=False))
    group = _group_type(data_type, nullable=True)
    rest = (replace(field, id=field.id + 1) for field in group.fields)
    return RowType(fields=(metadata, *rest))


def _group_type(data_type: DataType, *, nullable: bool, is_field: bool = False) -> RowType:
    """The columns of a value; a field without `value` is missing, others have one."""
    is_whole = is_root(data_type, TypeRoot.VARIANT)
    whole = with_nullable(_BYTES, nullable=is_field or not is_whole)
    value = DataField(id=0, name="value", type=whole)
    if is_whole:
        return RowType(fields=(value,), nullable=nullable)
    typed = DataField(id=1, name="typed_value", type=_typed_type(data_type))
    return RowType(fields=(value, typed), nullable=nullable)


def _typed_type(data_type: DataType) -> DataType:
    match data_type:
        case RowType(fields=fields):
            groups = (
                DataField(
                    id=number, name=f.name, type=_group_type(f.type, nullable=False, is_field=True)
                )
                for number, f in enumerate(fields)
            )
            return RowType(fields=tuple(groups))
        case ArrayType(element=element):
            return ArrayType(element=_group_type(element, nullable=True))
        case _:
            return with_nullable(data_type, nullable=True)


def physical_type(logical: DataType, shredding: DataType) -> DataType:
    """Return the type in which a column is stored.

    Args:
        logical: VARIANT, or a ROW with variants.
        shredding: by what: of a ROW, a ROW with the fields that contain variants.
    """
    if not isinstance(logical, RowType):
        return with_nullable(shredded_type(shredding), nullable=logical.nullable)
    inner = _types_of(shredding)
    return replace(
        logical,
        fields=tuple(
            replace(field, type=physical_type(field.type, inner[field.name]))
            if field.name in inner
            else field
            for field in logical.fields
        ),
    )


def shred_column(column: Column, logical: DataType, shredding: DataType) -> Column:
    """Shred the variants of a column; arguments as of `physical_type`."""
    if not (isinstance(logical, RowType) and isinstance(column, pa.StructArray)):
        return shred(column, shredding)
    inner = _types_of(shredding)
    children = [
        shred_column(child, field.type, inner[field.name]) if field.name in inner else child
        for child, field in zip(column.flatten(), logical.fields, strict=True)
    ]
    return build_struct(to_arrow(physical_type(logical, shredding)), children, valid_mask(column))


def _types_of(shredding: DataType) -> dict[str, DataType]:
    assert isinstance(shredding, RowType)  # noqa: S101 - that of a ROW
    return {field.name: field.type for field in shredding.fields}


def shred(variants: Column, data_type: DataType) -> Column:
    """Shred a column.

    Args:
        variants: n variants, structs of `value` and `metadata`.
        data_type: by what, as accepted by `check_shredded_type`.

    Returns:
        n structs in the Arrow type of `shredded_type`.

    Raises:
        CorruptFileError: a variant is damaged.
    """
    found = [
        None if reader is None else {"metadata": metadata, **_group(reader, 0, data_type)}
        for metadata, reader in variant_readers(variants)
    ]
    shredded: Column = pa.array(found, to_arrow(shredded_type(data_type)))
    return shredded


def leaf_at(reader: VariantReader, at: int) -> tuple[Kind, Raw] | None:
    """Return the kind and content of the scalar at a byte; None for objects and arrays."""
    return None if reader.is_object(at) or reader.is_array(at) else reader.read(_Leaf(), at)


def _group(reader: VariantReader, at: int, data_type: DataType) -> dict[str, object]:
    """Return `value` and `typed_value` of the value at a byte."""
    match data_type:
        case RowType() if reader.is_object(at):
            return _object(reader, at, data_type.fields)
        case ArrayType(element=element) if reader.is_array(at):
            starts = reader.container(at).starts
            return {"value": None, "typed_value": [_group(reader, s, element) for s in starts]}
        case AtomicType():
            leaf = leaf_at(reader, at)
            if leaf is not None and _has_type(*leaf, data_type):
                return {"value": None, "typed_value": leaf[1]}
        case _:
            pass
    return {"value": reader.slice(at), "typed_value": None}


def _object(reader: VariantReader, at: int, fields: Sequence[DataField]) -> dict[str, object]:
    types = {field.name: field.type for field in fields}
    typed: dict[str, object] = {name: {"value": None, "typed_value": None} for name in types}
    rest: list[tuple[str, int, bytes]] = []
    container = reader.container(at)
    for number, start in zip(container.key_numbers, container.starts, strict=True):
        key = reader.key(number)
        if key in types:
            typed[key] = _group(reader, start, types[key])
        else:
            rest.append((key, number, reader.slice(start)))
    return {"value": write.object_of(rest) if rest else None, "typed_value": typed}


def _has_type(kind: Kind, raw: Raw, data_type: AtomicType) -> bool:
    """Whether a scalar can be stored in a type and read back as it is."""
    if kind not in _KINDS.get(data_type.root, ()):
        return False
    if isinstance(raw, Decimal):
        digits, exponent = raw.as_tuple().digits, raw.as_tuple().exponent
        is_same = exponent == -(data_type.scale or 0)
        return is_same and len(digits) <= (data_type.precision or 0)
    if kind in INTEGERS and isinstance(raw, int):
        limit = 1 << (_INTEGER_BITS[data_type.root] - 1)
        return -limit <= raw < limit
    return True
