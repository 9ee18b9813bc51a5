"""The profile of one column: counts, bounds, histogram and frequent values.

Values are kept as text for people and as SQL literals for conditions.
"""

from dataclasses import field
from decimal import Decimal

import numpy as np

from paimon_explore.data_types.arrow_buffers import Column as Values
from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.value_text import value_texts
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    IsNull,
    Literal,
    conjunction,
)
from paimon_explore.scan.predicate.literals import value_at, values_array

SHOWN_VALUES = 10
"""Maximum number of frequent values of a profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of a column.

    Attributes:
        text: for people; not escaped.
        literal: for conditions.
    """

    text: str
    literal: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentValue:
    """A value and how often it occurs.

    Attributes:
        value: the value.
        count: number of rows; at least so many if the profile has a `frequent_error`.
    """

    value: Value
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts of consecutive ranges of values, or of lengths.

    Attributes:
        edges: n + 1 edges of n bins: the minimum, the inner edges, the maximum. A value on an inner
            edge belongs to the bin above it.
        counts: number of rows of each bin.
        of: `values`, or `lengths` in bytes or elements.
    """

    edges: tuple[Value, ...]
    counts: tuple[int, ...]
    of: str = "values"

    def state(self) -> dict[str, object]:
        """The histogram as JSON."""
        edges = [truncate(edge.text) for edge in self.edges]
        return {"of": self.of, "edges": edges, "counts": list(self.counts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """The profile of a column; None means unknown.

    Attributes:
        path: the name of the column, followed by the names of nested fields.
        type: its type.
        nulls: number of nulls.
        nans: number of NaN values; they are in no other figure but `distinct`.
        distinct: number of distinct values, nulls not counted.
        distinct_error: relative standard error of `distinct`; 0 if it is exact.
        minimum: the smallest value.
        maximum: the largest value.
        average_length: average length of texts and binaries in bytes, of lists and maps in
            elements.
        max_length: the largest length.
        histogram: of the values of numbers, dates and times, else of lengths.
        frequent: the most frequent values, most frequent first.
        frequent_error: maximum by which the counts of `frequent` are too small.
        is_exact: whether the figures are those of the rows; else they are bounds.
        reason: why the values are not profiled; empty if they are.
        notes: remarks on the figures.
    """

    path: tuple[str, ...]
    type: DataType
    nulls: int | None = None
    nans: int = 0
    distinct: int | None = None
    distinct_error: float = 0.0
    minimum: Value | None = None
    maximum: Value | None = None
    average_length: float | None = None
    max_length: int | None = None
    histogram: Histogram | None = None
    frequent: tuple[FrequentValue, ...] = ()
    frequent_error: int = 0
    is_exact: bool = True
    reason: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The column as `a.b`."""
        return ".".join(self.path)

    @property
    def distinct_text(self) -> str:
        """The number of distinct values, with `~` in front of an estimate."""
        if self.distinct is None:
            return ""
        return f"{'~' if self.distinct_error else ''}{self.distinct:,}"

    def state(self) -> dict[str, object]:
        """The profile as JSON."""
        histogram = None if self.histogram is None else self.histogram.state()
        return {
            "name": self.name,
            "type": type_text(self.type),
            "nulls": self.nulls,
            "nans": self.nans,
            "distinct": self.distinct,
            "distinct_error": round(self.distinct_error, 6),
            "min": None if self.minimum is None else truncate(self.minimum.text),
            "max": None if self.maximum is None else truncate(self.maximum.text),
            "average_length": self.average_length,
            "max_length": self.max_length,
            "histogram": histogram,
            "frequent": [
                {"value": truncate(one.value.text), "count": one.count} for one in self.frequent
            ],
            "frequent_error": self.frequent_error,
            "exact": self.is_exact,
            "reason": self.reason,
            "notes": list(self.notes),
        }

    def range_condition(self, first: int, last: int) -> Expression:
        """The condition that a value lies in the bins from `first` to `last`, both included.

        Raises:
            InvalidInputError: the histogram has no such bins, or is not one of values.
        """
        histogram = self.histogram
        if histogram is None or histogram.of != "values":
            raise InvalidInputError(
                f"Column {self.name!r} has no histogram of values.",
                hint="Numbers, dates and timestamps have one; select other columns by a condition.",
            )
        if not 0 <= first <= last < len(histogram.counts):
            count = len(histogram.counts)
            raise InvalidInputError(
                f"The histogram of column {self.name!r} has the bins 0 to {count - 1}."
            )
        column = Column(path=self.path)
        is_last = last == len(histogram.counts) - 1
        low = Compare(op=CompareOp.GE, left=column, right=histogram.edges[first].literal)
        upper = CompareOp.LE if is_last else CompareOp.LT
        high = Compare(op=upper, left=column, right=histogram.edges[last + 1].literal)
        return conjunction([low, high])

    def value_condition(self, index: int) -> Expression:
        """The condition that the column is equal to a frequent value.

        Raises:
            InvalidInputError: there is no such value.
        """
        if not 0 <= index < len(self.frequent):
            raise InvalidInputError(
                f"Column {self.name!r} has {len(self.frequent)} frequent values, numbered from 0: "
                f"number {index} does not exist."
            )
        literal = self.frequent[index].value.literal
        return Compare(op=CompareOp.EQ, left=Column(path=self.path), right=literal)

    def null_condition(self) -> Expression:
        """The condition that the column is null."""
        return IsNull(operand=Column(path=self.path))


def value_of(values: Values, kind: AtomicType, index: int = 0) -> Value:
    """A value of an array.

    Args:
        values: in the Arrow type of the column.
        kind: type of the column.
        index: its position; not null.
    """
    one = values.slice(index, 1)
    found = value_at(one, 0, kind)
    return Value(text=str(value_texts(one, kind)[0]), literal=Literal(value=found, type=kind))


def edge_value(edge: int | Decimal, kind: AtomicType) -> Value:
    """The edge of a bin as a value of the column's type.

    >>> edge_value(19723, AtomicType(root=TypeRoot.DATE)).text
    '2024-01-01'
    """
    if kind.root in (TypeRoot.FLOAT, TypeRoot.DOUBLE):
        number = float(edge)
        number = float(np.float32(number)) if kind.root is TypeRoot.FLOAT else number
        return Value(text=decimal_text(Decimal(edge)), literal=Literal(value=number, type=kind))
    if kind.root is TypeRoot.DECIMAL:
        exact = scaled(edge, kind.scale or 0) if isinstance(edge, int) else edge
        return Value(text=decimal_text(exact), literal=Literal(value=exact, type=kind))
    return value_of(values_array([int(edge)], kind), kind)


def decimal_text(number: Decimal) -> str:
    """A number without an exponent unless it is very large or very small.

    >>> decimal_text(Decimal("1E+3")), decimal_text(Decimal("1E-20"))
    ('1000', '1E-20')
    """
    exponent = number.adjusted()
    return f"{number:f}" if -8 < exponent < 20 else str(number)  # noqa: PLR2004 - digits
