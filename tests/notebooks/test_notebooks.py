"""Every notebook runs from top to bottom with a kernel, and is stored without outputs."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.java_runtime import java_home
from support.required import lacking

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in, with a kernel that finds the package and a Java."""
    try:
        java_home(os.environ)
    except UnsupportedFeatureError as error:
        lacking("spark", str(error))
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    return tmp_path


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(notebook: Path) -> None:
    content = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]  # nbformat's
    cells = content.cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_without_an_error_and_says_nothing_on_stderr(
    notebook: Path, folder: Path
) -> None:
    content = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]  # nbformat's
    client = NotebookClient(
        content,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
    )
    client.execute()
    outputs = [out for cell in content.cells for out in cell.get("outputs", [])]
    assert [out for out in outputs if out.output_type == "error"] == []
    assert [out.text for out in outputs if out.get("name") == "stderr"] == []
