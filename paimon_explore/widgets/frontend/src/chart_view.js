// @ts-check
/** Bars and boxes as SVG elements in the colours of the theme; drawn anew when the room changes. */

import { el } from "./dom.js";
import { shortened } from "./shortened_text.js";
import { cut, formatBytes, formatCount, formatShort, visible } from "./text_format.js";

/** @typedef {{name: string, tone: string, values: number[]}} Series */
/**
 * @typedef {object} BarChart
 * @property {"bars"} type
 * @property {string} title
 * @property {string[]} categories
 * @property {Series[]} series
 * @property {"count" | "bytes" | "share"} unit
 * @property {string[]} selects
 */
/** @typedef {{lane: number, start: number, end: number, label: string, says: string, tone: string, height: number, hatched: number, selects: string}} Box */
/**
 * @typedef {object} LaneChart
 * @property {"lanes"} type
 * @property {string} title
 * @property {string[]} lanes
 * @property {Box[]} boxes
 * @property {number} start
 * @property {number} end
 * @property {[number, string][]} ticks
 * @property {{title: string, steps: [number, number][]} | null} profile
 */

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES = new Set([
  ...["class", "d", "data-tone", "data-select", "height", "rx", "text-anchor", "transform"],
  ...["viewBox", "width", "x", "y", "role", "aria-label"],
]);
const BAR = 20;
const LANE = 26;
const LEAST = 13;
const AXIS = 20;
const PROFILE = 46;
const FONT_SIZE = 11;
const LEAST_TEXT = 20;
const MOST_BARS = 60;

/**
 * An SVG element; attributes only from a list, texts only as text.
 * @param {string} tag
 * @param {Record<string, string | number | undefined>} [attributes]
 * @param {...(Node | string)} children
 */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES.has(name)) throw new TypeError(`Attribute ${name} is not allowed.`);
    if (value !== undefined && value !== "") element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * @param {BarChart | LaneChart} chart
 * @param {(target: string) => void} select
 */
export function createChart(chart, select) {
  const frame = el("div", { class: "pes-chart-frame" });
  const element = el(
    "figure",
    { class: "pes-chart" },
    el("figcaption", { class: "pes-heading" }, visible(cut(chart.title)), leftOut(chart)),
    frame,
  );
  let drawn = 0;
  const draw = () => {
    const width = Math.max(Math.floor(frame.clientWidth), 200);
    if (width === drawn) return;
    drawn = width;
    const { fontFamily } = getComputedStyle(frame);
    measuring().font = `${FONT_SIZE}px ${fontFamily}`;
    frame.replaceChildren(chart.type === "bars" ? bars(chart, width) : lanes(chart, width));
  };
  frame.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target).closest("[data-select]");
    const chosen = target?.getAttribute("data-select");
    if (chosen) select(chosen);
  });
  const watcher = new ResizeObserver(draw);
  watcher.observe(frame);
  return { element, dispose: () => watcher.disconnect() };
}

/**
 * How many bars are not drawn, if there are too many.
 * @param {BarChart | LaneChart} chart
 */
function leftOut(chart) {
  const all = chart.type === "bars" ? chart.categories.length : 0;
  if (all <= MOST_BARS) return null;
  return el("span", { class: "pes-count" }, `first ${MOST_BARS} of ${formatCount(all)}`);
}

/**
 * @param {number} width
 * @param {number} height
 * @param {string} says
 * @param {Node[]} parts
 */
function picture(width, height, says, parts) {
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": visible(cut(says)),
    },
    ...parts,
  );
}

/** @type {CanvasRenderingContext2D | undefined} */
let pen;

/** What measures texts; made when the first chart is drawn. */
function measuring() {
  pen ??= /** @type {CanvasRenderingContext2D} */ (
    document.createElement("canvas").getContext("2d")
  );
  return pen;
}

/**
 * The width of a text in pixels.
 * @param {string} text
 */
const widthOf = (text) => measuring().measureText(text).width;

/**
 * How much of the width labels get: what the longest needs, at most a third.
 * @param {readonly string[]} labels
 * @param {number} width
 */
function labelRoom(labels, width) {
  const longest = labels.reduce((most, label) => Math.max(most, widthOf(visible(cut(label)))), 0);
  return Math.min(longest + 14, width / 3);
}

/**
 * @param {string} text
 * @param {number} room
 */
const fitting = (text, room) => shortened([visible(cut(text, 600))], room, widthOf)[0];

/**
 * The labels of the rows of a chart, right-aligned; those that are shortened have a tooltip.
 * @param {readonly string[]} names
 * @param {number} left  where the bars begin
 * @param {(index: number) => number} baseline
 */
function rowLabels(names, left, baseline) {
  const whole = names.map((name) => visible(cut(name, 600)));
  const shown = shortened(whole, left - 12, widthOf);
  return shown.map((text, i) => {
    const place = { class: "pes-label", x: left - 8, y: baseline(i), "text-anchor": "end" };
    return svg("text", place, text, ...(text === whole[i] ? [] : [svg("title", {}, whole[i])]));
  });
}

/**
 * @param {number} value
 * @param {BarChart["unit"]} unit
 */
function valueText(value, unit) {
  if (unit === "bytes") return formatBytes(Math.abs(value));
  if (unit === "share") return `${Math.round(value * 100)}%`;
  return Number.isInteger(value) ? formatShort(Math.abs(value)) : value.toFixed(1);
}

/**
 * @param {BarChart} chart
 * @param {number} width
 */
function bars(chart, width) {
  const names = chart.categories.slice(0, MOST_BARS);
  const left = labelRoom(names, width);
  const rows = names.map((_, i) => chart.series.map(({ values }) => values[i]));
  const sum = (/** @type {number[]} */ row, /** @type {number} */ sign) =>
    row.reduce((total, value) => total + Math.max(value * sign, 0), 0);
  const back = Math.max(...rows.map((row) => sum(row, -1)), 0);
  const ahead = Math.max(...rows.map((row) => sum(row, 1)), 0);
  const figures = chart.unit === "share" ? 44 : 110;
  const scale = (width - left - figures) / (back + ahead || 1);
  const zero = left + back * scale;
  const parts = rowLabels(names, left, (i) => i * BAR + 14);
  names.forEach((name, i) => {
    const y = i * BAR;
    let [low, high] = [zero, zero];
    /** @type {string[]} */
    const told = [];
    chart.series.forEach((series, at) => {
      const value = rows[i][at];
      if (!value) return;
      const wide = Math.max(Math.abs(value) * scale, 1);
      const x = value > 0 ? high : low - wide;
      if (value > 0) high += wide;
      else low -= wide;
      const text = valueText(value, chart.unit);
      if (chart.unit !== "share" || at === 0) told.push(value < 0 ? `−${text}` : text);
      parts.push(
        svg(
          "rect",
          {
            class: "pes-mark",
            x,
            y: y + 4,
            width: wide,
            height: BAR - 8,
            rx: 2,
            "data-tone": series.tone,
            "data-select": chart.selects[i],
          },
          svg("title", {}, `${visible(cut(name))}: ${series.name} ${text}`),
        ),
      );
    });
    if (chart.unit === "share" && !rows[i][0]) told.push("0%");
    parts.push(svg("text", { class: "pes-figure", x: high + 6, y: y + 14 }, told.join(" ")));
  });
  const bottom = names.length * BAR;
  if (back) parts.push(svg("path", { class: "pes-line", d: `M${zero} 0V${bottom}` }));
  let x = left;
  const legend = chart.series.length > 1;
  for (const series of legend ? chart.series : []) {
    parts.push(
      svg("rect", {
        class: "pes-mark",
        x,
        y: bottom + 6,
        width: 10,
        height: 10,
        rx: 2,
        "data-tone": series.tone,
      }),
      svg("text", { class: "pes-figure", x: x + 14, y: bottom + 15 }, visible(series.name)),
    );
    x += 32 + widthOf(visible(series.name));
  }
  return picture(width, bottom + (legend ? 22 : 4), chart.title, parts);
}

/**
 * @param {LaneChart} chart
 * @param {number} width
 */
function lanes(chart, width) {
  const names = chart.profile ? [...chart.lanes, chart.profile.title] : chart.lanes;
  const left = labelRoom(names, width);
  const span = chart.end - chart.start || 1;
  const place = (/** @type {number} */ value) =>
    left +
    ((Math.min(Math.max(value, chart.start), chart.end) - chart.start) / span) * (width - left - 4);
  const parts = rowLabels(chart.lanes, left, (i) => (i + 1) * LANE - 8.5);
  for (let i = 1; i <= chart.lanes.length; i++) {
    parts.push(svg("path", { class: "pes-line", d: `M${left} ${i * LANE - 0.5}H${width}` }));
  }
  for (const box of chart.boxes) parts.push(boxOf(box, place));
  let bottom = chart.lanes.length * LANE;
  let free = -Infinity;
  for (const [value, label] of chart.ticks) {
    const x = place(value);
    const text = fitting(label, 120);
    const room = widthOf(text);
    const from = Math.min(Math.max(x - room / 2, left), width - room - 2);
    if (from < free) continue;
    free = from + room + 10;
    parts.push(
      svg("path", { class: "pes-line", d: `M${x} ${bottom}v4` }),
      svg("text", { class: "pes-figure", x: from, y: bottom + 15 }, text),
    );
  }
  bottom += chart.ticks.length ? AXIS : 4;
  if (chart.profile) {
    parts.push(...profileOf(chart.profile, place, bottom, left));
    bottom += PROFILE;
  }
  return picture(width, bottom, chart.title, parts);
}

/**
 * @param {Box} box
 * @param {(value: number) => number} place
 */
function boxOf(box, place) {
  const x = place(box.start) + 0.5;
  const wide = Math.max(place(box.end) - x - 0.5, 2);
  const tall = Math.max(box.height * (LANE - 6), LEAST);
  const y = (box.lane + 1) * LANE - 3 - tall;
  const group = svg(
    "g",
    { class: "pes-box", "data-tone": box.tone, "data-select": box.selects },
    svg("title", {}, visible(cut(box.says, 600))),
    svg("rect", { class: "pes-area", x, y, width: wide, height: tall, rx: 2 }),
  );
  if (box.hatched) {
    const part = Math.max(wide * box.hatched, 1);
    group.append(
      svg("rect", { class: "pes-gone", x: x + wide - part, y, width: part, height: tall }),
      svg("path", { class: "pes-hatch", d: hatches(x + wide - part, y, part, tall) }),
    );
  }
  if (wide > LEAST_TEXT) {
    const label = fitting(box.label, wide - 8);
    if (label && label !== "…") {
      group.append(svg("text", { class: "pes-figure", x: x + 4, y: y + tall / 2 + 4 }, label));
    }
  }
  return group;
}

/**
 * Slanted lines over an area.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function hatches(x, y, width, height) {
  let path = "";
  for (let at = 4; at < width + height; at += 5) {
    const [x1, y1] = at < height ? [x, y + at] : [x + at - height, y + height];
    const [x2, y2] = at < width ? [x + at, y] : [x + width, y + at - width];
    path += `M${x1} ${y1}L${x2} ${y2}`;
  }
  return path;
}

/**
 * @param {{title: string, steps: [number, number][]}} profile
 * @param {(value: number) => number} place
 * @param {number} top
 * @param {number} left
 */
function profileOf(profile, place, top, left) {
  const peak = profile.steps.reduce((most, [, value]) => Math.max(most, value), 1);
  const floor = top + PROFILE - 8;
  let path = "";
  for (const [at, value] of profile.steps) {
    const y = floor - (value / peak) * (PROFILE - 16);
    path += path ? `H${place(at)}V${y}` : `M${place(at)} ${floor}V${y}`;
  }
  return [
    ...rowLabels([profile.title], left, () => floor - 8),
    svg("path", { class: "pes-depth", d: path }, svg("title", {}, visible(profile.title))),
  ];
}
