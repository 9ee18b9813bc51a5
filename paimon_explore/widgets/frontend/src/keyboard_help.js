// @ts-check
/** The keys, marks and terms of the explorer, explained. */

import { el } from "./dom.js";
import { visible } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */

/** @type {readonly (readonly [keys: string, meaning: string])[]} */
const HELP = [
  ["← →", "previous or next snapshot"],
  ["PgUp PgDn", "ten snapshots back or forward"],
  ["Home End", "first or last snapshot"],
  ["↑ ↓", "select a row of the manifest tree or of the file list"],
  ["+ −", "open or close a tree node"],
  ["Enter", "show the details of the selected row"],
  ["/", "filter the files"],
  ["m", "mark this snapshot for comparison"],
  ["Ctrl-Enter", "run the SQL query"],
  ["Ctrl-Space", "complete a word of the SQL query"],
  ["y", "copy the Python code"],
  ["?", "show or hide this help and the glossary"],
  ["Esc", "return to the notebook"],
];

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createHelp(context) {
  const list = el("dl", { class: "pe-facts pe-help" });
  for (const [keys, meaning] of HELP) {
    const names = keys.split(" ").map((key) => el("kbd", {}, key));
    list.append(el("dt", {}, ...names), el("dd", {}, meaning));
  }
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Keyboard shortcuts"),
    list,
    el(
      "p",
      { class: "pe-note" },
      "A filter is an SQL condition on columns of the file list, for example: level = 0 and size < 1 MB",
    ),
    el(
      "p",
      { class: "pe-note" },
      "Snapshots: circle (A) append, square (C) compact, triangle (O) overwrite, diamond (Z) analyze; hollow if expired and kept by a tag. Bars: added above the line, removed below, on a square-root scale. Rows below: one per commit user; the row of a consumer is filled up to the last snapshot it has read.",
    ),
  );
  context.hints().then(({ terms }) => {
    const meanings = el("dl", { class: "pe-facts pe-terms" });
    for (const [name, meaning] of terms) {
      meanings.append(el("dt", {}, visible(name)), el("dd", {}, visible(meaning)));
    }
    if (terms.length) element.append(el("h4", { class: "pe-detail-title" }, "Terms"), meanings);
  });
  return { element, focus: () => element.focus(), update: () => {} };
}
