"""Pages of browser tests: what went wrong on them, and the harness without a kernel."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Dialog, Locator, Page, Route, ViewportSize, expect

from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS
from paimon_explore.inspection.problem import problem_of
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.column_transfer import pack_columns

_HARNESS = Path(__file__).parents[1] / "browser" / "harness"
_TYPES = {".js": "text/javascript", ".html": "text/html"}
_ORIGIN = "http://127.0.0.1:1"
_ADDRESS = f"{_ORIGIN}/index.html"
_PYTHON = f"{_ORIGIN}/python.html"
_TIMEOUT_MS = 30_000
_CLOSED = frozenset({"Disposed", "Cannot read properties of null (reading 'kernel')"})
"""Errors of JupyterLab about a notebook that was closed; no code of the explorer knows kernels."""
VIEWPORT: ViewportSize = {"width": 1100, "height": 640}
"""The window of a page, unless a test changes it."""


class Watched:
    """A page that remembers what went wrong on it, and which other places it asked."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("pageerror", lambda error: self._failed(str(error)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("request", lambda request: self._asked(request.url))

    def forget(self) -> None:
        """Forget what went wrong so far."""
        self.errors.clear()
        self.outside.clear()

    def _failed(self, error: str) -> None:
        if error not in _CLOSED:
            self.errors.append(error)

    def _asked(self, address: str) -> None:
        inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
        if not address.startswith(inside):
            self.outside.append(address)

    def check(self) -> None:
        """Nothing failed and nothing left the machine."""
        assert self.errors == [], self.errors
        assert self.outside == []


class Harness(Watched):
    """A page that shows widgets without any server, for one test after the other.

    A new page costs as much as ten loads of the harness in one that is there.
    """

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.answer: Callable[[Mapping[str, object]], dict[str, object]] | None = None
        page.on("dialog", self._opened)
        page.route(f"{_ORIGIN}/**", _serve)
        page.expose_function("askPython", self._ask)

    def _opened(self, dialog: Dialog) -> None:
        self.errors.append(dialog.message)
        dialog.dismiss()

    def _ask(self, message: Mapping[str, object]) -> dict[str, object] | None:
        return self.answer(message) if self.answer else None

    def clear(self) -> None:
        """Leave the page as a new one is."""
        page = self.page
        self.answer = None
        if page.url != "about:blank":
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.emulate_media(reduced_motion="null")
        page.set_viewport_size(VIEWPORT)
        page.mouse.move(0, 0)
        page.context.clear_permissions()
        page.context.set_offline(offline=False)
        page.set_default_timeout(_TIMEOUT_MS)
        self.forget()


def show(harness: Harness, query: str) -> Page:
    """The harness page with an explorer of the given data, ready."""
    harness.page.goto(f"{_ADDRESS}?{query}")
    harness.page.wait_for_selector('[data-ready="1"]')
    return harness.page


def show_python(
    harness: Harness, widget: str, answer: Callable[[Mapping[str, object]], Answer], query: str = ""
) -> Page:
    """A page with one widget whose requests a function of Python answers, ready."""

    def ask(message: Mapping[str, object]) -> dict[str, object]:
        try:
            found = answer(message)
        except PaimonError as error:
            return {"id": message["id"], "ok": False, "error": problem_of(error).state()}
        specs, data = pack_columns(found.columns)
        packed = base64.b64encode(data).decode("ascii")
        return {
            "id": message["id"],
            "ok": True,
            "body": dict(found.body),
            "columns": specs,
            "data": packed,
        }

    harness.answer = ask
    harness.page.goto(f"{_PYTHON}?widget={widget}&{query}")
    harness.page.wait_for_selector('[data-ready="1"]')
    return harness.page


def settled(page: Page) -> None:
    """Wait until Python has answered the widget that `show_python` shows, and nothing follows."""
    page.evaluate("window.settled()")


def view_settled(page: Page) -> None:
    """Wait for the answer that the open view of the explorer shows."""
    page.wait_for_function(
        "() => !document.querySelector('.pe-panel[role=tabpanel] [data-busy]')"
        " && document.querySelector('.pe-panel[role=tabpanel]').innerText.length > 20"
    )
    settled(page)


def expect_trait(page: Page, name: str, value: object) -> None:
    """Wait until the model of the page has this value of a trait."""
    page.wait_for_function("([name, value]) => window.model.get(name) === value", arg=[name, value])


def group_tab(page: Page | Locator, group: str) -> Locator:
    """The tab of a group of views."""
    return page.get_by_role("tablist", name="Groups of views").get_by_role("tab", name=group)


def open_tab(page: Page | Locator, tab: str) -> None:
    """Open a view by clicks: on its group, and on its tab if the group has several."""
    group = group_tab(page, next(group for group, tabs in GROUPS.items() if tab in tabs))
    group.click()
    expect(group).to_have_attribute("aria-selected", "true")  # now its tabs are shown
    of_group = page.locator(f".pe-tabs [id$='-tab-{tab}']")
    if of_group.is_visible():
        of_group.click()


def chosen_tab(page: Page | Locator) -> Locator:
    """The tab of the open view; not visible if it is the only one of its group."""
    return page.locator(".pe-tabs [id*='-tab-'][aria-selected=true]")


def traits_query(**traits: object) -> str:
    """The part of an address that sets traits of the explorer; those not given are empty."""
    texts = dict.fromkeys(("node", "filter", "where", "code", "spark_code"), "")
    whole = {"compare": 0, "asked": {}, "height": 0, **texts, **traits}
    return f"traits={quote(json.dumps(whole))}"


def _serve(route: Route) -> None:
    """Answer a request for a file of the harness from disk."""
    name = route.request.url.split("?")[0].rsplit("/", 1)[1]
    path = _HARNESS / name
    if name == "groups.js":
        body = (
            f"export default {json.dumps([[g, list(tabs.items())] for g, tabs in GROUPS.items()])};"
        )
    else:
        body = path.read_text(encoding="utf-8") if path.exists() else bundle(path.stem)
    route.fulfill(body=body, content_type=_TYPES[path.suffix])
