"""A fresh page, the harness page, and JupyterLab, for the tests of this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from support.browser_page import VIEWPORT, Harness, Watched
from support.jupyter_lab import Lab, start_lab

expect.set_options(timeout=15_000)  # a busy machine may need more than the usual five seconds


@pytest.fixture(scope="session")
def _harness(browser: Browser) -> Harness:
    return Harness(browser.new_page(viewport=VIEWPORT))


@pytest.fixture
def harness(_harness: Harness) -> Iterator[Harness]:
    """A page on which `show` opens the harness, without any server."""
    _harness.clear()
    yield _harness
    _harness.clear()


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; only with a browser there is use for it."""
    assert browser.is_connected()
    started = start_lab(tmp_path_factory.mktemp("lab"))
    yield started
    started.process.terminate()
    started.process.wait(timeout=20)


@pytest.fixture(scope="session")
def _lab_page(browser: Browser) -> Watched:
    return Watched(browser.new_page(viewport=VIEWPORT))


@pytest.fixture
def watched(lab: Lab, _lab_page: Watched) -> Iterator[Watched]:
    """The page in which tests open notebooks one after the other."""
    yield _lab_page
    lab.clear(_lab_page.page)
    _lab_page.page.set_viewport_size(VIEWPORT)
    _lab_page.forget()
