// @ts-check
/** What is known of a file's fields, and which rows of the tree they make; pure. */
import { plural } from "./text_format.js";

/**
 * A field as Python tells it.
 * @typedef {object} Field
 * @property {string} path  positions among siblings from the root down, `@` where a leaf is unpacked
 * @property {string} name
 * @property {number} offset
 * @property {number} length
 * @property {string} text
 * @property {string} rule
 * @property {string} form
 * @property {string} says
 * @property {boolean} opens
 * @property {boolean} packed
 * @property {boolean} strange
 */

/** @typedef {{first: number, total: number, items: Field[]}} Page  some of the fields below one */
/**
 * @typedef {{kind: "field", field: Field, depth: number, open: boolean}
 *   | {kind: "more", path: string, first: number, depth: number, label: string}} Row
 */

export const PAGE = 200;

/**
 * The path of the packed leaf whose unpacked bytes a field lies in; "" for the file itself.
 * @param {string} path
 */
export function spaceOf(path) {
  const steps = path.split(".");
  const last = steps.lastIndexOf("@");
  return last < 0 ? "" : steps.slice(0, last).join(".");
}

/**
 * The pages that must be open for a field to be seen: whose children, and from which on.
 * @param {string} path
 * @returns {[path: string, first: number][]}
 */
export function pagesTo(path) {
  const steps = path ? path.split(".") : [];
  return steps.map((step, i) => {
    const at = step === "@" ? 0 : Number(step);
    return [steps.slice(0, i).join("."), Math.floor(at / PAGE) * PAGE];
  });
}

/** The open part of a file's tree of fields. */
export class FieldTree {
  /** @type {Map<string, Page>} */
  #pages = new Map();

  /**
   * @param {string} path
   * @param {Page} page
   */
  put(path, page) {
    this.#pages.set(path, page);
  }

  /** @param {string} path */
  page(path) {
    return this.#pages.get(path);
  }

  /** @param {string} path */
  close(path) {
    for (const known of [...this.#pages.keys()]) {
      if (known === path || known.startsWith(`${path}.`)) this.#pages.delete(known);
    }
  }

  /**
   * The rows from top to bottom.
   * @returns {Row[]}
   */
  rows() {
    /** @type {Row[]} */
    const rows = [];
    this.#below("", 0, rows);
    return rows;
  }

  /**
   * @param {string} path
   * @param {number} depth
   * @param {Row[]} rows
   */
  #below(path, depth, rows) {
    const page = this.#pages.get(path);
    if (!page) return;
    const { first, total, items } = page;
    if (first > 0) {
      const before = Math.max(first - PAGE, 0);
      rows.push({
        kind: "more",
        path,
        first: before,
        depth,
        label: `… ${plural(first, "previous field")}`,
      });
    }
    for (const field of items) {
      const open = this.#pages.has(field.path);
      rows.push({ kind: "field", field, depth, open });
      if (open) this.#below(field.path, depth + 1, rows);
    }
    const rest = total - first - items.length;
    if (rest > 0) {
      rows.push({
        kind: "more",
        path,
        first: first + items.length,
        depth,
        label: `… ${plural(rest, "more field")}`,
      });
    }
  }
}

/**
 * A byte as text, or a dot.
 * @param {number} byte
 */
export function glyph(byte) {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
}

/**
 * @param {number} value
 * @param {number} digits
 */
export function hex(value, digits) {
  return value.toString(16).padStart(digits, "0");
}

/**
 * How many hex digits offsets of a file need.
 * @param {number} size
 */
export function offsetDigits(size) {
  return Math.max(4, Math.ceil(Math.log2(Math.max(size, 2)) / 4));
}

/**
 * The byte that a key leads to, or undefined.
 * @param {string} key
 * @param {number} at
 * @param {number} size
 * @param {number} perRow
 * @param {number} page  rows on the screen
 */
export function byteAfter(key, at, size, perRow, page) {
  const step = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -perRow,
    ArrowDown: perRow,
    PageUp: -perRow * page,
    PageDown: perRow * page,
    Home: -at,
    End: size - 1 - at,
  }[key];
  if (step === undefined || !size) return undefined;
  const to = at + step;
  if (to < 0 || to >= size)
    return Math.abs(step) > 1 && key.startsWith("Page") ? (to < 0 ? 0 : size - 1) : at;
  return to;
}
