import assert from "node:assert/strict";
import { test } from "node:test";
import { barHeights, binText, brushAfter, rangeOf, shareRead } from "../src/profile_model.js";

const key = (name, shiftKey = false) => ({ key: name, shiftKey });

test("arrow keys move the selection, with Shift they extend it", () => {
  let brush = brushAfter(undefined, key("ArrowRight"), 5);
  assert.deepEqual(brush, { anchor: 0, active: 0 });
  brush = brushAfter(brush, key("ArrowRight"), 5);
  assert.deepEqual(brush, { anchor: 1, active: 1 });
  brush = brushAfter(brush, key("ArrowRight", true), 5);
  assert.deepEqual(rangeOf(brush), [1, 2]);
  brush = brushAfter(brush, key("Home", true), 5);
  assert.deepEqual(rangeOf(brush), [0, 1]);
  brush = brushAfter(brush, key("End"), 5);
  assert.deepEqual(rangeOf(brush), [4, 4]);
});

test("the selection stays inside the histogram", () => {
  assert.deepEqual(brushAfter({ anchor: 0, active: 0 }, key("ArrowLeft"), 3), {
    anchor: 0,
    active: 0,
  });
  assert.deepEqual(brushAfter({ anchor: 2, active: 2 }, key("ArrowRight", true), 3), {
    anchor: 2,
    active: 2,
  });
  assert.equal(brushAfter(undefined, key("End"), 0), undefined);
});

test("other keys do nothing", () => {
  assert.equal(brushAfter({ anchor: 0, active: 0 }, key("Enter"), 3), undefined);
  assert.equal(brushAfter(undefined, key("a"), 3), undefined);
});

test("a bar that is not empty can be seen", () => {
  assert.deepEqual(barHeights([0, 1, 1000]), [0, 0.04, 1]);
  assert.deepEqual(barHeights([0, 0]), [0, 0]);
  assert.deepEqual(barHeights([]), []);
});

test("a bin excludes its upper edge, except for the last one", () => {
  const edges = ["0", "10", "20", "20"];
  assert.equal(binText(edges, 0), "0 to before 10");
  assert.equal(binText(edges, 2), "20");
  assert.equal(binText(["1", "5"], 0), "1 to 5");
});

test("the share of rows read is between nothing and all", () => {
  assert.equal(shareRead({ stored: 5, total: 10, complete: false }), 0.5);
  assert.equal(shareRead({ stored: 0, total: 0, complete: false }), 0);
  assert.equal(shareRead({ stored: 0, total: 0, complete: true }), 1);
  assert.equal(shareRead({ stored: 12, total: 10, complete: false }), 1);
});
