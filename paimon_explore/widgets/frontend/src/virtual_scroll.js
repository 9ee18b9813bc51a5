// @ts-check
/** Which rows of a long list are drawn; pure. */

export const ROW_HEIGHT = 24;
const OVERSCAN = 6;
/** Browsers cap the height of an element; beyond this the scroll bar stands for more rows than pixels. */
const MOST_PIXELS = 8_000_000;

/**
 * @typedef {object} Window
 * @property {number} first  first drawn row
 * @property {number} last  one past the last drawn row
 * @property {number} top  pixel of the first drawn row inside the scrolled element
 * @property {number} height  of the scrolled element
 */

/**
 * @param {number} count
 * @param {number} scrollTop
 * @param {number} viewHeight
 * @returns {Window}
 */
export function windowOf(count, scrollTop, viewHeight) {
  const whole = count * ROW_HEIGHT;
  const height = Math.min(whole, MOST_PIXELS);
  const share = whole > height ? (whole - viewHeight) / Math.max(height - viewHeight, 1) : 1;
  const place = Math.max(Math.min(scrollTop, height - viewHeight), 0) * share;
  const first = Math.max(Math.floor(place / ROW_HEIGHT) - OVERSCAN, 0);
  const last = Math.min(Math.ceil((place + viewHeight) / ROW_HEIGHT) + OVERSCAN, count);
  const shift = share === 1 ? 0 : Math.min(scrollTop, Math.max(height - viewHeight, 0)) - place;
  return { first, last, top: first * ROW_HEIGHT + shift, height };
}

/**
 * The scroll offset that brings a row into view, or the present one.
 * @param {number} row
 * @param {number} count
 * @param {number} scrollTop
 * @param {number} viewHeight  without the header
 */
export function scrollTo(row, count, scrollTop, viewHeight) {
  const whole = count * ROW_HEIGHT;
  const height = Math.min(whole, MOST_PIXELS);
  const share = whole > height ? (whole - viewHeight) / Math.max(height - viewHeight, 1) : 1;
  const place = scrollTop * share;
  const top = row * ROW_HEIGHT;
  if (top < place) return top / share;
  if (top + ROW_HEIGHT > place + viewHeight) return (top + ROW_HEIGHT - viewHeight) / share;
  return scrollTop;
}
