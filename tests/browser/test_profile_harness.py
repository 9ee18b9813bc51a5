"""The Profile view in a real browser, answered by Python without a kernel."""

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

from paimon_explore import Table
from paimon_explore.inspection.explorer.explorer_state import Answer, ExplorerState
from paimon_explore.inspection.profile.row_profile import RowProfile
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, open_tab, show_python
from support.explored import HOSTILE
from support.small_tables import append_table, columns

pytestmark = pytest.mark.browser

SCRIPT_BYTES = 30_000
ROWS = [{"k": n, "v": f"value {n % 3}", "x": None if n % 4 == 0 else n / 2} for n in range(12)]
SCHEMA = columns(k=pa.int32(), v=pa.string(), x=pa.float64())


Ask = Callable[[Mapping[str, object]], Answer]


def show_profile(harness: Harness, table: Table | None = None) -> Page:
    """An explorer with the Profile view open and all rows read."""
    chosen = table or append_table(SCHEMA, ROWS[:5], ROWS[5:])
    page = open_profile(harness, chosen, lambda ask, message: ask(message))
    complete(page)
    return page


def open_profile(
    harness: Harness, table: Table, reply: Callable[[Ask, Mapping[str, object]], Answer]
) -> Page:
    """An explorer with the Profile view open."""
    state = ExplorerState(Inspector(table._view()))
    traits = {
        "selected": state.newest, "compare": 0, "node": "", "filter": "", "where": "",
        "tab": "profile", "asked": {}, "code": "", "spark_code": "", "height": 560,
    }  # fmt: skip
    given = f"traits={quote(json.dumps(traits))}"

    def ask(message: Mapping[str, object]) -> Answer:
        return answer(state, message)

    page = show_python(harness, "explorer", lambda message: reply(ask, message), given)
    page.set_default_timeout(20_000)
    return page


def open_pane(page: Page, pane: str) -> None:
    open_tab(page, pane)
    page.locator(f'.pes-pane[data-pane="{pane}"][data-shown]:not([data-busy])').wait_for()


def complete(page: Page) -> None:
    """Wait until all rows are read."""
    page.locator('[data-pane="profile"][data-complete="1"]').wait_for()


def condition(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Rows where")


def test_all_rows_of_a_small_table_are_profiled_when_the_view_opens(harness: Harness) -> None:
    page = show_profile(harness)
    expect(page.locator(".pes-title:visible")).to_have_text("snapshot 2: 12 rows, 3 columns")
    row = page.get_by_role("table", name="Columns").get_by_role("row", name="x DOUBLE")
    expect(row.get_by_role("cell").nth(1)).to_have_text("3")
    expect(row.get_by_role("cell").nth(2)).to_have_text("9")
    expect(page.get_by_role("listbox", name="Histogram of k").get_by_role("option")).to_have_count(
        12
    )
    harness.check()


def test_a_range_is_selected_by_keyboard_and_filters_the_rows(harness: Harness) -> None:
    page = show_profile(harness)
    histogram = page.get_by_role("listbox", name="Histogram of k")
    histogram.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    chosen = histogram.get_by_role("option", selected=True)
    expect(chosen).to_have_count(3)
    expect(chosen.first).to_have_accessible_name("2 to before 3: 1 rows")
    page.keyboard.press("Enter")
    expect(page.locator(".pes-title:visible")).to_contain_text("3 rows where k >= 2 AND k < 5")
    expect(condition(page)).to_have_value("k >= 2 AND k < 5")
    expect(page.get_by_role("listbox", name="Histogram of k")).to_be_focused()
    harness.check()


def test_a_range_is_selected_with_the_mouse(harness: Harness) -> None:
    page = show_profile(harness)
    histogram = page.get_by_role("listbox", name="Histogram of x")
    histogram.scroll_into_view_if_needed()
    box = histogram.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20, steps=4)
    page.mouse.up()
    expect(page.locator(".pes-title:visible")).to_contain_text("rows where x >= 3")
    expect(condition(page)).to_have_value(re.compile(r"AND x <= 5\.5e0$"))
    harness.check()


def test_values_and_nulls_filter_the_rows_of_the_scan_explanation_too(harness: Harness) -> None:
    page = show_profile(harness)
    page.get_by_role("button", name="value 1").click()
    expect(page.locator(".pes-title:visible")).to_contain_text("4 rows where v = 'value 1'")
    shown = re.compile(r"^\d+: Show only rows where x is null$")  # with the number that is seen
    page.get_by_role("button", name=shown).click()
    expect(page.locator(".pes-title:visible")).to_contain_text("v = 'value 1' AND x IS NULL")
    open_pane(page, "explain")
    expect(page.locator(".pes-title:visible")).to_contain_text(
        "for the condition v = 'value 1' AND x IS NULL"
    )
    open_pane(page, "profile")
    page.get_by_role("button", name="Clear the condition on rows").click()
    expect(page.locator(".pes-title:visible")).to_have_text("snapshot 2: 12 rows, 3 columns")
    expect(condition(page)).to_have_value("")
    harness.check()


def test_a_wrong_condition_is_told_in_place(harness: Harness) -> None:
    page = show_profile(harness)
    field = page.get_by_role("textbox", name="Rows where")
    field.fill("nope = 3")
    field.press("Enter")
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("nope")
    field.fill("k  between 3 and 4")
    field.press("Enter")
    expect(page.locator(".pes-title:visible")).to_contain_text("2 rows where k >= 3 AND k <= 4")
    harness.check()


def test_names_and_values_of_a_hostile_table_stay_inert(harness: Harness) -> None:
    schema = pa.schema({HOSTILE: pa.string()})
    table = append_table(schema, [{HOSTILE: HOSTILE}, {HOSTILE: HOSTILE}])
    page = show_profile(harness, table)
    page.locator(".pep-value").first.click()
    expect(page.locator(".pes-title:visible")).to_contain_text("2 rows where")
    assert page.locator(".pe-explorer").locator("img, script, iframe, object, a").count() == 0
    assert not {"\u202e", "\x1b", "\0"} & set(page.locator(".pe-explorer").inner_text())
    harness.check()


def test_reading_is_stopped_and_continued(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RowProfile.step, "__defaults__", (0.0,))  # one batch at a time
    table = append_table(columns(k=pa.int64()))
    table.append(pa.table({"k": pa.array(range(1_100_000))}))
    held: list[bool] = []
    progress: list[Answer] = []

    def reply(ask: Ask, message: Mapping[str, object]) -> Answer:
        if message["op"] != "profile_rows" or message["columns"] or not held:
            return ask(message)
        if len(progress) < 2:
            progress.append(ask(message))
        return progress[-1]  # reading goes on, but no further

    page = open_profile(harness, table, reply)
    title = page.locator(".pes-title:visible")
    expect(title).to_have_text("snapshot 1: 1,100,000 rows, 1 column")
    expect(page.get_by_role("status").filter(has_text="From statistics")).to_be_visible()
    held.append(True)
    page.get_by_role("button", name="Read all rows").click()
    expect(page.get_by_role("progressbar", name="Rows read")).to_have_attribute(
        "aria-valuenow", "48"
    )
    page.get_by_role("button", name="Stop").click()
    expect(title).to_have_text("snapshot 1: first 786,432 rows, 1 column")
    expect(page.get_by_role("progressbar", name="Rows read")).to_be_hidden()
    held.clear()
    page.get_by_role("button", name="Continue").click()
    complete(page)
    expect(title).to_have_text("snapshot 1: 1,100,000 rows, 1 column")
    harness.check()


def test_the_script_stays_small() -> None:
    assert len(bundle("profile")) - len(bundle("shared")) <= SCRIPT_BYTES
