"""Commands that read rows or explain reads: `head`, `explain`, `diff`, `history`."""

from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.options import (
    column_names,
    opened_table,
    output_options,
    point_options,
    table_name,
)
from paimon_explore.errors import UnsupportedFeatureError

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_explore.command_line.options import Point
    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.command_line.source import Source
    from paimon_explore.table.table import Table

_COLUMNS_HELP = "Comma-separated columns; a.b is a field of the ROW column a."
_WHERE_HELP = "A condition in SQL."


@command(main_group, "head")
@table_name
@point_options
@click.option(
    "-n",
    "--rows",
    "limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of rows.",
)
@click.option("-a", "--all", "is_all", is_flag=True, help="All rows.")
@click.option("--columns", metavar="NAMES", help=_COLUMNS_HELP)
@click.option("--where", metavar="SQL", help=_WHERE_HELP)
@output_options
def show_head(  # noqa: PLR0913 - the options of the command
    *,
    source: "Source",
    name: str,
    branch: str | None,
    point: "Point",
    limit: int,
    is_all: bool,
    columns: str | None,
    where: str | None,
    output: "Output",
) -> None:
    """Print the first rows of a table or a system table, in the order of the files.

    Rows are printed as they are read: --all needs little memory for tables of any size. Names of
    system tables end with $files, $snapshots, $audit_log and so on.

    Examples:
        head wh/demo.db/orders
        head demo.orders -w wh -n 3 --columns id,city --where "dt = '2026-01-01'"
        head wh/demo.db/orders --all --csv
        head 'demo.orders$files' -w wh --json
    """
    names = column_names(columns)
    rows = None if is_all else limit
    if source.is_system_table(name):
        if branch is not None:
            raise click.UsageError("System tables have no --branch.")
        _refuse_point(point, "System tables")
        output.rows(source.open_rows(name).scan(names, where, rows).to_batches())
        return
    try:
        table = point(source.open_table(name, branch))
    except UnsupportedFeatureError:
        found = None if branch is not None else source.open_files(name)
        if found is None:
            raise
        _refuse_point(point, "Tables of files")
        output.rows(found.scan(names, where, rows).to_batches())
        return
    output.rows(table.scan(names, where, rows).to_batches())


def _refuse_point(point: "Point", tables: str) -> None:
    if point.is_given:
        raise click.UsageError(f"{tables} have no --snapshot, --tag or --at.")


@command(main_group, "explain")
@opened_table
@point_options
@click.option("--columns", metavar="NAMES", help=_COLUMNS_HELP)
@click.option("--where", metavar="SQL", help=_WHERE_HELP)
@click.option("--limit", type=click.IntRange(min=0), help="Number of rows to read.")
@output_options
def explain(
    *,
    table: "Table",
    point: "Callable[[Table], Table]",
    columns: str | None,
    where: str | None,
    limit: int | None,
    output: "Output",
) -> int:
    """Explain which files a read opens or skips, and why.

    Examples:
        explain wh/demo.db/orders --where "dt = '2026-01-01' AND id > 200"
        explain demo.customers -w wh --where 'id = 7' --json
    """
    return output.report(point(table).explain(where, columns=column_names(columns), limit=limit))


@command(main_group, "diff")
@opened_table
@click.argument("before", required=False)
@click.argument("after", required=False)
@click.option("--rows", type=click.IntRange(min=0), default=0, help="Also show so many rows.")
@output_options
def diff(
    *, table: "Table", before: str | None, after: str | None, rows: int, output: "Output"
) -> int:
    """Compare two snapshots: files, schema, options and indexes.

    BEFORE and AFTER are snapshot ids, tags or times; by default the latest snapshot is compared
    with the one before it. 0 is the empty table before the first snapshot.

    Examples:
        diff wh/demo.db/orders
        diff wh/demo.db/orders 2 4 --rows 5
        diff demo.trips -w wh before --json
    """
    return output.report(table.diff(_point(table, before), _point(table, after), rows=rows))


def _point(table: "Table", text: str | None) -> int | str | None:
    """A snapshot id, unless a tag has that name."""
    if text is None or not (text.isascii() and text.isdigit()) or text in table.tags:
        return text
    return int(text)


@command(main_group, "history")
@opened_table
@click.argument("key")
@click.option("--last", type=click.IntRange(min=1), help="Number of newest snapshots to read.")
@output_options
def history(*, table: "Table", key: str, last: int | None, output: "Output") -> int:
    """Show the stored versions of a primary key in each snapshot, and the merged row.

    KEY is a value, or a condition for each key column: "id = 3, dt = 'd1'".

    Examples:
        history wh/demo.db/customers 6
        history demo.parcels -w wh "dt = '2026-01-01', id = 2" --json
    """
    return output.report(table.history(_key(table, key), snapshots=last))


def _key(table: "Table", text: str) -> int | str:
    """The key of a table with one integer column as key; other keys are read from the text."""
    import pyarrow as pa

    schema = table.schema
    names = [name for name in schema.primary_keys if name not in schema.partition_keys]
    is_number = text.isascii() and text.removeprefix("-").isdigit()
    if len(names) != 1 or not is_number:
        return text
    kind = table.scan(names).schema.field(names[0]).type
    return int(text) if pa.types.is_integer(kind) else text
