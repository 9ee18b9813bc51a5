"""The search box and the settings of the explorer, by keyboard."""

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, chosen_tab, expect_trait, show_python, traits_query
from support.small_tables import columns, keyed_table

pytestmark = pytest.mark.browser

HOLD_REPORTS = """() => {
  const ask = window.askPython;
  window.held = [];
  window.release = () => {
    window.askPython = ask;
    window.held.forEach((answer) => answer());
  };
  window.askPython = (message) =>
    message.op === "report"
      ? new Promise((resolve) => window.held.push(() => resolve(ask(message))))
      : ask(message);
}"""


@pytest.fixture
def page(harness: Harness) -> Page:
    """The explorer of a table with 12 snapshots, a tag and columns with long names."""
    commits = [[{"k": number, "amount_net": number}] for number in range(12)]
    fields = columns(k=pa.int32(), amount_net=pa.int64())
    table = keyed_table(fields, *commits, primary_key=["k"])
    table.create_tag("release", 3)
    state = ExplorerState(Inspector(table._view()))
    given = traits_query(selected=state.newest, tab="overview", code="t.inspect.overview()")
    shown = show_python(harness, "explorer", lambda message: answer(state, message), given)
    shown.set_default_timeout(15_000)
    shown.wait_for_selector('[data-complete="1"]')
    shown.wait_for_selector("[data-shown]:not([data-busy])")
    shown.get_by_role("combobox", name="Find").wait_for()
    shown.locator(".pe-timeline-canvas").focus()
    return shown


def find(page: Page, text: str) -> None:
    """Open the search box and type."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find")).to_be_focused()
    page.keyboard.type(text)


def first(page: Page, text: str) -> None:
    """The first of what was found."""
    expect(page.get_by_role("listbox", name="Found").get_by_role("option").first).to_contain_text(
        text
    )


def test_every_view_is_found_by_its_title(harness: Harness, page: Page) -> None:
    for group, tabs in GROUPS.items():
        for tab, title in tabs.items():
            find(page, title)
            first(page, f"{title}{group}")
            page.keyboard.press("Enter")
            expect_trait(page, "tab", tab)
            expect(chosen_tab(page)).to_have_text(title)
    harness.check()


def test_snapshots_tags_and_times_are_found(harness: Harness, page: Page) -> None:
    find(page, "11")
    first(page, "11APPEND")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 11")
    find(page, "rele")
    first(page, "releasesnapshot 3")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 3")
    find(page, "2100-01-01")
    first(page, "Go to 2100-01-01")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 12")
    find(page, "release 17")
    first(page, "Go to release 17")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("release 17")
    harness.check()


def test_a_report_that_arrives_leaves_the_focus_in_the_box(harness: Harness, page: Page) -> None:
    page.evaluate(HOLD_REPORTS)
    find(page, "11")
    page.keyboard.press("Enter")
    page.wait_for_function("window.held.length === 1")
    expect(page.get_by_role("combobox", name="Find")).not_to_be_focused()
    page.evaluate("window.held[0]()")  # the part that is fast; the rest is asked for by then
    page.wait_for_function("window.held.length === 2")
    page.keyboard.press("Control+k")
    page.evaluate("window.release()")
    page.wait_for_selector('[data-shown*="11"]:not([data-busy])')
    expect(page.get_by_role("combobox", name="Find")).to_be_focused()
    harness.check()


def test_files_and_columns_are_found_by_python(harness: Harness, page: Page) -> None:
    find(page, "net")
    first(page, "amount_netBIGINT")
    page.keyboard.press("Enter")
    expect(chosen_tab(page)).to_have_text("Profile")
    expect(page.locator(".pep-table [data-column]", has_text="amount_net")).to_be_visible()
    find(page, ".parquet")
    first(page, "data-")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-detail-kind")).to_contain_text("data file")
    harness.check()


def test_commands_and_settings_are_found(harness: Harness, page: Page) -> None:
    find(page, "prev snap")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 11")
    find(page, "bars bytes")
    first(page, "Bars of the timeline: bytes")
    page.keyboard.press("Enter")
    bytes_ = page.locator(".pe-timeline").get_by_role("button", name="bytes")
    expect(bytes_).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(bytes_).to_have_attribute("aria-pressed", "true")
    harness.check()


def test_arrows_choose_and_escape_leaves_the_box(harness: Harness, page: Page) -> None:
    find(page, "h")
    box = page.get_by_role("combobox", name="Find")
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    active = str(box.get_attribute("aria-activedescendant"))
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")
    expect_trait(page, "tab", "overview")
    page.keyboard.press("Escape")
    expect(box).not_to_be_focused()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+k")
    expect(box).not_to_be_focused()  # the key is the page's where the explorer has no focus
    harness.check()


def test_settings_stand_in_one_place(harness: Harness, page: Page) -> None:
    page.keyboard.press(",")
    pane = page.locator(".pe-pane-detail")
    spacing = pane.get_by_role("group", name="Spacing of snapshots")
    spacing.get_by_role("button", name="by commit time").press("Enter")
    expect(spacing.locator("[aria-pressed=true]")).to_have_text("by commit time")
    height = pane.get_by_role("group", name="Height")
    height.get_by_role("button", name="800 px").click()
    expect_trait(page, "height", 800)
    assert page.evaluate("document.querySelector('.pe-frame').offsetHeight") == 800
    page.keyboard.press("Escape")
    expect(pane.locator(".pe-detail-title")).to_have_text("snapshot 12")
    harness.check()
