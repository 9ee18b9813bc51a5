"""Statements that only read, for the SQL tab of the explorer."""

from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.duckdb.dialect import parsed_query
from paimon_explore.sql_statements.session import sql
from paimon_explore.sql_statements.statement import HANDLERS
from paimon_explore.sql_statements.tokenizer import Reader, statements_of
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.table import Table

_READING = frozenset({"SHOW", "DESCRIBE", "DESC", "EXPLAIN"})
_ARGUMENTS = frozenset({"text", "catalog", "parameters", "dialect"})
"""Names of arguments of `sql`, which tables cannot have."""
_WRITING = ("INSERT", "UPDATE", "DELETE", "MERGE")


def read(text: str, table: Table, point: Mapping[str, int | str]) -> SqlResult:
    """Run statements on a table, which they call `t` or by its name; refuse those that write.

    Args:
        text: the statements.
        table: the table.
        point: the arguments of `Table.at`; none for the latest snapshot.

    Raises:
        InvalidInputError: a statement changes data, or is wrong.
        UnsupportedFeatureError: a statement is not implemented.
    """
    own = table.name.rpartition(".")[2]
    statements = statements_of(text)
    for statement in statements:
        word = _changing(statement)
        if word:
            name = own if own in text and own.isidentifier() else "t"
            raise InvalidInputError(
                f"The SQL tab only reads; {word} is not run.",
                hint=f"Run it in a cell: pe.sql({text!r}, {name}=t)",
            )
    shown = table.at(**point) if point else table  # type: ignore[arg-type]  # names with values
    tables = {name: shown for name in ("t", own) if name not in _ARGUMENTS}
    try:
        return sql(text, **tables)  # type: ignore[arg-type]  # tables by name
    except InvalidInputError as error:
        if "cannot be parsed at" in error.message:
            for statement in statements:
                parsed_query(statement)  # whose error has the place in the text as written
        raise


def _changing(statement: str) -> str:
    """Return the first word of a statement that changes data; "" for others."""
    reader = Reader(statement)
    word = reader.here.word
    if word == "WITH":
        reader.until("SELECT", "FROM", "VALUES", "TABLE", *_WRITING)
        return reader.here.word if reader.here.word in _WRITING else ""
    return word if word in HANDLERS and word not in _READING else ""
