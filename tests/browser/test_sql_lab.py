"""The SQL tab in a real JupyterLab, with a kernel that runs the queries."""

import pytest
from playwright.sync_api import expect

from support.browser_page import Watched
from support.jupyter_lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHOW = """
import paimon_explore as pe
pe.demo().table("demo.orders").explore(tab="sql", height=600)
"""
ENDLESS = "SELECT count(*) FROM range(100000000000) a, range(100000) b"


def test_a_query_that_runs_gives_way_to_the_next(lab: Lab, watched: Watched) -> None:
    page = watched.page
    lab.open_notebook(page, "sql.ipynb", [SHOW])
    lab.run_all(page)
    page.wait_for_selector('[data-complete="1"]', timeout=30_000)
    cells = page.locator(".jp-Cell").count()
    editor = page.get_by_role("textbox", name="SQL query")
    status = page.locator(".peq .pe-bar [role=status]")
    editor.fill(ENDLESS)
    editor.press("Control+Enter")
    expect(status).to_have_text("Running…")
    page.locator(".pe-timeline-canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pe-code")).to_contain_text("t=t.at(snapshot=4)")
    expect(status).to_have_text("Running…")
    editor.fill("SELECT city, count(*) AS n FROM orders GROUP BY city ORDER BY n")
    editor.press("Control+Enter")
    expect(status).to_have_text("6 rows · snapshot 4")
    expect(page.locator(".peq-chart svg")).to_be_visible()
    expect(page.locator(".pe-code")).to_contain_text("orders=t.at(snapshot=4)")
    assert page.locator(".jp-Cell").count() == cells
    watched.check()


def test_a_history_shows_its_code_and_a_result_its_next_page(lab: Lab, watched: Watched) -> None:
    page = watched.page
    lab.open_notebook(page, "history.ipynb", [SHOW, 'pe.sql("SELECT id FROM range(45)")'])
    lab.run_all(page)
    page.wait_for_selector('[data-complete="1"]', timeout=30_000)
    page.get_by_role("textbox", name="SQL query").fill("SELECT count(*) AS n FROM t")
    page.get_by_role("button", name="History", exact=True).click()
    line = page.get_by_role("listbox", name="n, 6 to 30, 4 changes")
    expect(line.get_by_role("option")).to_have_count(5)
    expect(page.locator(".pe-code")).to_contain_text("t=t).history(last=100)")
    line.get_by_role("option").nth(2).click()
    expect(page.locator(".pe-code")).to_contain_text("t=t.at(snapshot=3)")
    result = page.get_by_role("group", name="SQL result")
    expect(result.get_by_role("row")).to_have_count(21)
    result.get_by_role("button", name="Next").click()
    expect(result.get_by_role("status")).to_have_text("Rows 21 to 40 of more than 40")
    watched.check()
