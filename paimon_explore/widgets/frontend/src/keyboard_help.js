// @ts-check
/** The keys, marks and terms of the explorer, explained. */

import { el } from "./dom.js";
import { ACTS } from "./keyboard.js";
import { visible } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */

/** Keys of single panes. @type {readonly (readonly [keys: string, meaning: string])[]} */
const IN_PANES = [
  ["↑ ↓", "Select a row of the manifest tree or of the file list"],
  ["+ −", "Open or close a tree node"],
  ["Enter", "Show the details of the selected row"],
  ["Ctrl-Enter", "Run the SQL query"],
  ["Ctrl-Space", "Complete a word of the SQL query"],
];

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createHelp(context) {
  const list = el("dl", { class: "pe-facts pe-help" });
  /** @type {[string, string][]} */
  const general = ACTS.map(({ key, shown, label }) => [shown ?? key, label]);
  for (const [keys, meaning] of [...general, ...IN_PANES]) {
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
