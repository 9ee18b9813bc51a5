// @ts-check
/** The time pane: a canvas that is a slider over the snapshots, with its controls. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, perFrame, segmented } from "./dom.js";
import { loaded } from "./lazy_pane.js";
import { createQueryHistory } from "./query_history.js";
import {
  formatBytes,
  formatCount,
  formatShort,
  formatTime,
  plural,
  visible,
} from "./text_format.js";
import { arrangeFlags, drawTimeline, inOverview, sceneHeight, scrolls } from "./timeline_draw.js";
import { lanesOf, laneWords } from "./timeline_lanes.js";
import { clamp, layoutTimeline, markAt, offsetFor } from "./timeline_layout.js";

/** @import {Context} from "./context.js" */
/** @import {TimelineLayout} from "./timeline_layout.js" */

/** What the canvas shows. */
const DRAWN = [
  "position",
  "compare",
  "metric",
  "axis",
  "writers",
  "readers",
  "lifetimes",
  "theme",
  "fresh",
];

/** @param {Context} context */
export function createTimeline(context) {
  const { store, history } = context;
  const canvas = el("canvas", {
    class: "pe-timeline-canvas",
    role: "slider",
    tabindex: "0",
    "aria-label": "Snapshot",
    "aria-orientation": "horizontal",
  });
  const paint = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const tip = el("div", { class: "pe-tip", hidden: true, "aria-hidden": "true" });
  const query = createQueryHistory(context);
  const frame = el("div", { class: "pe-timeline-frame" }, canvas, tip, query.element);
  const controls = createControls(context);
  const element = el(
    "section",
    { class: "pe-timeline", "aria-label": "Timeline" },
    controls.element,
    frame,
  );

  let flags = history.flags();
  /** @type {ReturnType<typeof lanesOf>} */
  let lanes = [];
  let offset = Number.POSITIVE_INFINITY;
  let hover = -1;
  let width = 0;
  let height = 0;
  /** @type {TimelineLayout} */
  let layout = layoutTimeline({ count: 0, width: 1, axis: "id", times: [] });
  /** @type {ReturnType<typeof arrangeFlags> | undefined} */
  let arranged;
  let bars = context.bars();

  const scene = () => {
    const { position, axis, compare } = store.get();
    return {
      history,
      layout,
      offset,
      hover,
      axis,
      flags,
      lanes,
      ...bars,
      selected: position,
      compare: compare ? history.positionOf(compare) : -1,
      colours: context.colours(),
      font: context.colours().font,
    };
  };

  const draw = perFrame(() => {
    if (width <= 0 || !arranged) return;
    drawTimeline(paint, scene(), arranged, height);
    query.scroll(offset);
  });

  const relayout = () => {
    const { axis, position, writers, readers } = store.get();
    lanes = lanesOf(history, { writers, readers });
    flags = history.flags().filter(({ kind }) => !readers || kind !== "consumer");
    paint.font = `11px ${context.colours().font}`;
    const label = (/** @type {number} */ most, /** @type {{label: string}} */ lane) =>
      Math.max(most, paint.measureText(lane.label).width + 8);
    const gutter = lanes.length && Math.ceil(lanes.reduce(label, 8));
    layout = layoutTimeline({ count: history.count, width, axis, times: history.times, gutter });
    offset = offsetFor(layout, position, offset);
    arranged = arrangeFlags(paint, scene());
    height = sceneHeight(layout, arranged.lanes, lanes.length);
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    controls.hint(bars.peak, arranged.hidden);
    query.place(layout);
    draw();
  };

  const describe = () => {
    const { position } = store.get();
    attribute(canvas, "aria-valuemin", history.count ? history.ids[0] : 0);
    attribute(canvas, "aria-valuemax", history.count ? history.ids[history.count - 1] : 0);
    attribute(canvas, "aria-valuenow", position < 0 ? 0 : history.ids[position]);
    attribute(canvas, "aria-valuetext", position < 0 ? "none" : mark(position).join(", "));
  };

  /** @param {number} position */
  const mark = (position) => {
    const lines = [
      `snapshot ${history.ids[position]} ${history.kind(position).token}`,
      formatTime(history.times[position]),
    ];
    if (history.unreadable(position)) return [lines[0]];
    if (history.expired(position)) lines.push("expired, kept by a tag");
    const delta = history.deltaRows[position];
    lines.push(`${delta < 0 ? "−" : "+"}${plural(Math.abs(delta), "row")}`);
    const changes = context.changes();
    if (changes) {
      lines.push(
        `+${formatCount(changes.added.files[position])} −${formatCount(changes.removed.files[position])} files`,
      );
    }
    lines.push(...laneWords(history, position));
    for (const flag of history.flags()) {
      if (flag.position === position) lines.push(`${flag.kind} ${visible(flag.name)}`);
    }
    return lines;
  };

  /** @param {PointerEvent} event */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  /** @param {PointerEvent} event */
  const choose = (event) => {
    const { x, y } = place(event);
    const strip = inOverview(layout, y, height) ? (x / width) * layout.total : x + offset;
    context.moveTo(markAt(layout, strip));
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    choose(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) choose(event);
    const { x, y } = place(event);
    hover = inOverview(layout, y, height) ? -1 : markAt(layout, x + offset);
    showTip(hover < 0 ? [] : mark(hover), hover < 0 ? 0 : layout.centres[hover] - offset);
    draw();
  });
  canvas.addEventListener("pointerleave", () => {
    hover = -1;
    showTip([], 0);
    draw();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!scrolls(layout) || event.ctrlKey) return;
      const before = offset;
      const by = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
      offset = clamp(offset + by, 0, layout.total - layout.width);
      if (offset === before) return;
      event.preventDefault();
      draw();
    },
    { passive: false },
  );

  /**
   * @param {string[]} lines
   * @param {number} x
   */
  const showTip = (lines, x) => {
    tip.hidden = !lines.length;
    if (!lines.length) return;
    fill(tip, ...lines.map((text) => el("div", {}, text)));
    const room = width - tip.offsetWidth - 8;
    tip.style.left = `${clamp(x + 14, 4, Math.max(room, 4))}px`;
  };

  const rescale = () => {
    bars = context.bars();
    controls.hint(bars.peak, arranged?.hidden ?? 0);
  };

  const observer = new ResizeObserver(() => {
    const found = frame.clientWidth;
    if (found === width || found === 0) return;
    width = found;
    relayout();
  });
  observer.observe(frame);

  rescale();
  describe();
  return {
    element,
    focus: () => canvas.focus(),
    /** @param {Set<string>} changed */
    update(changed) {
      controls.update();
      query.update(changed);
      if (changed.has("metric") || changed.has("lifetimes")) rescale();
      if (["axis", "writers", "readers", "history"].some((name) => changed.has(name))) relayout();
      if (changed.has("position")) {
        offset = offsetFor(layout, store.get().position, offset);
        describe();
      }
      if (DRAWN.some((name) => changed.has(name))) draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      controls.dispose();
    },
  };
}

/** @param {Context} context */
function createControls(context) {
  const { store } = context;
  const metric = segmented(
    "Bar height",
    [
      ["rows", "rows", "Rows added and removed"],
      ["bytes", "bytes", "Bytes of data files added and removed"],
      ["files", "files", "Data files added and removed"],
    ],
    (value) => store.set({ metric: /** @type {"rows" | "bytes" | "files"} */ (value) }),
  );
  const live = createLiveSwitch(context);
  const update = () => {
    live.update();
    metric.press(store.get().metric);
  };
  update();
  const legend = el("div", { class: "pe-legend", "aria-hidden": "true" });
  for (const [token, letter] of [
    ["append", "A"],
    ["compact", "C"],
    ["overwrite", "O"],
    ["analyze", "Z"],
  ]) {
    legend.append(
      el("span", { class: "pe-legend-item", "data-kind": token }, `${letter} ${token}`),
    );
  }
  const note = el("div", { class: "pe-timeline-note" });
  const element = el(
    "div",
    { class: "pe-timeline-controls" },
    metric.element,
    ...live.elements,
    legend,
    note,
  );
  /**
   * @param {number} peak  value of the tallest bar
   * @param {number} hidden  flags without room
   */
  const hint = (peak, hidden) => {
    const { metric: shown } = store.get();
    const highest = shown === "bytes" ? formatBytes(peak) : `${formatShort(peak)} ${shown}`;
    const parts = [
      peak ? `max ${highest}` : "",
      hidden ? `${plural(hidden, "reference")} hidden` : "",
    ];
    fill(note, parts.filter(Boolean).join(" · "));
  };
  return { element, update, hint, dispose: live.dispose };
}

/**
 * The switch that follows the table; its code is loaded when it is first turned on.
 * @param {Context} context
 */
function createLiveSwitch(context) {
  const { store } = context;
  const text = el("span", { class: "pe-live", role: "status" });
  const follow = () => store.set({ live: store.get().live ? 0 : 2 });
  const made = button("Live", "Follow the table: look for new snapshots every 2 seconds", follow);
  /** @type {{update: () => void, dispose: () => void} | undefined} */
  let part;
  let asked = false;
  let gone = false;
  const load = async () => {
    asked = true;
    try {
      const { create } = await loaded(context, "live");
      if (!gone) part = create(context, text);
    } catch (error) {
      fill(text, visible(failureOf(error).message));
      asked = false;
    }
  };
  return {
    elements: store.get().live === undefined ? [] : [made, text], // a saved page cannot follow
    update() {
      const { live } = store.get();
      attribute(made, "aria-pressed", String(live > 0));
      if (live && !asked) load();
      part?.update();
    },
    dispose() {
      gone = true;
      part?.dispose();
    },
  };
}
