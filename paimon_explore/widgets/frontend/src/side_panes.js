// @ts-check
/** What stands around the view: the manifest tree, the details, and the handles; loaded after the first paint. */

import { createDetail } from "./detail_view.js";
import { el } from "./dom.js";
import { createLayout } from "./pane_layout.js";
import css from "./side_panes.css";
import { createTooltips } from "./term_tooltips.js";
import { createTree } from "./tree_view.js";

/** @import {Context, Pane} from "./context.js" */

/** @type {Record<string, (context: Context) => Pane>} */
const PANES = { tree: createTree, detail: createDetail, layout: createLayout };

/**
 * @param {Context & {pane: string}} context  with `pane` "tree", "detail" or "layout"
 * @returns {Pane}
 */
export function create(context) {
  const made = PANES[context.pane](context);
  if (context.pane !== "layout") return made;
  context.root.prepend(el("style", {}, css));
  const { dispose } = made;
  const end = createTooltips(context);
  return {
    ...made,
    dispose() {
      dispose?.();
      end();
    },
  };
}
