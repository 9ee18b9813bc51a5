// @ts-check
/** The time pane: a canvas that is a slider over the snapshots, with its controls. */

import { attribute, button, el, fill, perFrame, segmented } from "./dom.js";
import { formatBytes, formatCount, formatShort, formatTime, visible } from "./text.js";
import {
  arrangeFlags,
  drawTimeline,
  inOverview,
  peakLabel,
  sceneHeight,
  scrolls,
} from "./timeline_draw.js";
import { clamp, layoutTimeline, markAt, offsetFor } from "./timeline_layout.js";

/** @import {Context} from "./context.js" */
/** @import {TimelineLayout} from "./timeline_layout.js" */

const PLAY_MILLIS = 700;

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
  const peakText = el("span", { class: "pe-peak" });
  const hiddenFlags = el("span", { class: "pe-peak" });
  const frame = el("div", { class: "pe-timeline-frame" }, canvas, peakText, hiddenFlags, tip);
  const controls = createControls(context);
  const element = el(
    "section",
    { class: "pe-timeline", "aria-label": "Timeline" },
    controls.element,
    frame,
  );

  const flags = history.flags();
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
      ...bars,
      selected: position,
      compare: compare ? history.positionOf(compare) : -1,
      colours: context.colours(),
      font: context.font(),
    };
  };

  const draw = perFrame(() => {
    if (width <= 0 || !arranged) return;
    drawTimeline(paint, scene(), arranged, height);
  });

  const relayout = () => {
    const { axis, position } = store.get();
    layout = layoutTimeline({ count: history.count, width, axis, times: history.times });
    offset = offsetFor(layout, position, offset);
    arranged = arrangeFlags(paint, scene());
    height = sceneHeight(layout, arranged.lanes);
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    fill(hiddenFlags, arranged.hidden ? `+${arranged.hidden} flags` : "");
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
    if (history.expired(position)) lines.push("expired, held by a tag");
    const delta = history.deltaRows[position];
    lines.push(`${delta < 0 ? "−" : "+"}${formatCount(Math.abs(delta))} rows`);
    const changes = context.changes();
    if (changes) {
      lines.push(
        `+${formatCount(changes.added.files[position])} −${formatCount(changes.removed.files[position])} files`,
      );
    }
    for (const flag of flags) {
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
    const { metric } = store.get();
    fill(peakText, peakLabel(bars.peak, metric === "bytes" ? formatBytes : formatShort));
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
      if (changed.has("metric") || changed.has("lives")) rescale();
      if (changed.has("axis")) relayout();
      if (changed.has("position")) {
        offset = offsetFor(layout, store.get().position, offset);
        describe();
      }
      draw();
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
  const { store, history } = context;
  const metric = segmented(
    "Height of the bars",
    [
      ["rows", "rows", "Rows added and removed by each snapshot"],
      ["bytes", "bytes", "Bytes of data files added and removed"],
      ["files", "files", "Number of data files added and removed"],
    ],
    (value) => store.set({ metric: /** @type {"rows" | "bytes" | "files"} */ (value) }),
  );
  const axis = segmented(
    "Spacing of snapshots",
    [
      ["id", "by id", "Every snapshot takes the same room"],
      ["time", "by time", "Snapshots stand where they happened"],
    ],
    (value) => store.set({ axis: /** @type {"id" | "time"} */ (value) }),
  );
  const input = el("input", {
    type: "text",
    class: "pe-goto",
    placeholder: "id, tag or time",
    "aria-label": "Go to a snapshot: id, tag or time",
    autocomplete: "off",
    spellcheck: "false",
  });
  input.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    if (await context.goTo(input.value)) input.value = "";
  });
  const step = (/** @type {number} */ by) => () => context.step(by);
  const first = button("«", "First snapshot", () => context.moveTo(0));
  const previous = button("‹", "Previous snapshot", step(-1));
  const next = button("›", "Next snapshot", step(1));
  const last = button("»", "Last snapshot", () => context.moveTo(history.count - 1));

  let timer = 0;
  const play = button("▶", "Play through the snapshots", () => {
    if (timer) stop();
    else start();
  });
  const start = () => {
    if (store.get().position >= history.count - 1) context.moveTo(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      if (store.get().position >= history.count - 1) stop();
      else context.step(1);
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };

  const update = () => {
    const { metric: shown, axis: spaced, position } = store.get();
    metric.press(shown);
    axis.press(spaced);
    first.disabled = previous.disabled = position <= 0;
    next.disabled = last.disabled = position >= history.count - 1;
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
  const element = el(
    "div",
    { class: "pe-bar" },
    metric.element,
    axis.element,
    legend,
    el("span", { class: "pe-space" }),
    input,
    el(
      "div",
      { class: "pe-steps", role: "group", "aria-label": "Move the cursor" },
      first,
      previous,
      play,
      next,
      last,
    ),
  );
  return { element, update, dispose: stop };
}
