"""Errors of engines about queries, with their place in the statement that the user wrote.

An engine gets a text in which tables are replaced, so its own places are of no use.
"""

from collections.abc import Iterable
from itertools import pairwise

import sqlglot
from sqlglot.errors import ParseError, SqlglotError

from paimon_explore.errors import InvalidInputError, choices, suggestion
from paimon_explore.sql_statements.clauses import silent_sqlglot
from paimon_explore.sql_statements.table_references import cleaned
from paimon_explore.sql_statements.table_resolution import GIVEN
from paimon_explore.sql_statements.tokenizer import Kind, Token, place, tokens_of

_NEXT_CLAUSES = frozenset({"FROM", "JOIN", "WHERE"})
"""Words that begin a clause and name no column; `order`, `group` and `limit` may do that."""

_OTHER_WAYS = {"input_file_name": "The column __paimon_file_path of a table has the file of a row."}
"""Unknown function -> what to write."""


class QueryProblemError(InvalidInputError):
    """A query has an unknown name, or cannot be parsed.

    Attributes:
        name: the unknown name; "" for a query that cannot be parsed.
        near: a part of it, where the parser of the engine stopped; "" if unknown.
    """

    def __init__(self, message: str, *, hint: str = "", name: str = "", near: str = "") -> None:
        self.name = name
        self.near = near
        super().__init__(message, hint=hint)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> QueryProblemError:
    """Return the error for an unknown column, function or table.

    Args:
        kind: what it is.
        name: the name.
        known: the names that exist; functions are too many to be listed.
    """
    names = sorted(set(known))
    if name in names and kind == "column":
        msg = f"The column {name!r} is not selected by this part of the query."
        return QueryProblemError(msg, name=name)
    listed = "" if kind == "function" else f"{kind.capitalize()}s: {choices(names)}."
    given = GIVEN.format(name) if kind == "table" else ""
    hint = _OTHER_WAYS.get(name.lower()) or f"{suggestion(name, names)}{listed}{given}"
    return QueryProblemError(f"There is no {kind} {name!r}.", hint=hint, name=name)


def located(problem: QueryProblemError, statement: str) -> InvalidInputError:
    """Return the error of an engine with the line and column in the statement."""
    at = _offset(statement, problem.name) if problem.name else _syntax_error(statement)
    if at is None and problem.near:
        at = _offset(statement, problem.near)
    where = "" if at is None else f" ({place(statement, at)})"
    return InvalidInputError(f"{problem.message.removesuffix('.')}{where}.", hint=problem.hint)


def nothing_after(statement: str) -> Token | None:
    """Return a comma or ON after which something is missing; sqlglot does not notice these."""
    for one, after in pairwise(tokens_of(statement)):
        is_end = after.kind is Kind.END or after.sign == ")" or after.word in _NEXT_CLAUSES
        is_on = one.word == "ON" and not statement[: one.start].endswith(".")
        if is_end and (one.sign == "," or is_on):
            return one
        if one.sign == after.sign == ",":
            return one
    return None


def _offset(statement: str, name: str) -> int | None:
    places = (one.start for one in tokens_of(statement) if one.text.lower() == name.lower())
    return next(places, None)


def _syntax_error(statement: str) -> int | None:
    """Return the offset at which a statement cannot be parsed; None if only its query cannot."""
    missing = nothing_after(statement)
    if missing is not None:
        return missing.start
    text = cleaned(statement)
    try:
        with silent_sqlglot():
            sqlglot.parse_one(text, read="spark")
    except ParseError as error:
        first = error.errors[0]
        begin = sum(len(line) for line in text.splitlines(keepends=True)[: first["line"] - 1])
        return max(begin + int(first["col"]) - len(first["highlight"] or ""), 0)
    except (SqlglotError, RecursionError):
        return None
    return None
