"""The pages of an SQL result in a real browser, answered by Python without a kernel."""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

import paimon_explore as pe
from paimon_explore.inspection.rendering.row_pages import RowPages
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.result_widgets import ResultPages
from support.browser_page import Harness, show_python
from support.explored import HOSTILE

pytestmark = pytest.mark.browser
pytest.importorskip("duckdb")

SCRIPT_BYTES = 3_000


def show_result(harness: Harness, text: str, **parameters: object) -> Page:
    result = pe.sql(text, parameters=parameters or None)
    widget = ResultPages(RowPages(result.to_batches(), result.shown_rows), {})
    traits = quote(json.dumps({"page": widget.page}))
    return show_python(harness, "result_pages", widget.answer, f"traits={traits}")


def test_the_next_rows_come_by_a_button(harness: Harness) -> None:
    page = show_result(harness, "SELECT id, id * 2 AS twice FROM range(45)")
    status = page.get_by_role("status")
    expect(status).to_have_text("Rows 1 to 20 of more than 20")
    expect(page.get_by_role("row").nth(1)).to_have_text("00")
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    expect(status).to_have_text("Rows 21 to 40 of more than 40")
    page.get_by_role("button", name="Next").click()
    expect(status).to_have_text("Rows 41 to 45 of 45")
    expect(page.get_by_role("row")).to_have_count(6)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_role("row").nth(1)).to_have_text("2040")
    harness.check()


def test_values_stay_text(harness: Harness) -> None:
    page = show_result(
        harness, "SELECT :value AS v FROM range(21)", value=HOSTILE.replace("\0", "")
    )
    expect(page.get_by_role("cell").first).to_contain_text("<img")
    assert page.evaluate("window.__ran") is None
    assert page.locator("table :is(img, script)").count() == 0
    harness.check()


def test_the_script_is_small() -> None:
    assert len(bundle("result_pages")) - len(bundle("shared")) < SCRIPT_BYTES
