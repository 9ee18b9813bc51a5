"""Statements on one table, for the SQL tab of the explorer."""

from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.commands.dispatch import COMMANDS
from paimon_explore.sql_statements.duckdb.dialect import parsed_query
from paimon_explore.sql_statements.procedures.call_statement import PROCEDURES
from paimon_explore.sql_statements.session import sql
from paimon_explore.sql_statements.tokenizer import Kind, Reader, statements_of, tokens_of
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import check_writable

_READING = frozenset({"SHOW", "DESCRIBE", "DESC", "EXPLAIN"})
_ARGUMENTS = frozenset({"text", "catalog", "parameters", "dialect"})
"""Names of arguments of `sql`, which tables cannot have."""
_WRITING = ("INSERT", "UPDATE", "DELETE", "MERGE")
_OF_CATALOG = frozenset({"CREATE", "REPLACE", "DROP", "USE", "REFRESH"})
_BEFORE_NAME = ("INTO", "OVERWRITE", "TABLE", "FROM", "WITH", "SCHEMA", "EVOLUTION", "ON")


class TableStatements:
    """Runs statements on a table, which they call `t` or by its name.

    Args:
        table: the table.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._own = table.name.partition(".")[2] or table.name

    def written(self, text: str) -> str:
        """Return the first word of a statement that writes to the table; "" for queries.

        Raises:
            InvalidInputError: the text writes something else or has other statements too, or the
                table is opened with time travel.
        """
        statements = statements_of(text)
        word = next(filter(None, map(_changing, statements)), "")
        if not word:
            return ""
        if len(statements) > 1:
            raise InvalidInputError(
                f"The text has {len(statements)} statements, of which {word} writes.",
                hint="Run each statement alone.",
            )
        check_writable(self._table)
        if _target(Reader(statements[0])) not in ("t", self._own):
            raise InvalidInputError(
                f"The SQL tab writes only to its table, by the name t; this {word} is not run.",
                hint=f"Run it in a cell, with full names: catalog.sql({text!r})",
            )
        return word

    def read(self, text: str, point: Mapping[str, int | str]) -> SqlResult:
        """Run statements that only read.

        Args:
            text: the statements.
            point: the arguments of `Table.at`; none for the latest snapshot.

        Raises:
            InvalidInputError: a statement changes data, or is wrong.
            UnsupportedFeatureError: a statement is not implemented.
        """
        word = self.written(text)
        if word:
            name = self._own if self._own in text and self._own.isidentifier() else "t"
            raise InvalidInputError(
                f"Only queries run here; {word} writes to the table.",
                hint=f"Press Run in the SQL tab, or run it in a cell: pe.sql({text!r}, {name}=t)",
            )
        return self._run(text, self._table.at(**point) if point else self._table)  # type: ignore[arg-type]  # names with values

    def write(self, text: str) -> SqlResult:
        """Run a statement for which `written` returned a word.

        Raises:
            PaimonError: as for `sql`.
        """
        return self._run(text, self._table)

    def _run(self, text: str, table: Table) -> SqlResult:
        tables = {name: table for name in ("t", self._own) if name not in _ARGUMENTS}
        try:
            return sql(text, **tables)  # type: ignore[arg-type]  # tables by name
        except InvalidInputError as error:
            if "cannot be parsed at" in error.message:
                for statement in statements_of(text):
                    parsed_query(statement)  # whose error has the place in the text as written
            raise


def _changing(statement: str) -> str:
    """Return the first word of a statement that changes data; "" for others."""
    reader = Reader(statement)
    word = reader.here.word
    if word == "WITH":
        reader.until("SELECT", "FROM", "VALUES", "TABLE", *_WRITING)
        return reader.here.word if reader.here.word in _WRITING else ""
    return word if word in COMMANDS and word not in _READING else ""


def _target(reader: Reader) -> str:
    """Return the name of the table that a statement writes; "" if it writes something else."""
    if reader.here.word == "WITH":
        reader.until(*_WRITING)
    word = reader.next().word
    if word in _OF_CATALOG:
        return ""
    if word == "CALL":
        procedure = PROCEDURES.get(reader.path("the procedure")[-1].lower())
        if procedure is None or procedure.arguments[0] != "table":
            return ""
        given = reader.parts("the arguments")
        named = [part for part in given if Reader(part).comes("TABLE", "=>")]
        tokens = tokens_of((named or given or [""])[0])
        return next((token.text for token in tokens if token.kind is Kind.TEXT), "")
    while reader.takes_one(*_BEFORE_NAME):
        pass
    name = ".".join(reader.path("the table"))
    return "" if reader.comes("RENAME", "TO") else name
