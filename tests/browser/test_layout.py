"""The explorer at several widths: no text is cut off, unless it can be scrolled to."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, open_tab, settled, show_python, traits_query
from support.depth import some
from support.explored import golden_view
from support.golden import GoldenTables

pytestmark = pytest.mark.browser

# Texts of which an ancestor without a scroll bar shows only a part. Rows of a fixed height (of
# files, rows, manifests and fields) may shorten texts with an ellipsis: their tooltips are whole.
CUT = """() => {
  const shortened = (element) =>
    element.closest(".pe-grid-row, .pe-tree-row, .peb-field") !== null;
  const scrolls = (style, axis) =>
    /auto|scroll/.test(style[`overflow${axis}`]) && style.scrollbarWidth !== "none";
  const hides = (style, axis) => style[`overflow${axis}`] !== "visible";
  const found = new Set();
  const root = document.querySelector(".pe-explorer");
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const parent = text.parentElement;
    if (!text.data.trim() || shortened(parent)) continue;
    if (parent.closest("style, .pe-hidden, option")) continue;
    if (!parent.checkVisibility({visibilityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const {left, right, top, bottom, width} of range.getClientRects()) {
      if (!width) continue;
      let [x, y] = [true, true];
      for (let at = parent; at && (x || y); at = at.parentElement) {
        const style = getComputedStyle(at);
        const box = at.getBoundingClientRect();
        if (x && scrolls(style, "X")) x = false;
        if (y && scrolls(style, "Y")) y = false;
        const wide = x && hides(style, "X") && (left < box.left - 1 || right > box.right + 1);
        const tall = y && hides(style, "Y") && (top < box.top - 2 || bottom > box.bottom + 2);
        if (wide || tall) {
          found.add(`${wide ? "x" : "y"} ${at.className || at.tagName}: ${text.data.slice(0, 60)}`);
          break;
        }
        if (at === root) break;
      }
    }
  }
  return [...found];
}"""


def show_at(harness: Harness, view: TableView, width: int) -> Page:
    """The explorer of a table, so many pixels wide."""
    harness.page.set_viewport_size({"width": width + 32, "height": 800})
    state = ExplorerState(Inspector(view))
    given = f"{traits_query(selected=state.newest, tab='overview', code='t.inspect.overview()')}"
    page = show_python(
        harness, "explorer", lambda message: answer(state, message), f"{given}&width={width}"
    )
    page.wait_for_selector('[data-complete="1"]')
    return page


def cut_texts(page: Page, tabs: Sequence[str] = TABS) -> dict[str, object]:
    """What is cut off in each tab."""
    found: dict[str, object] = {}
    for tab in tabs:
        open_tab(page, tab)
        page.wait_for_function(
            "() => !document.querySelector('.pe-panel[role=tabpanel] [data-busy]')"
            " && document.querySelector('.pe-panel[role=tabpanel]').innerText.length > 20"
        )
        settled(page)
        texts = page.evaluate(CUT)
        if texts:
            found[tab] = texts
    return found


@pytest.mark.parametrize(("width", "tabs"), [(900, TABS), (1300, some(TABS, 2))])
def test_no_text_of_a_keyed_table_is_cut_off(
    harness: Harness, golden: GoldenTables, width: int, tabs: Sequence[str]
) -> None:
    page = show_at(harness, golden_view(golden.table("java200", "dv_pk").folder), width)
    assert cut_texts(page, tabs) == {}
    for key, shown in {",": ".pe-settings", "?": ".pe-help", "Control+k": ".pe-found"}.items():
        page.locator(".pe-timeline-canvas").press(key)
        expect(page.locator(shown)).to_be_visible()
        assert page.evaluate(CUT) == [], key
    harness.check()


def test_no_text_of_a_table_with_long_names_is_cut_off(harness: Harness, tmp_path: Path) -> None:
    names = [f"a_rather_long_name_of_the_column_{number}" for number in range(12)]
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("demo")
    table = catalog.create_table(
        "demo.a_table_with_quite_a_long_name_of_its_own",
        dict.fromkeys(names, "STRING NOT NULL"),
        primary_key=names[:6],
        partition_by=names[:2],
        options={"bucket": "2"},
    )
    table.append([{name: f"value of {name}" for name in names}])
    table.create_tag("a tag with a name that needs more room than others")
    assert cut_texts(show_at(harness, table._view(), 900)) == {}
    harness.check()
