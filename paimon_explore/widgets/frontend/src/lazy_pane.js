// @ts-check
/** Panes whose code comes from Python when they are first opened, so that the explorer starts light. */

import { failureOf } from "./channel.js";
import { attribute, el, fill } from "./dom.js";
import { visible } from "./text_format.js";

/** @import {Change, Context, Pane} from "./context.js" */

/** @type {Map<string, Promise<{create: (context: Context, place?: HTMLElement) => any}>>} */
const LOADED = new Map();

/**
 * The module of a bundle: a script of our own, imported from a blob as anywidget imports the explorer.
 * @param {Context} context
 * @param {string} name
 */
export function loaded(context, name) {
  let found = LOADED.get(name);
  if (!found) {
    found = (async () => {
      const { body } = await context.channel.ask("pane", { name });
      const address = URL.createObjectURL(new Blob([body.esm], { type: "text/javascript" }));
      try {
        return await import(/* webpackIgnore: true */ address);
      } finally {
        URL.revokeObjectURL(address);
      }
    })();
    found.catch(() => LOADED.delete(name));
    LOADED.set(name, found);
  }
  return found;
}

/**
 * A pane that is there at once and filled when its code has come.
 * @param {string} name  of the bundle
 * @param {string} [pane]  which of its panes, as `context.pane`
 * @returns {(context: Context) => Pane}
 */
export function lazyPane(name, pane) {
  return (context) => lazy(Object.assign(Object.create(context), { pane }), name);
}

/**
 * @param {Context} context
 * @param {string} name
 * @returns {Pane}
 */
function lazy(context, name) {
  const element = el("div", { class: "pe-view pe-lazy", tabindex: "-1" });
  fill(element, el("div", { class: "pe-empty" }, "Loading…"));
  /** @type {Pane | undefined} */
  let pane;
  let gone = false;
  loaded(context, name)
    .then(({ create }) => {
      if (gone) return;
      const made = /** @type {Pane} */ (create(context));
      pane = made;
      fill(element, made.element);
      attribute(element, "data-loaded", "1");
    })
    .catch((error) => {
      const { message, hint } = failureOf(error);
      const text = hint ? `${message} ${hint}` : message;
      fill(element, el("div", { class: "pe-empty", role: "alert" }, visible(text)));
    });
  return {
    element,
    focus: () => (pane ? pane.focus() : element.focus()),
    update: (/** @type {Set<Change>} */ changed) => pane?.update(changed),
    dispose() {
      gone = true;
      pane?.dispose?.();
    },
  };
}
