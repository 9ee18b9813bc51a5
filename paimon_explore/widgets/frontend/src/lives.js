// @ts-check
/**
 * Every data file of the history with the snapshots between which it was live.
 *
 * `added` and `removed` hold positions in the timeline plus one: `added` 0 is "before the history",
 * `removed` above the last position plus one is "still live". A file is live at position p when
 * added <= p + 1 < removed. Python computes the same; a test compares both.
 */

/** @import {Columns, NumberColumn} from "./wire.js" */

/** @typedef {{files: number, bytes: number, rows: number}} Sum */
/** @typedef {"live" | "added" | "removed"} Scope */

export class Lives {
  /**
   * @param {Columns} columns  added, removed, size, rows, level, bucket, partition, created, schema
   * @param {string[]} partitions  in sorting order, indexed by `partition`
   * @param {number} snapshots  length of the timeline
   */
  constructor(columns, partitions, snapshots) {
    this.columns = columns;
    this.partitions = partitions;
    this.count = columns.added.length;
    this.snapshots = snapshots;
    this.#scratch = new Uint32Array(this.count);
    this.#order = Uint32Array.from(this.#scratch.keys());
  }

  #scratch;
  #order;
  #sorted = "";

  /**
   * Order all files once; later selections keep that order.
   * @param {string} key  a column
   * @param {boolean} descending
   */
  sort(key, descending) {
    const wanted = `${key} ${descending}`;
    if (wanted === this.#sorted) return;
    this.#sorted = wanted;
    const values = this.columns[key];
    if (!values) return;
    this.#order = sortedRows(values, descending);
  }

  /**
   * Rows of one snapshot, in sorting order. The result is valid until the next call.
   * @param {number} position
   * @param {Scope} scope
   * @param {Uint8Array | undefined} mask  one byte per row, 0 leaves it out
   * @returns {Uint32Array}
   */
  select(position, scope, mask) {
    const { added, removed } = this.columns;
    const order = this.#order;
    const found = this.#scratch;
    const at = position + 1;
    let length = 0;
    for (let i = 0; i < order.length; i++) {
      const row = order[i];
      const from = added[row];
      const to = removed[row];
      const taken =
        scope === "live" ? from <= at && to > at : (scope === "added" ? from : to) === at;
      if (taken && (mask === undefined || mask[row] !== 0)) found[length++] = row;
    }
    return found.subarray(0, length);
  }

  /**
   * @param {Uint32Array} rows
   * @returns {Sum}
   */
  sum(rows) {
    const { size, rows: counts } = this.columns;
    let bytes = 0;
    let total = 0;
    for (const row of rows) {
      bytes += size[row];
      total += counts[row];
    }
    return { files: rows.length, bytes, rows: total };
  }

  /**
   * What each snapshot added and removed.
   * @returns {{added: Record<keyof Sum, Float64Array>, removed: Record<keyof Sum, Float64Array>}}
   */
  changes() {
    const make = () => ({
      files: new Float64Array(this.snapshots),
      bytes: new Float64Array(this.snapshots),
      rows: new Float64Array(this.snapshots),
    });
    const result = { added: make(), removed: make() };
    const { added, removed, size, rows } = this.columns;
    for (let row = 0; row < this.count; row++) {
      tally(result.added, added[row] - 1, size[row], rows[row]);
      tally(result.removed, removed[row] - 1, size[row], rows[row]);
    }
    return result;
  }

  /**
   * Sums of the rows by partition, in partition order.
   * @param {Uint32Array} rows
   */
  byPartition(rows) {
    const { partition, size, rows: counts, level, bucket } = this.columns;
    const slots = new Int32Array(this.partitions.length).fill(-1);
    /** @type {(Sum & {partition: number, level0: number, buckets: Set<number>})[]} */
    const sums = [];
    for (const row of rows) {
      const id = partition[row];
      if (slots[id] < 0) {
        slots[id] = sums.length;
        sums.push({ partition: id, files: 0, bytes: 0, rows: 0, level0: 0, buckets: new Set() });
      }
      const entry = sums[slots[id]];
      entry.files += 1;
      entry.bytes += size[row];
      entry.rows += counts[row];
      if (level[row] === 0) entry.level0 += 1;
      entry.buckets.add(bucket[row]);
    }
    return sums.sort((left, right) => left.partition - right.partition);
  }

  /**
   * Number of the rows on each level, lowest first.
   * @param {Uint32Array} rows
   * @returns {[level: number, files: number][]}
   */
  byLevel(rows) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    const { level } = this.columns;
    for (const row of rows) counts.set(level[row], (counts.get(level[row]) ?? 0) + 1);
    return [...counts].sort((left, right) => left[0] - right[0]);
  }
}

/**
 * @param {Record<keyof Sum, Float64Array>} sums
 * @param {number} position
 * @param {number} bytes
 * @param {number} rows
 */
function tally(sums, position, bytes, rows) {
  if (position < 0 || position >= sums.files.length) return;
  sums.files[position] += 1;
  sums.bytes[position] += bytes;
  sums.rows[position] += rows;
}

/**
 * Row numbers by value, equal values by row number.
 * @param {NumberColumn} values
 * @param {boolean} descending
 */
export function sortedRows(values, descending) {
  const sign = descending ? -1 : 1;
  const rows = Uint32Array.from(values.keys());
  return rows.sort((left, right) => sign * (values[left] - values[right]) || left - right);
}
