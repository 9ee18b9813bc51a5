// @ts-check
/** A result as a widget of its own, and the panes of the explorer that show results. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import css from "./report.css";
import { drawReport, problemOf } from "./report_view.js";
import { NO_SNAPSHOT, visible, withExample } from "./text_format.js";
import { watchTheme } from "./theme.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Report} from "./report_view.js" */
/** @import {Model} from "./channel.js" */

const QUIET_MILLIS = 90;
/** Views that first tell what is known without reading manifests. */
const QUICK = new Set(["overview"]);

/**
 * What the field of each view is for, with an example after it if the table has one; views without an
 * entry ask nothing.
 * @type {Readonly<Record<string, {label: string, hint: string, rows?: boolean}>>}
 */
const FIELDS = {
  lsm: { label: "Bucket", hint: "partition and bucket" },
  diff: { label: "Compare with", hint: "snapshot id, tag or time; 0 = no snapshot", rows: true },
  explain: { label: "Condition", hint: "SQL condition, limit" },
  key: { label: "Primary key", hint: "values of the key columns" },
  why: { label: "File name", hint: "name of a data, manifest or index file" },
  expiry: { label: "Retention options", hint: "retain_max, retain_min, older_than" },
};
const NOT_SAVED = "Not available in a saved page: open the table in a notebook";

/**
 * A pane of the explorer: a report from Python.
 * @param {Context & {pane: string}} context
 * @returns {Pane}
 */
export function create(context) {
  const { store, channel, pane } = context;
  const field = FIELDS[pane];
  const body = el("div", {
    class: "pes-body",
    tabindex: "0",
    role: "region",
    "aria-label": "Result",
    "aria-live": "off",
  });
  const asked = () => store.get().asked[pane] ?? "";
  const ask = (/** @type {string} */ text) =>
    store.set({ asked: { ...store.get().asked, [pane]: text } });
  const shared = () => (pane === "explain" ? (store.get().where ?? "") : "");
  const form = field ? createForm(context, pane, field, { asked, shared }, ask) : undefined;
  const element = el("div", { class: "pe-view pes-pane", "data-pane": pane });
  element.append(el("style", {}, css), ...(form ? [form.element] : []), body);

  /** @param {string} target */
  const split = (target) => {
    const at = target.indexOf(":");
    return [target.slice(0, at), target.slice(at + 1)];
  };
  /** @type {import("./report_view.js").Select} */
  const select = (target) => {
    const [kind, what] = split(target);
    switch (kind) {
      case "snapshot":
        return context.moveTo(context.history.positionOf(Number(what)));
      case "file":
        return store.set({ node: `name/${what}`, aside: "" });
      case "schema":
        if (what) return store.set({ node: `schema/${what}`, aside: "" });
        return store.set({ tab: kind });
      case "filter":
        return store.set({ tab: "files", filter: what });
      case "ask":
        return ask(what);
      default:
        return store.set({ tab: kind, asked: { ...store.get().asked, [kind]: what } });
    }
  };

  select.offers = (target) => {
    const [kind, what] = split(target);
    const { selected } = store.get();
    switch (kind) {
      case "snapshot":
        return true;
      case "file":
        return context.offers({ op: "detail", node: `name/${what}` });
      case "schema":
        return !what || context.offers({ op: "detail", node: `schema/${what}` });
      case "filter":
        return !what || context.offers({ op: "filter" });
      default: {
        if (kind === "partitions") return true;
        const asks = { pane: kind === "ask" ? pane : kind, text: what, compare: 0, node: "" };
        return context.offers({ op: "report", snapshot: selected, ...asks });
      }
    }
  };

  let dispose = () => {};
  let shown = "";
  const load = whenQuiet(async () => {
    const { tab, selected, compare, node } = store.get();
    if (tab !== pane) return;
    const question = {
      pane,
      snapshot: selected,
      text: asked() || shared(),
      compare: pane === "diff" ? compare : 0,
      node: pane === "why" ? node : "",
    };
    const key = JSON.stringify(question);
    if (key === shown) return;
    shown = key;
    attribute(element, "data-busy", "1");
    if (QUICK.has(pane) && context.offers({ op: "report", ...question, text: "quick" })) {
      if (!(await present({ ...question, text: "quick" }))) return;
      attribute(element, "data-busy", null);
    }
    if (!(await present(question))) return;
    attribute(element, "data-shown", key);
    attribute(element, "data-busy", null);
  }, QUIET_MILLIS);

  /** @param {...(Node | null)} parts */
  const replace = (...parts) => {
    const focused = body.contains(document.activeElement);
    keepingFocus(body, () => fill(body, ...parts));
    if (focused && !body.contains(document.activeElement)) body.focus();
  };

  let drawn = "";
  /**
   * Show the answer to a question; false if a newer question was asked meanwhile.
   * @param {{pane: string, snapshot: number, text: string, compare: number, node: string}} question
   */
  const present = async (question) => {
    try {
      const answer = await channel.latest(`report-${pane}`, "report", question);
      if (!answer) return false;
      dispose();
      const made = drawReport(/** @type {Report} */ (answer.body), select);
      dispose = made.dispose;
      const isEmpty = !context.history.count;
      const next = isEmpty ? el("p", { class: "pes-note" }, NO_SNAPSHOT) : null;
      replace(next, ...made.elements);
      attribute(element, "data-error", null);
    } catch (error) {
      dispose();
      dispose = () => {};
      const failure = failureOf(error);
      replace(problemOf(failure));
      attribute(element, "data-error", failure.kind);
    }
    if (drawn !== shown) body.scrollTop = 0;
    drawn = shown;
    return true;
  };

  load();
  return {
    element,
    focus: () => (form ? form.focus() : body.focus()),
    update(changed) {
      const relevant = /** @type {const} */ ([
        ...["selected", "tab", "asked", "compare", "node", "where"],
      ]);
      if (!relevant.some((name) => changed.has(name))) return;
      if (changed.has("asked") || changed.has("where")) form?.show();
      load();
    },
    dispose() {
      load.cancel();
      dispose();
    },
  };
}

/**
 * Draw again; the focused control of a form, if there is one, gets the focus back.
 * @param {HTMLElement} body
 * @param {() => void} draw
 */
function keepingFocus(body, draw) {
  const root = /** @type {Document | ShadowRoot} */ (body.getRootNode());
  const active = root.activeElement;
  const name = active && body.contains(active) ? active.getAttribute("data-focus") : null;
  draw();
  if (name === null) return;
  /** @type {NodeListOf<HTMLElement>} */
  const controls = body.querySelectorAll("[data-focus]");
  const again = [...controls].find((control) => control.getAttribute("data-focus") === name);
  again?.focus({ preventScroll: true });
}

/**
 * The one field of a view.
 * @param {Context} context
 * @param {string} pane
 * @param {{label: string, hint: string, rows?: boolean}} field
 * @param {{asked: () => string, shared: () => string}} texts  the input of the view, and the condition
 *   on rows that all views share, which is used where the view has no input
 * @param {(text: string) => void} ask
 */
function createForm(context, pane, field, { asked, shared }, ask) {
  const id = `${context.prefix}-ask-${pane}`;
  const input = el("input", {
    id,
    type: "text",
    class: "pes-input",
    placeholder: field.hint,
    autocomplete: "off",
    spellcheck: "false",
  });
  const send = () => ask(input.value.trim());
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    send();
    event.preventDefault();
    event.stopPropagation();
  });
  const clear = button("×", `Clear the field ${field.label}`, () => {
    input.value = "";
    ask("");
    input.focus();
  });
  const rows = field.rows
    ? button(
        "compare rows",
        "Also compare the rows; this reads the data files of changed buckets",
        () => {
          const bare = asked().replace(/,?\s*\brows\s*$/i, "");
          ask(bare === asked() ? `${bare}${bare ? ", " : ""}rows` : bare);
        },
      )
    : undefined;
  let { hint } = field;
  if (context.offers({ op: "report" })) {
    context.hints().then(({ examples }) => {
      hint = withExample(field.hint, examples[pane]);
      show();
    });
  } else {
    for (const control of [input, clear, ...(rows ? [rows] : [])]) {
      control.disabled = true;
      attribute(control, "title", NOT_SAVED);
    }
    hint = NOT_SAVED;
  }
  const show = () => {
    if (input.value.trim() !== asked()) input.value = asked();
    attribute(input, "placeholder", visible(shared()) || hint);
    if (rows) attribute(rows, "aria-pressed", String(/\brows\s*$/i.test(asked())));
  };
  show();
  const element = el(
    "div",
    { class: "pes-ask" },
    el("label", { for: id }, visible(field.label)),
    input,
    clear,
    rows,
  );
  return { element, show, focus: () => input.focus() };
}

/** A result of its own has no views to lead to. @type {import("./report_view.js").Select} */
const NO_LINKS = Object.assign(() => {}, { offers: () => false });

/**
 * @param {{model: Model, el: HTMLElement}} given
 * @returns {() => void} takes the widget down
 */
function render({ model, el: place }) {
  const root = el("div", {
    class: "pes-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Result",
  });
  fill(place, el("style", {}, css), root);
  let dispose = () => {};
  const draw = () => {
    dispose();
    const made = drawReport(model.get("report"), NO_LINKS);
    dispose = made.dispose;
    const code = model.get("report").code;
    fill(root, ...made.elements, code ? el("code", { class: "pes-code" }, visible(code)) : null);
  };
  draw();
  const unwatch = watchTheme(root, () => {});
  model.on("change:report", draw);
  attribute(root, "data-ready", "1");
  return () => {
    unwatch();
    dispose();
    model.off("change:report", draw);
  };
}

export default { render };
