// @ts-check
/** The Rows pane, which is loaded when it is opened: rows of a snapshot, a partition, a bucket or a file. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, segmented, whenQuiet } from "./dom.js";
import { problem } from "./problem_view.js";
import { RowLayout } from "./row_layout.js";
import css from "./rows.css";
import { createGrid } from "./rows_grid.js";
import { cut, formatCount, NO_SNAPSHOT, visible, withExample } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Failure} from "./channel.js" */
/** @import {Column} from "./rows_grid.js" */

/**
 * What is shown, as JSON in the trait `asked`; Python's `RowsInput`.
 * @typedef {object} Asked
 * @property {string} [where]
 * @property {string} [scope]
 * @property {string} [partition]
 * @property {number} [bucket]
 * @property {string} [file]
 * @property {boolean} [merged]
 * @property {string} [sort]
 * @property {boolean} [descending]
 */

const QUIET_MILLIS = 60;
const COLUMNS_AT_ONCE = 30;
/** Sorting fewer rows than this starts at once. */
const FEW_ROWS = 200_000;
const SCOPES = /** @type {const} */ ([
  ["all", "All rows"],
  ["partition", "Partition"],
  ["bucket", "Bucket"],
  ["file", "Selected file"],
]);
const LANGUAGES = /** @type {const} */ ([
  ["python", "Python"],
  ["pyspark", "PySpark"],
  ["spark_sql", "Spark SQL"],
  ["duckdb", "DuckDB"],
]);

/** @param {string} text @returns {Asked} */
export function parsed(text) {
  try {
    const found = JSON.parse(text || "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function create(context) {
  const { store, channel, prefix } = context;
  const asked = () => parsed(store.get().asked.rows ?? "");
  /** @param {Asked} patch */
  const ask = (patch) => {
    const next = Object.fromEntries(
      Object.entries({ ...asked(), ...patch }).filter(
        ([, value]) => value !== "" && value !== undefined,
      ),
    );
    store.set({ asked: { ...store.get().asked, rows: JSON.stringify(next) } });
  };

  /** The condition that all views share, unless this view has one of its own. */
  const condition = () => asked().where ?? store.get().where ?? "";

  /** @type {any} */
  let opened;
  /** @type {RowLayout | undefined} */
  let layout;
  let firstColumn = 0;
  let shown = "";
  let sorting = false;

  const columnsShown = () =>
    /** @type {Column[]} */ (opened.columns).slice(firstColumn, firstColumn + COLUMNS_AT_ONCE);
  const indices = () => columnsShown().map((_, index) => firstColumn + index);

  const grid = createGrid(`${prefix}-rows`, {
    async page(unit, offset, count, whole) {
      const { handle } = opened;
      const request = { handle, unit, offset, count: Math.min(count, 400), columns: indices() };
      const answer = whole
        ? await channel.ask("rows_page", { ...request, whole })
        : await channel.latest("rows_page", "rows_page", request);
      return answer && handle === opened?.handle ? answer.body : undefined;
    },
    sortBy(index) {
      const { name } = columnsShown()[index];
      const { sort, descending } = asked();
      if (sort !== name) ask({ sort: name, descending: undefined });
      else if (!descending) ask({ descending: true });
      else ask({ sort: undefined, descending: undefined });
    },
    show(place, column, cell) {
      const { name, type } = columnsShown()[column] ?? { name: "", type: "" };
      const text = cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
      fill(
        value,
        el("strong", {}, visible(cut(name, 80))),
        " ",
        el("span", { class: "pe-type" }, visible(cut(type, 80))),
        " ",
        el("span", { class: "per-text" }, visible(text)),
      );
      if (cell === null || typeof cell === "string") return;
      const expand = button("show all", `Show all ${formatCount(cell.length)} characters`, () => {
        whole(place, firstColumn + column);
      });
      value.append(" ", expand);
    },
  });

  /**
   * @param {{unit: number, offset: number}} place
   * @param {number} column
   */
  const whole = async (place, column) => {
    try {
      const request = { handle: opened.handle, ...place, column };
      const answer = await channel.latest("rows_cell", "rows_cell", request);
      if (!answer) return;
      fill(
        value,
        el("pre", { class: "per-text", tabindex: "0" }, visible(answer.body.text ?? "null")),
      );
    } catch (error) {
      fail(failureOf(error));
    }
  };

  const value = el("div", {
    class: "per-cell-value",
    role: "region",
    "aria-label": "Value",
    tabindex: "0",
  });
  const message = el("div", { hidden: true });
  const note = el("div", { class: "per-note", role: "status", hidden: true });
  const empty = el("div", { class: "pe-empty", role: "status", hidden: true });
  const title = el("strong", { class: "per-title" });
  const engine = el("span", { class: "pe-muted" });

  const scope = el("select", { class: "per-scope", "aria-label": "Rows of" });
  for (const [id, label] of SCOPES) scope.append(new Option(label, id));
  const partition = el("input", {
    type: "text",
    class: "per-partition",
    "aria-label": "Partition",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Partition",
    list: `${prefix}-rows-partitions`,
  });
  const partitions = el("datalist", { id: `${prefix}-rows-partitions` });
  const bucket = el("input", { type: "number", class: "per-bucket", "aria-label": "Bucket" });
  const where = el("input", {
    type: "text",
    class: "pe-filter",
    "aria-label": "Condition on rows",
    placeholder: "Condition on rows",
    autocomplete: "off",
    spellcheck: "false",
  });
  context.hints().then(({ examples }) => {
    attribute(where, "placeholder", withExample("Condition on rows", examples.rows));
    attribute(partition, "placeholder", withExample("Partition", examples.partition));
  });
  const merged = segmented(
    "Rows or records",
    [
      ["merged", "Merged rows", "The rows that reads return"],
      ["records", "All records", "Every stored record, with what a read does with it"],
    ],
    (chosen) => ask({ merged: chosen === "merged" ? undefined : false, sort: undefined }),
  );
  scope.addEventListener("change", () => {
    const { node } = store.get();
    const known = opened?.scope ?? {};
    ask({
      scope: scope.value === "all" ? undefined : scope.value,
      partition: known.partition ?? opened?.partitions?.[0],
      bucket: known.bucket ?? 0,
      file: scope.value === "file" && !node ? (known.file ?? undefined) : undefined,
      sort: undefined,
    });
  });
  const applyPartition = () =>
    ask({ partition: partition.value.trim(), bucket: Math.max(Number(bucket.value) || 0, 0) });
  partition.addEventListener("change", applyPartition);
  bucket.addEventListener("change", applyPartition);
  const applyWhere = async () => {
    const text = where.value.trim();
    if (text === condition()) return;
    try {
      const request = { snapshot: store.get().selected, text };
      const answer = await channel.latest("condition", "condition", request);
      if (!answer) return;
      where.value = answer.body.where;
      const { where: _own, ...rest } = asked();
      const rows = JSON.stringify(rest);
      store.set({ where: answer.body.where, asked: { ...store.get().asked, rows } });
      fail();
    } catch (error) {
      fail(failureOf(error));
    }
  };
  where.addEventListener("keydown", (event) => {
    if (event.key === "Enter") applyWhere();
  });
  where.addEventListener("change", applyWhere);

  const before = button("‹", "Previous columns", () => turn(firstColumn - COLUMNS_AT_ONCE));
  const after = button("›", "Next columns", () => turn(firstColumn + COLUMNS_AT_ONCE));
  const range = el("span", { class: "pe-muted" });
  const find = el("input", {
    type: "text",
    class: "per-find",
    "aria-label": "Find column",
    placeholder: "Find column",
    autocomplete: "off",
    spellcheck: "false",
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !opened) return;
    const text = find.value.trim().toLowerCase();
    const names = /** @type {Column[]} */ (opened.columns).map(({ name }) => name.toLowerCase());
    const at =
      names.indexOf(text) >= 0 ? names.indexOf(text) : names.findIndex((n) => n.includes(text));
    if (at >= 0) turn(at);
  });
  const chooser = el("div", { class: "per-chooser", hidden: true }, before, range, after, find);
  const copies = el("div", { class: "per-copies", role: "group", "aria-label": "Copy as code" });

  const element = el(
    "div",
    { class: "pe-view per" },
    el("style", {}, css),
    el("div", { class: "pe-bar" }, scope, partition, bucket, merged.element, where, partitions),
    message,
    note,
    grid.element,
    empty,
    value,
    el(
      "div",
      { class: "pe-totals per-foot" },
      title,
      engine,
      grid.status,
      grid.stop,
      chooser,
      copies,
    ),
  );

  /** @param {number} first */
  const turn = (first) => {
    firstColumn = Math.max(Math.min(first, opened.columns.length - 1), 0);
    showGrid(true);
  };

  /** @param {Failure | undefined} [failure] */
  const fail = (failure) => {
    message.hidden = !failure;
    attribute(element, "data-error", failure?.kind);
    if (!failure) return;
    fill(message, problem(failure));
  };

  /** @param {boolean} [stay] */
  const showGrid = (stay = false) => {
    if (!layout) return;
    const { sort, descending } = asked();
    const count = opened.columns.length;
    chooser.hidden = count <= COLUMNS_AT_ONCE;
    const last = Math.min(firstColumn + COLUMNS_AT_ONCE, count);
    fill(range, `columns ${firstColumn + 1} to ${last} of ${formatCount(count)}`);
    grid.open({
      layout,
      columns: columnsShown(),
      stored: !opened.merged,
      order: { column: opened.order ? (sort ?? "") : "", descending: descending === true },
      stay,
    });
    const nothing = layout.count === 0;
    grid.element.hidden = nothing;
    empty.hidden = !nothing;
    fill(empty, opened.snapshot ? "No rows." : NO_SNAPSHOT);
  };

  const showControls = () => {
    const given = asked();
    scope.value = given.scope ?? "all";
    const parts = scope.value === "partition" || scope.value === "bucket";
    partition.hidden = !parts || !opened?.partition_keys.length;
    bucket.hidden = scope.value !== "bucket";
    if (document.activeElement !== partition) partition.value = given.partition ?? "";
    if (document.activeElement !== bucket) bucket.value = String(given.bucket ?? 0);
    if (document.activeElement !== where) where.value = condition();
  };

  const describe = () => {
    const of = /** @type {any} */ (opened);
    merged.press(of.merged ? "merged" : "records");
    merged.element.hidden = of.keyed && of.scope.file !== null;
    fill(title, visible(cut(of.title, 120)));
    const exact = of.exact ? "" : "at most ";
    const what = of.merged ? "rows" : "stored records";
    fill(
      engine,
      of.order
        ? `first ${formatCount(of.limit)} rows by ${visible(of.order)}`
        : `${exact}${formatCount(of.rows)} ${what}${of.keyed ? ` · ${of.engine}` : ""}`,
    );
    partitions.replaceChildren(
      .../** @type {string[]} */ (of.partitions).map((text) => new Option(text, text)),
    );
    fill(
      copies,
      el("span", { class: "pe-muted" }, "Copy"),
      ...LANGUAGES.filter(([id]) => of.codes[id]).map(([id, label]) =>
        button(label, `Copy code in ${label} that gives these rows`, () => copy(of.codes[id])),
      ),
    );
  };

  /** @param {string} code */
  const copy = async (code) => {
    fill(
      value,
      el("pre", { class: "per-text", tabindex: "0" }, code.split("\n").map(visible).join("\n")),
    );
    try {
      await navigator.clipboard.writeText(code);
      value.prepend(el("span", { class: "pe-muted" }, "Copied: "));
    } catch {
      getSelection()?.selectAllChildren(value);
    }
  };

  /** @param {number} handle */
  const sortAll = async (handle) => {
    sorting = true;
    try {
      while (sorting && handle === opened?.handle) {
        const answer = await channel.ask("rows_sort", { handle });
        if (handle !== opened?.handle) return;
        const { done, rows, read, skipped } = answer.body;
        const skip = skipped ? `, ${formatCount(skipped)} parts skipped by statistics` : "";
        const stop = button("Stop", "Stop sorting", () => {
          sorting = false;
          ask({ sort: undefined, descending: undefined });
        });
        note.hidden = false;
        fill(
          note,
          `Sorting: ${formatCount(rows)} rows in ${formatCount(read)} parts read${skip}. `,
          stop,
        );
        if (!done) continue;
        fill(note, `Sorted: ${formatCount(rows)} rows in ${formatCount(read)} parts read${skip}.`);
        return showGrid();
      }
    } catch (error) {
      note.hidden = true;
      fail(failureOf(error));
    } finally {
      sorting = false;
    }
  };

  const offerSort = () => {
    const { handle } = opened;
    layout = undefined;
    grid.element.hidden = true;
    const start = button("Sort", "Read the rows and sort them", () => sortAll(handle));
    const cancel = button("Cancel", "Show the rows in their stored order", () =>
      ask({ sort: undefined, descending: undefined }),
    );
    note.hidden = false;
    fill(note, `${opened.sort_cost} `, start, " ", cancel);
  };

  const load = whenQuiet(async () => {
    const { tab, selected, node } = store.get();
    if (tab !== "rows") return;
    const given = { ...asked(), where: condition() };
    const file = given.scope === "file" && !given.file ? node : "";
    const request = { snapshot: selected, text: JSON.stringify(given), node: file };
    const key = JSON.stringify(request);
    if (key === shown) return;
    shown = key;
    showControls();
    attribute(element, "data-busy", "1");
    try {
      const answer = await channel.latest("rows_open", "rows_open", request);
      if (!answer) return;
      fail();
      const wide = opened?.columns.length;
      opened = answer.body;
      if (wide !== opened.columns.length) firstColumn = 0;
      layout = new RowLayout(answer.columns.most, answer.columns.exact);
      fill(value);
      note.hidden = true;
      showControls();
      describe();
      if (opened.order) {
        const sorted = layout;
        offerSort();
        layout = sorted;
        if (opened.rows <= FEW_ROWS) sortAll(opened.handle);
      } else showGrid();
      attribute(element, "data-handle", opened.handle);
    } catch (error) {
      opened = undefined;
      layout = undefined;
      grid.element.hidden = true;
      empty.hidden = true;
      note.hidden = true;
      fail(failureOf(error));
    } finally {
      attribute(element, "data-busy", null);
    }
  }, QUIET_MILLIS);

  showControls();
  load();
  return {
    element,
    focus: grid.focus,
    update(changed) {
      const relevant = /** @type {const} */ (["selected", "asked", "where", "node", "tab"]);
      if (relevant.some((name) => changed.has(name))) load();
    },
    dispose() {
      sorting = false;
      load.cancel();
      grid.dispose();
    },
  };
}
