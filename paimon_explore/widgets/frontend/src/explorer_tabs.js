// @ts-check
/** The view pane: one of several views, chosen by a group and a tab of it. */

import { attribute, el, fill, whenQuiet } from "./dom.js";
import { createFiles } from "./files_view.js";
import { lazyPane } from "./lazy_pane.js";
import { remember, remembered } from "./remembered.js";

/** @import {Change, Context, Groups, Pane, PaneKind} from "./context.js" */

const COUNT_MILLIS = 700;

/** The views that are no report of Python. @type {Readonly<Record<string, PaneKind>>} */
const KINDS = {
  files: { create: createFiles },
  rows: { create: lazyPane("rows") },
  sql: { create: lazyPane("sql"), bundle: "sql" },
  partitions: { create: lazyPane("partitions") },
  profile: { create: lazyPane("profile") },
  bytes: { create: lazyPane("bytes"), bundle: "bytes" },
};

/**
 * The groups whose tabs can be shown; a saved page may lack some of them.
 * @param {Groups} groups
 * @param {Context["offers"]} offers
 * @returns {Groups}
 */
export function offeredGroups(groups, offers) {
  const isOffered = (/** @type {string} */ id) => {
    const name = KINDS[id]?.bundle;
    return !name || offers({ op: "pane", name });
  };
  return groups.map(([title, tabs]) => [title, tabs.filter(([id]) => isOffered(id))]);
}

/** @param {Context} context */
export function createViews(context) {
  const { store, prefix } = context;
  const panel = el("div", { class: "pe-panel", role: "tabpanel", id: `${prefix}-panel` });
  const tabs = createTabs(context, panel);
  const element = el(
    "section",
    { class: "pe-pane pe-pane-view", "aria-label": "View" },
    ...tabs.elements,
  );
  /** @type {Map<string, Pane>} */
  const made = new Map();
  /** @type {Map<Pane, Set<Change>>} what happened while a pane was not to be seen */
  const missed = new Map();

  const current = () => {
    const { tab } = store.get();
    let pane = made.get(tab);
    if (!pane) {
      pane = (KINDS[tab]?.create ?? lazyPane("report", tab))(context);
      made.set(tab, pane);
    }
    return pane;
  };
  const show = () => {
    const { tab } = store.get();
    tabs.choose(tab);
    attribute(panel, "aria-labelledby", `${prefix}-tab-${tab}`);
    fill(panel, current().element);
  };
  show();
  return {
    element,
    focus: () => current().focus(),
    countFindings: tabs.countFindings,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("tab")) show();
      if (changed.has("selected") || changed.has("tab")) tabs.countFindings();
      const shown = current();
      for (const pane of made.values()) {
        if (pane !== shown) missed.set(pane, new Set([...(missed.get(pane) ?? []), ...changed]));
      }
      shown.update(new Set([...(missed.get(shown) ?? []), ...changed]));
      missed.delete(shown);
    },
    dispose() {
      tabs.dispose();
      for (const pane of made.values()) pane.dispose?.();
    },
  };
}

/**
 * The groups of tabs, and below them the tabs of the open group. A group opens the tab that was
 * open in it last.
 * @param {Context} context
 * @param {HTMLElement} panel  of the open tab
 */
function createTabs({ store, prefix, channel, groups }, panel) {
  /** The tab of each group that was open last. @type {Record<string, string>} */
  const last = remembered("sessionStorage", "tabs") ?? {};
  const strip = tabList(
    "Groups of views",
    { prefix: `${prefix}-group`, panel: `${prefix}-views` },
    groups.map(([title]) => [title, title]),
    (title) => {
      const tabs = groups.find(([name]) => name === title)?.[1] ?? [];
      store.set({ tab: (tabs.find(([id]) => id === last[title]) ?? tabs[0])[0] });
    },
  );
  const lists = groups.map(([title, tabs]) =>
    tabList(`Views: ${title}`, { prefix: `${prefix}-tab`, panel: panel.id }, tabs, (tab) =>
      store.set({ tab }),
    ),
  );
  const views = el(
    "div",
    { class: "pe-group", role: "tabpanel", id: `${prefix}-views` },
    ...lists.map(({ element }) => element),
    panel,
  );

  const badge = el("span", { class: "pe-badge", hidden: true });
  const ofHealth = groups.find(([, tabs]) => tabs.some(([id]) => id === "health"));
  if (ofHealth) strip.tabs.get(ofHealth[0])?.append(badge);
  const count = whenQuiet(async () => {
    const { selected } = store.get();
    const found = await channel
      .latest("findings", "findings", { snapshot: selected })
      .catch(() => {});
    if (!found || selected !== store.get().selected) return;
    const { total, words, worst } = found.body;
    badge.hidden = total === undefined;
    attribute(badge, "data-tone", worst);
    attribute(badge, "title", words);
    const says = el("span", { class: "pe-hidden" }, ` findings: ${words}`);
    fill(badge, total ? `${worst === "note" ? "" : "▲"}${total}` : "✓", says);
  }, COUNT_MILLIS);

  return {
    elements: [strip.element, views],
    /** Ask for the number of findings, once nothing else is asked for. */
    countFindings() {
      count();
    },
    /** @param {string} chosen */
    choose(chosen) {
      groups.forEach(([title, tabs], index) => {
        const { element, choose } = lists[index];
        const isOpen = tabs.some(([id]) => id === chosen);
        element.hidden = !isOpen || tabs.length < 2;
        choose(chosen);
        if (!isOpen) return;
        strip.choose(title);
        attribute(views, "aria-labelledby", `${prefix}-group-${title}`);
        last[title] = chosen;
      });
      remember("sessionStorage", "tabs", last);
    },
    dispose() {
      count.cancel();
    },
  };
}

/**
 * A row of tabs, of which one is chosen by a click or by arrow keys.
 * @param {string} label
 * @param {{prefix: string, panel: string}} ids  how the ids of the tabs begin; of what they control
 * @param {readonly (readonly [id: string, title: string])[]} items
 * @param {(id: string) => void} open
 */
function tabList(label, { prefix, panel }, items, open) {
  const element = el("div", { class: "pe-tabs", role: "tablist", "aria-label": label });
  /** @type {Map<string, HTMLElement>} */
  const tabs = new Map();
  for (const [id, title] of items) {
    const names = { role: "tab", id: `${prefix}-${id}`, "aria-controls": panel };
    const tab = el("button", { type: "button", ...names }, title);
    tab.addEventListener("click", () => open(id));
    tabs.set(id, tab);
    element.append(tab);
  }
  element.addEventListener("keydown", (event) => {
    const ids = [...tabs.keys()];
    const at = ids.findIndex((id) => tabs.get(id) === event.target);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    const next = ids[(to + ids.length) % ids.length];
    open(next);
    tabs.get(next)?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element,
    tabs,
    /** @param {string} chosen */
    choose(chosen) {
      for (const [id, tab] of tabs) {
        attribute(tab, "aria-selected", String(id === chosen));
        attribute(tab, "tabindex", id === chosen ? "0" : "-1");
      }
    },
  };
}
