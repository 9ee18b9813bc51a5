// @ts-check
/** Which key means what. */

/**
 * @typedef {{do: "step", by: number}
 *   | {do: "first" | "last" | "filter" | "mark" | "leave" | "help" | "copy"}} Command
 */

/** @type {Readonly<Record<string, Command>>} */
const COMMANDS = {
  ArrowLeft: { do: "step", by: -1 },
  ArrowRight: { do: "step", by: 1 },
  PageUp: { do: "step", by: -10 },
  PageDown: { do: "step", by: 10 },
  Home: { do: "first" },
  End: { do: "last" },
  "/": { do: "filter" },
  m: { do: "mark" },
  y: { do: "copy" },
  "?": { do: "help" },
  Escape: { do: "leave" },
};

/**
 * What a key asks of the whole widget, if anything. Text fields keep all keys but Escape, tabs keep the arrows.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean}} event
 * @param {{typing: boolean, tabs: boolean}} where
 * @returns {Command | undefined}
 */
export function commandOf(event, where) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (where.typing && event.key !== "Escape") return undefined;
  if (where.tabs && /^(Arrow|Home|End)/.test(event.key)) return undefined;
  return Object.hasOwn(COMMANDS, event.key) ? COMMANDS[event.key] : undefined;
}

/**
 * The row a key leads to in a list, or undefined.
 * @param {string} key
 * @param {number} row
 * @param {number} count
 */
export function rowAfter(key, row, count) {
  if (!count) return undefined;
  if (key === "ArrowDown") return Math.min(row + 1, count - 1);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  return undefined;
}
