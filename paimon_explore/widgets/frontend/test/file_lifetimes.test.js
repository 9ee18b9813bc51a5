import assert from "node:assert/strict";
import { test } from "node:test";
import { FileLifetimes, sortedRows } from "../src/file_lifetimes.js";
import { byPartition } from "../src/partition_sums.js";

// Three snapshots: file 0 from before, 1 added by the first and removed by the third, 2 added by the third.
function three() {
  return new FileLifetimes(
    {
      added: Uint8Array.of(0, 1, 3),
      removed: Uint8Array.of(4, 3, 4),
      size: Uint32Array.of(100, 20, 3),
      rows: Uint32Array.of(10, 2, 1),
      level: Uint8Array.of(5, 0, 0),
      bucket: Int8Array.of(0, 1, 1),
      partition: Uint8Array.of(1, 0, 1),
    },
    ["dt=a", "dt=b"],
    3,
  );
}

const rowsOf = (lifetimes, ...wanted) => lifetimes.select(...wanted).rows;

test("files are live from the snapshot that adds them until the one that removes them", () => {
  const lifetimes = three();
  assert.deepEqual([...rowsOf(lifetimes, 0, "live", undefined)], [0, 1]);
  assert.deepEqual([...rowsOf(lifetimes, 1, "live", undefined)], [0, 1]);
  assert.deepEqual([...rowsOf(lifetimes, 2, "live", undefined)], [0, 2]);
  assert.deepEqual([...rowsOf(lifetimes, 2, "added", undefined)], [2]);
  assert.deepEqual([...rowsOf(lifetimes, 2, "removed", undefined)], [1]);
  assert.deepEqual([...rowsOf(lifetimes, 1, "removed", undefined)], []);
});

test("the mask leaves rows out and the order is kept", () => {
  const lifetimes = three();
  lifetimes.sort("size", false);
  assert.deepEqual([...rowsOf(lifetimes, 0, "live", undefined)], [1, 0]);
  lifetimes.sort("size", true);
  assert.deepEqual([...rowsOf(lifetimes, 0, "live", Uint8Array.of(1, 0, 1))], [0]);
});

test("every selection in an order finds the same rows", () => {
  const count = 300;
  const of = (/** @type {number} */ factor, /** @type {number} */ range) =>
    Uint16Array.from({ length: count }, (_, row) => (row * factor) % range);
  const columns = { added: of(7, 3), removed: of(5, 4), size: of(11, 97), rows: of(1, 9) };
  const lifetimes = new FileLifetimes({ ...columns, level: of(1, 6) }, [""], 3);
  const mask = Uint8Array.from(of(1, 5));
  for (const key of ["size", "rows"]) {
    for (const descending of [false, true]) {
      lifetimes.sort(key, descending);
      const [first, second, third] = [1, 2, 3].map(() => [...rowsOf(lifetimes, 1, "live", mask)]);
      const sign = descending ? -1 : 1;
      const wanted = [...first].sort(
        (left, right) => sign * (columns[key][left] - columns[key][right]) || left - right,
      );
      assert.ok(first.length > 20);
      assert.deepEqual([first, second, third], [wanted, wanted, wanted]);
    }
  }
});

test("sums count files, bytes and rows", () => {
  const lifetimes = three();
  assert.deepEqual(lifetimes.select(0, "live", undefined).sum, {
    files: 2,
    bytes: 120,
    rows: 12,
  });
  const { added, removed } = lifetimes.changes();
  assert.deepEqual([...added.files], [1, 0, 1]);
  assert.deepEqual([...added.bytes], [20, 0, 3]);
  assert.deepEqual([...removed.rows], [0, 0, 2]);
});

test("files are summed by partition and by level", () => {
  const lifetimes = three();
  const sums = byPartition(lifetimes, rowsOf(lifetimes, 2, "live", undefined));
  assert.deepEqual(
    sums.map(({ partition, files, bytes, level0, buckets }) => [
      partition,
      files,
      bytes,
      level0,
      [...buckets],
    ]),
    [[1, 2, 103, 1, [0, 1]]],
  );
  assert.deepEqual(lifetimes.select(0, "live", undefined).levels, [
    [0, 1],
    [5, 1],
  ]);
});

test("equal values keep the order of their rows in both directions", () => {
  assert.deepEqual([...sortedRows(Uint8Array.of(2, 1, 2, 1), false)], [1, 3, 0, 2]);
  assert.deepEqual([...sortedRows(Uint8Array.of(2, 1, 2, 1), true)], [0, 2, 1, 3]);
});

test("values of many digits and negative ones are sorted", () => {
  const values = Float64Array.of(5e12, -2, 70_000, 5e12 - 1, 3);
  assert.deepEqual([...sortedRows(values, false)], [1, 4, 2, 3, 0]);
  assert.deepEqual([...sortedRows(values, true)], [0, 3, 2, 4, 1]);
  assert.deepEqual([...sortedRows(new Uint8Array(0), false)], []);
});

test("groups count as many files as they hold", () => {
  const lifetimes = new FileLifetimes(
    {
      added: Uint8Array.of(1, 2),
      removed: Uint8Array.of(3, 3),
      size: Uint32Array.of(100, 20),
      rows: Uint32Array.of(10, 2),
      level: Uint8Array.of(0, 5),
      bucket: Uint8Array.of(0, 0),
      partition: Uint8Array.of(0, 0),
      files: Uint32Array.of(700, 30),
    },
    [""],
    2,
  );
  lifetimes.sort("size", false);
  const { rows, sum, levels } = lifetimes.select(1, "live", undefined);
  assert.deepEqual([...rows], [1, 0]);
  assert.deepEqual(sum, { files: 730, bytes: 120, rows: 12 });
  assert.deepEqual(levels, [
    [0, 700],
    [5, 30],
  ]);
  assert.deepEqual([...lifetimes.changes().added.files], [700, 30]);
  assert.equal(byPartition(lifetimes, rows)[0].files, 730);
});

test("where files are not known, the rows are those that the snapshot tells", () => {
  const { added, removed } = three().changes([1], [0, -7, 0]);
  assert.deepEqual([added.rows[1], removed.rows[1]], [0, 7]);
});
