// @ts-check
/** The search box: finds views, snapshots, tags, branches, columns, files and commands by typing. */

import { attribute, el, fill, whenQuiet } from "./dom.js";
import { ACTS, rowAfter } from "./keyboard.js";
import { settingsOf } from "./settings.js";
import { cut, formatTime, visible } from "./text_format.js";
import { matchRank } from "./text_match.js";

/** @import {Context, Pane} from "./context.js" */
/** @typedef {{kind: string, name: string, about?: string, key?: string, go: () => unknown}} Item */

const QUIET_MILLIS = 120;
/** Of one kind. */
const MOST = 12;
const LEAST_TYPED = 2;

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createSearchBox(context) {
  const { store, channel, history, prefix } = context;
  const input = el("input", {
    type: "text",
    class: "pe-search-input",
    placeholder: "Find… (Ctrl-K)",
    role: "combobox",
    "aria-label": "Find a view, snapshot, tag, file, column or command",
    "aria-autocomplete": "list",
    "aria-controls": `${prefix}-found`,
    "aria-expanded": "false",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = el("ul", {
    class: "pe-found",
    id: `${prefix}-found`,
    role: "listbox",
    "aria-label": "Found",
    hidden: true,
  });
  const element = el("div", { class: "pe-search" }, input, list);
  /** @type {Item[]} */
  let items = [];
  /** What Python found. @type {Item[]} */
  let named = [];
  let chosen = 0;
  /** Rises when the user turns to the box again. */
  let uses = 0;

  const draw = () => {
    fill(
      list,
      ...items.map(({ kind, name, about, key }, index) =>
        el(
          "li",
          {
            role: "option",
            id: `${prefix}-found-${index}`,
            "aria-selected": String(index === chosen),
            "data-index": index,
          },
          el("span", { class: "pe-found-name" }, visible(cut(name))),
          about ? el("span", { class: "pe-muted" }, visible(cut(about))) : null,
          el("span", { class: "pe-muted pe-found-kind" }, kind),
          key ? el("kbd", {}, key) : null,
        ),
      ),
      items.length ? null : el("li", { role: "option", "aria-disabled": "true" }, "Nothing found."),
    );
    const active = items.length ? `${prefix}-found-${chosen}` : null;
    attribute(input, "aria-activedescendant", active);
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    list.hidden = true;
    attribute(input, "aria-expanded", "false");
    attribute(input, "aria-activedescendant", null);
  };
  const show = () => {
    const typed = input.value.trim();
    const known = [...views(), ...references(), ...snapshots(typed), ...commands()];
    items = best([...known, ...named], typed);
    if (typed && (!items.length || /^\d{4}-/.test(typed))) {
      items.push({
        kind: "snapshot",
        name: `Go to ${typed}`,
        about: "id, tag or time",
        go: () => context.goTo(typed),
      });
    }
    chosen = 0;
    list.hidden = false;
    attribute(input, "aria-expanded", "true");
    draw();
  };

  /** @returns {Item[]} */
  const views = () =>
    context.groups.flatMap(([group, tabs]) =>
      tabs.map(([tab, name]) => ({
        kind: "view",
        name,
        about: group,
        go: () => store.set({ tab }),
      })),
    );
  /** @returns {Item[]} */
  const references = () =>
    history.flags().map(({ kind, name, position }) => ({
      kind,
      name,
      about: `snapshot ${history.ids[position]}`,
      go: () => context.moveTo(position),
    }));
  /**
   * Snapshots by the beginning of their id.
   * @param {string} typed
   * @returns {Item[]}
   */
  const snapshots = (typed) => {
    const digits = /^(?:s\w*\s*)?(\d+)$/.exec(typed)?.[1];
    if (!digits) return [];
    const positions = [...history.ids.keys()];
    return positions
      .filter((position) => String(history.ids[position]).startsWith(digits))
      .slice(0, MOST)
      .map((position) => ({
        kind: "snapshot",
        name: String(history.ids[position]),
        about: `${history.kind(position).token} ${formatTime(history.times[position])}`,
        go: () => context.moveTo(position),
      }));
  };
  /** @returns {Item[]} */
  const commands = () => [
    ...ACTS.filter(({ id }) => id !== "find" && id !== "leave").map(
      ({ id, key, shown, label }) => ({
        kind: "command",
        name: label,
        key: shown ?? key,
        go: () => context.act(id),
      }),
    ),
    ...settingsOf(context).flatMap(({ label, choices, set }) =>
      choices.map(([value, name]) => ({
        kind: "setting",
        name: `${label}: ${name}`,
        go: () => set(value),
      })),
    ),
  ];

  const ask = whenQuiet(async () => {
    const text = input.value.trim();
    if (text.length < LEAST_TYPED || !context.offers({ op: "search" })) return;
    try {
      const request = { snapshot: store.get().selected, text };
      const answer = await channel.latest("search", "search", request);
      if (!answer || text !== input.value.trim()) return;
      const { files, columns } = answer.body;
      named = [
        ...columns.map((/** @type {[string, string]} */ [name, about]) => ({
          kind: "column",
          name,
          about,
          go: () => store.set({ tab: "profile", column: name }),
        })),
        ...files.map((/** @type {string} */ name) => ({
          kind: "file",
          name,
          go: () => store.set({ node: `name/${name}`, aside: "" }),
        })),
      ];
      if (!list.hidden) show();
    } catch {
      // The names are missing in the list; the views say why files cannot be read.
    }
  }, QUIET_MILLIS);

  /** @param {Item | undefined} item */
  const go = async (item) => {
    if (!item) return;
    close();
    input.value = "";
    named = [];
    const use = uses;
    await item.go();
    if (use === uses && input.matches(":focus")) context.focusView();
  };

  input.addEventListener("input", () => {
    uses += 1;
    named = [];
    show();
    ask();
  });
  input.addEventListener("focus", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const next = rowAfter(event.key, list.hidden ? -1 : chosen, items.length);
    if (next !== undefined) {
      if (list.hidden) show();
      else chosen = next;
      draw();
    } else if (event.key === "Enter") go(list.hidden ? undefined : items[chosen]);
    else if (event.key === "Escape" && !list.hidden) {
      close();
      input.value = "";
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
  list.addEventListener("click", (event) => {
    const line = /** @type {Element} */ (event.target).closest("[data-index]");
    if (line) go(items[Number(line.getAttribute("data-index"))]);
  });
  return {
    element,
    focus() {
      uses += 1;
      input.focus();
      input.select();
    },
    update() {},
    dispose: () => ask.cancel(),
  };
}

/**
 * The items that answer what was typed, the best first; all of them if nothing was typed.
 * @param {Item[]} items
 * @param {string} typed
 */
function best(items, typed) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const ranked = items.flatMap((item) => {
    const own = matchRank(item.name, typed);
    const rank = own ?? matchRank(`${item.name} ${item.about ?? ""}`, typed);
    return rank === undefined ? [] : [{ item, rank: own === undefined ? rank + 1 : rank }];
  });
  ranked.sort((one, other) => one.rank - other.rank);
  if (!typed) return ranked.map(({ item }) => item);
  return ranked.flatMap(({ item }) => {
    const count = (counts.get(item.kind) ?? 0) + 1;
    counts.set(item.kind, count);
    return count > MOST ? [] : [item];
  });
}
