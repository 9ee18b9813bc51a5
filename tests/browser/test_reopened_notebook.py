"""A saved notebook that is opened again in JupyterLab, without the kernel that had run it."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.browser_page import Watched
from support.jupyter_lab import TOKEN, Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = [
    "import paimon_explore as pe\ncatalog = pe.demo({folder!r})\nt = catalog.table('demo.orders')",
    "t.explore()",
    "catalog.explore()",
    "t.inspect.lsm().widget()",
]
SHUT_DOWN = "window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
SAVE = "window.jupyterapp.commands.execute('docmanager:save')"
ERRORS = ("Error displaying widget", "Loading widget")


def run_and_save(lab: Lab, page: Page, name: str, folder: Path) -> None:
    """A notebook with the three kinds of widgets, run, saved, and without a kernel."""
    cells = [cell.format(folder=str(folder)) for cell in CELLS]
    lab.open_notebook(page, name, cells, new_kernel=True)
    lab.run_all(page)
    page.wait_for_selector('.pe-explorer[data-complete="1"]', timeout=60_000)
    page.wait_for_selector(".pew-root[data-known]", timeout=60_000)
    expect(page.locator(".jp-OutputArea-output svg .pes-box").first).to_be_visible(timeout=30_000)
    assert page.locator(".paimon-explore-saved").count() == 0
    page.evaluate(SAVE)
    page.evaluate(SHUT_DOWN)


def check_static_renderings(page: Page, address: str) -> None:
    """The outputs of the notebook that is opened again, from the second cell on."""
    page.goto(address)
    page.wait_for_selector(".jp-OutputArea-output", timeout=60_000)
    expect(page.locator(".paimon-explore-saved")).to_have_count(3, timeout=30_000)
    page.wait_for_timeout(3000)  # longer than the renderer of widgets waits for a model
    outputs = page.locator(".jp-OutputArea-output:visible")
    seen = outputs.all_inner_texts()
    assert not [text for text in seen for error in ERRORS if error in text]
    # also of what is below the window, and not yet rendered
    explorer, catalog, report = outputs.all_text_contents()
    assert "demo.orders" in explorer
    assert "parcels" in catalog
    assert "bucket" in report
    picture = page.locator(".jp-OutputArea-output img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 50


def test_outputs_without_their_models_show_the_static_rendering(
    lab: Lab, watched: Watched, tmp_path: Path
) -> None:
    """In Notebook 7 and JupyterLab, until cells run again; and in a notebook of somebody else."""
    page = watched.page
    run_and_save(lab, page, "mine.ipynb", tmp_path)
    notebook = json.loads((lab.folder / "mine.ipynb").read_text())
    notebook["metadata"]["from"] = "elsewhere"  # no longer what JupyterLab has signed
    (lab.folder / "foreign.ipynb").write_text(json.dumps(notebook))

    check_static_renderings(page, f"{lab.address}/notebooks/mine.ipynb?token={TOKEN}")
    check_static_renderings(page, f"{lab.address}/lab/tree/mine.ipynb?token={TOKEN}&reset")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_selector('.pe-explorer[data-complete="1"]', timeout=60_000)
    expect(page.locator(".paimon-explore-saved")).to_have_count(0)

    page.goto(f"{lab.address}/lab/tree/foreign.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-OutputArea-output img", timeout=60_000)
    texts = " ".join(page.locator(".jp-OutputArea-output:visible").all_inner_texts())
    assert "demo.orders" in texts
    assert not [error for error in ERRORS if error in texts]
    assert watched.outside == []
