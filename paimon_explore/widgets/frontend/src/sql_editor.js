// @ts-check
/** An editor of SQL: a text area over its coloured text, with a list of completions. */

import { attribute, el, fill } from "./dom.js";
import { completionsOf, tokensOf } from "./sql_text.js";
import { visible } from "./text_format.js";

/** @import {Completion, Names} from "./sql_text.js" */

/** Completions that are shown at once. */
const SHOWN = 9;

/**
 * The coloured text.
 * @param {string} text
 * @param {number} [marked]  offset of the token that an error is about; -1 for none
 */
export function coloured(text, marked = -1) {
  return tokensOf(text).map(({ kind, text: part, start }) => {
    const isMarked = start === marked;
    if (!isMarked && (kind === "space" || kind === "sign" || kind === "name")) return part;
    return el("span", { "data-kind": kind, class: isMarked ? "peq-mark" : null }, part);
  });
}

/**
 * @param {string} prefix  for ids of elements
 * @param {() => Names} names
 * @param {() => void} run
 */
export function createEditor(prefix, names, run) {
  const paint = el("pre", { class: "peq-paint", "aria-hidden": "true" });
  const listId = `${prefix}-sql-completions`;
  const input = el("textarea", {
    class: "peq-input",
    "aria-label": "SQL query",
    "aria-autocomplete": "list",
    "aria-haspopup": "listbox",
    autocomplete: "off",
    spellcheck: "false",
    title: "Ctrl-Enter runs the query, Ctrl-Space completes a word",
  });
  const list = el("div", { class: "peq-list", role: "listbox", id: listId, hidden: true });
  attribute(list, "aria-label", "Completions");
  const element = el("div", { class: "peq-editor" }, paint, input, list);
  /** @type {Completion[]} */
  let items = [];
  let first = 0;
  let chosen = 0;
  let top = 0;
  let marked = -1;

  const draw = () => {
    fill(paint, ...coloured(input.value, marked), "\n");
    scroll();
  };
  const scroll = () => {
    paint.scrollTop = input.scrollTop;
    paint.scrollLeft = input.scrollLeft;
  };

  const close = () => {
    items = [];
    list.hidden = true;
    attribute(input, "aria-activedescendant", null);
    attribute(input, "aria-controls", null);
  };
  const drawList = () => {
    top = Math.max(chosen - SHOWN + 1, 0);
    const lines = items.slice(top, top + SHOWN).map(({ label, detail }, line) => {
      const id = `${listId}-${top + line}`;
      return el(
        "div",
        { role: "option", id, "aria-selected": String(top + line === chosen) },
        el("span", {}, visible(label)),
        el("span", { class: "pe-muted" }, visible(detail)),
      );
    });
    fill(list, ...lines);
    attribute(input, "aria-controls", listId);
    attribute(input, "aria-activedescendant", `${listId}-${chosen}`);
  };
  const open = () => {
    const found = completionsOf(input.value, input.selectionStart, names());
    if (!found.items.length) return close();
    ({ items } = found);
    first = found.start;
    chosen = 0;
    list.hidden = false;
    place();
    drawList();
  };
  /** Put the list below the word that it completes. */
  const place = () => {
    const range = document.createRange();
    const walker = document.createTreeWalker(paint, NodeFilter.SHOW_TEXT);
    let rest = first;
    let node = walker.nextNode();
    while (node && rest > /** @type {Text} */ (node).length) {
      rest -= /** @type {Text} */ (node).length;
      node = walker.nextNode();
    }
    if (!node) return;
    range.setStart(node, rest);
    const box = range.getBoundingClientRect();
    const frame = element.getBoundingClientRect();
    const left = Math.min(box.left - frame.left, frame.width - 240);
    list.style.left = `${Math.max(left, 0)}px`;
    list.style.top = `${box.bottom - frame.top + 2}px`;
  };
  /** @param {number} at */
  const accept = (at) => {
    const { insert } = items[at];
    const { value, selectionStart } = input;
    close();
    input.value = `${value.slice(0, first)}${insert}${value.slice(selectionStart)}`;
    input.selectionStart = input.selectionEnd = first + insert.length;
    marked = -1;
    draw();
  };

  input.addEventListener("input", () => {
    marked = -1;
    draw();
    const before = input.value.slice(0, input.selectionStart);
    if (/[\p{L}\p{N}_.`]$/u.test(before)) open();
    else close();
  });
  input.addEventListener("scroll", scroll, { passive: true });
  input.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => {
    const line = /** @type {Element} */ (event.target).closest("[role=option]");
    if (line) accept(top + [...list.children].indexOf(line));
    event.preventDefault(); // the text area keeps the focus
  });
  input.addEventListener("keydown", (event) => {
    const isOpen = !list.hidden;
    const control = event.ctrlKey || event.metaKey;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && control) {
      close();
      run();
    } else if (event.key === " " && control) open();
    else if (isOpen && step && !control) {
      chosen = (chosen + step + items.length) % items.length;
      drawList();
    } else if (isOpen && (event.key === "Enter" || event.key === "Tab")) accept(chosen);
    else if (isOpen && event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
    focus: () => input.focus(),
    value: () => input.value,
    /** @param {string} text */
    set(text) {
      if (text === input.value) return;
      input.value = text;
      marked = -1;
      draw();
    },
    /** @param {number} at  offset of the token that an error is about; -1 for none */
    mark(at) {
      marked = at;
      draw();
    },
  };
}
