"""The explorer follows a table in a real browser, answered by Python without a kernel."""

import json
import re
from collections.abc import Mapping
from urllib.parse import quote

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from paimon_explore.errors import StorageError
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.widgets.explorer import Explorer, explore
from support.browser_page import Harness, expect_trait, show_python
from support.explored import History
from support.small_tables import columns, keyed_table

pytestmark = pytest.mark.browser

TRAITS = [name for name in Explorer.class_own_traits(sync=True) if name[0] != "_"]
STARTING = 40
"""Polls while the page starts; fewer than a runaway loop makes."""


class Asked:
    """Answers the requests of a page.

    Args:
        widget: the widget in Python.
    """

    def __init__(self, widget: Explorer) -> None:
        self.widget = widget
        self.polls = 0
        self.fails = False

    def __call__(self, message: Mapping[str, object]) -> Answer:
        if message["op"] == "poll":
            self.polls += 1
            if self.fails:
                raise StorageError("list", "/wh/db.db/t/snapshot", "refused")
        return self.widget.answer(message)


def show(harness: Harness, widget: Explorer) -> tuple[Page, Asked]:
    asked = Asked(widget)
    values = widget.trait_values()
    traits = quote(json.dumps({name: values[name] for name in TRAITS}))
    page = show_python(harness, "explorer", asked, f"traits={traits}")
    page.wait_for_selector('[data-complete="1"]')
    return page, asked


def later(page: Page, milliseconds: int) -> None:
    """Let the page's clock, which is installed, go on by so much; what it asks is answered."""
    page.clock.run_for(milliseconds)
    page.wait_for_timeout(200)


@pytest.fixture
def history() -> History:
    made = History()
    for number in (1, 2, 3):
        made.commit(("+", f"f{number}"))
    return made


def test_the_newest_snapshot_is_followed(harness: Harness, history: History) -> None:
    page, _ = show(harness, explore(history.view, Opening(tab="files"), live=0.5))
    expect(page.get_by_role("button", name="Live", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    history.commit(("+", "f4"), ("+", "f5"), ("-", "f1"))
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 4")
    expect(page.locator(".pe-live")).to_have_text(re.compile(r"^Snapshot 4 APPEND: \+2 .1 files$"))
    expect(page.locator(".pe-explorer")).to_have_attribute("data-count", "4")
    expect(page.locator(".pe-new:visible")).to_have_count(2)
    expect(page.get_by_role("slider", name="Snapshot")).to_have_attribute("aria-valuemax", "4")
    history.commit(("+", "f6"))
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 5")
    expect(page.locator(".pe-totals strong")).to_have_text("5 files")
    harness.check()


def test_the_properties_of_a_table_that_changes_are_followed(harness: Harness) -> None:
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}], primary_key=["k"])
    page, _ = show(harness, table.explore(live=0.5))
    chips = page.locator(".pe-header .pe-chip")
    expect(chips).to_have_text(["primary key k", "1 bucket"])
    page.get_by_role("combobox").first.focus()
    table.set_options({"changelog-producer": "input"})
    table.upsert([{"k": 2}])
    expect(chips).to_have_text(["primary key k", "1 bucket", "changelog producer input"])
    expect(page.get_by_role("combobox").first).to_be_focused()
    harness.check()


def test_an_older_snapshot_stays_and_the_new_ones_are_counted(
    harness: Harness, history: History
) -> None:
    widget = explore(history.view, Opening(tab="files", snapshot=2), live=0.5)
    page, _ = show(harness, widget)
    for name in ("f4", "f5"):
        history.commit(("+", name))
        expect(page.locator(".pe-explorer")).to_have_attribute("data-count", name[1])
    expect(page.locator(".pe-live")).to_contain_text("2 new snapshots")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 2")
    page.get_by_role("button", name="Show latest").click()
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 5")
    expect(page.locator(".pe-live")).to_be_empty()
    harness.check()


def test_a_snapshot_that_is_rolled_back_gives_way_to_the_nearest(
    harness: Harness, history: History
) -> None:
    page, _ = show(harness, explore(history.view, Opening(tab="files", snapshot=2), live=0.5))
    for number in (3, 2):
        history.store.snapshots.delete(number)
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 1")
    expect(page.locator(".pe-explorer")).to_have_attribute("data-count", "1")
    harness.check()


def test_an_expired_selection_is_told(harness: Harness, history: History) -> None:
    page, _ = show(harness, explore(history.view, Opening(tab="files", snapshot=1), live=0.5))
    history.store.snapshots.delete(1)
    history.commit(("+", "f4"))
    expect(page.locator(".pe-live")).to_contain_text("no longer exists; snapshot 2 is shown")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 2")
    harness.check()


def test_it_is_off_at_first_and_can_be_switched(harness: Harness, history: History) -> None:
    page, asked = show(harness, explore(history.view, Opening(tab="files")))
    switch = page.get_by_role("button", name="Live", exact=True)
    expect(switch).to_have_attribute("aria-pressed", "false")
    page.clock.install()
    later(page, 5000)
    assert asked.polls == 0
    switch.click()
    expect_trait(page, "live", 2)
    later(page, 1000)
    assert asked.polls == 1
    switch.click()
    later(page, 5000)
    assert asked.polls == 1
    harness.check()


def test_a_snapshot_that_only_python_knows_is_read(harness: Harness, history: History) -> None:
    widget = explore(history.view, Opening(tab="files"))
    page, _ = show(harness, widget)
    history.commit(("+", "f4"))
    widget.poll()
    page.evaluate("window.model.receive('selected', 4)")
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 4")
    harness.check()


def test_errors_are_told_and_polls_become_rare(harness: Harness, history: History) -> None:
    page, asked = show(harness, explore(history.view, Opening(tab="files"), live=0.5))
    page.clock.install()
    asked.fails = True
    later(page, 500)
    expect(page.locator(".pe-live")).to_contain_text("Reading failed, next try in 1 s.")
    expect(page.locator(".pe-live")).to_contain_text("refused")
    later(page, 1000)
    expect(page.locator(".pe-live")).to_contain_text("next try in 2 s")
    asked.fails = False
    history.commit(("+", "f4"))
    later(page, 2000)
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 4")
    harness.check()


def test_nothing_is_asked_once_the_widget_is_hidden_or_removed(
    harness: Harness, history: History
) -> None:
    page, asked = show(harness, explore(history.view, Opening(tab="files"), live=0.5))
    page.clock.install()
    later(page, 800)
    assert 1 <= asked.polls < STARTING
    for hide in ("place.hidden = true", "place.remove()"):
        page.evaluate(f"() => {{ const place = document.querySelector('#place'); {hide}; }}")
        page.wait_for_timeout(400)
        before = asked.polls
        later(page, 5000)
        assert asked.polls == before
        if "hidden" in hide:
            page.evaluate("() => { document.querySelector('#place').hidden = false; }")
            later(page, 800)
            assert asked.polls > before
    harness.check()


def test_an_empty_table_gets_its_first_snapshot(harness: Harness) -> None:
    history = History()
    asked = Asked(explore(history.view, Opening(tab="files"), live=0.5))
    values = asked.widget.trait_values()
    traits = quote(json.dumps({name: values[name] for name in TRAITS}))
    page = show_python(harness, "explorer", asked, f"traits={traits}")
    expect(page.get_by_role("tabpanel", name="Files")).to_contain_text("no snapshot yet")
    history.commit(("+", "f1"))
    expect(page.locator(".pe-summary strong")).to_have_text("snapshot 1")
    expect(page.locator(".pe-totals strong")).to_have_text("1 file")
    harness.check()
