"""Arguments and options that several commands share, as decorators.

A decorator adds click options to a command and passes their values on as one object.
"""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from paimon_explore.command_line.command import CommandFunction
from paimon_explore.command_line.plain_commands import parse_options
from paimon_explore.command_line.source import Source
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table.catalog.catalog import iter_table_names

if TYPE_CHECKING:
    from paimon_explore.table.table import Table

Decorator = Callable[[CommandFunction], CommandFunction]
_MAX_COMPLETIONS = 200


def source_options(function: CommandFunction) -> CommandFunction:
    """Add `--catalog`, `--warehouse` and `--option`; pass `source`."""

    @click.option("-c", "--catalog", metavar="NAME", help="A catalog of ~/.paimon.yaml.")
    @click.option(
        "-w", "--warehouse", metavar="PATH", help="A warehouse; tables are named database.table."
    )
    @click.option(
        "-o",
        "--option",
        "options",
        metavar="KEY=VALUE",
        multiple=True,
        help="Option of the catalog or the storage; may be repeated.",
    )
    @wraps(function)
    def call(
        *args: Any,  # noqa: ANN401 - of the command
        catalog: str | None,
        warehouse: str | None,
        options: tuple[str, ...],
        **rest: Any,  # noqa: ANN401 - of the command
    ) -> int | None:
        source = Source(catalog=catalog, warehouse=warehouse, options=parse_options(options))
        return function(*args, source=source, **rest)

    return call


def complete_table(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a table of the catalog, or a path."""
    del parameter
    given = context.params
    source = Source(
        catalog=given.get("catalog"),
        warehouse=given.get("warehouse"),
        options=parse_options(given.get("options") or ()),
    )
    if not source.has_catalog:
        return [CompletionItem(incomplete, type="file")]
    try:
        return [CompletionItem(name) for name in _matching(source, incomplete)]
    except PaimonError:  # a shell has no place for an error
        return []


def _matching(source: Source, incomplete: str) -> list[str]:
    catalog = source.open_catalog()
    database, dot, _ = incomplete.partition(".")
    if not dot:
        return [f"{name}." for name in catalog.databases() if name.startswith(incomplete)]
    names = (f"{database}.{table}" for table in iter_table_names(catalog, database))
    found = (name for name in names if name.startswith(incomplete))
    return [name for name, _ in zip(found, range(_MAX_COMPLETIONS), strict=False)]


def table_name(function: CommandFunction) -> CommandFunction:
    """Add the argument TABLE and `--branch`; pass `source`, `name` and `branch`."""
    name = click.argument("name", metavar="TABLE", shell_complete=complete_table)
    branch = click.option("-b", "--branch", help="A branch of the table.")
    return source_options(name(branch(function)))


def opened_table(function: CommandFunction) -> CommandFunction:
    """Add the argument TABLE with its catalog; pass the open `table`."""

    @table_name
    @wraps(function)
    def call(
        *args: Any,  # noqa: ANN401 - of the command
        source: Source,
        name: str,
        branch: str | None,
        **rest: Any,  # noqa: ANN401 - of the command
    ) -> int | None:
        return function(*args, table=source.open_table(name, branch), **rest)

    return call


def point_options(function: CommandFunction) -> CommandFunction:
    """Add `--snapshot`, `--tag` and `--at`; pass `point`."""

    @click.option("--snapshot", type=int, metavar="ID", help="Read this snapshot.")
    @click.option("--tag", metavar="NAME", help="Read the snapshot of this tag.")
    @click.option("--at", metavar="TIME", help="Read the latest snapshot at or before this time.")
    @wraps(function)
    def call(
        *args: Any,  # noqa: ANN401 - of the command
        snapshot: int | None,
        tag: str | None,
        at: str | None,
        **rest: Any,  # noqa: ANN401 - of the command
    ) -> int | None:
        if sum(value is not None for value in (snapshot, tag, at)) > 1:
            raise click.UsageError("Give only one of --snapshot, --tag and --at.")
        if at is not None and at.isdecimal():
            raise click.UsageError(
                f"--at takes a time, such as '2026-11-20 10:00'; a snapshot is --snapshot {at}."
            )
        return function(*args, point=Point(snapshot=snapshot, tag=tag, timestamp=at), **rest)

    return call


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The point in time of a command; moves a table there.

    Attributes:
        snapshot: a snapshot id.
        tag: or a tag.
        timestamp: or a time.
    """

    snapshot: int | None
    tag: str | None
    timestamp: str | None

    @property
    def is_given(self) -> bool:
        """Whether the command line names one."""
        return (self.snapshot, self.tag, self.timestamp) != (None, None, None)

    def __call__(self, table: "Table") -> "Table":
        """Return the table at this point."""
        if not self.is_given:
            return table
        return table.at(snapshot=self.snapshot, tag=self.tag, timestamp=self.timestamp)


def output_options(function: CommandFunction) -> CommandFunction:
    """Add `--json`, `--csv` and `--width`; pass `output`."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON, one line for each row.")
    @click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
    @click.option(
        "--width",
        type=click.IntRange(min=20),
        metavar="COLUMNS",
        help="Width of text output; by default that of the terminal, in a pipe no limit.",
    )
    @wraps(function)
    def call(
        *args: Any,  # noqa: ANN401 - of the command
        as_json: bool,
        as_csv: bool,
        width: int | None,
        **rest: Any,  # noqa: ANN401 - of the command
    ) -> int | None:
        from paimon_explore.command_line.rendering.output import Format, standard_output

        if as_json and as_csv:
            raise click.UsageError("Give only one of --json and --csv.")
        form = Format.JSON if as_json else Format.CSV if as_csv else Format.TEXT
        return function(*args, output=standard_output(form, width), **rest)

    return call


def column_names(text: str | None) -> list[str] | None:
    """Return the names of a comma-separated list; None if it is not given."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def key_values(given: tuple[str, ...], option: str) -> dict[str, str]:
    """Return the pairs of a repeated option of the form `KEY=VALUE`."""
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{option} must be of the form KEY=VALUE, not {text!r}.")
        found[key] = value
    return found
