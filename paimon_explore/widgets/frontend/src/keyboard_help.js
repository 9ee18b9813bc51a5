// @ts-check
/** The keys and marks of the explorer, explained. */

import { el } from "./dom.js";
import css from "./report.css";

/** @import {Pane} from "./context.js" */

/** @type {readonly (readonly [keys: string, meaning: string])[]} */
const HELP = [
  ["← →", "previous, next snapshot"],
  ["PgUp PgDn", "ten snapshots back or forward"],
  ["Home End", "first, last snapshot"],
  ["↑ ↓", "row of the tree or of the files"],
  ["+ −", "open, close a tree node"],
  ["Enter", "details of the row"],
  ["/", "filter the files"],
  ["m", "mark this snapshot for comparison"],
  ["y", "copy the Python code"],
  ["?", "this help"],
  ["Esc", "back to the notebook"],
];

/**
 * @returns {Pane}
 */
export function createHelp() {
  const list = el("dl", { class: "pe-facts pe-help" });
  for (const [keys, meaning] of HELP) {
    const names = keys.split(" ").map((key) => el("kbd", {}, key));
    list.append(el("dt", {}, ...names), el("dd", {}, meaning));
  }
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Keys"),
    list,
    el(
      "p",
      { class: "pe-note" },
      "Filters are SQL over the columns of the grid and the partition columns: level = 0 and size < 1 MB",
    ),
    el(
      "p",
      { class: "pe-note" },
      "Markers: circle (A) append, square (C) compact, triangle (O) overwrite, diamond (Z) analyze; hollow: expired, kept by a tag. Bars: added above, removed below, on a square-root scale. Lanes: one per commit user; for consumers, filled up to the position that was read.",
    ),
  );
  element.append(el("style", {}, css));
  return { element, focus: () => element.focus(), update: () => {} };
}
