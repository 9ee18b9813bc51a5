// @ts-check
/** The tree pane: snapshot, lists, manifests, entries; loaded when opened. */

import { failureOf } from "./channel.js";
import { attribute, el, fill, whenQuiet } from "./dom.js";
import { shortName } from "./file_name.js";
import { rowAfter } from "./keyboard.js";
import { problem } from "./problem_view.js";
import {
  formatBytes,
  formatCount,
  formatShort,
  NO_SNAPSHOT,
  plural,
  visible,
} from "./text_format.js";
import { parentKey, Tree } from "./tree_model.js";

/** @import {Context, Pane} from "./context.js" */
/** @import {TreeRow} from "./tree_model.js" */

const QUIET_MILLIS = 60;

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createTree(context) {
  const { history, store, channel } = context;
  const tree = new Tree();
  const list = el("div", {
    class: "pe-tree",
    role: "tree",
    tabindex: "0",
    "aria-label": "Metadata files of the snapshot",
  });
  const says = history.count ? "No snapshot is selected." : NO_SNAPSHOT;
  const empty = el("div", { class: "pe-empty", hidden: true }, says);
  const message = el("div", { hidden: true });
  const element = el("div", { class: "pe-panel" }, message, empty, list);
  let current = "";
  let shownSnapshot = -1;
  /** @type {TreeRow[]} */
  let rows = [];

  /** @param {string} key */
  const path = (key) => `${store.get().selected}${key ? `/${key}` : ""}`;

  const load = whenQuiet(async () => {
    const { selected } = store.get();
    if (!selected) return show();
    try {
      const keys = [...tree.open].sort();
      const answer = await channel.latest("tree", "tree", { snapshot: selected, keys });
      if (!answer) return;
      tree.load(answer.body.children);
      shownSnapshot = selected;
      message.hidden = true;
    } catch (error) {
      tree.load({});
      fail(error);
    }
    show();
  }, QUIET_MILLIS);

  /** @param {unknown} error */
  const fail = (error) => {
    message.hidden = false;
    fill(message, problem(failureOf(error)));
  };

  /** @param {string} key */
  const page = async (key) => {
    const offset = tree.children.get(key)?.nodes.length ?? 0;
    const { selected } = store.get();
    try {
      const { body } = await channel.ask("tree", { snapshot: selected, keys: [key], offset });
      if (selected === store.get().selected) tree.extend(key, body.children[key]);
    } catch (error) {
      fail(error);
      tree.open.delete(key);
    }
    show();
  };

  /**
   * @param {TreeRow} row
   * @param {boolean} [open]
   */
  const toggle = (row, open = !row.open) => {
    if (!row.expandable || open === row.open) return;
    if (open) {
      tree.open.add(row.key);
      if (!tree.children.has(row.key)) page(row.key);
    } else tree.open.delete(row.key);
    show();
  };

  /** @param {TreeRow} row */
  const choose = (row) => {
    if (row.type === "more") {
      page(parentKey(row.key));
      return;
    }
    if (row.type === "loading" || row.type === "none") return;
    current = row.key;
    store.set({ node: path(row.key) });
    show();
  };

  const show = () => {
    const { selected } = store.get();
    rows = selected ? tree.rows() : [];
    list.classList.toggle("pe-stale", shownSnapshot !== selected);
    empty.hidden = selected > 0;
    list.hidden = selected <= 0;
    const elements = rows.map((row, index) => rowElement(row, index, current, context.prefix));
    fill(list, ...elements);
    const at = rows.findIndex((row) => row.key === current);
    attribute(list, "aria-activedescendant", at < 0 ? null : `${context.prefix}-tree-${at}`);
    attribute(element, "data-count", rows.length);
  };

  list.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const row = rows[Number(target.closest("[data-row]")?.getAttribute("data-row"))];
    if (!row) return;
    if (target.closest(".pe-twisty")) toggle(row);
    else choose(row);
  });
  list.addEventListener("dblclick", (event) => {
    const target = /** @type {Element} */ (event.target);
    const row = rows[Number(target.closest("[data-row]")?.getAttribute("data-row"))];
    if (row && !target.closest(".pe-twisty")) toggle(row);
  });
  list.addEventListener("keydown", (event) => {
    const at = Math.max(
      rows.findIndex((row) => row.key === current),
      -1,
    );
    const next = rowAfter(event.key, at, rows.length);
    if (next !== undefined) {
      if (rows[next].type === "more") page(parentKey(rows[next].key));
      else choose(rows[next]);
      list.children[next]?.scrollIntoView({ block: "nearest" });
    } else if (at >= 0 && (event.key === "+" || event.key === "=")) toggle(rows[at], true);
    else if (at >= 0 && (event.key === "-" || event.key === "_")) toggle(rows[at], false);
    else if (at >= 0 && (event.key === "Enter" || event.key === " ")) toggle(rows[at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  load();
  return {
    element,
    focus: () => list.focus(),
    update(changed) {
      if (changed.has("selected")) {
        load();
        show();
      }
      if (changed.has("node")) {
        const { node, selected } = store.get();
        const mine = node === String(selected) || node.startsWith(`${selected}/`);
        const key = mine ? node.slice(String(selected).length + 1) : "";
        if (key !== current) {
          current = key;
          show();
        }
      }
    },
    dispose: () => load.cancel(),
  };
}

/**
 * @param {TreeRow} row
 * @param {number} index
 * @param {string} current
 * @param {string} prefix
 */
function rowElement(row, index, current, prefix) {
  const element = el(
    "div",
    {
      class: "pe-tree-row",
      id: `${prefix}-tree-${index}`,
      role: "treeitem",
      "data-row": index,
      "data-type": row.type,
      "data-kind": row.kind,
      "data-cancelled": row.cancelled === true,
      "data-problem": row.problem !== undefined,
      "aria-level": row.depth,
      "aria-posinset": row.position,
      "aria-setsize": row.siblings,
      "aria-selected": String(row.key === current),
      "aria-expanded": row.expandable ? String(row.open) : null,
      title: title(row),
    },
    el(
      "span",
      { class: "pe-twisty", "aria-hidden": "true" },
      row.expandable ? (row.open ? "▾" : "▸") : "",
    ),
    row.kind ? sign(row.kind) : null,
    el("span", { class: "pe-tree-label" }, labelOf(row)),
    row.range ? el("span", { class: "pe-tree-range" }, visible(row.range)) : null,
    row.shared ? el("span", { class: "pe-shared", title: visible(row.shared) }) : null,
    changeBar(row),
    el("span", { class: "pe-tree-figure" }, figure(row)),
  );
  element.style.setProperty("--pe-depth", String(row.depth - 1));
  if (!row.problem) return element;
  element.append(el("span", { class: "pe-tree-problem" }, "⚠ ", visible(row.problem)));
  return element;
}

/** @param {string} kind */
function sign(kind) {
  const add = kind === "ADD";
  return el(
    "span",
    { class: "pe-sign", "data-kind": kind, title: kind },
    add ? "+" : "−",
    el("span", { class: "pe-hidden" }, ` ${kind} `),
  );
}

/** @param {TreeRow} row */
function labelOf(row) {
  if (row.type === "more") return `${plural(row.rest, "more node")}…`;
  const [head, tail] = visible(shortName(row.label)).split(/(?=…)/);
  const tag = row.cancelled ? "s" : "span";
  return el(
    tag,
    { class: "pe-name-parts" },
    el("span", { class: tail ? "pe-name-head" : "pe-name-whole" }, head),
    tail ? el("span", {}, tail) : null,
  );
}

/** @param {TreeRow} row */
function title(row) {
  return [
    row.name ?? row.label,
    row.range,
    row.shared,
    row.cancelled && "cancelled by another manifest entry",
    row.problem,
  ]
    .filter((text) => typeof text === "string" && text)
    .map((text) => visible(/** @type {string} */ (text)))
    .join("\n");
}

/**
 * ADD against DELETE as one bar, with the numbers.
 * @param {TreeRow} row
 */
function changeBar({ added, deleted }) {
  if (added === undefined || deleted === undefined || added + deleted === 0) return null;
  const bar = el("span", { class: "pe-change-bar", "aria-hidden": "true" });
  bar.style.setProperty("--pe-share", `${(100 * added) / (added + deleted)}%`);
  return el(
    "span",
    { class: "pe-change" },
    added ? el("span", { class: "pe-plus" }, `+${formatShort(added)}`) : null,
    deleted ? el("span", { class: "pe-minus" }, `−${formatShort(deleted)}`) : null,
    bar,
  );
}

/** @param {TreeRow} row */
function figure({ count, size }) {
  if (size !== undefined) return formatBytes(size);
  return count === undefined ? "" : formatCount(count);
}
