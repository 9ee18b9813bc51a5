// @ts-check
/** The panes beside the view: the manifest tree and the details; loaded after the first paint. */

import { createDetail } from "./detail_view.js";
import { el } from "./dom.js";
import css from "./side_panes.css";
import { createTree } from "./tree_view.js";

/** @import {Context, Pane} from "./context.js" */

/**
 * @param {Context & {pane: string}} context  with `pane` "tree" or "detail"
 * @returns {Pane}
 */
export function create(context) {
  const made = context.pane === "tree" ? createTree(context) : createDetail(context);
  made.element.append(el("style", {}, css));
  return made;
}
