"""Every notebook runs from top to bottom with a kernel, and is stored without outputs.

The solutions of its exercises run where they stand. The notebooks with a Spark session share one
Java process, so that Spark starts and warms up once; notebook 11 configures its own. The others
import nothing of Spark.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.java_runtime import java_home
from support.depth import DEEP
from support.required import lacking
from support.shared_jvm import SHORT_RUN, shared_jvm

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
OWN_JVM = "11-java-connector"
SPARK_SESSION = "pe.spark.session("
NO_SPARK = "import sys; assert 'pyspark' not in sys.modules"
WITH_EXERCISES = NAMES[2:8]
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n(.*?)\n\n</details>", re.DOTALL)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
SMALL = "PAIMON_EXPLORE_SMALL_NOTEBOOKS"


def read(notebook: Path) -> "NotebookNode":
    import nbformat  # noqa: PLC0415 - takes 5 CPU-s, of each process that collects the tests

    return nbformat.read(notebook, as_version=4)  # type: ignore[no-any-return, no-untyped-call]  # nbformat's


def solutions(source: str) -> list[str]:
    """The code of each solution of a text cell; empty for a solution in words."""
    return ["".join(CODE.findall(text)) for text in SOLUTION.findall(source)]


def code_cell(source: str) -> "NotebookNode":
    from nbformat.v4 import new_code_cell  # noqa: PLC0415 - likewise

    return new_code_cell(source)  # type: ignore[no-any-return, no-untyped-call]  # nbformat's


def with_solutions(content: "NotebookNode") -> "NotebookNode":
    """The notebook with a code cell for each solution, after the cell that has it."""
    cells = []
    for cell in content.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            found = filter(None, solutions(cell.source))
            cells += map(code_cell, found)
    content.cells = cells
    return content


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The environment of kernels that use one Java process together."""
    try:
        java_home(os.environ)
    except UnsupportedFeatureError as error:
        lacking("spark", str(error))
    with shared_jvm(tmp_path_factory.mktemp("java"), ROOT) as environment:
        yield environment


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_stored_without_outputs(notebook: Path) -> None:
    code = [cell for cell in read(notebook).cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert notebook.stat().st_size < 60_000


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=NAMES)
def test_a_notebook_begins_with_its_aim_and_its_time(notebook: Path) -> None:
    first = read(notebook).cells[0]
    assert first.cell_type == "markdown"
    assert re.match(r"# \S.*\n\n\*\*Aim:\*\* .*\*\*Time:\*\* \d+ minutes", first.source, re.DOTALL)


@pytest.mark.parametrize("name", WITH_EXERCISES)
def test_a_notebook_has_exercises_with_solutions(name: str) -> None:
    texts = [cell.source for cell in read(ROOT / "notebooks" / f"{name}.ipynb").cells]
    exercises = next(text for text in texts if text.startswith("## Exercises"))
    numbers = re.findall(r"^(\d)\. ", exercises, re.MULTILINE)
    assert numbers == ["1", "2", "3"]
    assert len(SOLUTION.findall(exercises)) == 3
    assert all("assert " in code for code in solutions(exercises))


def test_the_notebooks_are_numbered_and_the_documentation_lists_them() -> None:
    assert [name[:2] for name in NAMES] == [f"{number:02}" for number in range(1, 13)]
    page = (ROOT / ".github/docs/get-started.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[(\d\d)\]\(.*notebooks/(.*)\.ipynb\) \|", page, re.MULTILINE) == [
        (name[:2], name) for name in NAMES
    ]


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=NAMES)
def test_a_notebook_runs_without_an_error_and_says_nothing_on_stderr(
    notebook: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from nbclient import NotebookClient  # noqa: PLC0415 - likewise

    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    if not DEEP:
        monkeypatch.setenv(SMALL, "1")
    content = with_solutions(read(notebook))
    if not any(SPARK_SESSION in cell.source for cell in content.cells):
        content.cells.append(code_cell(NO_SPARK))
    elif notebook.stem == OWN_JVM:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", shlex.join([*SHORT_RUN, "pyspark-shell"]))
    else:
        for key, value in request.getfixturevalue("java").items():
            monkeypatch.setenv(key, value)
    client = NotebookClient(
        content,
        timeout=600,
        startup_timeout=300,  # a machine may be busy
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
        store_widget_state=False,
    )
    client.execute()
    outputs = [out for cell in content.cells for out in cell.get("outputs", [])]
    assert [out for out in outputs if out.output_type == "error"] == []
    assert [out.text for out in outputs if out.get("name") == "stderr"] == []
