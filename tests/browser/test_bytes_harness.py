"""The byte inspector in a real browser, on real files, answered by Python without a kernel."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import paimon_explore as pe
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_requests import byte_answer
from support.axe import serious_findings
from support.browser_page import Harness, settled, show_python
from support.depth import some
from support.explored import HOSTILE

pytestmark = pytest.mark.browser

SCRIPT_BYTES = 42_000


def answers(found: ByteLayout) -> Callable[[Mapping[str, object]], Answer]:
    desk = ByteSession()

    def answer(message: Mapping[str, object]) -> Answer:
        if message["op"] == "bytes":
            return Answer(body=desk.put(found))
        return byte_answer(desk, message)

    return answer


@pytest.fixture(scope="module")
def orders() -> pe.Table:
    return pe.demo().table("demo.orders")


def show_bytes(harness: Harness, found: ByteLayout, query: str = "") -> Page:
    page = show_python(harness, "bytes", answers(found), query)
    page.wait_for_selector("[data-file]")
    return page


def test_a_manifest_opens_at_its_records(harness: Harness, orders: pe.Table) -> None:
    page = show_bytes(harness, orders.inspect.bytes("delta/0"))
    tree = page.get_by_role("tree", name="Fields")
    expect(tree.get_by_role("treeitem", name="_FILE 20 fields")).to_be_visible()
    tree.get_by_role("treeitem", name="_KIND").click()
    expect(page.locator(".peb-space")).to_have_text("block 0 decompressed")
    expect(page.locator(".peb-byte.peb-in")).to_have_text("00")
    expect(page.locator(".peb-where")).to_contain_text("byte 1 of 1 in _KIND")
    expect(page.get_by_role("region", name="Field")).to_contain_text("is added (ADD)")
    page.get_by_role("button", name="file").click()
    expect(page.locator(".peb-space")).to_have_text("file")
    harness.check()


def test_a_byte_finds_its_field(harness: Harness, orders: pe.Table) -> None:
    page = show_bytes(harness, orders.inspect.bytes("delta/0"))
    page.locator("[data-byte='2'].peb-byte").click()
    expect(page.locator(".peb")).to_have_attribute("data-path", "0.0")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("magic")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("count")
    page.keyboard.press("End")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("sync")
    harness.check()


def test_fields_are_walked_by_keyboard(harness: Harness, orders: pe.Table) -> None:
    page = show_bytes(harness, orders.inspect.bytes())
    page.get_by_role("tree", name="Fields").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        settled(page)
    expect(page.locator(".peb")).not_to_have_attribute("data-path", "0")
    page.keyboard.press("Home")
    harness.check()


def test_hostile_bytes_stay_text(harness: Harness, tmp_path: Path) -> None:
    file = tmp_path / "tag-x"
    file.write_bytes(b'{"' + HOSTILE.encode() * 3 + b'": "' + HOSTILE.encode() * 3 + b'"}')
    page = show_bytes(harness, pe.inspect.bytes(file))
    settled(page)
    for item in page.get_by_role("treeitem").all():
        item.click()
    assert page.evaluate("window.__ran") is None
    assert page.locator("img, svg, script:not([src]), iframe").count() == 0
    text = page.locator(".peb").inner_text()
    assert "\u202e" not in text
    assert "\x1b" not in text
    harness.check()


def test_a_large_file_is_scrolled_by_windows(harness: Harness, tmp_path: Path) -> None:
    file = tmp_path / "index-00000000-0000-0000-0000-000000000000-0"
    file.write_bytes(bytes(range(2, 250)) * 40_000)
    page = show_bytes(harness, pe.inspect.bytes(file))
    page.locator(".peb-hex").focus()
    page.keyboard.press("End")
    expect(page.locator(".peb-where")).to_contain_text("byte 9,919,999")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("[2479999]")
    assert page.locator(".peb-row").count() < 60
    assert page.locator(".peb-field").count() < 60
    harness.check()


@pytest.mark.parametrize("width", some([1100, 600, 420], 2))
def test_axe_finds_nothing_serious(harness: Harness, orders: pe.Table, width: int) -> None:
    page = show_bytes(harness, orders.inspect.bytes("delta/0"), f"width={width}")
    page.locator("[data-byte='5'].peb-byte").click()
    settled(page)
    assert serious_findings(page, ".peb-root") == []


def test_taking_it_down_leaves_nothing_behind(harness: Harness, orders: pe.Table) -> None:
    page = show_bytes(harness, orders.inspect.bytes())
    page.evaluate("window.close_()")
    assert page.evaluate("window.model.listenerCount()") == 0
    harness.check()


def test_the_shipped_script_stays_small() -> None:
    assert len(bundle("bytes")) <= SCRIPT_BYTES
