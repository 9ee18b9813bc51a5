// @ts-check
/** Tables as rows of texts, and as text with separators. */

/** @typedef {{rows: string[][], more: boolean}} ExportedTable  with the heads as the first row */

/**
 * The rows of a table, of a list of facts, or of a grid; a grid, which draws only some rows, answers to the event
 * `pe-export` by a promise in its detail.
 * @param {HTMLElement} element
 * @returns {ExportedTable | Promise<ExportedTable>}
 */
export function tableRows(element) {
  if (element.matches("[role=grid]")) {
    /** @type {{rows?: Promise<ExportedTable>}} */
    const detail = {};
    element.dispatchEvent(new CustomEvent("pe-export", { detail }));
    return detail.rows ?? { rows: [], more: false };
  }
  const rows =
    element instanceof HTMLTableElement
      ? [...element.rows].map(({ cells }) => [...cells].flatMap(cellTexts))
      : [...element.querySelectorAll("dt")].map((name) => [
          textOf(name),
          ...(name.nextElementSibling ? [textOf(name.nextElementSibling)] : []),
        ]);
  return { rows, more: false };
}

/** @param {HTMLTableCellElement} cell */
function cellTexts(cell) {
  return [textOf(cell), .../** @type {string[]} */ (Array(cell.colSpan - 1).fill(""))];
}

/**
 * What a cell says: its whole text if that is shortened, without the buttons that are no values.
 * @param {Element} cell
 */
function textOf(cell) {
  const whole = cell.getAttribute("data-text");
  if (whole !== null) return whole;
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const parts = [];
  while (texts.nextNode()) {
    const { data, parentElement } = /** @type {Text} */ (texts.currentNode);
    const button = parentElement?.closest("button");
    if (!button || /-link\b/.test(button.className)) parts.push(data.trim());
  }
  return parts.filter(Boolean).join(" ");
}

/** Texts that spreadsheets would run: a formula, or a signed text that calls a function, a program or a sheet. */
const FORMULA = /^(?:[=@\t\r]|[+-].*[(|!])/s;

/**
 * Rows as text; an apostrophe keeps spreadsheets from running values as formulas.
 * @param {readonly (readonly string[])[]} rows
 * @param {"," | "\t"} separator
 */
export function separated(rows, separator) {
  const safe = (/** @type {string} */ text) => (FORMULA.test(text) ? `'${text}` : text);
  const cell = (/** @type {string} */ text) =>
    text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map((row) => `${row.map(safe).map(cell).join(separator)}\r\n`).join("");
}
