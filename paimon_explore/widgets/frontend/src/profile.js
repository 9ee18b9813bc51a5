// @ts-check
/** The Profile view: columns from statistics at once, then from rows, with progress. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import { problem } from "./problem_view.js";
import css from "./profile.css";
import { drawColumns } from "./profile_columns.js";
import { shareRead } from "./profile_model.js";
import { formatCount, NO_SNAPSHOT, visible, withExample } from "./text_format.js";

/** @import {Context, Pane, Store} from "./context.js" */
/** @import {Failure} from "./channel.js" */
/** @import {Profile, Progress} from "./profile_model.js" */

const QUIET_MILLIS = 90;
const DRAW_MILLIS = 1500;
/** Tables with up to so many rows are read without being asked. */
const AUTOMATIC_ROWS = 1_000_000;

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function create(context) {
  const { store, channel, history, prefix } = context;
  /** @type {Profile | undefined} */
  let profile;
  let shown = "";
  let running = false;
  let wanted = false;

  const condition = createCondition(context, (failure) => fail(failure));
  const status = el("span", { class: "pep-status", role: "status" });
  const done = el("span", {});
  const progress = el(
    "div",
    {
      class: "pep-progress",
      role: "progressbar",
      "aria-label": "Rows read",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      hidden: true,
    },
    done,
  );
  const toggle = button("Read all rows", "Read the rows of the table for exact figures", () => {
    wanted = !wanted;
    if (wanted) read();
  });
  const body = el("div", {
    class: "pep-body",
    tabindex: "0",
    role: "region",
    "aria-label": "Column profiles",
  });
  const bar = el("div", { class: "pep-bar" }, ...condition.elements, toggle, progress, status);
  const element = el("div", { class: "pe-view pes-pane pep", "data-pane": "profile" });
  element.append(el("style", {}, css), bar, body);

  const fail = (/** @type {Failure} */ failure) => {
    body.querySelector(".pe-problem")?.remove();
    body.prepend(problem(failure));
    attribute(element, "data-error", failure.kind);
  };

  /** The control that had the focus; it gets it again when the columns are drawn anew. */
  let kept = "";
  const isInColumns = () => {
    const active = document.activeElement;
    return active !== body && body.contains(active);
  };
  const keepFocus = () => {
    const active = document.activeElement;
    const column = isInColumns() ? active?.closest("[data-column]") : null;
    if (column)
      kept = `[data-column="${column.getAttribute("data-column")}"] .${active?.classList[0]}`;
    else if (active !== body) kept = "";
    return kept !== "";
  };

  const draw = () => {
    if (!profile) return;
    const scrolled = body.scrollTop;
    const hadFocus = keepFocus();
    fill(
      body,
      el("h4", { class: "pes-title" }, visible(profile.title)),
      ...[...(history.count ? [] : [NO_SNAPSHOT]), ...profile.notes].map((note) =>
        el("p", { class: "pep-note" }, visible(note)),
      ),
      drawColumns(profile, `${prefix}-profile`, choose),
    );
    body.scrollTop = scrolled;
    if (hadFocus) {
      const control = /** @type {HTMLElement | null} */ (body.querySelector(kept));
      (control ?? body).focus({ preventScroll: true });
    }
    attribute(element, "data-origin", profile.origin);
    attribute(element, "data-error", null);
  };

  /** @param {Progress} found */
  const showProgress = (found) => {
    const share = Math.round(100 * shareRead(found));
    done.style.width = `${share}%`;
    attribute(progress, "aria-valuenow", share);
    const fromRows = profile?.origin === "rows";
    progress.hidden = !running;
    fill(toggle, running ? "Stop" : fromRows ? "Continue" : "Read all rows");
    toggle.hidden = fromRows && found.complete;
    const rows = `${formatCount(found.stored)} of ${formatCount(found.total)} stored rows read`;
    fill(status, fromRows || running ? rows : "From statistics");
    attribute(element, "data-complete", toggle.hidden ? "1" : null);
  };

  /** @type {import("./profile_columns.js").Choose} */
  const choose = async (part) => {
    if (!profile) return;
    const where = whereOf(store);
    try {
      const answer = await channel.ask("profile_condition", {
        number: profile.number,
        where,
        ...part,
      });
      store.set({ where: answer.body.where });
    } catch (error) {
      fail(failureOf(error));
    }
  };

  /** Read rows step by step until all are read, the view is left, or the user stops it. */
  const read = async () => {
    if (running || !profile) return;
    running = true;
    const { number } = profile;
    let drawn = performance.now();
    try {
      while (profile?.number === number) {
        const stops = !wanted || store.get().tab !== "profile";
        const due = performance.now() - drawn > DRAW_MILLIS && !isInColumns();
        const columns = Number(stops || due);
        const { body: found } = await channel.ask("profile_rows", { number, columns });
        if (profile?.number !== number) break;
        running = !(stops || found.complete);
        if (found.columns) {
          profile = found;
          drawn = performance.now();
          draw();
        }
        showProgress(found);
        if (!running) return;
      }
    } catch (error) {
      if (profile?.number === number) {
        running = wanted = false;
        const failure = failureOf(error);
        showProgress({ ...profile, complete: false });
        if (failure.kind === "not saved") toggle.hidden = true;
        else fail(failure);
        return;
      }
    }
    running = false;
    if (wanted) read(); // of the profile that replaced this one
  };

  const load = whenQuiet(async () => {
    const { tab, selected } = store.get();
    if (tab !== "profile") return;
    const question = { snapshot: selected, where: whereOf(store) };
    const key = JSON.stringify(question);
    if (key === shown) {
      if (wanted && (profile?.origin === "statistics" || !profile?.complete)) read();
      return;
    }
    shown = key;
    attribute(element, "data-busy", "1");
    try {
      const answer = await channel.latest("profile", "profile", question);
      if (!answer) return;
      profile = /** @type {Profile} */ (answer.body);
      wanted = profile.rows === null || profile.rows <= AUTOMATIC_ROWS;
      draw();
      showProgress({ ...profile, complete: false });
      attribute(element, "data-shown", key);
      attribute(element, "data-busy", null);
      showColumn();
      if (wanted) read();
    } catch (error) {
      profile = undefined;
      fill(body);
      fail(failureOf(error));
      attribute(element, "data-shown", key);
      attribute(element, "data-busy", null);
    }
  }, QUIET_MILLIS);

  /** Scroll to the column that was searched for. */
  const showColumn = () => {
    const { column } = store.get();
    const index = profile?.columns.findIndex(({ name }) => name === column);
    body.querySelector(`[data-column="${index}"]`)?.scrollIntoView({ block: "nearest" });
  };

  load();
  return {
    element,
    focus: () => body.focus(),
    update(changed) {
      if (changed.has("where")) condition.show();
      if (changed.has("column")) showColumn();
      if (changed.has("selected") || changed.has("tab") || changed.has("where")) load();
    },
    dispose() {
      load.cancel();
      profile = undefined;
    },
  };
}

/**
 * The condition on rows.
 * @param {Store} store
 */
const whereOf = (store) => store.get().where ?? "";

/**
 * The field of the condition on rows, which all views of rows share.
 * @param {Context} context
 * @param {(failure: Failure) => void} fail
 */
function createCondition(context, fail) {
  const { store, channel, prefix } = context;
  const id = `${prefix}-profile-where`;
  const input = el("input", {
    id,
    type: "text",
    class: "pep-input",
    placeholder: "SQL condition on rows",
    autocomplete: "off",
    spellcheck: "false",
  });
  context.hints().then(({ examples }) => {
    attribute(input, "placeholder", withExample("SQL condition on rows", examples.profile));
  });
  const send = async () => {
    const text = input.value.trim();
    if (text === whereOf(store)) return;
    try {
      const answer = await channel.ask("condition", { snapshot: store.get().selected, text });
      store.set({ where: answer.body.where });
    } catch (error) {
      fail(failureOf(error));
    }
  };
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    send();
    event.preventDefault();
    event.stopPropagation();
  });
  const clear = button("×", "Clear the condition on rows", () => {
    input.value = "";
    store.set({ where: "" });
    input.focus();
  });
  const show = () => {
    input.value = whereOf(store);
  };
  show();
  return { elements: [el("label", { for: id }, "Rows where"), input, clear], show };
}
