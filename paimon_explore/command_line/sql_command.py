"""The command `sql`."""

import sys
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.command_names import OK
from paimon_explore.command_line.options import key_values, output_options, source_options
from paimon_explore.command_line.plain_commands import EXTRA_HINT
from paimon_explore.errors import PaimonError, UnsupportedFeatureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.command_line.source import Source
    from paimon_explore.command_line.sql.catalog_tables import CatalogTables

    Run = Callable[[str], Iterator[pa.Table | pa.RecordBatchReader]]

_HELP = "Statements end with ';'. Commands: .tables, .help, .quit. Tab completes names."


@command(main_group, "sql")
@source_options
@click.argument("statement", required=False)
@click.option("-d", "--database", help="The database of tables that are named without one.")
@click.option(
    "-t", "--table", "tables", multiple=True, metavar="NAME=PATH", help="A table by its path."
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "duckdb", "scan"]),
    default="auto",
    show_default=True,
    help="What runs the statement; auto is DuckDB if it is installed.",
)
@click.option(
    "--dialect",
    type=click.Choice(["spark", "duckdb"]),
    default="spark",
    show_default=True,
    help="The dialect of queries.",
)
@output_options
def sql(  # noqa: PLR0913 - options of the command
    *,
    source: "Source",
    statement: str | None,
    database: str | None,
    tables: tuple[str, ...],
    engine: str,
    dialect: str,
    output: "Output",
) -> int:
    """Run SQL on tables, or open a prompt.

    The statements are those of Spark SQL: queries with time travel (VERSION AS OF), INSERT,
    UPDATE, DELETE, MERGE, CREATE, ALTER, DROP, SHOW, DESCRIBE, EXPLAIN and CALL. DuckDB runs the
    queries, and only reads the columns and files that they need. System tables have a suffix:
    demo.orders$files.

    Without DuckDB, only SELECT of one table with WHERE and LIMIT can be run.

    Without STATEMENT, statements are read from standard input: in a terminal by a prompt with
    history and completion. The STATEMENT - is always standard input.

    Examples:
        sql -w wh 'SELECT city, count(*) AS orders FROM demo.orders GROUP BY city ORDER BY city'
        sql -w wh -d demo 'SELECT * FROM orders LIMIT 3' --json
        sql -t o=wh/demo.db/orders "SELECT max(id) FROM o WHERE dt = '2026-01-01'" --csv
        sql -w wh 'SELECT count(*) FROM demo.orders VERSION AS OF 1'
        sql -w wh "UPDATE demo.orders SET city = 'Rome' WHERE id = 7"
    """
    from paimon_explore.command_line.sql.catalog_tables import CatalogTables

    known = CatalogTables(source, key_values(tables, "--table"), database, dialect)
    run, title = _engine(engine, known)
    if statement is None and sys.stdin.isatty():
        return run_prompt(known, run, title, output)
    if statement in {None, "-"} and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig")  # Windows has another encoding for pipes
    for rows in run(sys.stdin.read() if statement in {None, "-"} else statement):
        output.rows(rows, note=title)
    return OK


def _engine(name: str, tables: "CatalogTables") -> "tuple[Run, str]":
    """Return what runs statements, and its name."""
    from paimon_explore.command_line.sql.catalog_tables import SQL_HINT, select_by_scan

    missing = next((one for one in ("duckdb", "sqlglot") if find_spec(one) is None), None)
    if name == "scan" or (name == "auto" and missing is not None):
        title = "scans of paimon-explore, without DuckDB"
        return partial(select_by_scan, tables), title
    if missing is not None:
        raise UnsupportedFeatureError(f"SQL by DuckDB without the package {missing}", hint=SQL_HINT)
    return tables.run, f"DuckDB {version('duckdb')}"


def run_prompt(tables: "CatalogTables", run: "Run", title: str, output: "Output") -> int:
    """Run the statements of the prompt; an error does not end it."""
    if find_spec("prompt_toolkit") is None:
        raise UnsupportedFeatureError(
            "The SQL prompt without the package prompt_toolkit", hint=EXTRA_HINT
        )
    from paimon_explore.command_line.sql.prompt import statements_of_prompt

    output.message(f"{title}. {_HELP}")
    for text in statements_of_prompt(tables):
        try:
            if text.startswith("."):
                _dot_command(text, tables, output)
                continue
            for rows in run(text):
                output.rows(rows, note=title)
        except PaimonError as error:
            sys.stderr.write(f"{error}\n")
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted.\n")
    return OK


def _dot_command(text: str, tables: "CatalogTables", output: "Output") -> None:
    if text == ".tables":
        for name in tables.names():
            output.message(name)
        return
    output.message(_HELP)
