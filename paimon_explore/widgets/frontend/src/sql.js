// @ts-check
/**
 * The SQL view: a query on the table at the snapshot under the cursor, run again as that moves.
 * A statement that writes runs once, after a question.
 */

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
  const { store, channel, prefix, history: snapshots } = context;
  const isSaved = context.offers({ op: "sql_last" }) && !context.offers({ op: "sql_stop" });
  const asked = () => store.get().asked.sql ?? "";
  /** @type {Names} */
  let names = { tables: ["t"], columns: [] };
  /** @type {any} */
  let opened;
  let shown = "";
  let turn = 0;
  let isHistory = false;
  let isWriting = false;
  /** The statement that was last asked about; the cursor does not ask again. */
  let written = "";
  let confirmation = "";
  let rowsShown = Promise.resolve(false);
  let disposeChart = () => {};

  /** Take over the text of the editor, without spaces so that the places in errors are those in it. */
  const take = () => {
    const text = editor.value().trimStart();
    editor.set(text);
    if (text !== asked()) store.set({ asked: { ...store.get().asked, sql: text } });
    load.cancel();
    return text;
  };
  const run = () => {
    if (isWriting) return;
    take();
    shown = "";
    isHistory = false;
    start().then(() => cancel.focus()); // which stays as it is without a question
  };
  const history = async () => {
    if (isWriting) return;
    const text = take();
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
  /** Run the statement that was asked about; another text is asked about first. */
  const write = async () => {
    if (editor.value().trimStart() !== written) return run();
    const args = { snapshot: store.get().selected, text: written, confirmation };
    runButton.focus();
    isWriting = true;
    const body = await ended("sql_run", args);
    isWriting = false;
    if (body?.question) ask(body);
    else if (body) present(body);
    context.refresh().catch((error) => context.report(failureOf(error)));
  };
  const cancel = button("Cancel", "Do not run the statement", () => {
    closeQuestion();
    runButton.focus();
    channel.ask("sql_stop").catch(() => {});
  });
  const [asks, latest] = [el("p", { id: `${prefix}-writes` }), el("p", { id: `${prefix}-latest` })];
  const question = el(
    "div",
    {
      class: "peq-question",
      role: "alertdialog",
      "aria-label": "Run the statement?",
      "aria-describedby": `${prefix}-writes ${prefix}-latest`,
      hidden: true,
    },
    asks,
    latest,
    el(
      "div",
      { class: "peq-choice" },
      button("Run statement", "Write to the table", write),
      cancel,
    ),
  );
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel.click();
  });
  const sayLatest = () => {
    const isOlder = store.get().position < snapshots.count - 1;
    fill(latest, isOlder ? "It works on the latest snapshot, whatever is selected." : "");
  };
  const closeQuestion = () => {
    question.hidden = true;
    confirmation = "";
  };
  /** @param {any} body */
  const ask = (body) => {
    fail();
    results.hidden = foot.hidden = true;
    fill(value);
    fill(status);
    confirmation = body.confirmation;
    fill(asks, visible(cut(body.question, 400)));
    sayLatest();
    question.hidden = false;
  };
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
    async page(_unit, offset, count, whole) {
      const { first, handle } = opened;
      const rows = first.rows.slice(offset, offset + count);
      if (isSaved || (rows.length && !whole)) return { parts: [{ ...first, offset, rows }] };
      const request = { handle, offset, count: Math.min(count, 400) };
      const answer = whole
        ? await channel.ask("sql_page", { ...request, whole })
        : await channel.latest("sql_page", "sql_page", request);
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
    question,
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
    stop.hidden = !busy || isWriting;
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
      body.note || (columns.length ? plural(total, "row") : "Statement executed"),
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
    closeQuestion();
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
    if (key === shown || !asked() || isHistory || isWriting) return rowsShown;
    shown = key;
    if (queryHistory && queryHistory.text !== asked()) store.set({ queryHistory: undefined });
    rowsShown = ended("sql_run", { snapshot: selected, text: asked() }).then((body) => {
      if (body?.question) written = asked();
      if (body && !body.question) present(body);
      else if (body && !isHistory) ask(body);
      return Boolean(body);
    });
    return rowsShown;
  };
  const load = whenQuiet(() => {
    if (store.get().tab === "sql" && asked() !== written) start();
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
      if (changed.has("position") || changed.has("history")) sayLatest();
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
