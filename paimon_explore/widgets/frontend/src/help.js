// @ts-check
/** The keys and marks of the explorer, explained. */

import { el } from "./dom.js";
import css from "./sheet.css";

/** @import {Pane} from "./context.js" */

/** @type {readonly (readonly [keys: string, meaning: string])[]} */
const HELP = [
  ["← →", "previous, next snapshot"],
  ["PgUp PgDn", "ten snapshots back, on"],
  ["Home End", "first, last snapshot"],
  ["↑ ↓", "row of the tree or of the files"],
  ["+ −", "open, close a tree node"],
  ["Enter", "details of the row"],
  ["/", "filter the files"],
  ["m", "mark this snapshot for comparison"],
  ["y", "copy the line of Python"],
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
      "Filter by any column of the grid and by partition columns, in SQL: level = 0 and size < 1 MB",
    ),
    el(
      "p",
      { class: "pe-note" },
      "Marks: circle A append, square C compact, triangle O overwrite, diamond Z analyze; hollow: expired, held by a tag. Bars up: added, below: removed; their height is a square root. Lanes: a line per commit user, what one commit wrote is joined; consumers: full what they read, outlined what is left.",
    ),
  );
  element.append(el("style", {}, css));
  return { element, focus: () => element.focus(), update: () => {} };
}
