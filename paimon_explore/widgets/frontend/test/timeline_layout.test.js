import assert from "node:assert/strict";
import { test } from "node:test";
import {
  layoutTimeline,
  MARK_MIN,
  markAt,
  offsetFor,
  placeFlags,
  visibleMarks,
} from "../src/timeline_layout.js";

const even = (count, width, axis = "id") =>
  layoutTimeline({ count, width, axis, times: Array.from({ length: count }, (_, i) => i * 1000) });

test("few marks stand at the left with room between them", () => {
  const layout = even(3, 1000);
  assert.deepEqual([...layout.centres], [37, 83, 129]);
  assert.equal(layout.total, 1000);
});

test("many marks keep their width and make the strip longer than the view", () => {
  const layout = even(1000, 500);
  assert.equal(layout.pitch, MARK_MIN);
  assert.equal(layout.total, 15_028);
  const [first, last] = visibleMarks(layout, 7000);
  assert.ok(first > 460 && last < 505 && last > first);
});

test("by time marks stand in proportion but never on each other", () => {
  const layout = layoutTimeline({ count: 4, width: 1000, axis: "time", times: [0, 1, 2, 1000] });
  const [a, b, c, d] = layout.centres;
  assert.deepEqual([b - a, c - b], [MARK_MIN, MARK_MIN]);
  assert.ok(d > 900 && d < 1000);
  const late = layoutTimeline({ count: 4, width: 1000, axis: "time", times: [0, 998, 999, 1000] });
  assert.ok(late.centres[3] <= 1000 - MARK_MIN && late.centres[3] - late.centres[2] >= MARK_MIN);
});

test("times that run backwards do not break the layout", () => {
  const layout = layoutTimeline({ count: 3, width: 600, axis: "time", times: [100, 50, 900] });
  assert.ok(layout.centres[0] < layout.centres[1] && layout.centres[1] < layout.centres[2]);
});

test("the nearest mark is found", () => {
  const layout = even(3, 1000);
  assert.deepEqual(
    [0, 59, 61, 5000].map((x) => markAt(layout, x)),
    [0, 0, 1, 2],
  );
  assert.equal(markAt(even(0, 100), 10), -1);
});

test("the strip follows the cursor and stays within its ends", () => {
  const layout = even(1000, 500);
  assert.equal(offsetFor(layout, 0, 9000), 0);
  assert.equal(offsetFor(layout, 999, 0), layout.total - 500);
  const middle = offsetFor(layout, 500, 0);
  assert.equal(offsetFor(layout, 500, middle), middle);
  assert.equal(offsetFor(layout, -1, Number.POSITIVE_INFINITY), layout.total - 500);
});

test("flags of one place take lanes, hang to the left at the end, and are counted without room", () => {
  const layout = even(3, 200);
  const flag = (name, position) => ({ kind: "tag", name, position });
  const measure = (text) => text.length * 6;
  const { placed, hidden } = placeFlags(
    [flag("aaaa", 2), flag("bbbb", 2), flag("cccc", 2)],
    layout,
    measure,
    2,
  );
  assert.deepEqual(
    placed.map(({ text, lane, left, x }) => [text, lane, left < x]),
    [
      ["aaaa", 0, false],
      ["bbbb", 1, false],
    ],
  );
  assert.equal(hidden, 1);
  const last = placeFlags([flag("a-very-long-name-of-a-tag-that-goes-on", 2)], layout, measure, 2);
  assert.deepEqual([last.placed.length, last.hidden], [0, 1]);
});

test("no pole of a flag crosses the name of another one", () => {
  const layout = even(3, 400);
  const flag = (name, position) => ({ kind: "hint", name, position });
  const { placed } = placeFlags(
    [flag("EARLIEST", 0), flag("v1", 1), flag("LATEST", 2)],
    layout,
    (text) => text.length * 7,
    4,
  );
  for (const one of placed) {
    const above = placed.filter(({ lane, left, width }) => {
      return lane < one.lane && left < one.x && one.x < left + width;
    });
    assert.deepEqual(above, []);
  }
  assert.deepEqual(
    placed.map(({ text, lane }) => [text, lane]),
    [
      ["LATEST", 0],
      ["v1", 0],
      ["EARLIEST", 1],
    ],
  );
});
