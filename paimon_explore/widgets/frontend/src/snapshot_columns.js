// @ts-check
/** The snapshots of the table as columns, and what points at them. */

import { decodeTexts } from "./channel.js";

/** @import {Answer} from "./channel.js" */
/** @import {Flag} from "./timeline_layout.js" */

export const KINDS = [
  { token: "APPEND", letter: "A", colour: "append" },
  { token: "COMPACT", letter: "C", colour: "compact" },
  { token: "OVERWRITE", letter: "O", colour: "overwrite" },
  { token: "ANALYZE", letter: "Z", colour: "analyze" },
  { token: "unreadable", letter: "!", colour: "unknown" },
];

const UNREADABLE = 1;
const EXPIRED = 2;
const SAME_COMMIT = 4;
const WATERMARK = 8;

/**
 * @typedef {object} TableFacts
 * @property {string} name
 * @property {string} database
 * @property {string} location
 * @property {string} branch
 * @property {boolean} partitioned
 * @property {string[]} chips  short properties of the table
 * @property {{message: string, path: string}[]} problems
 */

export class History {
  /** Ids of the snapshots that came while the table was followed, for a moment. @type {Set<number>} */
  fresh = new Set();
  /** How far their marks still are from their places, in pixels. */
  slide = 0;

  /** @param {Answer} answer */
  constructor({ body, columns }) {
    /** @type {TableFacts} */
    this.table = body.table;
    /** Counts the changes of the timeline. @type {number} */
    this.version = body.version ?? 0;
    this.ids = columns.id;
    this.times = columns.time;
    this.kinds = columns.kind;
    this.states = columns.state;
    this.schemas = columns.schema;
    this.totalRows = columns.total_rows;
    this.deltaRows = columns.delta_rows;
    this.changelogRows = columns.changelog_rows;
    this.userIndex = columns.user;
    this.watermarks = columns.watermark;
    this.users = decodeTexts(columns.user_text, columns.user_end);
    /** @type {{kind: string, name: string, snapshot: number}[]} */
    this.pointers = body.flags;
    this.count = this.ids.length;
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < this.count; i++) {
      const value = this.watermark(i) ?? low;
      low = Math.min(low, value);
      high = Math.max(high, this.watermark(i) ?? high);
    }
    this.watermarkRange = { low, high };
    this.hasWatermark = low <= high;
  }

  /**
   * Take over a newer timeline; snapshots that were not here before are fresh.
   * @param {Answer} answer
   */
  load(answer) {
    const known = new Set(this.ids);
    Object.assign(this, new History(answer));
    const { added = [] } = answer.body;
    this.fresh = new Set([...this.ids].filter((id) => !known.has(id) || added.includes(id)));
  }

  /**
   * @param {number} id
   * @returns {number} index in the timeline, -1 when it is not there
   */
  positionOf(id) {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.ids[middle] === id) return middle;
      if (this.ids[middle] < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /** @param {number} position */
  kind(position) {
    return KINDS[this.kinds[position]] ?? KINDS[KINDS.length - 1];
  }

  /** @param {number} position */
  unreadable(position) {
    return (this.states[position] & UNREADABLE) !== 0;
  }

  /**
   * Whether only a tag still holds the snapshot.
   * @param {number} position
   */
  expired(position) {
    return (this.states[position] & EXPIRED) !== 0;
  }

  /**
   * Whether the snapshot before it comes from the same commit: rows appended, then compacted.
   * @param {number} position
   */
  sameCommit(position) {
    return (this.states[position] & SAME_COMMIT) !== 0;
  }

  /**
   * Epoch milliseconds; undefined for none.
   * @param {number} position
   */
  watermark(position) {
    return this.states[position] & WATERMARK ? this.watermarks[position] : undefined;
  }

  /** @param {number} position */
  user(position) {
    return this.users[this.userIndex[position]] ?? "";
  }

  /**
   * Whether ids are missing between a mark and the one before it.
   * @param {number} position
   */
  gapBefore(position) {
    return position > 0 && this.ids[position] !== this.ids[position - 1] + 1;
  }

  /**
   * Tags, branches, consumers and hints at their marks; those that point past the end stand at the last.
   * @returns {Flag[]}
   */
  flags() {
    const last = this.count - 1;
    return this.pointers.flatMap(({ kind, name, snapshot }) => {
      const found = this.positionOf(snapshot);
      const position = found < 0 && snapshot > this.ids[last] ? last : found;
      return position < 0 ? [] : [{ kind, name, position }];
    });
  }
}
