import assert from "node:assert/strict";
import { test } from "node:test";
import { columnWidths, placeText, RowLayout, valueCondition } from "../src/row_layout.js";

test("rows are found in files whose row counts are known", () => {
  const layout = new RowLayout([3, 0, 5], [1, 1, 1]);
  assert.equal(layout.count, 8);
  assert.deepEqual(layout.place(0), { unit: 0, offset: 0 });
  assert.deepEqual(layout.place(2), { unit: 0, offset: 2 });
  assert.deepEqual(layout.place(3), { unit: 2, offset: 0 });
  assert.equal(layout.row({ unit: 2, offset: 4 }), 7);
  assert.equal(placeText(layout, { unit: 2, offset: 4 }), "row 8 of 8");
});

test("where rows were not counted, the number within the split is told", () => {
  const layout = new RowLayout([10, 4000, 4000], [1, 0, 0]);
  assert.equal(placeText(layout, { unit: 1, offset: 5 }), "row 16 of at most 8,010");
  assert.equal(placeText(layout, { unit: 2, offset: 3411 }), "row 3,412 of split 3 of 3");
  layout.learn(1, 7);
  assert.equal(layout.count, 4017);
  assert.deepEqual(layout.place(17), { unit: 2, offset: 0 });
  assert.equal(placeText(layout, { unit: 2, offset: 0 }), "row 18 of at most 4,017");
  layout.learn(2, 1);
  assert.equal(placeText(layout, { unit: 2, offset: 0 }), "row 18 of 18");
});

test("a split with more rows than estimated grows until its end is known", () => {
  const layout = new RowLayout([100, 100], [0, 0]);
  layout.grow(0, 80);
  assert.equal(layout.count, 200);
  layout.grow(0, 140);
  assert.deepEqual(layout.place(139), { unit: 0, offset: 139 });
  layout.learn(0, 90);
  layout.grow(0, 140);
  assert.equal(layout.count, 190);
});

test("a hundred million rows of many files are found at once", () => {
  const layout = new RowLayout(
    new Float64Array(100_000).fill(1000),
    new Uint8Array(100_000).fill(1),
  );
  assert.equal(layout.count, 100_000_000);
  assert.deepEqual(layout.place(50_000_500), { unit: 50_000, offset: 500 });
});

test("a bound becomes a condition with the column quoted", () => {
  assert.equal(valueCondition("k", "INT NOT NULL", "3"), "k = 3");
  assert.equal(valueCondition("a b", "STRING", "it's"), "`a b` = 'it''s'");
  assert.equal(valueCondition("a`b", "DATE", "2024-01-01"), "`a``b` = '2024-01-01'");
});

test("columns are as wide as their texts, within limits", () => {
  const widths = columnWidths([{ name: "k" }, { name: "text" }], [["1", "x".repeat(500)]]);
  assert.deepEqual(widths, [60, 320]);
});
