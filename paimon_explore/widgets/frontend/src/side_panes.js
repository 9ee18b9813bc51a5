// @ts-check
/** What stands around the view: manifest tree, details, handles, search box; loaded after the first paint. */

import { createDetail } from "./detail_view.js";
import { el } from "./dom.js";
import { createExport } from "./export_menu.js";
import { createLayout } from "./pane_layout.js";
import { createSearchBox } from "./search_box.js";
import { restoreSettings } from "./settings.js";
import css from "./side_panes.css";
import { createTooltips } from "./term_tooltips.js";
import { createTree } from "./tree_view.js";

/** @import {Context, Pane} from "./context.js" */

/** @type {Record<string, (context: Context) => Pane>} */
const PANES = {
  tree: createTree,
  detail: createDetail,
  layout: createLayout,
  search: createSearchBox,
  export: createExport,
};

/**
 * @param {Context & {pane: string}} context  with `pane` one of `PANES`
 * @returns {Pane}
 */
export function create(context) {
  const made = PANES[context.pane](context);
  if (context.pane !== "layout") return made;
  context.root.prepend(el("style", {}, css));
  restoreSettings(context);
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
