"""Schema changes that let a table store the columns of input rows: new columns and wider types.

| column | input | becomes |
| --- | --- | --- |
| absent | any | a new nullable column |
| integer | a wider integer | the wider integer |
| TINYINT, SMALLINT | FLOAT | FLOAT |
| TINYINT, SMALLINT, INT | DOUBLE (INT also: FLOAT) | DOUBLE |
| FLOAT | DOUBLE | DOUBLE |
| DECIMAL, integer | DECIMAL | DECIMAL with all digits of both, up to 38 |
| TIMESTAMP, TIMESTAMP_LTZ | the same, more fraction digits | the higher precision |
| ROW | ROW | the same rules by field |
| ARRAY, MAP | the same | the same rules for elements and values |

Every change keeps all stored values. Other columns keep their types, also key and partition
columns, and text columns with a length: input values must fit them.

Spec: concepts/schema evolution; the counterpart in Java is `SchemaMergingUtils`.
"""

from collections.abc import Iterator
from dataclasses import replace

from paimon_explore.data_types.definitions import (
    TIMESTAMPS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeType,
    ColumnPath,
    SchemaChange,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 19), strict=True))
_WIDER = frozenset(
    {
        *((low, high) for i, low in enumerate(_INTEGERS) for high in _INTEGERS[i + 1 :]),
        (TypeRoot.TINYINT, TypeRoot.FLOAT),
        (TypeRoot.SMALLINT, TypeRoot.FLOAT),
        (TypeRoot.TINYINT, TypeRoot.DOUBLE),
        (TypeRoot.SMALLINT, TypeRoot.DOUBLE),
        (TypeRoot.INT, TypeRoot.DOUBLE),
        (TypeRoot.FLOAT, TypeRoot.DOUBLE),
    }
)
_MAX_PRECISION = 38


def merged_changes(schema: TableSchema, new: RowType, known: RowType) -> list[SchemaChange]:
    """Return the changes that let a table store rows of other types.

    Args:
        schema: the table's schema.
        new: the columns of the rows, with the types that new columns get.
        known: the same columns, with the types that columns of the table are compared with.

    Returns:
        The changes in order; empty if the table can store the rows.

    Raises:
        InvalidInputError: a new column differs from one of the table by case only.
    """
    fixed = {*schema.primary_keys, *schema.partition_keys}
    return list(_row_changes((), schema.row_type, new, known, fixed))


def _row_changes(
    path: ColumnPath, current: RowType, new: RowType, known: RowType, fixed: set[str]
) -> Iterator[SchemaChange]:
    for field, compared in zip(new, known, strict=True):
        column = (*path, field.name)
        old = current.field(field.name)
        if old is None:
            _check_case(column, current)
            yield AddColumn(
                column=column,
                type=with_nullable(field.type, nullable=True),
                comment=field.description,
            )
        elif path or field.name not in fixed:
            yield from _type_changes(column, old.type, field.type, compared.type)


def _check_case(column: ColumnPath, current: RowType) -> None:
    alike = [name for name in current.names if name.lower() == column[-1].lower()]
    if alike:
        raise InvalidInputError(
            f"The new column {'.'.join(column)!r} differs from {alike[0]!r} by case only.",
            hint=f"Rename it to {alike[0]!r}, or call add_column() first to have both.",
        )


def _type_changes(
    column: ColumnPath, current: DataType, new: DataType, known: DataType
) -> Iterator[SchemaChange]:
    match current, new, known:
        case RowType(), RowType(), RowType():
            yield from _row_changes(column, current, new, known, set())
        case ArrayType(), ArrayType(), ArrayType():
            path = (*column, "element")
            yield from _type_changes(path, current.element, new.element, known.element)
        case MapType(), MapType(), MapType():
            path = (*column, "value")
            yield from _type_changes(path, current.value, new.value, known.value)
        case AtomicType(), AtomicType(), AtomicType():
            wider = _wider(current, known)
            if wider.root is TypeRoot.FLOAT and new.root is TypeRoot.DOUBLE and wider != current:
                wider = replace(wider, root=TypeRoot.DOUBLE)  # Python's floats
            if wider != current:
                yield ChangeType(column=column, type=wider, keep_nullability=True)
        case _:
            return  # kept: the rows must fit


def _wider(current: AtomicType, found: AtomicType) -> AtomicType:
    """Return the type that stores the values of both types, or the current type."""
    nullable = current.nullable
    if current.root is TypeRoot.INT and found.root is TypeRoot.FLOAT:
        return AtomicType(root=TypeRoot.DOUBLE, nullable=nullable)
    if (current.root, found.root) in _WIDER:
        return AtomicType(root=found.root, nullable=nullable)
    if current.root in TIMESTAMPS and found.root is current.root:
        precision = max(current.precision or 0, found.precision or 0)
        return replace(current, precision=precision)
    if found.root is TypeRoot.DECIMAL and (
        current.root is TypeRoot.DECIMAL or current.root in _DIGITS
    ):
        scale = max(current.scale or 0, found.scale or 0)
        precision = max(_whole_digits(current), _whole_digits(found)) + scale
        if precision <= _MAX_PRECISION:
            return AtomicType(
                root=TypeRoot.DECIMAL, nullable=nullable, precision=precision, scale=scale
            )
    return current


def _whole_digits(data_type: AtomicType) -> int:
    """Return the number of digits before the decimal point."""
    return _DIGITS.get(data_type.root, (data_type.precision or 0) - (data_type.scale or 0))
