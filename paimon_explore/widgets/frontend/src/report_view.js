// @ts-check
/** Draws a report: facts, tables and charts in the order that Python gives. */

import { createChart } from "./chart_view.js";
import { button, el } from "./dom.js";
import { createStage } from "./replay_view.js";
import { createCommands, createReportForm } from "./report_form.js";
import { CELL_LIMIT, cut, formatCount, visible } from "./text_format.js";

/** @import {BarChart, LaneChart} from "./chart_view.js" */
/** @import {Stage} from "./replay_view.js" */
/** @import {Commands, Form} from "./report_form.js" */
/** @import {Failure} from "./channel.js" */

/** @typedef {string | {text: string, selects?: string, tone?: string, share?: number}} Cell */
/**
 * @typedef {object} Grid
 * @property {"grid"} type
 * @property {string} title
 * @property {string[]} columns
 * @property {boolean[]} numeric
 * @property {Cell[][]} rows
 * @property {number} total
 * @property {string} note
 */
/**
 * @typedef {{type: "facts", title: string, rows: [label: string, value: Cell][]}
 *   | Grid
 *   | {type: "note", text: string, tone: string}
 *   | {type: "sentences", title: string, items: Cell[][]}
 *   | {type: "problem", failure: Failure}
 *   | BarChart
 *   | LaneChart
 *   | Commands
 *   | Form
 *   | Stage} Section
 */
/** @typedef {{kind: string, title: string, sections: Section[], code: string, spark_code: string}} Report */
/**
 * What a click on a cell or a box does, and whether there is something to show.
 * @typedef {((target: string) => void) & {offers?: (target: string) => boolean}} Select
 */

const LONG = 48;
const NAME_ENDS = 14;

/**
 * @param {Report} report
 * @param {Select} select  told what a cell or a box selects
 * @returns {{elements: HTMLElement[], dispose: () => void}}
 */
export function drawReport(report, select) {
  /** @type {(() => void)[]} */
  const disposals = [];
  const elements = report.sections.map((part) => {
    const made = section(part, select);
    disposals.push(made.dispose ?? (() => {}));
    return made.element;
  });
  const title = el("h4", { class: "pes-title" }, visible(cut(report.title)));
  return {
    elements: [title, ...elements],
    dispose() {
      for (const dispose of disposals) dispose();
    },
  };
}

/**
 * @param {Section} part
 * @param {Select} select
 * @returns {{element: HTMLElement, dispose?: () => void}}
 */
function section(part, select) {
  switch (part.type) {
    case "facts":
      return { element: facts(part.title, part.rows, select) };
    case "grid":
      return { element: gridOf(part, select) };
    case "note":
      return {
        element: el("p", { class: "pes-note", "data-tone": part.tone }, visible(part.text)),
      };
    case "sentences":
      return { element: sentences(part.title, part.items, select) };
    case "problem":
      return { element: problemOf(part.failure) };
    case "stage":
      return createStage(part);
    case "commands":
      return { element: createCommands(part) };
    case "form":
      return { element: createReportForm(part, select) };
    case "bars":
    case "lanes":
      return createChart(part, select);
  }
}

/**
 * @param {string} title
 * @param {Cell[][]} items
 * @param {Select} select
 */
function sentences(title, items, select) {
  const lines = items.map((parts) => el("li", {}, ...parts.map((part) => inside(part, select))));
  const heading = el("h5", { class: "pes-heading" }, visible(title));
  return el("div", {}, heading, el("ul", { class: "pes-sentences" }, ...lines));
}

/**
 * @param {string} title
 * @param {[string, Cell][]} rows
 * @param {Select} select
 */
function facts(title, rows, select) {
  const list = el("dl", { class: "pes-facts" });
  for (const [label, value] of rows) {
    list.append(el("dt", {}, visible(cut(label))), el("dd", {}, inside(value, select)));
  }
  return el("div", {}, title ? el("h5", { class: "pes-heading" }, visible(title)) : null, list);
}

/**
 * @param {Grid} grid
 * @param {Select} select
 */
function gridOf(grid, select) {
  const count = grid.total > grid.rows.length ? `first ${grid.rows.length} of ` : "total: ";
  const heading = el(
    "h5",
    { class: "pes-heading" },
    visible(grid.title),
    el("span", { class: "pes-count" }, `${count}${formatCount(grid.total)}`),
  );
  if (!grid.rows.length) {
    return el("div", {}, heading, el("p", { class: "pes-note" }, "None."));
  }
  const head = el("tr", {});
  grid.columns.forEach((name, i) => {
    const shown = cut(name, LONG);
    const title = shown === name ? null : visible(cut(name, 2000));
    const cell = name
      ? el("th", { class: grid.numeric[i] ? "pes-number" : null, title }, visible(shown))
      : el("td", {});
    if (cell instanceof HTMLTableCellElement && name) cell.scope = "col";
    head.append(cell);
  });
  const body = el("tbody", {});
  for (const row of grid.rows) {
    const line = el("tr", {});
    row.forEach((cell, i) => {
      line.append(tableCell(cell, grid.numeric[i], select));
    });
    body.append(line);
  }
  const table = el("table", { class: "pes-grid", "aria-label": visible(grid.title) });
  table.append(el("thead", {}, head), body);
  const scroller = el(
    "div",
    {
      class: "pes-scroll",
      tabindex: "0",
      role: "region",
      "aria-label": `Table: ${visible(grid.title)}`,
    },
    table,
  );
  const note = grid.note ? el("p", { class: "pes-note" }, visible(grid.note)) : null;
  return el("div", {}, heading, scroller, note);
}

/**
 * @param {Cell} cell
 * @param {boolean} number
 * @param {Select} select
 */
function tableCell(cell, number, select) {
  const plain = typeof cell === "string" ? { text: cell } : cell;
  const long = plain.text.length > LONG && plain.selects !== `file:${plain.text}`;
  const place = el(
    "td",
    {
      class: `${number ? "pes-number" : ""}${long ? " pes-long" : ""}`.trim() || null,
      "data-tone": plain.tone,
      "data-text":
        plain.selects?.startsWith("file:") || plain.text.length > CELL_LIMIT ? plain.text : null,
    },
    inside(cell, select),
  );
  if (plain.share !== undefined) {
    const bar = el("span", { class: "pes-bar", "aria-hidden": "true" });
    bar.style.setProperty("--pes-share", `${100 * plain.share}%`);
    place.append(bar);
  }
  return place;
}

/**
 * What a cell says; a button where it selects something.
 * @param {Cell} cell
 * @param {Select} select
 * @returns {HTMLElement | string}
 */
function inside(cell, select) {
  const { text, selects = "", tone = undefined } = typeof cell === "string" ? { text: cell } : cell;
  if (!selects || select.offers?.(selects) === false) {
    const shown = text.length > CELL_LIMIT ? longText(text) : visible(text);
    return tone ? el("span", { "data-tone": tone }, shown) : shown;
  }
  const file = selects === `file:${text}`;
  return button(
    file ? shortName(text) : visible(cut(text)),
    meaning(selects, text),
    () => select(selects),
    {
      class: file ? "pes-link pes-file" : "pes-link",
      "data-tone": tone,
    },
  );
}

/**
 * Long text, cut with an expander.
 * @param {string} text
 */
function longText(text) {
  const shown = el("span", {}, visible(cut(text)));
  const expand = button("show all", `Show all ${text.length} characters`, () => {
    shown.textContent = visible(text);
    expand.remove();
  });
  return el("span", {}, shown, " ", expand);
}

/**
 * Begin and end of a file's name, which are what tells names apart.
 * @param {string} name
 */
export function shortName(name) {
  const shown = visible(cut(name));
  if (shown.length <= 2 * NAME_ENDS + 4) return shown;
  return `${shown.slice(0, NAME_ENDS)}…${shown.slice(-NAME_ENDS)}`;
}

/**
 * What a click on a cell does, in words.
 * @param {string} selects
 * @param {string} text
 */
function meaning(selects, text) {
  const at = selects.indexOf(":");
  const kind = selects.slice(0, at);
  const what = visible(cut(selects.slice(at + 1)));
  switch (kind) {
    case "snapshot":
      return `Go to snapshot ${what}`;
    case "file":
      return `Show details of ${what}`;
    case "filter":
      return what ? `List files where ${what}` : "List all files";
    case "schema":
      return what ? `Show details of schema ${what}` : "Open the view schema";
    case "ask":
      return `Show ${what} in this view`;
    default:
      return `Open the view ${visible(kind)}: ${visible(cut(text))}`;
  }
}

/** @param {Failure} failure */
export function problemOf(failure) {
  if (failure.kind === "not saved") return el("p", { class: "pes-note" }, failure.message);
  return el(
    "div",
    { class: "pes-problem", role: "alert", "data-error": failure.kind },
    el("strong", {}, visible(failure.kind)),
    " ",
    visible(cut(failure.message, 2000)),
    failure.path && !failure.message.includes(failure.path)
      ? el("div", { class: "pes-path" }, visible(cut(failure.path, 1000)))
      : null,
    failure.hint ? el("div", {}, visible(cut(failure.hint, 1000))) : null,
  );
}
