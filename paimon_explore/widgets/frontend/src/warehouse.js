// @ts-check
/** The catalog explorer: databases, tables, and the explorer of an open table in the same place. */

import { Channel, failureOf } from "./channel.js";
import { attribute, button, el, fill, whenQuiet } from "./dom.js";
import { createStore } from "./selection_store.js";
import { formatBytes, formatCount, plural, visible } from "./text_format.js";
import { watchTheme } from "./theme.js";
import css from "./warehouse.css";
import { createList } from "./warehouse_list.js";
import { needsFigures, Warehouse } from "./warehouse_model.js";

/** @import {Failure, Model} from "./channel.js" */
/** @import {Request, Row} from "./warehouse_model.js" */

/**
 * What the notebook's widget manager offers, as far as it is used here.
 * @typedef {{get_model: (id: string) => Promise<Model>}} Manager
 */
/** @typedef {Model & {widget_manager?: Manager}} HostModel */
/** @typedef {{render: (given: {model: Model, el: HTMLElement}) => () => void}} Widget */
/**
 * @typedef {object} State  the traits
 * @property {string} database  "" for all
 * @property {string} table  "" while the tables are listed
 * @property {string} search
 * @property {string} sort
 * @property {boolean} descending
 */

/** @type {readonly (keyof State)[]} */
const TRAITS = ["database", "table", "search", "sort", "descending"];
const SYNC_MILLIS = 80;
const SEARCH_MILLIS = 120;
/** Up to so many tables are all read when they are sorted by a figure. */
const FEW = 300;
const SHOWN_PROBLEMS = 4;
let instances = 0;

/**
 * @param {{model: HostModel, el: HTMLElement}} given
 * @returns {() => void} takes the widget down
 */
function render({ model, el: place }) {
  const root = el("div", {
    class: "pew-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Paimon catalog explorer",
    tabindex: "-1",
  });
  const height = Math.min(Math.max(Number(model.get("height")) || 560, 200), 4000);
  root.style.setProperty("--pew-height", `${height}px`);
  fill(place, el("style", {}, css), root);
  const channel = new Channel(model);
  const unwatch = watchTheme(root, () => {});
  const close = start(model, root, channel);
  return () => {
    close();
    unwatch();
    channel.close();
  };
}

/**
 * @param {HostModel} model
 * @param {HTMLElement} root
 * @param {Channel} channel
 */
function start(model, root, channel) {
  const prefix = `pew${++instances}`;
  const traits = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const store = createStore(/** @type {State} */ (traits));
  let warehouse = new Warehouse();
  let title = "";
  let stopped = false;
  let isListed = false;
  /** Counts the listings, so that answers to an older one are dropped. */
  let listing = 0;
  /** @type {readonly Row[]} */
  let rows = [];

  const crumbs = el("nav", { class: "pew-crumbs", "aria-label": "Breadcrumb" });
  const search = el("input", {
    type: "text",
    class: "pew-search",
    placeholder: "Search tables",
    "aria-label": "Search tables by name or comment",
    autocomplete: "off",
    spellcheck: "false",
  });
  const again = button("↻", "Read the catalog again", () => list(true));
  const databases = el("select", { class: "pew-databases", "aria-label": "Database" });
  databases.size = 2; // a list instead of a menu
  const notice = el("div", { class: "pew-notice" });
  const status = el("div", { class: "pew-status", role: "status" });
  const readAll = button(
    "Read all figures",
    "Read the figures and the health of all tables",
    () => {
      warehouse.readsAll = true;
      pump();
    },
  );
  const code = el("code", { class: "pew-code" });
  const grid = createList({
    prefix,
    sortBy: (key) => {
      const { sort, descending } = store.get();
      store.set({ sort: key, descending: sort === key ? !descending : false });
    },
    open: ({ type, database, name, figures }) => {
      if (type === "table") store.set({ database, table: name });
      else say(figures?.comment ?? "");
    },
    moved: () => pump(),
  });
  const listView = el(
    "div",
    { class: "pew-list" },
    databases,
    el("div", { class: "pew-tables" }, notice, grid.element),
  );
  const tableView = el("div", { class: "pew-table", hidden: true });
  const foot = el("footer", { class: "pew-foot" }, status, readAll, code);
  fill(
    root,
    el("header", { class: "pew-header" }, crumbs, search, again),
    listView,
    tableView,
    foot,
  );

  /** @param {string} text */
  const say = (text) => fill(status, visible(text));

  /** @param {Failure} failure */
  const report = ({ message, hint }) => {
    const text = visible(hint ? `${message} ${hint}` : message);
    const item = el("div", { class: "pew-problem", role: "alert" }, text);
    item.append(button("×", "Dismiss", () => item.remove()));
    notice.append(item);
    while (notice.children.length > SHOWN_PROBLEMS) notice.children[0].remove();
  };

  const showRows = () => {
    const { sort, descending } = store.get();
    rows = warehouse.select(store.get());
    if (needsFigures(sort) && isListed && rows.length <= FEW) warehouse.readsAll = true;
    grid.show(rows, sort, descending);
    summarize();
    pump();
  };

  const summarize = () => {
    const known = warehouse.known(rows);
    const { search: text, sort } = store.get();
    const parts = [];
    for (const type of /** @type {const} */ (["table", "view", "function"])) {
      const count = rows.reduce((sum, row) => sum + (row.type === type ? 1 : 0), 0);
      if (count || (type === "table" && !rows.length)) parts.push(plural(count, type));
    }
    if (text.trim()) parts.push(`matching “${visible(text.trim())}”`);
    if (!isListed) parts.push("listing…");
    const open = rows.length - known;
    if (open) parts.push(`figures of ${formatCount(known)} read`);
    else if (rows.length) {
      parts.push(formatBytes(rows.reduce((sum, { figures }) => sum + (figures?.size ?? 0), 0)));
    }
    if (open && needsFigures(sort)) parts.push("the others come last");
    say(parts.join(" · "));
    readAll.hidden = !open || warehouse.readsAll;
    attribute(root, "data-count", rows.length);
    attribute(root, "data-known", known);
    attribute(root, "data-complete", isListed && (!open || !warehouse.readsAll) ? "1" : null);
  };

  let isPumping = false;
  /** Read the figures that are wanted, a few at a time, until none is. */
  const pump = async () => {
    if (isPumping) return;
    isPumping = true;
    while (!stopped && !store.get().table) {
      const request = warehouse.next(grid.onScreen(), rows);
      if (!request) break;
      await read(request);
    }
    isPumping = false;
  };

  /** @param {Request} request */
  const read = async ({ op, rows: wanted }) => {
    const mine = listing;
    const tables = wanted.map(({ database, type, name }) => [database, type, name]);
    try {
      const { body } = await channel.ask(op, { tables });
      if (mine !== listing) return;
      const found = /** @type {any[]} */ (op === "figures" ? body.rows : body.badges);
      for (const [index, one] of found.entries()) {
        if (op === "figures") wanted[index].figures = one;
        else wanted[index].health = one;
      }
      if (!found.length) throw new Error("No figures were read.");
    } catch (error) {
      const problem = failureOf(error);
      for (const row of wanted) {
        if (op === "figures") row.figures = { problem };
        else row.health = null;
      }
    }
    if (needsFigures(store.get().sort)) resort();
    else {
      grid.draw();
      summarize();
    }
  };
  const resort = whenQuiet(showRows, SEARCH_MILLIS);

  /**
   * List the catalog: the databases, then the names of each, a page at a time.
   * @param {boolean} [refresh]
   */
  const list = async (refresh = false) => {
    const mine = ++listing;
    isListed = false;
    fill(notice);
    try {
      const { body } = await channel.ask("open", { refresh });
      if (mine !== listing) return;
      title = body.title;
      warehouse = new Warehouse();
      const { database } = store.get();
      const order = /** @type {string[]} */ (body.databases).filter((name) => name !== database);
      const first = body.databases.includes(database) ? [database] : [];
      showDatabases(body.databases);
      crumb();
      attribute(root, "data-ready", "1");
      for (const name of [...first, ...order]) {
        if (!(await listDatabase(name, mine))) return;
      }
    } catch (error) {
      if (mine !== listing) return;
      report(failureOf(error));
      attribute(root, "data-error", failureOf(error).kind);
      attribute(root, "data-ready", "1");
    }
    isListed = true;
    showRows();
  };

  /**
   * @param {string} database
   * @param {number} mine
   * @returns {Promise<boolean>} whether this listing is still wanted
   */
  const listDatabase = async (database, mine) => {
    let offset = 0;
    try {
      for (;;) {
        const { body } = await channel.ask("names", { database, offset });
        if (stopped || mine !== listing) return false;
        warehouse.add(database, body.names);
        offset += body.names.length;
        const option = [...databases.options].find(({ value }) => value === database);
        if (option) option.text = `${visible(database)} (${formatCount(offset)})`;
        const shown = store.get().database;
        if (!shown || shown === database) showRows();
        for (const problem of body.problems) report(problem);
        if (body.done) return true;
      }
    } catch (error) {
      if (stopped || mine !== listing) return false;
      report(failureOf(error));
      return true;
    }
  };

  /** @param {string[]} names */
  const showDatabases = (names) => {
    const options = names.map((name) => new Option(visible(name), name));
    fill(databases, new Option(plural(names.length, "database"), ""), ...options);
    databases.value = store.get().database;
  };

  const crumb = () => {
    const { database, table } = store.get();
    const steps = [
      button(visible(title) || "catalog", "All databases", () =>
        store.set({ table: "", database: "" }),
      ),
    ];
    if (database) {
      const toDatabase = () => store.set({ table: "" });
      steps.push(button(visible(database), "The tables of this database", toDatabase));
    }
    const last = table ? el("span", { "aria-current": "page" }, visible(table)) : null;
    fill(crumbs, ...steps.flatMap((step, i) => (i ? [separator(), step] : [step])));
    if (last) crumbs.append(separator(), last);
  };
  const separator = () => el("span", { class: "pew-separator", "aria-hidden": "true" }, "›");

  /** Takes the explorer of the open table down. */
  let leave = () => {};
  let visits = 0;
  const openTable = async () => {
    const { database, table } = store.get();
    const mine = ++visits;
    const hasFocus = root.contains(document.activeElement);
    leave();
    leave = () => {};
    crumb();
    listView.hidden = foot.hidden = search.hidden = again.hidden = Boolean(table);
    tableView.hidden = !table;
    attribute(root, "data-table", table || null);
    if (!table) {
      fill(tableView);
      grid.draw();
      pump();
      return;
    }
    fill(tableView, el("div", { class: "pew-empty" }, "Opening the table…"));
    try {
      const [explorer, { body }] = await Promise.all([
        explorerWidget(channel),
        channel.ask("table", { database, table }),
      ]);
      if (!model.widget_manager) throw new Error("This notebook cannot show a widget in another.");
      const child = await model.widget_manager.get_model(body.model);
      if (mine !== visits || stopped) return;
      const inside = el("div", { class: "pew-explorer" });
      fill(tableView, inside);
      leave = explorer.render({ model: child, el: inside });
      const opened = /** @type {HTMLElement | null} */ (inside.querySelector(".pe-explorer"));
      const active = document.activeElement;
      const isFree = active === document.body || root.contains(active);
      if (hasFocus && isFree) opened?.focus({ preventScroll: true });
    } catch (error) {
      if (mine !== visits || stopped) return;
      const { message, hint } = failureOf(error);
      const text = visible(hint ? `${message} ${hint}` : message);
      fill(tableView, el("div", { class: "pew-empty", role: "alert" }, text));
    }
  };

  const save = whenQuiet(() => model.save_changes(), SYNC_MILLIS);
  const offStore = store.on((changed) => {
    const state = store.get();
    for (const name of changed) {
      if (model.get(name) !== state[name]) model.set(name, state[name]);
    }
    save();
    if (changed.has("table")) {
      model.save_changes();
      openTable();
    }
    if (changed.has("database")) databases.value = state.database;
    if (changed.has("search") && search.value !== state.search) search.value = state.search;
    crumb();
    if (!state.table) showRows();
    if (changed.has("table") && !state.table) grid.focus();
  });
  const fromPython = TRAITS.map((name) => {
    const listener = () => store.set({ [name]: model.get(name) });
    model.on(`change:${name}`, listener);
    return () => model.off(`change:${name}`, listener);
  });
  const showCode = () => fill(code, visible(String(model.get("code") ?? "")));
  model.on("change:code", showCode);

  const find = whenQuiet(() => store.set({ search: search.value }), SEARCH_MILLIS);
  search.value = store.get().search;
  search.addEventListener("input", find);
  databases.addEventListener("change", () => store.set({ database: databases.value }));

  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.tagName === "INPUT";
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (store.get().table) {
      if (key !== "Backspace" || typing) return;
      store.set({ table: "" });
    } else if (key === "/" && !typing) search.focus();
    else if (typing && (key === "Escape" || key === "ArrowDown" || key === "Enter")) {
      store.set({ search: search.value });
      grid.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", onKey);
  crumb();
  showCode();
  list();
  if (store.get().table) openTable();

  return () => {
    stopped = true;
    leave();
    offStore();
    save.flush();
    find.cancel();
    resort.cancel();
    for (const off of fromPython) off();
    model.off("change:code", showCode);
    root.removeEventListener("keydown", onKey);
    grid.dispose();
  };
}

/** @type {Promise<Widget> | undefined} */
let loadedExplorer;

/**
 * The explorer's code, which comes from Python when the first table is opened.
 * @param {Channel} channel
 */
function explorerWidget(channel) {
  loadedExplorer ??= (async () => {
    const { body } = await channel.ask("script");
    const address = URL.createObjectURL(new Blob([body.esm], { type: "text/javascript" }));
    try {
      return (await import(/* webpackIgnore: true */ address)).default;
    } finally {
      URL.revokeObjectURL(address);
    }
  })();
  loadedExplorer.catch(() => {
    loadedExplorer = undefined;
  });
  return loadedExplorer;
}

export default { render };
