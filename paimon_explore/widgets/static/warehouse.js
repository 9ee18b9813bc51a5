// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/selection_store.js
function createStore(initial) {
  let state = { ...initial };
  const listeners = new Set();
  return {
    get: () => state,
    /** @param {Partial<T>} patch */
    set(patch) {
      const changed = new Set();
      for (const key of Object.keys(patch)) {
        if (!Object.is(patch[key], state[key])) changed.add(key);
      }
      if (!changed.size) return;
      state = { ...state, ...patch };
      for (const listener of listeners) listener(changed);
    },
    /** @param {(changed: Set<keyof T>) => void} listener */
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }
  };
}

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/theme.js
var { readColours, isDark, watchTheme } = peShared;

// src/warehouse.css
var warehouse_default = '.pew-root {\n--pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n--pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n--pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n--pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n--pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n--pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n--pe-select: color-mix(in srgb, var(--pe-accent) 20%, var(--pe-bg));\n--pe-remove: #b3261e;\n--pe-warn: #8a5a00;\n--pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n--pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\ncontainer: pew-root / inline-size;\ndisplay: flex;\nflex-direction: column;\nheight: var(--pew-height, 560px);\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\noverflow: hidden;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 13px / 1.4 var(--pe-font);\nfont-variant-numeric: tabular-nums;\ntext-align: left;\n}\n.pew-root[data-theme="dark"] {\n--pe-remove: #ff8f85;\n--pe-warn: #e6bd5c;\n}\n.pew-root *,\n.pew-root *::before {\nbox-sizing: border-box;\n}\n.pew-root [hidden] {\ndisplay: none !important;\n}\n.pew-root :focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n.pew-root button,\n.pew-root input,\n.pew-root select {\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: inherit;\nfont-size: 12px;\nline-height: 18px;\npadding: 1px 7px;\n}\n.pew-root button {\ncursor: pointer;\n}\n.pew-root button:hover {\nbackground: var(--pe-faint);\nborder-color: var(--pe-muted);\n}\n.pew-header {\ndisplay: flex;\nalign-items: center;\ngap: 8px;\npadding: 6px 8px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pew-crumbs {\ndisplay: flex;\nflex: 1;\nalign-items: center;\ngap: 4px;\nmin-width: 0;\noverflow: hidden;\n}\n.pew-crumbs > * {\noverflow: hidden;\nmin-width: 24px;\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n.pew-crumbs .pew-separator {\nmin-width: auto;\ncolor: var(--pe-muted);\n}\n.pew-crumbs [aria-current] {\nfont-weight: 600;\n}\n.pew-root .pew-search {\nwidth: 220px;\nmax-width: 40%;\n}\n.pew-list {\ndisplay: flex;\nflex: 1;\nmin-height: 0;\n}\n.pew-root .pew-databases {\nwidth: 180px;\nborder-width: 0 1px 0 0;\nborder-radius: 0;\npadding: 4px;\noverflow: auto;\n}\n.pew-tables,\n.pew-table {\ndisplay: flex;\nflex: 1;\nflex-direction: column;\nmin-width: 0;\nmin-height: 0;\n}\n.pew-table {\noverflow: auto;\n}\n.pew-table .pew-explorer .pe-frame {\nborder-width: 0;\nborder-radius: 0;\n}\n.pew-problem {\ndisplay: flex;\ngap: 8px;\njustify-content: space-between;\npadding: 4px 8px;\nborder-left: 3px solid var(--pe-remove);\nbackground: var(--pe-faint);\n}\n.pew-empty {\npadding: 24px;\ncolor: var(--pe-muted);\ntext-align: center;\n}\n.pew-grid {\nflex: 1;\nmin-height: 0;\noverflow: auto;\n}\n.pew-top {\nposition: sticky;\ntop: 0;\nz-index: 1;\n}\n.pew-head,\n.pew-row {\ndisplay: grid;\ngrid-template-columns: var(--pew-columns);\n}\n.pew-head {\nborder-bottom: 1px solid var(--pe-line);\nbackground: var(--pe-bg);\n}\n.pew-root .pew-head button {\nwidth: 100%;\nborder: 0;\ncolor: var(--pe-muted);\ntext-align: inherit;\n}\n.pew-sizer {\nposition: relative;\n}\n.pew-row {\nposition: absolute;\ntop: 0;\nleft: 0;\nheight: 24px;\ncursor: pointer;\n}\n.pew-row > div {\npadding: 2px 8px;\noverflow: hidden;\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n.pew-odd {\nbackground: var(--pe-faint);\n}\n.pew-row:hover,\n.pew-row[aria-selected="true"] {\nbackground: var(--pe-select);\n}\n.pew-number {\ntext-align: right;\n}\n.pew-row > [data-column="name"] {\nfont-weight: 600;\n}\n.pew-row:not([data-type="table"]) > [data-column="name"]::before {\nmargin-right: 6px;\npadding: 0 4px;\nborder: 1px solid var(--pe-line);\nborder-radius: 3px;\ncolor: var(--pe-muted);\nfont-weight: 400;\nfont-size: 11px;\ncontent: "view";\n}\n.pew-row[data-type="function"] > [data-column="name"]::before {\ncontent: "function" !important;\n}\n.pew-row[data-tone="error"] > [data-column="health"],\n.pew-row[data-tone="problem"] > [data-column="health"] {\ncolor: var(--pe-remove);\n}\n.pew-row[data-tone="warning"] > [data-column="health"] {\ncolor: var(--pe-warn);\n}\n.pew-row.pew-broken > :nth-child(2) {\ngrid-column: 2 / -1;\ncolor: var(--pe-remove);\ntext-align: left;\n}\n.pew-row.pew-broken > :nth-child(n + 3) {\ndisplay: none;\n}\n.pew-foot {\ndisplay: flex;\nalign-items: center;\ngap: 12px;\npadding: 4px 8px;\nborder-top: 1px solid var(--pe-line);\n}\n.pew-status {\nflex: 1;\nmin-width: 0;\noverflow: hidden;\ncolor: var(--pe-muted);\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n.pew-code {\nmax-width: 50%;\noverflow: hidden;\nfont: 12px var(--pe-mono);\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n@container pew-root (max-width: 699px) {\n.pew-list {\nflex-direction: column;\n}\n.pew-root .pew-databases {\nflex: none;\nwidth: 100%;\nheight: 76px;\nborder-width: 0 0 1px;\n}\n.pew-code {\ndisplay: none;\n}\n}\n';

// src/virtual_scroll.js
var { ROW_HEIGHT, windowOf, scrollTo } = peShared;

// src/warehouse_list.js
var COLUMNS = [
  { key: "name", title: "name", says: "Database and name", width: 250, text: ({ label }) => label },
  {
    ...{ key: "rows", title: "rows", says: "Rows before merging", width: 76, number: true },
    text: ({ figures }) => figures?.rows === void 0 ? "" : formatShort(figures.rows),
    hover: ({ figures }) => figures?.rows === void 0 ? "" : plural(figures.rows, "row")
  },
  {
    ...{ key: "size", title: "size", says: "Size of the data files", width: 76, number: true },
    text: ({ figures }) => typeof figures?.size === "number" ? formatBytes(figures.size) : "",
    hover: ({ figures }) => figures?.size === null ? "Not read, because the table has very many files: open it" : figures?.size === void 0 ? "" : plural(figures.size, "byte")
  },
  {
    ...{ key: "files", title: "files", says: "Data files", width: 70, number: true },
    text: ({ figures }) => figures?.files === void 0 ? "" : formatCount(figures.files)
  },
  {
    ...{ key: "snapshots", title: "snapshots", says: "Snapshots", width: 84, number: true },
    text: ({ figures }) => figures?.snapshots === void 0 ? "" : formatCount(figures.snapshots)
  },
  {
    ...{ key: "time", title: "last commit", says: "Time of the latest snapshot", width: 148 },
    text: ({ figures }) => figures?.time === void 0 ? "" : formatTime(figures.time)
  },
  {
    ...{ key: "kind", title: "kind", says: "Kind of the latest commit", width: 88 },
    text: ({ figures }) => figures?.kind ?? ""
  },
  {
    ...{ key: "user", title: "writers", says: "Commit users of the last 20 snapshots", width: 130 },
    text: ({ figures }) => figures?.writers?.join(", ") ?? ""
  },
  {
    ...{ key: "health", title: "health", says: "Findings of the health rules", width: 140 },
    text: ({ health }) => health ? healthText(health) : "",
    hover: ({ health }) => health === null ? "Not checked: open the table and its Health view" : health?.words ?? ""
  },
  {
    ...{ key: "comment", title: "comment", says: "Comment", width: 300 },
    text: ({ figures }) => figures?.comment ?? ""
  }
];
function healthText({ total, words, worst }) {
  if (!total) return "✓ none";
  return worst === "note" ? words : `▲ ${words}`;
}
function createList({ prefix, sortBy, open, moved }) {
  const titles = COLUMNS.map((column) => {
    const press = el("button", { type: "button", title: column.says }, column.title);
    press.addEventListener("click", () => sortBy(column.key));
    const attributes = { role: "columnheader", class: column.number ? "pew-number" : null };
    return { column, press, cell: el("div", attributes, press) };
  });
  const head = el(
    "div",
    { class: "pew-head", role: "row", "aria-rowindex": "1" },
    ...titles.map(({ cell }) => cell)
  );
  const sizer = el("div", { class: "pew-sizer", role: "presentation" });
  const element = el(
    "div",
    { class: "pew-grid", role: "grid", tabindex: "0", "aria-label": "Tables" },
    el("div", { role: "rowgroup", class: "pew-top" }, head),
    el("div", { role: "rowgroup" }, sizer)
  );
  const wide = COLUMNS.reduce((sum, { width }) => sum + width, 0);
  element.style.setProperty("--pew-columns", COLUMNS.map(({ width }) => `${width}px`).join(" "));
  sizer.style.width = head.style.width = `${wide}px`;
  let rows = [];
  let cursor = -1;
  let bounds = [0, 0];
  const pool = [];
  const viewHeight = () => Math.max(element.clientHeight - head.offsetHeight, 0);
  const draw = perFrame(() => {
    const { first, last, top, height } = windowOf(rows.length, element.scrollTop, viewHeight());
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) pool.push(newLine(sizer));
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${top + index * ROW_HEIGHT}px)`;
      write(line, at);
    });
    const active = cursor >= first && cursor < last ? `${prefix}-row-${cursor}` : null;
    attribute(element, "aria-activedescendant", active);
    if (bounds[0] === first && bounds[1] === last) return;
    bounds = [first, last];
    moved();
  });
  const write = (line, at) => {
    const row = rows[at];
    const problem = row.figures?.problem;
    line.id = `${prefix}-row-${at}`;
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    attribute(line, "data-type", row.type);
    attribute(line, "data-tone", row.health?.total ? row.health.worst : null);
    attribute(line, "data-known", row.figures ? "1" : null);
    line.classList.toggle("pew-odd", at % 2 === 1);
    line.classList.toggle("pew-broken", problem !== void 0);
    COLUMNS.forEach((column, index) => {
      const cell = line.children[index];
      const reason = problem && index === 1;
      const text = visible(cut(reason ? problem.message : column.text(row)));
      if (cell.textContent !== text) cell.textContent = text;
      const hover = reason ? [problem.message, problem.hint].join(" ") : column.hover?.(row);
      const title = visible(cut(hover ?? column.text(row), 1e3));
      if (cell.title !== title) cell.title = title;
    });
  };
  const choose = (at) => {
    cursor = at;
    element.scrollTop = scrollTo(at, rows.length, element.scrollTop, viewHeight());
    draw();
  };
  element.addEventListener("scroll", draw, { passive: true });
  sizer.addEventListener("click", (event) => {
    const line = event.target.closest("[aria-rowindex]");
    if (!line) return;
    choose(Number(line.getAttribute("aria-rowindex")) - 2);
    open(rows[cursor]);
  });
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = rowFor(event.key);
    if (to !== void 0) choose(to);
    else if (event.key === "Enter" && cursor >= 0) open(rows[cursor]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const rowFor = (key) => {
    const page = Math.max(Math.floor(viewHeight() / ROW_HEIGHT) - 1, 1);
    const places = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: rows.length - 1
    };
    if (!rows.length || !Object.hasOwn(places, key)) return void 0;
    return Math.min(Math.max(places[key], 0), rows.length - 1);
  };
  const observer = new ResizeObserver(draw);
  observer.observe(element);
  return {
    element,
    focus: () => element.focus(),
    /** The rows on the screen, without those drawn beyond its edges. */
    onScreen: () => rows.slice(bounds[0], bounds[1]),
    draw,
    /**
     * Show other rows, or the same in another order; the cursor stays at its row.
     * @param {readonly Row[]} next
     * @param {string} sort
     * @param {boolean} descending
     */
    show(next, sort, descending) {
      const current = rows[cursor];
      rows = next;
      cursor = current ? rows.indexOf(current) : -1;
      for (const { column, press, cell } of titles) {
        const sorted = column.key === sort;
        attribute(cell, "aria-sort", sorted && (descending ? "descending" : "ascending"));
        fill(press, sorted ? `${column.title}${descending ? "▾" : "▴"}` : column.title);
      }
      attribute(element, "aria-rowcount", rows.length + 1);
      bounds = [0, 0];
      draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
    }
  };
}
function newLine(sizer) {
  const cells = COLUMNS.map(
    ({ number, key }) => el("div", { role: "gridcell", class: number ? "pew-number" : null, "data-column": key })
  );
  const line = el("div", { class: "pew-row", role: "row" }, ...cells);
  sizer.append(line);
  return line;
}

// src/warehouse_model.js
var FIGURES_AT_ONCE = 25;
var HEALTH_AT_ONCE = 8;
var SEVERITIES = ["", "note", "warning", "problem", "error"];
var NAMES = "name";
var VALUES = {
  rows: ({ figures }) => figures?.rows,
  size: ({ figures }) => figures?.size,
  files: ({ figures }) => figures?.files,
  snapshots: ({ figures }) => figures?.snapshots,
  time: ({ figures }) => figures?.time,
  kind: ({ figures }) => figures?.kind,
  user: ({ figures }) => figures?.writers?.join(", ") || figures?.user,
  health: ({ health }) => health ? SEVERITIES.indexOf(health.worst) * 1e6 + health.total : void 0,
  comment: ({ figures }) => figures?.comment || void 0
};
var Warehouse = class {
  /** @type {Row[]} */
  rows = [];
  /** Number of tables, views and functions by database. @type {Map<string, number>} */
  counts = new Map();
  /** Whether the figures of all tables are read, not only of those on the screen. */
  readsAll = false;
  /**
   * Add a page of names of a database.
   * @param {string} database
   * @param {readonly [type: ObjectType, name: string][]} names
   */
  add(database, names) {
    for (const [type, name] of names) {
      this.rows.push({ database, name, type, label: `${database}.${name}` });
    }
    this.counts.set(database, (this.counts.get(database) ?? 0) + names.length);
  }
  /**
   * The rows to show, in order.
   * @param {Shown} shown
   */
  select({ database, search, sort, descending }) {
    const wanted = search.trim().toLowerCase();
    const found = this.rows.filter(
      (row) => (!database || row.database === database) && (!wanted || row.label.toLowerCase().includes(wanted) || row.figures?.comment?.toLowerCase().includes(wanted))
    );
    return found.sort(comparison(sort, descending));
  }
  /**
   * What to ask next: figures first, then health, of the rows on the screen; then of the others, if
   * they are wanted.
   * @param {readonly Row[]} screen
   * @param {readonly Row[]} others
   * @returns {Request | undefined}
   */
  next(screen, others) {
    for (const rows of this.readsAll ? [screen, others] : [screen]) {
      const unread = rows.filter(({ figures }) => !figures).slice(0, FIGURES_AT_ONCE);
      if (unread.length) return { op: "figures", rows: unread };
      const unchecked = rows.filter(isUnchecked).slice(0, HEALTH_AT_ONCE);
      if (unchecked.length) return { op: "health", rows: unchecked };
    }
    return void 0;
  }
  /**
   * How many rows have figures.
   * @param {readonly Row[]} rows
   */
  known(rows) {
    return rows.reduce((sum, { figures }) => sum + (figures ? 1 : 0), 0);
  }
};
function isUnchecked({ type, figures, health }) {
  return type === "table" && figures !== void 0 && !figures.problem && health === void 0;
}
function needsFigures(sort) {
  return sort !== NAMES;
}
function comparison(sort, descending) {
  const sign = descending ? -1 : 1;
  const value = Object.hasOwn(VALUES, sort) ? VALUES[sort] : void 0;
  if (!value) return (a, b) => sign * byLabel(a, b);
  return (a, b) => {
    const [one, other] = [value(a) ?? void 0, value(b) ?? void 0];
    if (one === other) return byLabel(a, b);
    if (one === void 0) return 1;
    if (other === void 0) return -1;
    return one < other ? -sign : sign;
  };
}
function byLabel(a, b) {
  if (a.label === b.label) return 0;
  return a.label < b.label ? -1 : 1;
}

// src/warehouse.js
var TRAITS = ["database", "table", "search", "sort", "descending"];
var SYNC_MILLIS = 80;
var SEARCH_MILLIS = 120;
var FEW = 300;
var SHOWN_PROBLEMS = 4;
var instances = 0;
function render({ model, el: place }) {
  const root = el("div", {
    class: "pew-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Paimon catalog explorer",
    tabindex: "-1"
  });
  const height = Math.min(Math.max(Number(model.get("height")) || 560, 200), 4e3);
  root.style.setProperty("--pew-height", `${height}px`);
  fill(place, el("style", {}, warehouse_default), root);
  const channel = new Channel(model);
  const unwatch = watchTheme(root, () => {
  });
  const close = start(model, root, channel);
  return () => {
    close();
    unwatch();
    channel.close();
  };
}
function start(model, root, channel) {
  const prefix = `pew${++instances}`;
  const traits = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const store = createStore(traits);
  let warehouse = new Warehouse();
  let title = "";
  let stopped = false;
  let isListed = false;
  let listing = 0;
  let rows = [];
  const crumbs = el("nav", { class: "pew-crumbs", "aria-label": "Breadcrumb" });
  const search = el("input", {
    type: "text",
    class: "pew-search",
    placeholder: "Search tables",
    "aria-label": "Search tables by name or comment",
    autocomplete: "off",
    spellcheck: "false"
  });
  const again = button("↻", "Read the catalog again", () => list(true));
  const databases = el("select", { class: "pew-databases", "aria-label": "Database" });
  databases.size = 2;
  const notice = el("div", { class: "pew-notice" });
  const status = el("div", { class: "pew-status", role: "status" });
  const readAll = button(
    "Read all figures",
    "Read the figures and the health of all tables",
    () => {
      warehouse.readsAll = true;
      pump();
    }
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
    moved: () => pump()
  });
  const listView = el(
    "div",
    { class: "pew-list" },
    databases,
    el("div", { class: "pew-tables" }, notice, grid.element)
  );
  const tableView = el("div", { class: "pew-table", hidden: true });
  const foot = el("footer", { class: "pew-foot" }, status, readAll, code);
  fill(
    root,
    el("header", { class: "pew-header" }, crumbs, search, again),
    listView,
    tableView,
    foot
  );
  const say = (text) => fill(status, visible(text));
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
    for (const type of ["table", "view", "function"]) {
      const count = rows.reduce((sum, row) => sum + (row.type === type ? 1 : 0), 0);
      if (count || type === "table" && !rows.length) parts.push(plural(count, type));
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
  const read = async ({ op, rows: wanted }) => {
    const mine = listing;
    const tables = wanted.map(({ database, type, name }) => [database, type, name]);
    try {
      const { body } = await channel.ask(op, { tables });
      if (mine !== listing) return;
      const found = op === "figures" ? body.rows : body.badges;
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
      const order = body.databases.filter((name) => name !== database);
      const first = body.databases.includes(database) ? [database] : [];
      showDatabases(body.databases);
      crumb();
      attribute(root, "data-ready", "1");
      for (const name of [...first, ...order]) {
        if (!await listDatabase(name, mine)) return;
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
  const listDatabase = async (database, mine) => {
    let offset = 0;
    try {
      for (; ; ) {
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
  const showDatabases = (names) => {
    const options = names.map((name) => new Option(visible(name), name));
    fill(databases, new Option(plural(names.length, "database"), ""), ...options);
    databases.value = store.get().database;
  };
  const crumb = () => {
    const { database, table } = store.get();
    const steps = [
      button(
        visible(title) || "catalog",
        "All databases",
        () => store.set({ table: "", database: "" })
      )
    ];
    if (database) {
      const toDatabase = () => store.set({ table: "" });
      steps.push(button(visible(database), "The tables of this database", toDatabase));
    }
    const last = table ? el("span", { "aria-current": "page" }, visible(table)) : null;
    fill(crumbs, ...steps.flatMap((step, i) => i ? [separator(), step] : [step]));
    if (last) crumbs.append(separator(), last);
  };
  const separator = () => el("span", { class: "pew-separator", "aria-hidden": "true" }, "›");
  let leave = () => {
  };
  let visits = 0;
  const openTable = async () => {
    const { database, table } = store.get();
    const mine = ++visits;
    const hasFocus = root.contains(document.activeElement);
    leave();
    leave = () => {
    };
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
        channel.ask("table", { database, table })
      ]);
      if (!model.widget_manager) throw new Error("This notebook cannot show a widget in another.");
      const child = await model.widget_manager.get_model(body.model);
      if (mine !== visits || stopped) return;
      const inside = el("div", { class: "pew-explorer" });
      fill(tableView, inside);
      leave = explorer.render({ model: child, el: inside });
      const opened = inside.querySelector(".pe-explorer");
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
  const onKey = (event) => {
    const target = event.target;
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
var loadedExplorer;
function explorerWidget(channel) {
  loadedExplorer ??= (async () => {
    const { body } = await channel.ask("script");
    const address = URL.createObjectURL(new Blob([body.esm], { type: "text/javascript" }));
    try {
      return (await import(
        /* webpackIgnore: true */
        address
      )).default;
    } finally {
      URL.revokeObjectURL(address);
    }
  })();
  loadedExplorer.catch(() => {
    loadedExplorer = void 0;
  });
  return loadedExplorer;
}
var warehouse_default2 = { render };
export {
  warehouse_default2 as default
};
