import assert from "node:assert/strict";
import { test } from "node:test";
import { AskError, Channel, decodeColumns, decodeTexts, failureOf } from "../src/channel.js";

function fakeModel() {
  /** @type {Map<Function, string>} */
  const listeners = new Map();
  const sent = [];
  const tell = (event, ...args) => {
    for (const [listener, of] of listeners) if (of === event) listener(...args);
  };
  return {
    sent,
    tell,
    on: (event, callback) => listeners.set(callback, event),
    off: (_event, callback) => listeners.delete(callback),
    send: (content) => sent.push(content),
    /** Answer the request that was sent at this place. */
    answer: (at, content) => tell("msg:custom", { ...content, id: sent[at].id }, []),
  };
}

test("columns are read from their places in one buffer", () => {
  const bytes = new Uint8Array(24);
  bytes.set([1, 2, 3]);
  new DataView(bytes.buffer).setFloat64(8, 2.5, true);
  new DataView(bytes.buffer).setInt16(16, -2, true);
  const columns = decodeColumns(
    [
      ["a", "u8", 0, 3],
      ["b", "f64", 8, 1],
      ["c", "i16", 16, 1],
    ],
    new DataView(bytes.buffer),
  );
  assert.deepEqual([...columns.a], [1, 2, 3]);
  assert.deepEqual([...columns.b], [2.5]);
  assert.deepEqual([...columns.c], [-2]);
});

test("a buffer that starts at an odd place is copied first", () => {
  const bytes = new Uint8Array(11);
  new DataView(bytes.buffer).setFloat64(3, 7.25, true);
  const columns = decodeColumns([["b", "f64", 0, 1]], new DataView(bytes.buffer, 3, 8));
  assert.deepEqual([...columns.b], [7.25]);
});

test("columns outside of the buffer, unknown types and missing buffers are refused", () => {
  const buffer = new ArrayBuffer(8);
  assert.throws(() => decodeColumns([["a", "u8", 0, 9]], buffer), RangeError);
  assert.throws(() => decodeColumns([["a", "u8", 4, 1]], buffer), RangeError);
  assert.throws(() => decodeColumns([["a", "constructor", 0, 1]], buffer), RangeError);
  assert.throws(() => decodeColumns([["a", "u8", 0, 1]], undefined), RangeError);
});

test("a column may be called __proto__", () => {
  const columns = decodeColumns([["__proto__", "u8", 0, 1]], new ArrayBuffer(8));
  assert.deepEqual(Object.keys(columns), ["__proto__"]);
});

test("texts are cut at their ends", () => {
  const bytes = new TextEncoder().encode("abçd");
  assert.deepEqual(decodeTexts(bytes, Uint32Array.of(1, 4, 4, 5)), ["a", "bç", "", "d"]);
});

test("answers find their requests in any order", async () => {
  const model = fakeModel();
  const channel = new Channel(model);
  const [first, second] = [channel.ask("a", { x: 1 }), channel.ask("b")];
  const [{ id }] = model.sent;
  assert.deepEqual(model.sent, [
    { x: 1, id, op: "a" },
    { id: id + 1, op: "b" },
  ]);
  model.answer(1, { ok: true, body: "two" });
  model.answer(0, { ok: true, body: "one" });
  assert.deepEqual([(await first).body, (await second).body], ["one", "two"]);
});

test("views of one widget do not take each other's answers", async () => {
  const model = fakeModel();
  const [tree, report] = ["tree", "report"].map((op) => new Channel(model).ask(op));
  model.answer(0, { ok: true, body: "a tree" });
  model.answer(1, { ok: true, body: "a report" });
  assert.deepEqual([(await tree).body, (await report).body], ["a tree", "a report"]);
});

test("late answers of a slot are dropped, errors too", async () => {
  const model = fakeModel();
  const channel = new Channel(model);
  const [old, newer, newest] = [1, 2, 3].map(() => channel.latest("slot", "a"));
  model.answer(0, { ok: false, error: { kind: "E", message: "late" } });
  model.answer(2, { ok: true, body: 3 });
  model.answer(1, { ok: true, body: 2 });
  assert.deepEqual([await old, await newer, (await newest).body], [undefined, undefined, 3]);
});

test("a refusal keeps what Python raised", async () => {
  const model = fakeModel();
  const asked = new Channel(model).ask("a");
  model.answer(0, {
    ok: false,
    error: { kind: "MissingFileError", message: "gone", path: "/p" },
  });
  await assert.rejects(asked, (error) => error instanceof AskError && error.failure.path === "/p");
});

test("requests to a kernel that has ended are refused, also those that wait", async () => {
  const model = fakeModel();
  const channel = new Channel(model);
  const told = [];
  channel.onWaiting = (count) => told.push(count);
  const isEnded = ({ failure }) => failure.hint === "Run the cell again.";
  const waiting = channel.ask("a");
  model.tell("comm_live_update");
  await assert.rejects(waiting, isEnded);
  model.send = () => {
    throw new Error("Cannot send");
  };
  await assert.rejects(channel.ask("b"), isEnded);
  assert.deepEqual(told, [1, 0, 1, 0]);
});

test("the number of waiting requests is told", async () => {
  const model = fakeModel();
  const channel = new Channel(model);
  const told = [];
  channel.onWaiting = (count) => told.push(count);
  const asked = channel.ask("a");
  model.answer(0, { ok: true });
  await asked;
  assert.deepEqual(told, [1, 0]);
});

test("columns without a value need no buffer", () => {
  const columns = decodeColumns(
    [
      ["a", "u8", 0, 0],
      ["b", "f64", 0, 0],
    ],
    undefined,
  );
  assert.equal(columns.a.length, 0);
  assert.equal(columns.b.length, 0);
  assert.throws(() => decodeColumns([["a", "u8", 0, 1]], undefined), /no column buffer/);
});

test("a refusal is known by what it holds, whichever bundle it comes from", () => {
  class Other extends Error {
    failure = { kind: "MissingFileError", message: "no such file", path: "/a" };
  }
  assert.equal(failureOf(new Other()).path, "/a");
  assert.deepEqual(failureOf(new Error("x")), { kind: "error", message: "Error: x" });
  assert.deepEqual(failureOf(undefined), { kind: "error", message: "undefined" });
});
