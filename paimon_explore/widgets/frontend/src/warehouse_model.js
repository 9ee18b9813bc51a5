// @ts-check
/** The tables of a catalog as the list shows them: sorted, searched, read a few at a time; pure. */

/** @typedef {"table" | "view" | "function"} ObjectType */
/** @typedef {{message: string, hint?: string}} Problem */
/** @typedef {{worst: string, total: number, words: string}} Badge */
/**
 * @typedef {object} Figures
 * @property {number} [rows]
 * @property {number | null} [size]  null if it was not read
 * @property {number} [files]
 * @property {number} [snapshots]
 * @property {number} [time]  of the last commit, epoch milliseconds
 * @property {string} [kind]
 * @property {string} [user]
 * @property {string[]} [writers]
 * @property {string[]} [chips]
 * @property {string} [comment]
 * @property {Problem} [problem]
 */
/**
 * @typedef {object} Row
 * @property {string} database
 * @property {string} name
 * @property {ObjectType} type
 * @property {string} label  `database.name`
 * @property {Figures} [figures]  undefined until they are read
 * @property {Badge | null} [health]  undefined until it is read, null if it is not checked
 */
/** @typedef {{database: string, search: string, sort: string, descending: boolean}} Shown */
/** @typedef {{op: "figures" | "health", rows: Row[]}} Request */

const FIGURES_AT_ONCE = 25;
const HEALTH_AT_ONCE = 8;
const SEVERITIES = ["", "note", "warning", "problem", "error"];
/** Columns that are known without reading a table. */
const NAMES = "name";

/** @type {Readonly<Record<string, (row: Row) => string | number | null | undefined>>} */
const VALUES = {
  rows: ({ figures }) => figures?.rows,
  size: ({ figures }) => figures?.size,
  files: ({ figures }) => figures?.files,
  snapshots: ({ figures }) => figures?.snapshots,
  time: ({ figures }) => figures?.time,
  kind: ({ figures }) => figures?.kind,
  user: ({ figures }) => figures?.writers?.join(", ") || figures?.user,
  health: ({ health }) =>
    health ? SEVERITIES.indexOf(health.worst) * 1_000_000 + health.total : undefined,
  comment: ({ figures }) => figures?.comment || undefined,
};

export class Warehouse {
  /** @type {Row[]} */
  rows = [];
  /** Number of tables, views and functions by database. @type {Map<string, number>} */
  counts = new Map();
  /** Whether the figures of all tables are read, not only of those on the screen. */
  readsAll = false;

  /**
   * Add a page of names of a database.
   * @param {string} database
   * @param {readonly [type: ObjectType, name: string][]} names
   */
  add(database, names) {
    for (const [type, name] of names) {
      this.rows.push({ database, name, type, label: `${database}.${name}` });
    }
    this.counts.set(database, (this.counts.get(database) ?? 0) + names.length);
  }

  /**
   * The rows to show, in order.
   * @param {Shown} shown
   */
  select({ database, search, sort, descending }) {
    const wanted = search.trim().toLowerCase();
    const found = this.rows.filter(
      (row) =>
        (!database || row.database === database) &&
        (!wanted ||
          row.label.toLowerCase().includes(wanted) ||
          row.figures?.comment?.toLowerCase().includes(wanted)),
    );
    return found.sort(comparison(sort, descending));
  }

  /**
   * What to ask next: figures first, then health, of the rows on the screen; then of the others, if
   * they are wanted.
   * @param {readonly Row[]} screen
   * @param {readonly Row[]} others
   * @returns {Request | undefined}
   */
  next(screen, others) {
    for (const rows of this.readsAll ? [screen, others] : [screen]) {
      const unread = rows.filter(({ figures }) => !figures).slice(0, FIGURES_AT_ONCE);
      if (unread.length) return { op: "figures", rows: unread };
      const unchecked = rows.filter(isUnchecked).slice(0, HEALTH_AT_ONCE);
      if (unchecked.length) return { op: "health", rows: unchecked };
    }
    return undefined;
  }

  /**
   * How many rows have figures.
   * @param {readonly Row[]} rows
   */
  known(rows) {
    return rows.reduce((sum, { figures }) => sum + (figures ? 1 : 0), 0);
  }
}

/** @param {Row} row */
function isUnchecked({ type, figures, health }) {
  return type === "table" && figures !== undefined && !figures.problem && health === undefined;
}

/**
 * Whether a column is sorted by figures, which must be read first.
 * @param {string} sort
 */
export function needsFigures(sort) {
  return sort !== NAMES;
}

/**
 * The order of rows; those without a value come last in both directions.
 * @param {string} sort
 * @param {boolean} descending
 * @returns {(a: Row, b: Row) => number}
 */
function comparison(sort, descending) {
  const sign = descending ? -1 : 1;
  const value = Object.hasOwn(VALUES, sort) ? VALUES[sort] : undefined;
  if (!value) return (a, b) => sign * byLabel(a, b);
  return (a, b) => {
    const [one, other] = [value(a) ?? undefined, value(b) ?? undefined];
    if (one === other) return byLabel(a, b);
    if (one === undefined) return 1;
    if (other === undefined) return -1;
    return one < other ? -sign : sign;
  };
}

/**
 * @param {Row} a
 * @param {Row} b
 */
function byLabel(a, b) {
  if (a.label === b.label) return 0;
  return a.label < b.label ? -1 : 1;
}
