"""The SQL tab in a real browser, answered by Python without a kernel."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

import paimon_explore as pe
from paimon_explore.inspection.explorer import sql_session
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.explorer import explore
from support.axe import serious_findings
from support.browser_page import Harness, expect_trait, show_python
from support.explored import HOSTILE
from support.small_tables import append_table, columns

pytestmark = pytest.mark.browser
pytest.importorskip("duckdb")

SQL_PARTS = (".peq", ".pe-query")
SCRIPT_BYTES = 60_000
COLUMNS = columns(k=pa.int32(), city=pa.string())
BY_CITY = "SELECT city, count(*) AS n FROM t GROUP BY city ORDER BY city"


@pytest.fixture
def table() -> pe.Table:
    rows = [{"k": k, "city": ["Oslo", "Lyon", "Turin"][k % 3]} for k in range(6)]
    return append_table(COLUMNS, rows[:3], rows[3:])


def show_sql(harness: Harness, table: pe.Table, text: str = "", query: str = "") -> Page:
    """An explorer with the SQL tab open."""
    explorer = explore(table._view())
    traits = {
        "selected": explorer.selected, "compare": 0, "node": "", "filter": "", "where": "",
        "tab": "sql", "asked": {"sql": text} if text else {}, "code": "", "spark_code": "",
        "height": 640,
    }  # fmt: skip
    page = show_python(
        harness,
        "explorer",
        explorer.answer,
        f"traits={quote(json.dumps(traits))}&{query}",
    )
    page.set_default_timeout(20_000)
    page.wait_for_selector(".peq")
    return page


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="SQL query")


def status(page: Page) -> Locator:
    return page.locator(".peq .pe-bar [role=status]")


def shown(page: Page) -> Locator:
    return page.locator(".peq .pe-grid-row:visible")


def test_a_query_runs_by_key_and_again_as_the_cursor_moves(
    harness: Harness, table: pe.Table
) -> None:
    page = show_sql(harness, table)
    editor(page).fill(BY_CITY)
    editor(page).press("Control+Enter")
    expect(page.locator(".peq .pe-bar [role=status]")).to_have_text("3 rows · snapshot 2")
    expect(shown(page).first).to_have_text("Lyon2")
    expect(page.locator(".peq-chart .pes-heading")).to_have_text("n by city")
    expect_trait(page, "selected", 2)
    assert page.evaluate("window.model.get('asked').sql") == BY_CITY
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".peq .pe-bar [role=status]")).to_have_text("3 rows · snapshot 1")
    expect(shown(page).first).to_have_text("Lyon1")
    harness.check()


def test_words_are_coloured_and_completed_by_key(harness: Harness, table: pe.Table) -> None:
    page = show_sql(harness, table)
    editor(page).fill("")
    editor(page).press_sequentially("SELECT ci")
    expect(page.locator('.peq-paint [data-kind="keyword"]')).to_have_text("SELECT")
    options = page.locator(".peq-list [role=option]")
    expect(options.first).to_have_text("citySTRING")
    page.keyboard.press("Enter")
    expect(editor(page)).to_have_value("SELECT city")
    editor(page).press_sequentially(" FROM ")
    page.keyboard.press("Control+Space")
    expect(options.first).to_have_text("ttable")
    page.keyboard.press("Escape")
    expect(page.locator(".peq-list")).to_be_hidden()
    expect(editor(page)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("window.model.get('selected')") == 2  # the editor keeps its keys
    page.keyboard.press("Escape")
    expect(editor(page)).not_to_be_focused()
    harness.check()


def test_many_rows_are_scrolled_to(harness: Harness, table: pe.Table) -> None:
    page = show_sql(harness, table, "SELECT id, id * 2 AS twice FROM range(20000)")
    expect(page.locator(".peq .per-status")).to_have_text("row 1 of 20,000")
    expect(shown(page).first).to_have_text("00")
    page.locator(".peq .per-grid").focus()
    page.keyboard.press("End")
    expect(page.locator('.peq [aria-rowindex="20001"]')).to_contain_text("39998")
    page.keyboard.press("Home")
    expect(page.locator(".peq .per-cell-value")).to_contain_text("id BIGINT 0")
    harness.check()


def test_an_error_is_marked_in_the_query(harness: Harness, table: pe.Table) -> None:
    page = show_sql(harness, table, "SELECT nope FROM t")
    expect(page.locator(".peq .pe-problem")).to_contain_text("no column 'nope'")
    expect(page.locator(".peq-mark")).to_have_text("nope")
    editor(page).fill("\n\n  SELECT nope FROM t")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".peq-mark")).to_have_text("nope")
    editor(page).fill("DROP TABLE t")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".peq .pe-problem")).to_contain_text("writes only to its table")
    expect(page.locator(".peq .pe-problem")).to_contain_text(
        "full names: catalog.sql('DROP TABLE t')"
    )
    expect(page.locator(".peq .pe-grid")).to_be_hidden()
    harness.check()


def test_a_statement_that_writes_asks_first_and_then_runs_once(
    harness: Harness, table: pe.Table
) -> None:
    page = show_sql(harness, table)
    editor(page).fill("DELETE FROM t WHERE k = 0")
    editor(page).press("Control+Enter")
    question = page.get_by_role("alertdialog", name="Run the statement?")
    says = "This DELETE statement writes to table db.t."
    expect(question).to_have_accessible_description(says)
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(question).to_have_accessible_description(
        f"{says} It works on the latest snapshot, whatever is selected."
    )
    page.keyboard.press("ArrowRight")
    expect(question).to_have_accessible_description(says)
    page.get_by_role("button", name="History").click()
    expect(page.locator(".peq .pe-problem")).to_contain_text("Only queries run here; DELETE writes")
    expect(question).to_be_hidden()
    assert len(table.snapshots) == 2
    editor(page).press("Control+Enter")
    editor(page).fill("DELETE FROM t WHERE k < 2")
    page.get_by_role("button", name="Run statement").click()  # of another text than was asked about
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.get_by_role("button", name="Run statement").click()
    expect(status(page)).to_have_text("Snapshot 3 committed")
    expect_trait(page, "selected", 3)
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect_trait(page, "selected", 2)
    editor(page).fill("SELECT count(*) AS n FROM t")
    editor(page).press("Control+Enter")
    expect(status(page)).to_have_text("1 row · snapshot 2")
    assert len(table.snapshots) == 3
    assert table.count() == 4
    harness.check()


def test_a_query_that_runs_long_is_stopped(harness: Harness, table: pe.Table) -> None:
    endless = "SELECT count(*) FROM range(100000000000) a, range(100000) b"
    page = show_sql(harness, table, endless)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".peq .pe-bar [role=status]")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    editor(page).fill("SELECT 7 AS seven")
    editor(page).press("Control+Enter")
    expect(shown(page).first).to_have_text("7")
    harness.check()


def test_a_history_is_a_line_of_steps_that_lead_to_their_commits(
    harness: Harness, table: pe.Table
) -> None:
    table.compact()
    page = show_sql(harness, table, "SELECT count(*) AS n FROM t")
    expect(status(page)).to_have_text("1 row · snapshot 3")
    page.get_by_role("button", name="History").click()
    line = page.get_by_role("listbox", name="n, 3 to 6, 1 change")
    steps = line.get_by_role("option")
    expect(steps).to_have_count(2)
    expect(steps.nth(1)).to_have_accessible_name(re.compile(r"^6 since snapshot 2 APPEND, "))
    expect(steps.nth(1)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".pe-query-head")).to_contain_text("Query at 3 snapshots, 1 to 3.")
    steps.nth(1).click()
    expect_trait(page, "selected", 2)
    line.focus()
    page.keyboard.press("ArrowLeft")
    expect_trait(page, "selected", 1)
    expect(steps.nth(0)).to_have_attribute("aria-selected", "true")
    expect(shown(page).first).to_have_text("3")
    page.keyboard.press("End")
    expect_trait(page, "selected", 2)
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("End")
    expect_trait(page, "selected", 3)
    line.focus()
    page.keyboard.press("Enter")
    expect_trait(page, "selected", 2)
    page.get_by_role("button", name="Close the history").click()
    expect(line).to_have_count(0)
    harness.check()


def test_groups_are_lines_and_the_rest_is_named(harness: Harness) -> None:
    rows = [[{"k": k, "city": f"c{k % 6}"} for k in range(at)] for at in (6, 9)]
    page = show_sql(harness, append_table(COLUMNS, *rows), BY_CITY)
    page.get_by_role("button", name="History").click()
    lines = page.locator(".pe-query").get_by_role("listbox")
    expect(lines).to_have_count(4)
    expect(lines.first).to_have_accessible_name("c0, 1 to 3, 1 change")
    expect(page.locator(".pe-query-head")).to_contain_text("2 more lines not drawn: c4, c5.")
    editor(page).fill("SELECT 7 AS seven")
    editor(page).press("Control+Enter")
    expect(lines).to_have_count(0)
    page.get_by_role("button", name="History").click()
    expect(page.locator(".peq .pe-problem")).to_contain_text("must read a table at its latest")
    harness.check()


def test_a_history_is_stopped(harness: Harness, table: pe.Table) -> None:
    slow = "SELECT count(*) AS n FROM t, range(100000000000) a, range(100000) b"
    page = show_sql(harness, table)
    editor(page).fill(slow)
    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name="Stop").click()
    expect(status(page)).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    editor(page).fill(BY_CITY)
    page.get_by_role("button", name="History").click()
    expect(page.locator(".pe-query").get_by_role("listbox")).to_have_count(3)
    expect(shown(page)).to_have_count(3)
    harness.check()


def test_without_duckdb_the_tab_tells_what_to_install(
    harness: Harness, table: pe.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_session, "find_spec", lambda _name: None)
    page = show_sql(harness, table)
    expect(page.locator(".peq .pe-problem")).to_contain_text("pip install 'paimon-explore[sql]'")
    expect(editor(page)).to_be_hidden()
    harness.check()


@pytest.mark.parametrize("width", [900, 1300, 1900])
def test_query_rows_and_chart_fit_the_window(harness: Harness, table: pe.Table, width: int) -> None:
    harness.page.set_viewport_size({"width": width, "height": 800})
    page = show_sql(harness, table, BY_CITY, f"width={width}")
    expect(page.locator(".peq .pe-bar [role=status]")).to_have_text("3 rows · snapshot 2")
    expect(page.locator(".peq-chart svg")).to_be_visible()
    pane = page.locator(".peq").bounding_box()
    assert pane is not None
    for part in (".peq-editor", ".peq .pe-grid", ".peq-chart svg"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["height"] > 40
        assert pane["x"] <= box["x"]
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1
    harness.check()


def test_a_saved_page_shows_the_last_result_without_an_editor(
    harness: Harness, table: pe.Table, tmp_path: Path
) -> None:
    e = explore(table._view(), Opening(tab="sql", text=BY_CITY))
    body = e.answer({"op": "sql_history", "text": BY_CITY}).body
    while not body["done"]:
        body = e.answer({"op": "sql_step", "handle": body["handle"]}).body
    e.save_html(tmp_path / "t.html")
    page = harness.page
    page.goto((tmp_path / "t.html").as_uri())
    expect(shown(page)).to_have_count(3)
    expect(page.locator(".peq-text")).to_have_text(BY_CITY)
    expect(page.locator(".peq-chart svg")).to_be_visible()
    expect(editor(page)).to_have_count(0)
    expect(page.locator(".pe-code")).to_contain_text(".history(last=100)")
    expect(page.locator(".pe-query").get_by_role("listbox")).to_have_count(3)
    assert harness.errors == []
    explore(table._view()).save_html(tmp_path / "none.html")
    page.goto((tmp_path / "none.html").as_uri())
    page.wait_for_selector('[data-complete="1"]')
    expect(page.get_by_role("tab", name="SQL")).to_have_count(0)


def test_hostile_values_stay_text_and_long_ones_expand(harness: Harness) -> None:
    name = HOSTILE.replace("\0", "")
    schema = pa.schema([pa.field(name, pa.string())])
    hostile = append_table(schema, [{name: HOSTILE + "y" * 1000}, {name: HOSTILE}])
    page = show_sql(harness, hostile, "SELECT *, 1 AS n FROM t")
    expect(page.locator(".peq-chart svg")).to_be_visible()
    shown(page).first.locator(".per-value").first.click()
    page.get_by_role("button", name="show all").click()
    expect(page.locator(".per-cell-value pre")).to_contain_text("yyy")
    editor(page).fill("SELECT <img")
    page.keyboard.press("Control+Space")
    editor(page).fill("SELECT t.")
    page.keyboard.press("Control+Space")
    expect(page.locator(".peq-list [role=option]").first).to_contain_text("<img")
    assert page.evaluate("window.__ran") is None
    assert page.locator(".peq :is(img, script, iframe)").count() == 0
    text = page.locator(".peq").inner_text()
    assert not {"\u202e", "\x1b"} & set(text)
    harness.check()


def test_axe_finds_nothing_serious(harness: Harness, table: pe.Table) -> None:
    page = show_sql(harness, table, BY_CITY)
    page.get_by_role("button", name="History").click()
    expect(page.locator(".pe-query").get_by_role("listbox")).to_have_count(3)
    found = [serious_findings(page, *SQL_PARTS)]
    editor(page).fill("SELECT ")
    page.keyboard.press("Control+Space")
    found.append(serious_findings(page, *SQL_PARTS))
    editor(page).fill("SELECT nope FROM t")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".peq-mark")).to_have_text("nope")
    found.append(serious_findings(page, *SQL_PARTS))
    editor(page).fill("TRUNCATE TABLE t")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    found.append(serious_findings(page, *SQL_PARTS))
    assert found == [[], [], [], []]


def test_the_script_is_small() -> None:
    assert len(bundle("sql").encode()) - len(bundle("shared").encode()) < SCRIPT_BYTES
