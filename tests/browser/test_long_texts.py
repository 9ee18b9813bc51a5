"""Long texts in the explorer: what does not fit is cut, stays distinct, and has a tooltip."""

import pytest
from playwright.sync_api import Page, expect

from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, open_tab, show_python, traits_query
from support.explored import History

pytestmark = pytest.mark.browser

COMMON = "europe-west-1.the-same-long-begin." * 2
PARTITIONS = [f"{COMMON}{number}" for number in range(4)] + ["\U0001f469\U0001f680" * 90]
LONG = "c" * 2000

OUTSIDE = """() => [...document.querySelectorAll(".pes-chart svg text")].flatMap((text) => {
  const [own, whole] = [text, text.closest("svg")].map((one) => one.getBoundingClientRect());
  return own.left < whole.left - 1 || own.right > whole.right + 1 ? [text.textContent] : [];
})"""
WIDER = """() => [...document.querySelectorAll(".pe-explorer, .pes-body, .pe-detail, .pe-totals")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className)"""


def show(harness: Harness, tab: str, width: int = 868) -> Page:
    """A table with long names, in an explorer on a narrow page."""
    history = History({LONG: "INT", "p": "STRING"}, ["p"])
    history.commit(*(("+", f"f{at}@{name}") for at, name in enumerate(PARTITIONS)))
    history.commit(*(("+", f"g{at}@{name}", 5) for at, name in enumerate(PARTITIONS)))
    state = ExplorerState(Inspector(history.view))
    traits = traits_query(selected=state.newest, tab=tab, height=700)
    query = f"{traits}&width={width}"
    return show_python(harness, "explorer", lambda message: answer(state, message), query)


def test_labels_of_charts_stay_inside_and_can_be_told_apart(harness: Harness) -> None:
    for tab in ("heat", "diff"):
        page = show(harness, tab) if tab == "heat" else harness.page
        open_tab(page, tab)
        page.locator(f'.pes-pane[data-pane="{tab}"][data-shown]:not([data-busy])').wait_for()
        labels = page.locator(".pes-chart:visible .pes-label")
        expect(labels).to_have_count(len(PARTITIONS))
        shown = page.evaluate(
            "() => [...document.querySelectorAll('.pes-label')].map((one) => one.firstChild.data)"
        )
        assert len(set(shown)) == len(PARTITIONS)
        assert [text[-2:] for text in shown[:4]] == [".0", ".1", ".2", ".3"]
        assert all("…" in text for text in shown)
        assert page.evaluate("(texts) => texts.every((text) => text.isWellFormed())", shown)
        assert labels.first.locator("title").text_content() == f"p={PARTITIONS[0]}"
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(WIDER) == []
    harness.check()


def test_a_text_that_is_cut_by_an_ellipsis_is_told_whole_below_the_pointer(
    harness: Harness,
) -> None:
    page = show(harness, "files")
    page.wait_for_selector('[data-complete="1"]')
    cell = page.locator(".pe-grid-row:visible .pe-cell").first
    cell.hover()
    expect(cell).to_have_attribute("title", f"p={PARTITIONS[0]}")
    bucket = page.locator(".pe-grid-row:visible .pe-cell").nth(1)
    bucket.hover()
    expect(bucket).not_to_have_attribute("title", "0")
    field = page.locator(".pe-filter")
    field.hover()
    expect(field).to_have_attribute("title", str(field.get_attribute("placeholder")))
    harness.check()


def test_the_totals_of_many_levels_wrap(harness: Harness) -> None:
    page = show(harness, "files", width=620)
    page.wait_for_selector('[data-complete="1"]')
    expect(page.locator(".pe-totals .pe-chip")).to_have_count(2)
    assert page.evaluate(WIDER) == []
    harness.check()
