// @ts-check
/** Choices that the browser keeps: in this session, or for the next explorer too. */

/** @typedef {"localStorage" | "sessionStorage"} Where */

/**
 * A choice made before; undefined if there is none, or the browser keeps nothing for this page.
 * @param {Where} where
 * @param {string} name
 */
export function remembered(where, name) {
  try {
    return JSON.parse(globalThis[where].getItem(`paimon-explore-${name}`) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {Where} where
 * @param {string} name
 * @param {unknown} value
 */
export function remember(where, name, value) {
  try {
    globalThis[where].setItem(`paimon-explore-${name}`, JSON.stringify(value));
  } catch {
    // The browser keeps nothing for this page: the choice lasts as long as the explorer.
  }
}
