"""The comparisons that mean the same in Paimon, Arrow and Polars.

Floating-point numbers (NaN), times with a time zone and nested values are left to the engine.
"""

from datetime import date, datetime
from decimal import Decimal

from paimon_explore.data_types.definitions import AtomicType, RowType, TypeRoot
from paimon_explore.scan.predicate.builder import Term, col

_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_KINDS: dict[TypeRoot, type] = {
    **dict.fromkeys(_INTEGERS, int),
    TypeRoot.VARCHAR: str,
    TypeRoot.BOOLEAN: bool,
    TypeRoot.DATE: date,
    TypeRoot.TIMESTAMP: datetime,
    TypeRoot.DECIMAL: Decimal,
}
_OPERATORS = {
    "==": Term.__eq__,
    "!=": Term.__ne__,
    "<": Term.__lt__,
    "<=": Term.__le__,
    ">": Term.__gt__,
    ">=": Term.__ge__,
}
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def kind_of(row_type: RowType, name: str) -> type | None:
    """Return the Python type of comparable values of a column; None if they are not comparable."""
    field = row_type.field(name)
    if field is None or not isinstance(field.type, AtomicType):
        return None
    return _KINDS.get(field.type.root)


def compared(row_type: RowType, name: str, operator: str, value: object) -> Term | None:
    """Return a comparison of a column with a value; None if it might mean something else."""
    if operator not in _OPERATORS or not _is_comparable(row_type, name, value):
        return None
    return _OPERATORS[operator](col(name), value)


def swapped(operator: str) -> str:
    """Return the operator with its sides exchanged."""
    return _SWAPPED.get(operator, operator)


def one_of(row_type: RowType, name: str, values: list[object]) -> Term | None:
    """Return whether a column has one of the values; None if it might mean something else."""
    known = [value for value in values if value is not None]
    if not known or not all(_is_comparable(row_type, name, value) for value in known):
        return None
    return col(name).isin(known)


def _is_comparable(row_type: RowType, name: str, value: object) -> bool:
    kind = kind_of(row_type, name)
    if kind is Decimal:
        return type(value) in (Decimal, int)
    return kind is not None and type(value) is kind
