// @ts-check
/**
 * Every data file of the history with the snapshots between which it was live.
 *
 * `added` and `removed` hold positions in the timeline plus one: `added` 0 is "before the history",
 * `removed` above the last position plus one is "still live". A file is live at position p when
 * added <= p + 1 < removed. Python computes the same; a test compares both.
 */

/** @import {Columns, NumberColumn} from "./channel.js" */

/** @typedef {{files: number, bytes: number, rows: number}} Sum */
/** @typedef {"live" | "added" | "removed"} Scope */

/** Columns that a selection reads; copies in sorting order are read from front to back, which is fast. */
const SCANNED = ["added", "removed", "size", "rows", "level", "files"];
const MOST_LEVELS = 256;

/**
 * @typedef {object} Selection
 * @property {Uint32Array} rows  in sorting order; valid until the next selection
 * @property {Sum} sum
 * @property {[level: number, files: number][]} levels  number of files on each level, lowest first
 */

export class FileLifetimes {
  #found;
  #order;
  #key = "";
  #descending = false;
  #uses = 0;
  /** @type {Columns} */
  #scanned = {};

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
    this.#found = new Uint32Array(this.count);
    this.#order = rowNumbers(this.count);
    this.#scanned = this.#columnsToScan((values) => values);
  }

  /**
   * Set the order of later selections.
   * @param {string} key  a column
   * @param {boolean} descending
   */
  sort(key, descending) {
    if ((key === this.#key && descending === this.#descending) || !this.columns[key]) return;
    this.#key = key;
    this.#descending = descending;
    this.#uses = 0;
    this.#order = rowNumbers(this.count);
    this.#scanned = this.#columnsToScan((values) => values);
  }

  /** Sort all files, so that selections find theirs in order. */
  #sortAll() {
    this.#order = sortedRows(this.columns[this.#key], this.#descending);
    this.#scanned = this.#columnsToScan((values) => permuted(values, this.#order));
  }

  /** @param {(values: NumberColumn) => NumberColumn} arranged */
  #columnsToScan(arranged) {
    const { columns } = this;
    const names = SCANNED.filter((name) => columns[name]);
    return Object.fromEntries(names.map((name) => [name, arranged(columns[name])]));
  }

  /**
   * The files of one snapshot. The first selection in an order sorts what it found, the second sorts
   * all files.
   * @param {number} position
   * @param {Scope} scope
   * @param {Uint8Array | undefined} mask  one byte per row, 0 leaves it out
   * @returns {Selection}
   */
  select(position, scope, mask) {
    this.#uses += 1;
    if (this.#key && this.#uses === 2) this.#sortAll();
    const { added, removed, size, rows, level, files: weights } = this.#scanned;
    const order = this.#order;
    const found = this.#found;
    const levels = new Uint32Array(MOST_LEVELS);
    const at = position + 1;
    const live = scope === "live";
    const edge = scope === "added" ? added : removed;
    let count = 0;
    let files = 0;
    let bytes = 0;
    let total = 0;
    for (let i = 0; i < order.length; i++) {
      if (live ? added[i] > at || removed[i] <= at : edge[i] !== at) continue;
      if (mask !== undefined && mask[order[i]] === 0) continue;
      found[count++] = order[i];
      const weight = weights ? weights[i] : 1;
      files += weight;
      bytes += size[i];
      total += rows[i];
      levels[level[i] & (MOST_LEVELS - 1)] += weight;
    }
    return {
      rows: this.#key && this.#uses === 1 ? this.#sorted(count) : found.subarray(0, count),
      sum: { files, bytes, rows: total },
      levels: [...levels.entries()].filter(([, count]) => count > 0),
    };
  }

  /**
   * The first found rows in sorting order.
   * @param {number} count
   */
  #sorted(count) {
    const rows = this.#found.subarray(0, count);
    const values = this.columns[this.#key];
    const found = values.slice(0, count);
    for (let i = 0; i < count; i++) found[i] = values[rows[i]];
    return permuted(rows, sortedRows(found, this.#descending));
  }

  /**
   * What each snapshot added and removed.
   * @param {Iterable<number>} [unknown]  positions whose files are not known
   * @param {ArrayLike<number>} [deltas]  what their snapshots say of rows
   * @returns {{added: Record<keyof Sum, Float64Array>, removed: Record<keyof Sum, Float64Array>}}
   */
  changes(unknown = [], deltas = []) {
    const make = () => ({
      files: new Float64Array(this.snapshots),
      bytes: new Float64Array(this.snapshots),
      rows: new Float64Array(this.snapshots),
    });
    const result = { added: make(), removed: make() };
    const { added, removed } = this.columns;
    tally(result.added, added, this.columns);
    tally(result.removed, removed, this.columns);
    for (const at of unknown) {
      result.added.rows[at] = Math.max(deltas[at], 0);
      result.removed.rows[at] = Math.max(-deltas[at], 0);
    }
    return result;
  }
}

/**
 * @param {Record<keyof Sum, Float64Array>} sums
 * @param {NumberColumn} positions  of the snapshot that each file is counted for, from 1
 * @param {Columns} columns
 */
function tally(sums, positions, { size: sizes, rows: counts, files: weights }) {
  const { files, bytes, rows } = sums;
  const most = files.length;
  for (let row = 0; row < positions.length; row++) {
    const position = positions[row] - 1;
    if (position < 0 || position >= most) continue;
    files[position] += weights ? weights[row] : 1;
    bytes[position] += sizes[row];
    rows[position] += counts[row];
  }
}

const DIGIT = 2 ** 16;

/** @param {number} count */
function rowNumbers(count) {
  const rows = new Uint32Array(count);
  for (let row = 1; row < count; row++) rows[row] = row;
  return rows;
}

/**
 * Row numbers by value, equal values by row number: a radix sort, for all columns are whole numbers.
 * Loops count, for iterators are slow until the browser has compiled them.
 * @param {NumberColumn} values
 * @param {boolean} descending
 */
export function sortedRows(values, descending) {
  const count = values.length;
  let least = Infinity;
  let most = -Infinity;
  for (let row = 0; row < count; row++) {
    const value = values[row];
    if (value < least) least = value;
    if (value > most) most = value;
  }
  let rows = rowNumbers(count);
  if (!(most > least)) return rows;
  let next = new Uint32Array(count);
  const digits = new Uint16Array(count);
  for (let unit = 1; unit <= most - least; unit *= DIGIT) {
    const range = Math.min(DIGIT, Math.floor((most - least) / unit) + 1);
    const places = new Uint32Array(range + 1);
    for (let row = 0; row < count; row++) {
      const height = descending ? most - values[row] : values[row] - least;
      const digit = unit === 1 && most - least < DIGIT ? height : Math.floor(height / unit) % DIGIT;
      digits[row] = digit;
      places[digit + 1] += 1;
    }
    for (let digit = 0; digit < range; digit++) places[digit + 1] += places[digit];
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      next[places[digits[row]]++] = row;
    }
    [rows, next] = [next, rows];
  }
  return rows;
}

/**
 * A copy of a column in another order.
 * @template {NumberColumn} Values
 * @param {Values} values
 * @param {Uint32Array} order
 * @returns {Values}
 */
function permuted(values, order) {
  const copy = /** @type {Values} */ (values.slice());
  for (let i = 0; i < order.length; i++) copy[i] = values[order[i]];
  return copy;
}
