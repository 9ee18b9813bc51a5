"""The Rows tab in a real browser, answered by Python without a kernel."""

import json
from urllib.parse import quote

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_requests import answer
from support.axe import serious_findings
from support.browser_page import Harness, open_tab, show_python
from support.explored import HOSTILE
from support.small_tables import append_table, columns, data_files, keyed_table

pytestmark = pytest.mark.browser

SCRIPT_BYTES = 45_000
COLUMNS = columns(k=pa.int32(), v=pa.string())


def show_rows(harness: Harness, table: pe.Table, asked: object = None, query: str = "") -> Page:
    """An explorer with the Rows tab open."""
    state = ExplorerState(Inspector(table._view()))
    given = {} if asked is None else {"rows": json.dumps(asked)}
    traits = {
        "selected": state.newest, "compare": 0, "node": "", "filter": "", "where": "",
        "tab": "rows", "asked": given, "code": "", "spark_code": "", "height": 560,
    }  # fmt: skip
    page = show_python(
        harness,
        "explorer",
        lambda message: answer(state, message),
        f"traits={quote(json.dumps(traits))}&{query}",
    )
    page.set_default_timeout(20_000)
    page.wait_for_selector(".per:not([data-busy])")
    return page


def shown(page: Page) -> Locator:
    return page.locator(".per-grid .pe-grid-row:visible")


def many_rows() -> pe.Table:
    table = append_table(COLUMNS)
    for start in (0, 60_000):
        rows = pa.table({"k": pa.array(range(start, start + 60_000), pa.int32())})
        table.append(rows.append_column("v", pa.array([f"v{k}" for k in rows["k"].to_pylist()])))
    return table


def test_rows_are_scrolled_to_by_position(harness: Harness) -> None:
    page = show_rows(harness, many_rows())
    expect(shown(page).first).to_contain_text("v0")
    expect(page.locator(".per-status")).to_have_text("row 1 of 120,000")
    grid = page.locator(".per-grid")
    grid.evaluate("e => { e.scrollTop = 90000 * 24 }")
    expect(page.locator('.per-grid [aria-rowindex="90002"]')).to_contain_text("v90000")
    assert shown(page).count() < 60
    grid.focus()
    page.keyboard.press("End")
    expect(page.locator('.per-grid [aria-rowindex="120001"]')).to_contain_text("v119999")
    expect(page.locator(".per-status")).to_have_text("row 120,000 of 120,000")
    harness.check()


def test_records_that_do_not_count_are_struck_through_with_the_reason(harness: Harness) -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 1, "v": "b"}], primary_key=["k"])
    page = show_rows(harness, table)
    expect(shown(page)).to_have_count(1)
    page.get_by_role("button", name="All records").click()
    expect(shown(page)).to_have_count(2)
    struck = page.locator(".per-struck")
    expect(struck).to_have_count(1)
    expect(struck).to_contain_text("replaced by sequence 1 in data-")
    expect(struck.locator(".per-value").first).to_have_css("text-decoration-line", "line-through")
    harness.check()


def test_a_condition_filters_and_a_wrong_one_is_told_in_place(harness: Harness) -> None:
    page = show_rows(harness, append_table(COLUMNS, [{"k": k, "v": f"v{k}"} for k in range(9)]))
    box = page.get_by_role("textbox", name="Condition on rows")
    box.fill("k > 6")
    box.press("Enter")
    expect(page.locator(".per-status")).to_have_text("row 1 of 2")
    box.fill("k >")
    box.press("Enter")
    expect(page.locator(".per .pe-problem")).to_contain_text("The condition cannot be parsed")
    box.fill("k = 99")
    box.press("Enter")
    expect(page.locator(".per-status")).to_have_text("no rows")
    harness.check()


def test_a_header_sorts_and_the_code_is_copied(harness: Harness) -> None:
    page = show_rows(harness, append_table(COLUMNS, [{"k": k, "v": f"v{k % 3}"} for k in range(9)]))
    header = page.get_by_role("columnheader", name="k", exact=True)
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(shown(page).first).to_contain_text("8")
    expect(page.locator(".per-note")).to_contain_text("Sorted: 9 rows")
    page.get_by_role("button", name="DuckDB").click()
    expect(page.locator(".per-cell-value")).to_contain_text('ORDER BY "k" DESC NULLS LAST')
    harness.check()


def test_a_broken_file_is_named_between_the_rows(harness: Harness) -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}], [{"k": 3, "v": "c"}])
    lost = data_files(table)[1]
    table._store.file_io.delete(lost)
    page = show_rows(harness, table)
    expect(page.locator(".per-failed")).to_contain_text(lost.rpartition("/")[2])
    expect(shown(page)).to_have_count(3)
    expect(shown(page).last).to_contain_text("c")
    harness.check()


def test_hostile_values_stay_text_and_long_ones_expand(harness: Harness) -> None:
    name = HOSTILE.replace("\0", "")
    schema = pa.schema([pa.field(name, pa.string())])
    page = show_rows(harness, append_table(schema, [{name: HOSTILE + "y" * 1000}]))
    shown(page).first.locator(".per-value").click()
    page.get_by_role("button", name="show all").click()
    expect(page.locator(".per-cell-value pre")).to_contain_text("yyy")
    assert page.evaluate("window.__ran") is None
    assert page.locator(".per :is(img, svg, script, iframe)").count() == 0
    text = page.locator(".per").inner_text()
    assert "\u202e" not in text
    assert "\x1b" not in text
    harness.check()


def test_many_columns_are_shown_a_part_at_a_time(harness: Harness) -> None:
    wide = append_table(columns(**{f"c{i}": pa.int32() for i in range(1000)}), [{"c999": 7}])
    page = show_rows(harness, wide)
    expect(page.locator(".per-chooser")).to_contain_text("columns 1 to 30 of 1,000")
    page.get_by_role("button", name="Next columns").click()
    expect(page.locator(".per-chooser")).to_contain_text("columns 31 to 60")
    find = page.get_by_role("textbox", name="Find column")
    find.fill("c999")
    find.press("Enter")
    expect(shown(page).first).to_have_text("7")
    harness.check()


def test_an_empty_table_says_so(harness: Harness) -> None:
    page = show_rows(harness, append_table(COLUMNS))
    expect(page.locator(".per .pe-empty:visible")).to_contain_text("The table has no snapshot yet.")
    harness.check()


def test_the_details_of_a_file_lead_to_its_rows(harness: Harness) -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}])
    page = show_rows(harness, table)
    open_tab(page, "files")
    page.locator(".pe-view:not(.per) .pe-grid-row:visible").first.click()
    page.get_by_role("button", name="Show rows", exact=True).click()
    expect(shown(page)).to_have_count(1)
    page.locator(".pe-bounds").get_by_title("Show rows with this value").first.click()
    expect(page.get_by_role("textbox", name="Condition on rows")).to_have_value("k = 1")
    expect(shown(page)).to_have_count(1)
    harness.check()


def test_axe_finds_nothing_serious(harness: Harness) -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": None}], [{"k": 1, "v": "b"}], primary_key=["k"])
    page = show_rows(harness, table, {"merged": False})
    expect(shown(page)).to_have_count(2)
    shown(page).first.click()
    assert serious_findings(page, ".per") == []


def test_the_shipped_script_stays_small() -> None:
    assert len(bundle("rows")) <= SCRIPT_BYTES
