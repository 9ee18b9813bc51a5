"""A browser's event loop is seen by the tests of the browser only."""

import asyncio.events
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def event_loops(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a test run coroutines in a thread in which Playwright keeps a running loop."""
    loop = asyncio.events._get_running_loop()
    if loop is None or "browser" in request.fixturenames:
        yield
        return
    asyncio.events._set_running_loop(None)
    yield
    asyncio.events._set_running_loop(loop)
