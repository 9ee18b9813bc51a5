"""Ten questions of people in trouble, each answered in at most three clicks from the overview.

The tables were written by Java. With `PE_SHOTS` set to a folder, a picture of each answer is saved.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import (
    Harness,
    chosen_tab,
    expect_trait,
    open_tab,
    show_python,
    traits_query,
)
from support.explored import golden_view
from support.golden import GoldenTables

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("PE_SHOTS")
MOST_CLICKS = 3


class Walk:
    """A walk through the explorer that counts its clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, name: str, role: str = "button") -> None:
        """Click what has this name in the open view."""
        panel = self.page.locator(".pe-panel:visible[role=tabpanel]")
        panel.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]  # a role
        self.clicks += 1

    def tab(self, title: str) -> None:
        """The title of the open tab."""
        expect(chosen_tab(self.page)).to_contain_text(title)


def slow(walk: Walk) -> None:
    walk.click("Why is my query slow?")
    walk.tab("Explain scan")
    stages = walk.page.get_by_role("table", name="Pruning stages")
    expect(stages.get_by_role("row", name="cancelled entries")).to_contain_text("kB of")
    expect(walk.page.get_by_role("table", name="Files to read")).to_contain_text("data-")


def read_files(walk: Walk) -> None:
    walk.click("Which files does my query read?")
    walk.tab("Explain scan")
    expect(walk.page.locator(".pes-input:visible")).to_have_value("dt = 'p0' and k >= 1")
    stages = walk.page.get_by_role("table", name="Pruning stages")
    expect(stages.get_by_role("row", name="partition ranges")).to_contain_text("of")
    expect(walk.page.get_by_role("table", name="Files to read")).to_contain_text("p0")


def grown(walk: Walk) -> None:
    walk.click("Why did my table grow?")
    walk.tab("Snapshot diff")
    expect(walk.page.locator(".pes-title:visible")).to_contain_text("snapshot 1 → snapshot 12")
    expect(walk.page.locator(".pes-facts:visible")).to_contain_text("stored rows")


def changed(walk: Walk) -> None:
    walk.click("What changed on the last day of commits?")
    walk.tab("Snapshot diff")
    expect(walk.page.locator(".pes-title:visible")).to_contain_text("→ snapshot 12")
    expect(walk.page.get_by_role("table", name="Changed files")).to_be_visible()


def deleted_row(walk: Walk) -> None:
    walk.click("Who deleted this row?")
    walk.tab("Key history")
    versions = walk.page.get_by_role(
        "table", name="Stored versions of the key, newest snapshot first"
    )
    snapshot = versions.locator("tbody button").first
    number = snapshot.inner_text()
    walk.click(number)
    expect(walk.page.locator(".pe-summary strong")).to_have_text(f"snapshot {number}")
    expect(walk.page.locator(".pe-detail")).to_contain_text("commit user")


def upsert(walk: Walk) -> None:
    walk.click("Why do I not see my upsert?")
    walk.tab("Key history")
    expect(walk.page.locator(".pes-facts:visible")).to_contain_text("row at snapshot 12")
    expect(walk.page.locator(".pes-facts:visible")).to_contain_text("deduplicate")


def removable(walk: Walk) -> None:
    walk.click("Can I delete this file?")
    walk.tab("Explain file")
    expect(walk.page.locator(".pes-title:visible")).to_contain_text("data-")
    expect(walk.page.locator(".pes-facts:visible")).to_contain_text("may be deleted")


def skewed(walk: Walk) -> None:
    walk.click("Which partition is skewed?")
    walk.tab("Partitions")
    expect(walk.page.get_by_role("row", name="dt=p0")).to_be_visible()
    expect(walk.page.get_by_role("row", name="dt=p1")).to_be_visible()


def compacted(walk: Walk) -> None:
    walk.click("Is my table being compacted?")
    walk.tab("LSM tree")
    expect(walk.page.locator(".pes-facts:visible")).to_contain_text("compaction")


def expiring(walk: Walk) -> None:
    walk.click("What will expiry remove?")
    walk.tab("Expiry preview")
    expect(walk.page.locator(".pes-title:visible")).to_contain_text("snapshot")


WALKS: dict[str, Callable[[Walk], None]] = {
    "why is my query slow": slow,
    "why did my table grow": grown,
    "who deleted this row": deleted_row,
    "can I delete this file": removable,
    "why do I not see my upsert": upsert,
    "which partition is skewed": skewed,
    "what changed since yesterday": changed,
    "which files does my query read": read_files,
    "is my table being compacted": compacted,
    "what will expiry remove": expiring,
}


def open_overview(harness: Harness, view: TableView, query: str = "") -> Page:
    state = ExplorerState(Inspector(view))
    given = f"{traits_query(selected=state.newest, tab='overview')}&{query}"
    page = show_python(harness, "explorer", lambda message: answer(state, message), given)
    page.set_default_timeout(20_000)
    page.wait_for_selector('.pes-pane[data-pane="overview"][data-shown]:not([data-busy])')
    return page


def back(page: Page) -> None:
    """Return to the overview of the latest snapshot."""
    open_tab(page, "overview")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("End")
    page.wait_for_selector('.pes-pane[data-pane="overview"]:not([data-busy])')


def picture(page: Page, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SHOTS}/{name.replace(' ', '-')}.png")


def box_of(found: Locator) -> FloatRect:
    box = found.bounding_box()
    assert box is not None
    return box


def test_ten_questions_are_answered_in_three_clicks(harness: Harness, golden: GoldenTables) -> None:
    page = open_overview(harness, golden_view(golden.table("java200", "dv_pk").folder))
    picture(page, "overview")
    for name, walk_of in WALKS.items():
        walk = Walk(page)
        walk_of(walk)
        assert 1 <= walk.clicks <= MOST_CLICKS, name
        expect(page.locator(".pes-problem:visible")).to_have_count(0)
        picture(page, name)
        back(page)
    harness.check()


def test_sentences_lead_to_their_evidence(harness: Harness, golden: GoldenTables) -> None:
    page = open_overview(harness, golden_view(golden.table("java200", "append_avro").folder))
    first = page.locator(".pes-sentences").first
    expect(first).to_contain_text("append_avro is an append table")
    page.get_by_role("button", name="data files", exact=False).first.click()
    expect(chosen_tab(page)).to_have_text("Files")
    expect(page.locator(".pe-grid-row:visible").first).to_be_visible()
    harness.check()


@pytest.mark.parametrize("zoom", [1, 2])
def test_sizes_are_changed_by_keyboard_and_remembered(
    harness: Harness, golden: GoldenTables, zoom: int
) -> None:
    view = golden_view(golden.table("java200", "dv_pk").folder)
    harness.page.set_viewport_size({"width": 1100 * zoom, "height": 640 * zoom})
    page = open_overview(harness, view, f"width={1000 * zoom}")
    page.evaluate(f"document.body.style.zoom = {zoom}")
    tree = page.get_by_role("separator", name="Width of the manifest tree")
    expect(tree).to_have_attribute("aria-valuenow", "27")
    tree.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(tree).to_have_attribute("aria-valuenow", "31")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 12")  # no snapshot moved
    bottom = page.get_by_role("separator", name="Height of the explorer")
    before = int(str(bottom.get_attribute("aria-valuenow")))
    bottom.focus()
    page.keyboard.press("ArrowDown")
    expect(bottom).to_have_attribute("aria-valuenow", str(before + 20))
    expect_trait(page, "height", before + 20)
    assert page.evaluate("localStorage.getItem('paimon-explore-panes')") == '{"left":31,"right":28}'
    tree.press("Enter")
    expect(tree).to_have_attribute("aria-valuenow", "27")
    harness.check()


def test_a_handle_is_dragged_and_the_explorer_is_maximised(
    harness: Harness, golden: GoldenTables
) -> None:
    page = open_overview(harness, golden_view(golden.table("java200", "dv_pk").folder))
    tree = page.locator(".pe-pane-tree")
    width = box_of(tree)["width"]
    handle = page.get_by_role("separator", name="Width of the manifest tree")
    box = box_of(handle)
    page.mouse.move(box["x"] + 3, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 103, box["y"] + 60, steps=4)
    page.mouse.up()
    assert abs(box_of(tree)["width"] - width - 100) < 12
    page.get_by_role("button", name="Maximise").click()
    frame = box_of(page.locator(".pe-frame"))
    assert (frame["x"], frame["y"], frame["width"], frame["height"]) == (0, 0, 1100, 640)
    picture(page, "maximised")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Maximise")).to_be_visible()
    assert box_of(page.locator(".pe-frame"))["height"] < 640
    harness.check()


def test_terms_have_tooltips_and_stand_in_the_help(harness: Harness, golden: GoldenTables) -> None:
    page = open_overview(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_tab(page, "files")
    level = page.get_by_role("columnheader", name="level")
    level.hover()
    expect(level).to_have_attribute(
        "title",
        "The level of a file in the LSM tree: 0 for new files, "
        "higher after compactions. (notebook 05-primary-keys)",
    )
    row = page.locator(".pe-tree-label", has_text="base manifest list")
    row.hover()
    expect(row).to_have_attribute(
        "title",
        "The manifest list with all changes up to the previous snapshot. (notebook 03-on-disk)",
    )
    expect(page.locator(".pe-filter")).to_have_attribute(
        "placeholder", "Filter, e.g. dt = 'p0' and level = 0"
    )
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keyboard shortcuts and symbols").click()
    expect(page.locator(".pe-terms")).to_contain_text("deletion vector")
    harness.check()


PLACEHOLDERS = {
    "rows": ("Condition on rows", "Condition on rows, e.g. dt = 'p0' and k >= 1"),
    "profile": ("Rows where", "SQL condition on rows, e.g. dt = 'p0' and k >= 1"),
    "explain": ("Condition", "SQL condition, limit, e.g. dt = 'p0' and k >= 1"),
    "key": ("Primary key", "values of the key columns, e.g. dt = 'p0', k = 1"),
    "compare": ("snapshot, tag or time", "latest, e.g. 1"),
    "what_if": ("partition", "all partitions, e.g. dt=p0"),
}
"""Label and placeholder of a field of each view."""


def test_placeholders_are_examples_of_the_table(harness: Harness, golden: GoldenTables) -> None:
    page = open_overview(harness, golden_view(golden.table("java200", "dv_pk").folder))
    for tab, (label, placeholder) in PLACEHOLDERS.items():
        open_tab(page, tab)
        panel = page.locator(".pe-panel:visible[role=tabpanel]")
        field = panel.get_by_role("textbox", name=label, exact=True)
        expect(field).to_have_attribute("placeholder", placeholder)
    harness.check()
