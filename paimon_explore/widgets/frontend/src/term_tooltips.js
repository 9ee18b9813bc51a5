// @ts-check
/** Tooltips of terms: labels that name a term of the glossary get its meaning when they are pointed at. */

/** @import {Context} from "./context.js" */

const LABELS =
  "th, dt, .pe-kind, .pe-chip, .pe-legend-item, [role=columnheader], [role=tab], .pe-tree-label, .pe-pane-title, .pe-heading, .pes-heading, .pes-count, .pe-segmented button";

/**
 * @param {Context} context
 * @returns {() => void} takes the tooltips away
 */
export function createTooltips({ root, hints }) {
  /** @type {Map<string, string>} */
  const meanings = new Map();
  hints().then(({ terms }) => {
    for (const [name, meaning, others] of terms) {
      for (const one of [name, ...others]) meanings.set(one.toLowerCase(), meaning);
    }
  });
  /** @param {Event} event */
  const explain = ({ target }) => {
    const label = target instanceof Element ? target.closest(LABELS) : null;
    if (!label || label.hasAttribute("title")) return;
    const meaning = meaningOf(label.textContent ?? "", meanings);
    if (meaning) label.setAttribute("title", meaning);
  };
  const events = ["pointerover", "focusin"];
  for (const name of events) root.addEventListener(name, explain);
  return () => {
    for (const name of events) root.removeEventListener(name, explain);
  };
}

/**
 * The meaning of the term that a text is or begins with.
 * @param {string} text
 * @param {ReadonlyMap<string, string>} meanings  by name in lower case
 */
export function meaningOf(text, meanings) {
  const words = text.trim().toLowerCase().replace(/[▴▾]$/, "").split(/\s+/);
  for (let count = Math.min(words.length, 5); count > 0; count--) {
    const found = meanings.get(words.slice(0, count).join(" "));
    if (found) return found;
  }
  return undefined;
}
