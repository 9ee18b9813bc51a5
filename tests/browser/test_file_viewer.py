"""Double click on Paimon's files in JupyterLab's file browser; the explorers in Notebook 7."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from paimon_explore import Catalog
from support.browser_page import Watched, open_tab
from support.golden import GoldenTables
from support.jupyter_lab import TOKEN, Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def table(lab: Lab, golden: GoldenTables) -> str:
    """A table below the server's root."""
    source = golden.table("java200", "dv_pk").folder
    shutil.copytree(source, lab.folder / "dv_pk", dirs_exist_ok=True)
    return "dv_pk"


def test_a_snapshot_and_a_manifest_open_by_double_click(
    lab: Lab, watched: Watched, table: str
) -> None:
    page = watched.page
    page.goto(f"{lab.address}/lab?token={TOKEN}&reset")
    for folder in (table, "snapshot"):
        item = page.locator(".jp-DirListing-item", has_text=folder).first
        item.dblclick(timeout=60_000)
    page.locator(".jp-DirListing-item", has_text="snapshot-12").dblclick()
    page.wait_for_selector("[data-file='snapshot-12']", timeout=20_000)
    expect(page.get_by_role("treeitem", name="commitKind")).to_be_visible()
    manifest = next((lab.folder / table / "manifest").glob("manifest-[0-9a-f]*-0"))
    page.evaluate(
        "void window.jupyterapp.commands.execute('docmanager:open', {path: "
        f"'{table}/manifest/{manifest.name}'}})"
    )
    page.wait_for_selector(f"[data-file='{manifest.name}']", timeout=20_000)
    expect(page.get_by_role("treeitem", name="_TOTAL_BUCKETS")).to_be_visible()
    watched.check()


def test_the_server_hands_out_no_file_outside_of_its_root(lab: Lab, watched: Watched) -> None:
    page = watched.page
    lab.show(page)
    answer = page.evaluate(
        """async () => (await fetch('/paimon-explore/api?' + new URLSearchParams({
            path: '../lab.log', message: JSON.stringify({id: 1, op: 'bytes'})}))).json()"""
    )
    assert answer["ok"] is False
    context = page.context.browser
    assert context is not None
    stranger = context.new_page()
    refused = stranger.request.get(f"{lab.address}/paimon-explore/api?path=x&message=%7B%7D")
    assert refused.status in (401, 403)
    stranger.close()


def open_in_notebook_7(lab: Lab, page: Page, name: str, source: str) -> None:
    """A notebook with one cell, in Notebook 7, running."""
    lab.write_notebook(name, [source])
    page.goto(f"{lab.address}/notebooks/{name}?token={TOKEN}")
    page.wait_for_function(
        "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        " === 'idle'",
        timeout=60_000,
    )
    lab.run_all(page)


def check(watched: Watched) -> None:
    """Nothing failed; Notebook's own start raises errors, with or without widgets."""
    own = ("reading 'schema'", "'filebrowser:open-path' not registered")
    errors = [error for error in watched.errors if not any(text in error for text in own)]
    assert errors == []
    assert watched.outside == []


CATALOG = """
import paimon_explore as pe
catalog = pe.demo({folder!r})
w = catalog.explore()
w
"""


@pytest.mark.parametrize("place", ["lab", "notebook 7"])
def test_a_table_is_opened_and_followed_from_the_catalog_explorer(
    lab: Lab, watched: Watched, tmp_path: Path, place: str
) -> None:
    page = watched.page
    source = CATALOG.format(folder=str(tmp_path))
    if place == "lab":
        lab.open_notebook(page, "catalog.ipynb", [source])
        lab.run_all(page)
    else:
        open_in_notebook_7(lab, page, "catalog-7.ipynb", source)
    page.wait_for_selector('.pew-root[data-known="11"]', timeout=30_000)
    page.locator(".pew-row", has_text="demo.orders").click()
    page.wait_for_selector('.pe-explorer[data-complete="1"]', timeout=30_000)
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 5")
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.get_by_role("button", name="Live", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    Catalog(tmp_path).table("demo.orders").append([{"id": 1}])
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 6", timeout=20_000)
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 5")
    open_tab(page, "bytes")
    page.wait_for_selector("[data-file='snapshot-5']", timeout=20_000)
    page.keyboard.press("Backspace")
    page.wait_for_selector(".pew-row:visible")
    assert page.locator(".pe-explorer").count() == 0
    check(watched)
