"""What the explorer may cost: budgets on generated data and in JupyterLab.

Everything is counted by the clock, as its user feels it. Other jobs of the machine may slow down a
measurement but nothing speeds one up, so each budget gets `TRIES` whole measurements and holds when
one of them keeps it, as strictly as `support.budgets` says. The figures are printed at the end of
the run.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.widgets.bundles import bundle
from support.browser_page import Harness, Watched
from support.budgets import allowed
from support.figures import Figures
from support.jupyter_lab import Lab
from support.large_table import large_table

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TRIES = 8
FIRST_PAINT_MS = 150
CURSOR_MS = 16
CURSOR_OF_A_MILLION_MS = 40
FRAMES_PER_SECOND = 45
SCRIPT_BYTES = 120_000
READY_SECONDS = 4
LIST_SECONDS = 0.5
ANSWER_SECONDS = 1.5
NOTEBOOK_BYTES = 60_000

# Work per move: the handler of the key, and the frame it leads to, until that has been painted.
MOVE = """async () => {
  const canvas = document.querySelector(".pe-timeline-canvas");
  const channel = new MessageChannel();
  const found = [];
  for (let i = 0; i < 60; i++) {
    const key = i % 20 < 10 ? "ArrowLeft" : "ArrowRight";
    let begin = 0;
    requestAnimationFrame(() => (begin = performance.now()));
    const start = performance.now();
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const handled = performance.now() - start;
    await new Promise(requestAnimationFrame);
    await new Promise((done) => {
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    });
    found.push(handled + performance.now() - begin);
  }
  return found.sort((a, b) => a - b)[56];
}"""
SCROLL = """async () => {
  const grid = document.querySelector(".pe-grid");
  const start = performance.now();
  let frames = 0;
  while (performance.now() - start < 1000) {
    grid.scrollTop += 400;
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return (frames * 1000) / (performance.now() - start);
}"""


def least(measure: Callable[[], float], most: float) -> float:
    """The least of several measurements; the first that is at most so large ends them."""
    found = measure()
    for _ in range(TRIES - 1):
        if found <= most:
            break
        found = min(found, measure())
    return found


def held(harness: Harness, query: str) -> Page:
    """A page that has made its data and waits for `window.go` before it draws."""
    page = harness.page
    page.goto(f"http://127.0.0.1:1/index.html?{query}&hold=1")
    page.wait_for_function("typeof window.go === 'function'")
    page.wait_for_timeout(200)
    return page


def first_paint_ms(page: Page) -> float:
    """From the start of the widget until all files are on the screen."""
    page.evaluate("window.go()")
    page.wait_for_function("window.completeAt")
    return float(page.evaluate("window.completeAt - window.startedAt"))


def test_a_large_history_is_drawn_moved_and_scrolled_in_time(
    harness: Harness, figures: Figures
) -> None:
    large = "snapshots=1000&files=100000"
    paint = least(lambda: first_paint_ms(held(harness, large)), allowed(FIRST_PAINT_MS))
    page = harness.page
    cursor = least(lambda: float(page.evaluate(MOVE)), allowed(CURSOR_MS))
    frame = least(lambda: 1 / float(page.evaluate(SCROLL)), allowed(1 / FRAMES_PER_SECOND))
    figures.tell("first paint, 1,000 snapshots and 100,000 files", f"{paint:.0f} ms")
    figures.tell("cursor over 100,000 files, p95", f"{cursor:.1f} ms")
    figures.tell("scrolling 100,000 files", f"{1 / frame:.0f} frames/s")
    assert paint <= allowed(FIRST_PAINT_MS)
    assert cursor <= allowed(CURSOR_MS)
    assert frame <= allowed(1 / FRAMES_PER_SECOND)
    harness.check()


def test_the_cursor_moves_over_a_million_files_in_time(harness: Harness, figures: Figures) -> None:
    page = held(harness, "snapshots=1000&files=1000000")
    first_paint_ms(page)
    cursor = least(lambda: float(page.evaluate(MOVE)), allowed(CURSOR_OF_A_MILLION_MS))
    figures.tell("cursor over a million files, p95", f"{cursor:.1f} ms")
    assert cursor <= allowed(CURSOR_OF_A_MILLION_MS)
    harness.check()


def test_the_shipped_script_stays_small(figures: Figures) -> None:
    size = len(bundle("explorer"))
    figures.tell("script of the explorer", f"{size / 1000:.1f} kB")
    assert size <= SCRIPT_BYTES


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 1,000 snapshots and 100,000 files."""
    folder = tmp_path_factory.mktemp("wh.db") / "large"
    return large_table(folder, snapshots=1000, files_per_snapshot=100)


def test_the_snapshots_of_a_large_table_are_listed_in_time(large: Path, figures: Figures) -> None:
    def listed() -> float:
        start = time.perf_counter()
        view = pe.open_table(large)._inspector()
        assert len(ExplorerState(view).open().columns["id"]) == 1000
        return time.perf_counter() - start

    seconds = least(listed, allowed(LIST_SECONDS))
    figures.tell("list of 1,000 snapshots", f"{seconds:.2f} s")
    assert seconds <= allowed(LIST_SECONDS)


def test_a_large_table_is_ready_in_jupyterlab_in_time(
    lab: Lab, watched: Watched, large: Path, figures: Figures
) -> None:
    page = watched.page
    source = f"import paimon_explore as pe\npe.open_table({str(large)!r}).explore()"
    names = iter(f"large-{number}.ipynb" for number in range(TRIES))

    def ready() -> float:
        lab.open_notebook(page, next(names), [source], new_kernel=True)
        start = time.monotonic()
        lab.run_all(page)
        page.wait_for_selector('.pe-explorer[data-ready="1"]', timeout=60_000)
        return time.monotonic() - start

    seconds = least(ready, allowed(READY_SECONDS))
    page.wait_for_selector('.pe-explorer[data-complete="1"]', timeout=120_000)
    page.locator(".pe-tree-row", has_text="base manifest list").locator(".pe-twisty").click()
    page.wait_for_selector('.pe-tree-row[data-type="manifest"]', timeout=60_000)
    numbers = iter(range(TRIES))

    def answered() -> float:
        """A manifest that was not read before is opened in the tree."""
        manifest = page.locator('.pe-tree-row[data-type="manifest"]').nth(next(numbers))
        entries = page.locator('.pe-tree-row[data-type="entry"]')
        before = entries.count()
        start = time.monotonic()
        manifest.locator(".pe-twisty").click()
        entries.nth(before).wait_for(timeout=60_000)
        return time.monotonic() - start

    answer = least(answered, allowed(ANSWER_SECONDS))
    page.evaluate("void window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(2500)
    saved = lab.folder / page.evaluate("jupyterapp.shell.currentWidget.context.path")
    stored = json.loads(saved.read_text())
    assert stored["cells"][0]["outputs"], "the notebook was saved with its output"
    figures.tell("run the cell until the explorer is ready in JupyterLab", f"{seconds:.1f} s")
    figures.tell("click, Python, answer", f"{answer:.2f} s")
    figures.tell("notebook with one explorer", f"{saved.stat().st_size / 1000:.1f} kB")
    assert seconds <= allowed(READY_SECONDS)
    assert answer <= allowed(ANSWER_SECONDS)
    assert saved.stat().st_size <= NOTEBOOK_BYTES
    watched.check()
