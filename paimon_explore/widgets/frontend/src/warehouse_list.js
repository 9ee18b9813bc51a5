// @ts-check
/** The list of tables: a grid of which only the rows on the screen are drawn. */

import { attribute, el, fill, perFrame } from "./dom.js";
import {
  cut,
  formatBytes,
  formatCount,
  formatShort,
  formatTime,
  plural,
  visible,
} from "./text_format.js";
import { ROW_HEIGHT, scrollTo, windowOf } from "./virtual_scroll.js";

/** @import {Row} from "./warehouse_model.js" */

/**
 * @typedef {object} ListColumn
 * @property {string} key
 * @property {string} title
 * @property {string} says
 * @property {number} width  pixels
 * @property {boolean} [number]  right-aligned
 * @property {(row: Row) => string} text
 * @property {(row: Row) => string} [hover]  the tooltip; the text if there is none
 */

/** @type {readonly ListColumn[]} */
const COLUMNS = [
  { key: "name", title: "name", says: "Database and name", width: 250, text: ({ label }) => label },
  {
    ...{ key: "rows", title: "rows", says: "Rows before merging", width: 76, number: true },
    text: ({ figures }) => (figures?.rows === undefined ? "" : formatShort(figures.rows)),
    hover: ({ figures }) => (figures?.rows === undefined ? "" : plural(figures.rows, "row")),
  },
  {
    ...{ key: "size", title: "size", says: "Size of the data files", width: 76, number: true },
    text: ({ figures }) => (typeof figures?.size === "number" ? formatBytes(figures.size) : ""),
    hover: ({ figures }) =>
      figures?.size === null
        ? "Not read, because the table has very many files: open it"
        : figures?.size === undefined
          ? ""
          : plural(figures.size, "byte"),
  },
  {
    ...{ key: "files", title: "files", says: "Data files", width: 70, number: true },
    text: ({ figures }) => (figures?.files === undefined ? "" : formatCount(figures.files)),
  },
  {
    ...{ key: "snapshots", title: "snapshots", says: "Snapshots", width: 84, number: true },
    text: ({ figures }) => (figures?.snapshots === undefined ? "" : formatCount(figures.snapshots)),
  },
  {
    ...{ key: "time", title: "last commit", says: "Time of the latest snapshot", width: 148 },
    text: ({ figures }) => (figures?.time === undefined ? "" : formatTime(figures.time)),
  },
  {
    ...{ key: "kind", title: "kind", says: "Kind of the latest commit", width: 88 },
    text: ({ figures }) => figures?.kind ?? "",
  },
  {
    ...{ key: "user", title: "writers", says: "Commit users of the last 20 snapshots", width: 130 },
    text: ({ figures }) => figures?.writers?.join(", ") ?? "",
  },
  {
    ...{ key: "health", title: "health", says: "Findings of the health rules", width: 140 },
    text: ({ health }) => (health ? healthText(health) : ""),
    hover: ({ health }) =>
      health === null ? "Not checked: open the table and its Health view" : (health?.words ?? ""),
  },
  {
    ...{ key: "comment", title: "comment", says: "Comment", width: 300 },
    text: ({ figures }) => figures?.comment ?? "",
  },
];

/** @param {import("./warehouse_model.js").Badge} health */
function healthText({ total, words, worst }) {
  if (!total) return "✓ none";
  return worst === "note" ? words : `▲ ${words}`;
}

/**
 * @param {object} given
 * @param {string} given.prefix  for ids of elements
 * @param {(key: string) => void} given.sortBy
 * @param {(row: Row) => void} given.open
 * @param {() => void} given.moved  told when other rows come on the screen
 */
export function createList({ prefix, sortBy, open, moved }) {
  const titles = COLUMNS.map((column) => {
    const press = el("button", { type: "button", title: column.says }, column.title);
    press.addEventListener("click", () => sortBy(column.key));
    const attributes = { role: "columnheader", class: column.number ? "pew-number" : null };
    return { column, press, cell: el("div", attributes, press) };
  });
  const head = el(
    "div",
    { class: "pew-head", role: "row", "aria-rowindex": "1" },
    ...titles.map(({ cell }) => cell),
  );
  const sizer = el("div", { class: "pew-sizer", role: "presentation" });
  const element = el(
    "div",
    { class: "pew-grid", role: "grid", tabindex: "0", "aria-label": "Tables" },
    el("div", { role: "rowgroup", class: "pew-top" }, head),
    el("div", { role: "rowgroup" }, sizer),
  );
  const wide = COLUMNS.reduce((sum, { width }) => sum + width, 0);
  element.style.setProperty("--pew-columns", COLUMNS.map(({ width }) => `${width}px`).join(" "));
  sizer.style.width = head.style.width = `${wide}px`;

  /** @type {readonly Row[]} */
  let rows = [];
  let cursor = -1;
  let bounds = [0, 0];
  /** @type {HTMLElement[]} */
  const pool = [];

  const viewHeight = () => Math.max(element.clientHeight - head.offsetHeight, 0);
  const draw = perFrame(() => {
    const { first, last, top, height } = windowOf(rows.length, element.scrollTop, viewHeight());
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) pool.push(newLine(sizer));
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${top + index * ROW_HEIGHT}px)`;
      write(line, at);
    });
    const active = cursor >= first && cursor < last ? `${prefix}-row-${cursor}` : null;
    attribute(element, "aria-activedescendant", active);
    if (bounds[0] === first && bounds[1] === last) return;
    bounds = [first, last];
    moved();
  });

  /**
   * @param {HTMLElement} line
   * @param {number} at
   */
  const write = (line, at) => {
    const row = rows[at];
    const problem = row.figures?.problem;
    line.id = `${prefix}-row-${at}`;
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    attribute(line, "data-type", row.type);
    attribute(line, "data-tone", row.health?.total ? row.health.worst : null);
    attribute(line, "data-known", row.figures ? "1" : null);
    line.classList.toggle("pew-odd", at % 2 === 1);
    line.classList.toggle("pew-broken", problem !== undefined);
    COLUMNS.forEach((column, index) => {
      const cell = /** @type {HTMLElement} */ (line.children[index]);
      const reason = problem && index === 1;
      const text = visible(cut(reason ? problem.message : column.text(row)));
      if (cell.textContent !== text) cell.textContent = text;
      const hover = reason ? [problem.message, problem.hint].join(" ") : column.hover?.(row);
      const title = visible(cut(hover ?? column.text(row), 1000));
      if (cell.title !== title) cell.title = title;
    });
  };

  /** @param {number} at */
  const choose = (at) => {
    cursor = at;
    element.scrollTop = scrollTo(at, rows.length, element.scrollTop, viewHeight());
    draw();
  };

  element.addEventListener("scroll", draw, { passive: true });
  sizer.addEventListener("click", (event) => {
    const line = /** @type {Element} */ (event.target).closest("[aria-rowindex]");
    if (!line) return;
    choose(Number(line.getAttribute("aria-rowindex")) - 2);
    open(rows[cursor]);
  });
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = rowFor(event.key);
    if (to !== undefined) choose(to);
    else if (event.key === "Enter" && cursor >= 0) open(rows[cursor]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  /** @param {string} key */
  const rowFor = (key) => {
    const page = Math.max(Math.floor(viewHeight() / ROW_HEIGHT) - 1, 1);
    /** @type {Record<string, number>} */
    const places = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: rows.length - 1,
    };
    if (!rows.length || !Object.hasOwn(places, key)) return undefined;
    return Math.min(Math.max(places[key], 0), rows.length - 1);
  };

  const observer = new ResizeObserver(draw);
  observer.observe(element);
  return {
    element,
    focus: () => element.focus(),
    /** The rows on the screen, without those drawn beyond its edges. */
    onScreen: () => rows.slice(bounds[0], bounds[1]),
    draw,
    /**
     * Show other rows, or the same in another order; the cursor stays at its row.
     * @param {readonly Row[]} next
     * @param {string} sort
     * @param {boolean} descending
     */
    show(next, sort, descending) {
      const current = rows[cursor];
      rows = next;
      cursor = current ? rows.indexOf(current) : -1;
      for (const { column, press, cell } of titles) {
        const sorted = column.key === sort;
        attribute(cell, "aria-sort", sorted && (descending ? "descending" : "ascending"));
        fill(press, sorted ? `${column.title}${descending ? "▾" : "▴"}` : column.title);
      }
      attribute(element, "aria-rowcount", rows.length + 1);
      bounds = [0, 0];
      draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
    },
  };
}

/** @param {HTMLElement} sizer */
function newLine(sizer) {
  const cells = COLUMNS.map(({ number, key }) =>
    el("div", { role: "gridcell", class: number ? "pew-number" : null, "data-column": key }),
  );
  const line = el("div", { class: "pew-row", role: "row" }, ...cells);
  sizer.append(line);
  return line;
}
