"""SQL statements on Paimon tables, which know no engine.

| statement | executed by |
| --- | --- |
| SELECT, VALUES, WITH, EXPLAIN … over Paimon tables | the engine, with tables replaced by views |
| INSERT, UPDATE, DELETE, MERGE, TRUNCATE of a Paimon table | the engine, which writes rows |
| COPY INTO a table or files | the engine's readers and writers |
| CREATE, ALTER, DROP, SHOW, DESCRIBE, ANALYZE, USE, CALL sys.… | this library |
| anything else | the engine, unchanged |
"""

from sys import getrecursionlimit

from paimon_explore.commit.planned_again import repeated
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.sql_statements.catalog_functions import with_catalog_functions
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.outcome import Outcome
from paimon_explore.sql_statements.parameter_markers import with_constants
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.query_problems import QueryProblemError, located
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Reader

_CHANGES = frozenset({"UPDATE", "DELETE", "MERGE"})
_OF_CATALOGS = frozenset(
    {
        *("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "REPLACE", "DROP", "ALTER"),
        *("COMMENT", "SHOW", "DESCRIBE", "DESC", "USE", "ANALYZE", "CALL"),
    }
)
_DEFAULTS = TableOptions({})


def run_statement(warehouse: Warehouse, text: str, args: Args = None) -> Outcome:
    """Run one statement.

    Args:
        warehouse: the catalog, the current database and the engine.
        text: the statement.
        args: values of parameter markers.

    Raises:
        NotFoundError: a database, table, branch, snapshot or tag that does not exist.
        InvalidInputError: a statement that cannot be parsed; the message names the part, its
            position, the rule and the valid syntax.
        UnsupportedFeatureError: a valid statement that is not implemented.
    """
    if Reader(text).here.word == "MERGE":  # so that the source is read again, too
        return repeated(_DEFAULTS, lambda _: _run_once(warehouse, text, args))
    return _run_once(warehouse, text, args)


def _run_once(warehouse: Warehouse, text: str, args: Args) -> Outcome:
    word = Reader(text).here.word
    if word in _CHANGES:
        text = with_catalog_functions(warehouse, text)
    try:
        found = None if word == "SELECT" else _command(warehouse, text, args)
        if found is None and word in _OF_CATALOGS and not warehouse.engine.has_own_tables:
            warehouse.warehouse()
        return found if found is not None else run_query(warehouse, text, args)
    except QueryProblemError as problem:
        raise located(problem, text) from problem
    except RecursionError as error:
        raise InvalidInputError(
            f"The statement is nested too deeply for the limit of {getrecursionlimit()} calls.",
            hint="Nest fewer parentheses and operators: write a long chain of conditions as "
            "IN (…), or put the values into a table or variable, and join it.",
        ) from error


def _command(warehouse: Warehouse, text: str, args: Args) -> Outcome | None:
    """Run a command; return None if the engine has to run the statement."""
    from paimon_explore.sql_statements.commands.dispatch import COMMANDS  # noqa: PLC0415 - many, no query

    handler = COMMANDS.get(Reader(text).here.word)
    if handler is None:
        return None
    text = with_constants(text, args)
    reader = Reader(text)
    reader.next()
    try:
        return handler(warehouse, reader)
    except QueryProblemError as problem:
        raise located(problem, text) from problem
