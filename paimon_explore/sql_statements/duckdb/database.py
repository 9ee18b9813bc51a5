"""The in-memory DuckDB database of this process, and its errors in the words of this library."""

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import copy_context
from importlib.util import find_spec
from tempfile import gettempdir
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, PaimonError, choices, undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import memory_limit
from paimon_explore.sql_statements.duckdb.functions.database_functions import (
    FUNCTION_NAMES,
    DatabaseFunctions,
)
from paimon_explore.sql_statements.duckdb.type_names import VARIANT, quoted
from paimon_explore.sql_statements.query_problems import QueryProblemError, unknown_name
from paimon_explore.table.progress import ProgressBar
from paimon_explore.table.scan import Scan
from paimon_explore.threads import free_in_forks, in_forks, thread_pool

if TYPE_CHECKING:
    import duckdb

if find_spec("duckdb") is None:  # which is loaded when a query needs it
    raise ModuleNotFoundError("DuckDB is not installed.", name="duckdb")
_Value = TypeVar("_Value")
_MEASURED = "SET enable_progress_bar = true; SET enable_progress_bar_print = false"
"""Makes `query_progress` of a connection known, which DuckDB itself does not print."""
_WAIT_S = 2.0
"""How long a query runs before its progress is shown."""
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_SCAN_FAILED = re.compile(
    r"^[\w ]+ Error: (?:exporting a stream from|reading the stream) .{1,200}? failed: \w+: "
)
"""What DuckDB writes before an error of a table's scan."""
_FUNCTION_FAILED = "Python exception occurred while executing the UDF: InvalidInputError: "
"""What DuckDB writes before an error of a function of this library."""
_KIND = re.compile(r"^(?:[A-Z][\w]* (?:of )?)+Error: ")
_QUOTED = re.compile(r"""(['"])"(.*?)"\1""")
"""A text in the quotes with which a cast refuses what Spark does."""
_TYPES = {
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INT",
    "INT64": "BIGINT",
    "BOOL": "BOOLEAN",
    "INTEGER_LITERAL": "INT",
    "STRING_LITERAL": "VARCHAR",
}
_TYPED = re.compile(r"\bspark_((?:try_)?)(?:cast|(from_json))_[0-9]+")
"""A function of variants or JSON with the type of its result."""
_CONVERSION = re.compile(r"^Macro spark_\w+\(\) does not support the supplied arguments\.")
_PRIVATE = re.compile(r"\bspark[_.](?=\w+[\"(])")
"""The prefix of this library's functions with the results of Spark's."""
_ACCEPTED = re.compile(r" spark_\w+\(\w+ ([A-Z ]+(?:\([0-9, ]+\))?)")
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_MAX_CONDITIONS = 200
"""Maximum number of conditions that DuckDB passes to a dataset, as a filter with as many levels."""
_CTRL_C = re.compile(r"^Query interrupted$|(?:failed|UDF): KeyboardInterrupt\b")
"""Messages of DuckDB about Ctrl+C in a query, and in a function or scan that it calls."""
_TOO_LARGE = "Arrow Appender: The maximum "
_TRY = "try_cast returns NULL for a value that cannot be cast."


def text_constant(text: str) -> str:
    """Write a text as a constant of DuckDB.

    >>> print(text_constant("it's"))
    'it''s'
    """
    return "'{}'".format(text.replace("'", "''"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedColumns:
    """Rows with only those columns of a table that the query names.

    Attributes:
        rows: with these columns.
        names: all columns of the table, for errors.
    """

    rows: pa.Table
    names: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """Rows of local files that DuckDB reads itself.

    Attributes:
        query: reads the files.
        folder: contains them.
        check: raises an error if one of them no longer exists.
        is_bounded: whether the query selects few rows, in fewer passes than DuckDB's late
            materialization.
    """

    query: str
    folder: str
    check: Callable[[], None]
    is_bounded: bool = False


def new_cursor(sources: Mapping[str, object], query: str) -> "duckdb.DuckDBPyConnection":
    """Return a connection with temporary views, and the functions that it needs.

    Args:
        sources: by name, in order: rows that DuckDB can read, or a query as text.
        query: the query that will run.
    """
    is_long = query.count(" AND ") > _MAX_CONDITIONS
    folders = {rows.folder for rows in sources.values() if isinstance(rows, FileRows)}
    texts = [query, *(rows for rows in sources.values() if isinstance(rows, str))]
    with duckdb_errors():
        cursor = _database(folders, texts).cursor()
        for name, rows in sources.items():
            text = rows.query if isinstance(rows, FileRows) else rows
            if isinstance(rows, FileRows) and rows.is_bounded:
                cursor.execute("SET late_materialization_max_rows = 0")
            if isinstance(text, str):
                cursor.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {text}")
            else:
                given = rows.rows if isinstance(rows, SelectedColumns) else rows
                given = rows.to_dataset() if isinstance(rows, Scan) and not is_long else given
                cursor.register(name, given)
    return cursor


class _Databases:
    """The database of this process, and the folders that it may read.

    The folders of a database cannot change, so one more folder needs a new database, and so does
    another time zone of the process, which DuckDB reads once.
    """

    def __init__(self) -> None:
        self._lock = free_in_forks(Lock())
        self._folders: set[str] = set()
        self._zone: object = None
        self._made: tuple[duckdb.DuckDBPyConnection, DatabaseFunctions] | None = None

    def __call__(
        self, folders: Collection[str], texts: Iterable[str]
    ) -> "duckdb.DuckDBPyConnection":
        with self._lock:
            zone = (os.environ.get("TZ"), time.tzname, time.timezone)
            is_known = zone == self._zone and self._folders.issuperset(folders)
            if self._made is None or not is_known:
                self._zone = zone
                self._folders.update(folders)
                self._made = _opened(sorted(self._folders))
            database, functions = self._made
            with undo_on_error(self.forget):  # which of them are defined is not known
                functions.define(texts)
            return database

    def forget(self) -> None:
        """Use a new database from now on: after a fork, the threads of this one do not exist."""
        if self._made is not None:
            keep_unused(self._made[0])
        self._made = None


def keep_unused(of_parent: object) -> None:
    """Keep an object of the parent process, since to free it is to wait for its threads."""
    _OF_PARENTS.append(of_parent)


_OF_PARENTS: list[object] = []
_database = _Databases()
in_forks(_database.forget)


def _opened(folders: Sequence[str]) -> "tuple[duckdb.DuckDBPyConnection, DatabaseFunctions]":
    import duckdb  # noqa: PLC0415 - a scan answers many queries without it

    spilled = f"{gettempdir()}/paimon_explore-{os.getpid()}-{uuid4().hex}"
    limit = memory_limit() * 3 // 4  # the files that are being read take the rest
    settings = {"memory_limit": f"{limit}B", "temp_directory": spilled}
    made = duckdb.connect(config={**_SETTINGS, **settings})
    made.execute(f"SET allowed_directories = [{', '.join(map(text_constant, folders))}]")
    made.execute("SET enable_external_access = false; SET GLOBAL parquet_metadata_cache = true")
    return made, DatabaseFunctions(made)


class QueryRun:
    """Calls DuckDB for one query, so that Ctrl+C cancels it and a bar shows how far it is.

    Python handles signals when the main thread runs Python code. It does not during a call of
    DuckDB, so the main thread waits while another one calls.

    Args:
        cursor: the connection of the query.
    """

    def __init__(self, cursor: "duckdb.DuckDBPyConnection") -> None:
        self._cursor = cursor
        self._bar = ProgressBar("running the query", _WAIT_S)
        if self._bar.has_display:
            cursor.execute(_MEASURED)

    def call(self, call: Callable[[], _Value]) -> _Value:
        """Return what a call returns that runs the query, or a part of it."""
        if current_thread() is not main_thread():
            return call()
        running = thread_pool(1, "duckdb").submit(copy_context().run, call)
        try:
            while not wait([running], timeout=0.1).done:  # handles what other threads received
                self._bar.show(max(round(self._cursor.query_progress()), 0), 100, "%")
            return running.result()
        except KeyboardInterrupt:
            while not running.done():  # one that has not begun ignores the first
                self._cursor.interrupt()
                wait([running], timeout=0.05)
            raise
        finally:
            self._bar.clear()


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """Raise errors of DuckDB, and of Arrow's readers of its rows, as errors of this library.

    Raises:
        InvalidInputError: a query is wrong, or a value does not fit.
        KeyboardInterrupt: Ctrl+C was pressed, for which DuckDB raises an error of its own.
    """
    try:
        yield
    except PaimonError:
        raise
    except Exception as error:
        if _CTRL_C.search(str(error)):
            raise KeyboardInterrupt from error
        if not isinstance(error, pa.ArrowException | OSError) and not _is_of_duckdb(error):
            raise
        cause = error.__cause__
        if isinstance(cause, PaimonError):
            raise cause from None
        if _TOO_LARGE in str(error):
            raise InvalidInputError(
                "Some rows of the result are so long that a batch has more than 2 GiB.",
                hint="Return shorter values, such as substring(s, 1, 1000), or use scan().",
            ) from error
        hint = _TRY if type(error).__name__ == "ConversionException" else ""
        raise InvalidInputError(_sentence(error), hint=hint) from error


def _is_of_duckdb(error: Exception) -> bool:
    import duckdb  # noqa: PLC0415 - as above

    return isinstance(error, duckdb.Error)


def analysed(
    cursor: "duckdb.DuckDBPyConnection", text: str, sources: Mapping[str, object]
) -> "duckdb.DuckDBPyRelation":
    """Analyse a query.

    Args:
        cursor: the connection.
        text: the query.
        sources: the views that it can read, by name.

    Raises:
        QueryProblemError: it has an unknown column, function or table.
        InvalidInputError: it is wrong for another reason.
    """
    try:
        with duckdb_errors():
            return cursor.sql(text)
    except InvalidInputError as error:
        found = ((kind, pattern.search(error.message)) for kind, pattern in _UNKNOWN)
        for kind, match in found:
            if match is not None:
                with duckdb_errors():
                    known = _KNOWN[kind](cursor, sources)
                raise unknown_name(kind, match[1], known) from error.__cause__
        if match := _QUALIFIER.search(error.message):
            near = [one for one in match[2].split('"')[1::2] if not one.startswith("_paimon_")]
            raise QueryProblemError(
                f"{match[1]!r} is neither a table in FROM nor a column.",
                hint=f"Did you mean {choices(near)}? A table with an alias is named by the alias."
                if near
                else "",
                name=match[1],
            ) from error.__cause__
        if match := _WRONG_TYPES.search(error.message):
            text = _NAME.sub(lambda one: _SPARK_NAMES[one[0]], error.message)
            kinds = _NAME.sub(lambda one: _SPARK_NAMES[one[0]], match[2])
            candidates = text.partition("Candidate functions: ")[2]
            raise QueryProblemError(
                f"{match[1]} cannot be applied to arguments of the types ({kinds}).",
                hint=f"It is {candidates}"
                if len(candidates) < _LONG
                else "Cast them: CAST(x AS INT).",
                name=match[1],
            ) from error.__cause__
        raise


def _columns(cursor: "duckdb.DuckDBPyConnection", sources: Mapping[str, object]) -> list[str]:
    found: list[str] = []
    for view, rows in sources.items():
        if isinstance(rows, Scan):  # of which only columns that exist were selected
            found += rows.target.schema.row_type.names
        elif isinstance(rows, SelectedColumns):
            found += rows.names
        else:
            found += cursor.table(quoted(view)).columns
    return [name for name in found if not name.startswith("_paimon_")]


def _functions(cursor: "duckdb.DuckDBPyConnection", _: Mapping[str, object]) -> list[str]:
    rows = cursor.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    public = [name for (name,) in rows if name.isidentifier() and not name.startswith("spark_")]
    return public + sorted(FUNCTION_NAMES)


def _tables(_: "duckdb.DuckDBPyConnection", sources: Mapping[str, object]) -> list[str]:
    return [view for view in sources if not view.startswith("_paimon_")]


_UNKNOWN = (
    ("column", re.compile(r'Referenced column "(.+?)" not found')),
    ("column", re.compile(r'does not have a column named "(.+?)"')),
    ("function", re.compile(r"Function with name (\S+) does not exist")),
    ("table", re.compile(r"Table with name (\S+) does not exist")),
)
"""Messages of DuckDB about names."""
_QUALIFIER = re.compile(r'Referenced table "(.+?)" not found(.*)')
"""Message of DuckDB about the table of a column, with the most similar names."""
_WRONG_TYPES = re.compile(
    r"(?:argument types '|function call \")(.+?)\((.*)\)['\"]\. (?:You might|In order)"
)
"""Messages of DuckDB about the types of arguments, which list all types that a function has."""
_LONG = 100
"""The length from which on the list of types of a function is left out."""
_SPARK_NAMES = {
    "VARCHAR": "STRING",
    "INTEGER": "INT",
    "BLOB": "BINARY",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    '"NULL"': "NULL",
}
_NAME = re.compile("|".join(_SPARK_NAMES))
_KNOWN = {"column": _columns, "function": _functions, "table": _tables}


def _sentence(error: Exception) -> str:
    """The message of DuckDB in one line, without its drawing of the place and stack traces."""
    text = str(error).partition("\n\n")[0].partition("Detail: Python exception:")[0]
    text = _KIND.sub("", _SCAN_FAILED.sub("", " ".join(text.split()))).replace("..", ".")
    text = _QUOTED.sub(r"\1\2\1", text.removeprefix(_FUNCTION_FAILED))
    text = _TYPE.sub(lambda found: _TYPES[found[1]], text.replace(VARIANT, "VARIANT"))
    text = _TYPED.sub(lambda found: found[1] + (found[2] or "variant_get"), text)
    if _CONVERSION.match(text):
        types = ", ".join(dict.fromkeys(_ACCEPTED.findall(text)))
        text = f"A value has a type that cannot be converted here. These can: {types}"
    text = _PRIVATE.sub("", text)
    return text if text.endswith((".", "?", "!")) else f"{text}."
