"""The comparisons that mean the same in Paimon, Arrow and Polars.

FLOAT, comparisons of DOUBLE in which NaN counts, times with a time zone and nested values are left
to the engine. A column is named by its name, or by the path to a field of a ROW column.
"""

import math
from datetime import date, datetime
from decimal import Decimal

from paimon_explore.data_types.definitions import INTEGERS, AtomicType, DataField, RowType, TypeRoot
from paimon_explore.scan.predicate.builder import Term, col

Path = tuple[str, ...]
"""The names on the way to a field of a ROW column."""

_KINDS: dict[TypeRoot, type] = {
    **dict.fromkeys(INTEGERS, int),
    TypeRoot.VARCHAR: str,
    TypeRoot.BOOLEAN: bool,
    TypeRoot.DATE: date,
    TypeRoot.TIMESTAMP: datetime,
    TypeRoot.DECIMAL: Decimal,
    TypeRoot.DOUBLE: float,
}
_WITHOUT_NAN = ("==", "<", "<=")
"""Comparisons of a column with a number that are false for NaN, which is the largest in Paimon."""
_OPERATORS = {
    "==": Term.__eq__,
    "!=": Term.__ne__,
    "<": Term.__lt__,
    "<=": Term.__le__,
    ">": Term.__gt__,
    ">=": Term.__ge__,
}
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def field_at(row_type: RowType, path: Path) -> DataField | None:
    """Return a column or nested field; None if there is none."""
    field = row_type.field(path[0])
    for name in path[1:]:
        inner = None if field is None else field.type
        field = inner.field(name) if isinstance(inner, RowType) else None
    return field


def kind_of(row_type: RowType, name: str | Path) -> type | None:
    """Return the Python type of comparable values of a column; None if they are not comparable."""
    field = field_at(row_type, _path(name))
    if field is None or not isinstance(field.type, AtomicType):
        return None
    return _KINDS.get(field.type.root)


def compared(row_type: RowType, name: str | Path, operator: str, value: object) -> Term | None:
    """Return a comparison of a column with a value; None if it might mean something else."""
    if operator not in _OPERATORS or not _is_comparable(row_type, name, value):
        return None
    if isinstance(value, float) and operator not in _WITHOUT_NAN:
        return None
    return _OPERATORS[operator](col(*_path(name)), value)


def swapped(operator: str) -> str:
    """Return the operator with its sides exchanged."""
    return _SWAPPED.get(operator, operator)


def one_of(row_type: RowType, name: str | Path, values: list[object]) -> Term | None:
    """Return whether a column has one of the values; None if it might mean something else."""
    known = [value for value in values if value is not None]
    if not known or not all(_is_comparable(row_type, name, value) for value in known):
        return None
    return col(*_path(name)).isin(known)


def _path(name: str | Path) -> Path:
    return (name,) if isinstance(name, str) else name


def _is_comparable(row_type: RowType, name: str | Path, value: object) -> bool:
    kind = kind_of(row_type, name)
    if kind is Decimal:
        return type(value) in (Decimal, int)
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return kind is not None and type(value) is kind
