"""Double click on Paimon's files in JupyterLab's file browser; the explorer in Notebook 7."""

import shutil

import pytest
from playwright.sync_api import expect

from support.browser_page import Watched
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
    page.goto(f"{lab.address}/lab?token={TOKEN}&reset")
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


def test_the_explorer_works_in_notebook_7(lab: Lab, watched: Watched, table: str) -> None:
    page = watched.page
    source = f"import paimon_explore as pe\npe.open_table({str(lab.folder / table)!r}).explore()"
    lab.write_notebook("classic.ipynb", [source])
    page.goto(f"{lab.address}/notebooks/classic.ipynb?token={TOKEN}")
    page.wait_for_function(
        "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        " === 'idle'",
        timeout=60_000,
    )
    lab.run_all(page)
    page.wait_for_selector('[data-complete="1"]', timeout=30_000)
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 11")
    page.get_by_role("tab", name="Bytes").click()
    page.wait_for_selector("[data-file='snapshot-11']", timeout=20_000)
    # Notebook's own start raises one error, with or without widgets on the page.
    assert [error for error in watched.errors if "reading 'schema'" not in error] == []
    assert watched.outside == []
