// @ts-check
/** Lanes below the timeline: who commits, how far consumers have read, and the watermark. */

import { formatTime, plural, visible } from "./text_format.js";

/** @import {History} from "./snapshot_columns.js" */

export const LANE = 17;
const MOST_USERS = 4;
const MOST_READERS = 3;
const LABEL = 20;

/**
 * @typedef {object} Lane
 * @property {"writer" | "consumer" | "watermark"} kind
 * @property {string} label
 * @property {Set<number>} [users]  whose commits stand in it
 * @property {number} [next]  position that the consumer reads next; the count when it has read all
 */

/**
 * The lanes of a history; users beyond the busiest few share one.
 * @param {History} history
 * @param {{writers: boolean, readers: boolean}} shown
 * @returns {Lane[]}
 */
export function lanesOf(history, { writers, readers }) {
  return [...(writers ? writersOf(history) : []), ...(readers ? readersOf(history) : [])];
}

/**
 * @param {History} history
 * @returns {Lane[]}
 */
function writersOf(history) {
  const commits = history.users.map(() => 0);
  for (let i = 0; i < history.count; i++) {
    if (!history.unreadable(i)) commits[history.userIndex[i]] += 1;
  }
  const users = [...commits.keys()].sort((a, b) => commits[b] - commits[a]);
  const shared = users.length > MOST_USERS ? users.slice(MOST_USERS - 1) : [];
  /** @type {Lane[]} */
  const lanes = users
    .slice(0, users.length - shared.length)
    .map((user) => ({ kind: "writer", label: name(history.users[user]), users: new Set([user]) }));
  if (shared.length) {
    lanes.push({ kind: "writer", label: `${shared.length} more users`, users: new Set(shared) });
  }
  return lanes;
}

/**
 * @param {History} history
 * @returns {Lane[]}
 */
function readersOf(history) {
  const last = history.ids[history.count - 1];
  const found = history.pointers.filter(({ kind }) => kind === "consumer");
  /** @type {Lane[]} */
  const lanes = found.slice(0, MOST_READERS).map(({ name: who, snapshot }) => {
    let next = 0;
    while (next < history.count && history.ids[next] < snapshot) next++;
    const behind = Math.max(last - snapshot + 1, 0);
    return { kind: "consumer", label: `${name(who)}: ${plural(behind, "snapshot")} behind`, next };
  });
  if (history.hasWatermark) lanes.push({ kind: "watermark", label: "watermark" });
  return lanes;
}

/**
 * Which lanes say something of their own accord: a few busy writers, consumers or watermarks.
 * @param {History} history
 */
export function usefulLanes(history) {
  const users = history.users.length;
  return {
    writers: users > 1 && users <= MOST_READERS && history.count > 2 * users,
    readers: readersOf(history).length > 0,
  };
}

/** @param {string} text */
function name(text) {
  const shown = visible(text);
  return shown.length > LABEL ? `${shown.slice(0, LABEL - 1)}…` : shown;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./timeline_draw.js").Scene} scene
 * @param {number} top
 * @param {[first: number, last: number]} seen
 * @param {(letter: string, x: number, y: number, r: number) => void} shape
 */
export function drawLanes(context, scene, top, seen, shape) {
  const { lanes, layout, offset, colours, font, selected } = scene;
  lanes.forEach((lane, at) => {
    const y = top + at * LANE + LANE / 2;
    context.fillStyle = colours.line;
    context.fillRect(offset, y - 0.5, layout.width, 1);
    if (lane.kind === "writer") drawWriter(context, scene, lane, y, seen, shape);
    else if (lane.kind === "consumer") drawConsumer(context, scene, lane, y);
    else drawWatermark(context, scene, y, seen);
  });
  if (!lanes.length) return;
  context.fillStyle = colours.accent;
  if (selected >= 0) {
    context.globalAlpha = 0.5;
    context.fillRect(layout.centres[selected] - 0.5, top, 1, lanes.length * LANE);
    context.globalAlpha = 1;
  }
  context.fillStyle = colours.bg;
  context.fillRect(offset, top, layout.gutter, lanes.length * LANE);
  context.font = `11px ${font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.muted;
  lanes.forEach(({ label }, at) => {
    context.fillText(label, offset, top + at * LANE + LANE / 2 + 0.5);
  });
}

/**
 * A small mark per commit; two that are one commit are joined.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./timeline_draw.js").Scene} scene
 * @param {Lane} lane
 * @param {number} y
 * @param {[first: number, last: number]} seen
 * @param {(letter: string, x: number, y: number, r: number) => void} shape
 */
function drawWriter(context, { history, layout, colours }, lane, y, [first, last], shape) {
  for (let i = first; i <= last; i++) {
    if (history.unreadable(i) || !lane.users?.has(history.userIndex[i])) continue;
    const { letter, colour } = history.kind(i);
    context.fillStyle = colours[colour];
    if (history.sameCommit(i)) {
      const from = layout.centres[i - 1];
      context.fillRect(from, y - 1.5, layout.centres[i] - from, 3);
    }
    shape(letter, layout.centres[i], y, 3.5);
    context.fill();
  }
}

/**
 * What was read is full, what is still to be read is an outline.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./timeline_draw.js").Scene} scene
 * @param {Lane} lane
 * @param {number} y
 */
function drawConsumer(context, { history, layout, colours }, { next = 0 }, y) {
  const half = layout.pitch / 2;
  const start = layout.centres[0] - half;
  const end = layout.centres[history.count - 1] + half;
  const edge = next ? layout.centres[next - 1] + half : start;
  context.fillStyle = colours.consumer;
  context.strokeStyle = colours.consumer;
  context.lineWidth = 1;
  context.fillRect(start, y - 3, edge - start, 6);
  if (end > edge) context.strokeRect(edge + 0.5, y - 2.5, end - edge - 1, 5);
}

/**
 * Steps from the lowest watermark to the highest.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./timeline_draw.js").Scene} scene
 * @param {number} y
 * @param {[first: number, last: number]} seen
 */
function drawWatermark(context, { history, layout, colours }, y, [first, last]) {
  const { low, high } = history.watermarkRange;
  context.strokeStyle = colours.tag;
  context.lineWidth = 2;
  context.beginPath();
  let drawn = false;
  for (let i = first; i <= last; i++) {
    const value = history.watermark(i);
    const half = layout.pitch / 2;
    if (value !== undefined) {
      const level = y + 5 - (high > low ? (10 * (value - low)) / (high - low) : 5);
      if (drawn) context.lineTo(layout.centres[i] - half, level);
      else context.moveTo(layout.centres[i] - half, level);
      context.lineTo(layout.centres[i] + half, level);
    }
    drawn = value !== undefined;
  }
  context.stroke();
}

/**
 * What a mark's lanes say, in words.
 * @param {History} history
 * @param {number} position
 * @returns {string[]}
 */
export function laneWords(history, position) {
  const words = [`commit user ${visible(history.user(position))}`];
  if (history.sameCommit(position))
    words.push(`same commit as snapshot ${history.ids[position - 1]}`);
  const value = history.watermark(position);
  if (value !== undefined) words.push(`watermark ${formatTime(value)}`);
  return words;
}
