// @ts-check
/** Paints the timeline on a canvas; every colour comes from the theme. */

import { formatTime, visible } from "./text_format.js";
import { LANE as COMMIT_LANE, drawLanes } from "./timeline_lanes.js";
import { clamp, placeFlags, visibleMarks } from "./timeline_layout.js";

/** @import {Colours} from "./theme.js" */
/** @import {History} from "./snapshot_columns.js" */
/** @import {Lane} from "./timeline_lanes.js" */
/** @import {TimelineLayout, Flag} from "./timeline_layout.js" */

export const BASE = 38;
const UP = 32;
const DOWN = 14;
const MARK_Y = BASE + DOWN + 11;
const LABEL_Y = MARK_Y + 19;
const FLAGS_Y = LABEL_Y + 9;
const LANE = 18;
const LANES = 3;
const OVERVIEW = 14;

/**
 * @typedef {object} Scene
 * @property {History} history
 * @property {TimelineLayout} layout
 * @property {number} offset
 * @property {number} selected  position
 * @property {number} compare  position
 * @property {number} hover  position
 * @property {"id" | "time"} axis
 * @property {ArrayLike<number>} up  what each snapshot added
 * @property {ArrayLike<number>} down  what each snapshot removed
 * @property {number} peak  largest of both
 * @property {readonly Flag[]} flags
 * @property {readonly Lane[]} lanes
 * @property {Colours} colours
 * @property {string} font
 */

/**
 * Height the scene needs.
 * @param {TimelineLayout} layout
 * @param {number} flags  lanes of flags
 * @param {number} lanes
 */
export function sceneHeight(layout, flags, lanes) {
  return FLAGS_Y + flags * LANE + lanes * COMMIT_LANE + (scrolls(layout) ? OVERVIEW + 6 : 2);
}

/** @param {TimelineLayout} layout */
export function scrolls(layout) {
  return layout.total > layout.width + 0.5;
}

/**
 * Whether a height in the scene belongs to the overview strip.
 * @param {TimelineLayout} layout
 * @param {number} y
 * @param {number} height
 */
export function inOverview(layout, y, height) {
  return scrolls(layout) && y > height - OVERVIEW - 4;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 */
export function arrangeFlags(context, scene) {
  context.font = `11px ${scene.font}`;
  const shown = scene.flags.map((flag) => ({ ...flag, name: visible(flag.name) }));
  const result = placeFlags(shown, scene.layout, (text) => context.measureText(text).width, LANES);
  const lanes = result.placed.reduce((most, flag) => Math.max(most, flag.lane + 1), 0);
  return { ...result, lanes };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {ReturnType<typeof arrangeFlags>} flags
 * @param {number} height
 */
export function drawTimeline(context, scene, flags, height) {
  const { layout, offset, colours } = scene;
  context.clearRect(0, 0, layout.width, height);
  context.save();
  context.translate(-offset, 0);
  drawCursor(context, scene, height);
  line(context, colours.line, offset, BASE + 0.5, offset + layout.width);
  const [first, last] = visibleMarks(layout, offset);
  for (const draw of [drawBars, drawMark]) {
    for (let i = first; i <= last; i++) {
      const by = scene.history.fresh.has(scene.history.ids[i]) ? scene.history.slide : 0;
      context.translate(by, 0);
      draw(context, scene, i);
      context.translate(-by, 0);
    }
  }
  drawLabels(context, scene, first, last);
  for (const flag of flags.placed) drawFlag(context, scene, flag);
  const top = FLAGS_Y + flags.lanes * LANE + 2;
  drawLanes(context, scene, top, [first, last], (letter, x, y, r) => {
    shape(context, letter, x, y, r);
  });
  context.restore();
  if (scrolls(layout)) drawOverview(context, scene, height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {number} x
 * @param {number} y
 * @param {number} end
 */
function line(context, colour, x, y, end) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(end, y);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} height
 */
function drawCursor(context, { layout, selected, compare, hover, colours }, height) {
  const bottom = LABEL_Y + 6;
  /** @type {(position: number, colour: string, alpha: number) => void} */
  const column = (position, colour, alpha) => {
    if (position < 0 || position >= layout.centres.length) return;
    const width = Math.min(layout.pitch, 30);
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(
      layout.centres[position] - width / 2,
      1,
      width,
      Math.min(bottom, height) - 1,
      4,
    );
    context.fill();
    context.globalAlpha = 1;
  };
  if (hover !== selected) column(hover, colours.muted, 0.12);
  column(compare, colours.overwrite, 0.2);
  column(selected, colours.select, 1);
}

/**
 * Square roots keep small commits visible beside large ones.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} i
 */
function drawBars(context, { history, layout, up, down, peak, colours }, i) {
  if (!peak) return;
  const width = Math.max(Math.min(layout.pitch * 0.5, 18), 3);
  const x = layout.centres[i] - width / 2;
  const height = up[i] > 0 ? Math.max(Math.sqrt(up[i] / peak) * UP, 1.5) : 0;
  const depth = down[i] > 0 ? Math.max(Math.sqrt(down[i] / peak) * DOWN, 1.5) : 0;
  context.fillStyle = colours[history.kind(i).colour];
  context.fillRect(x, BASE - height, width, height);
  context.globalAlpha = 0.45;
  context.fillRect(x, BASE + 1, width, depth);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} i
 */
function drawMark(context, { history, layout, selected, colours, font }, i) {
  const { letter, colour } = history.kind(i);
  const x = layout.centres[i];
  const radius = 6.5;
  shape(context, letter, x, MARK_Y, radius);
  const hollow = history.expired(i);
  if (hollow) {
    context.lineWidth = 1.5;
    context.strokeStyle = colours[colour];
    context.stroke();
  } else {
    context.fillStyle = colours[colour];
    context.fill();
  }
  context.fillStyle = hollow ? colours[colour] : colours.bg;
  context.font = `600 9px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(letter, x, MARK_Y + (letter === "O" ? 1.2 : 0.5));
  if (history.fresh.has(history.ids[i])) {
    context.strokeStyle = colours.add;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, MARK_Y, 10, 0, Math.PI * 2);
    context.stroke();
  }
  if (history.gapBefore(i)) drawGap(context, (layout.centres[i - 1] + x) / 2, colours.muted);
  if (i !== selected) return;
  context.strokeStyle = colours.accent;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 7, LABEL_Y + 7);
  context.lineTo(x + 7, LABEL_Y + 7);
  context.stroke();
}

/**
 * Circle for append, square for compact, triangle for overwrite, diamond for the others.
 * @param {CanvasRenderingContext2D} context
 * @param {string} letter
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function shape(context, letter, x, y, r) {
  context.beginPath();
  if (letter === "A") context.arc(x, y, r, 0, Math.PI * 2);
  else if (letter === "C") context.roundRect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1, 2);
  else {
    const points =
      letter === "O"
        ? [x, y - r - 1.5, x + r + 1.5, y + r - 0.5, x - r - 1.5, y + r - 0.5]
        : [x, y - r - 1.5, x + r + 1.5, y, x, y + r + 1.5, x - r - 1.5, y];
    for (let i = 0; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
    context.closePath();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {string} colour
 */
function drawGap(context, x, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (const dx of [-1.5, 1.5]) {
    context.moveTo(x + dx + 1, MARK_Y - 6);
    context.lineTo(x + dx - 1, MARK_Y + 6);
  }
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} first
 * @param {number} last
 */
function drawLabels(context, scene, first, last) {
  const { history, layout, offset, selected, axis, colours, font } = scene;
  context.font = `11px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const { centres } = layout;
  const label = (/** @type {number} */ i) =>
    axis === "time"
      ? formatTime(history.times[i], { seconds: false }).slice(5)
      : String(history.ids[i]);
  let taken = [Infinity, -Infinity];
  /** @type {(i: number, colour: string) => void} */
  const write = (i, colour) => {
    context.fillStyle = colour;
    const half = context.measureText(label(i)).width / 2;
    context.fillText(label(i), clamp(centres[i], half, layout.total - half), LABEL_Y);
  };
  if (selected >= first && selected <= last) {
    const half = context.measureText(label(selected)).width / 2 + 8;
    taken = [centres[selected] - half, centres[selected] + half];
    context.font = `600 11px ${font}`;
    write(selected, colours.fg);
    context.font = `11px ${font}`;
  }
  const step = Math.max(Math.ceil((axis === "time" ? 84 : 44) / layout.pitch), 1);
  let end = -Infinity;
  for (let i = first - (first % step); i <= last; i += step) {
    if (i < 0 || i === selected) continue;
    const half = context.measureText(label(i)).width / 2 + 4;
    const [left, right] = [centres[i] - half, centres[i] + half];
    if (left < Math.max(end, offset) || (right > taken[0] && left < taken[1])) continue;
    write(i, colours.muted);
    end = right;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {import("./timeline_layout.js").PlacedFlag} flag
 */
function drawFlag(context, { colours, font }, { kind, text, x, left, width, lane }) {
  const top = FLAGS_Y + lane * LANE + 2;
  const colour = colours[kind] ?? colours.muted;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x + 0.5, LABEL_Y + 9);
  context.lineTo(x + 0.5, top + 14);
  context.stroke();
  context.globalAlpha = 0.16;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(left, top, width - 4, 14, left < x ? [4, 0, 0, 4] : [0, 4, 4, 0]);
  context.fill();
  context.globalAlpha = 1;
  context.font = `11px ${font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.fg;
  context.fillText(text, left + 6, top + 7.5);
}

/**
 * The whole history in one strip, with a frame around what is visible above.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} height
 */
function drawOverview(context, { history, layout, offset, up, peak, selected, colours }, height) {
  const top = height - OVERVIEW - 1;
  const scale = layout.width / layout.total;
  context.globalAlpha = 0.08;
  context.fillStyle = colours.fg;
  context.fillRect(0, top, layout.width, OVERVIEW);
  context.globalAlpha = 0.85;
  const width = Math.max(scale * layout.pitch * 0.6, 1);
  for (let i = 0; i < history.count; i++) {
    const tall = 3 + (peak ? Math.sqrt(Math.max(up[i], 0) / peak) : 0) * (OVERVIEW - 4);
    context.fillStyle = colours[history.kind(i).colour];
    context.fillRect(layout.centres[i] * scale - width / 2, top + OVERVIEW - tall, width, tall);
  }
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(offset * scale + 0.75, top - 0.25, layout.width * scale - 1.5, OVERVIEW, 3);
  context.stroke();
  if (selected < 0) return;
  context.fillStyle = colours.accent;
  context.fillRect(layout.centres[selected] * scale - 1, top, 2, OVERVIEW);
}
