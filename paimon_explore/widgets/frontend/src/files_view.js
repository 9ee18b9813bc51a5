// @ts-check
/** The file grid: all data files of the snapshot, sorted and filtered, drawn a screenful at a time. */

import { attribute, el, fill, perFrame, segmented, whenQuiet } from "./dom.js";
import { shortName } from "./file_name.js";
import { rowAfter } from "./keyboard.js";
import { problem } from "./problem_view.js";
import {
  formatBytes,
  formatCount,
  formatShort,
  formatTime,
  NO_SNAPSHOT,
  plural,
  visible,
} from "./text_format.js";
import { ROW_HEIGHT, scrollTo, windowOf } from "./virtual_scroll.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {FileLifetimes, Selection} from "./file_lifetimes.js" */

/**
 * @typedef {object} GridColumn
 * @property {string} key  of the column that sorts, "" when it cannot
 * @property {string} title
 * @property {number} width  pixels
 * @property {boolean} [number]  right-aligned
 * @property {string} [says]
 * @property {(row: number, lifetimes: FileLifetimes) => string} text
 * @property {(row: number, lifetimes: FileLifetimes) => string | number} [exact]  if the text is shortened
 */

/** @typedef {{name: string, min_key: string, max_key: string, note: string}} RowTexts */

const UNKNOWN_BUCKET = -1;
const MAX_EXPORTED = 10_000;
const EXPORTED_AT_ONCE = 500;
/** @type {Selection} */
const NOTHING = { rows: new Uint32Array(0), sum: { files: 0, bytes: 0, rows: 0 }, levels: [] };

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createFiles(context) {
  const { store, channel, history } = context;
  /** @type {Map<number, RowTexts>} */
  const texts = new Map();
  let textsFrame = -1;
  const columns = columnsOf(context, (row) => texts.get(row));
  const filter = createFilter(context);
  const scope = segmented(
    "Files to show",
    [
      ["live", "live", "Files of this snapshot"],
      ["added", "added", "Files this snapshot added"],
      ["removed", "removed", "Files this snapshot removed"],
    ],
    (value) => store.set({ scope: /** @type {"live" | "added" | "removed"} */ (value) }),
  );
  const header = el("div", { class: "pe-grid-head", role: "row", "aria-rowindex": "1" });
  const sizer = el("div", { class: "pe-grid-sizer", role: "presentation" });
  const scroller = el(
    "div",
    { class: "pe-grid", role: "grid", tabindex: "0", "aria-label": "Data files" },
    el("div", { role: "rowgroup", class: "pe-grid-top" }, header),
    el("div", { role: "rowgroup" }, sizer),
  );
  const empty = el("div", { class: "pe-empty", role: "status" });
  const totals = el("div", { class: "pe-totals", role: "status", "aria-live": "polite" });
  const element = el(
    "div",
    { class: "pe-view" },
    el("div", { class: "pe-bar" }, scope.element, filter.element),
    filter.message,
    scroller,
    empty,
    totals,
  );

  let selection = NOTHING;
  let { rows } = selection;
  let known = false;
  let cursor = -1;
  /** @type {HTMLElement[]} */
  const pool = [];
  const template = columns.map(({ width }) => `${width}px`).join(" ");
  const wide = columns.reduce((sum, { width }) => sum + width, 0);
  element.style.setProperty("--pe-columns", template);
  sizer.style.width = `${wide}px`;
  header.style.width = `${wide}px`;

  const titles = columns.map((column, index) => headerCell(column, index, sortBy));
  fill(header, ...titles.map(({ cell }) => cell));

  /** @param {string} key */
  function sortBy(key) {
    const { sort, descending } = store.get();
    store.set({ sort: key, descending: sort === key ? !descending : false });
  }

  const draw = perFrame(() => {
    const { lifetimes } = context.files();
    if (!lifetimes) return;
    const top = header.offsetHeight;
    const view = Math.max(scroller.clientHeight - top, 0);
    const { first, last, top: start, height } = windowOf(rows.length, scroller.scrollTop, view);
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) pool.push(rowElement(columns, sizer));
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${start + index * ROW_HEIGHT}px)`;
      write(line, at, lifetimes);
    });
    attribute(
      scroller,
      "aria-activedescendant",
      cursor >= first && cursor < last ? rowId(cursor) : null,
    );
    want(first, last);
  });

  /** @param {number} at */
  const rowId = (at) => `${context.prefix}-file-${at}`;

  /**
   * @param {HTMLElement} line
   * @param {number} at
   * @param {FileLifetimes} lifetimes
   */
  const write = (line, at, lifetimes) => {
    const row = rows[at];
    line.id = rowId(at);
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    line.classList.toggle("pe-odd", at % 2 === 1);
    line.classList.toggle("pe-new", history.fresh.has(addedBy(row, lifetimes)));
    columns.forEach((column, index) => {
      const cell = /** @type {HTMLElement} */ (line.children[index]);
      const text = column.text(row, lifetimes);
      if (cell.textContent !== text) cell.textContent = text;
    });
  };

  /**
   * Id of the snapshot that added a file.
   * @param {number} row
   * @param {FileLifetimes} lifetimes
   */
  const addedBy = (row, { columns: { added } }) => history.ids[added[row] - 1];

  let window_ = [0, 0];
  const fetch = whenQuiet(async () => {
    const { frame } = context.files();
    const missing = [...rows.subarray(window_[0], window_[1])].filter((row) => !texts.has(row));
    if (!missing.length || frame < 0) return;
    try {
      const answer = await channel.latest("rows", "rows", { frame, rows: missing });
      if (!answer || frame !== context.files().frame) return;
      if (texts.size > 20_000) texts.clear();
      for (const [index, row] of missing.entries()) texts.set(row, answer.body.rows[index]);
      draw();
    } catch {
      // The names stay away; the tree and the details say why a manifest cannot be read.
    }
  }, 40);
  /**
   * @param {number} first
   * @param {number} last
   */
  const want = (first, last) => {
    window_ = [first, last];
    fetch();
  };

  const reselect = () => {
    const { position, scope: chosen, sort, descending } = store.get();
    const { lifetimes, frame, first, last, unknown } = context.files();
    if (frame !== textsFrame) {
      texts.clear();
      textsFrame = frame;
    }
    scope.press(chosen);
    for (const { update } of titles) update(sort, descending);
    known = position >= first && position <= last && !unknown.has(position);
    if (lifetimes && known) {
      lifetimes.sort(sort, descending);
      selection = lifetimes.select(position, chosen, context.mask());
    } else selection = NOTHING;
    rows = selection.rows;
    const node = store.get().node;
    const chosenRow = node.startsWith(`file/${frame}/`) ? Number(node.split("/")[2]) : -1;
    cursor = chosenRow < 0 ? -1 : rows.indexOf(chosenRow);
    attribute(scroller, "aria-rowcount", rows.length + 1);
    attribute(element, "data-count", rows.length);
    scroller.hidden = rows.length === 0;
    summarize();
    draw();
  };

  const summarize = () => {
    const { position, scope: chosen, filter: condition } = store.get();
    fill(empty, ...(rows.length ? [] : [emptyText(context, chosen, condition)]));
    empty.hidden = rows.length > 0;
    const changes = context.changes();
    if (changes && known) {
      scope.label("added", `${formatCount(changes.added.files[position])} added`);
      scope.label("removed", `${formatCount(changes.removed.files[position])} removed`);
    }
    totals.hidden = !known;
    if (!known) return;
    const { sum } = selection;
    const levels = selection.levels.map(([level, files]) =>
      el("span", { class: "pe-chip" }, `L${level}: ${plural(files, "file")}`),
    );
    fill(
      totals,
      el(
        "strong",
        {},
        condition && (context.mask() || context.files().narrowed)
          ? `${formatCount(sum.files)} matching files`
          : plural(sum.files, "file"),
      ),
      el("span", {}, formatBytes(sum.bytes)),
      el(
        "span",
        { title: `${plural(sum.rows, "row")} before merging` },
        `${formatShort(sum.rows)} stored rows`,
      ),
      context.files().grouped
        ? el(
            "span",
            { class: "pe-chip" },
            `in ${formatCount(rows.length)} groups; filter to list single files`,
          )
        : null,
      ...(levels.length > 1 ? levels : []),
    );
  };

  /** @param {number} at */
  const choose = (at) => {
    cursor = at;
    const { frame } = context.files();
    scroller.scrollTop = scrollTo(
      at,
      rows.length,
      scroller.scrollTop,
      scroller.clientHeight - header.offsetHeight,
    );
    store.set({ node: `file/${frame}/${rows[at]}`, aside: "" });
    draw();
  };

  let scrolled = false; // known from events, for asking the element costs a layout
  scroller.addEventListener(
    "scroll",
    () => {
      scrolled = true;
      draw();
    },
    { passive: true },
  );
  sizer.addEventListener("click", (event) => {
    const line = /** @type {Element} */ (event.target).closest("[aria-rowindex]");
    if (line) choose(Number(line.getAttribute("aria-rowindex")) - 2);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.target !== scroller) return;
    const next = rowAfter(event.key, cursor, rows.length);
    if (next !== undefined) choose(next);
    else if (event.key === "Enter" && cursor >= 0) choose(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  scroller.addEventListener("pe-export", (event) => {
    /** @type {CustomEvent} */ (event).detail.rows = exported();
  });
  /** The files that are listed, up to a number, with exact figures and whole names. */
  const exported = async () => {
    const { lifetimes, frame } = context.files();
    const wanted = lifetimes ? [...rows.subarray(0, MAX_EXPORTED)] : [];
    for (let at = 0; at < wanted.length; at += EXPORTED_AT_ONCE) {
      const some = wanted.slice(at, at + EXPORTED_AT_ONCE);
      const { body } = await channel.ask("rows", { frame, rows: some });
      for (const [index, row] of some.entries()) texts.set(row, body.rows[index]);
    }
    const found = wanted.map((row) =>
      columns.map(({ exact, text }) =>
        String((exact ?? text)(row, /** @type {FileLifetimes} */ (lifetimes))),
      ),
    );
    const heads = columns.map(({ title }) => title);
    return { rows: [heads, ...found], more: rows.length > wanted.length };
  };
  const observer = new ResizeObserver(draw);
  observer.observe(scroller);

  reselect();
  return {
    element,
    focus: () => scroller.focus(),
    update(changed) {
      filter.update(changed);
      if (changed.has("position") && scrolled) {
        scroller.scrollTop = 0;
        scrolled = false;
      }
      const relevant = /** @type {const} */ ([
        "position",
        "scope",
        "sort",
        "descending",
        "lifetimes",
        "mask",
      ]);
      if (relevant.some((key) => changed.has(key))) reselect();
      else if (changed.has("node") || changed.has("fresh")) {
        const { node } = store.get();
        if (!node.startsWith("file/")) cursor = -1;
        draw();
      }
      if (changed.has("covered") && !rows.length) summarize();
      if (changed.has("filter") && history.count) filter.show();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      fetch.cancel();
      filter.dispose();
    },
  };
}

/**
 * @param {Context} context
 * @param {(row: number) => RowTexts | undefined} texts
 * @returns {GridColumn[]}
 */
function columnsOf({ history }, texts) {
  /** @param {number} value */
  const snapshot = (value) => {
    if (value === 0) return `≤ ${history.ids[0]}`;
    return value <= history.count ? String(history.ids[value - 1]) : "";
  };
  /** @type {GridColumn[]} */
  const all = [
    {
      key: "partition",
      title: "partition",
      width: 136,
      text: (row, { columns, partitions }) => visible(partitions[columns.partition[row]] ?? ""),
    },
    {
      key: "bucket",
      title: "bucket",
      width: 62,
      number: true,
      text: (row, { columns }) => bucketText(columns.bucket[row]),
    },
    {
      key: "level",
      title: "level",
      width: 52,
      number: true,
      text: (row, { columns }) => `L${columns.level[row]}`,
    },
    {
      key: "rows",
      title: "rows",
      width: 66,
      number: true,
      text: (row, { columns }) => formatShort(columns.rows[row]),
      exact: (row, { columns }) => columns.rows[row],
    },
    {
      key: "size",
      title: "size",
      width: 66,
      number: true,
      text: (row, { columns }) => formatBytes(columns.size[row]),
      exact: (row, { columns }) => columns.size[row],
    },
    { key: "", title: "min key", width: 96, text: (row) => visible(texts(row)?.min_key ?? "…") },
    { key: "", title: "max key", width: 96, text: (row) => visible(texts(row)?.max_key ?? "…") },
    {
      key: "added",
      title: "added by",
      width: 74,
      number: true,
      says: "Snapshot that added the file; ≤ 5: snapshot 5 or earlier",
      text: (row, { columns }) => snapshot(columns.added[row]),
    },
    {
      key: "removed",
      title: "removed by",
      width: 90,
      number: true,
      says: "Snapshot that removed the file",
      text: (row, { columns }) => snapshot(columns.removed[row]),
    },
    {
      key: "schema",
      title: "schema",
      width: 62,
      number: true,
      text: (row, { columns }) => String(columns.schema[row]),
    },
    {
      key: "created",
      title: "created",
      width: 136,
      says: "Creation time of the file, by the writer's clock",
      text: (row, { columns }) =>
        columns.created[row] ? formatTime(columns.created[row], { utc: true }) : "unknown",
    },
    {
      key: "",
      title: "file",
      width: 300,
      text: (row) => visible(shortName(texts(row)?.name ?? "…")),
      exact: (row) => texts(row)?.name ?? "",
    },
  ];
  return history.table.partitioned ? all : all.slice(1);
}

/** @param {number} bucket */
function bucketText(bucket) {
  if (bucket === -2) return "-2";
  return bucket === UNKNOWN_BUCKET ? "–" : String(bucket);
}

/**
 * @param {GridColumn} column
 * @param {number} index
 * @param {(key: string) => void} sortBy
 */
function headerCell(column, index, sortBy) {
  const cell = el("div", {
    role: "columnheader",
    class: column.number ? "pe-cell pe-number" : "pe-cell",
    "aria-colindex": index + 1,
    title: column.says,
  });
  if (!column.key) {
    cell.append(column.title);
    return { cell, update: () => {} };
  }
  const arrow = el("span", { class: "pe-arrow", "aria-hidden": "true" });
  const made = el("button", { type: "button", tabindex: "-1" }, column.title, arrow);
  made.addEventListener("click", () => sortBy(column.key));
  cell.append(made);
  return {
    cell,
    /**
     * @param {string} sort
     * @param {boolean} descending
     */
    update(sort, descending) {
      const mine = sort === column.key;
      attribute(cell, "aria-sort", mine ? (descending ? "descending" : "ascending") : "none");
      arrow.textContent = mine ? (descending ? "▾" : "▴") : "";
    },
  };
}

/**
 * @param {GridColumn[]} columns
 * @param {HTMLElement} parent
 */
function rowElement(columns, parent) {
  const line = el("div", { class: "pe-grid-row", role: "row" });
  columns.forEach((column, index) => {
    line.append(
      el("div", {
        role: "gridcell",
        class: column.number ? "pe-cell pe-number" : "pe-cell",
        "aria-colindex": index + 1,
      }),
    );
  });
  parent.append(line);
  return line;
}

/**
 * @param {Context} context
 * @param {string} scope
 * @param {string} condition
 */
function emptyText(context, scope, condition) {
  const { lifetimes, failure, covered, first, last, unknown } = context.files();
  const { position, selected } = context.store.get();
  if (context.history.count === 0) return NO_SNAPSHOT;
  if (failure) return problem(failure);
  if (!lifetimes || position < first || position > last) {
    return covered
      ? `Reading manifests: ${formatCount(covered)} of ${formatCount(context.history.count)} snapshots…`
      : "Reading manifests…";
  }
  if (unknown.has(position)) {
    return `The files of snapshot ${selected} are unknown because a manifest cannot be read. The manifest tree shows which one.`;
  }
  if (condition && (context.mask() || context.files().narrowed))
    return "No file of this snapshot matches the filter.";
  const verb = { live: "is live in", added: "was added by", removed: "was removed by" }[scope];
  return `No file ${verb} snapshot ${selected}.`;
}

/** @param {Context} context */
function createFilter(context) {
  const { store } = context;
  const input = el("input", {
    type: "text",
    class: "pe-filter",
    placeholder: "Filter, e.g. level = 0",
    "aria-label": "Filter files",
    autocomplete: "off",
    spellcheck: "false",
  });
  const message = el("div", { class: "pe-problem", role: "alert", hidden: true });
  const apply = whenQuiet(() => store.set({ filter: input.value.trim() }), 350);
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    apply.cancel();
    store.set({ filter: input.value.trim() });
  });
  const show = () => {
    const { filter } = store.get();
    if (input.value.trim() !== filter) input.value = filter;
  };
  show();
  if (!context.offers({ op: "filter" })) {
    input.disabled = true;
    input.placeholder = "Filters are not available in a saved page";
  }
  let hinted = input.disabled;
  const hint = async () => {
    if (hinted || !context.files().lifetimes) return;
    hinted = true;
    const { examples } = await context.hints();
    if (examples.files) input.placeholder = `Filter, e.g. ${visible(examples.files)}`;
  };
  hint();
  return {
    element: input,
    message,
    show,
    /** @param {Set<string>} changed */
    update(changed) {
      if (changed.has("lifetimes")) hint();
      if (!changed.has("mask")) return;
      const failure = context.filterFailure();
      message.hidden = !failure;
      attribute(input, "aria-invalid", failure ? "true" : null);
      fill(message, failure ? visible(failure.message) : "");
    },
    dispose: () => apply.cancel(),
  };
}
