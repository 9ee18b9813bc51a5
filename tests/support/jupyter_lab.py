"""A JupyterLab of its own for one test run, with all its folders in a temporary one."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

TOKEN = "tok"  # noqa: S105 - of a server on the loopback device that lives for one test run
_START_SECONDS = 60
_OPEN = """async ([path, kernel]) => {
  await window.jupyterapp.restored;
  const given = kernel ? {id: kernel, name: "python3"} : undefined;
  const {commands} = window.jupyterapp;
  await commands.execute("docmanager:open", {path, factory: "Notebook", kernel: given});
}"""
_IS_IDLE = """(path) => {
  const {context, sessionContext} = window.jupyterapp?.shell.currentWidget ?? {};
  return context?.path === path && sessionContext?.session?.kernel?.status === "idle";
}"""
_KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
_CLOSE = """async ([kept, code]) => {
  for (const widget of [...(window.jupyterapp?.shell.widgets("main") ?? [])]) {
    const kernel = widget.sessionContext?.session?.kernel;
    if (kernel?.id === kept) await kernel.requestExecute({code}).done;
    else if (kernel) await widget.sessionContext.shutdown();
    if (widget.context?.model) widget.context.model.dirty = false;
    widget.close();
  }
}"""
_FORGET = """() => {
  for (const key of Object.keys(localStorage))
    if (key.startsWith("paimon-explore")) localStorage.removeItem(key);
}"""
_CLOSE_WIDGETS = """
import sys
if "ipywidgets" in sys.modules:
    sys.modules["ipywidgets"].Widget.close_all()
"""
_QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}


@dataclass
class Lab:
    """A running server.

    Attributes:
        address: where it listens.
        folder: its notebooks.
        process: the server.
        kernel: the kernel that notebooks use one after the other; None before the first of them.
    """

    address: str
    folder: Path
    process: "subprocess.Popen[bytes]"
    kernel: str | None = None

    @property
    def status_address(self) -> str:
        """What answers once the server is up."""
        return f"{self.address}/api/status?token={TOKEN}"

    def show(self, page: Page) -> None:
        """Show JupyterLab without a notebook; it is loaded unless the page has it already."""
        if page.url.startswith(f"{self.address}/lab"):
            self.close_notebooks(page)
        else:
            page.goto(f"{self.address}/lab?token={TOKEN}&reset")
            page.wait_for_function("window.jupyterapp", timeout=60_000)

    def open_notebook(
        self, page: Page, name: str, sources: list[str], *, new_kernel: bool = False
    ) -> None:
        """Show a notebook with these cells and wait for its kernel.

        Args:
            page: a page of this server, or a new one.
            name: the notebook's file.
            sources: its cells.
            new_kernel: it gets a process of its own, which has imported nothing.
        """
        self.write_notebook(name, sources)
        self.show(page)
        page.evaluate(_OPEN, [name, None if new_kernel else self.kernel])
        page.wait_for_function(_IS_IDLE, arg=name, timeout=60_000)
        if not new_kernel:
            self.kernel = page.evaluate(_KERNEL)

    def close_notebooks(self, page: Page) -> None:
        """Close what is open."""
        page.evaluate(_CLOSE, [self.kernel, _CLOSE_WIDGETS])

    def clear(self, page: Page) -> None:
        """Close what is open, and forget what explorers remember."""
        if page.url.startswith(self.address):
            self.close_notebooks(page)
            page.evaluate(_FORGET)

    def write_notebook(self, name: str, sources: list[str]) -> None:
        """Put a notebook with these cells into the server's folder."""
        cells: list[dict[str, object]] = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(sources)
        ]
        kernel = {"name": "python3", "display_name": "Python 3"}
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / name).write_text(json.dumps(notebook), encoding="utf-8")

    def run_all(self, page: Page) -> None:
        """Start all cells; does not wait for them."""
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")


def start_lab(folder: Path) -> Lab:
    """Start a server and wait until it answers."""
    notebooks = folder / "notebooks"
    notebooks.mkdir(parents=True)
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(_QUIET))
    _install_viewer(folder)
    port = _free_port()
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
        f"--port={port}",
        "--ServerApp.ip=127.0.0.1",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={notebooks}",
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
        f"--LabApp.user_settings_dir={folder / 'settings'}",
        f"--LabApp.workspaces_dir={folder / 'workspaces'}",
    ]
    places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environment = {
        **os.environ,
        **{f"JUPYTER_{place}": str(folder / place.lower()) for place in places},
        "JUPYTER_PREFER_ENV_PATH": "0",  # this working copy's extension, not an installed one
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    with (folder / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)  # noqa: S603 - ours
    lab = Lab(address=f"http://127.0.0.1:{port}", folder=notebooks, process=process)
    _wait(lab, folder / "lab.log")
    return lab


def _install_viewer(folder: Path) -> None:
    """Put the viewer of files where an installed wheel has it."""
    widgets = Path(__file__).parents[2] / "paimon_explore" / "widgets"
    extensions = folder / "data_dir" / "labextensions" / "paimon-explore"
    shutil.copytree(widgets / "labextension", extensions)
    config = folder / "config_dir" / "jupyter_server_config.d"
    shutil.copytree(widgets / "jupyter_server_config.d", config)


def _wait(lab: Lab, log: Path) -> None:
    for _ in range(_START_SECONDS * 5):
        try:
            with urllib.request.urlopen(lab.status_address, timeout=2):  # noqa: S310 - ours
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        if lab.process.poll() is not None:
            break
    lab.process.terminate()
    raise RuntimeError(f"JupyterLab did not start: {log.read_text(errors='replace')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
