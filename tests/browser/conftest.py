"""A fresh page, the harness page, and JupyterLab, for the tests of this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from support.browser_page import Watched, serve
from support.jupyter_lab import Lab, start_lab

expect.set_options(timeout=15_000)  # a busy machine may need more than the usual five seconds


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A fresh page."""
    page = browser.new_page(viewport={"width": 1100, "height": 640})
    yield Watched(page)
    page.close()


@pytest.fixture
def harness(watched: Watched) -> Watched:
    """A fresh page on which `show` opens the harness, without any server."""
    watched.page.route("http://127.0.0.1:1/**", serve)
    return watched


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; only with a browser there is use for it."""
    assert browser.is_connected()
    started = start_lab(tmp_path_factory.mktemp("lab"))
    yield started
    started.process.terminate()
    started.process.wait(timeout=20)
