"""Queries in Spark's dialect as queries of DuckDB."""

import difflib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from itertools import pairwise

import numpy as np
import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from paimon_explore.arguments import python_value
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.sql_statements.duckdb.spark_semantics import (
    GENERATORS,
    OWN_FUNCTIONS,
    spark_semantics,
)
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.parameter_values import check_used, value_of
from paimon_explore.sql_statements.query_problems import QueryProblemError
from paimon_explore.sql_statements.table_references import spliced
from paimon_explore.sql_statements.tokenizer import Reader, tokens_of

SPARK, DUCKDB = "spark", "duckdb"
_ROW_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "explode", "posexplode", "inline"}
)
"""Functions that a query may read rows from."""
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_STATEMENTS = (
    *("SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE"),
    *("REPLACE", "DROP", "ALTER", "COMMENT", "SHOW", "DESCRIBE", "USE", "ANALYZE", "CALL"),
    *("EXPLAIN", "REFRESH"),
)


_INCOMPLETE = re.compile(r"Required keyword: '\w+' missing for <class '.*\.(\w+)'>")
_KNOWN = {
    name: make
    for name, make in Spark.Parser.FUNCTIONS.items()
    if name != "PARSE_JSON" and name.lower() not in OWN_FUNCTIONS
}
_STRICT = type(
    "Parser",
    (Spark.Parser,),
    {"STRICT_CAST": True, "COLON_IS_VARIANT_EXTRACT": True, "FUNCTIONS": _KNOWN},
)
_QUOTES = type("Tokenizer", (Spark.Tokenizer,), {"STRING_ESCAPES": ["\\", "'", '"']})
_AnsiSpark = type("_AnsiSpark", (Spark,), {"Parser": _STRICT, "Tokenizer": _QUOTES})
"""Spark's dialect with ANSI mode: CAST may fail, and a doubled quote is one in a text."""


def parsed_query(text: str, dialect: str = SPARK) -> exp.Query:
    """Parse a query.

    Raises:
        InvalidInputError: the text cannot be parsed.
        UnsupportedFeatureError: it is another statement, or reads rows by a function that reads
            files.
    """
    first = Reader(text).here
    if first.word not in _QUERY_WORDS and first.sign != "(":
        raise _unknown_statement(text)
    with _silent_sqlglot():
        try:
            read = _AnsiSpark if dialect == SPARK else dialect
            tree = sqlglot.parse_one(_numbered(text, dialect), read=read)
        except (SqlglotError, RecursionError) as error:
            raise QueryProblemError(_parse_problem(error)) from error
    if isinstance(tree, exp.Values):
        tree = exp.select("*").from_(exp.Subquery(this=tree))
    if not isinstance(tree, exp.Query):
        raise _unknown_statement(text)
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            _check_function(table, dialect)
    for values in tree.find_all(exp.Values) if dialect == SPARK else ():
        _name_columns(values)
    return tree


def _name_columns(values: exp.Values) -> None:
    """Name the columns of VALUES without names as Spark does, from `col1`."""
    first, last = values.expressions[0], values.expressions[-1].expressions[-1:]
    for one in last if isinstance(last[0], exp.Alias) else ():  # of `VALUES 1, 2 t`
        names = values.args.get("alias") or exp.TableAlias()
        values.set(
            "alias", exp.TableAlias(this=one.args["alias"], columns=names.args.get("columns"))
        )
        one.replace(one.this)
    is_table = isinstance(values.parent, exp.From | exp.Join | exp.Subquery | exp.CTE)
    if is_table and not values.alias_column_names:
        width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
        columns = [exp.to_identifier(f"col{at + 1}") for at in range(width)]
        alias = exp.to_identifier(values.alias or "_values")
        values.set("alias", exp.TableAlias(this=alias, columns=columns))


def _numbered(text: str, dialect: str) -> str:
    """Number the markers `?`, whose order in the text a tree does not keep.

    The function `window`, a keyword of sqlglot, becomes `time_window`.
    """
    tokens = list(tokens_of(text))
    signs = [one for one in tokens if one.sign == "?"]
    prefix = ":_" if dialect == SPARK else "$_"
    cuts = [(one.start, one.end, f"{prefix}{at}") for at, one in enumerate(signs)]
    if dialect == SPARK:
        cuts += [
            (one.start, one.end, "time_window")
            for one, after in pairwise(tokens)
            if one.word == "WINDOW" and after.sign == "("
        ]
    return spliced(text, sorted(cuts))


def _check_function(table: exp.Table, dialect: str) -> None:
    """Refuse a function that reads files; name the column of `range` as Spark does."""
    function = table.this
    given = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
    name = str(given).lower()
    if name not in _ROW_FUNCTIONS:
        raise UnsupportedFeatureError(
            f"reading rows by the function {name}",
            hint="catalog.sql reads tables of the catalog; pass other rows by name: "
            "pe.sql(text, catalog, rows=data).",
        )
    if name == "range" and dialect == SPARK and not table.alias_column_names:
        alias = exp.to_identifier(table.alias or name)
        table.set("alias", exp.TableAlias(this=alias, columns=[exp.to_identifier("id")]))


def _unknown_statement(text: str) -> UnsupportedFeatureError:
    """Return the error for a statement that is no query, and that nothing else has run."""
    word = Reader(text).here.text
    if word.upper() in _STATEMENTS:
        return UnsupportedFeatureError(
            f"the statement {' '.join(text.split()[:2])}",
            hint="The reference of SQL lists those that are. Statements on tables require a "
            "catalog: catalog.sql(text), or pe.sql(text, catalog).",
        )
    near = difflib.get_close_matches(word.upper(), _STATEMENTS, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return UnsupportedFeatureError(
        f"the statement {word.upper()}", hint=f"{meant}Statements: {', '.join(_STATEMENTS)}."
    )


def parsed_expression(text: str) -> exp.Expr:
    """Parse an expression in Spark's dialect.

    Raises:
        InvalidInputError: the text cannot be parsed.
    """
    tree = parsed_query(f"SELECT {text}")
    found: list[exp.Expr] = tree.expressions
    return found[0]


def in_database(tree: exp.Query, name: str) -> exp.Query:
    """Replace `current_database()` and `current_schema()` by the name of a database."""
    for node in tree.find_all(exp.CurrentDatabase, exp.CurrentSchema):
        node.replace(exp.Literal.string(name))
    return tree


_WITH_NAMES = exp.Column | exp.Alias | exp.Aliases | exp.Star | exp.Dot | exp.UDTF
"""Expressions whose columns have names of their own."""


def named(tree: exp.Query) -> exp.Query:
    """Name the columns of a query and its parts as Spark does, by the text of their expressions."""
    items = [item for select in tree.find_all(exp.Select) for item in select.expressions]
    for item in reversed(items):  # parts before what holds them
        if not isinstance(item, _WITH_NAMES) and item.name.lower() not in GENERATORS:
            text = item.sql(dialect=SPARK, normalize_functions="lower").replace("(*)", "(1)")
            item.replace(exp.alias_(item.copy(), text.replace("'", ""), quoted=True))
    return tree


def duckdb_tree(tree: exp.Expr, dialect: str = SPARK) -> exp.Expr:
    """Return a tree with functions of DuckDB that have the results that its dialect defines."""
    with _silent_sqlglot():
        return spark_semantics(tree) if dialect == SPARK else tree


def duckdb_text(tree: exp.Expr, dialect: str = SPARK) -> str:
    """Return a tree as text of DuckDB, with the results that its dialect defines."""
    meant = duckdb_tree(tree, dialect)
    with _silent_sqlglot():
        return meant.sql(dialect=DUCKDB)


def with_values(tree: exp.Query, args: Args) -> exp.Query:
    """Replace the parameter markers of a query by values.

    Args:
        tree: the query, with `?` or `:name`.
        args: a sequence of values, or a mapping by name.

    Raises:
        InvalidInputError: a marker has no value, a value has no marker, or a value has a type that
            SQL lacks.
    """
    markers = list(tree.find_all(exp.Placeholder, exp.Parameter))
    if not markers and not args:
        return tree
    value = value_of(args, len(markers))
    for node in markers:
        node.replace(constant(value(node.name)))
    check_used(args, [node.name for node in markers])
    return tree


def constant(given: object) -> exp.Expr:  # noqa: PLR0911 - one for each type
    """Return a value of Python as a constant.

    Raises:
        InvalidInputError: SQL has no constant of that type.
    """
    value = python_value(given)
    match value:
        case None | bool() | str():
            return exp.convert(value)
        case float():
            return exp.cast(exp.Literal.string(repr(value)), "double")
        case int() | Decimal():
            return exp.convert(value)
        case datetime():
            kind = "timestamp" if value.tzinfo is None else "timestamptz"
            return exp.cast(exp.Literal.string(value.isoformat(" ")), kind, dialect=DUCKDB)
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case time():
            return exp.cast(exp.Literal.string(value.isoformat()), "time")
        case bytes():
            return exp.func("from_hex", exp.Literal.string(value.hex()), dialect=DUCKDB)
        case np.ndarray():
            return constant(value.tolist())
        case list() | tuple():
            return exp.Array(expressions=[constant(one) for one in value])
        case _:
            raise InvalidInputError(
                f"A parameter cannot have a value of type {type(value).__name__}: {value!r}."
            )


@contextmanager
def _silent_sqlglot() -> Iterator[None]:
    logger = logging.getLogger("sqlglot")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _parse_problem(error: Exception) -> str:
    if not isinstance(error, sqlglot.errors.ParseError) or not error.errors:
        return f"The query cannot be parsed: {str(error).partition(chr(10))[0]}"
    first = error.errors[0]
    what = _INCOMPLETE.sub(r"\1 is incomplete", str(first.get("description")).rstrip("."))
    return f"The query cannot be parsed: {what}."
