import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../src/snapshot_columns.js";
import { lanesOf, laneWords, usefulLanes } from "../src/timeline_lanes.js";

const encoder = new TextEncoder();

// Six snapshots: one user appends and compacts in one commit, another appends; a watermark from the third on.
function history({ users = ["etl", "web"], of = [0, 0, 1, 0, 0, 1], flags = [] } = {}) {
  const texts = users.map((user) => encoder.encode(user));
  const ends = [];
  for (const text of texts) ends.push((ends.at(-1) ?? 0) + text.length);
  const zeros = new Float64Array(of.length);
  return new History({
    body: { table: {}, flags },
    columns: {
      id: Uint32Array.from(of, (_, i) => i + 1),
      time: zeros,
      kind: Uint8Array.of(0, 1, 0, 0, 1, 0),
      state: Uint8Array.of(0, 4, 8, 8, 12, 8),
      schema: zeros,
      total_rows: zeros,
      delta_rows: zeros,
      changelog_rows: zeros,
      user: Uint8Array.from(of),
      watermark: Float64Array.of(0, 0, 1000, 1000, 3000, 3000),
      user_text: Uint8Array.from(texts.flatMap((text) => [...text])),
      user_end: Uint32Array.from(ends),
    },
  });
}

const consumer = { kind: "consumer", name: "c1", snapshot: 4 };

test("each commit user has a lane, the busiest first", () => {
  const lanes = lanesOf(history(), { writers: true, readers: false });
  assert.deepEqual(
    lanes.map(({ label }) => label),
    ["etl", "web"],
  );
  assert.deepEqual([...lanes[0].users], [0]);
});

test("users beyond the busiest few share a lane", () => {
  const users = ["a", "b", "c", "d", "e", "f"];
  const lanes = lanesOf(history({ users, of: [0, 1, 2, 3, 4, 5] }), {
    writers: true,
    readers: false,
  });
  assert.deepEqual(
    lanes.map(({ label }) => label),
    ["a", "b", "c", "3 more users"],
  );
});

test("a consumer's lane ends before the snapshot that it reads next", () => {
  const lanes = lanesOf(history({ flags: [consumer] }), { writers: false, readers: true });
  assert.deepEqual(lanes, [
    { kind: "consumer", label: "c1: 3 snapshots behind", next: 3 },
    { kind: "watermark", label: "watermark" },
  ]);
  const ahead = history({ flags: [{ ...consumer, snapshot: 7 }] });
  const [read] = lanesOf(ahead, { writers: false, readers: true });
  assert.deepEqual([read.label, read.next], ["c1: 0 snapshots behind", 6]);
});

test("watermarks range over those that are there", () => {
  const found = history();
  assert.deepEqual(found.watermarkRange, { low: 1000, high: 3000 });
  assert.equal(found.watermark(0), undefined);
  assert.equal(found.watermark(2), 1000);
});

test("a mark tells its user, the other half of its commit, and the watermark", () => {
  const words = laneWords(history(), 4);
  assert.equal(words[0], "commit user etl");
  assert.equal(words[1], "same commit as snapshot 4");
  assert.match(words[2], /^watermark 1970-01-01 /);
});

test("lanes that say little are not shown of their own accord", () => {
  assert.deepEqual(usefulLanes(history()), { writers: true, readers: true });
  const many = history({ users: ["a", "b", "c", "d"], of: [0, 1, 2, 3, 0, 1] });
  assert.equal(usefulLanes(many).writers, false);
});

test("hostile names of users and consumers are made visible", () => {
  const lanes = lanesOf(
    history({ users: ["e\u202etl", "web"], flags: [{ ...consumer, name: "c\u0000" }] }),
    { writers: true, readers: true },
  );
  assert.deepEqual(
    lanes.map(({ label }) => label),
    ["e\\u{202e}tl", "web", "c\\x00: 3 snapshots behind", "watermark"],
  );
});
