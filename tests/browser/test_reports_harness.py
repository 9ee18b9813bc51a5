"""The explorer's sheets in a real browser, answered by Python without a kernel."""

import re

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS, TABS
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.widget_requests import answer
from support.axe import serious_findings
from support.browser_page import (
    Harness,
    chosen_tab,
    expect_trait,
    group_tab,
    open_tab,
    settled,
    show_python,
    traits_query,
)
from support.depth import some
from support.explored import HOSTILE, History, golden_view, hostile_history
from support.golden import GoldenTables
from support.small_tables import columns, keyed_table

pytestmark = pytest.mark.browser

SCRIPT_BYTES = 60_000
READY = {
    "files": ".pe-grid-row:visible",
    "rows": ".per-grid .pe-grid-row:visible",
    "partitions": ".pe-table tbody tr:visible",
    "bytes": "[data-file]:visible",
}
"""What shows that a tab without a report has its answer."""


def show_explorer(
    harness: Harness, view: TableView, query: str = "", *, max_files: int = 1_000_000
) -> Page:
    state = ExplorerState(Inspector(view), max_files)
    given = f"{traits_query(selected=state.newest, tab='files', height=560)}&{query}"
    page = show_python(harness, "explorer", lambda message: answer(state, message), given)
    page.set_default_timeout(20_000)
    page.wait_for_selector('[data-complete="1"]')
    return page


def open_pane(page: Page, pane: str, asked: str | None = None) -> None:
    open_tab(page, pane)
    if pane in READY:
        page.locator(READY[pane]).first.wait_for()
        return
    shown = page.locator(f'.pes-pane[data-pane="{pane}"][data-shown]:not([data-busy])')
    shown.wait_for()
    if asked is not None:
        page.locator(".pes-input:visible").fill(asked)
        page.locator(".pes-input:visible").press("Enter")
        page.wait_for_function(
            "([pane, text]) => { const e = document.querySelector(`.pes-pane[data-pane=${pane}]`);"
            " return e.dataset.shown?.includes(JSON.stringify(text)) && !e.dataset.busy }",
            arg=[pane, asked],
        )


def test_a_section_shows_runs_and_leads_to_files(harness: Harness, golden: GoldenTables) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_pane(page, "lsm", "dt=p1, bucket 0")
    expect(page.locator(".pes-title:visible")).to_contain_text("dt=p1, bucket 0")
    boxes = page.locator(".pes-box")
    expect(boxes).to_have_count(3)
    boxes.last.click()
    expect(page.locator(".pe-detail-title")).to_contain_text("data-65539854")
    page.get_by_role("button", name="dt=p0, bucket 0", exact=True).click()
    expect(page.locator(".pes-input:visible")).to_have_value("dt=p0, bucket 0")
    expect(page.locator(".pes-box")).to_have_count(2)
    harness.check()


def test_a_scan_is_explained_by_keyboard_alone(harness: Harness, golden: GoldenTables) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    group_tab(page, "Data").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(chosen_tab(page)).to_have_text("Explain scan")
    page.locator(".pes-input:visible").wait_for()  # its script is loaded when it first opens
    page.keyboard.press("Tab")
    expect(chosen_tab(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".pes-input:visible")).to_be_focused()
    page.keyboard.type("k > 900 limit 3")
    page.keyboard.press("Enter")
    stages = page.get_by_role("table", name="Pruning stages")
    expect(stages.get_by_role("row", name="key statistics")).to_contain_text("files")
    skipped = page.get_by_role("table", name="Pruned files")
    expect(skipped).to_contain_text("k > 900 is impossible with minimum 0, maximum 897")
    harness.check()


def test_a_wrong_condition_is_told_in_place(harness: Harness, golden: GoldenTables) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_pane(page, "explain", "k >")
    expect(page.locator(".pes-problem:visible")).to_contain_text("The condition cannot be parsed")
    open_pane(page, "key", "k = 287")
    expect(page.locator(".pes-box").first).to_be_visible()
    harness.check()


def test_sheets_follow_the_cursor_and_the_mark(harness: Harness, golden: GoldenTables) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_pane(page, "diff")
    expect(page.locator(".pes-title:visible")).to_contain_text("snapshot 11 → snapshot 12")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("m")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pes-title:visible")).to_contain_text("snapshot 12 → snapshot 10")
    harness.check()


def test_a_finding_leads_to_its_evidence(harness: Harness) -> None:
    commits = [[{"k": number}] for number in range(7)]
    table = keyed_table(columns(k=pa.int32()), *commits, primary_key=["k"])
    page = show_explorer(harness, table._view())
    open_pane(page, "health")
    page.get_by_role("button", name="bucket 0 has 7 sorted runs").click()
    expect(chosen_tab(page)).to_have_text("LSM tree")
    expect(page.locator(".pes-box:visible")).to_have_count(7)
    harness.check()


def test_too_many_files_are_shown_in_groups_until_a_filter_leaves_few(harness: Harness) -> None:
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    history.commit(*(("+", f"f{i}@x") for i in range(6)), *(("+", f"g{i}@y") for i in range(2)))
    page = show_explorer(harness, history.view, max_files=5)
    totals = page.locator(".pe-totals")
    expect(totals).to_contain_text("8 files")
    expect(totals).to_contain_text("in 2 groups; filter to list single files")
    expect(page.locator(".pe-grid-row:visible").first).to_contain_text("6 files")
    page.locator(".pe-grid-row").first.click()
    expect(page.locator(".pe-detail-kind")).to_have_text("group of data files")
    page.locator(".pe-filter").fill("p = 'y'")
    page.locator(".pe-filter").press("Enter")
    expect(totals).to_contain_text("2 matching files")
    expect(page.locator(".pe-grid-row:visible").first).to_contain_text("g0@y")
    page.locator(".pe-filter").fill("")
    page.locator(".pe-filter").press("Enter")
    expect(totals).to_contain_text("in 2 groups")
    open_tab(page, "partitions")
    expect(page.get_by_role("row", name="p=x")).to_contain_text("6")
    harness.check()


def test_a_commit_is_replayed_step_by_step_or_played(
    harness: Harness, golden: GoldenTables
) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_pane(page, "replay")
    stage = page.get_by_role("group", name="The commit step by step")
    stage.get_by_role("button", name="First step").click()
    expect(stage).to_contain_text("step 1 of 8")
    expect(page.locator(".pes-card:visible")).to_have_count(1)
    stage.get_by_role("button", name="Next step").press("Enter")
    expect(stage).to_contain_text("step 2 of 8")
    page.clock.install()
    stage.get_by_role("button", name="Play the commit").click()
    page.clock.run_for(10_000)
    expect(stage).to_contain_text("step 8 of 8")
    expect(stage.locator(".pes-lane").last).to_contain_text("LATEST")
    harness.check()


def test_nothing_plays_for_those_who_want_no_motion(harness: Harness, golden: GoldenTables) -> None:
    harness.page.emulate_media(reduced_motion="reduce")
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_pane(page, "replay")
    stage = page.get_by_role("group", name="The commit step by step")
    expect(stage.get_by_role("button", name="Play the commit")).to_be_hidden()
    stage.get_by_role("button", name="Previous step").click()
    expect(stage).to_contain_text("step 7 of 8")
    card = page.locator(".pes-card").first
    expect(card).to_have_css("animation-name", "none")
    harness.check()


def test_a_compaction_is_previewed_with_tried_options(harness: Harness) -> None:
    commits = [[{"k": number}] for number in range(4)]
    table = keyed_table(columns(k=pa.int32()), *commits, primary_key=["k"])
    page = show_explorer(harness, table._view())
    open_pane(page, "what_if")
    totals = page.get_by_role("table", name="Before and after")
    expect(totals.get_by_role("row", name="files")).to_contain_text("4")
    page.get_by_label("full compaction").select_option("false")
    page.get_by_role("button", name="Preview").click()
    title = page.locator(".pes-title:visible")
    expect(title).to_contain_text("A minor compaction would change nothing")
    expect(page.get_by_role("button", name="Preview")).to_be_focused()
    trigger = page.get_by_label("num-sorted-run.compaction-trigger")
    trigger.fill("3")
    trigger.press("Enter")
    expect(title).to_contain_text("would replace 4 files")
    expect(trigger).to_be_focused()
    page.get_by_role("button", name="Show code").click()
    expect(page.locator(".pes-commands:visible")).to_contain_text("compact_strategy => 'minor'")
    page.get_by_label("num-levels").fill("it's, few")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".pes-problem:visible")).to_contain_text("it's, few")
    expect(page.get_by_label("num-levels")).to_have_value("it's, few")
    page.get_by_role("button", name="reset").click()
    expect(title).to_contain_text("A full compaction would replace 4 files")
    harness.check()


def test_the_other_previews_have_forms_of_their_own(harness: Harness) -> None:
    commits = [[{"k": number}] for number in range(4)]
    table = keyed_table(columns(k=pa.int32()), *commits, primary_key=["k"])
    page = show_explorer(harness, table._view())
    open_pane(page, "what_if")
    title = page.locator(".pes-title:visible")
    page.get_by_label("Action", exact=True).select_option("Snapshot expiry")
    expect(title).to_contain_text("0 snapshots would expire")
    page.get_by_label("retain_max").fill("1")
    page.get_by_label("retain_max").press("Enter")
    expect(title).to_contain_text("3 snapshots would expire")
    page.get_by_label("Action", exact=True).select_option("Changed options")
    page.get_by_label("merge-engine").select_option("first-row")
    page.get_by_role("button", name="Preview").click()
    expect(title).to_contain_text("the options would be refused")
    page.get_by_label("Action", exact=True).select_option("Partition expiry")
    expect(page.locator(".pes-problem:visible")).to_contain_text("requires the age")
    harness.check()


def test_a_snapshot_is_compared_with_another(harness: Harness) -> None:
    commits = [[{"k": number}] for number in range(4)]
    table = keyed_table(columns(k=pa.int32()), *commits, primary_key=["k"])
    page = show_explorer(harness, table._view())
    open_pane(page, "compare")
    rows = page.get_by_role("table", name="Rows that differ")
    expect(rows.get_by_role("row", name="only in a")).to_have_count(1)
    page.get_by_label("snapshot, tag or time").fill("1")
    page.get_by_label("snapshot, tag or time").press("Enter")
    expect(rows.get_by_role("row", name="only in a")).to_have_count(3)
    page.get_by_label("compare rows").select_option("no")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator('.pes-note[data-tone="warn"]:visible')).to_contain_text("are not compared")
    harness.check()


def test_a_hostile_table_stays_inert(harness: Harness) -> None:
    page = show_explorer(harness, hostile_history().view)
    page.locator(".pe-tree").focus()
    for key in ("ArrowDown", "+", "ArrowDown", "+", "ArrowDown"):
        page.keyboard.press(key)
        settled(page)
    for pane in TABS:
        open_pane(page, pane)
        settled(page)
        explorer = page.locator(".pe-explorer")
        assert explorer.locator("img, script, iframe, object, a").count() == 0, pane
        text = explorer.inner_text()
        assert HOSTILE not in text, pane
        assert not {"\u202e", "\x1b", "\0"} & set(text), pane
    harness.check()


def focused_in_panel(page: Page) -> bool:
    """Whether the keyboard is inside of the open view, where JupyterLab leaves it alone."""
    found: bool = page.evaluate(
        """() => {
        const at = document.activeElement;
        const inside = at.closest('.pe-panel[role="tabpanel"]') !== null;
        return inside && at.dataset.lmSuppressShortcuts === "true";
        }"""
    )
    return found


def test_every_view_is_reached_and_left_by_keyboard(harness: Harness, golden: GoldenTables) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    group_tab(page, "Data").focus()
    page.keyboard.press("Home")
    for group, tabs in GROUPS.items():
        strip = group_tab(page, group)
        expect(strip).to_be_focused()
        for pane in tabs:
            tab = chosen_tab(page) if len(tabs) > 1 else strip
            if pane == next(iter(tabs)) and tab is not strip:
                page.keyboard.press("Tab")
            expect(chosen_tab(page)).to_have_attribute("id", re.compile(f"-tab-{pane}$"))
            expect(tab).to_be_focused()
            expect_trait(page, "tab", pane)
            open_selected(page, pane)
            page.keyboard.press("Tab")
            assert focused_in_panel(page), pane
            leaks = page.evaluate(
                """() => [...document.querySelectorAll(".pe-explorer *")]
                .filter((e) => e.tabIndex >= 0 && e.dataset.lmSuppressShortcuts !== "true")
                .map((e) => e.outerHTML.slice(0, 120))"""
            )
            assert leaks == [], pane
            page.keyboard.press("Shift+Tab")
            expect(tab).to_be_focused()
            if tab is not strip:
                page.keyboard.press("ArrowRight")
        if len(tabs) > 1:
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("ArrowRight")
    expect(group_tab(page, "Overview")).to_be_focused()
    page.keyboard.press("End")
    expect_trait(page, "tab", next(iter(GROUPS["Internals"])))
    harness.check()


def test_a_group_opens_the_tab_that_was_open_in_it_last(
    harness: Harness, golden: GoldenTables
) -> None:
    page = show_explorer(harness, golden_view(golden.table("java200", "dv_pk").folder))
    open_tab(page, "schema")
    open_tab(page, "why")
    group_tab(page, "History").click()
    expect(chosen_tab(page)).to_have_text("Schema history")
    expect_trait(page, "tab", "schema")
    settled(page)  # until Python knows the tab
    page.evaluate("window.model.receive('tab', 'profile')")
    expect(chosen_tab(page)).to_have_text("Profile")
    expect(page.get_by_role("tab", selected=True).first).to_have_text("Data")
    page.reload()
    group_tab(page, "History").click()
    expect(chosen_tab(page)).to_have_text("Schema history")
    harness.check()


def open_selected(page: Page, pane: str) -> None:
    """Wait for the view that the keyboard has opened."""
    shown = f'.pes-pane[data-pane="{pane}"][data-shown]:not([data-busy])'
    page.locator(READY.get(pane, shown)).first.wait_for()
    if pane in REPORTS:
        expect(page.locator(".pes-title:visible")).not_to_be_empty()
        expect(page.locator(".pes-problem:visible")).to_have_count(0)


@pytest.mark.parametrize(("width", "turn"), [(1100, 0), (500, 1)])
def test_axe_finds_nothing_serious(
    harness: Harness, golden: GoldenTables, width: int, turn: int
) -> None:
    view = golden_view(golden.table("java200", "dv_pk").folder)
    page = show_explorer(harness, view, f"width={width}")
    assert serious_findings(page, ".pe-explorer") == []
    asked = {"diff": "3, rows", "explain": "k > 900", "key": "k = 287", "expiry": "retain_max=3"}
    for pane in some(TABS, 2, turn):
        open_pane(page, pane, asked.get(pane))
        assert serious_findings(page, ".pe-panel[role=tabpanel]") == [], pane
    harness.check()


def test_the_script_stays_small() -> None:
    assert len(bundle("report")) <= SCRIPT_BYTES
