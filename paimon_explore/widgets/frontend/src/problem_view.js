// @ts-check
/** An error: what failed, where, the rule, what to do next. */

import { el } from "./dom.js";
import { cut, visible } from "./text_format.js";

/** @import {Failure} from "./channel.js" */

/**
 * @param {Failure} failure
 */
export function problem(failure) {
  if (failure.kind === "not saved") return el("p", { class: "pe-empty" }, failure.message);
  return el(
    "div",
    { class: "pe-problem", role: "alert", "data-error": failure.kind },
    el("strong", {}, visible(failure.kind)),
    el("p", {}, visible(cut(failure.message, 2000))),
    failure.path && !failure.message.includes(failure.path)
      ? el("p", { class: "pe-path" }, visible(failure.path))
      : null,
    failure.hint ? el("p", {}, visible(failure.hint)) : null,
  );
}
