"""The explorer's front end in a real browser, on generated data and without a kernel."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.axe import serious_findings
from support.browser_page import Harness, expect_trait, open_tab, show

pytestmark = pytest.mark.browser


def open_first_entry(page: Page) -> None:
    """Open the tree down to the first entry and choose it."""
    tree = page.locator(".pe-tree")
    tree.focus()
    for level in (1, 2, 3):
        expect(tree.locator(f'[aria-level="{level}"]').first).to_be_visible()
        expect(tree).not_to_contain_text("reading…")
        page.keyboard.press("ArrowDown")
        expect(tree.locator(f'[aria-selected="true"][aria-level="{level}"]')).to_be_visible()
        page.keyboard.press("+")


def test_the_cursor_moves_by_keyboard_and_python_hears_of_it(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 18")
    page.keyboard.press("Home")
    slider = page.get_by_role("slider", name="Snapshot")
    expect(slider).to_have_attribute("aria-valuenow", "1")
    page.keyboard.press("PageDown")
    expect(slider).to_have_attribute("aria-valuenow", "11")
    expect(page.locator(".pe-code")).to_have_text("t.at(11).files()")
    expect_trait(page, "selected", 11)
    harness.check()


def test_a_click_on_the_timeline_chooses_the_nearest_snapshot(harness: Harness) -> None:
    page = show(harness, "snapshots=5&files=20")
    page.get_by_role("combobox", name="Find").fill("watermark: hidden")
    page.get_by_role("combobox", name="Find").press("Enter")
    page.locator(".pe-timeline-canvas").click(position={"x": 100, "y": 30})
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 2")
    harness.check()


def test_python_moves_the_cursor_too(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200")
    page.evaluate("window.model.receive('selected', 7)")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 7")
    harness.check()


def test_an_answer_to_an_older_move_does_not_move_the_cursor_back(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200")
    page.evaluate(
        """() => {
          const canvas = document.querySelector(".pe-timeline-canvas");
          for (let i = 0; i < 2; i++) {
            canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
          }
          window.model.receive("selected", 19);
        }"""
    )
    page.wait_for_timeout(300)
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 18")
    expect_trait(page, "selected", 18)
    page.evaluate("window.model.receive('selected', 7)")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 7")
    harness.check()


def test_the_tree_opens_to_a_data_file_with_its_bounds(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200")
    open_first_entry(page)
    bounds = page.get_by_role("table", name="Value bounds")
    expect(bounds.get_by_role("row", name="amount")).to_contain_text("99812.50")
    expect(bounds.get_by_role("row", name="v DOUBLE")).to_contain_text("_VALUE_STATS_COLS")
    expect(page.locator(".pe-tree-row s").first).to_be_visible()
    harness.check()


def test_files_are_sorted_filtered_and_chosen(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=400")
    grid = page.get_by_role("grid", name="Data files")
    page.wait_for_selector('[data-complete="1"]')
    grid.get_by_role("button", name="size").click()
    grid.get_by_role("button", name="size").click()
    expect(page.locator('[aria-sort="descending"]')).to_have_text("size▾")
    whole = page.locator(".pe-totals strong").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("level = 0")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-totals strong")).to_contain_text("matching")
    expect(page.locator(".pe-totals strong")).not_to_have_text(whole)
    grid.focus()
    page.keyboard.press("ArrowDown")
    detail = page.locator(".pe-pane-detail [data-node]")
    expect(detail).to_have_attribute("data-node", re.compile("file/1/"))
    harness.check()


def test_a_filter_that_cannot_be_read_says_so_and_keeps_the_files(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=400")
    page.wait_for_selector('[data-complete="1"]')
    page.locator(".pe-filter").fill("levle ~ 0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("cannot read the condition")
    expect(page.locator(".pe-pane-view .pe-view").first).not_to_have_attribute("data-count", "0")
    harness.check()


def test_an_empty_table_and_an_unreadable_snapshot_are_told(harness: Harness) -> None:
    page = show(harness, "snapshots=0&files=0")
    expect(page.locator(".pe-pane-view .pe-empty")).to_contain_text("no snapshot yet")
    page = show(harness, "snapshots=9&files=60&problem=1")
    expect(page.get_by_role("alert").first).to_contain_text("snapshot-4: not JSON")
    page.locator(".pe-timeline-canvas").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary")).to_contain_text("cannot be read")
    harness.check()


def test_hostile_names_stay_text_in_every_pane(harness: Harness) -> None:
    page = show(harness, "snapshots=30&files=300&hostile=1")
    open_first_entry(page)
    open_tab(page, "partitions")
    page.wait_for_timeout(150)
    page.locator(".pe-timeline-canvas").hover(position={"x": 40, "y": 40})
    assert page.evaluate("window.__ran") is None
    assert page.locator("img, svg, script:not([src]), iframe").count() == 0
    text = page.locator(".pe-explorer").inner_text()
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u{202e}" in text
    harness.check()


def test_late_answers_are_dropped(harness: Harness) -> None:
    page = show(harness, "snapshots=30&files=300&delay=60")
    page.locator(".pe-timeline-canvas").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(25)
    expect(page.locator(".pe-detail-title")).to_have_text("snapshot 22")
    page.wait_for_timeout(300)
    expect(page.locator(".pe-detail-title")).to_have_text("snapshot 22")
    harness.check()


def test_axe_finds_nothing_serious(harness: Harness) -> None:
    page = show(harness, "snapshots=30&files=300")
    open_first_entry(page)
    assert serious_findings(page, ".pe-explorer") == []


def test_the_theme_of_the_page_decides_the_colours(harness: Harness) -> None:
    page = show(harness, "snapshots=5&files=20")
    expect(page.locator(".pe-explorer")).to_have_attribute("data-theme", "light")
    page.evaluate("document.body.className = 'dark'")
    expect(page.locator(".pe-explorer")).to_have_attribute("data-theme", "dark")
    harness.check()


def test_panes_stack_when_there_is_little_room(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200&width=420")
    tree = page.locator(".pe-pane-tree").bounding_box()
    view = page.locator(".pe-pane-view").bounding_box()
    assert tree is not None
    assert view is not None
    assert view["y"] >= tree["y"] + tree["height"] - 1
    harness.check()


def test_taking_the_widget_down_leaves_nothing_behind(harness: Harness) -> None:
    page = show(harness, "snapshots=20&files=200")
    page.evaluate("window.close_()")
    assert page.evaluate("window.model.listenerCount()") == 0
    harness.check()
