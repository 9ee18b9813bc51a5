// @ts-check
/** Text of table data made safe to look at, and numbers made easy to read. */

// Controls, line separators, bidi marks and overrides, characters that show nothing, byte order mark, lone surrogates.
// Unlike in Python, the joiners U+200C and U+200D stay: a browser shapes the scripts that need them.
const UNSEEN =
  /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const SHORT = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

export const CELL_LIMIT = 256;
/** What an empty table says, and what to do next. */
export const NO_SNAPSHOT =
  "The table has no snapshot yet. Write rows to it, for example with t.append(rows) or in the tab SQL.";

/**
 * The text with every control and bidi character drawn as an escape.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSEEN, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return SHORT.get(found) ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });
}

/**
 * @param {number} code
 * @param {number} digits
 */
function hex(code, digits) {
  return code.toString(16).padStart(digits, "0");
}

/**
 * The beginning of a long text; a pair of surrogates is not cut.
 * @param {string} text
 * @param {number} [limit]
 */
export function cut(text, limit = CELL_LIMIT) {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1]) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/**
 * @param {number} count
 */
export function formatCount(count) {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ","); // Intl takes 20 ms to start
}

/**
 * A count in four characters or so: 950, 1.2k, 34M.
 * @param {number} count
 */
export function formatShort(count) {
  return scaled(count, 1000, ["", "k", "M", "G", "T", "P"]);
}

/**
 * @param {number} bytes
 */
export function formatBytes(bytes) {
  return scaled(bytes, 1000, [" B", " kB", " MB", " GB", " TB", " PB"]);
}

/**
 * @param {number} value
 * @param {number} step
 * @param {readonly string[]} units
 */
function scaled(value, step, units) {
  let rest = Math.abs(value);
  let unit = 0;
  while (rest >= step * 0.9995 && unit < units.length - 1) {
    rest /= step;
    unit += 1;
  }
  const digits = unit > 0 && rest < 9.95 ? rest.toFixed(1) : Math.round(rest).toString();
  return `${value < 0 ? "−" : ""}${digits}${units[unit]}`;
}

/**
 * "2026-11-20 23:14:02" in the viewer's zone; `utc` for values that carry no zone.
 * @param {number} millis
 * @param {{utc?: boolean, seconds?: boolean}} [how]
 */
export function formatTime(millis, { utc = false, seconds = true } = {}) {
  const shifted = utc ? millis : millis - new Date(millis).getTimezoneOffset() * 60_000;
  const date = new Date(shifted);
  if (Number.isNaN(date.getTime())) return "unknown time";
  const text = date.toISOString().replace("T", " ").slice(0, -5); // longer in years after 9999
  return seconds ? text : text.slice(0, -3);
}

/**
 * "1 file", "2 files".
 * @param {number} count
 * @param {string} noun
 */
export function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * What a field is for, with an example if the table has one.
 * @param {string} label
 * @param {string | undefined} example
 */
export const withExample = (label, example) =>
  example ? `${label}, e.g. ${visible(example)}` : label;
