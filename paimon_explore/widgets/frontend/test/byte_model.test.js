import assert from "node:assert/strict";
import { test } from "node:test";
import { byteAfter, FieldTree, glyph, offsetDigits, pagesTo, spaceOf } from "../src/byte_model.js";

const field = (path) => ({
  path,
  name: path,
  offset: 0,
  length: 1,
  text: "",
  rule: "",
  form: "",
  says: "",
  opens: true,
  packed: false,
  strange: false,
});

test("the space of a field is the packed leaf above it", () => {
  assert.equal(spaceOf("1.2.3"), "");
  assert.equal(spaceOf("1.2.@.0.3"), "1.2");
  assert.equal(spaceOf("1.@.0.@.7"), "1.@.0");
});

test("the pages that lead to a field are those of its parents", () => {
  assert.deepEqual(pagesTo(""), []);
  assert.deepEqual(pagesTo("0.450.@.3"), [
    ["", 0],
    ["0", 400],
    ["0.450", 0],
    ["0.450.@", 0],
  ]);
});

test("open fields are rows with what is before and after a page", () => {
  const tree = new FieldTree();
  tree.put("", { first: 0, total: 1, items: [field("0")] });
  tree.put("0", {
    first: 200,
    total: 401,
    items: Array.from({ length: 200 }, (_, i) => field(`0.${200 + i}`)),
  });
  const rows = tree.rows();
  assert.equal(rows.length, 203);
  assert.deepEqual([rows[1].label, rows[1].first], ["… 200 previous fields", 0]);
  assert.deepEqual([rows.at(-1).label, rows.at(-1).first], ["… 1 more field", 400]);
  tree.close("0");
  assert.equal(tree.rows().length, 1);
});

test("keys lead to bytes within the file", () => {
  assert.equal(byteAfter("ArrowRight", 0, 40, 16, 4), 1);
  assert.equal(byteAfter("ArrowLeft", 0, 40, 16, 4), 0);
  assert.equal(byteAfter("ArrowDown", 30, 40, 16, 4), 30);
  assert.equal(byteAfter("PageDown", 3, 40, 16, 4), 39);
  assert.equal(byteAfter("PageUp", 3, 40, 16, 4), 0);
  assert.equal(byteAfter("End", 3, 40, 16, 4), 39);
  assert.equal(byteAfter("x", 3, 40, 16, 4), undefined);
  assert.equal(byteAfter("End", 0, 0, 16, 4), undefined);
});

test("bytes and offsets are readable", () => {
  assert.equal(glyph(0x41), "A");
  assert.equal(glyph(0x1b), "·");
  assert.equal(offsetDigits(10), 4);
  assert.equal(offsetDigits(0x123456), 6);
});
