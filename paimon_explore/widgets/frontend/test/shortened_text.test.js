import assert from "node:assert/strict";
import { test } from "node:test";
import { shortened } from "../src/shortened_text.js";

/** Every code point is as wide as its UTF-16 length, so that emoji are wide. */
const widthOf = (text) => text.length;

test("texts that fit stay as they are", () => {
  assert.deepEqual(shortened(["abc", ""], 3, widthOf), ["abc", ""]);
});

test("a long text keeps its begin", () => {
  assert.deepEqual(shortened(["abcdef", "xy"], 4, widthOf), ["abc…", "xy"]);
});

test("texts with the same begin keep their ends", () => {
  const texts = ["region=north/dt=1", "region=north/dt=2", "short"];
  assert.deepEqual(shortened(texts, 8, widthOf), ["reg…dt=1", "reg…dt=2", "short"]);
});

test("equal texts stay equal", () => {
  assert.deepEqual(shortened(["abcdef", "abcdef"], 4, widthOf), ["abc…", "abc…"]);
});

test("no pair of surrogates is divided, however little room there is", () => {
  const text = "\u{1f469}\u{1f469}\u{1f469}";
  for (let room = 0; room < 7; room++) {
    const [shown] = shortened([text], room, widthOf);
    assert.equal(shown.isWellFormed(), true);
    assert.ok(shown === "…" || widthOf(shown) <= room);
  }
});
