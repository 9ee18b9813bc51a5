// @ts-check
/** The settings of the explorer, in one place; the browser remembers them for the next one. */

import { button, el, segmented } from "./dom.js";
import { remember, remembered } from "./remembered.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {State} from "./selection_store.js" */

/**
 * @typedef {object} Setting
 * @property {keyof State} name
 * @property {string} label
 * @property {readonly (readonly [value: unknown, label: string])[]} choices
 * @property {boolean} [lasts]  whether the next explorer has it too
 */

const HIDDEN_OR_SHOWN = /** @type {const} */ ([
  [false, "hidden"],
  [true, "shown"],
]);
/** @type {readonly Setting[]} */
const SETTINGS = [
  {
    name: "metric",
    label: "Bars of the timeline",
    choices: ["rows", "bytes", "files"].map((name) => [name, name]),
    lasts: true,
  },
  {
    name: "axis",
    label: "Spacing of snapshots",
    choices: [
      ["id", "equal"],
      ["time", "by commit time"],
    ],
    lasts: true,
  },
  { name: "writers", label: "Rows of commit users", choices: HIDDEN_OR_SHOWN },
  { name: "readers", label: "Rows of consumers and watermark", choices: HIDDEN_OR_SHOWN },
  {
    name: "live",
    label: "Look for new snapshots",
    choices: [
      [0, "never"],
      [2, "every 2 s"],
      [10, "every 10 s"],
      [60, "every minute"],
    ],
  },
  {
    name: "height",
    label: "Height",
    choices: [
      [0, "as the window"],
      [560, "560 px"],
      [800, "800 px"],
      [1200, "1200 px"],
    ],
  },
];

/**
 * The settings of an explorer, each with what changes it; a saved page cannot follow the table.
 * @param {Context} context
 */
export function settingsOf({ store }) {
  return SETTINGS.filter(({ name }) => store.get()[name] !== undefined).map((setting) => ({
    ...setting,
    set(/** @type {unknown} */ value) {
      store.set({ [setting.name]: value });
      if (!setting.lasts) return;
      const known = remembered("localStorage", "settings") ?? {};
      remember("localStorage", "settings", { ...known, [setting.name]: value });
    },
  }));
}

/**
 * Take over what was chosen in another explorer.
 * @param {Context} context
 */
export function restoreSettings({ store }) {
  const known = remembered("localStorage", "settings") ?? {};
  for (const { name, choices, lasts } of SETTINGS) {
    if (lasts && choices.some(([value]) => value === known[name])) {
      store.set({ [name]: known[name] });
    }
  }
}

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createSettings(context) {
  const parts = settingsOf(context).map(({ name, label, choices, set }) => {
    const control = segmented(
      label,
      choices.map(([value, title]) => [String(value), title, `${label}: ${title}`]),
      (chosen) => set(choices.find(([value]) => String(value) === chosen)?.[0]),
    );
    return { name, label, control };
  });
  const list = el("dl", { class: "pe-facts pe-settings" });
  for (const { label, control } of parts) {
    list.append(el("dt", {}, label), el("dd", {}, control.element));
  }
  const reset = button("Reset the widths", "Give the panes their usual widths", () => {
    for (const handle of context.root.querySelectorAll(".pe-split")) {
      handle.dispatchEvent(new MouseEvent("dblclick"));
    }
  });
  const show = () => {
    for (const { name, control } of parts) control.press(String(context.store.get()[name]));
  };
  show();
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Settings"),
    list,
    reset,
  );
  return { element, focus: () => element.focus(), update: show };
}
