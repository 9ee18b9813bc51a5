"""Tables and pictures of the explorer are copied and saved by one menu."""

import csv
import io
import struct

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, open_tab, show_python, traits_query, view_settled
from support.explored import golden_view
from support.golden import GoldenTables
from support.small_tables import columns, keyed_table

pytestmark = pytest.mark.browser

SHOWN = """() => [...document.querySelector(".pe-panel[role=tabpanel]")
    .querySelectorAll("table, [role=grid], svg")]
    .filter((element) => element.checkVisibility()).length"""


def shown(harness: Harness, view: TableView, tab: str = "overview") -> Page:
    state = ExplorerState(Inspector(view))
    given = traits_query(selected=state.newest, tab=tab, code="t.inspect.overview()")
    page = show_python(harness, "explorer", lambda message: answer(state, message), given)
    page.set_default_timeout(15_000)
    page.wait_for_selector('[data-complete="1"]')
    view_settled(page)
    return page


def menu(page: Page) -> Locator:
    """The menu, opened by its key."""
    page.locator(".pe-timeline-canvas").press("s")
    return page.get_by_role("group", name="Copy or save tables and pictures")


def saved(page: Page, name: str) -> bytes:
    """What a button of the menu saves."""
    with page.expect_download() as download:
        menu(page).get_by_role("button", name=name).first.click()
    return download.value.path().read_bytes()


def saved_rows(page: Page, name: str) -> list[list[str]]:
    text = saved(page, f"Save the table {name} as CSV").decode()
    return list(csv.reader(io.StringIO(text)))


def test_every_table_and_picture_of_every_tab_is_in_the_menu(
    harness: Harness, golden: GoldenTables
) -> None:
    page = shown(harness, golden_view(golden.table("java200", "dv_pk").folder))
    for tab in TABS:
        open_tab(page, tab)
        view_settled(page)
        lines = menu(page).locator(".pe-export-line")
        assert lines.count() >= page.evaluate(SHOWN) + 1, tab  # and the timeline
        for line in lines.all():
            assert line.locator("span").inner_text() != "", tab
        page.keyboard.press("Escape")
    harness.check()


def test_tables_are_saved_whole(harness: Harness) -> None:
    fields = columns(k=pa.int32(), text=pa.string())
    rows = [{"k": number, "text": f'a "b", {number}'} for number in range(450)]
    rows += [{"k": 450, "text": "x" * 1000}, {"k": 451, "text": None}]
    table = keyed_table(fields, rows, primary_key=["k"])
    page = shown(harness, table._view(), "rows")
    found = saved_rows(page, "Rows")
    assert found[0] == ["k", "text"]
    assert found[1:451] == [[str(row["k"]), row["text"]] for row in rows[:450]]
    assert found[451:] == [["450", "x" * 1000], ["451", ""]]

    open_tab(page, "files")
    view_settled(page)
    (file,) = table.files().to_arrow().to_pylist()
    heads, line = saved_rows(page, "Data files")
    values = dict(zip(heads, line, strict=True))
    assert values["file"] == file["file_name"]
    assert (values["rows"], values["size"]) == ("452", str(file["file_size"]))

    open_tab(page, "explain")
    view_settled(page)
    name = file["file_name"]
    assert any(name in line for line in saved_rows(page, "Files to read"))
    harness.check()


def test_tables_are_copied_with_tabs(harness: Harness) -> None:
    harness.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}], primary_key=["k"])
    page = shown(harness, table._view(), "partitions")
    copy = menu(page).get_by_role("button", name="Copy the table Partitions")
    copy.click()
    expect(copy).to_have_text("copied")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].split("\t")[:2] == ["partition", "files"]
    assert lines[1].split("\t")[:2] == ["unpartitioned", "1"]
    harness.check()


def test_pictures_are_saved_as_png_and_svg(harness: Harness, golden: GoldenTables) -> None:
    page = shown(harness, golden_view(golden.table("java200", "dv_pk").folder), "lsm")
    svg = saved(page, "as SVG").decode()
    assert svg.startswith("<svg")
    assert "var(" not in svg
    assert 'fill="rgba(' in svg
    for name in ("Save the picture Timeline as PNG", "as PNG"):
        png = saved(page, name)
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", png[16:24])
        assert width > 200
        assert height > 40
    harness.check()
