import assert from "node:assert/strict";
import { test } from "node:test";
import { meaningOf } from "../src/term_tooltips.js";

const meanings = new Map([
  ["level", "The level."],
  ["level 0", "New files."],
  ["base manifest list", "All before."],
  ["primary key", "Identifies a row."],
]);

test("a label has the meaning of the longest term with which it begins", () => {
  assert.equal(meaningOf("level ▾", meanings), "The level.");
  assert.equal(meaningOf("Level▴", meanings), "The level.");
  assert.equal(meaningOf("level 0 files", meanings), "New files.");
  assert.equal(meaningOf("base manifest list", meanings), "All before.");
  assert.equal(meaningOf("primary key dt, id", meanings), "Identifies a row.");
});

test("other labels have none", () => {
  assert.equal(meaningOf("", meanings), undefined);
  assert.equal(meaningOf("a level", meanings), undefined);
  assert.equal(meaningOf("levels", meanings), undefined);
});
