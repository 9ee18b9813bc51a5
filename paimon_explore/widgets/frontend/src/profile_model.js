// @ts-check
/** The profile as Python sends it, and the selection of a range of a histogram. */

/**
 * @typedef {object} ColumnProfile
 * @property {string} name
 * @property {string} type
 * @property {number | null} nulls
 * @property {number} nans
 * @property {number | null} distinct
 * @property {number} distinct_error
 * @property {string | null} min
 * @property {string | null} max
 * @property {number | null} average_length
 * @property {number | null} max_length
 * @property {{of: "values" | "lengths", edges: string[], counts: number[]} | null} histogram
 * @property {{value: string, count: number}[]} frequent
 * @property {number} frequent_error
 * @property {boolean} exact
 * @property {string} reason
 * @property {string[]} notes
 */
/**
 * @typedef {object} Progress
 * @property {number} number  Python's number of the profile
 * @property {number} rows  profiled rows
 * @property {number} stored  stored rows that were read
 * @property {number} total  stored rows to read
 * @property {boolean} complete
 */
/**
 * @typedef {Progress & {title: string, origin: "statistics" | "rows", exact: boolean,
 *   notes: string[], columns: ColumnProfile[]}} Profile
 */

/** The selected bins of a histogram: the one where the selection began, and the active one. */
/** @typedef {{anchor: number, active: number}} Brush */

/**
 * The brush after a key; undefined if the key does nothing to it.
 * @param {Brush | undefined} brush
 * @param {{key: string, shiftKey: boolean}} event
 * @param {number} count  of bins
 * @returns {Brush | undefined}
 */
export function brushAfter(brush, { key, shiftKey }, count) {
  const from = brush?.active ?? -1;
  const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: count - 1 }[key];
  if (to === undefined || count === 0) return undefined;
  const active = Math.min(Math.max(to, 0), count - 1);
  return { anchor: shiftKey && brush ? brush.anchor : active, active };
}

/**
 * The first and the last selected bin.
 * @param {Brush} brush
 * @returns {[first: number, last: number]}
 */
export function rangeOf({ anchor, active }) {
  return [Math.min(anchor, active), Math.max(anchor, active)];
}

/**
 * Heights of bars as shares of the highest; a bar that is not empty can be seen.
 * @param {readonly number[]} counts
 */
export function barHeights(counts) {
  const peak = counts.reduce((most, count) => Math.max(most, count), 0) || 1;
  return counts.map((count) => (count ? Math.max(count / peak, 0.04) : 0));
}

/**
 * The range of a bin in words; the last bin includes its upper edge.
 * @param {readonly string[]} edges
 * @param {number} bin
 */
export function binText(edges, bin) {
  const [low, high] = [edges[bin], edges[bin + 1]];
  if (low === high) return low;
  return bin === edges.length - 2 ? `${low} to ${high}` : `${low} to before ${high}`;
}

/**
 * The share of rows that were read, 0 to 1.
 * @param {Progress} progress
 */
export function shareRead({ stored, total, complete }) {
  if (complete) return 1;
  return total ? Math.min(stored / total, 1) : 0;
}
