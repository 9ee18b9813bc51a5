// @ts-check
/** The view pane: one of several views, chosen by tabs that stay on one line. */

import { attribute, el, fill, whenQuiet } from "./dom.js";
import { createFiles } from "./files_view.js";
import { lazyPane } from "./lazy_pane.js";

/** @import {Change, Context, Pane, PaneKind} from "./context.js" */

const COUNT_MILLIS = 700;

/**
 * A tab whose view is a report that Python makes.
 * @param {string} id
 * @param {string} title
 * @returns {PaneKind}
 */
const reportTab = (id, title) => ({ id, title, create: lazyPane("report", id) });

/** The tabs in order, with their labels; an id is a value of the trait `tab`. @type {readonly PaneKind[]} */
export const PANES = [
  reportTab("overview", "Overview"),
  { id: "files", title: "Files", create: createFiles },
  { id: "rows", title: "Rows", create: lazyPane("rows") },
  { id: "sql", title: "SQL", create: lazyPane("sql"), bundle: "sql" },
  { id: "partitions", title: "Partitions", create: lazyPane("partitions") },
  { id: "profile", title: "Profile", create: lazyPane("profile") },
  reportTab("heat", "Partition heatmap"),
  reportTab("lsm", "LSM tree"),
  reportTab("diff", "Snapshot diff"),
  reportTab("explain", "Explain scan"),
  reportTab("key", "Key history"),
  reportTab("why", "Explain file"),
  reportTab("health", "Health"),
  reportTab("schema", "Schema history"),
  reportTab("expiry", "Expiry preview"),
  reportTab("compare", "Compare"),
  reportTab("what_if", "What if"),
  reportTab("replay", "Commit replay"),
  { id: "bytes", title: "Bytes", create: lazyPane("bytes"), bundle: "bytes" },
];

/** @param {Context} context */
export function createViews(context) {
  const { store, prefix } = context;
  const panes = PANES.filter(({ bundle: name }) => !name || context.offers({ op: "pane", name }));
  const panel = el("div", { class: "pe-panel", role: "tabpanel", id: `${prefix}-panel` });
  const tabs = createTabs(context, panes);
  const element = el(
    "section",
    { class: "pe-pane pe-pane-view", "aria-label": "View" },
    tabs.element,
    panel,
  );
  /** @type {Map<string, Pane>} */
  const made = new Map();
  /** @type {Map<Pane, Set<Change>>} what happened while a pane was not to be seen */
  const missed = new Map();

  const current = () => {
    const kind = panes.find(({ id }) => id === store.get().tab) ?? panes[0];
    let pane = made.get(kind.id);
    if (!pane) {
      pane = kind.create(context);
      made.set(kind.id, pane);
    }
    return { kind, pane };
  };
  const show = () => {
    const { kind, pane } = current();
    tabs.choose(kind.id);
    attribute(panel, "aria-labelledby", `${prefix}-tab-${kind.id}`);
    fill(panel, pane.element);
    return pane;
  };
  show();
  return {
    element,
    focus: () => current().pane.focus(),
    countFindings: tabs.countFindings,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("tab")) show();
      if (changed.has("selected") || changed.has("tab")) tabs.countFindings();
      const { pane: shown } = current();
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
 * One line of tabs; where they do not all fit it scrolls, and a list of all of them is beside it.
 * @param {Context} context
 * @param {readonly PaneKind[]} panes
 */
function createTabs({ store, prefix, channel }, panes) {
  const bar = el("div", { class: "pe-tabs", role: "tablist", "aria-label": "Views" });
  const list = el("select", { class: "pe-tab-list", "aria-label": "All views", hidden: true });
  /** @type {Map<string, HTMLElement>} */
  const tabs = new Map();
  for (const { id, title } of panes) {
    const tab = el(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${prefix}-tab-${id}`,
        "aria-controls": `${prefix}-panel`,
      },
      title,
    );
    tab.addEventListener("click", () => store.set({ tab: id }));
    tabs.set(id, tab);
    bar.append(tab);
    list.append(new Option(title, id));
  }
  list.addEventListener("change", () => store.set({ tab: list.value }));
  bar.addEventListener("keydown", (event) => {
    const at = panes.findIndex(({ id }) => id === store.get().tab);
    const to = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: -1,
    }[event.key];
    if (to === undefined) return;
    const next = panes[(to + panes.length) % panes.length].id;
    store.set({ tab: next });
    tabs.get(next)?.focus({ preventScroll: true });
    event.preventDefault();
    event.stopPropagation();
  });

  const reveal = () => {
    const tab = tabs.get(store.get().tab);
    if (!tab) return;
    const [start, end] = [tab.offsetLeft - 30, tab.offsetLeft + tab.offsetWidth + 30];
    if (start < bar.scrollLeft) bar.scrollLeft = start;
    else if (end > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = end - bar.clientWidth;
  };
  const fit = () => {
    list.hidden = bar.scrollWidth <= bar.clientWidth + 1 && bar.scrollLeft === 0;
    attribute(bar, "data-before", bar.scrollLeft > 1 ? "1" : null);
    const after = bar.scrollLeft + bar.clientWidth < bar.scrollWidth - 1;
    attribute(bar, "data-after", after ? "1" : null);
  };
  bar.addEventListener("scroll", fit, { passive: true });
  const observer = new ResizeObserver(() => {
    fit();
    reveal();
  });
  observer.observe(bar);

  const badge = el("span", { class: "pe-badge", hidden: true });
  tabs.get("health")?.append(badge);
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
    fit();
  }, COUNT_MILLIS);

  return {
    element: el("div", { class: "pe-tab-line" }, bar, list),
    /** Ask for the number of findings, once nothing else is asked for. */
    countFindings() {
      count();
    },
    /** @param {string} chosen */
    choose(chosen) {
      for (const [id, tab] of tabs) {
        attribute(tab, "aria-selected", String(id === chosen));
        attribute(tab, "tabindex", id === chosen ? "0" : "-1");
      }
      list.value = chosen;
      reveal();
    },
    dispose() {
      observer.disconnect();
      count.cancel();
    },
  };
}
