"""The command `sql`."""

import sys
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.exit_codes import OK
from paimon_explore.command_line.options import key_values, output_options, source_options
from paimon_explore.command_line.plain_commands import EXTRA_HINT
from paimon_explore.errors import PaimonError, UnsupportedFeatureError

if TYPE_CHECKING:
    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.command_line.source import Source
    from paimon_explore.command_line.sql.catalog_tables import CatalogTables
    from paimon_explore.command_line.sql.engine import Engine

_HELP = "Statements end with ';'. Commands: .tables, .help, .quit. Tab completes names."


@command(
    main_group,
    "sql",
    "sql -w wh 'SELECT city, count(*) AS orders FROM demo.orders GROUP BY city ORDER BY city'",
    "sql -w wh -d demo 'SELECT * FROM orders LIMIT 3' --json",
    "sql -t o=wh/demo.db/orders \"SELECT max(id) FROM o WHERE dt = '2026-01-01'\" --csv",
    "sql -w wh --engine scan 'SELECT id, city FROM demo.orders WHERE id > 403'",
)
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
@output_options
def sql(
    *,
    source: "Source",
    statement: str | None,
    database: str | None,
    tables: tuple[str, ...],
    engine: str,
    output: "Output",
) -> int:
    """Run SQL on tables, or open a prompt.

    DuckDB reads the tables by Arrow scans that only read the columns and files that a query needs.
    Without DuckDB, only SELECT of one table with WHERE and LIMIT can be run. Tables are read-only;
    system tables are quoted: demo."orders$files".

    Without STATEMENT, statements are read from standard input: in a terminal by a prompt with
    history and completion.
    """
    from paimon_explore.command_line.sql.catalog_tables import catalog_tables
    from paimon_explore.command_line.sql.engine import EngineName, open_engine

    known = catalog_tables(source, key_values(tables, "--table"), database)
    with closing(open_engine(EngineName(engine), known)) as opened:
        if statement is None and sys.stdin.isatty():
            return run_prompt(known, opened, output)
        text = sys.stdin.read() if statement is None else statement
        for one in opened.statements(text):
            _run(opened, one, output)
    return OK


def _run(engine: "Engine", statement: str, output: "Output") -> None:
    found = engine.run(statement)
    if found is not None:
        output.rows(found, note=engine.title)


def run_prompt(tables: "CatalogTables", engine: "Engine", output: "Output") -> int:
    """Run the statements of the prompt; an error does not end it."""
    if find_spec("prompt_toolkit") is None:
        raise UnsupportedFeatureError(
            "The SQL prompt without the package prompt_toolkit", hint=EXTRA_HINT
        )
    from paimon_explore.command_line.sql.prompt import statements_of_prompt

    output.message(f"{engine.title}. {_HELP}")
    for text in statements_of_prompt(tables):
        try:
            if text.startswith("."):
                _dot_command(text, tables, output)
                continue
            for one in engine.statements(text):
                _run(engine, one, output)
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
