"""The explorer for people who see, move or point differently: every tab, by keyboard, at 200 %."""

import base64
from collections.abc import Iterator, Sequence
from itertools import chain

import pytest
from playwright.sync_api import Page, expect

from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import (
    Harness,
    expect_trait,
    open_tab,
    show,
    show_python,
    traits_query,
    view_settled,
)
from support.depth import some
from support.explored import golden_view
from support.golden import GoldenTables

pytestmark = pytest.mark.browser

ACTIVE = """() => {
    const found = document.activeElement;
    const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(found);
    const box = found.getBoundingClientRect();
    return {
        html: found.outerHTML.slice(0, 120),
        inside: found.closest('.pe-explorer') !== null,
        name: found.getAttribute('aria-label') ?? found.textContent.slice(0, 40) ?? '',
        marked: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
        visible: box.width > 0 && box.height > 0,
        place: found.closest('.pe-panel[role=tabpanel]') ? 'view' : 'frame',
    };
}"""
MOST_STOPS = 120


def explored(harness: Harness, golden: GoldenTables, query: str = "") -> Page:
    """The explorer of a table with deletion vectors, partitions and several levels."""
    state = ExplorerState(Inspector(golden_view(golden.table("java200", "dv_pk").folder)))
    traits = traits_query(selected=state.newest, tab="overview", code="t.inspect.overview()")
    given = f"{traits}&{query}"
    page = show_python(harness, "explorer", lambda message: answer(state, message), given)
    page.set_default_timeout(30_000)
    view_settled(page)
    return page


def opened(page: Page, stride: int, turn: int = 0) -> Iterator[str]:
    """The ids of tabs, each open and with its answer; all of them in a deep run."""
    for tab in some(TABS, stride, turn):
        open_tab(page, tab)
        expect_trait(page, "tab", tab)
        view_settled(page)
        yield tab


def test_tab_reaches_everything_and_the_focus_is_always_seen(
    harness: Harness, golden: GoldenTables
) -> None:
    page = explored(harness, golden)
    unseen: list[object] = []
    for tab in opened(page, 3, 2):
        page.get_by_role("tab", selected=True).first.focus()
        stops = []
        for _ in range(MOST_STOPS):
            page.keyboard.press("Tab")
            stop = page.evaluate(ACTIVE)
            if not stop["inside"]:
                break
            stops.append(stop)
            if not (stop["marked"] and stop["visible"]):
                unseen.append((tab, stop["name"], stop["marked"], stop["visible"], stop["html"]))
        else:
            pytest.fail(f"The tab {tab} holds the focus: {stops[-3:]}")
        assert [stop for stop in stops if stop["place"] == "view"], tab
    assert unseen == [], "\n".join(map(str, unseen))
    harness.check()


def test_the_help_is_a_dialog_that_escape_closes(harness: Harness, golden: GoldenTables) -> None:
    page = explored(harness, golden)
    opener = page.get_by_role("button", name="Keyboard shortcuts and symbols")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".pe-terms")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".pe-terms")).not_to_be_visible()
    expect(opener).to_be_focused()
    harness.check()


def test_at_twice_the_size_every_view_fits_the_width(
    harness: Harness, golden: GoldenTables
) -> None:
    harness.page.set_viewport_size({"width": 640, "height": 400})
    page = explored(harness, golden, "width=600")
    wide: list[object] = []
    for tab in opened(page, 2):
        overflow = page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        box = page.locator(".pe-panel[role=tabpanel]").bounding_box()
        assert box is not None
        if overflow > 1 or box["width"] < 300 or box["height"] < 100:
            wide.append((tab, overflow, box))
    assert wide == []
    harness.check()


MOVING = """() => document.getAnimations().filter(({playState, effect}) =>
    playState === 'running' && effect.getComputedTiming().duration > 0).length"""


def test_nothing_moves_where_less_motion_is_preferred(
    harness: Harness, golden: GoldenTables
) -> None:
    harness.page.emulate_media(reduced_motion="reduce")
    page = explored(harness, golden)
    moving: list[object] = []
    for tab in chain(opened(page, 3, 1), ["replay"]):
        if tab == "replay":
            open_tab(page, "replay")
            page.wait_for_selector("[data-pane='replay'] table")
        count = page.evaluate(MOVING)
        if count:
            moving.append((tab, count))
    assert moving == []
    harness.check()


DEFICIENCIES = ("none", "deuteranopia", "protanopia", "tritanopia", "achromatopsia")
MARKS = ("append", "compact", "overwrite", "analyze", "add", "remove", "tag", "branch", "consumer")
SWATCHES = """(names) => {
    const place = document.createElement('div');
    place.style.cssText = 'position:fixed;left:0;top:0;z-index:9999;display:flex';
    for (const name of names) {
        const swatch = document.createElement('i');
        swatch.style.cssText = `width:20px;height:20px;background:var(--pe-${name})`;
        place.append(swatch);
    }
    document.querySelector('.pe-explorer').append(place);
}"""
PIXELS = """async ([picture, count]) => {
    const image = await createImageBitmap(await (await fetch(picture)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    return Array.from({length: count}, (_, i) =>
        [...canvas.getImageData(i * 20 + 10, 10, 1, 1).data].slice(0, 3));
}"""
LEAST_CONTRAST = 3.0
"""Of graphical objects, WCAG 2.2 criterion 1.4.11."""


def luminance(colour: Sequence[int]) -> float:
    parts = [part / 255 for part in colour]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_are_seen_with_every_colour_vision_and_told_apart_by_letter_or_text(
    harness: Harness, theme: str
) -> None:
    page = show(harness, f"snapshots=30&files=300&theme={theme}")
    legend = page.locator(".pe-legend").inner_text()
    for letter, kind in (("A", "append"), ("C", "compact"), ("O", "overwrite"), ("Z", "analyze")):
        assert f"{letter}{kind}" in legend.replace(" ", "").replace("\n", "")
    page.evaluate(SWATCHES, ["bg", *MARKS])
    session = page.context.new_cdp_session(page)
    faint: list[object] = []
    for deficiency in DEFICIENCIES:
        session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
        data = page.screenshot(clip={"x": 0, "y": 0, "width": 300, "height": 20})
        picture = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
        ground, *colours = page.evaluate(PIXELS, [picture, len(MARKS) + 1])
        for mark, colour in zip(MARKS, colours, strict=True):
            if contrast(colour, ground) < LEAST_CONTRAST:
                faint.append((deficiency, mark, colour, round(contrast(colour, ground), 2)))
    assert faint == []
    harness.check()
