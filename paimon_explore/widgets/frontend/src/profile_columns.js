// @ts-check
/** The table of column profiles, with histograms in which a range can be selected. */

import { attribute, button, el } from "./dom.js";
import { barHeights, binText, brushAfter, rangeOf } from "./profile_model.js";
import { cut, formatCount, formatShort, visible } from "./text_format.js";

/** @import {Brush, ColumnProfile, Profile} from "./profile_model.js" */

/**
 * Told what part of a column was chosen.
 * @typedef {(part: {column: number, part: "range" | "value" | "nulls", first: number, last: number}) => void} Choose
 */

const HEADS = ["column", "type", "nulls", "distinct", "min", "max", "distribution"];
const NUMBERS = new Set(["nulls", "distinct"]);
const SHOWN = 300;

/**
 * @param {Profile} profile
 * @param {string} prefix  for ids of elements
 * @param {Choose} choose
 */
export function drawColumns(profile, prefix, choose) {
  const head = el("tr", {});
  for (const name of HEADS) {
    const cell = el("th", { class: NUMBERS.has(name) ? "pep-number" : null }, name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = el("tbody", {});
  profile.columns.slice(0, SHOWN).forEach((column, index) => {
    body.append(line(column, index, profile, `${prefix}-${index}`, choose));
  });
  const table = el("table", { class: "pep-table", "aria-label": "Columns" });
  table.append(el("thead", {}, head), body);
  return table;
}

/**
 * @param {ColumnProfile} column
 * @param {number} index
 * @param {Profile} profile
 * @param {string} prefix
 * @param {Choose} choose
 */
function line(column, index, profile, prefix, choose) {
  const name = el("th", {}, visible(cut(column.name)));
  name.scope = "row";
  const about = [column.reason, ...column.notes];
  if (column.average_length !== null) {
    about.push(`average length ${column.average_length.toFixed(1)}, max ${column.max_length}`);
  }
  const notes = about
    .filter(Boolean)
    .map((text) => el("div", { class: "pep-muted" }, visible(text)));
  const shown = distribution(column, index, profile.rows, prefix, choose);
  return el(
    "tr",
    { "data-column": index },
    name,
    el("td", {}, visible(cut(column.type)), ...notes),
    el("td", { class: "pep-number" }, nulls(column, index, choose)),
    el("td", { class: "pep-number", title: distinctTitle(column) }, distinctText(column)),
    el("td", {}, visible(cut(column.min ?? "", 60))),
    el("td", {}, visible(cut(column.max ?? "", 60))),
    el("td", {}, shown),
  );
}

/** @param {ColumnProfile} column */
function distinctText({ distinct, distinct_error }) {
  return distinct === null ? "" : `${distinct_error ? "~" : ""}${formatCount(distinct)}`;
}

/** @param {ColumnProfile} column */
function distinctTitle({ distinct_error }) {
  return distinct_error ? `Estimate; standard error ${(100 * distinct_error).toFixed(1)} %` : null;
}

/**
 * @param {ColumnProfile} column
 * @param {number} index
 * @param {Choose} choose
 */
function nulls({ name, nulls: count }, index, choose) {
  if (count === null) return "";
  if (!count) return "0";
  const select = () => choose({ column: index, part: "nulls", first: 0, last: 0 });
  const says = `Show only rows where ${cut(visible(name), 60)} is null`;
  const text = formatCount(count);
  return button(text, says, select, { class: "pep-link", "aria-label": `${text}: ${says}` });
}

/**
 * @param {ColumnProfile} column
 * @param {number} index
 * @param {number} rows
 * @param {string} prefix
 * @param {Choose} choose
 */
function distribution(column, index, rows, prefix, choose) {
  const { histogram, frequent } = column;
  if (frequent.length && histogram?.of !== "values") return values(column, index, rows, choose);
  return histogram ? bins(column, index, prefix, choose) : "";
}

/**
 * The most frequent values, each a button that selects its rows.
 * @param {ColumnProfile} column
 * @param {number} index
 * @param {number} rows
 * @param {Choose} choose
 */
function values({ name, frequent, frequent_error }, index, rows, choose) {
  const list = el("ul", {
    class: "pep-values",
    "aria-label": `Frequent values of ${visible(name)}`,
  });
  const peak = frequent[0].count;
  frequent.forEach(({ value, count }, number) => {
    const share = rows ? ` (${((100 * count) / rows).toFixed(0)} %)` : "";
    const bar = el("i", { "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / peak}%`;
    const made = el(
      "button",
      { type: "button", class: "pep-value", title: "Show only rows with this value" },
      bar,
      el(
        "span",
        { class: "pep-part pep-text" },
        value === "" ? "(empty)" : visible(cut(value, 60)),
      ),
      el(
        "span",
        { class: "pep-part" },
        `${frequent_error ? "≥ " : ""}${formatShort(count)}${share}`,
      ),
    );
    made.addEventListener("click", () =>
      choose({ column: index, part: "value", first: number, last: number }),
    );
    list.append(el("li", {}, made));
  });
  return list;
}

/**
 * A histogram; a range of its bins is selected with the mouse or with the arrow keys and Enter.
 * @param {ColumnProfile} column
 * @param {number} index
 * @param {string} prefix
 * @param {Choose} choose
 */
function bins({ name, histogram }, index, prefix, choose) {
  const { of, edges, counts } = /** @type {NonNullable<typeof histogram>} */ (histogram);
  const heights = barHeights(counts);
  const selectable = of === "values";
  const box = el("div", {
    class: "pep-bins",
    "data-of": of,
    tabindex: selectable ? "0" : null,
    role: selectable ? "listbox" : "img",
    "aria-multiselectable": selectable ? "true" : null,
    "aria-label": `${selectable ? "Histogram" : "Lengths"} of ${cut(visible(name), 60)}`,
    title: selectable ? "Drag, or use the arrow keys with Shift and Enter, to select rows" : null,
  });
  const options = counts.map((count, bin) => {
    const says = `${visible(binText(edges, bin))}: ${formatCount(count)} rows`;
    const bar = el("span", { "aria-hidden": "true" });
    bar.style.height = `${100 * heights[bin]}%`;
    return el(
      "div",
      {
        class: "pep-bin",
        id: `${prefix}-${bin}`,
        role: selectable ? "option" : null,
        "aria-label": selectable ? says : null,
        "aria-selected": selectable ? "false" : null,
        title: says,
      },
      bar,
    );
  });
  box.append(...options);
  const ends = el(
    "div",
    { class: "pep-ends" },
    el("span", {}, visible(cut(edges[0], 24))),
    el("span", {}, selectable ? "" : of),
    el("span", {}, visible(cut(edges[edges.length - 1], 24))),
  );
  if (selectable) {
    makeBrush(box, options, ([first, last]) =>
      choose({ column: index, part: "range", first, last }),
    );
  }
  return el("div", {}, box, ends);
}

/**
 * @param {HTMLElement} box
 * @param {readonly HTMLElement[]} options
 * @param {(range: [number, number]) => void} apply
 */
function makeBrush(box, options, apply) {
  /** @type {Brush | undefined} */
  let brush;
  let dragging = false;
  const show = () => {
    const [first, last] = brush ? rangeOf(brush) : [-1, -2];
    options.forEach((option, bin) => {
      attribute(option, "aria-selected", String(bin >= first && bin <= last));
    });
    attribute(box, "aria-activedescendant", brush ? options[brush.active].id : null);
  };
  const binAt = (/** @type {PointerEvent} */ event) => {
    const { left, width } = box.getBoundingClientRect();
    const share = (event.clientX - left) / (width || 1);
    return Math.min(Math.max(Math.floor(share * options.length), 0), options.length - 1);
  };
  box.addEventListener("pointerdown", (event) => {
    dragging = true;
    box.setPointerCapture(event.pointerId);
    const active = binAt(event);
    brush = { anchor: event.shiftKey && brush ? brush.anchor : active, active };
    show();
  });
  box.addEventListener("pointermove", (event) => {
    if (!dragging || !brush) return;
    brush = { ...brush, active: binAt(event) };
    show();
  });
  box.addEventListener("pointerup", () => {
    if (dragging && brush) apply(rangeOf(brush));
    dragging = false;
  });
  box.addEventListener("pointercancel", () => {
    dragging = false;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && brush) apply(rangeOf(brush));
    else if (event.key === "Escape" && brush) brush = undefined;
    else {
      const next = brushAfter(brush, event, options.length);
      if (!next) return;
      brush = next;
    }
    show();
    event.preventDefault();
    event.stopPropagation();
  });
}
