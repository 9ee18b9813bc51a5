// @ts-check
/** Tooltips of texts that are cut by an ellipsis, and of inputs whose example is cut. */

import { attribute } from "./dom.js";
import { cut } from "./text_format.js";

const MOST = 2000;

/**
 * Give the element below the pointer its whole text as a tooltip if it shows only a part of it.
 * Rows of grids are used again for other texts, so a tooltip that was given here is renewed.
 * @param {Event} event
 */
export function showWhole({ target }) {
  if (!(target instanceof HTMLElement) || target.closest("[title]:not([data-whole])")) return;
  const whole = partlyShown(target);
  if (whole === null && !target.hasAttribute("data-whole")) return;
  attribute(target, "title", whole);
  attribute(target, "data-whole", whole !== null);
}

/** @param {HTMLElement} element */
function partlyShown(element) {
  if (element instanceof HTMLInputElement) return element.value ? null : element.placeholder;
  if (element.scrollWidth <= element.clientWidth) return null;
  if (getComputedStyle(element).textOverflow !== "ellipsis") return null;
  return cut(element.textContent, MOST);
}
