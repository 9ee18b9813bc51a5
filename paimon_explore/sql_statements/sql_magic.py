"""The notebook magic `%%paimon_sql`: runs a cell of SQL statements and shows the last result.

    %load_ext paimon_explore
    %%paimon_sql [name] [--warehouse W] [--limit N] [--engine duckdb|spark]
    SELECT * FROM db.t WHERE id > :least

| part | meaning |
| --- | --- |
| `name` | the variable in which the result is stored |
| `--warehouse` | a folder or the variable of a catalog; else the only one of a variable |
| `--limit` | the number of rows that are shown |
| `--engine` | DuckDB in this process, or Spark; `%load_ext paimon_explore.spark` makes it Spark |
| `:least` | the value of the variable `least` |

On DuckDB, a name that is no table of the catalog can be a variable with a table or a DataFrame.
`%paimon_sql SELECT …` runs one line and returns its result.
"""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, MutableMapping
from importlib import import_module
from typing import NoReturn, Protocol

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.sql_results.sql_result import SqlResult

DUCKDB, SPARK = "duckdb", "spark"
_LIMIT = 20
_USAGE = "%%paimon_sql [name] [--warehouse W] [--limit N] [--engine duckdb|spark]"


class Shell(Protocol):
    """The part of IPython's shell that the magic uses."""

    @property
    def user_ns(self) -> MutableMapping[str, object]:
        """The variables."""

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        """Register a magic."""


def register_sql_magic(shell: Shell, engine: str) -> None:
    """Register `%paimon_sql` and `%%paimon_sql` in a shell.

    Args:
        shell: the shell.
        engine: what runs cells that name no engine: `duckdb` or `spark`.
    """
    shell.register_magic_function(SqlMagic(shell, engine).run, "line_cell", "paimon_sql")


class SqlMagic:
    """The magic registered in one shell.

    Args:
        shell: the shell.
        engine: of cells that name none.
    """

    def __init__(self, shell: Shell, engine: str) -> None:
        self._shell = shell
        self._engine = engine
        self._catalogs: dict[str, Catalog] = {}

    def run(self, line: str, cell: str | None = None) -> object:
        """Run a cell or a line.

        Returns:
            The result of a query on DuckDB, the first rows of one on Spark; None for a command
            without rows. For a line, the whole result.
        """
        given = _parsed("" if cell is None else line)
        text = line if cell is None else cell
        is_spark = (given.engine or self._engine) == SPARK
        result = self._on_spark(text, given) if is_spark else self._on_duckdb(text, given)
        if given.name is not None:
            self._shell.user_ns[given.name] = result
        if cell is None:
            return result
        if isinstance(result, SqlResult):
            result.shown_rows = given.limit
            return result if result.schema.names else None
        return result.limit(given.limit).toPandas() if result.columns else None  # type: ignore[attr-defined]  # of Spark

    def _on_spark(self, text: str, given: Namespace) -> object:
        spark = import_module("paimon_explore").spark
        catalog = self._shell.user_ns.get(given.warehouse)
        where = {"warehouse": given.warehouse}
        if isinstance(catalog, Catalog):
            where = {"catalog": catalog}
        return spark.sql(spark.session(), text, args=self._parameters(text) or None, **where)

    def _on_duckdb(self, text: str, given: Namespace) -> SqlResult:
        try:
            module = import_module("paimon_explore.sql_statements.session")
        except ModuleNotFoundError as error:
            raise UnsupportedFeatureError(
                f"%%paimon_sql without the package {error.name}",
                hint="Run: pip install 'paimon-explore[sql]'",
            ) from error
        values = self._shell.user_ns
        session = module.Session(self._catalog(given.warehouse), variables=values)
        found: SqlResult = session.run_all(text, self._parameters)
        return found

    def _catalog(self, given: str | None) -> Catalog | None:
        values = self._shell.user_ns
        if given is not None:
            named = values.get(given, given)
            if isinstance(named, Catalog):
                return named
            return self._catalogs.setdefault(str(named), Catalog(str(named)))
        known = {
            name: value
            for name, value in values.items()
            if isinstance(value, Catalog) and not name.startswith("_")
        }
        if len(set(map(id, known.values()))) > 1:
            raise InvalidInputError(
                f"%%paimon_sql: several variables contain catalogs: {choices(sorted(known))}.",
                hint="Name one of them: %%paimon_sql --warehouse NAME",
            )
        return next(iter(known.values()), None)

    def _parameters(self, statement: str) -> Mapping[str, object]:
        """Return the variables that a statement has markers for."""
        from paimon_explore.sql_statements.parameter_markers import named_markers  # noqa: PLC0415 - when a cell runs

        values = self._shell.user_ns
        return {name: values[name] for *_, name in named_markers(statement) if name in values}


class _Parser(ArgumentParser):
    """An argument parser that raises an error instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise an error for an invalid line."""
        raise InvalidInputError(f"%%paimon_sql: {message}.", hint=_USAGE)


def _parsed(line: str) -> Namespace:
    parser = _Parser(prog="%%paimon_sql", add_help=False)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--warehouse")
    parser.add_argument("--limit", type=int, default=_LIMIT)
    parser.add_argument("--engine", choices=(DUCKDB, SPARK))
    given = parser.parse_args(shlex.split(line))
    if given.name is not None and not given.name.isidentifier():
        parser.error(f"{given.name!r} is not a valid variable name")
    return given
