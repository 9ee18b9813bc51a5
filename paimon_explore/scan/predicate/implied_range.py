"""Ranges of a column that follow from a comparison of `year`, `trunc` or `date_trunc` of it.

`year(dt) = 2026` is true only for days of that year. The range is added to the comparison, whose
result it does not change, so that files, row groups and pages are skipped by their statistics.
"""

from collections.abc import Iterator
from datetime import date

from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot
from paimon_explore.scan.predicate.expression import Call, Column, Compare, CompareOp, Literal

_LAST_YEAR = 9998
_MAX_INT64 = 2**63 - 1
_EPOCH = date(1970, 1, 1)
_LONGEST = {
    **dict.fromkeys(("year", "yyyy", "yy"), 366),
    "quarter": 92,
    **dict.fromkeys(("month", "mon", "mm"), 31),
    "week": 7,
}
"""The maximum number of days of a unit; others have at most one."""
_FROM = frozenset({CompareOp.EQ, CompareOp.GE, CompareOp.GT})
_UNTIL = frozenset({CompareOp.EQ, CompareOp.LE, CompareOp.LT})


def function_column(compare: Compare) -> Column | None:
    """Returns the column whose `year`, `trunc` or `date_trunc` is compared with a constant."""
    call = compare.left
    if not isinstance(call, Call) or not isinstance(compare.right, Literal):
        return None
    place = {"year": 0, "trunc": 0, "date_trunc": 1}.get(call.function)
    found = None if place is None else call.arguments[place]
    return found if isinstance(found, Column) else None


def implied_bounds(compare: Compare, column: Column, kind: DataType) -> Iterator[Compare]:
    """Yields comparisons of a column that are true wherever a bound comparison is.

    Args:
        compare: compares a function of the column with a constant.
        column: the column.
        kind: its type.
    """
    call, value = compare.left, getattr(compare.right, "value", None)
    if not isinstance(call, Call) or not isinstance(kind, AtomicType) or type(value) is not int:
        return
    per_day = _units_of_day(kind)
    if call.function == "year":
        if not 1 <= value <= _LAST_YEAR:
            return
        begin, end = ((date(year, 1, 1) - _EPOCH).days * per_day for year in (value, value + 1))
        low = end if compare.op is CompareOp.GT else begin
        high = begin - 1 if compare.op is CompareOp.LT else end - 1
    else:
        unit = next(part for part in call.arguments if part is not column)
        days = _LONGEST.get(str(getattr(unit, "value", "")).lower(), 1)
        low, high = value, value + days * per_day
    if compare.op in _FROM and abs(low) <= _MAX_INT64:
        yield Compare(op=CompareOp.GE, left=column, right=Literal(value=low, type=kind))
    if compare.op in _UNTIL and abs(high) <= _MAX_INT64:
        yield Compare(op=CompareOp.LE, left=column, right=Literal(value=high, type=kind))


def _units_of_day(kind: AtomicType) -> int:
    """The number of units of a type in a day."""
    if kind.root is TypeRoot.DATE:
        return 1
    groups = -(-(kind.precision or 0) // 3)
    return int(86_400 * 1_000**groups)
