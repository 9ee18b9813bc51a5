// @ts-check
/** The SQL view: a query on the table at the snapshot under the cursor, run again as that moves. */

import { failureOf } from "./channel.js";
import { createChart } from "./chart_view.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import { problem } from "./problem_view.js";
import chartCss from "./report.css";
import { RowLayout } from "./row_layout.js";
import rowsCss from "./rows.css";
import { createGrid } from "./rows_grid.js";
import css from "./sql.css";
import { coloured, createEditor } from "./sql_editor.js";
import { placeOf } from "./sql_text.js";
import { cut, formatCount, plural, visible } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Failure} from "./channel.js" */
/** @import {Names} from "./sql_text.js" */

const QUIET_MILLIS = 90;
const EXAMPLE = "SELECT * FROM t";

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function create(context) {
  const { store, channel, prefix } = context;
  const isSaved = context.offers({ op: "sql_last" }) && !context.offers({ op: "sql_stop" });
  const asked = () => store.get().asked.sql ?? "";
  /** @type {Names} */
  let names = { tables: ["t"], columns: [] };
  /** @type {any} */
  let opened;
  let shown = "";
  let turn = 0;
  let isHistory = false;
  let rowsShown = Promise.resolve(false);
  let disposeChart = () => {};

  const run = () => {
    const text = editor.value().trimStart(); // so that the places in errors are those in it
    if (text !== asked()) store.set({ asked: { ...store.get().asked, sql: text } });
    shown = "";
    isHistory = false;
    load.cancel();
    start();
  };
  const history = async () => {
    const text = editor.value().trimStart();
    if (text !== asked()) store.set({ asked: { ...store.get().asked, sql: text } });
    load.cancel();
    const rows = start();
    isHistory = true;
    const body = (await rows) && (await ended("sql_history", { text }));
    isHistory = false;
    if (!body) return;
    showHistory(body);
    start(); // the cursor may have moved
  };
  /** @param {any} body */
  const showHistory = ({ history: found }) => {
    store.set({ queryHistory: found });
    fail();
    fill(status, `History of ${plural(found.count, "snapshot")} below the timeline`);
  };
  const editor = createEditor(prefix, () => names, run);
  const runButton = button("Run", "Run the query (Ctrl-Enter)", run);
  const historyButton = button(
    "History",
    "Run the query at each of the last 100 snapshots, and draw its numbers below the timeline",
    history,
  );
  const stop = button("Stop", "Stop the query", () => {
    turn++;
    isHistory = false;
    setBusy(false);
    fill(status, "Stopped.");
    channel.ask("sql_stop").catch(() => {});
  });
  const status = el("span", { class: "pe-muted", role: "status" });
  const bar = el("div", { class: "pe-bar" }, runButton, historyButton, stop, status);
  const message = el("div", { hidden: true, tabindex: "-1" });
  const value = el("div", {
    class: "per-cell-value",
    role: "region",
    "aria-label": "Value",
    tabindex: "0",
  });
  const chart = el("div", {
    class: "peq-chart",
    role: "region",
    "aria-label": "Chart",
    tabindex: "0",
    hidden: true,
  });

  const grid = createGrid(`${prefix}-sql`, {
    async page(_unit, offset, count) {
      const { first, handle } = opened;
      const rows = first.rows.slice(offset, offset + count);
      if (rows.length || isSaved) return { parts: [{ ...first, offset, rows }] };
      const request = { handle, offset, count: Math.min(count, 400) };
      const answer = await channel.latest("sql_page", "sql_page", request);
      return answer && handle === opened?.handle ? answer.body : undefined;
    },
    show({ offset }, column, cell) {
      const { name, type } = opened.columns[column];
      const text = cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
      fill(
        value,
        el("strong", {}, visible(cut(name, 80))),
        " ",
        el("span", { class: "pe-type" }, visible(cut(type, 80))),
        " ",
        el("span", { class: "per-text" }, visible(text)),
      );
      if (cell === null || typeof cell === "string" || isSaved) return;
      const says = `Show all ${formatCount(cell.length)} characters`;
      value.append(
        " ",
        button("show all", says, () => whole(offset, column)),
      );
    },
  });
  const results = el("div", { class: "peq-results", hidden: true }, grid.element, chart);
  const foot = el("div", { class: "pe-totals", hidden: true }, grid.status, grid.stop);
  const query = isSaved ? el("pre", { class: "peq-text", tabindex: "0" }) : editor.element;
  const element = el(
    "div",
    { class: "pe-view per peq pes-pane", "data-pane": "sql" },
    el("style", {}, rowsCss, chartCss, css),
    bar,
    query,
    message,
    results,
    value,
    foot,
  );

  /**
   * @param {number} offset
   * @param {number} column
   */
  const whole = async (offset, column) => {
    try {
      const answer = await channel.ask("sql_cell", { handle: opened.handle, offset, column });
      const text = visible(answer.body.text ?? "null");
      fill(value, el("pre", { class: "per-text", tabindex: "0" }, text));
    } catch (error) {
      fail(failureOf(error));
    }
  };

  /** @param {boolean} busy */
  const setBusy = (busy) => {
    attribute(element, "data-busy", busy ? "1" : null);
    stop.hidden = !busy;
  };

  /** @param {Failure} [failure] */
  const fail = (failure) => {
    message.hidden = !failure;
    attribute(element, "data-error", failure?.kind);
    editor.mark(failure ? placeOf(failure.message, editor.value()) : -1);
    if (!failure) return;
    fill(message, problem(failure));
    fill(status);
    results.hidden = foot.hidden = true;
    fill(value);
  };

  /** @param {any} body */
  const present = (body) => {
    opened = body;
    fail();
    disposeChart();
    disposeChart = () => {};
    const { columns, total, first, width, snapshot } = body;
    const count = isSaved ? first.rows.length : total;
    results.hidden = foot.hidden = !columns.length;
    grid.open({
      layout: new RowLayout([count], [1]),
      columns,
      stored: false,
      order: { column: "", descending: false },
    });
    chart.hidden = !body.chart;
    fill(chart);
    if (body.chart) {
      const drawn = createChart(body.chart, () => {});
      disposeChart = drawn.dispose;
      fill(chart, drawn.element);
    }
    fill(value);
    const notes = [
      columns.length ? plural(total, "row") : "Statement executed",
      body.cut ? "first rows only; the code reads all" : "",
      count < total ? `first ${formatCount(count)} shown` : "",
      width > columns.length ? `first ${columns.length} of ${formatCount(width)} columns` : "",
      snapshot ? `snapshot ${snapshot}` : "",
    ];
    fill(status, notes.filter(Boolean).join(" · "));
    attribute(element, "data-shown", String(snapshot));
  };

  /**
   * Wait for what runs; undefined if it failed, or something else runs by then.
   * @param {string} op
   * @param {Record<string, unknown>} args
   */
  const ended = async (op, args) => {
    const mine = ++turn;
    setBusy(true);
    fill(status, "Running…");
    let body;
    try {
      ({ body } = await channel.ask(op, args));
      while (!body.done && mine === turn) {
        ({ body } = await channel.ask("sql_step", { handle: body.handle }));
      }
    } catch (error) {
      body = undefined;
      if (mine === turn) fail(failureOf(error));
    }
    if (mine !== turn) return undefined;
    setBusy(false);
    return body;
  };
  /** The rows at the snapshot under the cursor; false if they failed, or something else ran. */
  const start = () => {
    const { selected, queryHistory } = store.get();
    const key = `${selected} ${asked()}`;
    if (key === shown || !asked() || isHistory) return rowsShown;
    shown = key;
    if (queryHistory && queryHistory.text !== asked()) store.set({ queryHistory: undefined });
    rowsShown = ended("sql_run", { snapshot: selected, text: asked() }).then((body) => {
      if (body) present(body);
      return Boolean(body);
    });
    return rowsShown;
  };
  const load = whenQuiet(() => {
    if (store.get().tab === "sql") start();
  }, QUIET_MILLIS);

  const openSaved = async () => {
    const { body } = await channel.ask("sql_last");
    runButton.hidden = historyButton.hidden = true;
    fill(query, ...coloured(visible(body.text)));
    present(body);
    if (body.history) store.set({ queryHistory: body.history });
  };
  const readNames = async () => {
    try {
      names = (await channel.ask("sql_names", { snapshot: store.get().selected })).body;
    } catch (error) {
      const failure = failureOf(error);
      fail(failure);
      if (failure.kind !== "UnsupportedFeatureError") return;
      bar.hidden = query.hidden = true;
      attribute(message, "tabindex", "0"); // the keyboard reaches the view
    } finally {
      attribute(element, "data-shown", String(store.get().selected));
    }
  };

  stop.hidden = true;
  if (isSaved) openSaved();
  else {
    editor.set(asked() || EXAMPLE);
    readNames();
    load();
  }
  return {
    element,
    focus: () => (results.hidden ? runButton.focus() : grid.focus()),
    update(changed) {
      if (isSaved) return;
      if (changed.has("asked") && asked()) editor.set(asked());
      if (changed.has("selected")) readNames();
      if (changed.has("selected") || changed.has("asked") || changed.has("tab")) load();
    },
    dispose() {
      turn++;
      load.cancel();
      disposeChart();
      grid.dispose();
    },
  };
}
