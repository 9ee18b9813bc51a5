import assert from "node:assert/strict";
import { test } from "node:test";
import { shortName } from "../src/file_name.js";
import { parentKey, Tree } from "../src/tree_model.js";

const node = (key, expandable = true) => ({ key, type: "list", label: key, expandable });

test("only open nodes show their children, missing children show that they are read", () => {
  const tree = new Tree();
  tree.load({ "": { nodes: [node("base"), node("delta")], total: 2 } });
  assert.deepEqual(
    tree.rows().map(({ key, depth }) => [key, depth]),
    [
      ["base", 1],
      ["delta", 1],
      ["delta/…", 2],
    ],
  );
});

test("more children than sent end in a row that loads the rest", () => {
  const tree = new Tree();
  tree.load({
    "": { nodes: [node("delta")], total: 1 },
    delta: { nodes: [node("delta/0", false)], total: 3 },
  });
  assert.deepEqual(
    tree.rows().map(({ key, rest }) => [key, rest]),
    [
      ["delta", 0],
      ["delta/0", 0],
      ["delta/more", 2],
    ],
  );
  tree.extend("delta", { nodes: [node("delta/1", false), node("delta/2", false)], total: 3 });
  assert.deepEqual(
    tree.rows().map(({ key }) => key),
    ["delta", "delta/0", "delta/1", "delta/2"],
  );
});

test("an open node without children says so", () => {
  const tree = new Tree();
  tree.load({ "": { nodes: [node("delta")], total: 1 }, delta: { nodes: [], total: 0 } });
  assert.deepEqual(
    tree.rows().map(({ type }) => type),
    ["list", "none"],
  );
});

test("what is open stays open for another snapshot", () => {
  const tree = new Tree();
  tree.open.add("base");
  tree.load({
    "": { nodes: [node("base")], total: 1 },
    base: { nodes: [node("base/0", false)], total: 1 },
  });
  assert.deepEqual(
    tree.rows().map(({ key }) => key),
    ["base", "base/0"],
  );
});

test("keys lead to their parents and names lose the middle of their UUID", () => {
  assert.deepEqual(["delta/0/12", "delta", ""].map(parentKey), ["delta/0", "", ""]);
  assert.equal(
    shortName("data-405c6324-2f70-41ce-a9e8-d8abd9db6937-10.parquet"),
    "data-405c6324…-10.parquet",
  );
  assert.equal(shortName("plain.txt"), "plain.txt");
});
