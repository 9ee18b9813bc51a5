"""Table functions of Paimon's Spark connector: changes between snapshots, and searches.

A search returns what `Table.search` returns, but its score is named `__paimon_search_score`, and
`*` leaves it out, as in Java. Conditions of the WHERE that are pushed down to the table apply
before rows are ranked, all others to the rows found.
"""

import json
from collections.abc import Callable, Mapping

from paimon_explore.arguments import optional_integer, string
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.sql_statements.engine import Engine
from paimon_explore.sql_statements.query_problems import QueryProblemError, unknown_name
from paimon_explore.sql_statements.table_references import FUNCTIONS, SCORE_COLUMN, Reference
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.searches.index_search import (
    SCORE,
    Search,
    combined,
    search_of,
    searched_rows,
)
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import target_of

_INCREMENT_OPTIONS = {
    "paimon_incremental_query": "incremental-between",
    "paimon_incremental_between_timestamp": "incremental-between-timestamp",
    "paimon_incremental_to_auto_tag": "incremental-to-auto-tag",
}
_COMMON_KEYS = ("limit", "weight", "options")


def increment_options(engine: Engine, reference: Reference) -> dict[str, str]:
    """Return the options that give a table the rows of a function; none for a search.

    Raises:
        InvalidInputError: the wrong number of arguments.
    """
    texts = _arguments(reference)
    option = _INCREMENT_OPTIONS.get(reference.function)
    return {} if option is None else {option: ",".join(str(engine.evaluate(one)) for one in texts)}


def search(
    engine: Engine,
    reference: Reference,
    table: Table,
    columns: list[str] | None,
    where: Term | None,
    *,
    with_score: bool,
) -> RowSource:
    """Search a table.

    Args:
        engine: evaluates the arguments.
        reference: the function and its arguments.
        table: the table.
        columns: the columns of the result; None for all.
        where: a filter, which is applied before rows are ranked.
        with_score: whether the result has the column with the scores.

    Raises:
        NotFoundError: the column has no index.
        InvalidInputError: arguments that are no constants or have the wrong type, or an unknown
            column.
    """
    function = reference.function
    values = [_value(engine, reference, text) for text in _arguments(reference)]
    try:
        asked = _SEARCHES[function](*values)
    except InvalidInputError as error:
        msg = f"{function}: {error.message}"
        raise QueryProblemError(msg, hint=error.hint or _usage(function), name=function) from error
    for query in asked.queries:
        if table.schema.field(query.column) is None:
            raise unknown_name("column", query.column, table.schema.row_type.names)
    rows = searched_rows(target_of(table), asked, columns, where)
    if with_score:
        rows = rows.rename_columns([SCORE_COLUMN if n == SCORE else n for n in rows.column_names])
    else:
        rows = rows.drop_columns([SCORE])
    return RowSource(name=f"{function} in {table.name}", schema=rows.schema, load=rows.to_reader)


def _usage(function: str) -> str:
    return f"Write {function}('table', {', '.join(FUNCTIONS[function])})."


def _arguments(reference: Reference) -> list[str]:
    """Return the texts of the arguments after the table."""
    texts, parameters = list(reference.arguments or ()), FUNCTIONS[reference.function]
    least = 1 + sum(not one.startswith("[") for one in parameters)
    most = 1 + len(parameters)
    if not least <= len(texts) <= most:
        wanted = f"{least} or {most}" if least < most else str(least)
        function = reference.function
        raise QueryProblemError(
            f"{function} requires {wanted} arguments, but the query passes {len(texts)}.",
            hint=_usage(function),
            name=function,
        )
    return texts[1:]


def _value(engine: Engine, reference: Reference, text: str) -> object:
    """Return the value of an argument, as that of a JSON document."""
    try:
        found = engine.evaluate(f"to_json(named_struct('v', ({text})))")
    except InvalidInputError as error:
        function = reference.function
        raise QueryProblemError(
            f"The argument {text} of {function} is not a constant that {engine.name} can evaluate.",
            hint=error.message,
            name=function,
        ) from error
    value: object = json.loads(str(found)).get("v")
    return value


def _vector(column: object, query: object, limit: object, options: object = None) -> Search:
    found = search_of(column, query, limit, _options(options)) if isinstance(query, list) else None
    if found is None or found.is_batch:
        raise InvalidInputError(f"The query must be an array of numbers, not {query!r}.")
    return found


def _text(column: object, query: object, limit: object, options: object = None) -> Search:
    """Return a search for words, or for a query of the full-text library, which is JSON."""
    words = string("query", query)
    try:
        found = json.loads(words)
    except ValueError:
        found = None
    return search_of(column, found if isinstance(found, dict) else words, limit, options)


def _options(given: object) -> object:
    """Return the options of a search, which may be `key=value;…`."""
    if not isinstance(given, str):
        return given
    pairs = [pair.partition("=") for pair in given.split(";") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _hybrid(vectors: object, texts: object, limit: object, ranker: object = "rrf") -> Search:
    parts = []
    for routes, names in (
        (vectors, ("field", "vector_column", "query_vector")),
        (texts, ("column", "query")),
    ):
        if not isinstance(routes, list) or not all(isinstance(one, dict) for one in routes):
            example = ", ".join(f"'{name}', …" for name in names[-2:])
            raise InvalidInputError(
                "A hybrid search takes an array of routes for vectors, and one for texts.",
                hint=f"Write such a route as array(named_struct({example})), or array() for none.",
            )
        parts += [(_route(one, names, limit), one.get("weight", 1.0)) for one in routes]
    return combined(parts, limit, ranker)


def _route(route: Mapping[str, object], names: tuple[str, ...], limit: object) -> Search:
    known = (*names, *_COMMON_KEYS)
    for key in route:
        if key not in known:
            raise InvalidInputError(
                f"A route cannot have {key!r}.", hint=f"Its fields: {choices(known)}."
            )
    column = next((route[key] for key in names[:-1] if key in route), None)
    most = optional_integer("limit", route.get("limit"), minimum=1) or limit
    of = _text if names[-1] == "query" else _vector
    return of(column, route.get(names[-1]), most, route.get("options"))


_SEARCHES: Mapping[str, Callable[..., Search]] = {
    "vector_search": _vector,
    "full_text_search": _text,
    "hybrid_search": _hybrid,
}
