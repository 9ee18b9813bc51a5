// @ts-check
/** How well a name answers what was typed. */

/**
 * 0 if the name begins with the text, 1 if words of it begin with the words of the text, 2 if it contains the
 * text, 3 if it contains the letters in this order; undefined if it does not answer at all.
 * @param {string} name
 * @param {string} typed
 */
export function matchRank(name, typed) {
  const [whole, wanted] = [name.toLowerCase(), typed.trim().toLowerCase()];
  if (whole.startsWith(wanted)) return 0;
  const words = whole.split(/[^\p{L}\p{N}]+/u);
  const begins = (/** @type {string} */ part) => words.some((word) => word.startsWith(part));
  if (wanted.split(/\s+/).every(begins)) return 1;
  if (whole.includes(wanted)) return 2;
  let at = -1;
  for (const letter of wanted.replace(/\s/g, "")) {
    at = whole.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
