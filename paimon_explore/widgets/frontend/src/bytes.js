// @ts-check
/** The byte inspector: a widget of its own, and the explorer's pane that is loaded when it is opened. */

import css from "./bytes.css";
import { createBytesView } from "./bytes_view.js";
import { Channel } from "./channel.js";
import { attribute, el, fill, whenQuiet } from "./dom.js";
import { NO_SNAPSHOT } from "./text_format.js";
import { watchTheme } from "./theme.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {Model} from "./channel.js" */

const QUIET_MILLIS = 80;

/**
 * The pane: shows the file behind what is chosen in the explorer.
 * @param {Context} context
 * @returns {Pane}
 */
export function create(context) {
  const { store, channel } = context;
  const view = createBytesView((op, args) => channel.ask(op, args));
  const element = el("div", { class: "pe-view peb-pane" }, view.element);
  element.prepend(el("style", {}, css));
  let shown = "";
  const load = whenQuiet(async () => {
    const { node, selected, tab } = store.get();
    const wanted = node || String(selected);
    if (!selected) {
      const any = context.history.count > 0;
      return view.say(any ? "No snapshot is selected." : NO_SNAPSHOT);
    }
    if (tab !== "bytes" || wanted === shown) return;
    shown = wanted;
    try {
      const answer = await channel.latest("bytes", "bytes", { node: wanted });
      if (answer) view.show(answer.body);
    } catch (error) {
      view.fail(error);
    }
  }, QUIET_MILLIS);
  load();
  return {
    element,
    focus: view.focus,
    update(changed) {
      if (changed.has("node") || changed.has("selected") || changed.has("tab")) load();
    },
    dispose() {
      load.cancel();
      view.dispose();
    },
  };
}

/**
 * @param {{model: Model, el: HTMLElement}} given
 * @returns {() => void} takes the widget down
 */
function render({ model, el: place }) {
  const root = el("div", {
    class: "peb-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Bytes of a file",
  });
  const height = Math.max(240, Math.min(Number(model.get("height")) || 480, 4000));
  root.style.setProperty("--peb-height", model.get("height") === "fill" ? "100%" : `${height}px`);
  fill(place, el("style", {}, css), root);
  const channel = new Channel(model);
  const view = createBytesView((op, args) => channel.ask(op, args));
  fill(root, view.element);
  const unwatch = watchTheme(root, () => {});
  channel
    .ask("bytes")
    .then((answer) => view.show(answer.body))
    .catch((error) => view.fail(error))
    .finally(() => attribute(root, "data-ready", "1"));
  return () => {
    unwatch();
    view.dispose();
    channel.close();
  };
}

export default { render };
