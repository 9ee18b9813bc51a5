"""Splitting of predicates into a part on given columns (partition or primary key) and the rest."""

from collections.abc import Collection, Iterable

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.expression import (
    TRUE,
    And,
    Expression,
    IsTrue,
    Not,
    Or,
    conjunction,
    conjuncts,
    disjunction,
    names_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateSplit:
    """A predicate in two parts: it is true for a row exactly if both are.

    Attributes:
        pushed: the part on the given columns only; TRUE if there is none.
        rest: the part to evaluate on rows; TRUE if there is none.
    """

    pushed: Expression
    rest: Expression


def split(expr: Expression, names: Collection[str]) -> PredicateSplit:
    """Splits a predicate into its part on the columns `names` and the rest.

    A pushed condition may also be implied by one that stays in the rest: `p = 1 AND a > 2 OR p = 3`
    implies `p = 1 OR p = 3`. Conditions that read no column are pushed.

    >>> from paimon_explore.scan.predicate.sql_parser import parse_where
    >>> from paimon_explore.scan.predicate.sql_formatter import to_sql
    >>> parts = split(parse_where("p = 1 AND a > 2"), ["p"])
    >>> to_sql(parts.pushed), to_sql(parts.rest)
    ('p = 1', 'a > 2')
    """
    wanted = frozenset(names)
    pushed: list[Expression] = []
    rest: list[Expression] = []
    for part in conjuncts(expr):
        if part == TRUE:
            continue
        if names_of(part) <= wanted:
            pushed.append(part)
            continue
        rest.append(part)
        implied = _implied(part, wanted)
        if implied != TRUE:
            pushed.append(implied)
    return PredicateSplit(pushed=conjunction(pushed), rest=conjunction(rest))


def _implied(expr: Expression, names: frozenset[str]) -> Expression:
    """A condition on `names` that `expr` implies; TRUE if there is no better one."""
    match expr:
        case And(children=children):
            return _all_of(_implied(child, names) for child in children)
        case Or(children=children):
            return _any_of(_implied(child, names) for child in children)
        case Not(child=Not(child=child)) | IsTrue(child=child):
            return _implied(child, names)
        case Not(child=Or(children=children)):
            return _all_of(_implied(Not(child=child), names) for child in children)
        case Not(child=And(children=children)):
            return _any_of(_implied(Not(child=child), names) for child in children)
        case _:
            return expr if names_of(expr) <= names else TRUE


def _all_of(children: Iterable[Expression]) -> Expression:
    return conjunction(child for child in children if child != TRUE)


def _any_of(children: Iterable[Expression]) -> Expression:
    parts = tuple(children)
    return TRUE if TRUE in parts else disjunction(parts)
