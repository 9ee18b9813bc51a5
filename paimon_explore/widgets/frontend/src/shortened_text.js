// @ts-check
/** Texts shortened to a width; those that differ stay different where they can. */

/**
 * Each text as it is if it fits, else its begin and "…". Where two different texts would then look
 * the same, both lose their middle instead, so that their ends tell them apart.
 * @param {readonly string[]} texts
 * @param {number} room
 * @param {(text: string) => number} widthOf
 */
export function shortened(texts, room, widthOf) {
  const begins = texts.map((text) => fit([...text], room, widthOf, 1));
  /** @type {Map<string, Set<string>>} */
  const sources = new Map();
  begins.forEach((begin, i) => {
    sources.set(begin, (sources.get(begin) ?? new Set()).add(texts[i]));
  });
  return begins.map((begin, i) =>
    (sources.get(begin)?.size ?? 0) > 1 ? fit([...texts[i]], room, widthOf, 1 / 3) : begin,
  );
}

/**
 * The most letters of a text that fit with an ellipsis.
 * @param {string[]} letters  code points, so that no pair of surrogates is divided
 * @param {number} room
 * @param {(text: string) => number} widthOf
 * @param {number} share  of the kept characters that are from the begin
 */
function fit(letters, room, widthOf, share) {
  if (widthOf(letters.join("")) <= room) return letters.join("");
  /** @param {number} count */
  const made = (count) => {
    const ahead = Math.ceil(count * share);
    return `${letters.slice(0, ahead).join("")}…${letters.slice(letters.length - count + ahead).join("")}`;
  };
  let [low, high] = [0, letters.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(made(middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return made(low);
}
