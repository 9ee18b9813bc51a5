// @ts-check
/** The files of the snapshot summed by partition; a pane that is loaded when it is opened. */

import { attribute, el, fill, perFrame } from "./dom.js";
import { byPartition } from "./partition_sums.js";
import css from "./partitions.css";
import { problem } from "./problem_view.js";
import {
  formatBytes,
  formatCount,
  formatShort,
  NO_SNAPSHOT,
  plural,
  visible,
} from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */

const MOST = 500;

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function create(context) {
  const { store } = context;
  const inside = el("tbody", {});
  const head = el("tr", {});
  for (const name of ["partition", "files", "level-0 files", "buckets", "rows", "size"]) {
    const cell = el("th", { class: name === "partition" ? "" : "pe-number" }, name);
    cell.scope = "col";
    head.append(cell);
  }
  const table = el(
    "table",
    { class: "pe-table", "aria-label": "Partitions" },
    el("thead", {}, head),
    inside,
  );
  const scroller = el(
    "div",
    { class: "pe-scroll", tabindex: "0", role: "region", "aria-label": "Partitions" },
    table,
  );
  const note = el("div", { class: "pe-totals", role: "status" });
  const empty = el("div", { class: "pe-empty", role: "status" });
  const element = el("div", { class: "pe-view" }, el("style", {}, css), scroller, empty, note);

  const draw = perFrame(() => {
    const { lifetimes, failure, first, last, unknown } = context.files();
    const { position, selected } = store.get();
    const known = lifetimes && position >= first && position <= last && !unknown.has(position);
    scroller.hidden = note.hidden = !known;
    empty.hidden = !scroller.hidden;
    if (!lifetimes || !known) {
      const { count } = context.history;
      const says =
        failure || unknown.has(position)
          ? "are unknown because a manifest cannot be read. The manifest tree shows which one"
          : "are still being read";
      fill(empty, count ? `The files of snapshot ${selected} ${says}.` : NO_SNAPSHOT);
      if (failure) empty.append(problem(failure));
      return;
    }
    const sums = byPartition(lifetimes, lifetimes.select(position, "live", context.mask()).rows);
    const most = sums.reduce((peak, sum) => Math.max(peak, sum.bytes), 0);
    fill(
      inside,
      ...sums.slice(0, MOST).map((sum) => line(sum, lifetimes.partitions[sum.partition], most)),
    );
    const cut = sums.length > MOST ? `, first ${MOST} shown` : "";
    fill(
      note,
      el("strong", {}, plural(sums.length, "partition")),
      el("span", {}, `in snapshot ${selected}${cut}`),
    );
    attribute(element, "data-count", sums.length);
  });

  draw();
  return {
    element,
    focus: () => scroller.focus(),
    update(changed) {
      const relevant = /** @type {const} */ (["position", "lifetimes", "mask", "tab"]);
      if (relevant.some((key) => changed.has(key))) draw();
    },
    dispose: () => draw.cancel(),
  };
}

/**
 * @param {ReturnType<typeof byPartition>[number]} sum
 * @param {string} name
 * @param {number} most
 */
function line(sum, name, most) {
  const title = el("th", { class: "pe-cell" }, visible(name || "unpartitioned"));
  title.scope = "row";
  const bar = el("span", { class: "pe-size-bar", "aria-hidden": "true" });
  bar.style.setProperty("--pe-share", `${most ? (100 * sum.bytes) / most : 0}%`);
  const number = (/** @type {string} */ text, /** @type {number} */ exact) =>
    el("td", { class: "pe-number", "data-text": exact }, text);
  const size = number(formatBytes(sum.bytes), sum.bytes);
  size.append(bar);
  return el(
    "tr",
    {},
    title,
    number(formatCount(sum.files), sum.files),
    number(formatCount(sum.level0), sum.level0),
    number(formatCount(sum.buckets.size), sum.buckets.size),
    number(formatShort(sum.rows), sum.rows),
    size,
  );
}
