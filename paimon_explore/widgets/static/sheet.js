// src/dom.js
var ATTRIBUTES = /* @__PURE__ */ new Set([
  "autocomplete",
  "class",
  "for",
  "height",
  "hidden",
  "id",
  "placeholder",
  "role",
  "spellcheck",
  "tabindex",
  "title",
  "type",
  "width"
]);
function attribute(element, name, value) {
  if (!ATTRIBUTES.has(name) && !/^(aria|data)-[a-z-]+$/.test(name)) {
    throw new TypeError(`attribute ${name} is not allowed`);
  }
  if (value === null || value === void 0 || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) attribute(element, name, value);
  if (element.tabIndex >= 0 || element.hasAttribute("tabindex")) {
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  fill(element, ...children);
  return element;
}
function fill(element, ...children) {
  element.replaceChildren(
    .../** @type {(Node | string)[]} */
    children.filter((child) => child || child === "")
  );
}
function button(label, says, action, attributes = {}) {
  const made = el(
    "button",
    {
      type: "button",
      class: "pe-button",
      title: says,
      "aria-label": /[a-z]/i.test(label) ? null : says,
      ...attributes
    },
    label
  );
  made.addEventListener("click", action);
  return made;
}
function perFrame(callback) {
  let pending = 0;
  const schedule = () => {
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      callback();
    });
  };
  schedule.cancel = () => {
    cancelAnimationFrame(pending);
    pending = 0;
  };
  return schedule;
}
function whenQuiet(callback, millis) {
  let timer = 0;
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(callback, millis);
  };
  schedule.cancel = () => clearTimeout(timer);
  return schedule;
}

// src/sheet.css
var sheet_default = '.pes-root {\n  container-type: inline-size;\n  --pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n  --pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n  --pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n  --pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n  --pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n  --pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n  --pe-append: #2563c9;\n  --pe-compact: #7b45c4;\n  --pe-overwrite: #b3540b;\n  --pe-add: #1a7038;\n  --pe-remove: #b3261e;\n  --pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n  --pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\n\n  padding: 4px 12px 10px;\n  border: 1px solid var(--pe-line);\n  border-radius: 6px;\n  background: var(--pe-bg);\n  color: var(--pe-fg);\n  font: 13px / 1.4 var(--pe-font);\n  font-variant-numeric: tabular-nums;\n}\n.pes-root[data-theme="dark"] {\n  --pe-append: #79aefc;\n  --pe-compact: #c3a0f8;\n  --pe-overwrite: #f5a35f;\n  --pe-add: #76d48f;\n  --pe-remove: #ff8f85;\n}\n.pes-pane {\n  position: relative;\n}\n.pes-body {\n  container-type: inline-size;\n  flex: 1;\n  overflow: auto;\n  padding: 4px 10px 12px;\n  min-height: 0;\n}\n.pes-pane[data-busy] .pes-body {\n  opacity: 0.6;\n}\n.pes-ask {\n  display: flex;\n  align-items: center;\n  gap: 6px;\n  padding: 6px 10px;\n  border-bottom: 1px solid var(--pe-line);\n}\n.pes-ask label {\n  color: var(--pe-muted);\n  font-size: 12px;\n}\n.pes-input {\n  flex: 1;\n  min-width: 0;\n  padding: 2px 8px;\n  border: 1px solid var(--pe-line);\n  border-radius: 4px;\n  background: var(--pe-bg);\n  color: var(--pe-fg);\n  font: 12px / 20px var(--pe-mono);\n}\n.pes-input::placeholder {\n  color: var(--pe-muted);\n  opacity: 0.85;\n}\n.pes-title {\n  margin: 4px 0 6px !important;\n  font-size: 13px;\n  font-weight: 600;\n  overflow-wrap: anywhere;\n}\n.pes-heading {\n  margin: 12px 0 3px !important;\n  font-size: 12px;\n  font-weight: 600;\n}\n.pes-count {\n  margin-left: 8px;\n  color: var(--pe-muted);\n  font-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts {\n  display: grid;\n  grid-template-columns: minmax(90px, auto) minmax(0, 1fr);\n  gap: 2px 12px;\n  margin: 0;\n  font-size: 12px;\n}\n:is(.pes-pane, .pes-root) .pes-facts dt {\n  grid-column: 1;\n  float: none;\n  width: auto;\n  max-width: 170px;\n  color: var(--pe-muted);\n  font-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts dd {\n  grid-column: 2;\n  float: none;\n  width: auto;\n  margin: 0;\n  overflow-wrap: anywhere;\n}\n.pes-note {\n  margin: 6px 0 !important;\n  color: var(--pe-muted);\n  font-size: 12px;\n}\n.pes-scroll {\n  overflow-x: auto;\n  overflow-y: hidden;\n}\n.pes-grid {\n  min-width: 100%;\n  margin: 0;\n  border-collapse: collapse;\n  font-size: 12px;\n}\n.pes-grid :is(th, td) {\n  position: relative;\n  padding: 2px 12px 2px 0;\n  border: 0;\n  border-bottom: 1px solid var(--pe-line);\n  background: none;\n  font-weight: normal;\n  line-height: 18px;\n  text-align: left;\n  vertical-align: top;\n  white-space: nowrap;\n  max-width: none;\n}\n.pes-grid tbody tr:hover {\n  background: var(--pe-faint);\n}\n.pes-grid thead :is(th, td) {\n  color: var(--pe-muted);\n  font-size: 11px;\n}\n.pes-grid .pes-number {\n  text-align: right;\n}\n.pes-grid .pes-long {\n  min-width: clamp(150px, 36cqw, 320px);\n  white-space: normal;\n  overflow-wrap: anywhere;\n}\n@container (max-width: 660px) {\n  .pes-grid :is(th, td):not(.pes-number, [data-tone]) {\n    white-space: normal;\n  }\n  .pes-grid .pes-long {\n    min-width: 130px;\n  }\n}\n.pes-bar {\n  position: absolute;\n  right: 12px;\n  bottom: 0;\n  width: calc((100% - 12px) * 1);\n  height: 2px;\n  background: linear-gradient(\n    to left,\n    var(--pe-accent) var(--pes-share),\n    transparent var(--pes-share)\n  );\n}\n:is(.pes-pane, .pes-root) .pes-link {\n  margin: 0;\n  padding: 0;\n  border: 0;\n  background: none;\n  color: inherit;\n  font: inherit;\n  text-align: inherit;\n  text-decoration: underline;\n  text-decoration-color: color-mix(in srgb, currentColor 45%, transparent);\n  text-underline-offset: 2px;\n  cursor: pointer;\n}\n:is(.pes-pane, .pes-root) .pes-link:hover {\n  background: none;\n  text-decoration-color: currentColor;\n}\n.pes-link:focus-visible,\n.pes-scroll:focus-visible,\n.pes-body:focus-visible {\n  outline: 2px solid var(--pe-accent);\n  outline-offset: -2px;\n}\n:is(.pes-pane, .pes-root) .pes-file {\n  font: 11px / 18px var(--pe-mono);\n  white-space: nowrap;\n}\n.pes-grid [data-tone="add"],\n.pes-facts [data-tone="add"] {\n  color: var(--pe-add);\n}\n.pes-grid [data-tone="remove"],\n.pes-facts [data-tone="remove"],\n.pes-note[data-tone="remove"] {\n  color: var(--pe-remove);\n}\n.pes-grid [data-tone="move"],\n.pes-facts [data-tone="move"] {\n  color: var(--pe-compact);\n}\n.pes-grid [data-tone="warn"],\n.pes-facts [data-tone="warn"],\n.pes-note[data-tone="warn"] {\n  color: var(--pe-overwrite);\n}\n.pes-grid [data-tone="muted"] {\n  color: var(--pe-muted);\n}\n.pes-problem {\n  margin: 8px 0;\n  padding: 6px 10px;\n  border-left: 3px solid var(--pe-remove);\n  border-radius: 3px;\n  background: color-mix(in srgb, var(--pe-remove) 8%, var(--pe-bg));\n  font-size: 12px;\n  overflow-wrap: anywhere;\n}\n.pes-path {\n  font-family: var(--pe-mono);\n}\n.pes-code {\n  display: block;\n  margin-top: 10px;\n  color: var(--pe-muted);\n  font: 12px / 18px var(--pe-mono);\n  overflow-wrap: anywhere;\n}\n\n/* charts */\n.pes-chart {\n  margin: 0;\n}\n.pes-chart-frame {\n  overflow: hidden;\n}\n.pes-chart svg {\n  display: block;\n  font: 11px var(--pe-font);\n}\n.pes-label,\n.pes-figure {\n  fill: var(--pe-fg);\n}\n.pes-label {\n  fill: var(--pe-muted);\n}\n.pes-line {\n  fill: none;\n  stroke: var(--pe-line);\n}\n.pes-depth {\n  fill: color-mix(in srgb, var(--pe-overwrite) 14%, transparent);\n  stroke: var(--pe-overwrite);\n  stroke-width: 1.5;\n}\n.pes-chart [data-tone] {\n  --pes-tone: var(--pe-append);\n}\n.pes-chart [data-tone="add"] {\n  --pes-tone: var(--pe-add);\n}\n.pes-chart [data-tone="remove"] {\n  --pes-tone: var(--pe-remove);\n}\n.pes-chart [data-tone="move"] {\n  --pes-tone: var(--pe-compact);\n}\n.pes-chart [data-tone="warn"] {\n  --pes-tone: var(--pe-overwrite);\n}\n.pes-chart [data-tone="muted"] {\n  --pes-tone: color-mix(in srgb, var(--pe-fg) 40%, var(--pe-bg));\n}\n.pes-mark {\n  fill: var(--pes-tone);\n}\n.pes-area {\n  fill: color-mix(in srgb, var(--pes-tone) 24%, var(--pe-bg));\n  stroke: var(--pes-tone);\n}\n.pes-box[data-select],\n.pes-mark[data-select] {\n  cursor: pointer;\n}\n.pes-box[data-select]:hover .pes-area {\n  fill: color-mix(in srgb, var(--pes-tone) 42%, var(--pe-bg));\n}\n.pes-gone {\n  fill: color-mix(in srgb, var(--pe-remove) 22%, var(--pe-bg));\n}\n.pes-hatch {\n  fill: none;\n  stroke: var(--pe-remove);\n}\n\n/* stage */\n.pes-stage {\n  margin: 8px 0;\n  padding: 8px;\n  border: 1px solid var(--pe-line);\n  border-radius: 6px;\n}\n.pes-stage-bar,\n.pes-steps {\n  display: flex;\n  align-items: center;\n}\n.pes-steps button {\n  min-width: 28px;\n}\n.pes-board {\n  display: grid;\n  grid-template-columns: repeat(var(--pes-columns), minmax(84px, 1fr));\n  gap: 4px;\n  margin: 8px 0;\n  overflow-x: auto;\n}\n.pes-lane {\n  min-height: 96px;\n  padding: 4px;\n  border-radius: 4px;\n  background: var(--pe-faint);\n}\n.pes-card-head {\n  color: var(--pe-muted);\n  font-size: 11px;\n}\n.pes-card {\n  margin-top: 4px;\n  padding: 3px 5px;\n  border: 1px solid var(--pe-line);\n  border-radius: 4px;\n  background: var(--pe-bg);\n  font: 11px / 1.4 var(--pe-mono);\n  overflow-wrap: anywhere;\n}\n.pes-card[hidden] {\n  display: none;\n}\n.pes-card-name {\n  display: block;\n}\n.pes-card .pes-count {\n  display: block;\n  margin: 0;\n  font-family: var(--pe-font);\n}\n.pes-card[data-new] {\n  border-color: var(--pe-accent);\n  box-shadow: inset 3px 0 var(--pe-accent);\n  animation: pes-come 0.3s ease-out;\n}\n.pes-card[data-gone] {\n  border-style: dashed;\n  color: var(--pe-remove);\n  text-decoration: line-through;\n}\n@keyframes pes-come {\n  from {\n    opacity: 0;\n    transform: translateX(-12px);\n  }\n}\n@media (prefers-reduced-motion: reduce) {\n  .pes-card {\n    animation: none !important;\n  }\n}\n.pes-caption {\n  min-height: 36px;\n  font-size: 12px;\n}\n\n/* partitions */\n.pe-explorer .pe-scroll {\n  flex: 1;\n  overflow: auto;\n}\n.pe-explorer .pe-table {\n  width: 100%;\n  border-collapse: collapse;\n  font-size: 12px;\n}\n.pe-explorer .pe-table :is(th, td) {\n  padding: 3px 10px;\n  font-weight: normal;\n  text-align: left;\n  white-space: nowrap;\n  background: none;\n  border: 0;\n}\n.pe-explorer .pe-table .pe-number {\n  text-align: right;\n}\n.pe-explorer .pe-table thead th {\n  position: sticky;\n  top: 0;\n  background: var(--pe-bg);\n  color: var(--pe-muted);\n  font-size: 11px;\n  box-shadow: inset 0 -1px var(--pe-line);\n}\n.pe-explorer .pe-size-bar {\n  display: block;\n  height: 3px;\n  width: var(--pe-share);\n  margin-left: auto;\n  border-radius: 2px;\n  background: var(--pe-accent);\n}\n\n/* help */\n.pe-explorer .pe-help dt {\n  display: flex;\n  align-items: flex-start;\n  gap: 3px;\n}\n.pe-explorer kbd {\n  padding: 0 5px;\n  border: 1px solid var(--pe-line);\n  border-radius: 3px;\n  background: var(--pe-faint);\n  color: var(--pe-fg);\n  font: 11px / 17px var(--pe-mono);\n}\n';

// src/help.js
var HELP = [
  ["← →", "previous, next snapshot"],
  ["PgUp PgDn", "ten snapshots back, on"],
  ["Home End", "first, last snapshot"],
  ["↑ ↓", "row of the tree or of the files"],
  ["+ −", "open, close a tree node"],
  ["Enter", "details of the row"],
  ["/", "filter the files"],
  ["m", "mark this snapshot for comparison"],
  ["y", "copy the line of Python"],
  ["?", "this help"],
  ["Esc", "back to the notebook"]
];
function createHelp() {
  const list = el("dl", { class: "pe-facts pe-help" });
  for (const [keys, meaning2] of HELP) {
    const names = keys.split(" ").map((key) => el("kbd", {}, key));
    list.append(el("dt", {}, ...names), el("dd", {}, meaning2));
  }
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Keys"),
    list,
    el(
      "p",
      { class: "pe-note" },
      "Filter by any column of the grid and by partition columns, in SQL: level = 0 and size < 1 MB"
    ),
    el(
      "p",
      { class: "pe-note" },
      "Marks: circle A append, square C compact, triangle O overwrite, diamond Z analyze; hollow: expired, held by a tag. Bars up: added, below: removed; their height is a square root. Lanes: a line per commit user, what one commit wrote is joined; consumers: full what they read, outlined what is left."
    )
  );
  element.append(el("style", {}, sheet_default));
  return { element, focus: () => element.focus(), update: () => {
  } };
}

// src/partition_sums.js
function byPartition({ columns, partitions }, rows) {
  const { partition, size, rows: counts, level, bucket, files } = columns;
  const slots = new Int32Array(partitions.length).fill(-1);
  const sums = [];
  for (const row of rows) {
    const id = partition[row];
    if (slots[id] < 0) {
      slots[id] = sums.length;
      sums.push({ partition: id, files: 0, bytes: 0, rows: 0, level0: 0, buckets: /* @__PURE__ */ new Set() });
    }
    const entry = sums[slots[id]];
    const count = files ? files[row] : 1;
    entry.files += count;
    entry.bytes += size[row];
    entry.rows += counts[row];
    if (level[row] === 0) entry.level0 += count;
    entry.buckets.add(bucket[row]);
  }
  return sums.sort((left, right) => left.partition - right.partition);
}

// src/text.js
var UNSEEN = /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
var SHORT = /* @__PURE__ */ new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["	", "\\t"]
]);
var CELL_LIMIT = 256;
function visible(text) {
  return text.replace(UNSEEN, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return SHORT.get(found) ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });
}
function hex(code, digits) {
  return code.toString(16).padStart(digits, "0");
}
function cut(text, limit = CELL_LIMIT) {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1]) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}
function formatCount(count) {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}
function formatShort(count) {
  return scaled(count, 1e3, ["", "k", "M", "G", "T", "P"]);
}
function formatBytes(bytes) {
  return scaled(bytes, 1e3, [" B", " kB", " MB", " GB", " TB", " PB"]);
}
function scaled(value, step, units) {
  let rest = Math.abs(value);
  let unit = 0;
  while (rest >= step * 0.9995 && unit < units.length - 1) {
    rest /= step;
    unit += 1;
  }
  const digits = unit > 0 && rest < 9.95 ? rest.toFixed(1) : Math.round(rest).toString();
  return `${value < 0 ? "−" : ""}${digits}${units[unit]}`;
}
function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// src/partitions_view.js
var MOST = 500;
function createPartitions(context) {
  const { store } = context;
  const inside2 = el("tbody", {});
  const head = el("tr", {});
  for (const name of ["partition", "files", "level 0", "buckets", "rows", "size"]) {
    const cell = el("th", { class: name === "partition" ? "" : "pe-number" }, name);
    cell.scope = "col";
    head.append(cell);
  }
  const table = el("table", { class: "pe-table" }, el("thead", {}, head), inside2);
  const scroller = el(
    "div",
    { class: "pe-scroll", tabindex: "0", role: "region", "aria-label": "Partitions" },
    table
  );
  const note = el("div", { class: "pe-totals", role: "status" });
  const empty = el("div", { class: "pe-empty", role: "status" });
  const element = el("div", { class: "pe-view" }, el("style", {}, sheet_default), scroller, empty, note);
  const draw = perFrame(() => {
    const { lives, first, last, unknown } = context.files();
    const { position, selected } = store.get();
    const known = lives && position >= first && position <= last && !unknown.has(position);
    scroller.hidden = note.hidden = !known;
    empty.hidden = !scroller.hidden;
    if (!lives || !known) {
      const { count } = context.history;
      const says = unknown.has(position) ? "cannot be read" : "are not known yet";
      fill(
        empty,
        count ? `The files of this snapshot ${says}.` : "No snapshot yet: there is no partition."
      );
      return;
    }
    const sums = byPartition(lives, lives.select(position, "live", context.mask()).rows);
    const most = sums.reduce((peak, sum) => Math.max(peak, sum.bytes), 0);
    fill(
      inside2,
      ...sums.slice(0, MOST).map((sum) => line(sum, lives.partitions[sum.partition], most))
    );
    const cut2 = sums.length > MOST ? `, the first ${MOST} are shown` : "";
    fill(
      note,
      el("strong", {}, plural(sums.length, "partition")),
      el("span", {}, `in snapshot ${selected}${cut2}`)
    );
    attribute(element, "data-count", sums.length);
  });
  draw();
  return {
    element,
    focus: () => scroller.focus(),
    update(changed) {
      const relevant = (
        /** @type {const} */
        ["position", "lives", "mask", "tab"]
      );
      if (relevant.some((key) => changed.has(key))) draw();
    },
    dispose: () => draw.cancel()
  };
}
function line(sum, name, most) {
  const title = el("th", { class: "pe-cell" }, visible(name || "unpartitioned"));
  title.scope = "row";
  const bar = el("span", { class: "pe-size-bar", "aria-hidden": "true" });
  bar.style.setProperty("--pe-share", `${most ? 100 * sum.bytes / most : 0}%`);
  const number = (text) => el("td", { class: "pe-number" }, text);
  return el(
    "tr",
    {},
    title,
    number(formatCount(sum.files)),
    number(formatCount(sum.level0)),
    number(formatCount(sum.buckets.size)),
    number(formatShort(sum.rows)),
    el("td", { class: "pe-number" }, formatBytes(sum.bytes), bar)
  );
}

// src/chart_view.js
var SVG = "http://www.w3.org/2000/svg";
var ATTRIBUTES2 = /* @__PURE__ */ new Set([
  ...["class", "d", "data-tone", "data-select", "height", "rx", "text-anchor", "transform"],
  ...["viewBox", "width", "x", "y", "role", "aria-label"]
]);
var BAR = 20;
var LANE = 26;
var LEAST = 13;
var AXIS = 20;
var PROFILE = 46;
var PER_LETTER = 6.3;
var MOST_BARS = 60;
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES2.has(name)) throw new TypeError(`attribute ${name} is not allowed`);
    if (value !== void 0 && value !== "") element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}
function createChart(chart, select) {
  const frame = el("div", { class: "pes-chart-frame" });
  const element = el(
    "figure",
    { class: "pes-chart" },
    el("figcaption", { class: "pes-heading" }, visible(cut(chart.title))),
    frame
  );
  let drawn = 0;
  const draw = () => {
    const width = Math.max(Math.floor(frame.clientWidth), 200);
    if (width === drawn) return;
    drawn = width;
    frame.replaceChildren(chart.type === "bars" ? bars(chart, width) : lanes(chart, width));
  };
  frame.addEventListener("click", (event) => {
    const target = (
      /** @type {Element} */
      event.target.closest("[data-select]")
    );
    const chosen = target?.getAttribute("data-select");
    if (chosen) select(chosen);
  });
  const watcher = new ResizeObserver(draw);
  watcher.observe(frame);
  return { element, dispose: () => watcher.disconnect() };
}
function picture(width, height, says, parts) {
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": visible(cut(says))
    },
    ...parts
  );
}
function labelRoom(labels, width) {
  const longest = labels.reduce((most, label) => Math.max(most, label.length), 0);
  return Math.min(longest * PER_LETTER + 14, width / 3);
}
function fitting(text, room) {
  const letters = Math.floor(room / PER_LETTER);
  const shown = visible(text);
  return shown.length <= letters ? shown : `${shown.slice(0, Math.max(letters - 1, 0))}…`;
}
function valueText(value, unit) {
  if (unit === "bytes") return formatBytes(Math.abs(value));
  if (unit === "share") return `${Math.round(value * 100)}%`;
  return Number.isInteger(value) ? formatShort(Math.abs(value)) : value.toFixed(1);
}
function bars(chart, width) {
  const names = chart.categories.slice(0, MOST_BARS);
  const left = labelRoom(names, width);
  const rows = names.map((_, i) => chart.series.map(({ values }) => values[i]));
  const sum = (row, sign) => row.reduce((total, value) => total + Math.max(value * sign, 0), 0);
  const back = Math.max(...rows.map((row) => sum(row, -1)), 0);
  const ahead = Math.max(...rows.map((row) => sum(row, 1)), 0);
  const figures = chart.unit === "share" ? 44 : 110;
  const scale = (width - left - figures) / (back + ahead || 1);
  const zero = left + back * scale;
  const parts = [];
  names.forEach((name, i) => {
    const y = i * BAR;
    parts.push(
      svg(
        "text",
        { class: "pes-label", x: left - 8, y: y + 14, "text-anchor": "end" },
        fitting(name, left - 12)
      )
    );
    let [low, high] = [zero, zero];
    const told = [];
    chart.series.forEach((series, at) => {
      const value = rows[i][at];
      if (!value) return;
      const wide = Math.max(Math.abs(value) * scale, 1);
      const x2 = value > 0 ? high : low - wide;
      if (value > 0) high += wide;
      else low -= wide;
      const text = valueText(value, chart.unit);
      if (chart.unit !== "share" || at === 0) told.push(value < 0 ? `−${text}` : text);
      parts.push(
        svg(
          "rect",
          {
            class: "pes-mark",
            x: x2,
            y: y + 4,
            width: wide,
            height: BAR - 8,
            rx: 2,
            "data-tone": series.tone,
            "data-select": chart.selects[i]
          },
          svg("title", {}, `${visible(cut(name))}: ${series.name} ${text}`)
        )
      );
    });
    if (chart.unit === "share" && !rows[i][0]) told.push("0%");
    parts.push(svg("text", { class: "pes-figure", x: high + 6, y: y + 14 }, told.join(" ")));
  });
  const bottom = names.length * BAR;
  if (back) parts.push(svg("path", { class: "pes-line", d: `M${zero} 0V${bottom}` }));
  let x = left;
  const legend = chart.series.length > 1;
  for (const series of legend ? chart.series : []) {
    parts.push(
      svg("rect", {
        class: "pes-mark",
        x,
        y: bottom + 6,
        width: 10,
        height: 10,
        rx: 2,
        "data-tone": series.tone
      }),
      svg("text", { class: "pes-figure", x: x + 14, y: bottom + 15 }, visible(series.name))
    );
    x += 32 + series.name.length * PER_LETTER;
  }
  return picture(width, bottom + (legend ? 22 : 4), chart.title, parts);
}
function lanes(chart, width) {
  const names = chart.profile ? [...chart.lanes, chart.profile.title] : chart.lanes;
  const left = labelRoom(names, width);
  const span = chart.end - chart.start || 1;
  const place = (value) => left + (Math.min(Math.max(value, chart.start), chart.end) - chart.start) / span * (width - left - 4);
  const parts = [];
  chart.lanes.forEach((name, i) => {
    const y = (i + 1) * LANE - 0.5;
    parts.push(
      svg("path", { class: "pes-line", d: `M${left} ${y}H${width}` }),
      svg(
        "text",
        { class: "pes-label", x: left - 8, y: y - 8, "text-anchor": "end" },
        fitting(name, left - 12)
      )
    );
  });
  for (const box of chart.boxes) parts.push(boxOf(box, place));
  let bottom = chart.lanes.length * LANE;
  let free = -Infinity;
  for (const [value, label] of chart.ticks) {
    const x = place(value);
    const text = fitting(label, 120);
    const room = text.length * PER_LETTER;
    const from = Math.min(Math.max(x - room / 2, left), width - room - 2);
    if (from < free) continue;
    free = from + room + 10;
    parts.push(
      svg("path", { class: "pes-line", d: `M${x} ${bottom}v4` }),
      svg("text", { class: "pes-figure", x: from, y: bottom + 15 }, text)
    );
  }
  bottom += chart.ticks.length ? AXIS : 4;
  if (chart.profile) {
    parts.push(...profileOf(chart.profile, place, bottom, left));
    bottom += PROFILE;
  }
  return picture(width, bottom, chart.title, parts);
}
function boxOf(box, place) {
  const x = place(box.start) + 0.5;
  const wide = Math.max(place(box.end) - x - 0.5, 2);
  const tall = Math.max(box.height * (LANE - 6), LEAST);
  const y = (box.lane + 1) * LANE - 3 - tall;
  const group = svg(
    "g",
    { class: "pes-box", "data-tone": box.tone, "data-select": box.selects },
    svg("title", {}, visible(cut(box.says, 600))),
    svg("rect", { class: "pes-area", x, y, width: wide, height: tall, rx: 2 })
  );
  if (box.hatched) {
    const part = Math.max(wide * box.hatched, 1);
    group.append(
      svg("rect", { class: "pes-gone", x: x + wide - part, y, width: part, height: tall }),
      svg("path", { class: "pes-hatch", d: hatches(x + wide - part, y, part, tall) })
    );
  }
  if (wide > 3 * PER_LETTER) {
    const label = fitting(box.label, wide - 8);
    if (label && label !== "…") {
      group.append(svg("text", { class: "pes-figure", x: x + 4, y: y + tall / 2 + 4 }, label));
    }
  }
  return group;
}
function hatches(x, y, width, height) {
  let path = "";
  for (let at = 4; at < width + height; at += 5) {
    const [x1, y1] = at < height ? [x, y + at] : [x + at - height, y + height];
    const [x2, y2] = at < width ? [x + at, y] : [x + width, y + at - width];
    path += `M${x1} ${y1}L${x2} ${y2}`;
  }
  return path;
}
function profileOf(profile, place, top, left) {
  const peak = profile.steps.reduce((most, [, value]) => Math.max(most, value), 1);
  const floor = top + PROFILE - 8;
  let path = "";
  for (const [at, value] of profile.steps) {
    const y = floor - value / peak * (PROFILE - 16);
    path += path ? `H${place(at)}V${y}` : `M${place(at)} ${floor}V${y}`;
  }
  return [
    svg(
      "text",
      { class: "pes-label", x: left - 8, y: floor - 8, "text-anchor": "end" },
      fitting(profile.title, left - 12)
    ),
    svg("path", { class: "pes-depth", d: path }, svg("title", {}, visible(profile.title)))
  ];
}

// src/stage_view.js
var PLAY_MILLIS = 1400;
function createStage(stage, still = matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const end = stage.frames.length - 1;
  let at = end;
  let timer = 0;
  const first = button("«", "First step", () => go(0));
  const previous = button("‹", "Previous step", () => go(at - 1));
  const next = button("›", "Next step", () => go(at + 1));
  const last = button("»", "Last step", () => go(end));
  const play = button("▶", "Play the commit", () => timer ? stop() : start(), { hidden: still });
  const count = el("span", { class: "pes-count" });
  const caption = el("div", { class: "pes-caption", "aria-live": "polite" });
  const cards = stage.cards.map((card) => {
    const note = card.note ? el("span", { class: "pes-count" }, visible(card.note)) : null;
    return { card, element: el("div", { class: "pes-card" }, shortened(card.text), note) };
  });
  const board = el("div", {
    class: "pes-board",
    tabindex: "0",
    role: "group",
    "aria-label": "Files of the commit"
  });
  board.style.setProperty("--pes-columns", String(stage.columns.length));
  stage.columns.forEach((name, number) => {
    const mine = cards.filter(({ card }) => card.column === number);
    const head = el("div", { class: "pes-card-head" }, visible(name));
    board.append(el("div", { class: "pes-lane" }, head, ...mine.map(({ element: element2 }) => element2)));
  });
  const show = (frame) => {
    at = Math.min(Math.max(frame, 0), end);
    const { title, text, tone } = stage.frames[at];
    for (const { card, element: element2 } of cards) {
      element2.hidden = card.since > at;
      attribute(element2, "data-new", card.since === at ? "1" : null);
      attribute(element2, "data-gone", card.until !== null && card.until <= at ? "1" : null);
    }
    fill(count, `step ${at + 1} of ${end + 1}`);
    fill(caption, el("strong", { "data-tone": tone }, visible(title)), " ", visible(text));
    first.disabled = previous.disabled = at === 0;
    next.disabled = last.disabled = at === end;
  };
  const start = () => {
    if (at === end) show(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      show(at + 1);
      if (at === end) stop();
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };
  const go = (frame) => {
    stop();
    show(frame);
  };
  show(end);
  const steps = el("span", { class: "pes-steps" }, first, previous, play, next, last);
  const element = el(
    "div",
    { class: "pes-stage", role: "group", "aria-label": visible(stage.title) },
    el("div", { class: "pes-stage-bar" }, steps, count),
    board,
    caption
  );
  return { element, dispose: stop };
}
function shortened(text) {
  const shown = visible(cut(text));
  const short = shown.length > 14 ? `…${shown.slice(-7)}` : shown;
  return el("span", { class: "pes-card-name", title: shown }, short);
}

// src/sheet_view.js
var LONG = 48;
var NAME_ENDS = 14;
function drawSheet(sheet, select) {
  const disposals = [];
  const elements = sheet.sections.map((part) => {
    const made = section(part, select);
    disposals.push(made.dispose ?? (() => {
    }));
    return made.element;
  });
  const title = el("h4", { class: "pes-title" }, visible(cut(sheet.title)));
  return {
    elements: [title, ...elements],
    dispose() {
      for (const dispose of disposals) dispose();
    }
  };
}
function section(part, select) {
  switch (part.type) {
    case "facts":
      return { element: facts(part.title, part.rows, select) };
    case "grid":
      return { element: gridOf(part, select) };
    case "note":
      return {
        element: el("p", { class: "pes-note", "data-tone": part.tone }, visible(part.text))
      };
    case "problem":
      return { element: problemOf(part.failure) };
    case "stage":
      return createStage(part);
    case "bars":
    case "lanes":
      return createChart(part, select);
  }
}
function facts(title, rows, select) {
  const list = el("dl", { class: "pes-facts" });
  for (const [label, value] of rows) {
    list.append(el("dt", {}, visible(label)), el("dd", {}, inside(value, select)));
  }
  return el("div", {}, title ? el("h5", { class: "pes-heading" }, visible(title)) : null, list);
}
function gridOf(grid, select) {
  const count = grid.total > grid.rows.length ? `first ${grid.rows.length} of ` : "";
  const heading = el(
    "h5",
    { class: "pes-heading" },
    visible(grid.title),
    el("span", { class: "pes-count" }, `${count}${formatCount(grid.total)}`)
  );
  if (!grid.rows.length) {
    return el("div", {}, heading, el("p", { class: "pes-note" }, "None."));
  }
  const head = el("tr", {});
  grid.columns.forEach((name, i) => {
    const cell = name ? el("th", { class: grid.numeric[i] ? "pes-number" : null }, visible(name)) : el("td", {});
    if (cell instanceof HTMLTableCellElement && name) cell.scope = "col";
    head.append(cell);
  });
  const body = el("tbody", {});
  for (const row of grid.rows) {
    const line2 = el("tr", {});
    row.forEach((cell, i) => {
      line2.append(tableCell(cell, grid.numeric[i], select));
    });
    body.append(line2);
  }
  const table = el("table", { class: "pes-grid", "aria-label": visible(grid.title) });
  table.append(el("thead", {}, head), body);
  const scroller = el(
    "div",
    {
      class: "pes-scroll",
      tabindex: "0",
      role: "region",
      "aria-label": `Table: ${visible(grid.title)}`
    },
    table
  );
  const note = grid.note ? el("p", { class: "pes-note" }, visible(grid.note)) : null;
  return el("div", {}, heading, scroller, note);
}
function tableCell(cell, number, select) {
  const plain = typeof cell === "string" ? { text: cell } : cell;
  const long = plain.text.length > LONG && plain.selects !== `file:${plain.text}`;
  const place = el(
    "td",
    {
      class: `${number ? "pes-number" : ""}${long ? " pes-long" : ""}`.trim() || null,
      "data-tone": plain.tone
    },
    inside(cell, select)
  );
  if (plain.share !== void 0) {
    const bar = el("span", { class: "pes-bar", "aria-hidden": "true" });
    bar.style.setProperty("--pes-share", `${100 * plain.share}%`);
    place.append(bar);
  }
  return place;
}
function inside(cell, select) {
  const { text, selects = "", tone = void 0 } = typeof cell === "string" ? { text: cell } : cell;
  if (!selects) {
    const shown = text.length > CELL_LIMIT ? longText(text) : visible(text);
    return tone ? el("span", { "data-tone": tone }, shown) : shown;
  }
  const file = selects === `file:${text}`;
  return button(
    file ? shortName(text) : visible(cut(text)),
    meaning(selects, text),
    () => select(selects),
    {
      class: file ? "pes-link pes-file" : "pes-link",
      "data-tone": tone
    }
  );
}
function longText(text) {
  const shown = el("span", {}, visible(cut(text)));
  const expand = button("show all", `Show all ${text.length} characters`, () => {
    shown.textContent = visible(text);
    expand.remove();
  });
  return el("span", {}, shown, " ", expand);
}
function shortName(name) {
  const shown = visible(cut(name));
  if (shown.length <= 2 * NAME_ENDS + 4) return shown;
  return `${shown.slice(0, NAME_ENDS)}…${shown.slice(-NAME_ENDS)}`;
}
function meaning(selects, text) {
  const at = selects.indexOf(":");
  const kind = selects.slice(0, at);
  const what = visible(cut(selects.slice(at + 1)));
  switch (kind) {
    case "snapshot":
      return `Go to snapshot ${what}`;
    case "file":
      return `Details of ${what}`;
    case "filter":
      return `Files where ${what || "all"}`;
    case "schema":
      return `Details of schema ${what}`;
    case "ask":
      return `Show ${what}`;
    default:
      return `Show ${visible(cut(text))} under ${visible(kind)}`;
  }
}
function problemOf(failure) {
  return el(
    "div",
    { class: "pes-problem", role: "alert", "data-error": failure.kind },
    el("strong", {}, visible(failure.kind)),
    " ",
    visible(cut(failure.message, 2e3)),
    failure.path && !failure.message.includes(failure.path) ? el("div", { class: "pes-path" }, visible(cut(failure.path, 1e3))) : null,
    failure.hint ? el("div", {}, visible(cut(failure.hint, 1e3))) : null
  );
}

// src/theme.js
var COLOURS = [
  "bg",
  "fg",
  "muted",
  "faint",
  "line",
  "accent",
  "select",
  "append",
  "compact",
  "overwrite",
  "analyze",
  "unknown",
  "add",
  "remove",
  "tag",
  "branch",
  "consumer",
  "hint"
];
function readColours(root) {
  const probes = COLOURS.map((name) => {
    const probe = document.createElement("span");
    probe.hidden = true;
    probe.style.color = `var(--pe-${name})`;
    return probe;
  });
  root.append(...probes);
  const colours = Object.fromEntries(
    probes.map((probe, i) => [COLOURS[i], getComputedStyle(probe).color])
  );
  colours.font = getComputedStyle(root).fontFamily;
  for (const probe of probes) probe.remove();
  return colours;
}
function isDark(colour) {
  const numbers = (colour.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
  if (numbers.length < 3) return false;
  const [r, g, b] = colour.startsWith("rgb") ? numbers.map((part) => part / 255) : numbers;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.45;
}
function watchTheme(root, tell) {
  let known = "";
  const apply = () => {
    const theme = isDark(readColours(root).bg) ? "dark" : "light";
    root.setAttribute("data-theme", theme);
    const colours = readColours(root);
    const found = Object.values(colours).join();
    if (found !== known) tell(colours);
    known = found;
  };
  let timers = (
    /** @type {number[]} */
    []
  );
  const soon = () => {
    timers.forEach(clearTimeout);
    timers = [0, 150, 600].map((millis) => setTimeout(apply, millis));
  };
  const observer = new MutationObserver(soon);
  for (const target of [document.documentElement, document.body]) {
    observer.observe(target, {
      attributeFilter: [
        "class",
        "style",
        "data-jp-theme-light",
        "data-jp-theme-name",
        "data-vscode-theme-kind",
        "data-theme"
      ]
    });
  }
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", soon);
  apply();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", soon);
    timers.forEach(clearTimeout);
  };
}

// src/wire.js
function failureOf(error) {
  const failure = (
    /** @type {Partial<AskError> | undefined} */
    error?.failure
  );
  return failure ?? { kind: "error", message: String(error) };
}

// src/sheet.js
var QUIET_MILLIS = 90;
var FIELDS = {
  lsm: { label: "Bucket", example: "dt=d1, bucket 0" },
  diff: { label: "Against", example: "snapshot, tag or time; 0 for nothing", rows: true },
  explain: { label: "Where", example: "k > 3 and dt = 'd1' limit 10" },
  key: { label: "Key", example: "id = 3, dt = 'd1'" },
  why: { label: "File", example: "name of a data, manifest or index file" },
  expiry: { label: "Keep", example: "retain_max=10, older_than=1 d" }
};
function create(context) {
  const { store, channel, pane } = context;
  if (pane === "partitions") return createPartitions(context);
  if (pane === "help") return createHelp();
  const field = FIELDS[pane];
  const body = el("div", {
    class: "pes-body",
    tabindex: "0",
    role: "region",
    "aria-label": "Answer",
    "aria-live": "off"
  });
  const asked = () => store.get().asked[pane] ?? "";
  const ask = (text) => store.set({ asked: { ...store.get().asked, [pane]: text } });
  const form = field ? createForm(context.prefix, pane, field, asked, ask) : void 0;
  const element = el("div", { class: "pe-view pes-pane", "data-pane": pane });
  element.append(el("style", {}, sheet_default), ...form ? [form.element] : [], body);
  const select = (target) => {
    const at = target.indexOf(":");
    const [kind, what] = [target.slice(0, at), target.slice(at + 1)];
    switch (kind) {
      case "snapshot":
        return context.moveTo(context.history.positionOf(Number(what)));
      case "file":
        return store.set({ node: `name/${what}`, help: false });
      case "schema":
        return store.set({ node: `schema/${what}`, help: false });
      case "filter":
        return store.set({ tab: "files", filter: what });
      case "ask":
        return ask(what);
      default:
        return store.set({ tab: kind, asked: { ...store.get().asked, [kind]: what } });
    }
  };
  let dispose = () => {
  };
  let shown = "";
  const load = whenQuiet(async () => {
    const { tab, selected, compare, node } = store.get();
    if (tab !== pane) return;
    const question = {
      pane,
      snapshot: selected,
      text: asked(),
      compare: pane === "diff" ? compare : 0,
      node: pane === "why" ? node : ""
    };
    const key = JSON.stringify(question);
    if (key === shown) return;
    shown = key;
    attribute(element, "data-busy", "1");
    try {
      const answer = await channel.latest(`sheet-${pane}`, "sheet", question);
      if (!answer) return;
      dispose();
      const made = drawSheet(
        /** @type {Sheet} */
        answer.body,
        select
      );
      dispose = made.dispose;
      fill(body, ...made.elements);
      attribute(element, "data-error", null);
    } catch (error) {
      dispose();
      dispose = () => {
      };
      const failure = failureOf(error);
      fill(body, problemOf(failure));
      attribute(element, "data-error", failure.kind);
    }
    body.scrollTop = 0;
    attribute(element, "data-shown", key);
    attribute(element, "data-busy", null);
  }, QUIET_MILLIS);
  load();
  return {
    element,
    focus: () => form ? form.focus() : body.focus(),
    update(changed) {
      const relevant = (
        /** @type {const} */
        ["selected", "tab", "asked", "compare", "node"]
      );
      if (!relevant.some((name) => changed.has(name))) return;
      if (changed.has("asked")) form?.show();
      load();
    },
    dispose() {
      load.cancel();
      dispose();
    }
  };
}
function createForm(prefix, pane, field, asked, ask) {
  const id = `${prefix}-ask-${pane}`;
  const input = el("input", {
    id,
    type: "text",
    class: "pes-input",
    placeholder: field.example,
    autocomplete: "off",
    spellcheck: "false"
  });
  const send = () => ask(input.value.trim());
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    send();
    event.preventDefault();
    event.stopPropagation();
  });
  const clear = button("×", `Empty the field ${field.label}`, () => {
    input.value = "";
    ask("");
    input.focus();
  });
  const rows = field.rows ? button("rows", "Compare rows, too: reads the files of changed buckets", () => {
    const bare = asked().replace(/,?\s*\brows\s*$/i, "");
    ask(bare === asked() ? `${bare}${bare ? ", " : ""}rows` : bare);
  }) : void 0;
  const show = () => {
    if (input.value.trim() !== asked()) input.value = asked();
    if (rows) attribute(rows, "aria-pressed", String(/\brows\s*$/i.test(asked())));
  };
  show();
  const element = el(
    "div",
    { class: "pes-ask" },
    el("label", { for: id }, visible(field.label)),
    input,
    clear,
    rows
  );
  return { element, show, focus: () => input.focus() };
}
function render({ model, el: place }) {
  const root = el("div", {
    class: "pes-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Result"
  });
  fill(place, el("style", {}, sheet_default), root);
  let dispose = () => {
  };
  const draw = () => {
    dispose();
    const made = drawSheet(model.get("sheet"), () => {
    });
    dispose = made.dispose;
    const code = model.get("sheet").code;
    fill(root, ...made.elements, code ? el("code", { class: "pes-code" }, visible(code)) : null);
  };
  draw();
  const unwatch = watchTheme(root, () => {
  });
  model.on("change:sheet", draw);
  attribute(root, "data-ready", "1");
  return () => {
    unwatch();
    dispose();
    model.off("change:sheet", draw);
  };
}
var sheet_default2 = { render };
export {
  create,
  sheet_default2 as default
};
