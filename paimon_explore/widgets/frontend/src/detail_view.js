// @ts-check
/** The detail pane: draws whatever document Python makes of the chosen node. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import { createHelp } from "./keyboard_help.js";
import { problem } from "./problem_view.js";
import { valueCondition } from "./row_layout.js";
import { createSettings } from "./settings.js";
import { CELL_LIMIT, cut, visible } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Failure} from "./channel.js" */

/** @typedef {{column: string, type: string, min?: string, max?: string, nulls?: string, reason?: string, note?: string}} Bound */
/**
 * @typedef {{type: "facts", title?: string, rows: [label: string, value: string][]}
 *   | {type: "bounds", title: string, rows: Bound[], note?: string}
 *   | {type: "problem", failure: Failure}
 *   | {type: "text", title: string, text: string}} Section
 */
/** @typedef {(rows: object, condition?: string) => Promise<void>} ShowRows */
/** @typedef {{title: string, subtitle: string, kind?: string, sections: Section[]}} Document */

const QUIET_MILLIS = 60;
const ASIDES = { help: createHelp, settings: createSettings };

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createDetail(context) {
  const { store, channel } = context;
  const body = el("div", {
    class: "pe-detail",
    tabindex: "0",
    role: "region",
    "aria-label": "Details of the selected item",
  });
  const element = el("div", { class: "pe-panel" }, body);

  const load = whenQuiet(async () => {
    const { node, selected, aside } = store.get();
    if (aside) return;
    if (!selected) {
      fill(body, el("div", { class: "pe-empty" }, "Select a snapshot, a tree node or a file."));
      return;
    }
    try {
      const answer = await channel.latest("detail", "detail", { node: node || String(selected) });
      if (!answer || store.get().aside) return;
      draw(answer.body);
    } catch (error) {
      const failure = failureOf(error);
      fill(body, problem(failure));
      attribute(element, "data-node", node);
    }
  }, QUIET_MILLIS);

  /** @type {ShowRows} */
  const showRows = async (rows, condition = store.get().where ?? "") => {
    const { selected, asked } = store.get();
    try {
      const answer = await channel.ask("condition", { snapshot: selected, text: condition });
      const text = JSON.stringify(rows);
      store.set({ tab: "rows", where: answer.body.where, asked: { ...asked, rows: text } });
    } catch (error) {
      context.report(failureOf(error));
    }
  };

  /** @param {Document} document */
  const draw = (document) => {
    fill(
      body,
      el("div", { class: "pe-detail-kind" }, visible(document.subtitle)),
      el("h4", { class: "pe-detail-title", "data-kind": document.kind }, longText(document.title)),
      /^data file/.test(document.subtitle)
        ? button("Show rows", "Show the records of this file", () =>
            showRows({ scope: "file", file: document.title }),
          )
        : null,
      ...document.sections.map((part) => section(part, showRows)),
    );
    body.scrollTop = 0;
    attribute(element, "data-node", store.get().node);
  };

  /** @type {Record<string, Pane>} */
  const asides = {};
  load();
  return {
    element,
    focus: () => body.focus(),
    update(changed) {
      const { aside } = store.get();
      if (aside) {
        asides[aside] ??= ASIDES[aside](context);
        asides[aside].update(changed);
      }
      if (changed.has("aside")) {
        if (aside) fill(body, asides[aside].element);
        else load();
      } else if (changed.has("node") || changed.has("selected")) load();
    },
    dispose: () => load.cancel(),
  };
}

/**
 * @param {Section} part
 * @param {ShowRows} showRows
 * @returns {HTMLElement}
 */
function section(part, showRows) {
  switch (part.type) {
    case "facts":
      return el("div", { class: "pe-section" }, heading(part.title), facts(part.rows));
    case "bounds":
      return el(
        "div",
        { class: "pe-section" },
        heading(part.title),
        bounds(part.rows, part.title, showRows),
        part.note ? el("p", { class: "pe-note" }, visible(part.note)) : null,
      );
    case "problem":
      return problem(part.failure);
    case "text":
      return el(
        "div",
        { class: "pe-section" },
        heading(part.title),
        el("pre", { class: "pe-text", tabindex: "0" }, visibleLines(part.text)),
      );
  }
}

/** @param {string | undefined} title */
function heading(title) {
  return title ? el("h5", { class: "pe-heading" }, visible(title)) : null;
}

/** @param {[string, string][]} rows */
function facts(rows) {
  const list = el("dl", { class: "pe-facts" });
  for (const [label, value] of rows) {
    list.append(el("dt", {}, visible(label)), el("dd", {}, longText(value)));
  }
  return list;
}

/**
 * @param {Bound[]} rows
 * @param {string} label
 * @param {ShowRows} showRows
 */
function bounds(rows, label, showRows) {
  const table = el("table", { class: "pe-bounds", "aria-label": label });
  const head = el("tr", {});
  for (const name of ["column", "min", "max", "nulls"]) {
    const cell = el("th", {}, name);
    cell.scope = "col";
    head.append(cell);
  }
  table.append(el("thead", {}, head));
  const inside = el("tbody", {});
  for (const row of rows) inside.append(boundRow(row, showRows));
  table.append(inside);
  return table;
}

/**
 * @param {Bound} row
 * @param {ShowRows} showRows
 */
function boundRow(row, showRows) {
  const name = el(
    "th",
    {},
    longText(row.column),
    el("span", { class: "pe-type" }, visible(row.type)),
  );
  name.scope = "row";
  const nulls = el("td", { class: "pe-nulls" }, row.nulls ?? "?");
  if (row.min === undefined || row.max === undefined) {
    const why = el("td", { class: "pe-absent" }, visible(row.reason ?? "unknown"));
    why.colSpan = 2;
    return el("tr", {}, name, why, nulls);
  }
  const [min, max] = [row.min, row.max].map((text) => {
    const whole = text.length > CELL_LIMIT ? text : null;
    const cell = el("td", { class: "pe-value", "data-text": whole }, longText(text));
    if (!row.note && !/^0x/.test(text)) {
      cell.append(
        " ",
        button("rows", "Show rows with this value", () =>
          showRows({}, valueCondition(row.column, row.type, text)),
        ),
      );
    }
    return cell;
  });
  if (row.note) max.append(el("span", { class: "pe-type" }, visible(row.note)));
  return el("tr", {}, name, min, max, nulls);
}

/**
 * Escaped text, cut with an expander where it is long.
 * @param {string} text
 * @returns {HTMLElement | string}
 */
function longText(text) {
  if (text === "") return el("span", { class: "pe-type" }, "empty");
  if (text.length <= CELL_LIMIT) return visible(text);
  const shown = el("span", {}, visible(cut(text)));
  const expand = button("show all", `Show all ${text.length} characters`, () => {
    fill(shown, visible(text));
    expand.remove();
  });
  return el("span", {}, shown, " ", expand);
}

/** @param {string} text */
function visibleLines(text) {
  return cut(text, 20_000).split("\n").map(visible).join("\n");
}
