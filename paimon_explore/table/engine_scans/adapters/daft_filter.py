"""Translates a filter of Daft into a condition of a scan.

What is not recognized is left out of a conjunction, so the condition may match more rows than the
filter, never fewer: Daft applies the filter, too.
"""

from typing import Any

from daft.expressions import Expression
from daft.expressions.visitor import ExpressionVisitor

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import compared, kind_of, one_of, swapped

_OPERATORS = {
    "equal": "==",
    "not_equal": "!=",
    "less_than": "<",
    "less_than_or_equal": "<=",
    "greater_than": ">",
    "greater_than_or_equal": ">=",
}


def daft_condition(filters: Expression, row_type: RowType) -> Term | None:
    """Return a condition that holds for all rows that a filter accepts; None if there is none.

    Args:
        filters: the filter.
        row_type: the columns.
    """
    found = _Conditions(row_type).visit(filters)
    return found if isinstance(found, Term) else None


@dataclass(frozen=True, slots=True)
class _Column:
    name: str


@dataclass(frozen=True, slots=True)
class _Value:
    value: object


class _Conditions(ExpressionVisitor):  # type: ignore[misc]  # Daft may not be installed
    """Visits an expression; the result is a column, a value, a condition or None if unknown."""

    def __init__(self, row_type: RowType) -> None:
        self._row_type = row_type

    def visit_col(self, name: str) -> _Column:
        return _Column(name)

    def visit_lit(self, value: Any) -> _Value:  # noqa: ANN401 - a value of any type
        return _Value(value)

    def visit_alias(self, expr: Expression, alias: str) -> object:
        del alias
        return self.visit(expr)

    def visit_cast(self, expr: Expression, dtype: object) -> None:
        """Leave a cast to Daft."""

    def visit_try_cast(self, expr: Expression, dtype: object) -> None:
        """Leave a cast to Daft."""

    def visit_coalesce(self, args: list[Expression]) -> None:
        """Leave a function to Daft."""

    def visit_function(self, name: str, args: list[Expression]) -> Term | None:
        """Return a comparison; other functions are left to Daft."""
        sign = _OPERATORS.get(name)
        if sign is None:
            return None
        left, right = (self.visit(arg) for arg in args)
        if isinstance(left, _Value):
            left, right, sign = right, left, swapped(sign)
        if not isinstance(left, _Column) or not isinstance(right, _Value) or right.value is None:
            return None
        return compared(self._row_type, left.name, sign, right.value)

    def visit_and(self, left: Expression, right: Expression) -> Term | None:
        sides = [self.visit(side) for side in (left, right)]
        known = [side for side in sides if isinstance(side, Term)]
        if len(known) == len(sides):
            return known[0] & known[1]
        return known[0] if known else None

    def visit_or(self, left: Expression, right: Expression) -> Term | None:
        one, other = self.visit(left), self.visit(right)
        return one | other if isinstance(one, Term) and isinstance(other, Term) else None

    def visit_between(self, expr: Expression, lower: Expression, upper: Expression) -> Term | None:
        above = self.visit_function("greater_than_or_equal", [expr, lower])
        below = self.visit_function("less_than_or_equal", [expr, upper])
        return None if above is None or below is None else above & below

    def visit_is_in(self, expr: Expression, items: list[Expression]) -> Term | None:
        name, values = self.visit(expr), [self.visit(item) for item in items]
        if not isinstance(name, _Column) or not all(isinstance(one, _Value) for one in values):
            return None
        return one_of(self._row_type, name.name, [one.value for one in values])

    def visit_is_null(self, expr: Expression) -> Term | None:
        name = self._comparable(expr)
        return None if name is None else col(name).is_null()

    def visit_not_null(self, expr: Expression) -> Term | None:
        name = self._comparable(expr)
        return None if name is None else col(name).is_not_null()

    def _comparable(self, expr: Expression) -> str | None:
        found = self.visit(expr)
        is_known = isinstance(found, _Column) and kind_of(self._row_type, found.name) is not None
        return found.name if is_known else None
