"""The command line program `paimon-explore`.

`show PATH` prints a table, or the tables of a warehouse; `lab` opens JupyterLab on the tutorial.
Exit codes: 0 success, 1 failure (the reason is on stderr), 2 wrong usage.
"""

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from paimon_explore.errors import NotFoundError, PaimonError, UnsupportedFeatureError
from paimon_explore.sanitize import masked, visible_lines
from paimon_explore.table.catalog.demo import demo
from paimon_explore.table.catalog.warehouse_listing import listing
from paimon_explore.table.table import Table, open_table

TUTORIAL = "01-first-table.ipynb"
_PACKAGE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: command line without the program name; None for those of the process.

    Returns:
        The exit code.
    """
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.command == "show":
            print(visible_lines(masked(table_text(parsed))), flush=True)  # noqa: T201 - the command's output
            return 0
        return _lab(parsed)
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PaimonError as error:
        print(f"paimon-explore: {error}", file=sys.stderr)  # noqa: T201 - the command's output
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="paimon-explore", description="Explore Apache Paimon tables.")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print a table, or the tables of a warehouse")
    show.add_argument("path", help="path of a table, a database or a warehouse")
    show.add_argument("--branch", help="branch of the table")
    point = show.add_mutually_exclusive_group()
    point.add_argument("--snapshot", type=int, help="show the table at this snapshot id")
    point.add_argument("--tag", help="show the table at this tag")
    lab = commands.add_parser("lab", help="open JupyterLab on the tutorial with a demo warehouse")
    lab.add_argument(
        "folder",
        nargs="?",
        default="paimon-tutorial",
        help="folder for the notebooks and the warehouse; existing files are kept"
        " (default: %(default)s)",
    )
    lab.add_argument("--port", type=int, help="port of the server")
    lab.add_argument("--no-browser", action="store_true", help="do not open a browser")
    return parser


def table_text(parsed: Namespace) -> str:
    """Return the output of `show`.

    Raises:
        NotFoundError: the path is not a table or a warehouse, or the branch, snapshot or tag does
            not exist.
    """
    try:
        table = open_table(parsed.path, branch=parsed.branch)
    except NotFoundError as error:
        if error.kind != "table" or parsed.branch or parsed.snapshot or parsed.tag:
            raise
        found = listing(parsed.path)
        if found is None:
            raise
        return repr(found)
    return repr(_at(table, parsed))


def _at(table: Table, parsed: Namespace) -> Table:
    if parsed.snapshot is None and parsed.tag is None:
        return table
    return table.at(snapshot=parsed.snapshot, tag=parsed.tag)


def _lab(parsed: Namespace) -> int:
    if find_spec("jupyterlab") is None:
        hint = "Run: pip install 'paimon-explore[notebook,spark]'"
        raise UnsupportedFeatureError("Opening the tutorial without JupyterLab", hint=hint)
    folder = Path(parsed.folder).absolute()
    notebook = prepare_tutorial(folder)
    command = lab_command(notebook, port=parsed.port, browser=not parsed.no_browser)
    return subprocess.call(command, cwd=folder)  # noqa: S603 - our own Python, fixed arguments


def lab_command(notebook: Path, *, port: int | None, browser: bool) -> list[str]:
    """Return the command that starts JupyterLab with a notebook."""
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    command.append(f"--ServerApp.root_dir={notebook.parent}")
    command.append(f"--LabApp.default_url=/lab/tree/{notebook.name}")
    if port is not None:
        command.append(f"--port={port}")
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # containers; the server listens on loopback
        command.append("--allow-root")
    return command


def prepare_tutorial(folder: Path) -> Path:
    """Copy the notebooks and the demo warehouse to a folder; existing files are kept.

    Returns:
        The path of the tutorial notebook.

    Raises:
        NotFoundError: the notebooks are not installed.
    """
    source = notebooks_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(source.glob("*.ipynb")):
        target = folder / notebook.name
        if not target.exists():
            shutil.copyfile(notebook, target)
    demo(folder / "warehouse")
    return folder / TUTORIAL


def notebooks_folder() -> Path:
    """Return the folder of the notebooks: in the installed package, or next to it in a checkout."""
    for folder in (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks"):
        if (folder / TUTORIAL).exists():
            return folder
    raise NotFoundError("notebook", TUTORIAL, str(_PACKAGE))


if __name__ == "__main__":
    sys.exit(main())
