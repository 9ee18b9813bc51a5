"""A saved explorer in a browser that has no network."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from paimon_explore.inspection.explorer.explorer_tabs import TABS, Opening
from paimon_explore.widgets.explorer import explore
from support.browser_page import Harness, open_tab
from support.explored import golden_view, hostile_history
from support.golden import GoldenTables

pytestmark = pytest.mark.browser


def test_a_saved_explorer_is_moved_through_without_a_network(
    harness: Harness, golden: GoldenTables, tmp_path: Path
) -> None:
    view = golden_view(golden.table("java200", "dv_pk").folder)
    explore(view, Opening(tab="files"), height=300).save_html(tmp_path / "dv_pk.html")
    page = harness.page
    page.context.set_offline(True)
    page.goto((tmp_path / "dv_pk.html").as_uri())
    page.wait_for_selector('[data-complete="1"]')
    expect(page.locator(".pe-totals strong")).to_have_text("10 files")
    expect(page.locator(".pe-grid-row:visible").first).to_contain_text("899")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 11")
    expect(page.locator(".pe-totals strong")).to_have_text("15 files")
    expect(page.locator(".pe-detail-title")).to_have_text("snapshot 11")
    open_tab(page, "lsm")
    expect(page.locator(".pes-title:visible")).to_contain_text("snapshot 11")
    expect(page.locator(".pe-code")).to_contain_text("t.at(snapshot=11).inspect.lsm(")
    page.keyboard.press("End")
    box = page.locator(".pe-frame").bounding_box()
    assert box is not None
    assert (box["y"], box["height"]) == (0, 640)  # all of the window
    outside = [address for address in harness.outside if not address.startswith("file:")]
    assert (harness.errors, outside) == ([], [])


def test_a_saved_page_offers_only_what_it_can_answer(
    harness: Harness, golden: GoldenTables, tmp_path: Path
) -> None:
    explore(golden_view(golden.table("java200", "dv_pk").folder)).save_html(tmp_path / "t.html")
    page = harness.page
    page.goto((tmp_path / "t.html").as_uri())
    page.wait_for_selector('[data-complete="1"]')
    expect(page.locator(".pes-sentences").first).to_contain_text("dv_pk is a primary-key table")
    expect(page.get_by_role("tab", name="Bytes")).to_have_count(0)
    page.get_by_role("button", name="What will expiry remove?").click()
    field = page.locator(".pes-input:visible")
    expect(field).to_be_disabled()
    expect(field).to_have_attribute("placeholder", re.compile("Not available in a saved page"))
    open_tab(page, "files")
    expect(page.locator(".pe-filter")).to_be_disabled()
    page.get_by_role("combobox", name="Find").fill("3")
    page.get_by_role("combobox", name="Find").press("Enter")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 3")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert harness.errors == []


def test_a_saved_hostile_table_stays_inert(harness: Harness, tmp_path: Path) -> None:
    explore(hostile_history().view).save_html(tmp_path / "t.html")
    page = harness.page
    page.goto((tmp_path / "t.html").as_uri())
    page.wait_for_selector('[data-complete="1"]')
    for tab in TABS:
        if tab not in {"bytes", "sql"}:
            open_tab(page, tab)
        page.wait_for_timeout(150)
    assert page.locator(".pe-explorer img, .pe-explorer iframe").count() == 0
    assert harness.errors == []


def test_without_scripts_a_saved_page_is_a_picture(
    harness: Harness, golden: GoldenTables, tmp_path: Path
) -> None:
    explorer = explore(golden_view(golden.table("java200", "dv_pk").folder))
    explorer.save_html(tmp_path / "dv_pk.html")
    browser = harness.page.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "dv_pk.html").as_uri())
    assert "gold.dv_pk" in page.locator("h3").inner_text()
    assert page.locator("img").count() >= 1
    context.close()
