// @ts-check
/** What is looked at right now, and who wants to know when it changes. */

/**
 * The traits Python knows; a test compares this list with the class.
 * @typedef {object} Traits
 * @property {number} selected  snapshot id under the cursor, 0 for none
 * @property {number} compare  snapshot id marked for comparison, 0 for none
 * @property {string} node  path of the chosen tree node or file, "" for the snapshot itself
 * @property {string} filter  condition on files, "" for all
 * @property {string} where  SQL condition on rows, "" for all
 * @property {string} tab  which view is open
 * @property {Readonly<Record<string, string>>} asked  what each view is asked
 * @property {string} code  the line of Python that yields what is shown
 * @property {string} spark_code  the same in PySpark
 * @property {number} height  pixels
 * @property {number} live  seconds between polls for new snapshots, 0 for none
 */

/**
 * View-only state, not known to Python.
 * @typedef {object} View
 * @property {number} position  index of the selected snapshot in the timeline, -1 for none
 * @property {"rows" | "bytes" | "files"} metric  what the bars of the timeline stand for
 * @property {"id" | "time"} axis  how snapshots are spaced
 * @property {boolean} writers  whether the timeline has lanes of commit users
 * @property {boolean} readers  whether it has lanes of consumers and the watermark
 * @property {"live" | "added" | "removed"} scope  which files of the snapshot the grid holds
 * @property {string} sort  key of the grid's sorting column
 * @property {boolean} descending
 * @property {"" | "help" | "settings"} aside  what is shown instead of the details
 * @property {string} column  name of the column to which the profile is scrolled
 * @property {import("./query_history.js").QueryHistory | undefined} queryHistory  below the timeline
 */

/** @typedef {Traits & View} State */

/** @type {readonly (keyof Traits)[]} */
export const TRAITS = [
  "selected",
  "compare",
  "node",
  "filter",
  "where",
  "tab",
  "asked",
  "code",
  "spark_code",
  "height",
  "live",
];

/**
 * @template {object} T
 * @param {T} initial
 */
export function createStore(initial) {
  let state = { ...initial };
  /** @type {Set<(changed: Set<keyof T>) => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    /** @param {Partial<T>} patch */
    set(patch) {
      /** @type {Set<keyof T>} */
      const changed = new Set();
      for (const key of /** @type {(keyof T)[]} */ (Object.keys(patch))) {
        if (!Object.is(patch[key], state[key])) changed.add(key);
      }
      if (!changed.size) return;
      state = { ...state, ...patch };
      for (const listener of listeners) listener(changed);
    },
    /** @param {(changed: Set<keyof T>) => void} listener */
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
