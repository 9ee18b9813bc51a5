"""Execution of the notebooks beside the build.

There are two lanes: the notebooks with a Spark session one after the other, because they share a
Java process, and the others. A notebook that fails fails the build. Without Java, notebooks with
Spark are not run.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from generated.measured import ROOT
from generated.saved_pages import FOLDER
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.java_runtime import java_home
from support.shared_jvm import shared_jvm

NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
"""The notebooks by name."""
PAGE = "text/vnd.paimon-explore.page"
"""Media type of an output that is the name of a saved page."""

_SPARK_SESSION = "pe.spark.session("
_OWN_JAVA = "11-java-connector"
_TIMEOUT_SECONDS = 600
_BEFORE = """
def _show_as_page(module, name, save):
    from pathlib import Path

    from IPython.display import display

    kept = []

    def show(shown):
        register()  # each widget has a class of its own, and a registration is for one class
        kept.append(shown)
        path = Path({folder!r}) / f"{notebook}-{{name.lower()}}-{{len(kept)}}.html"
        save(shown, path)
        display({{{page!r}: path.name, "text/plain": name}}, raw=True)

    def register():
        formatter = get_ipython().display_formatter.ipython_display_formatter
        formatter.for_type_by_name(module, name, show)

    register()


_show_as_page(
    "paimon_explore.widgets.explorer", "Explorer", lambda shown, path: shown.save_html(path)
)
_show_as_page(
    "plotly.graph_objs._figure",
    "Figure",
    lambda shown, path: shown.write_html(
        path, include_plotlyjs="directory", default_height="calc(100vh - 20px)"
    ),
)
"""
"""Runs before the first cell: explorers and charts are displayed as saved pages."""


@cache
def content(name: str) -> nbformat.NotebookNode:
    """Return a notebook as it is stored.

    Args:
        name: file name without its suffix.
    """
    return nbformat.read(NOTEBOOKS[name], as_version=4)


@cache
def needs_spark(name: str) -> bool:
    """Return whether a notebook starts a Spark session.

    Args:
        name: file name without its suffix.
    """
    return any(
        cell.cell_type == "code" and _SPARK_SESSION in cell.source for cell in content(name).cells
    )


class Runs:
    """The executed notebooks by name.

    Args:
        names: the notebooks to execute.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._executed = {name: Future[nbformat.NotebookNode | None]() for name in names}
        spark = [name for name in self._executed if needs_spark(name)]
        plain = [name for name in self._executed if not needs_spark(name)]
        lanes = ThreadPoolExecutor(max_workers=2, thread_name_prefix="notebooks")
        lanes.submit(self._run_all, plain, java=False)
        lanes.submit(self._run_all, spark, java=True)
        lanes.shutdown(wait=False)

    def executed(self, name: str) -> nbformat.NotebookNode | None:
        """Return a notebook with its outputs; None if it is not executed.

        Args:
            name: file name without its suffix.
        """
        future = self._executed.get(name)
        return future.result() if future else None

    def _run_all(self, names: Iterable[str], *, java: bool) -> None:
        """Execute the notebooks of a lane; an error becomes the result of all that remain."""
        waiting = list(names)
        try:
            with _work_folder() as folder, _java(folder, needed=java and waiting) as environment:
                while waiting:
                    found = None
                    if environment is not None:
                        found = _executed(waiting[0], folder, environment)
                    self._executed[waiting.pop(0)].set_result(found)
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            for name in waiting:
                self._executed[name].set_exception(error)


@contextmanager
def _work_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="paimon-explore-notebooks-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@contextmanager
def _java(folder: Path, *, needed: object) -> Iterator[Mapping[str, str] | None]:
    """Start the Java process of a lane if it is needed; None if there is no Java."""
    if not needed:
        yield {}
        return
    try:
        java_home(os.environ)
    except UnsupportedFeatureError:
        yield None
        return
    with shared_jvm(folder, ROOT) as environment:
        yield environment


def _executed(name: str, folder: Path, environment: Mapping[str, str]) -> nbformat.NotebookNode:
    """Run a notebook from top to bottom.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(NOTEBOOKS[name], as_version=4)
    before = _BEFORE.format(folder=str(FOLDER), notebook=name, page=PAGE)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(before))
    work = folder / name
    work.mkdir()
    client = NotebookClient(
        notebook,
        timeout=_TIMEOUT_SECONDS,
        startup_timeout=_TIMEOUT_SECONDS,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # no notes about the transport
        resources={"metadata": {"path": str(work)}},
        store_widget_state=False,
    )
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    shared = {} if name == _OWN_JAVA else environment
    own = {"PYTHONPATH": path, "TMPDIR": str(work), "PAIMON_EXPLORE_SMALL_NOTEBOOKS": "1"}
    client.execute(env={**os.environ, **shared, **own})
    del notebook.cells[0]
    return notebook
