"""The notebook magic `%%paimon_sql`: runs a cell of SQL and shows the last result as a table.

    %load_ext paimon_explore.spark
    %%paimon_sql [name] [--warehouse FOLDER] [--limit N]
    SELECT * FROM db.t

With a name, the DataFrame is stored in that variable. `%paimon_sql SELECT …` runs one line and
returns its DataFrame.
"""

import shlex
from collections.abc import Callable
from typing import Protocol

from pyspark.sql import DataFrame

from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.session import session
from paimon_explore.spark.sql_statement import sql

LIMIT = 20
_USAGE = "%%paimon_sql [name] [--warehouse FOLDER] [--limit N]"


class Shell(Protocol):
    """The part of IPython's shell that the magic uses."""

    user_ns: dict[str, object]

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Register a magic."""


class Cell:
    """The magic registered in one shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def run(self, line: str, cell: str | None = None) -> object:
        """Run a cell or a line.

        Returns:
            The first rows as a pandas DataFrame; None for a command without a result. For a line,
            the Spark DataFrame.
        """
        if cell is None:
            return sql(session(), line)
        name, warehouse, limit = _arguments(line)
        frame = sql(session(), cell, warehouse=warehouse)
        if name:
            self._shell.user_ns[name] = frame
        return _shown(frame, limit)


def _arguments(line: str) -> tuple[str, str | None, int]:
    words = shlex.split(line)
    name, warehouse, limit = "", None, LIMIT
    while words:
        word = words.pop(0)
        if word == "--warehouse" and words:
            warehouse = words.pop(0)
        elif word == "--limit" and words and words[0].isdigit():
            limit = int(words.pop(0))
        elif word.isidentifier() and not name:
            name = word
        else:
            raise InvalidInputError(f"%%paimon_sql: unknown option {word!r}.", hint=_USAGE)
    return name, warehouse, limit


def _shown(frame: DataFrame, limit: int) -> object:
    return frame.limit(limit).toPandas() if frame.columns else None


def load_ipython_extension(shell: Shell) -> None:
    """Register `%paimon_sql` and `%%paimon_sql`; IPython calls this for `%load_ext`."""
    shell.register_magic_function(Cell(shell).run, "line_cell", "paimon_sql")
