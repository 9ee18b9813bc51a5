// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/problem_view.js
function problem(failure) {
  if (failure.kind === "not saved") return el("p", { class: "pe-empty" }, failure.message);
  return el(
    "div",
    { class: "pe-problem", role: "alert", "data-error": failure.kind },
    el("strong", {}, visible(failure.kind)),
    el("p", {}, visible(cut(failure.message, 2e3))),
    failure.path && !failure.message.includes(failure.path) ? el("p", { class: "pe-path" }, visible(failure.path)) : null,
    failure.hint ? el("p", {}, visible(failure.hint)) : null
  );
}

// src/row_layout.js
var RowLayout = class {
  /**
   * @param {ArrayLike<number>} most  rows of each unit, or an upper bound
   * @param {ArrayLike<number>} exact  1 where it is the number of rows
   */
  constructor(most, exact) {
    this.sizes = Float64Array.from(most);
    this.known = Uint8Array.from(exact);
    this.starts = new Float64Array(this.sizes.length + 1);
    this.#sum(0);
  }
  /** @param {number} from */
  #sum(from) {
    for (let unit = from; unit < this.sizes.length; unit++) {
      this.starts[unit + 1] = this.starts[unit] + this.sizes[unit];
    }
  }
  get units() {
    return this.sizes.length;
  }
  /** Number of rows of the list, or an upper bound. */
  get count() {
    return this.starts[this.units];
  }
  /** The first unit whose number of rows is not known. */
  get firstUnknown() {
    const found = this.known.indexOf(0);
    return found < 0 ? this.units : found;
  }
  get isExact() {
    return this.firstUnknown === this.units;
  }
  /**
   * The number of rows of a unit has become known.
   * @param {number} unit
   * @param {number} count
   */
  learn(unit, count) {
    this.known[unit] = 1;
    if (this.sizes[unit] === count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }
  /**
   * A unit whose number of rows was estimated has at least so many.
   * @param {number} unit
   * @param {number} count
   */
  grow(unit, count) {
    if (this.known[unit] || this.sizes[unit] >= count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }
  /**
   * The unit of a row of the list.
   * @param {number} row
   * @returns {Place}
   */
  place(row) {
    let low = 0;
    let high = this.units;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.starts[middle + 1] <= row) low = middle + 1;
      else high = middle;
    }
    return { unit: low, offset: row - this.starts[low] };
  }
  /** @param {Place} place */
  row({ unit, offset }) {
    return this.starts[unit] + offset;
  }
  /**
   * Whether the number of a row within the whole list is known.
   * @param {Place} place
   */
  hasNumber({ unit }) {
    return unit <= this.firstUnknown;
  }
};
var grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
function placeText(layout, place) {
  if (layout.hasNumber(place)) {
    const total = grouped(layout.count);
    return `row ${grouped(layout.row(place) + 1)} of ${layout.isExact ? total : `at most ${total}`}`;
  }
  return `row ${grouped(place.offset + 1)} of split ${grouped(place.unit + 1)} of ${grouped(layout.units)}`;
}
function columnWidths(columns, rows) {
  return columns.map(({ name }, at) => {
    let longest = name.length + 2;
    for (const row of rows.slice(0, 100)) longest = Math.max(longest, row[at]?.length ?? 0);
    return Math.round(Math.min(Math.max(longest * 7.2 + 18, 60), 320));
  });
}

// src/rows.css
var rows_default = ".per {\nposition: relative;\n}\n.per :is(select, input) {\nmin-width: 0;\npadding: 1px 6px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-font);\n}\n.per [hidden] {\ndisplay: none !important;\n}\n.per .per-partition {\nwidth: 150px;\n}\n.per .per-bucket {\nwidth: 64px;\n}\n.per .per-find {\nwidth: 110px;\n}\n.per[data-busy] .per-grid {\nopacity: 0.6;\n}\n.per .per-value,\n.per .per-text {\nfont-family: var(--pe-mono);\n}\n.per .per-null {\ncolor: var(--pe-muted);\nfont-style: italic;\n}\n.per .per-struck .per-value {\ntext-decoration: line-through;\ncolor: var(--pe-muted);\n}\n.per .per-active {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n.per .per-failed {\nwidth: 100%;\ncolor: var(--pe-remove);\n}\n.per .per-failure {\ngrid-column: 1 / -1;\noverflow: visible;\n}\n.per .pe-grid-row .pe-cell {\nfont-family: inherit;\n}\n.per .pe-grid-row .per-value {\nfont-family: var(--pe-mono);\n}\n.per .per-cell-value {\nflex: none;\nmax-height: 30%;\noverflow: auto;\npadding: 3px 10px;\nborder-top: 1px solid var(--pe-line);\nfont-size: 12px;\noverflow-wrap: anywhere;\n}\n.per .per-cell-value:empty {\ndisplay: none;\n}\n.per .per-cell-value pre {\nmargin: 0;\nwhite-space: pre-wrap;\n}\n.per .per-note {\npadding: 4px 10px;\nfont-size: 12px;\n}\n.per .per-foot {\nflex-wrap: wrap;\n}\n.per :is(.per-chooser, .per-copies) {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 4px;\n}\n";

// src/virtual_scroll.js
var { ROW_HEIGHT, windowOf, scrollTo } = peShared;

// src/rows_grid.js
var FETCH_MILLIS = 30;
var MAX_ROWS = 5e3;
var MORE = 40;
var MAX_EXPORTED = 1e4;
var EXPORTED_AT_ONCE = 200;
var RECORD_HEADS = ["status", "sequence", "row kind", "level", "file", "position"];
var VISIBLE = new Set(["returned", "combined"]);
var textOf = (cell) => cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
var storedTexts = ([fate, reason, sequence, kind, level, file, position]) => [
  reason || (fate === "returned" ? "returned by reads" : fate),
  sequence === null ? "" : String(sequence),
  kind,
  `L${level}`,
  file,
  String(position)
];
function createGrid(prefix, source) {
  const header = el("div", { class: "pe-grid-head", role: "row", "aria-rowindex": "1" });
  const sizer = el("div", { class: "pe-grid-sizer", role: "presentation" });
  const scroller = el(
    "div",
    { class: "pe-grid per-grid", role: "grid", tabindex: "0", "aria-label": "Rows" },
    el("div", { role: "rowgroup", class: "pe-grid-top" }, header),
    el("div", { role: "rowgroup" }, sizer)
  );
  const status = el("div", { class: "per-status", role: "status" });
  const stop = el("button", { type: "button", class: "pe-button", hidden: true }, "Stop");
  let layout;
  let columns = [];
  let stored = false;
  let order = { column: "", descending: false };
  const rows = new Map();
  let pool = [];
  let cursor = -1;
  let column = 0;
  let measured = false;
  let stopped = false;
  let busy = false;
  let generation = 0;
  let topRow = 0;
  let shown = [0, 0];
  const heads = () => [...stored ? RECORD_HEADS : [], ...columns.map(({ name }) => name)];
  const keyOf = (row) => {
    const { unit, offset } = layout.place(row);
    return `${unit}:${offset}`;
  };
  const drawHeader = () => {
    fill(
      header,
      ...heads().map((name, index) => {
        const at = index - (stored ? RECORD_HEADS.length : 0);
        const cell = el("div", {
          role: "columnheader",
          class: "pe-cell",
          "aria-colindex": index + 1,
          title: at >= 0 ? visible(`${columns[at].name} ${columns[at].type}`) : null
        });
        const { sortBy } = source;
        if (at < 0 || stored || !sortBy) {
          cell.append(visible(cut(name, 60)));
          return cell;
        }
        const mine = order.column === name;
        const arrow = mine ? order.descending ? " ▾" : " ▴" : "";
        attribute(
          cell,
          "aria-sort",
          mine ? order.descending ? "descending" : "ascending" : "none"
        );
        const sort = el("button", { type: "button", tabindex: "-1" }, visible(cut(name, 60)));
        sort.append(el("span", { "aria-hidden": "true" }, arrow));
        sort.addEventListener("click", () => sortBy(at));
        cell.append(sort);
        return cell;
      })
    );
  };
  const textsOf = (row) => [
    ...row.stored ? storedTexts(row.stored) : [],
    ...row.cells.map(textOf)
  ];
  const measure = () => {
    measured = rows.size > 0;
    const texts = [...rows.values()].filter((row) => !row.failure).map(textsOf);
    const widths = columnWidths(
      heads().map((name) => ({ name })),
      texts
    );
    const wide = widths.reduce((sum, width) => sum + width, 0);
    scroller.style.setProperty("--pe-columns", widths.map((width) => `${width}px`).join(" "));
    sizer.style.width = `${wide}px`;
    header.style.width = `${wide}px`;
  };
  const draw = perFrame(() => {
    if (!layout) return;
    const view = Math.max(scroller.clientHeight - header.offsetHeight, 0);
    const { first, last, top, height } = windowOf(layout.count, scroller.scrollTop, view);
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) {
      const line = el("div", { class: "pe-grid-row", role: "row" });
      sizer.append(line);
      pool.push(line);
    }
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${top + index * ROW_HEIGHT}px)`;
      write(line, at);
    });
    attribute(scroller, "aria-rowcount", layout.count + 1);
    const active = cursor >= first && cursor < last ? `${prefix}-row-${cursor}` : null;
    attribute(scroller, "aria-activedescendant", active);
    shown = [first, last];
    const all = height === layout.count * ROW_HEIGHT;
    topRow = all ? Math.floor(scroller.scrollTop / ROW_HEIGHT) : first;
    tell();
    if (missing() !== void 0 && !stopped) fetch();
  });
  const tell = () => {
    if (!layout) return;
    const [first, last] = shown;
    const at = cursor >= first && cursor < last ? cursor : Math.min(topRow, layout.count - 1);
    const where = layout.count ? placeText(layout, layout.place(at)) : "no rows";
    const note = stopped ? " · stopped; scroll to continue" : busy ? " · reading…" : "";
    fill(status, `${where}${note}`);
    stop.hidden = !busy;
    attribute(scroller, "data-count", layout.isExact ? layout.count : null);
    attribute(scroller, "data-busy", busy ? "1" : null);
  };
  const write = (line, at) => {
    const row = rows.get(keyOf(at));
    line.id = `${prefix}-row-${at}`;
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    line.classList.toggle("pe-odd", at % 2 === 1);
    const struck = row?.stored && !VISIBLE.has(row.stored[0]);
    line.classList.toggle("per-struck", Boolean(struck));
    line.classList.toggle("per-failed", Boolean(row?.failure));
    if (row?.failure) {
      const { kind, message, path } = row.failure;
      const where = path && !message.includes(path) ? ` ${path}` : "";
      const text = visible(cut(`${kind}: ${message}${where}`, 600));
      return fill(line, el("div", { class: "pe-cell per-failure", role: "gridcell" }, text));
    }
    if (!row) return fill(line, el("div", { class: "pe-cell", role: "gridcell" }, "…"));
    const before = row.stored ? RECORD_HEADS.length : 0;
    fill(
      line,
      ...textsOf(row).map((text, index) => {
        const right = index >= before ? columns[index - before]?.right : index === 1;
        const empty = index >= before && row.cells[index - before] === null;
        const classes = ["pe-cell"];
        if (right) classes.push("pe-number");
        if (empty) classes.push("per-null");
        if (index >= before) classes.push("per-value");
        if (at === cursor && index - before === column) classes.push("per-active");
        return el(
          "div",
          {
            class: classes.join(" "),
            role: "gridcell",
            "aria-colindex": index + 1,
            title: index === 0 && before ? visible(text) : null
          },
          visible(text)
        );
      })
    );
  };
  const missing = () => {
    for (let at = shown[0]; at < shown[1]; at++) if (!rows.has(keyOf(at))) return at;
    return void 0;
  };
  const fetch = whenQuiet(async () => {
    const at = layout ? missing() : void 0;
    if (!layout || at === void 0 || busy) return;
    const mine = generation;
    busy = true;
    tell();
    const place = layout.place(at);
    try {
      const answer = await source.page(place.unit, place.offset, shown[1] - at + MORE);
      if (mine !== generation) return;
      if (answer) for (const part of answer.parts) take(part);
    } catch (error) {
      if (mine !== generation) return;
      take({
        ...place,
        rows: [],
        records: null,
        end: null,
        partial: false,
        failure: failureOf(error)
      });
    } finally {
      if (mine === generation) {
        busy = false;
        draw();
      }
    }
  }, FETCH_MILLIS);
  const take = (part) => {
    if (!layout) return;
    if (rows.size > MAX_ROWS) rows.clear();
    if (part.failure) {
      rows.set(`${part.unit}:${part.offset}`, { cells: [], failure: part.failure });
      layout.learn(part.unit, part.offset + 1);
      return;
    }
    part.rows.forEach((cells, index) => {
      const key = `${part.unit}:${part.offset + index}`;
      rows.set(key, part.records ? { cells, stored: part.records[index] } : { cells });
    });
    if (part.end !== null) layout.learn(part.unit, part.end);
    else layout.grow(part.unit, part.offset + part.rows.length);
    if (!measured) measure();
  };
  const choose = (at) => {
    if (!layout?.count) return;
    cursor = Math.max(Math.min(at, layout.count - 1), 0);
    scroller.scrollTop = scrollTo(
      cursor,
      layout.count,
      scroller.scrollTop,
      scroller.clientHeight - header.offsetHeight
    );
    showCell();
    draw();
  };
  const showCell = () => {
    if (!layout) return;
    const row = rows.get(keyOf(cursor));
    if (row && !row.failure) source.show(layout.place(cursor), column, row.cells[column] ?? null);
  };
  scroller.addEventListener(
    "scroll",
    () => {
      stopped = false;
      draw();
    },
    { passive: true }
  );
  sizer.addEventListener("click", (event) => {
    const target = event.target;
    const line = target.closest("[aria-rowindex]");
    if (!line) return;
    const index = Number(target.closest("[aria-colindex]")?.getAttribute("aria-colindex") ?? 1) - 1;
    column = Math.max(index - (stored ? RECORD_HEADS.length : 0), 0);
    choose(Number(line.getAttribute("aria-rowindex")) - 2);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.target !== scroller || !layout?.count) return;
    const page = Math.max(Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) choose(cursor + steps[event.key]);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(layout.count - 1);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      column = Math.max(
        Math.min(column + (event.key === "ArrowRight" ? 1 : -1), columns.length - 1),
        0
      );
      choose(Math.max(cursor, 0));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  stop.addEventListener("click", () => {
    stopped = true;
    generation++;
    busy = false;
    draw();
  });
  scroller.addEventListener("pe-export", (event) => {
    event.detail.rows = exported();
  });
  const exported = async () => {
    const found = [heads()];
    let [unit, offset] = [0, 0];
    while (layout && unit < layout.units && found.length <= MAX_EXPORTED) {
      const parts = (await source.page(unit, offset, EXPORTED_AT_ONCE, true))?.parts ?? [];
      const before = found.length;
      for (const { rows: cells, records, end, failure, ...place } of parts) {
        cells.forEach((row, index) => {
          const values = row.map((cell) => cell === null ? "" : textOf(cell));
          found.push(records ? [...storedTexts(records[index]), ...values] : values);
        });
        if (failure) found.push([`${failure.kind}: ${failure.message}`]);
        [unit, offset] = [place.unit, place.offset + cells.length];
        if (failure || end !== null && offset >= end) [unit, offset] = [unit + 1, 0];
      }
      if (found.length === before && offset) break;
      if (!parts.length) break;
    }
    const more = found.length > MAX_EXPORTED;
    return { rows: found.slice(0, MAX_EXPORTED + 1), more };
  };
  const observer = new ResizeObserver(draw);
  observer.observe(scroller);
  return {
    element: scroller,
    status,
    stop,
    focus: () => scroller.focus(),
    /**
     * Show other rows, or other columns of the same rows.
     * @param {{layout: RowLayout, columns: Column[], stored: boolean, order: {column: string, descending: boolean}, stay?: boolean}} given
     */
    open(given) {
      ({ layout, columns, stored, order } = given);
      generation++;
      busy = stopped = measured = false;
      rows.clear();
      for (const line of pool) line.remove();
      pool = [];
      if (!given.stay) {
        cursor = -1;
        scroller.scrollTop = 0;
      }
      column = Math.min(column, Math.max(columns.length - 1, 0));
      drawHeader();
      measure();
      draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      fetch.cancel();
    }
  };
}

// src/rows.js
var QUIET_MILLIS = 60;
var COLUMNS_AT_ONCE = 30;
var FEW_ROWS = 2e5;
var SCOPES = [
  ["all", "All rows"],
  ["partition", "Partition"],
  ["bucket", "Bucket"],
  ["file", "Selected file"]
];
var LANGUAGES = [
  ["python", "Python"],
  ["pyspark", "PySpark"],
  ["spark_sql", "Spark SQL"],
  ["duckdb", "DuckDB"]
];
function parsed(text) {
  try {
    const found = JSON.parse(text || "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}
function create(context) {
  const { store, channel, prefix } = context;
  const asked = () => parsed(store.get().asked.rows ?? "");
  const ask = (patch) => {
    const next = Object.fromEntries(
      Object.entries({ ...asked(), ...patch }).filter(
        ([, value2]) => value2 !== "" && value2 !== void 0
      )
    );
    store.set({ asked: { ...store.get().asked, rows: JSON.stringify(next) } });
  };
  const condition = () => asked().where ?? store.get().where ?? "";
  let opened;
  let layout;
  let firstColumn = 0;
  let shown = "";
  let sorting = false;
  const columnsShown = () => opened.columns.slice(firstColumn, firstColumn + COLUMNS_AT_ONCE);
  const indices = () => columnsShown().map((_, index) => firstColumn + index);
  const grid = createGrid(`${prefix}-rows`, {
    async page(unit, offset, count, whole2) {
      const { handle } = opened;
      const request = { handle, unit, offset, count: Math.min(count, 400), columns: indices() };
      const answer = whole2 ? await channel.ask("rows_page", { ...request, whole: whole2 }) : await channel.latest("rows_page", "rows_page", request);
      return answer && handle === opened?.handle ? answer.body : void 0;
    },
    sortBy(index) {
      const { name } = columnsShown()[index];
      const { sort, descending } = asked();
      if (sort !== name) ask({ sort: name, descending: void 0 });
      else if (!descending) ask({ descending: true });
      else ask({ sort: void 0, descending: void 0 });
    },
    show(place, column, cell) {
      const { name, type } = columnsShown()[column] ?? { name: "", type: "" };
      const text = cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
      fill(
        value,
        el("strong", {}, visible(cut(name, 80))),
        " ",
        el("span", { class: "pe-type" }, visible(cut(type, 80))),
        " ",
        el("span", { class: "per-text" }, visible(text))
      );
      if (cell === null || typeof cell === "string") return;
      const expand = button("show all", `Show all ${formatCount(cell.length)} characters`, () => {
        whole(place, firstColumn + column);
      });
      value.append(" ", expand);
    }
  });
  const whole = async (place, column) => {
    try {
      const request = { handle: opened.handle, ...place, column };
      const answer = await channel.latest("rows_cell", "rows_cell", request);
      if (!answer) return;
      fill(
        value,
        el("pre", { class: "per-text", tabindex: "0" }, visible(answer.body.text ?? "null"))
      );
    } catch (error) {
      fail(failureOf(error));
    }
  };
  const value = el("div", {
    class: "per-cell-value",
    role: "region",
    "aria-label": "Value",
    tabindex: "0"
  });
  const message = el("div", { hidden: true });
  const note = el("div", { class: "per-note", role: "status", hidden: true });
  const empty = el("div", { class: "pe-empty", role: "status", hidden: true });
  const title = el("strong", { class: "per-title" });
  const engine = el("span", { class: "pe-muted" });
  const scope = el("select", { class: "per-scope", "aria-label": "Rows of" });
  for (const [id, label] of SCOPES) scope.append(new Option(label, id));
  const partition = el("input", {
    type: "text",
    class: "per-partition",
    "aria-label": "Partition",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Partition",
    list: `${prefix}-rows-partitions`
  });
  const partitions = el("datalist", { id: `${prefix}-rows-partitions` });
  const bucket = el("input", { type: "number", class: "per-bucket", "aria-label": "Bucket" });
  const where = el("input", {
    type: "text",
    class: "pe-filter",
    "aria-label": "Condition on rows",
    placeholder: "Condition on rows",
    autocomplete: "off",
    spellcheck: "false"
  });
  context.hints().then(({ examples }) => {
    attribute(where, "placeholder", withExample("Condition on rows", examples.rows));
    attribute(partition, "placeholder", withExample("Partition", examples.partition));
  });
  const merged = segmented(
    "Rows or records",
    [
      ["merged", "Merged rows", "The rows that reads return"],
      ["records", "All records", "Every stored record, with what a read does with it"]
    ],
    (chosen) => ask({ merged: chosen === "merged" ? void 0 : false, sort: void 0 })
  );
  scope.addEventListener("change", () => {
    const { node } = store.get();
    const known = opened?.scope ?? {};
    ask({
      scope: scope.value === "all" ? void 0 : scope.value,
      partition: known.partition ?? opened?.partitions?.[0],
      bucket: known.bucket ?? 0,
      file: scope.value === "file" && !node ? known.file ?? void 0 : void 0,
      sort: void 0
    });
  });
  const applyPartition = () => ask({ partition: partition.value.trim(), bucket: Math.max(Number(bucket.value) || 0, 0) });
  partition.addEventListener("change", applyPartition);
  bucket.addEventListener("change", applyPartition);
  const applyWhere = async () => {
    const text = where.value.trim();
    if (text === condition()) return;
    try {
      const request = { snapshot: store.get().selected, text };
      const answer = await channel.latest("condition", "condition", request);
      if (!answer) return;
      where.value = answer.body.where;
      const { where: _own, ...rest } = asked();
      const rows = JSON.stringify(rest);
      store.set({ where: answer.body.where, asked: { ...store.get().asked, rows } });
      fail();
    } catch (error) {
      fail(failureOf(error));
    }
  };
  where.addEventListener("keydown", (event) => {
    if (event.key === "Enter") applyWhere();
  });
  where.addEventListener("change", applyWhere);
  const before = button("‹", "Previous columns", () => turn(firstColumn - COLUMNS_AT_ONCE));
  const after = button("›", "Next columns", () => turn(firstColumn + COLUMNS_AT_ONCE));
  const range = el("span", { class: "pe-muted" });
  const find = el("input", {
    type: "text",
    class: "per-find",
    "aria-label": "Find column",
    placeholder: "Find column",
    autocomplete: "off",
    spellcheck: "false"
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !opened) return;
    const text = find.value.trim().toLowerCase();
    const names = opened.columns.map(({ name }) => name.toLowerCase());
    const at = names.indexOf(text) >= 0 ? names.indexOf(text) : names.findIndex((n) => n.includes(text));
    if (at >= 0) turn(at);
  });
  const chooser = el("div", { class: "per-chooser", hidden: true }, before, range, after, find);
  const copies = el("div", { class: "per-copies", role: "group", "aria-label": "Copy as code" });
  const element = el(
    "div",
    { class: "pe-view per" },
    el("style", {}, rows_default),
    el("div", { class: "pe-bar" }, scope, partition, bucket, merged.element, where, partitions),
    message,
    note,
    grid.element,
    empty,
    value,
    el(
      "div",
      { class: "pe-totals per-foot" },
      title,
      engine,
      grid.status,
      grid.stop,
      chooser,
      copies
    )
  );
  const turn = (first) => {
    firstColumn = Math.max(Math.min(first, opened.columns.length - 1), 0);
    showGrid(true);
  };
  const fail = (failure) => {
    message.hidden = !failure;
    attribute(element, "data-error", failure?.kind);
    if (!failure) return;
    fill(message, problem(failure));
  };
  const showGrid = (stay = false) => {
    if (!layout) return;
    const { sort, descending } = asked();
    const count = opened.columns.length;
    chooser.hidden = count <= COLUMNS_AT_ONCE;
    const last = Math.min(firstColumn + COLUMNS_AT_ONCE, count);
    fill(range, `columns ${firstColumn + 1} to ${last} of ${formatCount(count)}`);
    grid.open({
      layout,
      columns: columnsShown(),
      stored: !opened.merged,
      order: { column: opened.order ? sort ?? "" : "", descending: descending === true },
      stay
    });
    const nothing = layout.count === 0;
    grid.element.hidden = nothing;
    empty.hidden = !nothing;
    fill(empty, opened.snapshot ? "No rows." : NO_SNAPSHOT);
  };
  const showControls = () => {
    const given = asked();
    scope.value = given.scope ?? "all";
    const parts = scope.value === "partition" || scope.value === "bucket";
    partition.hidden = !parts || !opened?.partition_keys.length;
    bucket.hidden = scope.value !== "bucket";
    if (document.activeElement !== partition) partition.value = given.partition ?? "";
    if (document.activeElement !== bucket) bucket.value = String(given.bucket ?? 0);
    if (document.activeElement !== where) where.value = condition();
  };
  const describe = () => {
    const of = opened;
    merged.press(of.merged ? "merged" : "records");
    merged.element.hidden = of.keyed && of.scope.file !== null;
    fill(title, visible(cut(of.title, 120)));
    const exact = of.exact ? "" : "at most ";
    const what = of.merged ? "rows" : "stored records";
    fill(
      engine,
      of.order ? `first ${formatCount(of.limit)} rows by ${visible(of.order)}` : `${exact}${formatCount(of.rows)} ${what}${of.keyed ? ` · ${of.engine}` : ""}`
    );
    partitions.replaceChildren(
      ...of.partitions.map((text) => new Option(text, text))
    );
    fill(
      copies,
      el("span", { class: "pe-muted" }, "Copy"),
      ...LANGUAGES.filter(([id]) => of.codes[id]).map(
        ([id, label]) => button(label, `Copy code in ${label} that gives these rows`, () => copy(of.codes[id]))
      )
    );
  };
  const copy = async (code) => {
    fill(
      value,
      el("pre", { class: "per-text", tabindex: "0" }, code.split("\n").map(visible).join("\n"))
    );
    try {
      await navigator.clipboard.writeText(code);
      value.prepend(el("span", { class: "pe-muted" }, "Copied: "));
    } catch {
      getSelection()?.selectAllChildren(value);
    }
  };
  const sortAll = async (handle) => {
    sorting = true;
    try {
      while (sorting && handle === opened?.handle) {
        const answer = await channel.ask("rows_sort", { handle });
        if (handle !== opened?.handle) return;
        const { done, rows, read, skipped } = answer.body;
        const skip = skipped ? `, ${formatCount(skipped)} parts skipped by statistics` : "";
        const stop = button("Stop", "Stop sorting", () => {
          sorting = false;
          ask({ sort: void 0, descending: void 0 });
        });
        note.hidden = false;
        fill(
          note,
          `Sorting: ${formatCount(rows)} rows in ${formatCount(read)} parts read${skip}. `,
          stop
        );
        if (!done) continue;
        fill(note, `Sorted: ${formatCount(rows)} rows in ${formatCount(read)} parts read${skip}.`);
        return showGrid();
      }
    } catch (error) {
      note.hidden = true;
      fail(failureOf(error));
    } finally {
      sorting = false;
    }
  };
  const offerSort = () => {
    const { handle } = opened;
    layout = void 0;
    grid.element.hidden = true;
    const start = button("Sort", "Read the rows and sort them", () => sortAll(handle));
    const cancel = button(
      "Cancel",
      "Show the rows in their stored order",
      () => ask({ sort: void 0, descending: void 0 })
    );
    note.hidden = false;
    fill(note, `${opened.sort_cost} `, start, " ", cancel);
  };
  const load = whenQuiet(async () => {
    const { tab, selected, node } = store.get();
    if (tab !== "rows") return;
    const given = { ...asked(), where: condition() };
    const file = given.scope === "file" && !given.file ? node : "";
    const request = { snapshot: selected, text: JSON.stringify(given), node: file };
    const key = JSON.stringify(request);
    if (key === shown) return;
    shown = key;
    showControls();
    attribute(element, "data-busy", "1");
    try {
      const answer = await channel.latest("rows_open", "rows_open", request);
      if (!answer) return;
      fail();
      const wide = opened?.columns.length;
      opened = answer.body;
      if (wide !== opened.columns.length) firstColumn = 0;
      layout = new RowLayout(answer.columns.most, answer.columns.exact);
      fill(value);
      note.hidden = true;
      showControls();
      describe();
      if (opened.order) {
        const sorted = layout;
        offerSort();
        layout = sorted;
        if (opened.rows <= FEW_ROWS) sortAll(opened.handle);
      } else showGrid();
      attribute(element, "data-handle", opened.handle);
    } catch (error) {
      opened = void 0;
      layout = void 0;
      grid.element.hidden = true;
      empty.hidden = true;
      note.hidden = true;
      fail(failureOf(error));
    } finally {
      attribute(element, "data-busy", null);
    }
  }, QUIET_MILLIS);
  showControls();
  load();
  return {
    element,
    focus: grid.focus,
    update(changed) {
      const relevant = ["selected", "asked", "where", "node", "tab"];
      if (relevant.some((name) => changed.has(name))) load();
    },
    dispose() {
      sorting = false;
      load.cancel();
      grid.dispose();
    }
  };
}
export {
  create,
  parsed
};
