// @ts-check
/** A result as a widget of its own, and the panes of the explorer that show results. */

import { failureOf } from "./channel.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import css from "./report.css";
import { drawReport, problemOf } from "./report_view.js";
import { visible } from "./text_format.js";
import { watchTheme } from "./theme.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Report} from "./report_view.js" */
/** @import {Model} from "./channel.js" */

const QUIET_MILLIS = 90;

/**
 * What the field of each view is for; views without an entry ask nothing.
 * @type {Readonly<Record<string, {label: string, example: string, rows?: boolean}>>}
 */
const FIELDS = {
  lsm: { label: "Bucket", example: "dt=d1, bucket 0" },
  diff: {
    label: "Compare with",
    example: "snapshot id, tag or time; 0 = no snapshot",
    rows: true,
  },
  explain: { label: "Condition", example: "k > 3 and dt = 'd1' limit 10" },
  key: { label: "Primary key", example: "id = 3, dt = 'd1'" },
  why: { label: "File name", example: "name of a data, manifest or index file" },
  expiry: { label: "Retention options", example: "retain_max=10, older_than=1 d" },
};

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
  const form = field ? createForm(context.prefix, pane, field, { asked, shared }, ask) : undefined;
  const element = el("div", { class: "pe-view pes-pane", "data-pane": pane });
  element.append(el("style", {}, css), ...(form ? [form.element] : []), body);

  const select = (/** @type {string} */ target) => {
    const at = target.indexOf(":");
    const [kind, what] = [target.slice(0, at), target.slice(at + 1)];
    switch (kind) {
      case "snapshot":
        return context.moveTo(context.history.positionOf(Number(what)));
      case "file":
        return store.set({ node: `name/${what}`, help: false });
      case "schema":
        return store.set({ node: `schema/${what}`, help: false });
      case "filter":
        return store.set({ tab: "files", filter: what });
      case "ask":
        return ask(what);
      default:
        return store.set({ tab: kind, asked: { ...store.get().asked, [kind]: what } });
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
    try {
      const answer = await channel.latest(`report-${pane}`, "report", question);
      if (!answer) return;
      dispose();
      const made = drawReport(/** @type {Report} */ (answer.body), select);
      dispose = made.dispose;
      keepingFocus(body, () => fill(body, ...made.elements));
      attribute(element, "data-error", null);
    } catch (error) {
      dispose();
      dispose = () => {};
      const failure = failureOf(error);
      fill(body, problemOf(failure));
      attribute(element, "data-error", failure.kind);
    }
    body.scrollTop = 0;
    attribute(element, "data-shown", key);
    attribute(element, "data-busy", null);
  }, QUIET_MILLIS);

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
 * @param {string} prefix
 * @param {string} pane
 * @param {{label: string, example: string, rows?: boolean}} field
 * @param {{asked: () => string, shared: () => string}} texts  the input of the view, and the condition
 *   on rows that all views share, which is used where the view has no input
 * @param {(text: string) => void} ask
 */
function createForm(prefix, pane, field, { asked, shared }, ask) {
  const id = `${prefix}-ask-${pane}`;
  const input = el("input", {
    id,
    type: "text",
    class: "pes-input",
    placeholder: field.example,
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
  const show = () => {
    if (input.value.trim() !== asked()) input.value = asked();
    attribute(input, "placeholder", visible(shared() || field.example));
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
    const made = drawReport(model.get("report"), () => {});
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
