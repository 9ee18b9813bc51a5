"""The command `paimon-explore`.

`show PATH` prints a table, or the tables of a warehouse; `lab` opens JupyterLab on the tutorial.
Exit codes: 0 done, 1 it failed (the reason is on stderr), 2 wrong usage.
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
        arguments: of the command line, without the program's name; None for the process's own.

    Returns:
        The exit code.
    """
    parsed = _parser().parse_args(arguments)
    try:
        if parsed.command == "show":
            print(visible_lines(masked(shown(parsed))), flush=True)  # noqa: T201 - the command's output
            return 0
        return _lab(parsed)
    except BrokenPipeError:  # the reader has seen enough, as `| head` has
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
    show.add_argument("path", help="folder of a table, a database or a warehouse")
    show.add_argument("--branch", help="branch of the table")
    point = show.add_mutually_exclusive_group()
    point.add_argument("--snapshot", type=int, help="the table at this snapshot")
    point.add_argument("--tag", help="the table at this tag")
    lab = commands.add_parser("lab", help="open JupyterLab on the tutorial with a demo warehouse")
    lab.add_argument(
        "folder",
        nargs="?",
        default="paimon-tutorial",
        help="where notebooks and warehouse are put; what is there stays (default: %(default)s)",
    )
    lab.add_argument("--port", type=int, help="port of the server")
    lab.add_argument("--no-browser", action="store_true", help="print the address only")
    return parser


def shown(parsed: Namespace) -> str:
    """What `show` prints.

    Raises:
        NotFoundError: there is neither table nor warehouse, or no such branch, snapshot or tag.
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
        hint = "Install it: pip install 'paimon-explore[notebook,spark]'."
        raise UnsupportedFeatureError("The tutorial without JupyterLab", hint=hint)
    folder = Path(parsed.folder).absolute()
    notebook = prepared(folder)
    command = lab_command(notebook, port=parsed.port, browser=not parsed.no_browser)
    return subprocess.call(command, cwd=folder)  # noqa: S603 - our own Python, fixed arguments


def lab_command(notebook: Path, *, port: int | None, browser: bool) -> list[str]:
    """The command that starts JupyterLab on a notebook."""
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


def prepared(folder: Path) -> Path:
    """Put the notebooks and the demo warehouse into a folder; what is there stays.

    Returns:
        The tutorial.

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
    """The tutorials: beside the code in an installed package, beside the package in a checkout."""
    for folder in (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks"):
        if (folder / TUTORIAL).exists():
            return folder
    raise NotFoundError("notebook", TUTORIAL, str(_PACKAGE))


if __name__ == "__main__":
    sys.exit(main())
