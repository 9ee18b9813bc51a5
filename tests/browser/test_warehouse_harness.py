"""The explorer of a catalog in a real browser, answered by Python without a kernel."""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.warehouse.warehouse_state import WarehouseSource
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.explorer import Explorer
from paimon_explore.widgets.warehouse import CatalogExplorer
from support.axe import serious_findings
from support.browser_page import Harness, chosen_tab, expect_trait, show_python
from support.explored import History
from support.warehouses import BROKEN, HOSTILE_NAME, Source, damaged, two_commits

pytestmark = pytest.mark.browser

SCRIPT_BYTES = 50_000
TRAITS = ("database", "table", "search", "sort", "descending", "code", "height")
EXPLORER_TRAITS = [name for name in Explorer.class_own_traits(sync=True) if name[0] != "_"]


class Asked:
    """Answers the requests of a page and counts them.

    Args:
        widget: the widget in Python.
    """

    def __init__(self, widget: CatalogExplorer) -> None:
        self.widget = widget
        self.requests: list[str] = []

    def __call__(self, message: Mapping[str, object]) -> Answer:
        self.requests.append(str(message["op"]))
        if "of" not in message:
            return self.widget.answer(message)
        explorer = self.widget._opened
        assert explorer is not None
        if message["op"] == "traits":
            values = explorer[2].trait_values()
            return Answer(body={name: values[name] for name in EXPLORER_TRAITS})
        return explorer[2].answer(message)


def show(harness: Harness, widget: CatalogExplorer, query: str = "") -> tuple[Page, Asked]:
    asked = Asked(widget)
    values = widget.trait_values()
    traits = quote(json.dumps({name: values[name] for name in TRAITS}))
    page = show_python(harness, "warehouse", asked, f"traits={traits}&{query}")
    return page, asked


def of(source: WarehouseSource) -> CatalogExplorer:
    return CatalogExplorer(source)


@pytest.fixture(scope="module")
def demo() -> pe.Catalog:
    return pe.demo()


def row(page: Page, name: str) -> Locator:
    return page.locator(".pew-row:visible", has=page.locator("[data-column=name]", has_text=name))


def cell(page: Page, name: str, column: str) -> Locator:
    return row(page, name).first.locator(f"[data-column={column}]")


def selected(page: Page) -> Locator:
    return page.locator(".pew-row[aria-selected=true] [data-column=name]")


def expect_name(page: Page, place: int, name: str) -> None:
    """The table at a place of the list, counted from 0."""
    line = page.locator(f'.pew-row[aria-rowindex="{place + 2}"]:visible')
    expect(line.locator("[data-column=name]")).to_have_text(name)


def expect_names(page: Page, *names: str) -> None:
    """All tables of the list, in its order."""
    expect(page.locator(".pew-row:visible")).to_have_count(len(names))
    for place, name in enumerate(names):
        expect_name(page, place, name)


def test_tables_come_with_their_figures(harness: Harness, demo: pe.Catalog) -> None:
    page, _ = show(harness, demo.explore())
    expect(page.locator(".pew-root")).to_have_attribute("data-known", "11")
    expect(cell(page, "demo.orders", "rows")).to_have_text("30")
    expect(cell(page, "demo.orders", "files")).to_have_text("15")
    expect(cell(page, "demo.orders", "snapshots")).to_have_text("5")
    expect(cell(page, "demo.orders", "kind")).to_have_text("APPEND")
    expect(cell(page, "demo.orders", "comment")).to_have_text("Orders by day")
    expect(cell(page, "demo.empty", "files")).to_have_text("0")
    expect(cell(page, "demo.types", "health")).not_to_be_empty()
    expect(page.locator(".pew-status")).to_contain_text("11 tables")
    harness.check()


def test_tables_are_searched_and_sorted(harness: Harness, demo: pe.Catalog) -> None:
    page, _ = show(harness, demo.explore())
    page.locator(".pew-grid").focus()
    page.keyboard.press("/")
    page.keyboard.type("by day")
    expect(page.locator(".pew-root")).to_have_attribute("data-count", "2")
    expect_names(page, "demo.orders", "demo.parcels")
    page.locator(".pew-search").fill("")
    page.keyboard.press("Enter")
    heading = page.get_by_role("columnheader", name="snapshots")
    heading.get_by_role("button").click()
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect_name(page, 0, "demo.parcels")
    expect_name(page, 10, "demo.empty")
    harness.check()


def test_a_table_is_opened_and_left_by_keyboard(harness: Harness, demo: pe.Catalog) -> None:
    page, _ = show(harness, demo.explore())
    grid = page.get_by_role("grid", name="Tables")
    grid.focus()
    for key in ("End", "Home", "ArrowDown", "PageDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(selected(page)).to_have_text("demo.trips")
    page.keyboard.press("Enter")
    expect(page.locator(".pe-explorer .pe-name")).to_have_text("trips")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 2")
    expect(page.get_by_role("navigation", name="Breadcrumb")).to_contain_text(
        re.compile("demo.trips")
    )
    expect_trait(page, "database", "demo")
    expect_trait(page, "table", "trips")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 1")
    page.keyboard.press("Backspace")
    expect(grid).to_be_focused()
    expect(selected(page)).to_have_text("demo.trips")
    expect(page.locator(".pe-explorer")).to_have_count(0)
    harness.check()


def test_the_breadcrumb_leads_back_to_the_database_and_to_the_catalog(harness: Harness) -> None:
    source = Source({"one": {"a": two_commits()}, "two": {"b": History()}})
    page, _ = show(harness, of(source))
    row(page, "one.a").click()
    expect(page.locator(".pe-explorer .pe-name")).to_have_text("t")
    page.get_by_role("navigation").get_by_role("button", name="one").click()
    expect(page.locator(".pew-root")).to_have_attribute("data-count", "1")
    page.get_by_role("navigation").get_by_role("button", name="/wh").click()
    expect(page.locator(".pew-root")).to_have_attribute("data-count", "2")
    page.get_by_role("listbox", name="Database").select_option("two")
    expect(page.locator(".pew-root")).to_have_attribute("data-count", "1")
    expect_names(page, "two.b")
    harness.check()


def test_a_deep_link_shows_the_view_of_its_snapshot(harness: Harness, demo: pe.Catalog) -> None:
    page, _ = show(harness, demo.explore("demo.customers", tab="lsm", snapshot=2))
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 2")
    expect(chosen_tab(page)).to_have_text("LSM tree")
    harness.check()


def test_python_opens_and_closes_a_table(harness: Harness, demo: pe.Catalog) -> None:
    widget = demo.explore()
    page, _ = show(harness, widget)
    page.evaluate("window.model.receive('database', 'demo')")
    page.evaluate("window.model.receive('table', 'notes')")
    expect(page.locator(".pe-explorer .pe-name")).to_have_text("notes")
    page.evaluate("window.model.receive('table', 'nothing')")
    expect(page.get_by_role("alert")).to_contain_text("'nothing' does not exist")
    page.evaluate("window.model.receive('table', '')")
    expect(row(page, "demo.notes")).to_be_visible()
    harness.check()


def test_ten_thousand_tables_open_with_only_those_on_the_screen_read(harness: Harness) -> None:
    history = two_commits()
    source = Source({"db": {f"t{number:05}": history for number in range(10_000)}})
    page, asked = show(harness, of(source))
    expect(page.locator(".pew-root")).to_have_attribute("data-count", "10000", timeout=15_000)
    expect(cell(page, "db.t00000", "files")).to_have_text("1")
    expect(page.locator(".pew-root")).to_have_attribute("data-complete", "1")
    page.wait_for_timeout(500)
    assert len(set(source.opened)) < 60
    assert page.locator(".pew-row").count() < 60
    page.get_by_role("grid", name="Tables").focus()
    page.keyboard.press("End")
    expect(cell(page, "db.t09999", "files")).to_have_text("1")
    assert len(set(source.opened)) < 120
    expect(page.get_by_role("button", name="Read all figures")).to_be_visible()
    assert asked.requests.count("names") >= 5
    harness.check()


def test_reasons_stand_in_the_rows_of_tables_that_cannot_be_opened(harness: Harness) -> None:
    source = Source({BROKEN: {}, "db": {"bad": damaged(), "good": two_commits()}})
    page, _ = show(harness, of(source))
    expect(row(page, "db.bad")).to_contain_text("manifest-list-2-0")
    expect(cell(page, "db.good", "files")).to_have_text("1")
    expect(page.get_by_role("alert")).to_contain_text("refused")
    row(page, "db.bad").click()
    expect(page.locator(".pe-explorer .pe-summary strong")).to_have_text("snapshot 2")
    harness.check()


def test_hostile_names_stay_text(harness: Harness) -> None:
    source = Source({HOSTILE_NAME: {HOSTILE_NAME: two_commits()}})
    source.views[HOSTILE_NAME] = [HOSTILE_NAME]
    page, _ = show(harness, of(source))
    expect(page.locator(".pew-root")).to_have_attribute("data-known", "2")
    page.locator(".pew-row").first.click()
    expect(page.locator(".pe-explorer .pe-summary strong")).to_have_text("snapshot 2")
    assert page.evaluate("window.__ran") is None
    assert page.locator("img, svg, script:not([src]), iframe").count() == 0
    text = page.locator(".pew-root").inner_text()
    assert "\u202e" not in text
    assert "\\u{202e}" in text
    harness.check()


def test_a_catalog_that_cannot_be_read_says_so(harness: Harness) -> None:
    page, _ = show(harness, pe.Catalog("/no/such/warehouse").explore())
    expect(page.get_by_role("alert")).to_contain_text("does not exist")
    expect(page.locator(".pew-status")).to_contain_text("0 tables")
    harness.check()


def test_nothing_is_left_when_the_widget_is_closed(harness: Harness, demo: pe.Catalog) -> None:
    page, asked = show(harness, demo.explore("demo.orders"))
    expect(page.locator(".pe-explorer .pe-name")).to_have_text("orders")
    page.evaluate("window.close_()")
    page.wait_for_timeout(300)
    before = len(asked.requests)
    page.wait_for_timeout(500)
    assert len(asked.requests) == before
    assert page.evaluate("window.model.listenerCount()") == 0
    harness.check()


def test_the_list_is_accessible_in_both_themes(harness: Harness, demo: pe.Catalog) -> None:
    page, _ = show(harness, demo.explore())
    expect(page.locator(".pew-root")).to_have_attribute("data-known", "11")
    assert serious_findings(page, ".pew-root") == []


def test_the_shipped_script_stays_small() -> None:
    assert len(bundle("warehouse")) <= SCRIPT_BYTES
