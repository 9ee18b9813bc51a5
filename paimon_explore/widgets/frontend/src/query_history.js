// @ts-check
/** The history of a query below the timeline: a line of steps for each number, over its snapshots. */

import { attribute, button, el, fill } from "./dom.js";
import { cut, formatTime, plural, visible } from "./text_format.js";

/** @import {Context} from "./context.js" */
/** @import {TimelineLayout} from "./timeline_layout.js" */

/**
 * A line has a step for each snapshot whose value differs from the one before; null is no value.
 * @typedef {{name: string, steps: [snapshot: number, value: number | null][]}} Line
 */
/**
 * @typedef {object} QueryHistory
 * @property {string} text  of the query
 * @property {number} first  snapshot
 * @property {number} last  snapshot
 * @property {number} count  of snapshots
 * @property {Line[]} lines
 * @property {number} more  lines that are left out
 * @property {string[]} left_out  names of the first of these
 * @property {string} note
 */

const HEIGHT = 24;

/**
 * All digits of a whole number; of others those that do not come from rounding.
 * @param {number | null} value
 */
export const valueText = (value) =>
  value === null
    ? "no value"
    : value.toLocaleString("en", { maximumSignificantDigits: Number.isInteger(value) ? 17 : 15 });

/** @param {QueryHistory} shown */
function caption({ count, first, last, more, left_out, note }) {
  const names = left_out.map((name) => visible(cut(name, 40))).join(", ");
  const rest = more > left_out.length ? ", …" : "";
  return [
    `Query at ${plural(count, "snapshot")}${count ? `, ${first} to ${last}` : ""}.`,
    more ? `${plural(more, "more line")} not drawn: ${names}${rest}.` : "",
    visible(note),
  ]
    .filter(Boolean)
    .join(" ");
}

/** @param {Context} context */
export function createQueryHistory({ store, history, moveTo, prefix }) {
  const element = el("section", { class: "pe-query", "aria-label": "Query history", hidden: true });
  /** @type {TimelineLayout | undefined} */
  let layout;
  /** @type {(() => void)[]} what shows the current snapshot in each line */
  let marks = [];

  /**
   * @param {Line} line
   * @param {number} number
   * @param {number} end  position of the last snapshot
   * @param {TimelineLayout} places
   */
  const drawLine = (line, number, end, { centres, pitch, total }) => {
    const name = visible(cut(line.name, 60));
    const known = line.steps.flatMap(([, value]) => (value === null ? [] : [value]));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const range = known.length ? `${valueText(low)} to ${valueText(high)}` : valueText(null);
    const steps = line.steps
      .map(([snapshot, value]) => ({ value, position: history.positionOf(snapshot) }))
      .filter(({ position }) => position >= 0);
    const options = steps.map(({ value, position }, at) => {
      const next = steps[at + 1];
      const left = centres[position] - pitch / 2;
      const right = next ? centres[next.position] - pitch / 2 : centres[end] + pitch / 2;
      const kind = history.kind(position).token;
      const says = `${valueText(value)} since snapshot ${history.ids[position]} ${kind}, ${formatTime(history.times[position])}`;
      const bar = el("i");
      const share = value === null || high === low ? 0.5 : (value - low) / (high - low);
      bar.style.height = value === null ? "0" : `${2 + share * (HEIGHT - 6)}px`;
      const option = el(
        "div",
        { role: "option", id: `${prefix}-query-${number}-${at}`, title: says, "aria-label": says },
        bar,
        el("span", {}, valueText(value)),
      );
      option.style.left = `${left}px`;
      option.style.width = `${right - left}px`;
      return option;
    });
    const now = el("b", { "aria-hidden": "true" });
    const strip = el("div", { class: "pe-query-strip", role: "presentation" }, ...options, now);
    strip.style.width = `${total}px`;
    const list = el(
      "div",
      {
        class: "pe-query-line",
        role: "listbox",
        tabindex: "0",
        "aria-orientation": "horizontal",
        "aria-label": `${name}, ${range}, ${plural(Math.max(options.length - 1, 0), "change")}`,
      },
      strip,
    );
    const current = () => {
      const { position } = store.get();
      if (position > end) return steps.length;
      return steps.findLastIndex((step) => step.position <= position);
    };
    const mark = () => {
      const { position } = store.get();
      const at = current();
      options.forEach((option, i) => void attribute(option, "aria-selected", String(i === at)));
      attribute(list, "aria-activedescendant", options[at]?.id);
      now.hidden = position < 0;
      now.style.left = `${centres[position] - 1}px`;
    };
    const go = (/** @type {number} */ at) => {
      if (steps[at]) moveTo(steps[at].position);
    };
    list.addEventListener("click", (event) => {
      const option = /** @type {Element} */ (event.target).closest("[role=option]");
      go(options.indexOf(/** @type {HTMLDivElement} */ (option)));
    });
    list.addEventListener("keydown", (event) => {
      const at = current();
      const to = {
        ArrowLeft: at - 1,
        ArrowRight: at + 1,
        Enter: at,
        Home: 0,
        End: steps.length - 1,
      }[event.key];
      if (to === undefined) return;
      go(to);
      event.preventDefault();
      event.stopPropagation();
    });
    mark();
    marks.push(mark);
    const label = el("div", { class: "pe-query-name", "aria-hidden": "true" }, name);
    label.append(el("span", { class: "pe-muted" }, ` ${range}`));
    return [label, list];
  };

  const draw = () => {
    const shown = store.get().queryHistory;
    marks = [];
    element.hidden = !shown;
    fill(element);
    if (!shown || !layout) return;
    const places = layout;
    const end = Math.max(history.positionOf(shown.last), 0);
    const close = () => store.set({ queryHistory: undefined });
    fill(
      element,
      el(
        "div",
        { class: "pe-query-head" },
        el("span", {}, caption(shown)),
        button("×", "Close the history of the query", close),
      ),
      ...shown.lines.flatMap((line, number) => drawLine(line, number, end, places)),
    );
  };

  return {
    element,
    /** @param {TimelineLayout} found */
    place(found) {
      layout = found;
      draw();
    },
    /** @param {number} offset  of the visible part of the timeline */
    scroll(offset) {
      element.style.setProperty("--pe-offset", `${-offset}px`);
    },
    /** @param {Set<string>} changed */
    update(changed) {
      if (changed.has("queryHistory")) draw();
      else if (changed.has("position")) for (const mark of marks) mark();
    },
  };
}
