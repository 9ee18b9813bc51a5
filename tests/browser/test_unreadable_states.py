"""An empty table, and files that cannot be read: each tab says what to do next."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from paimon_explore.errors import AccessDeniedError, MissingFileError, PaimonError, StorageError
from paimon_explore.inspection.explorer.explorer_state import Answer, ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.browser_page import Harness, open_tab, show_python, traits_query
from support.depth import some
from support.small_tables import columns, keyed_table

pytestmark = pytest.mark.browser

FILE = "/wh/default.db/t/manifest/manifest-1"
ERRORS = {
    "permission": StorageError("read", FILE, "Permission denied"),
    "restore it": MissingFileError("read", FILE),
    "credentials": AccessDeniedError("read", FILE, "the token has expired"),
    "connection": StorageError("read", FILE, "timed out"),
}
"""A part of the hint for each error."""


@pytest.mark.parametrize(
    ("hint", "tabs"),
    [(hint, some(TABS, 4, turn) if turn else TABS) for turn, hint in enumerate(ERRORS)],
)
def test_every_tab_says_what_to_do_about_an_unreadable_file(
    harness: Harness, hint: str, tabs: Sequence[str]
) -> None:
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}], primary_key=["k"])
    state = ExplorerState(Inspector(table._view()))

    def failing(message: Mapping[str, object]) -> Answer:
        if message["op"] in {"open", "pane", "hints"}:
            return answer(state, message)
        error: PaimonError = ERRORS[hint]
        raise error

    page = show_python(harness, "explorer", failing, traits_query(selected=1, tab="overview"))
    for tab in tabs:
        open_tab(page, tab)
        shown = page.locator(".pe-panel[role=tabpanel]").get_by_text(hint).first
        expect(shown, tab).to_be_visible()
    for pane in (".pe-pane-tree", ".pe-pane-detail"):
        expect(page.locator(pane)).to_contain_text(hint)
    harness.check()


def test_every_tab_of_an_empty_table_says_how_it_gets_rows(harness: Harness) -> None:
    table = keyed_table(columns(k=pa.int32()), primary_key=["k"])
    state = ExplorerState(Inspector(table._view()))
    page = show_python(
        harness,
        "explorer",
        lambda message: answer(state, message),
        traits_query(selected=0, tab="overview"),
    )
    for tab in TABS:
        open_tab(page, tab)
        shown = page.locator(".pe-panel[role=tabpanel]").get_by_text("Write rows to it").first
        if tab == "sql":  # where rows can be written
            shown = page.get_by_role("button", name="Run")
        expect(shown, tab).to_be_visible()
    expect(page.locator(".pe-pane-tree")).to_contain_text("Write rows to it")
    harness.check()
