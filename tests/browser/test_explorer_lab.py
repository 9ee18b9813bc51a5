"""The explorer in a real JupyterLab, on tables that Java wrote."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.history.file_history import files_now
from paimon_explore.inspection.history.timeline import read_timeline
from support.browser_page import Watched, chosen_tab, open_tab
from support.depth import some
from support.explored import golden_view
from support.golden import GoldenTables
from support.jupyter_lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHOW = """
from pathlib import Path
import json
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.widgets.explorer import explore
store = TableStore(LocalFileIO(), TablePaths({folder!r}))
view = TableView(store=store, schema=store.schemas.latest(), name="gold.{name}")
e = explore(view, Opening(tab={tab!r}))
def heard(change):
    part = Path({heard!r} + ".part")
    part.write_text(json.dumps([e.selected, e.node, e.filter, e.code]))
    part.replace({heard!r})  # a reader never finds half of it
e.observe(heard, ["selected", "node", "filter", "code"])
e
"""


def show_table(lab: Lab, page: Page, folder: Path, heard: Path, tab: str = "files") -> None:
    """A notebook whose only cell shows the explorer of a table."""
    source = SHOW.format(folder=str(folder), name=folder.name, heard=str(heard), tab=tab)
    lab.open_notebook(page, f"{folder.name}.ipynb", [source])
    lab.run_all(page)
    page.wait_for_selector('[data-complete="1"]', timeout=30_000)


def test_a_java_table_is_explored_by_keyboard(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    table = golden.table("java200", "manifest_merge")
    heard = tmp_path / "heard.json"
    show_table(lab, page, table.folder, heard)
    cells = page.locator(".jp-Cell").count()

    page.locator(".pe-timeline-canvas").focus()
    for key in ("ArrowLeft", "ArrowLeft", "a", "b", "d", "d"):
        page.keyboard.press(key)
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 34")
    assert page.locator(".jp-Cell").count() == cells

    page.locator(".pe-tree").focus()
    page.wait_for_timeout(500)
    for key in ("ArrowDown", "+", "ArrowDown", "+", "ArrowDown"):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
    expect(page.locator(".pe-detail-kind")).to_contain_text("ADD entry")
    facts = page.locator(".pe-pane-detail .pe-facts").first
    expect(facts).to_contain_text(re.compile("partitiondt=[a-d]"))
    bounds = page.get_by_role("table", name="Value bounds")
    expect(bounds.get_by_role("row", name=re.compile("^dt STRING"))).to_contain_text(
        re.compile("[a-d]")
    )
    expect(bounds.get_by_role("row", name=re.compile("^amt BIGINT"))).to_contain_text(
        re.compile(r"\d")
    )

    page.keyboard.press("/")
    page.keyboard.type("level = 0")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-totals strong")).to_contain_text("matching")
    expect(page.locator(".pe-code")).to_contain_text("t.at(snapshot=34).inspect.node('base/0/0')")
    assert told(page, heard, filter_="level = 0")[:3] == [34, "34/base/0/0", "level = 0"]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    watched.check()


def test_no_key_reaches_the_notebook_from_any_view(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    table = golden.table("java200", "dv_pk")
    show_table(lab, page, table.folder, tmp_path / "heard.json")
    cells = page.locator(".jp-Cell").count()
    for tab in some(TABS, 4):  # `test_reports_harness.py` looks at what holds keys back in each tab
        open_tab(page, tab)
        page.wait_for_timeout(400)
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        for key in ("a", "b", "x", "d", "d", "z", "m"):
            page.keyboard.press(key)
        assert page.locator(".jp-Cell").count() == cells
    watched.check()


def test_the_browser_counts_the_same_live_files_as_python(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    table = golden.table("java200", "pk_levels")
    show_table(lab, page, table.folder, tmp_path / "heard.json")
    view = golden_view(table.folder)
    timeline = read_timeline(view)
    wanted = [len(files_now(view, timeline, mark.snapshot_id)) for mark in timeline.marks]
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("Home")
    counted = page.locator(".pe-pane-view .pe-view").first
    for mark, count in zip(timeline.marks, wanted, strict=True):
        expect(page.locator(".pe-summary strong")).to_have_text(f"snapshot {mark.snapshot_id}")
        expect(counted).to_have_attribute("data-count", str(count))
        page.keyboard.press("ArrowRight")
    watched.check()


def test_hostile_names_from_a_table_stay_text(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    copy = copied(golden.table("java200", "append_part_null").folder, tmp_path / "hostile")
    payload = "<img src=x onerror=window.__ran=1>\u202egnp\x1b[31m"
    schema = copy / "schema" / "schema-0"
    members = json.loads(schema.read_text())
    members["fields"][0]["name"] = payload
    members["comment"] = payload
    members["options"][payload] = payload
    schema.write_text(json.dumps(members))
    newest = max((copy / "snapshot").glob("snapshot-*"))
    shown = json.loads(newest.read_text())
    shown["commitUser"] = payload
    newest.write_text(json.dumps(shown))
    (copy / "tag").mkdir()
    (copy / "tag" / f"tag-{payload}").write_text(newest.read_text())
    show_table(lab, page, copy, tmp_path / "heard.json")
    page.locator(".pe-tree-row", has_text="schema 0").click()
    page.wait_for_timeout(400)
    page.locator(".pe-tree").focus()
    for key in ("Home", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(300)
    assert page.evaluate("window.__ran") is None
    text = page.locator(".pe-explorer").inner_text()
    assert "\u202e" not in text
    assert "onerror" in text
    assert page.locator(".pe-explorer img").count() == 0
    watched.check()


def test_a_missing_and_a_cut_manifest_are_told_and_the_rest_works(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    copy = copied(golden.table("java200", "append_avro").folder, tmp_path / "damaged")
    manifests = sorted((copy / "manifest").glob("manifest-[0-9a-f]*"))
    manifests[0].unlink()
    manifests[1].write_bytes(manifests[1].read_bytes()[:900])
    show_table(lab, page, copy, tmp_path / "heard.json")
    expect(page.get_by_role("alert").first).to_be_visible()
    page.locator(".pe-tree").focus()
    page.wait_for_timeout(300)
    page.locator(".pe-tree-row", has_text="base manifest list").locator(".pe-twisty").click()
    page.wait_for_timeout(500)
    expect(page.locator('.pe-tree-row[data-type="manifest"]').first).to_be_visible()
    page.locator('.pe-tree-row[data-type="manifest"] .pe-twisty').first.click()
    expect(page.locator(".pe-tree-problem").first).to_contain_text(
        re.compile("no such file|cannot|must|cut|end")
    )
    expect(page.locator(".pe-detail-title")).to_contain_text("snapshot")
    watched.check()


def test_maximise_opens_a_tab_of_its_own_with_the_same_state(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    show_table(lab, page, golden.table("java200", "dv_pk").folder, tmp_path / "heard.json", "lsm")
    notebook = page.locator(".jp-Notebook .pe-explorer")
    notebook.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(notebook.locator(".pe-summary strong")).to_have_text("snapshot 11")
    height = size_of(notebook)["height"]
    notebook.get_by_role("button", name="Maximise").click()

    tab = page.locator(".jp-LinkedOutputView .pe-explorer")
    expect(tab).to_be_visible(timeout=20_000)
    expect(tab.locator(".pe-summary strong")).to_have_text("snapshot 11")
    expect(chosen_tab(tab)).to_have_text("LSM tree")
    page.wait_for_timeout(500)
    view = page.locator(".jp-LinkedOutputView")
    assert size_of(tab)["height"] > 0.9 * size_of(view)["height"]
    tab.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    open_tab(tab, "diff")
    expect(tab.locator(".pe-summary strong")).to_have_text("snapshot 10")

    page.evaluate("void window.jupyterapp.shell.currentWidget.close()")
    expect(tab).to_have_count(0)
    expect(notebook).to_be_visible()
    expect(notebook.locator(".pe-summary strong")).to_have_text("snapshot 10")
    expect(chosen_tab(notebook)).to_have_text("Snapshot diff")
    assert abs(size_of(notebook)["height"] - height) <= 2
    watched.check()


def test_sizes_are_remembered_by_the_next_explorer(
    lab: Lab, watched: Watched, golden: GoldenTables, tmp_path: Path
) -> None:
    page = watched.page
    page.set_viewport_size({"width": 1700, "height": 900})  # narrower, the panes are stacked
    folder = golden.table("java200", "dv_pk").folder
    show_table(lab, page, folder, tmp_path / "heard.json")
    handles = {"Width of the manifest tree": "ArrowRight", "Width of the details": "ArrowLeft"}
    for name, key in handles.items():
        handle = page.get_by_role("separator", name=name)
        handle.focus()
        page.keyboard.press(key)
        page.keyboard.press(key)
    bottom = page.get_by_role("separator", name="Height of the explorer")
    bottom.focus()
    page.keyboard.press("ArrowDown")
    shares = [page.get_by_role("separator", name=name) for name in handles]
    expect(shares[0]).to_have_attribute("aria-valuenow", "31")
    expect(shares[1]).to_have_attribute("aria-valuenow", "32")
    width = size_of(page.locator(".pe-pane-tree"))["width"]

    show_table(lab, page, folder, tmp_path / "heard.json")  # another notebook and widget
    expect(shares[0]).to_have_attribute("aria-valuenow", "31")
    expect(shares[1]).to_have_attribute("aria-valuenow", "32")
    assert abs(size_of(page.locator(".pe-pane-tree"))["width"] - width) <= 2
    for handle in shares:
        handle.press("Enter")
    watched.check()


def told(page: Page, heard: Path, *, filter_: str) -> list[object]:
    """What Python heard last, once it heard of the filter."""
    found: list[object] = []
    for _ in range(40):
        found = json.loads(heard.read_text())
        if found[2] == filter_:
            break
        page.wait_for_timeout(100)
    return found


def copied(source: Path, target: Path) -> Path:
    """A copy of a table that a test may damage."""
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    return target


def size_of(found: Locator) -> FloatRect:
    """Where something is on the page."""
    box = found.bounding_box()
    assert box is not None
    return box
