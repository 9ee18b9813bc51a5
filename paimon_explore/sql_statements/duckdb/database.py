"""The in-memory DuckDB database of this process, and its errors in the words of this library."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import duckdb

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.limits import memory_limit
from paimon_explore.sql_statements.duckdb.spark_semantics import MACROS

_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_SCAN_FAILED = re.compile(
    r"^[\w ]+ Error: (?:exporting a stream from|reading the stream) .{1,200}? failed: \w+: "
)
"""What DuckDB writes before an error of a table's scan."""
_KIND = re.compile(r"^(?:[A-Z][\w]* )+Error: ")


def quoted(name: str) -> str:
    """Quote a name for DuckDB.

    >>> quoted("user id")
    '"user id"'
    """
    return '"{}"'.format(name.replace('"', '""'))


def text_constant(text: str) -> str:
    """Write a text as a constant of DuckDB.

    >>> print(text_constant("it's"))
    'it''s'
    """
    return "'{}'".format(text.replace("'", "''"))


def new_cursor(sources: Mapping[str, object]) -> duckdb.DuckDBPyConnection:
    """Return a connection with temporary views.

    Args:
        sources: by name, in order: rows that DuckDB can read, or a query as text.
    """
    cursor = _database().cursor()
    with duckdb_errors():
        for name, rows in sources.items():
            if isinstance(rows, str):
                cursor.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {rows}")
            else:
                cursor.register(name, rows)
    return cursor


@cache
def _database() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(config={**_SETTINGS, "memory_limit": f"{memory_limit()}B"})
    made.execute(MACROS)
    return made


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """Raise errors of DuckDB as errors of this library.

    Raises:
        InvalidInputError: a query is wrong, or a value does not fit.
    """
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        cause = error.__cause__
        if isinstance(cause, PaimonError):
            raise cause from None
        raise InvalidInputError(_sentence(error)) from error


def _sentence(error: duckdb.Error) -> str:
    """The message of DuckDB in one line, without its drawing of the place and stack traces."""
    text = str(error).partition("\n\n")[0].partition("Detail: Python exception:")[0]
    text = _KIND.sub("", _SCAN_FAILED.sub("", " ".join(text.split()))).replace("..", ".")
    return text if text.endswith((".", "?", "!")) else f"{text}."
