"""The tutorial: its notebooks, its warehouse, and the command that opens it in JupyterLab."""

import os
import shutil
import sys
from pathlib import Path

from paimon_explore.errors import NotFoundError
from paimon_explore.table.catalog.demo import demo

TUTORIAL = "01-first-table.ipynb"
_PACKAGE = Path(__file__).parents[1]


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
