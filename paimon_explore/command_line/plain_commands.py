"""The commands `show` and `lab`, which work without the packages of the extra `cli`."""

import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_explore.command_line.command_names import OK, PLAIN_COMMANDS
from paimon_explore.command_line.source import Source
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.sanitize import masked, visible_lines

if TYPE_CHECKING:
    from paimon_explore.table.catalog.warehouse_listing import WarehouseListing
    from paimon_explore.table.table import Table

PROGRAM = "paimon-explore"
EXTRA_HINT = "Run: pip install 'paimon-explore[cli]'"
_SHOW_EXAMPLES = """\
examples:
  paimon-explore show wh
  paimon-explore show wh/demo.db/orders
  paimon-explore show demo.orders --warehouse wh --snapshot 2
  paimon-explore show demo.orders --catalog prod --json
"""
_LAB_EXAMPLES = """\
examples:
  paimon-explore lab
  paimon-explore lab my-tutorial --port 8890 --no-browser
"""


def run_plain(arguments: Sequence[str]) -> int:
    """Run `show` or `lab`.

    Args:
        arguments: the command line without the program name.

    Returns:
        The exit code.

    Raises:
        SystemExit: the command line is wrong, or asks for help.
        PaimonError: the command failed.
    """
    parser = plain_parser()
    parsed = parser.parse_args(arguments)
    if parsed.command == "show" and not (
        parsed.path is not None or parsed.catalog or parsed.warehouse
    ):
        parser.error("the following arguments are required: path, --warehouse or --catalog")
    if parsed.command == "show":
        _show(parsed)
        return OK
    return _lab(parsed)


def plain_parser() -> ArgumentParser:
    """Return the parser of the commands that need no other package."""
    parser = ArgumentParser(
        prog=PROGRAM,
        description="Explore Apache Paimon tables.",
        epilog=f"There are more commands with the extra cli:\n  {EXTRA_HINT}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    version = import_module("paimon_explore").__version__
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {version}")
    commands = parser.add_subparsers(dest="command", required=True)
    raw = RawDescriptionHelpFormatter
    help_text = PLAIN_COMMANDS["show"]
    show = commands.add_parser("show", help=help_text, epilog=_SHOW_EXAMPLES, formatter_class=raw)
    _add_show_arguments(show)
    help_text = PLAIN_COMMANDS["lab"]
    lab = commands.add_parser("lab", help=help_text, epilog=_LAB_EXAMPLES, formatter_class=raw)
    _add_lab_arguments(lab)
    return parser


def _add_show_arguments(show: ArgumentParser) -> None:
    show.add_argument(
        "path",
        nargs="?",
        help="path of a table, a database or a warehouse; with a catalog database.table",
    )
    show.add_argument("-c", "--catalog", metavar="NAME", help="a catalog of ~/.paimon.yaml")
    show.add_argument("-w", "--warehouse", metavar="PATH", help="the warehouse of the table")
    show.add_argument(
        "-o",
        "--option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="option of the catalog or the storage; may be repeated",
    )
    show.add_argument("--branch", help="branch of the table")
    point = show.add_mutually_exclusive_group()
    point.add_argument("--snapshot", type=int, help="show the table at this snapshot id")
    point.add_argument("--tag", help="show the table at this tag")
    form = show.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV: property, value")


def _add_lab_arguments(lab: ArgumentParser) -> None:
    lab.add_argument(
        "folder",
        nargs="?",
        default="paimon-tutorial",
        help="folder for the notebooks and the warehouse; existing files are kept"
        " (default: %(default)s)",
    )
    lab.add_argument("--port", type=int, help="port of the server")
    lab.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _show(parsed: Namespace) -> None:
    """Print a table, or the tables of a catalog, warehouse or database.

    Raises:
        NotFoundError: the path is not a table or a warehouse, or the branch, snapshot or tag does
            not exist.
    """
    source = Source(
        catalog=parsed.catalog, warehouse=parsed.warehouse, options=parse_options(parsed.option)
    )
    found = _found(source, parsed)
    if parsed.json or parsed.csv:
        from paimon_explore.command_line.table_summary import print_summary

        print_summary(found, as_csv=parsed.csv)
        return
    print("\n".join(_terminal_lines(visible_lines(masked(repr(found))))), flush=True)  # noqa: T201 - the command's output


def _terminal_lines(text: str) -> list[str]:
    """The lines of a text; on a terminal they fit its width."""
    if not sys.stdout.isatty():
        return text.split("\n")
    from paimon_explore.command_line.rendering.text_table import wrapped_lines

    width = shutil.get_terminal_size().columns
    found = [(line, line[: len(line) - len(line.lstrip())]) for line in text.split("\n")]
    return [
        part
        for line, indent in found
        for part in wrapped_lines(line.lstrip(), width, indent, f"{indent}  ") or [""]
    ]


def _found(source: Source, parsed: Namespace) -> "Table | WarehouseListing":
    from paimon_explore.table.catalog.warehouse_listing import catalog_listing, listing

    if parsed.path is None:
        return catalog_listing(source.open_catalog())
    try:
        table = source.open_table(parsed.path, parsed.branch)
    except NotFoundError as error:
        if error.kind != "table" or parsed.branch or parsed.snapshot or parsed.tag:
            raise
        found = None if source.has_catalog else listing(parsed.path, source.options)
        if found is None:
            raise
        return found
    if parsed.snapshot is None and parsed.tag is None:
        _ = table.snapshot  # which raises if it cannot be read
        return table
    return table.at(snapshot=parsed.snapshot, tag=parsed.tag)


def parse_options(given: Sequence[str]) -> dict[str, str]:
    """Parse options of the form `key=value`.

    Raises:
        InvalidInputError: an option without `=`.
    """
    pairs = [text.partition("=") for text in given]
    wrong = next((key for key, equals, _ in pairs if not equals or not key), None)
    if wrong is not None:
        raise InvalidInputError(
            "An option is not of the form KEY=VALUE.", hint="For example: -o s3.region=eu-west-1."
        )
    return {key: value for key, _, value in pairs}


def _lab(parsed: Namespace) -> int:
    from paimon_explore.command_line.tutorial import lab_command, prepare_tutorial

    if find_spec("jupyterlab") is None:
        hint = "Run: pip install 'paimon-explore[notebook,spark]'"
        raise UnsupportedFeatureError("Opening the tutorial without JupyterLab", hint=hint)
    folder = Path(parsed.folder).absolute()
    notebook = prepare_tutorial(folder)
    command = lab_command(notebook, port=parsed.port, browser=not parsed.no_browser)
    return subprocess.call(command, cwd=folder)  # noqa: S603 - our own Python, fixed arguments
