"""The part of a predicate that some of the columns decide alone: partition keys, primary keys."""

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
class Parts:
    """A predicate in two: it is true of a row exactly if both are.

    Attributes:
        inside: reads the given columns only; TRUE if they say nothing.
        rest: what remains to be checked on rows; TRUE if nothing.
    """

    inside: Expression
    rest: Expression


def split(expr: Expression, names: Collection[str]) -> Parts:
    """A predicate's part on the columns `names`, and what it leaves over.

    The part may also follow from a condition that stays in the rest: `p = 1 AND a > 2 OR p = 3`
    gives `p = 1 OR p = 3`. Conditions that read no column are in the part.

    >>> from paimon_explore.scan.predicate.sql_parser import parse_where
    >>> from paimon_explore.scan.predicate.sql_formatter import to_sql
    >>> parts = split(parse_where("p = 1 AND a > 2"), ["p"])
    >>> to_sql(parts.inside), to_sql(parts.rest)
    ('p = 1', 'a > 2')
    """
    wanted = frozenset(names)
    inside: list[Expression] = []
    rest: list[Expression] = []
    for part in conjuncts(expr):
        if part == TRUE:
            continue
        if names_of(part) <= wanted:
            inside.append(part)
            continue
        rest.append(part)
        implied = _implied(part, wanted)
        if implied != TRUE:
            inside.append(implied)
    return Parts(inside=conjunction(inside), rest=conjunction(rest))


def _implied(expr: Expression, names: frozenset[str]) -> Expression:
    """A condition on `names` that is true wherever `expr` is; TRUE if there is no better one."""
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
