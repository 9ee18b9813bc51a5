// @ts-check
/** The grid of the Rows pane: rows are asked for as they are scrolled to. */

import { failureOf } from "./channel.js";
import { attribute, el, fill, perFrame, whenQuiet } from "./dom.js";
import { columnWidths, placeText } from "./row_layout.js";
import { cut, visible } from "./text_format.js";
import { ROW_HEIGHT, scrollTo, windowOf } from "./virtual_scroll.js";

/** @import {Failure} from "./channel.js" */
/** @import {RowLayout} from "./row_layout.js" */

/** @typedef {string | null | {text: string, length: number}} Cell */
/** @typedef {[fate: string, reason: string, sequence: number | null, kind: string, level: number, file: string, position: number]} Stored */
/** @typedef {{cells: Cell[], stored?: Stored, failure?: Failure}} Row */
/** @typedef {{name: string, type: string, right: boolean, key: boolean}} Column */
/** @typedef {{unit: number, offset: number, rows: Cell[][], records: Stored[] | null, end: number | null, partial: boolean, failure?: Failure}} Part */
/**
 * @typedef {object} Source
 * @property {(unit: number, offset: number, count: number, whole?: boolean) => Promise<{parts: Part[]} | undefined>} page
 *   with values of any length if they are to be whole
 * @property {(column: number) => void} [sortBy]  given the index of a column; without it rows are not sorted
 * @property {(place: {unit: number, offset: number}, column: number, cell: Cell) => void} show
 */

const FETCH_MILLIS = 30;
const MAX_ROWS = 5_000;
const MORE = 40;
const MAX_EXPORTED = 10_000;
const EXPORTED_AT_ONCE = 200;
const RECORD_HEADS = ["status", "sequence", "row kind", "level", "file", "position"];
const VISIBLE = new Set(["returned", "combined"]);

/** @param {Cell} cell */
const textOf = (cell) => (cell === null ? "null" : typeof cell === "string" ? cell : cell.text);

/** @param {Stored} stored */
const storedTexts = ([fate, reason, sequence, kind, level, file, position]) => [
  reason || (fate === "returned" ? "returned by reads" : fate),
  sequence === null ? "" : String(sequence),
  kind,
  `L${level}`,
  file,
  String(position),
];

/**
 * @param {string} prefix  for ids of elements
 * @param {Source} source
 */
export function createGrid(prefix, source) {
  const header = el("div", { class: "pe-grid-head", role: "row", "aria-rowindex": "1" });
  const sizer = el("div", { class: "pe-grid-sizer", role: "presentation" });
  const scroller = el(
    "div",
    { class: "pe-grid per-grid", role: "grid", tabindex: "0", "aria-label": "Rows" },
    el("div", { role: "rowgroup", class: "pe-grid-top" }, header),
    el("div", { role: "rowgroup" }, sizer),
  );
  const status = el("div", { class: "per-status", role: "status" });
  const stop = el("button", { type: "button", class: "pe-button", hidden: true }, "Stop");
  /** @type {RowLayout | undefined} */
  let layout;
  /** @type {Column[]} */
  let columns = [];
  let stored = false;
  let order = { column: "", descending: false };
  /** @type {Map<string, Row>} */
  const rows = new Map();
  /** @type {HTMLElement[]} */
  let pool = [];
  let cursor = -1;
  let column = 0;
  let measured = false;
  let stopped = false;
  let busy = false;
  let generation = 0;
  let topRow = 0;
  /** @type {[number, number]} */
  let shown = [0, 0];

  const heads = () => [...(stored ? RECORD_HEADS : []), ...columns.map(({ name }) => name)];
  /** @param {number} row */
  const keyOf = (row) => {
    const { unit, offset } = /** @type {RowLayout} */ (layout).place(row);
    return `${unit}:${offset}`;
  };

  const drawHeader = () => {
    fill(
      header,
      ...heads().map((name, index) => {
        const at = index - (stored ? RECORD_HEADS.length : 0);
        const cell = el("div", {
          role: "columnheader",
          class: "pe-cell",
          "aria-colindex": index + 1,
          title: at >= 0 ? visible(`${columns[at].name} ${columns[at].type}`) : null,
        });
        const { sortBy } = source;
        if (at < 0 || stored || !sortBy) {
          cell.append(visible(cut(name, 60)));
          return cell;
        }
        const mine = order.column === name;
        const arrow = mine ? (order.descending ? " ▾" : " ▴") : "";
        attribute(
          cell,
          "aria-sort",
          mine ? (order.descending ? "descending" : "ascending") : "none",
        );
        const sort = el("button", { type: "button", tabindex: "-1" }, visible(cut(name, 60)));
        sort.append(el("span", { "aria-hidden": "true" }, arrow));
        sort.addEventListener("click", () => sortBy(at));
        cell.append(sort);
        return cell;
      }),
    );
  };

  /** @param {Row} row */
  const textsOf = (row) => [
    ...(row.stored ? storedTexts(row.stored) : []),
    ...row.cells.map(textOf),
  ];

  const measure = () => {
    measured = rows.size > 0;
    const texts = [...rows.values()].filter((row) => !row.failure).map(textsOf);
    const widths = columnWidths(
      heads().map((name) => ({ name })),
      texts,
    );
    const wide = widths.reduce((sum, width) => sum + width, 0);
    scroller.style.setProperty("--pe-columns", widths.map((width) => `${width}px`).join(" "));
    sizer.style.width = `${wide}px`;
    header.style.width = `${wide}px`;
  };

  const draw = perFrame(() => {
    if (!layout) return;
    const view = Math.max(scroller.clientHeight - header.offsetHeight, 0);
    const { first, last, top, height } = windowOf(layout.count, scroller.scrollTop, view);
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) {
      const line = el("div", { class: "pe-grid-row", role: "row" });
      sizer.append(line);
      pool.push(line);
    }
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${top + index * ROW_HEIGHT}px)`;
      write(line, at);
    });
    attribute(scroller, "aria-rowcount", layout.count + 1);
    const active = cursor >= first && cursor < last ? `${prefix}-row-${cursor}` : null;
    attribute(scroller, "aria-activedescendant", active);
    shown = [first, last];
    const all = height === layout.count * ROW_HEIGHT;
    topRow = all ? Math.floor(scroller.scrollTop / ROW_HEIGHT) : first;
    tell();
    if (missing() !== undefined && !stopped) fetch();
  });

  const tell = () => {
    if (!layout) return;
    const [first, last] = shown;
    const at = cursor >= first && cursor < last ? cursor : Math.min(topRow, layout.count - 1);
    const where = layout.count ? placeText(layout, layout.place(at)) : "no rows";
    const note = stopped ? " · stopped; scroll to continue" : busy ? " · reading…" : "";
    fill(status, `${where}${note}`);
    stop.hidden = !busy;
    attribute(scroller, "data-count", layout.isExact ? layout.count : null);
    attribute(scroller, "data-busy", busy ? "1" : null);
  };

  /**
   * @param {HTMLElement} line
   * @param {number} at
   */
  const write = (line, at) => {
    const row = rows.get(keyOf(at));
    line.id = `${prefix}-row-${at}`;
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    line.classList.toggle("pe-odd", at % 2 === 1);
    const struck = row?.stored && !VISIBLE.has(row.stored[0]);
    line.classList.toggle("per-struck", Boolean(struck));
    line.classList.toggle("per-failed", Boolean(row?.failure));
    if (row?.failure) {
      const { kind, message, path } = row.failure;
      const where = path && !message.includes(path) ? ` ${path}` : "";
      const text = visible(cut(`${kind}: ${message}${where}`, 600));
      return fill(line, el("div", { class: "pe-cell per-failure", role: "gridcell" }, text));
    }
    if (!row) return fill(line, el("div", { class: "pe-cell", role: "gridcell" }, "…"));
    const before = row.stored ? RECORD_HEADS.length : 0;
    fill(
      line,
      ...textsOf(row).map((text, index) => {
        const right = index >= before ? columns[index - before]?.right : index === 1;
        const empty = index >= before && row.cells[index - before] === null;
        const classes = ["pe-cell"];
        if (right) classes.push("pe-number");
        if (empty) classes.push("per-null");
        if (index >= before) classes.push("per-value");
        if (at === cursor && index - before === column) classes.push("per-active");
        return el(
          "div",
          {
            class: classes.join(" "),
            role: "gridcell",
            "aria-colindex": index + 1,
            title: index === 0 && before ? visible(text) : null,
          },
          visible(text),
        );
      }),
    );
  };

  /** The first row to be drawn that is not here. */
  const missing = () => {
    for (let at = shown[0]; at < shown[1]; at++) if (!rows.has(keyOf(at))) return at;
    return undefined;
  };

  const fetch = whenQuiet(async () => {
    const at = layout ? missing() : undefined;
    if (!layout || at === undefined || busy) return;
    const mine = generation;
    busy = true;
    tell();
    const place = layout.place(at);
    try {
      const answer = await source.page(place.unit, place.offset, shown[1] - at + MORE);
      if (mine !== generation) return;
      if (answer) for (const part of answer.parts) take(part);
    } catch (error) {
      if (mine !== generation) return;
      take({
        ...place,
        rows: [],
        records: null,
        end: null,
        partial: false,
        failure: failureOf(error),
      });
    } finally {
      if (mine === generation) {
        busy = false;
        draw();
      }
    }
  }, FETCH_MILLIS);

  /** @param {Part} part */
  const take = (part) => {
    if (!layout) return;
    if (rows.size > MAX_ROWS) rows.clear();
    if (part.failure) {
      rows.set(`${part.unit}:${part.offset}`, { cells: [], failure: part.failure });
      layout.learn(part.unit, part.offset + 1);
      return;
    }
    part.rows.forEach((cells, index) => {
      const key = `${part.unit}:${part.offset + index}`;
      rows.set(key, part.records ? { cells, stored: part.records[index] } : { cells });
    });
    if (part.end !== null) layout.learn(part.unit, part.end);
    else layout.grow(part.unit, part.offset + part.rows.length);
    if (!measured) measure();
  };

  /** @param {number} at */
  const choose = (at) => {
    if (!layout?.count) return;
    cursor = Math.max(Math.min(at, layout.count - 1), 0);
    scroller.scrollTop = scrollTo(
      cursor,
      layout.count,
      scroller.scrollTop,
      scroller.clientHeight - header.offsetHeight,
    );
    showCell();
    draw();
  };
  const showCell = () => {
    if (!layout) return;
    const row = rows.get(keyOf(cursor));
    if (row && !row.failure) source.show(layout.place(cursor), column, row.cells[column] ?? null);
  };

  scroller.addEventListener(
    "scroll",
    () => {
      stopped = false;
      draw();
    },
    { passive: true },
  );
  sizer.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const line = target.closest("[aria-rowindex]");
    if (!line) return;
    const index = Number(target.closest("[aria-colindex]")?.getAttribute("aria-colindex") ?? 1) - 1;
    column = Math.max(index - (stored ? RECORD_HEADS.length : 0), 0);
    choose(Number(line.getAttribute("aria-rowindex")) - 2);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.target !== scroller || !layout?.count) return;
    const page = Math.max(Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2, 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) choose(cursor + steps[event.key]);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(layout.count - 1);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      column = Math.max(
        Math.min(column + (event.key === "ArrowRight" ? 1 : -1), columns.length - 1),
        0,
      );
      choose(Math.max(cursor, 0));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  stop.addEventListener("click", () => {
    stopped = true;
    generation++;
    busy = false;
    draw();
  });
  scroller.addEventListener("pe-export", (event) => {
    /** @type {CustomEvent} */ (event).detail.rows = exported();
  });
  /** All rows, up to a number, with whole values; a null is empty. */
  const exported = async () => {
    const found = [heads()];
    let [unit, offset] = [0, 0];
    while (layout && unit < layout.units && found.length <= MAX_EXPORTED) {
      const parts = (await source.page(unit, offset, EXPORTED_AT_ONCE, true))?.parts ?? [];
      const before = found.length;
      for (const { rows: cells, records, end, failure, ...place } of parts) {
        cells.forEach((row, index) => {
          const values = row.map((cell) => (cell === null ? "" : textOf(cell)));
          found.push(records ? [...storedTexts(records[index]), ...values] : values);
        });
        if (failure) found.push([`${failure.kind}: ${failure.message}`]);
        [unit, offset] = [place.unit, place.offset + cells.length];
        if (failure || (end !== null && offset >= end)) [unit, offset] = [unit + 1, 0];
      }
      if (found.length === before && offset) break;
      if (!parts.length) break;
    }
    const more = found.length > MAX_EXPORTED;
    return { rows: found.slice(0, MAX_EXPORTED + 1), more };
  };
  const observer = new ResizeObserver(draw);
  observer.observe(scroller);

  return {
    element: scroller,
    status,
    stop,
    focus: () => scroller.focus(),
    /**
     * Show other rows, or other columns of the same rows.
     * @param {{layout: RowLayout, columns: Column[], stored: boolean, order: {column: string, descending: boolean}, stay?: boolean}} given
     */
    open(given) {
      ({ layout, columns, stored, order } = given);
      generation++;
      busy = stopped = measured = false;
      rows.clear();
      for (const line of pool) line.remove();
      pool = [];
      if (!given.stay) {
        cursor = -1;
        scroller.scrollTop = 0;
      }
      column = Math.min(column, Math.max(columns.length - 1, 0));
      drawHeader();
      measure();
      draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      fetch.cancel();
    },
  };
}
