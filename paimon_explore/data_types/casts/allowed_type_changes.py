"""Rules for changing the type of a column: implicit, explicit and executable casts.

A change must be allowed, implicitly or explicitly, and a conversion of the values must exist; for
some allowed pairs there is none.

Spec: concepts/schema evolution; the tables are those of the Java implementation.
"""

from collections.abc import Mapping

from paimon_explore.data_types.definitions import (
    BYTES,
    INTEGERS,
    MAX_LENGTH,
    NUMBERS,
    SPATIAL,
    TEXTS,
    TIMESTAMPS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullable,
)
from paimon_explore.data_types.traversal import is_root, parts

_NOTHING: frozenset[TypeRoot] = frozenset()
_TO_NUMBER = NUMBERS | TEXTS | TIMESTAMPS | {TypeRoot.BOOLEAN}
_TO_TIMESTAMP = TIMESTAMPS | TEXTS | NUMBERS | {TypeRoot.DATE, TypeRoot.TIME}

_IMPLICIT: Mapping[TypeRoot, frozenset[TypeRoot]] = {
    TypeRoot.VARCHAR: TEXTS,
    TypeRoot.VARBINARY: BYTES,
    TypeRoot.DECIMAL: NUMBERS,
    TypeRoot.SMALLINT: frozenset({TypeRoot.TINYINT}),
    TypeRoot.INT: frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT}),
    TypeRoot.BIGINT: INTEGERS,
    TypeRoot.FLOAT: INTEGERS | {TypeRoot.DECIMAL},
    TypeRoot.DOUBLE: NUMBERS,
    TypeRoot.DATE: frozenset({TypeRoot.TIMESTAMP}),
    TypeRoot.TIME: frozenset({TypeRoot.TIMESTAMP}),
    TypeRoot.TIMESTAMP: TIMESTAMPS,
    TypeRoot.TIMESTAMP_LTZ: TIMESTAMPS,
}
_EXPLICIT: Mapping[TypeRoot, frozenset[TypeRoot]] = {
    TypeRoot.CHAR: frozenset(TypeRoot) - SPATIAL,
    TypeRoot.VARCHAR: frozenset(TypeRoot) - SPATIAL,
    TypeRoot.BOOLEAN: TEXTS | INTEGERS,
    TypeRoot.BINARY: TEXTS | {TypeRoot.VARBINARY},
    TypeRoot.VARBINARY: TEXTS | {TypeRoot.BINARY},
    TypeRoot.DATE: TIMESTAMPS | TEXTS,
    TypeRoot.TIME: TIMESTAMPS | TEXTS,
    TypeRoot.TIMESTAMP: _TO_TIMESTAMP,
    TypeRoot.TIMESTAMP_LTZ: _TO_TIMESTAMP,
    **dict.fromkeys(NUMBERS, _TO_NUMBER),
}


def is_implicit(source: DataType, target: DataType) -> bool:
    """Return whether a column's type may be changed without an explicit cast.

    A type of the same kind is allowed with any length or precision; adding NOT NULL is not.
    """
    if source.nullable and not target.nullable:
        return False
    return _is_allowed(source, target, _IMPLICIT)


def is_explicit(source: DataType, target: DataType) -> bool:
    """Return whether a column's type may be changed with an explicit cast."""
    return _is_allowed(source, target, _IMPLICIT) or _is_allowed(source, target, _EXPLICIT)


def _is_allowed(
    source: DataType, target: DataType, table: Mapping[TypeRoot, frozenset[TypeRoot]]
) -> bool:
    if is_same(source, target):
        return True
    if isinstance(source, AtomicType) and isinstance(target, AtomicType):
        if source.root in SPATIAL or target.root in SPATIAL:
            return False
        return source.root is target.root or source.root in table.get(target.root, _NOTHING)
    if isinstance(target, AtomicType):
        is_constructed = not isinstance(source, AtomicType)
        return table is _EXPLICIT and target.root in TEXTS and is_constructed
    return type(source) is type(target)


def is_same(source: DataType, target: DataType) -> bool:
    """Return whether two types are equal, ignoring their own nullability."""
    return with_nullable(source, nullable=True) == with_nullable(target, nullable=True)


def is_castable(source: DataType, target: DataType) -> bool:
    """Return whether the change is allowed explicitly and a conversion of the values exists."""
    return is_explicit(source, target) and is_executable(source, target)


def is_executable(source: DataType, target: DataType) -> bool:
    """Return whether a conversion of the values exists.

    Fields of rows, elements of arrays and values of maps are converted recursively.
    """
    if is_same(source, target):
        return True
    if isinstance(target, AtomicType):
        return _is_executable_to(source, target)
    if isinstance(source, RowType) and isinstance(target, RowType):
        return all(
            found is None or is_executable(found.type, field.type)
            for field in target.fields
            for found in (source.field_by_id(field.id),)
        )
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return is_executable(source.element, target.element)
    if isinstance(source, MapType) and isinstance(target, MapType):
        return source.key == target.key and is_executable(source.value, target.value)
    return False


def _is_executable_to(source: DataType, target: AtomicType) -> bool:
    if isinstance(source, AtomicType):
        if target.root in TEXTS:
            return _is_executable_to_text(source.root, target)
        return source.root in _EXECUTABLE.get(target.root, _NOTHING)
    return target.root in TEXTS and has_text_form(source)


def _is_executable_to_text(source: TypeRoot, target: AtomicType) -> bool:
    if source in {TypeRoot.DATE, TypeRoot.TIME, *TIMESTAMPS}:
        # Java has these rules only for the nullable type STRING
        is_string = target.root is TypeRoot.VARCHAR and target.length == MAX_LENGTH
        return is_string and target.nullable
    return source in NUMBERS | TEXTS | BYTES | {TypeRoot.BOOLEAN}


def has_text_form(data_type: DataType) -> bool:
    """Return whether values of a type can be cast to text."""
    return not any(
        is_root(part, *SPATIAL, TypeRoot.VARIANT, TypeRoot.BLOB)
        or isinstance(part, VectorType | MultisetType)
        for part in parts(data_type)
    )


_EXECUTABLE: Mapping[TypeRoot, frozenset[TypeRoot]] = {
    TypeRoot.BOOLEAN: TEXTS | INTEGERS,
    TypeRoot.BINARY: TEXTS | BYTES,
    TypeRoot.VARBINARY: TEXTS | BYTES,
    TypeRoot.DATE: TEXTS | TIMESTAMPS,
    TypeRoot.TIME: TEXTS | TIMESTAMPS,
    **dict.fromkeys(
        TIMESTAMPS,
        TIMESTAMPS | TEXTS | {TypeRoot.DATE, TypeRoot.TIME, TypeRoot.INT, TypeRoot.BIGINT},
    ),
    **dict.fromkeys(NUMBERS, NUMBERS | TEXTS | {TypeRoot.BOOLEAN}),
    **dict.fromkeys(
        (TypeRoot.INT, TypeRoot.BIGINT), NUMBERS | TEXTS | TIMESTAMPS | {TypeRoot.BOOLEAN}
    ),
}
