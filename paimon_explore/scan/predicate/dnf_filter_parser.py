"""Filters in disjunctive normal form, as in PyArrow: `[("id", ">", 3), ("dt", "in", ["a", "b"])]`.

A list of triples is their conjunction, a list of such lists the disjunction of these, as in
`pyarrow.parquet.read_table(filters=…)`.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.scan.predicate.expression import Expression, conjunction, disjunction

FilterTriple: TypeAlias = tuple[str, str, object]
"""A column, an operator and a value (for `in` and `not in`: a list of values)."""
FilterList: TypeAlias = list[FilterTriple] | list[list[FilterTriple]] | tuple[FilterTriple, ...]
"""Triples combined by AND, or lists of triples combined by OR."""

_SIGNS: dict[str, Callable[[Term, object], Term]] = {
    "=": lambda column, value: column == value,
    "==": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<>": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    ">=": lambda column, value: column >= value,
    "in": lambda column, values: column.isin(_values(values)),
    "not in": lambda column, values: ~column.isin(_values(values)),
}
_TRIPLE = 3


def filters(wanted: FilterList) -> Expression:
    """Converts a list of triples, or a list of such lists, to an expression.

    Raises:
        InvalidInputError: an empty list, an element that is not a triple, or an unknown operator.

    >>> filters([("a", ">", 3)]).op
    <CompareOp.GT: '>'>
    """
    if not wanted:
        raise InvalidInputError(
            "The list of filters is empty.", hint="Leave `where` out to read all rows."
        )
    if all(isinstance(part, list) for part in wanted):
        return disjunction(tuple(filters(part) for part in wanted))  # type: ignore[arg-type]  # all lists
    return conjunction(tuple(_condition(part) for part in wanted))


def _condition(part: object) -> Expression:
    if not (isinstance(part, tuple) and len(part) == _TRIPLE):
        raise InvalidInputError(
            f"{part!r} is not a filter.",
            hint='Write triples: [("id", ">", 3), ("dt", "in", ["a"])].',
        )
    name, sign, value = part
    if not isinstance(name, str):
        raise InvalidInputError(
            f"{name!r} is not a column name: a filter starts with the name as a str."
        )
    compare = _SIGNS.get(" ".join(str(sign).lower().split()))
    if compare is None:
        raise InvalidInputError(f"There is no operator {sign!r}. Operators: {', '.join(_SIGNS)}.")
    if value is None:
        raise InvalidInputError(
            f"A comparison of column {name!r} with None is never true.",
            hint=f'Write SQL: where="{name} IS NULL", or pe.col("{name}").is_null().',
        )
    return compare(col(name), value).expression


def _values(values: object) -> Iterable[object]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"{values!r} is not a list of values.", hint='Write ("dt", "in", ["a"]).'
        )
    return values
