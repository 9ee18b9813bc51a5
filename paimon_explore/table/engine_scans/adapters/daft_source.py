"""A scan as a source of a Daft DataFrame, which pushes columns, filters and limits into it.

Daft evaluates its filters on the rows that a task returns, too, so a task also returns the columns
that only a filter needs.

Translates a filter of Daft into a condition of a scan.

What is not recognized is left out of a conjunction, so the condition may match more rows than the
filter, never fewer: Daft applies the filter, too.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import daft
import pyarrow as pa
from daft.expressions import Expression
from daft.expressions.visitor import ExpressionVisitor
from daft.io.pushdowns import Pushdowns
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch
from daft.schema import Schema

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import compared, kind_of, one_of, swapped
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed
from paimon_explore.table.engine_scans.scan_part import ScanPart


class ScanSource(DataSource):  # type: ignore[misc]  # Daft may not be installed
    """A scan that is planned when a query runs.

    Args:
        scan: the scan.
    """

    def __init__(self, scan: LazyScan) -> None:
        self._scan = scan

    @property
    def name(self) -> str:
        """The name in Daft's plans."""
        return "Paimon"

    @property
    def schema(self) -> Schema:
        """The columns in Daft's types."""
        return Schema.from_pyarrow_schema(_daft_schema(self._scan.schema))

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        """Yield a task for each part of the scan that a query needs.

        Args:
            pushdowns: the columns, filter and limit of the query.
        """
        filters = pushdowns.filters
        where = None if filters is None else daft_condition(filters, self._scan.row_type)
        found = narrowed(self._scan, self._columns(pushdowns), where)
        if pushdowns.limit is not None and filters is None:
            found = found.limit(pushdowns.limit)
        is_counted = pushdowns.columns is not None and not pushdowns.columns and filters is None
        for part in found.parts():
            yield PartTask(part, is_counted=is_counted)

    def _columns(self, pushdowns: Pushdowns) -> Sequence[str] | None:
        """The columns of the result and of the filter, in the order of the table."""
        if pushdowns.columns is None:
            return None
        wanted = {*pushdowns.columns, *pushdowns.filter_required_column_names()}
        names = self._scan.schema.names
        return [name for name in names if name in wanted] or names[:1]


class PartTask(DataSourceTask):  # type: ignore[misc]  # Daft may not be installed
    """The read of a part of a scan.

    Args:
        part: the part.
        is_counted: return rows without columns.
    """

    def __init__(self, part: ScanPart, *, is_counted: bool) -> None:
        self._part = part
        self._is_counted = is_counted

    @property
    def schema(self) -> Schema:
        """The columns in Daft's types."""
        columns = pa.schema([]) if self._is_counted else _daft_schema(self._part.schema)
        return Schema.from_pyarrow_schema(columns)

    async def read(self) -> AsyncIterator[RecordBatch]:
        """Yield the rows."""
        schema = _daft_schema(self._part.schema)
        for batch in self._part.to_batches():
            found = RecordBatch.from_arrow_record_batches([batch.cast(schema)], schema)
            yield found.eval_expression_list([]) if self._is_counted else found


def daft_frame(scan: LazyScan) -> "daft.DataFrame":
    """Return a DataFrame that reads a scan when it is collected."""
    return ScanSource(scan).read()


def _daft_schema(schema: pa.Schema) -> pa.Schema:
    """The columns, with the only type of times of day that Daft has: microseconds."""
    fields = [
        field.with_type(pa.time64("us")) if pa.types.is_time32(field.type) else field
        for field in schema
    ]
    return pa.schema(fields)


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
