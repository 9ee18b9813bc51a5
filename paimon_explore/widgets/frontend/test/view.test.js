import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { actOf, rowAfter } from "../src/keyboard.js";
import { createStore } from "../src/selection_store.js";
import { matchRank } from "../src/text_match.js";
import { isDark } from "../src/theme.js";
import { ROW_HEIGHT, scrollTo, windowOf } from "../src/virtual_scroll.js";

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const nowhere = { typing: false, tabs: false };

test("a screenful of rows and a few more are drawn", () => {
  assert.deepEqual(windowOf(1000, 2400, 240), {
    first: 94,
    last: 116,
    top: 94 * ROW_HEIGHT,
    height: 24_000,
  });
  assert.deepEqual(windowOf(3, 0, 240), { first: 0, last: 3, top: 0, height: 72 });
  assert.equal(windowOf(0, 0, 240).last, 0);
});

test("a million rows stay within what browsers can scroll, and the last can be reached", () => {
  const { height } = windowOf(1_000_000, 0, 240);
  assert.equal(height, 8_000_000);
  const end = windowOf(1_000_000, height - 240, 240);
  assert.equal(end.last, 1_000_000);
  assert.ok(Math.abs(end.top + (end.last - end.first) * ROW_HEIGHT - height) < ROW_HEIGHT);
});

test("a row outside of the view is scrolled to, one inside is not", () => {
  assert.equal(scrollTo(0, 1000, 2400, 240), 0);
  assert.equal(scrollTo(105, 1000, 2400, 240), 2400);
  assert.equal(scrollTo(200, 1000, 2400, 240), 200 * ROW_HEIGHT + ROW_HEIGHT - 240);
});

test("keys move the cursor except where text is typed", () => {
  assert.equal(actOf({ ...plain, key: "ArrowLeft" }, nowhere), "previous");
  assert.equal(actOf({ ...plain, key: "ArrowLeft" }, { typing: true, tabs: false }), undefined);
  assert.equal(actOf({ ...plain, key: "ArrowLeft" }, { typing: false, tabs: true }), undefined);
  assert.equal(actOf({ ...plain, key: "Escape" }, { typing: true, tabs: false }), "leave");
  assert.equal(actOf({ ...plain, ctrlKey: true, key: "m" }, nowhere), undefined);
  assert.equal(actOf({ ...plain, key: "constructor" }, nowhere), undefined);
});

test("the search box is reached from everywhere, with Ctrl or Cmd", () => {
  const typing = { typing: true, tabs: false };
  assert.equal(actOf({ ...plain, ctrlKey: true, key: "k" }, typing), "find");
  assert.equal(actOf({ ...plain, metaKey: true, key: "K" }, nowhere), "find");
  assert.equal(actOf({ ...plain, ctrlKey: true, altKey: true, key: "k" }, nowhere), undefined);
  assert.equal(actOf({ ...plain, key: "k" }, nowhere), undefined);
});

test("names are found by their beginning, by words, by parts and by letters", () => {
  const ranks = ["snap", "key hist", "istory", "sdf", "zz"].map((typed) =>
    ["Snapshot diff", "Key history"].map((name) => matchRank(name, typed)),
  );
  assert.deepEqual(ranks, [
    [0, undefined],
    [undefined, 0],
    [undefined, 2],
    [3, undefined],
    [undefined, undefined],
  ]);
  assert.equal(matchRank("Key history", "hist k"), 1);
});

test("up and down stay within the list", () => {
  assert.deepEqual(
    [rowAfter("ArrowDown", -1, 2), rowAfter("ArrowDown", 1, 2), rowAfter("ArrowUp", 0, 2)],
    [0, 1, 0],
  );
  assert.equal(rowAfter("ArrowDown", 0, 0), undefined);
});

test("listeners hear of what changed and of nothing else", () => {
  const store = createStore({ a: 1, b: 2 });
  const heard = [];
  store.on((changed) => heard.push([...changed]));
  store.set({ a: 1 });
  store.set({ a: 3, b: 2 });
  assert.deepEqual(heard, [["a"]]);
});

test("dark and light are told apart in every notation of the browser", () => {
  assert.equal(isDark("rgb(17, 17, 17)"), true);
  assert.equal(isDark("rgba(255, 255, 255, 1)"), false);
  assert.equal(isDark("color(srgb 0.1 0.1 0.1)"), true);
});

test("no source can turn data into markup or code", () => {
  const banned =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|javascript:|https?:(?!\/\/www\.w3\.org\/2000\/svg")/; // the name of a namespace, not an address
  for (const name of readdirSync(new URL("../src/", import.meta.url))) {
    const text = readFileSync(new URL(`../src/${name}`, import.meta.url), "utf8");
    assert.equal(banned.exec(text)?.[0], undefined, name);
  }
});
