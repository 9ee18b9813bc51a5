"""How fast the explorer's front end is: 1,000 snapshots and 100,000 files without a kernel.

The budgets are for a quiet machine with two cores; shared runners get `SLACK` times as much.
"""

import pytest

from support.browser_page import STATIC, Watched, show

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SLACK = 3
FIRST_PAINT_MS = 150
CURSOR_P95_MS = 16
FRAMES_PER_SECOND = 45
SCRIPT_BYTES = 120_000

PAINT = """async () => {
  const { default: explorer } = await import("./explorer.js");
  const place = document.createElement("div");
  document.body.prepend(place);
  window.model.steps = 2;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const start = performance.now();
  explorer.render({ model: window.model, el: place });
  while (!place.querySelector('[data-complete]')) await new Promise((done) => setTimeout(done));
  await drawn();
  return performance.now() - start;
}"""
MOVE = """async () => {
  const canvas = document.querySelector(".pe-timeline-canvas");
  const times = [];
  for (let i = 0; i < 60; i++) {
    const key = i % 20 < 10 ? "ArrowLeft" : "ArrowRight";
    const start = performance.now();
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    times.push(performance.now() - start);
    await new Promise(requestAnimationFrame);
  }
  return times.sort((left, right) => left - right)[57];
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


def test_a_large_history_is_drawn_moved_and_scrolled_in_time(harness: Watched) -> None:
    page = show(harness, "snapshots=1000&files=100000")
    page.wait_for_selector('[data-complete="1"]')
    assert page.evaluate(PAINT) <= FIRST_PAINT_MS * SLACK
    assert page.evaluate(MOVE) <= CURSOR_P95_MS * SLACK
    assert page.evaluate(SCROLL) >= FRAMES_PER_SECOND / SLACK
    harness.check()


def test_the_shipped_script_stays_small() -> None:
    assert (STATIC / "explorer.js").stat().st_size <= SCRIPT_BYTES
