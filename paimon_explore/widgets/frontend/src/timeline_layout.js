// @ts-check
/** Where the marks of the timeline stand; pure, in CSS pixels. */

export const MARK_MIN = 15;
const MARK_MAX = 46;
const EDGE = 14;

/**
 * @typedef {object} TimelineLayout
 * @property {Float64Array} centres  of each mark from the start of the whole strip
 * @property {number} pitch  usual distance of two marks
 * @property {number} total  width of the whole strip
 * @property {number} width  width of the visible part
 * @property {number} gutter  room at the left for the names of lanes
 */

/**
 * @param {object} wanted
 * @param {number} wanted.count
 * @param {number} wanted.width  visible pixels
 * @param {"id" | "time"} wanted.axis
 * @param {ArrayLike<number>} wanted.times  epoch milliseconds of each snapshot
 * @param {number} [wanted.gutter]
 * @returns {TimelineLayout}
 */
export function layoutTimeline({ count, width, axis, times, gutter = 0 }) {
  const edge = EDGE + gutter;
  const room = Math.max(width - EDGE - edge, 1);
  const pitch = Math.min(Math.max(room / Math.max(count, 1), MARK_MIN), MARK_MAX);
  const centres = new Float64Array(count);
  if (axis === "time" && count > 1 && times[count - 1] > times[0]) {
    placeByTime(centres, times, room, edge);
  } else {
    for (let i = 0; i < count; i++) centres[i] = edge + (i + 0.5) * pitch;
  }
  const total = count ? Math.max(centres[count - 1] + pitch / 2 + EDGE, width) : width;
  return { centres, pitch: axis === "time" ? MARK_MIN : pitch, total, width, gutter };
}

/**
 * In proportion to time, but never closer than a mark is wide: a pass to the right, then one back
 * from the end.
 * @param {Float64Array} centres
 * @param {ArrayLike<number>} times
 * @param {number} room
 * @param {number} edge
 */
function placeByTime(centres, times, room, edge) {
  const last = centres.length - 1;
  const start = edge + MARK_MIN / 2;
  const length = Math.max(room, centres.length * MARK_MIN) - MARK_MIN;
  const span = times[last] - times[0];
  let least = -Infinity;
  for (let i = 0; i <= last; i++) {
    const share = clamp((times[i] - times[0]) / span, 0, 1);
    centres[i] = Math.max(start + share * length, least);
    least = centres[i] + MARK_MIN;
  }
  let most = start + length;
  for (let i = last; i >= 0; i--) {
    centres[i] = Math.min(centres[i], most);
    most = centres[i] - MARK_MIN;
  }
}

/**
 * The scroll offset that keeps a mark well inside the visible part.
 * @param {TimelineLayout} layout
 * @param {number} position
 * @param {number} offset  the present one
 */
export function offsetFor(layout, position, offset) {
  const most = Math.max(layout.total - layout.width, 0);
  if (position < 0 || position >= layout.centres.length) return clamp(offset, 0, most);
  const centre = layout.centres[position];
  const margin = Math.min(80, layout.width / 4);
  const left = margin + layout.gutter;
  if (centre < offset + left) return clamp(centre - left, 0, most);
  if (centre > offset + layout.width - margin) {
    return clamp(centre - layout.width + margin, 0, most);
  }
  return clamp(offset, 0, most);
}

/**
 * The mark nearest to a place on the whole strip, -1 when there is none.
 * @param {TimelineLayout} layout
 * @param {number} x
 */
export function markAt(layout, x) {
  const { centres } = layout;
  let low = 0;
  let high = centres.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (centres[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - centres[low - 1] < centres[low] - x ? low - 1 : low;
}

/**
 * First and last mark that can be seen.
 * @param {TimelineLayout} layout
 * @param {number} offset
 * @returns {[number, number]}
 */
export function visibleMarks(layout, offset) {
  if (!layout.centres.length) return [0, -1];
  const first = markAt(layout, offset - layout.pitch);
  const last = markAt(layout, offset + layout.width + layout.pitch);
  return [first, last];
}

/** @typedef {{kind: string, name: string, position: number}} Flag */
/** @typedef {Flag & {x: number, left: number, width: number, lane: number, text: string}} PlacedFlag */

/**
 * Flags side by side where they fit, else in lanes below each other; what fits no lane is counted.
 * They are placed from right to left, so that no pole crosses the name of another flag. A flag at
 * the end hangs to the left of its pole.
 * @param {readonly Flag[]} flags
 * @param {TimelineLayout} layout
 * @param {(text: string) => number} measure
 * @param {number} lanes
 * @returns {{placed: PlacedFlag[], hidden: number}}
 */
export function placeFlags(flags, layout, measure, lanes) {
  const starts = new Array(lanes).fill(Infinity);
  /** @type {PlacedFlag[]} */
  const placed = [];
  let hidden = 0;
  const ordered = [...flags].sort((left, right) => right.position - left.position);
  for (const flag of ordered) {
    const x = layout.centres[flag.position];
    const text = flag.name.length > 24 ? `${flag.name.slice(0, 23)}…` : flag.name;
    const width = measure(text) + 16;
    const left = x + width > layout.total ? x - width + 4 : x;
    const lane = starts.findIndex((start) => left + width + 4 <= start);
    if (lane < 0 || left < 0) {
      hidden += 1;
      continue;
    }
    starts[lane] = left;
    placed.push({ ...flag, x, left, width, lane, text });
  }
  return { placed, hidden };
}

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
export function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}
