// @ts-check
/** What keys do, and which key leads to which row. */

/**
 * @typedef {object} Act
 * @property {string} id
 * @property {string} key  as events name it
 * @property {string} [shown]  the key as it is shown
 * @property {string} label
 */

/** What keys do in the whole widget; the search box finds it by its label. @type {readonly Act[]} */
export const ACTS = [
  { id: "find", key: "Ctrl-K", label: "Find a view, snapshot, tag, file, column or command" },
  { id: "previous", key: "ArrowLeft", shown: "←", label: "Previous snapshot" },
  { id: "next", key: "ArrowRight", shown: "→", label: "Next snapshot" },
  { id: "back", key: "PageUp", shown: "PgUp", label: "Ten snapshots back" },
  { id: "forward", key: "PageDown", shown: "PgDn", label: "Ten snapshots forward" },
  { id: "first", key: "Home", label: "First snapshot" },
  { id: "last", key: "End", label: "Last snapshot" },
  { id: "filter", key: "/", label: "Filter the files" },
  { id: "mark", key: "m", label: "Mark this snapshot for comparison" },
  { id: "copy", key: "y", label: "Copy the code" },
  { id: "export", key: "s", label: "Copy or save tables and pictures" },
  { id: "settings", key: ",", label: "Settings" },
  { id: "help", key: "?", label: "Keyboard shortcuts, symbols and terms" },
  { id: "leave", key: "Escape", shown: "Esc", label: "Return to the notebook" },
];

/**
 * What a key asks of the whole widget: the id of an act, if any. Text fields keep all keys but Escape and
 * Ctrl-K, tabs keep the arrows.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean}} event
 * @param {{typing: boolean, tabs: boolean}} where
 * @returns {string | undefined}
 */
export function actOf({ key, ctrlKey, metaKey, altKey }, { typing, tabs }) {
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return key.toLowerCase() === "k" ? "find" : undefined;
  if (typing && key !== "Escape") return undefined;
  if (tabs && /^(Arrow|Home|End)/.test(key)) return undefined;
  return ACTS.find((act) => act.key === key)?.id;
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
