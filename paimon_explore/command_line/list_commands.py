"""Commands that list metadata, from `ls` to `partitions`; and `demo`, `version`, `completion`."""

from importlib import import_module
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.command_names import OK
from paimon_explore.command_line.options import (
    opened_table,
    output_options,
    point_options,
    source_options,
)
from paimon_explore.command_line.plain_commands import PROGRAM
from paimon_explore.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.command_line.source import Source
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.table import Table

PACKAGE = "paimon_explore"
COMPLETE_VARIABLE = "_PAIMON_EXPLORE_COMPLETE"
"""The variable that shells set to ask for completions."""
_SNAPSHOT_COLUMNS = {
    "snapshot_id": "snapshot",
    "commit_kind": "kind",
    "commit_time": "local time",
    "schema_id": "schema",
    "delta_record_count": "change",
    "total_record_count": "stored rows",
    "changelog_record_count": "changelog",
    "commit_user": "user",
}
_FILE_COLUMNS = {
    "partition": "partition",
    "bucket": "bucket",
    "level": "level",
    "row_count": "rows",
    "file_size": "bytes",
    "added_by": "added by",
    "file_name": "file",
}


@command(main_group, "ls")
@source_options
@click.argument("what", required=False, metavar="[PATH|DATABASE[.PATTERN]]")
@click.option("-l", "--long", "is_long", is_flag=True, help="Also open each table.")
@output_options
def list_tables(*, source: "Source", what: str | None, is_long: bool, output: "Output") -> None:
    """List databases and tables.

    Without a catalog, PATH is a warehouse or a database (PATH.db). With --warehouse or --catalog,
    the tables of one DATABASE can be listed; in PATTERN, % stands for any characters.

    --long adds the latest snapshot, its stored rows, and the keys.

    Examples:
        ls wh
        ls --warehouse wh demo --long
        ls --catalog prod 'demo.o%' --json
    """
    import pyarrow as pa

    from paimon_explore.data_types.arrow_buffers import string_array

    catalog, found = _tables(source, what)
    if is_long:
        from paimon_explore.command_line.table_rows import table_rows

        names = [(database, name) for database, tables in found.items() for name in tables]
        output.listing(table_rows(catalog, names), noun="table")
        return
    pairs = [(database, name) for database, names in found.items() for name in names or (None,)]
    columns = {
        "database": string_array([database for database, _ in pairs]),
        "table": string_array([name for _, name in pairs]),
    }
    output.listing(pa.table(columns), noun="table")


def _tables(source: "Source", what: str | None) -> "tuple[Catalog, dict[str, tuple[str, ...]]]":
    """The catalog, and its tables by database."""
    from paimon_explore.fileio.paths import with_slashes
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.catalog.warehouse_listing import catalog_listing

    if not source.has_catalog:
        if what is None:
            raise click.UsageError("Give a PATH, --warehouse or --catalog.")
        trimmed = with_slashes(what).rstrip("/")
        if not trimmed.endswith(".db"):
            catalog = Catalog(what, source.options)
            return catalog, catalog_listing(catalog).databases
        folder, _, name = trimmed.rpartition("/")
        catalog = Catalog(folder or ".", source.options)
        return catalog, catalog_listing(catalog, name.removesuffix(".db")).databases
    catalog = source.open_catalog()
    if what is None:
        return catalog, catalog_listing(catalog).databases
    database, _, pattern = what.partition(".")
    return catalog, {database: tuple(catalog.tables(database, pattern or None))}


@command(main_group, "schema")
@opened_table
@point_options
@click.option("--history", "with_history", is_flag=True, help="All versions of the schema.")
@click.option("--options", "with_options", is_flag=True, help="The table options instead.")
@output_options
def show_schema(
    *,
    table: "Table",
    point: "Callable[[Table], Table]",
    with_history: bool,
    with_options: bool,
    output: "Output",
) -> int:
    """Print the columns of a table.

    Examples:
        schema wh/demo.db/orders
        schema demo.trips --warehouse wh --history
        schema wh/demo.db/parcels --options --json
    """
    from paimon_explore.command_line.table_rows import column_rows, option_rows

    if with_history and with_options:
        raise click.UsageError("Give only one of --history and --options.")
    at = point(table)
    if with_history:
        return output.report(at.inspect.schema_history())
    if with_options:
        output.listing(option_rows(at.schema), noun="option")
    else:
        output.listing(column_rows(at.schema), noun="column")
    return OK


@command(main_group, "snapshots")
@opened_table
@click.option("-n", "--last", type=click.IntRange(min=1), help="Only the newest ones.")
@output_options
def show_snapshots(*, table: "Table", last: int | None, output: "Output") -> None:
    """List the snapshots, oldest first.

    Examples:
        snapshots wh/demo.db/orders
        snapshots demo.orders --warehouse wh --last 2 --json
    """
    rows = table.inspect.snapshots()
    if last is not None:
        rows = rows.slice(max(rows.num_rows - last, 0))
    output.listing(rows, columns=_SNAPSHOT_COLUMNS, noun="snapshot")


@command(main_group, "files")
@opened_table
@point_options
@click.option("--where", default="", help="A condition on partition, bucket, level, rows, size, …")
@output_options
def show_files(
    *, table: "Table", point: "Callable[[Table], Table]", where: str, output: "Output"
) -> None:
    """List the data files of a snapshot.

    --where takes a condition on partition columns, bucket, level, rows, size, schema, created,
    added, removed and file.

    Examples:
        files wh/demo.db/orders
        files wh/demo.db/orders --where "dt = '2026-01-01' and size < 1 MB" --csv
    """
    output.listing(point(table).files(where).to_arrow(), columns=_FILE_COLUMNS, noun="file")


@command(main_group, "partitions")
@opened_table
@point_options
@click.option("--where", default="", help="A condition, as for files.")
@output_options
def show_partitions(
    *, table: "Table", point: "Callable[[Table], Table]", where: str, output: "Output"
) -> None:
    """List the partitions of a snapshot with their files, rows and bytes.

    Examples:
        partitions wh/demo.db/orders
        partitions demo.orders --warehouse wh --snapshot 2 --json
    """
    output.listing(point(table).partitions(where).to_arrow(), noun="partition")


@command(main_group, "demo")
@click.argument("folder", default="paimon-demo")
@output_options
def make_demo(*, folder: str, output: "Output") -> None:
    """Create a small warehouse with one table of every kind.

    FOLDER is created; a warehouse that is there already is not changed.

    Examples:
        demo my-demo
        demo my-demo --json
    """
    from paimon_explore.table.catalog.demo import demo

    catalog = demo(folder)
    tables = catalog.tables("demo")
    text = f"{folder}: {len(tables)} tables. List them with: {PROGRAM} ls {folder}"
    output.document({"warehouse": catalog.warehouse, "tables": tables}, text)


@command(main_group, "version")
@output_options
def show_version(*, output: "Output") -> None:
    """Print the versions of the program, Python and the packages that read data.

    Examples:
        version
        version --json
    """
    found = _versions()
    output.document(found, _version_text(found))


def _versions() -> dict[str, str | None]:
    import platform
    from importlib.metadata import version

    package = import_module(PACKAGE)  # whose __init__ names the layers above this one
    return {
        "paimon-explore": package.__version__,
        "python": platform.python_version(),
        "pyarrow": version("pyarrow"),
        "duckdb": _optional_version("duckdb"),
    }


def _version_text(found: "Mapping[str, str | None]") -> str:
    return ", ".join(f"{name} {number}" for name, number in found.items() if number)


def _print_version(context: click.Context, parameter: click.Parameter, value: object) -> None:
    del parameter
    if value:
        click.echo(_version_text(_versions()))
        context.exit()


main_group.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="Print the versions and exit.",
    )
)


def _optional_version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


@command(main_group, "completion", no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def show_completion(shell: str) -> int:
    """Print the script that completes commands, options and tables in a shell.

    \b
    bash: eval "$(paimon-explore completion bash)" in ~/.bashrc
    zsh:  eval "$(paimon-explore completion zsh)" in ~/.zshrc
    fish: paimon-explore completion fish > ~/.config/fish/completions/paimon-explore.fish

    Examples:
        completion bash
        completion zsh
    """  # noqa: D301 - click's sign for text that is not wrapped
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise NotFoundError("shell", shell)
    click.echo(found(main_group, {}, PROGRAM, COMPLETE_VARIABLE).source())
    return OK
