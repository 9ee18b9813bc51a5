import assert from "node:assert/strict";
import { test } from "node:test";
import { delay } from "../src/live.js";
import { needsFigures, Warehouse } from "../src/warehouse_model.js";

const ALL = { database: "", search: "", sort: "name", descending: false };
const labels = (rows) => rows.map(({ label }) => label);

function filled() {
  const made = new Warehouse();
  made.add("b", [
    ["table", "x"],
    ["view", "v"],
  ]);
  made.add("a", [
    ["table", "y"],
    ["table", "Z"],
  ]);
  return made;
}

test("rows are sorted by name, searched and limited to a database", () => {
  const made = filled();
  assert.deepEqual(labels(made.select(ALL)), ["a.Z", "a.y", "b.v", "b.x"]);
  assert.deepEqual(labels(made.select({ ...ALL, descending: true })), ["b.x", "b.v", "a.y", "a.Z"]);
  assert.deepEqual(labels(made.select({ ...ALL, search: " z" })), ["a.Z"]);
  assert.deepEqual(labels(made.select({ ...ALL, database: "b" })), ["b.v", "b.x"]);
  assert.deepEqual(
    [...made.counts],
    [
      ["b", 2],
      ["a", 2],
    ],
  );
});

test("rows without a value come last in both directions", () => {
  const made = filled();
  const [x, , y, z] = made.rows;
  x.figures = { size: 5 };
  y.figures = { size: 7 };
  z.figures = { size: null };
  const shown = { ...ALL, sort: "size" };
  assert.deepEqual(labels(made.select(shown)), ["b.x", "a.y", "a.Z", "b.v"]);
  assert.deepEqual(labels(made.select({ ...shown, descending: true })), [
    "a.y",
    "b.x",
    "a.Z",
    "b.v",
  ]);
});

test("health is sorted by severity, then by the number of findings", () => {
  const made = filled();
  const badge = (worst, total) => ({ worst, total, words: "" });
  const [x, v, y, z] = made.rows;
  x.health = badge("warning", 1);
  v.health = null;
  y.health = badge("note", 9);
  z.health = badge("", 0);
  assert.deepEqual(labels(made.select({ ...ALL, sort: "health", descending: true })), [
    "b.x",
    "a.y",
    "a.Z",
    "b.v",
  ]);
});

test("a comment is searched once it is known", () => {
  const made = filled();
  assert.deepEqual(made.select({ ...ALL, search: "parcels" }), []);
  made.rows[0].figures = { comment: "Parcels by day" };
  assert.deepEqual(labels(made.select({ ...ALL, search: "parcels" })), ["b.x"]);
});

test("figures of the screen are read first, then health, the others only if they are wanted", () => {
  const made = filled();
  const [x, v, y, z] = made.rows;
  assert.deepEqual(made.next([x, v], [y, z]), { op: "figures", rows: [x, v] });
  x.figures = { rows: 1 };
  v.figures = {};
  assert.deepEqual(made.next([x, v], [y, z]), { op: "health", rows: [x] });
  x.health = null;
  assert.equal(made.next([x, v], [y, z]), undefined);
  made.readsAll = true;
  assert.deepEqual(made.next([x, v], [y, z]), { op: "figures", rows: [y, z] });
  y.figures = { problem: { message: "gone" } };
  z.figures = {};
  z.health = null;
  assert.equal(made.next([x, v], [y, z]), undefined);
  assert.equal(made.known(made.rows), 4);
});

test("few tables are asked for at once", () => {
  const made = new Warehouse();
  made.add(
    "db",
    Array.from({ length: 100 }, (_, i) => ["table", `t${i}`]),
  );
  assert.equal(made.next(made.rows, []).rows.length, 25);
  for (const row of made.rows) row.figures = {};
  assert.equal(made.next(made.rows, []).rows.length, 8);
});

test("only names are known before tables are read", () => {
  assert.equal(needsFigures("name"), false);
  assert.equal(needsFigures("health"), true);
});

test("polls come at least half a second apart, and rarely after errors", () => {
  assert.deepEqual(
    [delay(2, 0), delay(0.1, 0), delay(2, 1), delay(2, 3), delay(2, 99), delay(300, 5)],
    [2, 0.5, 4, 16, 60, 300],
  );
});
