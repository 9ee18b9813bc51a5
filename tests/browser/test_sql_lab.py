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
