// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/explorer.css
var explorer_default = '.pe-explorer {\n--pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n--pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n--pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n--pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n--pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n--pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n--pe-select: color-mix(in srgb, var(--pe-accent) 20%, var(--pe-bg));\n--pe-append: #2563c9;\n--pe-compact: #7b45c4;\n--pe-overwrite: #b3540b;\n--pe-analyze: #0b7568;\n--pe-unknown: #b3261e;\n--pe-add: #1a7038;\n--pe-remove: #b3261e;\n--pe-tag: #96690a;\n--pe-branch: #0b7568;\n--pe-consumer: #a03a8f;\n--pe-hint: #5a6472;\n--pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n--pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\n--pe-gap: 8px;\ncontainer: pe-explorer / inline-size;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 13px / 1.4 var(--pe-font);\nfont-variant-numeric: tabular-nums;\ntext-align: left;\n}\n.pe-frame {\ndisplay: flex;\nflex-direction: column;\nheight: var(--pe-height, clamp(420px, 100vh - 130px, 1000px));\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\noverflow: hidden;\n}\n.pe-explorer[data-theme="dark"] {\n--pe-append: #79aefc;\n--pe-compact: #c3a0f8;\n--pe-overwrite: #f5a35f;\n--pe-analyze: #55cdb9;\n--pe-unknown: #ff8f85;\n--pe-add: #76d48f;\n--pe-remove: #ff8f85;\n--pe-tag: #e6bd5c;\n--pe-branch: #55cdb9;\n--pe-consumer: #ee9fe0;\n--pe-hint: #a9b3c0;\n}\n.pe-explorer *,\n.pe-explorer *::before {\nbox-sizing: border-box;\n}\n.pe-explorer [hidden] {\ndisplay: none !important;\n}\n.pe-explorer :focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n.pe-explorer :is(h2, h3, h4, h5, p, dl, dd, pre, table) {\nmargin: 0;\npadding: 0;\n}\n.pe-hidden {\nposition: absolute;\nwidth: 1px;\nheight: 1px;\noverflow: hidden;\nclip-path: inset(50%);\n}\n.pe-explorer .pe-muted {\ncolor: var(--pe-muted);\n}\n.pe-plus {\ncolor: var(--pe-add);\n}\n.pe-minus {\ncolor: var(--pe-remove);\n}\n.pe-explorer button {\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: inherit;\nfont-size: 12px;\nline-height: 18px;\npadding: 1px 7px;\ncursor: pointer;\n}\n.pe-explorer button:hover:not(:disabled) {\nbackground: var(--pe-faint);\nborder-color: var(--pe-muted);\n}\n.pe-explorer button:disabled {\nopacity: 0.45;\ncursor: default;\n}\n.pe-explorer button[aria-pressed="true"] {\nbackground: var(--pe-select);\nborder-color: var(--pe-accent);\n}\n.pe-explorer .pe-segmented,\n.pe-steps {\ndisplay: inline-flex;\n}\n.pe-explorer .pe-segmented button:not(:first-child),\n.pe-explorer .pe-steps button:not(:first-child) {\nborder-top-left-radius: 0;\nborder-bottom-left-radius: 0;\nmargin-left: -1px;\n}\n.pe-explorer .pe-segmented button:not(:last-child),\n.pe-explorer .pe-steps button:not(:last-child) {\nborder-top-right-radius: 0;\nborder-bottom-right-radius: 0;\n}\n.pe-explorer .pe-segmented button[aria-pressed="true"] {\nz-index: 1;\n}\n.pe-explorer .pe-steps button {\nmin-width: 28px;\n}\n.pe-explorer input {\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: inherit;\nfont-size: 12px;\nline-height: 18px;\npadding: 1px 7px;\nmin-width: 0;\n}\n.pe-explorer input::placeholder {\ncolor: var(--pe-muted);\nopacity: 1;\n}\n.pe-explorer input[aria-invalid] {\nborder-color: var(--pe-remove);\n}\n.pe-explorer .pe-steps-bar {\nposition: relative;\ndisplay: flex;\nflex-wrap: wrap;\ngap: 4px var(--pe-gap);\nmargin-left: auto;\n}\n.pe-explorer .pe-filter {\nflex: 1 1 140px;\nfont-family: var(--pe-mono) !important;\n}\n.pe-bar {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 6px var(--pe-gap);\npadding: 6px 10px;\n}\n.pe-explorer .pe-chip {\ndisplay: inline-block;\nborder-radius: 9px;\nbackground: color-mix(in srgb, var(--pe-fg) 8%, var(--pe-bg));\ncolor: var(--pe-fg);\nfont-size: 11px;\nline-height: 18px;\npadding: 0 8px;\noverflow-wrap: anywhere;\n}\n.pe-explorer .pe-chip[data-flag="tag"] {\nbackground: color-mix(in srgb, var(--pe-tag) 18%, var(--pe-bg));\n}\n.pe-explorer .pe-chip[data-flag="branch"] {\nbackground: color-mix(in srgb, var(--pe-branch) 18%, var(--pe-bg));\n}\n.pe-explorer .pe-chip[data-flag="consumer"] {\nbackground: color-mix(in srgb, var(--pe-consumer) 18%, var(--pe-bg));\n}\n.pe-header {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 4px 6px;\npadding: 7px 10px 6px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pe-header-facts {\ndisplay: contents;\n}\n.pe-explorer .pe-name {\nfont-size: 15px;\nfont-weight: 600;\nline-height: 20px;\noverflow-wrap: anywhere;\n}\n.pe-explorer .pe-header .pe-muted {\noverflow-wrap: anywhere;\nmargin-right: 4px;\n}\n.pe-summary {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 2px 12px;\npadding: 5px 10px;\nborder-top: 1px solid var(--pe-line);\nbackground: var(--pe-faint);\nmin-height: 30px;\n}\n.pe-user {\nmargin-left: auto;\noverflow-wrap: anywhere;\nfont-size: 12px;\n}\n.pe-kind {\nfont-size: 11px;\nfont-weight: 600;\nletter-spacing: 0.03em;\ncolor: var(--pe-unknown);\n}\n.pe-kind::before {\ncontent: "";\ndisplay: inline-block;\nwidth: 8px;\nheight: 8px;\nmargin-right: 5px;\nbackground: currentColor;\n}\n.pe-kind[data-kind="append"],\n.pe-legend-item[data-kind="append"]::first-letter {\ncolor: var(--pe-append);\n}\n.pe-kind[data-kind="append"]::before {\nborder-radius: 50%;\n}\n.pe-kind[data-kind="compact"],\n.pe-legend-item[data-kind="compact"]::first-letter {\ncolor: var(--pe-compact);\n}\n.pe-kind[data-kind="overwrite"],\n.pe-legend-item[data-kind="overwrite"]::first-letter {\ncolor: var(--pe-overwrite);\n}\n.pe-kind[data-kind="overwrite"]::before {\nclip-path: polygon(50% 0, 100% 100%, 0 100%);\n}\n.pe-kind[data-kind="analyze"],\n.pe-legend-item[data-kind="analyze"]::first-letter {\ncolor: var(--pe-analyze);\n}\n.pe-kind[data-kind="analyze"]::before {\nclip-path: polygon(50% 0, 100% 50%, 50% 100%, 0 50%);\n}\n.pe-legend {\ndisplay: grid;\ngrid-template-columns: auto auto;\ngap: 0 12px;\nfont-size: 11px;\nline-height: 15px;\ncolor: var(--pe-muted);\n}\n.pe-legend-item {\ndisplay: inline-block;\nwhite-space: nowrap;\n}\n.pe-legend-item::first-letter {\nfont-weight: 700;\n}\n.pe-timeline {\ndisplay: flex;\n}\n.pe-timeline-controls {\ndisplay: flex;\nflex-wrap: wrap;\nalign-content: flex-start;\nalign-items: center;\ngap: 5px;\nwidth: 226px;\npadding: 6px 0 4px 10px;\n}\n.pe-timeline-frame {\nposition: relative;\nflex: 1;\nmin-width: 0;\nmargin: 2px 10px 4px 6px;\nmin-height: 90px;\n}\n.pe-timeline-canvas {\ndisplay: block;\nwidth: 100%;\ncursor: pointer;\ntouch-action: pan-y;\nborder-radius: 4px;\n}\n.pe-timeline-note {\nflex-basis: 100%;\nfont-size: 11px;\nline-height: 15px;\ncolor: var(--pe-muted);\n}\n.pe-live {\nfont-size: 11px;\n}\n.pe-new {\nbox-shadow: inset 3px 0 var(--pe-add);\n}\n.pe-tip {\nposition: absolute;\ntop: 2px;\nz-index: 2;\npadding: 4px 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\nbox-shadow: 0 2px 8px rgb(0 0 0 / 18%);\nfont-size: 11px;\nline-height: 16px;\nwhite-space: nowrap;\npointer-events: none;\nmax-width: 380px;\n}\n.pe-tip > div {\noverflow: hidden;\ntext-overflow: ellipsis;\n}\n.pe-tip > div:first-child {\nfont-weight: 600;\n}\n.pe-query {\nmax-height: 118px;\noverflow: hidden auto;\nborder-top: 1px solid var(--pe-line);\nfont-size: 11px;\nline-height: 15px;\n}\n.pe-query-head {\ndisplay: flex;\nalign-items: center;\njustify-content: space-between;\ngap: 8px;\ncolor: var(--pe-muted);\n}\n.pe-query-name {\nfont-weight: 600;\n}\n.pe-query-name > span {\nfont-weight: 400;\n}\n.pe-query-line {\nheight: 26px;\nmargin: 2px 0;\noverflow: hidden;\nbackground: var(--pe-faint);\ncursor: pointer;\n}\n.pe-explorer .pe-query-line:focus-visible {\noutline-offset: -2px;\n}\n.pe-query-strip {\nposition: relative;\nheight: 100%;\ntransform: translateX(var(--pe-offset, 0));\n}\n.pe-query-strip > * {\nposition: absolute;\ntop: 0;\nbottom: 0;\noverflow: hidden;\n}\n.pe-query-strip > [aria-selected="true"] {\nbackground: var(--pe-select);\n}\n.pe-query-strip i {\nposition: absolute;\ninset: auto 0 0;\nborder-top: 2px solid var(--pe-accent);\nbackground: color-mix(in srgb, var(--pe-accent) 14%, transparent);\n}\n.pe-query-strip span {\nposition: relative;\npadding: 0 3px;\nline-height: 26px;\n}\n.pe-query-strip b {\nwidth: 2px;\nbackground: var(--pe-accent);\n}\n.pe-main {\ndisplay: grid;\ngrid-template-columns:\nminmax(150px, var(--pe-left, 27%)) minmax(240px, 1fr)\nminmax(150px, var(--pe-right, 28%));\nflex: 1;\nmin-height: 0;\nborder-top: 1px solid var(--pe-line);\n}\n.pe-explorer .pe-pane {\nposition: relative;\ndisplay: flex;\nflex-direction: column;\nmin-width: 0;\nmin-height: 0;\n}\n.pe-explorer .pe-pane + .pe-pane {\nborder-left: 1px solid var(--pe-line);\n}\n.pe-explorer .pe-pane-title {\npadding: 0 10px;\nborder-bottom: 1px solid var(--pe-line);\nfont-size: 12px;\nfont-weight: 600;\nline-height: 28px;\n}\n.pe-tabs {\ndisplay: flex;\nflex: none;\nflex-wrap: wrap;\ngap: 0 2px;\npadding: 0 6px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pe-badge {\ndisplay: inline-block;\nmargin: -2px 0 -2px 4px;\npadding: 0 5px;\nborder-radius: 8px;\nline-height: 16px;\nvertical-align: 1px;\nbackground: var(--pe-faint);\ncolor: var(--pe-fg);\nfont-size: 11px;\nfont-weight: 600;\n}\n.pe-badge[data-tone="warning"] {\nbackground: color-mix(in srgb, var(--pe-overwrite) 18%, var(--pe-bg));\n}\n.pe-badge[data-tone="error"] {\nbackground: color-mix(in srgb, var(--pe-remove) 22%, var(--pe-bg));\n}\n.pe-explorer .pe-tabs button {\nborder: 0;\nborder-bottom: 2px solid transparent;\nborder-radius: 0;\nbackground: none;\ncolor: var(--pe-muted);\nflex: none;\nline-height: 26px;\npadding: 0 8px;\n}\n.pe-explorer .pe-tabs button[aria-selected="true"] {\nborder-bottom-color: var(--pe-accent);\ncolor: var(--pe-fg);\nfont-weight: 600;\n}\n.pe-group,\n.pe-panel,\n.pe-view {\ndisplay: flex;\nflex-direction: column;\nflex: 1;\nmin-height: 0;\nmin-width: 0;\n}\n.pe-empty {\npadding: 28px 16px;\ncolor: var(--pe-muted);\ntext-align: center;\ntext-wrap: balance;\nflex: 1;\n}\n.pe-explorer .pe-grid {\ncontain: strict;\nflex: 1;\noverflow: auto;\nmin-height: 80px;\n}\n.pe-grid-top {\nposition: sticky;\ntop: 0;\nz-index: 1;\nwidth: max-content;\n}\n.pe-explorer .pe-grid-head,\n.pe-grid-row {\ndisplay: grid;\ngrid-template-columns: var(--pe-columns);\n}\n.pe-explorer .pe-grid-head {\nborder-bottom: 1px solid var(--pe-line);\nborder-top: 1px solid var(--pe-line);\nbackground: var(--pe-bg);\nfont-size: 11px;\nline-height: 22px;\ncolor: var(--pe-muted);\n}\n.pe-explorer .pe-grid-head button {\nborder: 0;\nbackground: none;\ncolor: inherit;\nfont-size: 11px;\nline-height: 22px;\npadding: 0;\nmin-width: 16px;\ntext-align: inherit;\n}\n.pe-explorer .pe-grid-head button:hover {\ncolor: var(--pe-fg);\ntext-decoration: underline;\nbackground: none;\n}\n.pe-explorer .pe-grid-head [aria-sort]:not([aria-sort="none"]) {\ncolor: var(--pe-fg);\nfont-weight: 600;\n}\n.pe-arrow {\ndisplay: inline-block;\nwidth: 0;\noverflow: visible;\n}\n.pe-cell {\npadding: 0 8px;\noverflow: hidden;\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n.pe-explorer .pe-number {\ntext-align: right;\n}\n.pe-grid-sizer {\nposition: relative;\ncontain: strict;\n}\n.pe-grid-row {\nposition: absolute;\ntop: 0;\nleft: 0;\nheight: 24px;\nline-height: 24px;\nfont-size: 12px;\ncursor: default;\n}\n.pe-grid-row.pe-odd {\nbackground: color-mix(in srgb, var(--pe-fg) 2.5%, var(--pe-bg));\n}\n.pe-grid-row:hover {\nbackground: var(--pe-faint);\n}\n.pe-grid-row[aria-selected="true"] {\nbackground: var(--pe-select) !important;\n}\n.pe-grid-row .pe-cell:nth-child(n + 6):nth-child(-n + 7),\n.pe-grid-row .pe-cell:last-child {\nfont-family: var(--pe-mono);\n}\n.pe-totals > * {\nflex: none;\n}\n.pe-totals {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 2px 10px;\nwhite-space: nowrap;\npadding: 4px 10px;\nborder-top: 1px solid var(--pe-line);\nfont-size: 12px;\nmin-height: 28px;\n}\n.pe-problem {\nmargin: 6px 10px;\npadding: 6px 10px;\nborder-left: 3px solid var(--pe-remove);\nborder-radius: 3px;\nbackground: color-mix(in srgb, var(--pe-remove) 8%, var(--pe-bg));\nfont-size: 12px;\noverflow-wrap: anywhere;\n}\n.pe-path {\nfont-family: var(--pe-mono);\n}\n.pe-notice {\ndisplay: flex;\nflex-direction: column;\nmax-height: 40%;\noverflow: auto;\nposition: relative;\n}\n.pe-notice-item {\nposition: relative;\n}\n.pe-explorer .pe-notice-item > .pe-button {\nposition: absolute;\ntop: 10px;\nright: 16px;\n}\n.pe-footer {\ndisplay: flex;\nalign-items: center;\ngap: var(--pe-gap);\npadding: 5px 10px;\nborder-top: 1px solid var(--pe-line);\nbackground: var(--pe-faint);\n}\n.pe-prompt {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-explorer .pe-code {\nflex: 1;\nmin-width: 0;\nmax-height: 64px;\noverflow: auto;\nbackground: none;\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-mono);\nwhite-space: pre-wrap;\noverflow-wrap: anywhere;\npadding: 0 2px;\n}\n.pe-busy {\ncolor: var(--pe-muted);\nfont-size: 11px;\nwhite-space: nowrap;\n}\n@container pe-explorer (max-width: 1080px) {\n.pe-frame {\nheight: var(--pe-height, clamp(560px, 100vh - 130px, 1000px));\n}\n.pe-main {\ngrid-template: minmax(0, 2fr) minmax(0, 3fr) / minmax(270px, var(--pe-left, 27%)) minmax(0, 1fr);\n}\n.pe-pane-view {\ngrid-area: 1 / 2 / 3;\n}\n.pe-explorer .pe-pane + .pe-pane-detail {\nborder-left: 0;\nborder-top: 1px solid var(--pe-line);\n}\n}\n@container pe-explorer (max-width: 700px) {\n.pe-explorer .pe-frame {\nheight: auto;\n}\n.pe-explorer .pe-timeline,\n.pe-explorer .pe-header {\nflex-wrap: wrap;\n}\n.pe-explorer .pe-timeline-controls {\nwidth: auto;\npadding: 6px 10px 0;\n}\n.pe-explorer .pe-timeline-frame {\nflex: 1 0 calc(100% - 20px);\nmargin: 2px 10px 4px;\n}\n.pe-legend,\n.pe-explorer .pe-header .pe-muted,\n.pe-explorer .pe-user {\ndisplay: none;\n}\n.pe-main {\ngrid-template: 240px 340px 300px / minmax(0, 1fr);\n}\n.pe-pane-view {\ngrid-area: auto;\n}\n.pe-explorer .pe-pane + .pe-pane {\nborder-left: 0;\nborder-top: 1px solid var(--pe-line);\n}\n}\n@media (prefers-reduced-motion: reduce) {\n.pe-explorer * {\ntransition: none !important;\nanimation: none !important;\nscroll-behavior: auto !important;\n}\n}\n@media (forced-colors: active) {\n.pe-tree-row[aria-selected="true"],\n.pe-explorer .pe-grid-row[aria-selected="true"] {\noutline: 2px solid Highlight;\noutline-offset: -2px;\n}\n}\n';

// src/file_name.js
function shortName(name2) {
  return name2.replace(
    /([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (_whole, first) => `${first}…`
  );
}

// src/keyboard.js
var ACTS = [
  { id: "find", key: "Ctrl-K", label: "Find a view, snapshot, tag, file, column or command" },
  { id: "previous", key: "ArrowLeft", shown: "←", label: "Previous snapshot" },
  { id: "next", key: "ArrowRight", shown: "→", label: "Next snapshot" },
  { id: "back", key: "PageUp", shown: "PgUp", label: "Ten snapshots back" },
  { id: "forward", key: "PageDown", shown: "PgDn", label: "Ten snapshots forward" },
  { id: "first", key: "Home", label: "First snapshot" },
  { id: "last", key: "End", label: "Last snapshot" },
  { id: "filter", key: "/", label: "Filter the files" },
  { id: "mark", key: "m", label: "Mark this snapshot for comparison" },
  { id: "copy", key: "y", label: "Copy the code" },
  { id: "export", key: "s", label: "Copy or save tables and pictures" },
  { id: "settings", key: ",", label: "Settings" },
  { id: "help", key: "?", label: "Keyboard shortcuts, symbols and terms" },
  { id: "leave", key: "Escape", shown: "Esc", label: "Return to the notebook" }
];
function actOf({ key, ctrlKey, metaKey, altKey }, { typing, tabs }) {
  if (altKey) return void 0;
  if (ctrlKey || metaKey) return key.toLowerCase() === "k" ? "find" : void 0;
  if (typing && key !== "Escape") return void 0;
  if (tabs && /^(Arrow|Home|End)/.test(key)) return void 0;
  return ACTS.find((act) => act.key === key)?.id;
}
function rowAfter(key, row, count) {
  if (!count) return void 0;
  if (key === "ArrowDown") return Math.min(row + 1, count - 1);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  return void 0;
}

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

// src/virtual_scroll.js
var { ROW_HEIGHT, windowOf, scrollTo } = peShared;

// src/files_view.js
var UNKNOWN_BUCKET = -1;
var MAX_EXPORTED = 1e4;
var EXPORTED_AT_ONCE = 500;
var NOTHING = { rows: new Uint32Array(0), sum: { files: 0, bytes: 0, rows: 0 }, levels: [] };
function createFiles(context) {
  const { store, channel, history } = context;
  const texts = new Map();
  let textsFrame = -1;
  const columns = columnsOf(context, (row) => texts.get(row));
  const filter = createFilter(context);
  const scope = segmented(
    "Files to show",
    [
      ["live", "live", "Files of this snapshot"],
      ["added", "added", "Files this snapshot added"],
      ["removed", "removed", "Files this snapshot removed"]
    ],
    (value) => store.set({ scope: value })
  );
  const header = el("div", { class: "pe-grid-head", role: "row", "aria-rowindex": "1" });
  const sizer = el("div", { class: "pe-grid-sizer", role: "presentation" });
  const scroller = el(
    "div",
    { class: "pe-grid", role: "grid", tabindex: "0", "aria-label": "Data files" },
    el("div", { role: "rowgroup", class: "pe-grid-top" }, header),
    el("div", { role: "rowgroup" }, sizer)
  );
  const empty = el("div", { class: "pe-empty", role: "status" });
  const totals = el("div", { class: "pe-totals", role: "status", "aria-live": "polite" });
  const element = el(
    "div",
    { class: "pe-view" },
    el("div", { class: "pe-bar" }, scope.element, filter.element),
    filter.message,
    scroller,
    empty,
    totals
  );
  let selection = NOTHING;
  let { rows } = selection;
  let known = false;
  let cursor = -1;
  const pool = [];
  const template = columns.map(({ width }) => `${width}px`).join(" ");
  const wide = columns.reduce((sum, { width }) => sum + width, 0);
  element.style.setProperty("--pe-columns", template);
  sizer.style.width = `${wide}px`;
  header.style.width = `${wide}px`;
  const titles = columns.map((column, index) => headerCell(column, index, sortBy));
  fill(header, ...titles.map(({ cell }) => cell));
  function sortBy(key) {
    const { sort, descending } = store.get();
    store.set({ sort: key, descending: sort === key ? !descending : false });
  }
  const draw = perFrame(() => {
    const { lifetimes } = context.files();
    if (!lifetimes) return;
    const top = header.offsetHeight;
    const view = Math.max(scroller.clientHeight - top, 0);
    const { first, last, top: start2, height } = windowOf(rows.length, scroller.scrollTop, view);
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) pool.push(rowElement(columns, sizer));
    pool.forEach((line2, index) => {
      const at = first + index;
      line2.hidden = at >= last;
      if (line2.hidden) return;
      line2.style.transform = `translateY(${start2 + index * ROW_HEIGHT}px)`;
      write(line2, at, lifetimes);
    });
    attribute(
      scroller,
      "aria-activedescendant",
      cursor >= first && cursor < last ? rowId(cursor) : null
    );
    want(first, last);
  });
  const rowId = (at) => `${context.prefix}-file-${at}`;
  const write = (line2, at, lifetimes) => {
    const row = rows[at];
    line2.id = rowId(at);
    attribute(line2, "aria-rowindex", at + 2);
    attribute(line2, "aria-selected", String(at === cursor));
    line2.classList.toggle("pe-odd", at % 2 === 1);
    line2.classList.toggle("pe-new", history.fresh.has(addedBy(row, lifetimes)));
    columns.forEach((column, index) => {
      const cell = line2.children[index];
      const text = column.text(row, lifetimes);
      if (cell.textContent !== text) cell.textContent = text;
    });
  };
  const addedBy = (row, { columns: { added } }) => history.ids[added[row] - 1];
  let window_ = [0, 0];
  const fetch = whenQuiet(async () => {
    const { frame } = context.files();
    const missing = [...rows.subarray(window_[0], window_[1])].filter((row) => !texts.has(row));
    if (!missing.length || frame < 0) return;
    try {
      const answer = await channel.latest("rows", "rows", { frame, rows: missing });
      if (!answer || frame !== context.files().frame) return;
      if (texts.size > 2e4) texts.clear();
      for (const [index, row] of missing.entries()) texts.set(row, answer.body.rows[index]);
      draw();
    } catch {
    }
  }, 40);
  const want = (first, last) => {
    window_ = [first, last];
    fetch();
  };
  const reselect = () => {
    const { position, scope: chosen, sort, descending } = store.get();
    const { lifetimes, frame, first, last, unknown } = context.files();
    if (frame !== textsFrame) {
      texts.clear();
      textsFrame = frame;
    }
    scope.press(chosen);
    for (const { update } of titles) update(sort, descending);
    known = position >= first && position <= last && !unknown.has(position);
    if (lifetimes && known) {
      lifetimes.sort(sort, descending);
      selection = lifetimes.select(position, chosen, context.mask());
    } else selection = NOTHING;
    rows = selection.rows;
    const node = store.get().node;
    const chosenRow = node.startsWith(`file/${frame}/`) ? Number(node.split("/")[2]) : -1;
    cursor = chosenRow < 0 ? -1 : rows.indexOf(chosenRow);
    attribute(scroller, "aria-rowcount", rows.length + 1);
    attribute(element, "data-count", rows.length);
    scroller.hidden = rows.length === 0;
    summarize();
    draw();
  };
  const summarize = () => {
    const { position, scope: chosen, filter: condition } = store.get();
    fill(empty, ...rows.length ? [] : [emptyText(context, chosen, condition)]);
    empty.hidden = rows.length > 0;
    const changes = context.changes();
    if (changes && known) {
      scope.label("added", `${formatCount(changes.added.files[position])} added`);
      scope.label("removed", `${formatCount(changes.removed.files[position])} removed`);
    }
    totals.hidden = !known;
    if (!known) return;
    const { sum } = selection;
    const levels = selection.levels.map(
      ([level, files]) => el("span", { class: "pe-chip" }, `L${level}: ${plural(files, "file")}`)
    );
    fill(
      totals,
      el(
        "strong",
        {},
        condition && (context.mask() || context.files().narrowed) ? `${formatCount(sum.files)} matching files` : plural(sum.files, "file")
      ),
      el("span", {}, formatBytes(sum.bytes)),
      el(
        "span",
        { title: `${plural(sum.rows, "row")} before merging` },
        `${formatShort(sum.rows)} stored rows`
      ),
      context.files().grouped ? el(
        "span",
        { class: "pe-chip" },
        `in ${formatCount(rows.length)} groups; filter to list single files`
      ) : null,
      ...levels.length > 1 ? levels : []
    );
  };
  const choose = (at) => {
    cursor = at;
    const { frame } = context.files();
    scroller.scrollTop = scrollTo(
      at,
      rows.length,
      scroller.scrollTop,
      scroller.clientHeight - header.offsetHeight
    );
    store.set({ node: `file/${frame}/${rows[at]}`, aside: "" });
    draw();
  };
  let scrolled = false;
  scroller.addEventListener(
    "scroll",
    () => {
      scrolled = true;
      draw();
    },
    { passive: true }
  );
  sizer.addEventListener("click", (event) => {
    const line2 = event.target.closest("[aria-rowindex]");
    if (line2) choose(Number(line2.getAttribute("aria-rowindex")) - 2);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.target !== scroller) return;
    const next = rowAfter(event.key, cursor, rows.length);
    if (next !== void 0) choose(next);
    else if (event.key === "Enter" && cursor >= 0) choose(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  scroller.addEventListener("pe-export", (event) => {
    event.detail.rows = exported();
  });
  const exported = async () => {
    const { lifetimes, frame } = context.files();
    const wanted = lifetimes ? [...rows.subarray(0, MAX_EXPORTED)] : [];
    for (let at = 0; at < wanted.length; at += EXPORTED_AT_ONCE) {
      const some = wanted.slice(at, at + EXPORTED_AT_ONCE);
      const { body } = await channel.ask("rows", { frame, rows: some });
      for (const [index, row] of some.entries()) texts.set(row, body.rows[index]);
    }
    const found = wanted.map(
      (row) => columns.map(
        ({ exact, text }) => String((exact ?? text)(row, lifetimes))
      )
    );
    const heads = columns.map(({ title }) => title);
    return { rows: [heads, ...found], more: rows.length > wanted.length };
  };
  const observer = new ResizeObserver(draw);
  observer.observe(scroller);
  reselect();
  return {
    element,
    focus: () => scroller.focus(),
    update(changed) {
      filter.update(changed);
      if (changed.has("position") && scrolled) {
        scroller.scrollTop = 0;
        scrolled = false;
      }
      const relevant = [
        "position",
        "scope",
        "sort",
        "descending",
        "lifetimes",
        "mask"
      ];
      if (relevant.some((key) => changed.has(key))) reselect();
      else if (changed.has("node") || changed.has("fresh")) {
        const { node } = store.get();
        if (!node.startsWith("file/")) cursor = -1;
        draw();
      }
      if (changed.has("covered") && !rows.length) summarize();
      if (changed.has("filter") && history.count) filter.show();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      fetch.cancel();
      filter.dispose();
    }
  };
}
function columnsOf({ history }, texts) {
  const snapshot = (value) => {
    if (value === 0) return `≤ ${history.ids[0]}`;
    return value <= history.count ? String(history.ids[value - 1]) : "";
  };
  const all = [
    {
      key: "partition",
      title: "partition",
      width: 136,
      text: (row, { columns, partitions }) => visible(partitions[columns.partition[row]] ?? "")
    },
    {
      key: "bucket",
      title: "bucket",
      width: 62,
      number: true,
      text: (row, { columns }) => bucketText(columns.bucket[row])
    },
    {
      key: "level",
      title: "level",
      width: 52,
      number: true,
      text: (row, { columns }) => `L${columns.level[row]}`
    },
    {
      key: "rows",
      title: "rows",
      width: 66,
      number: true,
      text: (row, { columns }) => formatShort(columns.rows[row]),
      exact: (row, { columns }) => columns.rows[row]
    },
    {
      key: "size",
      title: "size",
      width: 66,
      number: true,
      text: (row, { columns }) => formatBytes(columns.size[row]),
      exact: (row, { columns }) => columns.size[row]
    },
    { key: "", title: "min key", width: 96, text: (row) => visible(texts(row)?.min_key ?? "…") },
    { key: "", title: "max key", width: 96, text: (row) => visible(texts(row)?.max_key ?? "…") },
    {
      key: "added",
      title: "added by",
      width: 74,
      number: true,
      says: "Snapshot that added the file; ≤ 5: snapshot 5 or earlier",
      text: (row, { columns }) => snapshot(columns.added[row])
    },
    {
      key: "removed",
      title: "removed by",
      width: 90,
      number: true,
      says: "Snapshot that removed the file",
      text: (row, { columns }) => snapshot(columns.removed[row])
    },
    {
      key: "schema",
      title: "schema",
      width: 62,
      number: true,
      text: (row, { columns }) => String(columns.schema[row])
    },
    {
      key: "created",
      title: "created",
      width: 136,
      says: "Creation time of the file, by the writer's clock",
      text: (row, { columns }) => columns.created[row] ? formatTime(columns.created[row], { utc: true }) : "unknown"
    },
    {
      key: "",
      title: "file",
      width: 300,
      text: (row) => visible(shortName(texts(row)?.name ?? "…")),
      exact: (row) => texts(row)?.name ?? ""
    }
  ];
  return history.table.partitioned ? all : all.slice(1);
}
function bucketText(bucket) {
  if (bucket === -2) return "-2";
  return bucket === UNKNOWN_BUCKET ? "–" : String(bucket);
}
function headerCell(column, index, sortBy) {
  const cell = el("div", {
    role: "columnheader",
    class: column.number ? "pe-cell pe-number" : "pe-cell",
    "aria-colindex": index + 1,
    title: column.says
  });
  if (!column.key) {
    cell.append(column.title);
    return { cell, update: () => {
    } };
  }
  const arrow = el("span", { class: "pe-arrow", "aria-hidden": "true" });
  const made = el("button", { type: "button", tabindex: "-1" }, column.title, arrow);
  made.addEventListener("click", () => sortBy(column.key));
  cell.append(made);
  return {
    cell,
    /**
     * @param {string} sort
     * @param {boolean} descending
     */
    update(sort, descending) {
      const mine = sort === column.key;
      attribute(cell, "aria-sort", mine ? descending ? "descending" : "ascending" : "none");
      arrow.textContent = mine ? descending ? "▾" : "▴" : "";
    }
  };
}
function rowElement(columns, parent) {
  const line2 = el("div", { class: "pe-grid-row", role: "row" });
  columns.forEach((column, index) => {
    line2.append(
      el("div", {
        role: "gridcell",
        class: column.number ? "pe-cell pe-number" : "pe-cell",
        "aria-colindex": index + 1
      })
    );
  });
  parent.append(line2);
  return line2;
}
function emptyText(context, scope, condition) {
  const { lifetimes, failure, covered, first, last, unknown } = context.files();
  const { position, selected } = context.store.get();
  if (context.history.count === 0) return NO_SNAPSHOT;
  if (failure) return problem(failure);
  if (!lifetimes || position < first || position > last) {
    return covered ? `Reading manifests: ${formatCount(covered)} of ${formatCount(context.history.count)} snapshots…` : "Reading manifests…";
  }
  if (unknown.has(position)) {
    return `The files of snapshot ${selected} are unknown because a manifest cannot be read. The manifest tree shows which one.`;
  }
  if (condition && (context.mask() || context.files().narrowed))
    return "No file of this snapshot matches the filter.";
  const verb = { live: "is live in", added: "was added by", removed: "was removed by" }[scope];
  return `No file ${verb} snapshot ${selected}.`;
}
function createFilter(context) {
  const { store } = context;
  const input = el("input", {
    type: "text",
    class: "pe-filter",
    placeholder: "Filter, e.g. level = 0",
    "aria-label": "Filter files",
    autocomplete: "off",
    spellcheck: "false"
  });
  const message = el("div", { class: "pe-problem", role: "alert", hidden: true });
  const apply = whenQuiet(() => store.set({ filter: input.value.trim() }), 350);
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    apply.cancel();
    store.set({ filter: input.value.trim() });
  });
  const show = () => {
    const { filter } = store.get();
    if (input.value.trim() !== filter) input.value = filter;
  };
  show();
  if (!context.offers({ op: "filter" })) {
    input.disabled = true;
    input.placeholder = "Filters are not available in a saved page";
  }
  let hinted = input.disabled;
  const hint = async () => {
    if (hinted || !context.files().lifetimes) return;
    hinted = true;
    const { examples } = await context.hints();
    if (examples.files) input.placeholder = `Filter, e.g. ${visible(examples.files)}`;
  };
  hint();
  return {
    element: input,
    message,
    show,
    /** @param {Set<string>} changed */
    update(changed) {
      if (changed.has("lifetimes")) hint();
      if (!changed.has("mask")) return;
      const failure = context.filterFailure();
      message.hidden = !failure;
      attribute(input, "aria-invalid", failure ? "true" : null);
      fill(message, failure ? visible(failure.message) : "");
    },
    dispose: () => apply.cancel()
  };
}

// src/lazy_pane.js
var LOADED = new Map();
function loaded(context, name2) {
  let found = LOADED.get(name2);
  if (!found) {
    found = (async () => {
      const { body } = await context.channel.ask("pane", { name: name2 });
      const address = URL.createObjectURL(new Blob([body.esm], { type: "text/javascript" }));
      try {
        return await import(
          /* webpackIgnore: true */
          address
        );
      } finally {
        URL.revokeObjectURL(address);
      }
    })();
    found.catch(() => LOADED.delete(name2));
    LOADED.set(name2, found);
  }
  return found;
}
function lazyPane(name2, pane) {
  return (context) => lazy(Object.assign(Object.create(context), { pane }), name2);
}
function lazy(context, name2) {
  const element = el("div", { class: "pe-view pe-lazy", tabindex: "-1" });
  fill(element, el("div", { class: "pe-empty" }, "Loading…"));
  let pane;
  let gone = false;
  loaded(context, name2).then(({ create }) => {
    if (gone) return;
    const made = create(context);
    pane = made;
    fill(element, made.element);
    attribute(element, "data-loaded", "1");
  }).catch((error) => {
    const { message, hint } = failureOf(error);
    const text = hint ? `${message} ${hint}` : message;
    fill(element, el("div", { class: "pe-empty", role: "alert" }, visible(text)));
  });
  return {
    element,
    focus: () => pane ? pane.focus() : element.focus(),
    update: (changed) => pane?.update(changed),
    dispose() {
      gone = true;
      pane?.dispose?.();
    }
  };
}

// src/remembered.js
function remembered(where, name2) {
  try {
    return JSON.parse(globalThis[where].getItem(`paimon-explore-${name2}`) ?? "null") ?? void 0;
  } catch {
    return void 0;
  }
}
function remember(where, name2, value) {
  try {
    globalThis[where].setItem(`paimon-explore-${name2}`, JSON.stringify(value));
  } catch {
  }
}

// src/explorer_tabs.js
var COUNT_MILLIS = 700;
var KINDS = {
  files: { create: createFiles },
  rows: { create: lazyPane("rows") },
  sql: { create: lazyPane("sql"), bundle: "sql" },
  partitions: { create: lazyPane("partitions") },
  profile: { create: lazyPane("profile") },
  bytes: { create: lazyPane("bytes"), bundle: "bytes" }
};
function offeredGroups(groups, offers) {
  const isOffered = (id) => {
    const name2 = KINDS[id]?.bundle;
    return !name2 || offers({ op: "pane", name: name2 });
  };
  return groups.map(([title, tabs]) => [title, tabs.filter(([id]) => isOffered(id))]);
}
function createViews(context) {
  const { store, prefix } = context;
  const panel = el("div", { class: "pe-panel", role: "tabpanel", id: `${prefix}-panel` });
  const tabs = createTabs(context, panel);
  const element = el(
    "section",
    { class: "pe-pane pe-pane-view", "aria-label": "View" },
    ...tabs.elements
  );
  const made = new Map();
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
        if (pane !== shown) missed.set(pane, new Set([...missed.get(pane) ?? [], ...changed]));
      }
      shown.update(new Set([...missed.get(shown) ?? [], ...changed]));
      missed.delete(shown);
    },
    dispose() {
      tabs.dispose();
      for (const pane of made.values()) pane.dispose?.();
    }
  };
}
function createTabs({ store, prefix, channel, groups }, panel) {
  const last = remembered("sessionStorage", "tabs") ?? {};
  const strip = tabList(
    "Groups of views",
    { prefix: `${prefix}-group`, panel: `${prefix}-views` },
    groups.map(([title]) => [title, title]),
    (title) => {
      const tabs = groups.find(([name2]) => name2 === title)?.[1] ?? [];
      store.set({ tab: (tabs.find(([id]) => id === last[title]) ?? tabs[0])[0] });
    }
  );
  const lists = groups.map(
    ([title, tabs]) => tabList(
      `Views: ${title}`,
      { prefix: `${prefix}-tab`, panel: panel.id },
      tabs,
      (tab) => store.set({ tab })
    )
  );
  const views = el(
    "div",
    { class: "pe-group", role: "tabpanel", id: `${prefix}-views` },
    ...lists.map(({ element }) => element),
    panel
  );
  const badge = el("span", { class: "pe-badge", hidden: true });
  const ofHealth = groups.find(([, tabs]) => tabs.some(([id]) => id === "health"));
  if (ofHealth) strip.tabs.get(ofHealth[0])?.append(badge);
  const count = whenQuiet(async () => {
    const { selected } = store.get();
    const found = await channel.latest("findings", "findings", { snapshot: selected }).catch(() => {
    });
    if (!found || selected !== store.get().selected) return;
    const { total, words, worst } = found.body;
    badge.hidden = total === void 0;
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
    }
  };
}
function tabList(label, { prefix, panel }, items, open) {
  const element = el("div", { class: "pe-tabs", role: "tablist", "aria-label": label });
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
    if (to === void 0) return;
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
    }
  };
}

// src/file_lifetimes.js
var SCANNED = ["added", "removed", "size", "rows", "level", "files"];
var MOST_LEVELS = 256;
var FileLifetimes = class {
  #found;
  #order;
  #key = "";
  #descending = false;
  #uses = 0;
  /** @type {Columns} */
  #scanned = {};
  /**
   * @param {Columns} columns  added, removed, size, rows, level, bucket, partition, created, schema
   * @param {string[]} partitions  in sorting order, indexed by `partition`
   * @param {number} snapshots  length of the timeline
   */
  constructor(columns, partitions, snapshots) {
    this.columns = columns;
    this.partitions = partitions;
    this.count = columns.added.length;
    this.snapshots = snapshots;
    this.#found = new Uint32Array(this.count);
    this.#order = rowNumbers(this.count);
    this.#scanned = this.#columnsToScan((values) => values);
  }
  /**
   * Set the order of later selections.
   * @param {string} key  a column
   * @param {boolean} descending
   */
  sort(key, descending) {
    if (key === this.#key && descending === this.#descending || !this.columns[key]) return;
    this.#key = key;
    this.#descending = descending;
    this.#uses = 0;
    this.#order = rowNumbers(this.count);
    this.#scanned = this.#columnsToScan((values) => values);
  }
  /** Sort all files, so that selections find theirs in order. */
  #sortAll() {
    this.#order = sortedRows(this.columns[this.#key], this.#descending);
    this.#scanned = this.#columnsToScan((values) => permuted(values, this.#order));
  }
  /** @param {(values: NumberColumn) => NumberColumn} arranged */
  #columnsToScan(arranged) {
    const { columns } = this;
    const names = SCANNED.filter((name2) => columns[name2]);
    return Object.fromEntries(names.map((name2) => [name2, arranged(columns[name2])]));
  }
  /**
   * The files of one snapshot. The first selection in an order sorts what it found, the second sorts
   * all files.
   * @param {number} position
   * @param {Scope} scope
   * @param {Uint8Array | undefined} mask  one byte per row, 0 leaves it out
   * @returns {Selection}
   */
  select(position, scope, mask) {
    this.#uses += 1;
    if (this.#key && this.#uses === 2) this.#sortAll();
    const { added, removed, size, rows, level, files: weights } = this.#scanned;
    const order = this.#order;
    const found = this.#found;
    const levels = new Uint32Array(MOST_LEVELS);
    const at = position + 1;
    const live = scope === "live";
    const edge = scope === "added" ? added : removed;
    let count = 0;
    let files = 0;
    let bytes = 0;
    let total = 0;
    for (let i = 0; i < order.length; i++) {
      if (live ? added[i] > at || removed[i] <= at : edge[i] !== at) continue;
      if (mask !== void 0 && mask[order[i]] === 0) continue;
      found[count++] = order[i];
      const weight = weights ? weights[i] : 1;
      files += weight;
      bytes += size[i];
      total += rows[i];
      levels[level[i] & MOST_LEVELS - 1] += weight;
    }
    return {
      rows: this.#key && this.#uses === 1 ? this.#sorted(count) : found.subarray(0, count),
      sum: { files, bytes, rows: total },
      levels: [...levels.entries()].filter(([, count2]) => count2 > 0)
    };
  }
  /**
   * The first found rows in sorting order.
   * @param {number} count
   */
  #sorted(count) {
    const rows = this.#found.subarray(0, count);
    const values = this.columns[this.#key];
    const found = values.slice(0, count);
    for (let i = 0; i < count; i++) found[i] = values[rows[i]];
    return permuted(rows, sortedRows(found, this.#descending));
  }
  /**
   * What each snapshot added and removed.
   * @param {Iterable<number>} [unknown]  positions whose files are not known
   * @param {ArrayLike<number>} [deltas]  what their snapshots say of rows
   * @returns {{added: Record<keyof Sum, Float64Array>, removed: Record<keyof Sum, Float64Array>}}
   */
  changes(unknown = [], deltas = []) {
    const make = () => ({
      files: new Float64Array(this.snapshots),
      bytes: new Float64Array(this.snapshots),
      rows: new Float64Array(this.snapshots)
    });
    const result = { added: make(), removed: make() };
    const { added, removed } = this.columns;
    tally(result.added, added, this.columns);
    tally(result.removed, removed, this.columns);
    for (const at of unknown) {
      result.added.rows[at] = Math.max(deltas[at], 0);
      result.removed.rows[at] = Math.max(-deltas[at], 0);
    }
    return result;
  }
};
function tally(sums, positions, { size: sizes, rows: counts, files: weights }) {
  const { files, bytes, rows } = sums;
  const most = files.length;
  for (let row = 0; row < positions.length; row++) {
    const position = positions[row] - 1;
    if (position < 0 || position >= most) continue;
    files[position] += weights ? weights[row] : 1;
    bytes[position] += sizes[row];
    rows[position] += counts[row];
  }
}
var DIGIT = 2 ** 16;
function rowNumbers(count) {
  const rows = new Uint32Array(count);
  for (let row = 1; row < count; row++) rows[row] = row;
  return rows;
}
function sortedRows(values, descending) {
  const count = values.length;
  let least = Infinity;
  let most = -Infinity;
  for (let row = 0; row < count; row++) {
    const value = values[row];
    if (value < least) least = value;
    if (value > most) most = value;
  }
  let rows = rowNumbers(count);
  if (!(most > least)) return rows;
  let next = new Uint32Array(count);
  const digits = new Uint16Array(count);
  for (let unit = 1; unit <= most - least; unit *= DIGIT) {
    const range = Math.min(DIGIT, Math.floor((most - least) / unit) + 1);
    const places = new Uint32Array(range + 1);
    for (let row = 0; row < count; row++) {
      const height = descending ? most - values[row] : values[row] - least;
      const digit = unit === 1 && most - least < DIGIT ? height : Math.floor(height / unit) % DIGIT;
      digits[row] = digit;
      places[digit + 1] += 1;
    }
    for (let digit = 0; digit < range; digit++) places[digit + 1] += places[digit];
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      next[places[digits[row]]++] = row;
    }
    [rows, next] = [next, rows];
  }
  return rows;
}
function permuted(values, order) {
  const copy = values.slice();
  for (let i = 0; i < order.length; i++) copy[i] = values[order[i]];
  return copy;
}

// src/selection_store.js
var TRAITS = [
  "selected",
  "compare",
  "node",
  "filter",
  "where",
  "tab",
  "asked",
  "code",
  "spark_code",
  "height",
  "live"
];
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

// src/snapshot_columns.js
var KINDS2 = [
  { token: "APPEND", letter: "A", colour: "append" },
  { token: "COMPACT", letter: "C", colour: "compact" },
  { token: "OVERWRITE", letter: "O", colour: "overwrite" },
  { token: "ANALYZE", letter: "Z", colour: "analyze" },
  { token: "unreadable", letter: "!", colour: "unknown" }
];
var UNREADABLE = 1;
var EXPIRED = 2;
var SAME_COMMIT = 4;
var WATERMARK = 8;
var History = class _History {
  /** Ids of the snapshots that came while the table was followed, for a moment. @type {Set<number>} */
  fresh = new Set();
  /** How far their marks still are from their places, in pixels. */
  slide = 0;
  /** @param {Answer} answer */
  constructor({ body, columns }) {
    this.table = body.table;
    this.version = body.version ?? 0;
    this.ids = columns.id;
    this.times = columns.time;
    this.kinds = columns.kind;
    this.states = columns.state;
    this.schemas = columns.schema;
    this.totalRows = columns.total_rows;
    this.deltaRows = columns.delta_rows;
    this.changelogRows = columns.changelog_rows;
    this.userIndex = columns.user;
    this.watermarks = columns.watermark;
    this.users = decodeTexts(columns.user_text, columns.user_end);
    this.pointers = body.flags;
    this.count = this.ids.length;
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < this.count; i++) {
      const value = this.watermark(i) ?? low;
      low = Math.min(low, value);
      high = Math.max(high, this.watermark(i) ?? high);
    }
    this.watermarkRange = { low, high };
    this.hasWatermark = low <= high;
  }
  /**
   * Take over a newer timeline; snapshots that were not here before are fresh.
   * @param {Answer} answer
   */
  load(answer) {
    const known = new Set(this.ids);
    Object.assign(this, new _History(answer));
    const { added = [] } = answer.body;
    this.fresh = new Set([...this.ids].filter((id) => !known.has(id) || added.includes(id)));
  }
  /**
   * @param {number} id
   * @returns {number} index in the timeline, -1 when it is not there
   */
  positionOf(id) {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = low + high >> 1;
      if (this.ids[middle] === id) return middle;
      if (this.ids[middle] < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
  /** @param {number} position */
  kind(position) {
    return KINDS2[this.kinds[position]] ?? KINDS2[KINDS2.length - 1];
  }
  /** @param {number} position */
  unreadable(position) {
    return (this.states[position] & UNREADABLE) !== 0;
  }
  /**
   * Whether only a tag still holds the snapshot.
   * @param {number} position
   */
  expired(position) {
    return (this.states[position] & EXPIRED) !== 0;
  }
  /**
   * Whether the snapshot before it comes from the same commit: rows appended, then compacted.
   * @param {number} position
   */
  sameCommit(position) {
    return (this.states[position] & SAME_COMMIT) !== 0;
  }
  /**
   * Epoch milliseconds; undefined for none.
   * @param {number} position
   */
  watermark(position) {
    return this.states[position] & WATERMARK ? this.watermarks[position] : void 0;
  }
  /** @param {number} position */
  user(position) {
    return this.users[this.userIndex[position]] ?? "";
  }
  /**
   * Whether ids are missing between a mark and the one before it.
   * @param {number} position
   */
  gapBefore(position) {
    return position > 0 && this.ids[position] !== this.ids[position - 1] + 1;
  }
  /**
   * Tags, branches, consumers and hints at their marks; those that point past the end stand at the last.
   * @returns {Flag[]}
   */
  flags() {
    const last = this.count - 1;
    return this.pointers.flatMap(({ kind, name: name2, snapshot }) => {
      const found = this.positionOf(snapshot);
      const position = found < 0 && snapshot > this.ids[last] ? last : found;
      return position < 0 ? [] : [{ kind, name: name2, position }];
    });
  }
};

// src/snapshot_stepper.js
var PLAY_MILLIS = 700;
function createSteps(context) {
  const { store, history } = context;
  const step = (by) => () => context.step(by);
  const first = button("«", "First snapshot", () => context.moveTo(0));
  const previous = button("‹", "Previous snapshot", step(-1));
  const next = button("›", "Next snapshot", step(1));
  const last = button("»", "Last snapshot", () => context.moveTo(history.count - 1));
  let timer = 0;
  const play = button("▶", "Play the snapshots in order", () => {
    if (timer) stop();
    else start2();
  });
  const start2 = () => {
    if (store.get().position >= history.count - 1) context.moveTo(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      if (store.get().position >= history.count - 1) stop();
      else context.step(1);
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };
  const update = () => {
    const { position } = store.get();
    play.disabled = history.count < 2;
    first.disabled = previous.disabled = position <= 0;
    next.disabled = last.disabled = position >= history.count - 1;
  };
  update();
  const group = el(
    "div",
    { class: "pe-steps", role: "group", "aria-label": "Move to another snapshot" },
    first,
    previous,
    play,
    next,
    last
  );
  return {
    element: group,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("position")) update();
    },
    dispose: stop
  };
}

// src/theme.js
var { readColours, isDark, watchTheme } = peShared;

// src/query_history.js
var HEIGHT = 24;
var valueText = (value) => value === null ? "no value" : value.toLocaleString("en", { maximumSignificantDigits: Number.isInteger(value) ? 17 : 15 });
function caption({ count, first, last, more, left_out, note }) {
  const names = left_out.map((name2) => visible(cut(name2, 40))).join(", ");
  const rest = more > left_out.length ? ", …" : "";
  return [
    `Query at ${plural(count, "snapshot")}${count ? `, ${first} to ${last}` : ""}.`,
    more ? `${plural(more, "more line")} not drawn: ${names}${rest}.` : "",
    visible(note)
  ].filter(Boolean).join(" ");
}
function createQueryHistory({ store, history, moveTo, prefix }) {
  const element = el("section", { class: "pe-query", "aria-label": "Query history", hidden: true });
  let layout;
  let marks = [];
  const drawLine = (line2, number, end, { centres, pitch, total }) => {
    const name2 = visible(cut(line2.name, 60));
    const known = line2.steps.flatMap(([, value]) => value === null ? [] : [value]);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const range = known.length ? `${valueText(low)} to ${valueText(high)}` : valueText(null);
    const steps = line2.steps.map(([snapshot, value]) => ({ value, position: history.positionOf(snapshot) })).filter(({ position }) => position >= 0);
    const options = steps.map(({ value, position }, at) => {
      const next = steps[at + 1];
      const left = centres[position] - pitch / 2;
      const right = next ? centres[next.position] - pitch / 2 : centres[end] + pitch / 2;
      const kind = history.kind(position).token;
      const says = `${valueText(value)} since snapshot ${history.ids[position]} ${kind}, ${formatTime(history.times[position])}`;
      const bar = el("i");
      const share = value === null || high === low ? 0.5 : (value - low) / (high - low);
      bar.style.height = value === null ? "0" : `${2 + share * (HEIGHT - 6)}px`;
      const option = el(
        "div",
        { role: "option", id: `${prefix}-query-${number}-${at}`, title: says, "aria-label": says },
        bar,
        el("span", {}, valueText(value))
      );
      option.style.left = `${left}px`;
      option.style.width = `${right - left}px`;
      return option;
    });
    const now = el("b", { "aria-hidden": "true" });
    const strip = el("div", { class: "pe-query-strip", role: "presentation" }, ...options, now);
    strip.style.width = `${total}px`;
    const list = el(
      "div",
      {
        class: "pe-query-line",
        role: "listbox",
        tabindex: "0",
        "aria-orientation": "horizontal",
        "aria-label": `${name2}, ${range}, ${plural(Math.max(options.length - 1, 0), "change")}`
      },
      strip
    );
    const current = () => {
      const { position } = store.get();
      if (position > end) return steps.length;
      return steps.findLastIndex((step) => step.position <= position);
    };
    const mark = () => {
      const { position } = store.get();
      const at = current();
      options.forEach((option, i) => void attribute(option, "aria-selected", String(i === at)));
      attribute(list, "aria-activedescendant", options[at]?.id);
      now.hidden = position < 0;
      now.style.left = `${centres[position] - 1}px`;
    };
    const go = (at) => {
      if (steps[at]) moveTo(steps[at].position);
    };
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      go(options.indexOf(option));
    });
    list.addEventListener("keydown", (event) => {
      const at = current();
      const to = {
        ArrowLeft: at - 1,
        ArrowRight: at + 1,
        Enter: at,
        Home: 0,
        End: steps.length - 1
      }[event.key];
      if (to === void 0) return;
      go(to);
      event.preventDefault();
      event.stopPropagation();
    });
    mark();
    marks.push(mark);
    const label = el("div", { class: "pe-query-name", "aria-hidden": "true" }, name2);
    label.append(el("span", { class: "pe-muted" }, ` ${range}`));
    return [label, list];
  };
  const draw = () => {
    const shown = store.get().queryHistory;
    marks = [];
    element.hidden = !shown;
    fill(element);
    if (!shown || !layout) return;
    const places = layout;
    const end = Math.max(history.positionOf(shown.last), 0);
    const close = () => store.set({ queryHistory: void 0 });
    fill(
      element,
      el(
        "div",
        { class: "pe-query-head" },
        el("span", {}, caption(shown)),
        button("×", "Close the history of the query", close)
      ),
      ...shown.lines.flatMap((line2, number) => drawLine(line2, number, end, places))
    );
  };
  return {
    element,
    /** @param {TimelineLayout} found */
    place(found) {
      layout = found;
      draw();
    },
    /** @param {number} offset  of the visible part of the timeline */
    scroll(offset) {
      element.style.setProperty("--pe-offset", `${-offset}px`);
    },
    /** @param {Set<string>} changed */
    update(changed) {
      if (changed.has("queryHistory")) draw();
      else if (changed.has("position")) for (const mark of marks) mark();
    }
  };
}

// src/timeline_lanes.js
var LANE = 17;
var MOST_USERS = 4;
var MOST_READERS = 3;
var LABEL = 20;
function lanesOf(history, { writers, readers }) {
  return [...writers ? writersOf(history) : [], ...readers ? readersOf(history) : []];
}
function writersOf(history) {
  const commits = history.users.map(() => 0);
  for (let i = 0; i < history.count; i++) {
    if (!history.unreadable(i)) commits[history.userIndex[i]] += 1;
  }
  const users = [...commits.keys()].sort((a, b) => commits[b] - commits[a]);
  const shared = users.length > MOST_USERS ? users.slice(MOST_USERS - 1) : [];
  const lanes = users.slice(0, users.length - shared.length).map((user) => ({ kind: "writer", label: name(history.users[user]), users: new Set([user]) }));
  if (shared.length) {
    lanes.push({ kind: "writer", label: `${shared.length} more users`, users: new Set(shared) });
  }
  return lanes;
}
function readersOf(history) {
  const last = history.ids[history.count - 1];
  const found = history.pointers.filter(({ kind }) => kind === "consumer");
  const lanes = found.slice(0, MOST_READERS).map(({ name: who, snapshot }) => {
    let next = 0;
    while (next < history.count && history.ids[next] < snapshot) next++;
    const behind = Math.max(last - snapshot + 1, 0);
    return { kind: "consumer", label: `${name(who)}: ${plural(behind, "snapshot")} behind`, next };
  });
  if (history.hasWatermark) lanes.push({ kind: "watermark", label: "watermark" });
  return lanes;
}
function usefulLanes(history) {
  const users = history.users.length;
  return {
    writers: users > 1 && users <= MOST_READERS && history.count > 2 * users,
    readers: readersOf(history).length > 0
  };
}
function name(text) {
  const shown = visible(text);
  return shown.length > LABEL ? `${shown.slice(0, LABEL - 1)}…` : shown;
}
function drawLanes(context, scene, top, seen, shape2) {
  const { lanes, layout, offset, colours, font, selected } = scene;
  lanes.forEach((lane, at) => {
    const y = top + at * LANE + LANE / 2;
    context.fillStyle = colours.line;
    context.fillRect(offset, y - 0.5, layout.width, 1);
    if (lane.kind === "writer") drawWriter(context, scene, lane, y, seen, shape2);
    else if (lane.kind === "consumer") drawConsumer(context, scene, lane, y);
    else drawWatermark(context, scene, y, seen);
  });
  if (!lanes.length) return;
  context.fillStyle = colours.accent;
  if (selected >= 0) {
    context.globalAlpha = 0.5;
    context.fillRect(layout.centres[selected] - 0.5, top, 1, lanes.length * LANE);
    context.globalAlpha = 1;
  }
  context.fillStyle = colours.bg;
  context.fillRect(offset, top, layout.gutter, lanes.length * LANE);
  context.font = `11px ${font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.muted;
  lanes.forEach(({ label }, at) => {
    context.fillText(label, offset, top + at * LANE + LANE / 2 + 0.5);
  });
}
function drawWriter(context, { history, layout, colours }, lane, y, [first, last], shape2) {
  for (let i = first; i <= last; i++) {
    if (history.unreadable(i) || !lane.users?.has(history.userIndex[i])) continue;
    const { letter, colour } = history.kind(i);
    context.fillStyle = colours[colour];
    if (history.sameCommit(i)) {
      const from = layout.centres[i - 1];
      context.fillRect(from, y - 1.5, layout.centres[i] - from, 3);
    }
    shape2(letter, layout.centres[i], y, 3.5);
    context.fill();
  }
}
function drawConsumer(context, { history, layout, colours }, { next = 0 }, y) {
  const half = layout.pitch / 2;
  const start2 = layout.centres[0] - half;
  const end = layout.centres[history.count - 1] + half;
  const edge = next ? layout.centres[next - 1] + half : start2;
  context.fillStyle = colours.consumer;
  context.strokeStyle = colours.consumer;
  context.lineWidth = 1;
  context.fillRect(start2, y - 3, edge - start2, 6);
  if (end > edge) context.strokeRect(edge + 0.5, y - 2.5, end - edge - 1, 5);
}
function drawWatermark(context, { history, layout, colours }, y, [first, last]) {
  const { low, high } = history.watermarkRange;
  context.strokeStyle = colours.tag;
  context.lineWidth = 2;
  context.beginPath();
  let drawn = false;
  for (let i = first; i <= last; i++) {
    const value = history.watermark(i);
    const half = layout.pitch / 2;
    if (value !== void 0) {
      const level = y + 5 - (high > low ? 10 * (value - low) / (high - low) : 5);
      if (drawn) context.lineTo(layout.centres[i] - half, level);
      else context.moveTo(layout.centres[i] - half, level);
      context.lineTo(layout.centres[i] + half, level);
    }
    drawn = value !== void 0;
  }
  context.stroke();
}
function laneWords(history, position) {
  const words = [`commit user ${visible(history.user(position))}`];
  if (history.sameCommit(position))
    words.push(`same commit as snapshot ${history.ids[position - 1]}`);
  const value = history.watermark(position);
  if (value !== void 0) words.push(`watermark ${formatTime(value)}`);
  return words;
}

// src/timeline_layout.js
var MARK_MIN = 15;
var MARK_MAX = 46;
var EDGE = 14;
function layoutTimeline({ count, width, axis, times, gutter = 0 }) {
  const edge = EDGE + gutter;
  const room = Math.max(width - EDGE - edge, 1);
  const pitch = Math.min(Math.max(room / Math.max(count, 1), MARK_MIN), MARK_MAX);
  const centres = new Float64Array(count);
  if (axis === "time" && count > 1 && times[count - 1] > times[0]) {
    placeByTime(centres, times, room, edge);
  } else {
    for (let i = 0; i < count; i++) centres[i] = edge + (i + 0.5) * pitch;
  }
  const total = count ? Math.max(centres[count - 1] + pitch / 2 + EDGE, width) : width;
  return { centres, pitch: axis === "time" ? MARK_MIN : pitch, total, width, gutter };
}
function placeByTime(centres, times, room, edge) {
  const last = centres.length - 1;
  const start2 = edge + MARK_MIN / 2;
  const length = Math.max(room, centres.length * MARK_MIN) - MARK_MIN;
  const span = times[last] - times[0];
  let least = -Infinity;
  for (let i = 0; i <= last; i++) {
    const share = clamp((times[i] - times[0]) / span, 0, 1);
    centres[i] = Math.max(start2 + share * length, least);
    least = centres[i] + MARK_MIN;
  }
  let most = start2 + length;
  for (let i = last; i >= 0; i--) {
    centres[i] = Math.min(centres[i], most);
    most = centres[i] - MARK_MIN;
  }
}
function offsetFor(layout, position, offset) {
  const most = Math.max(layout.total - layout.width, 0);
  if (position < 0 || position >= layout.centres.length) return clamp(offset, 0, most);
  const centre = layout.centres[position];
  const margin = Math.min(80, layout.width / 4);
  const left = margin + layout.gutter;
  if (centre < offset + left) return clamp(centre - left, 0, most);
  if (centre > offset + layout.width - margin) {
    return clamp(centre - layout.width + margin, 0, most);
  }
  return clamp(offset, 0, most);
}
function markAt(layout, x) {
  const { centres } = layout;
  let low = 0;
  let high = centres.length - 1;
  if (high < 0) return -1;
  while (low < high) {
    const middle = low + high >> 1;
    if (centres[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - centres[low - 1] < centres[low] - x ? low - 1 : low;
}
function visibleMarks(layout, offset) {
  if (!layout.centres.length) return [0, -1];
  const first = markAt(layout, offset - layout.pitch);
  const last = markAt(layout, offset + layout.width + layout.pitch);
  return [first, last];
}
function placeFlags(flags, layout, measure, lanes) {
  const starts = new Array(lanes).fill(Infinity);
  const placed = [];
  let hidden = 0;
  const ordered = [...flags].sort((left, right) => right.position - left.position);
  for (const flag of ordered) {
    const x = layout.centres[flag.position];
    const text = flag.name.length > 24 ? `${flag.name.slice(0, 23)}…` : flag.name;
    const width = measure(text) + 16;
    const left = x + width > layout.total ? x - width + 4 : x;
    const lane = starts.findIndex((start2) => left + width + 4 <= start2);
    if (lane < 0 || left < 0) {
      hidden += 1;
      continue;
    }
    starts[lane] = left;
    placed.push({ ...flag, x, left, width, lane, text });
  }
  return { placed, hidden };
}
function clamp(value, least, most) {
  return Math.min(Math.max(value, least), most);
}

// src/timeline_draw.js
var BASE = 38;
var UP = 32;
var DOWN = 14;
var MARK_Y = BASE + DOWN + 11;
var LABEL_Y = MARK_Y + 19;
var FLAGS_Y = LABEL_Y + 9;
var LANE2 = 18;
var LANES = 3;
var OVERVIEW = 14;
function sceneHeight(layout, flags, lanes) {
  return FLAGS_Y + flags * LANE2 + lanes * LANE + (scrolls(layout) ? OVERVIEW + 6 : 2);
}
function scrolls(layout) {
  return layout.total > layout.width + 0.5;
}
function inOverview(layout, y, height) {
  return scrolls(layout) && y > height - OVERVIEW - 4;
}
function arrangeFlags(context, scene) {
  context.font = `11px ${scene.font}`;
  const shown = scene.flags.map((flag) => ({ ...flag, name: visible(flag.name) }));
  const result = placeFlags(shown, scene.layout, (text) => context.measureText(text).width, LANES);
  const lanes = result.placed.reduce((most, flag) => Math.max(most, flag.lane + 1), 0);
  return { ...result, lanes };
}
function drawTimeline(context, scene, flags, height) {
  const { layout, offset, colours } = scene;
  context.clearRect(0, 0, layout.width, height);
  context.save();
  context.translate(-offset, 0);
  drawCursor(context, scene, height);
  line(context, colours.line, offset, BASE + 0.5, offset + layout.width);
  const [first, last] = visibleMarks(layout, offset);
  for (const draw of [drawBars, drawMark]) {
    for (let i = first; i <= last; i++) {
      const by = scene.history.fresh.has(scene.history.ids[i]) ? scene.history.slide : 0;
      context.translate(by, 0);
      draw(context, scene, i);
      context.translate(-by, 0);
    }
  }
  drawLabels(context, scene, first, last);
  for (const flag of flags.placed) drawFlag(context, scene, flag);
  const top = FLAGS_Y + flags.lanes * LANE2 + 2;
  drawLanes(context, scene, top, [first, last], (letter, x, y, r) => {
    shape(context, letter, x, y, r);
  });
  context.restore();
  if (scrolls(layout)) drawOverview(context, scene, height);
}
function line(context, colour, x, y, end) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(end, y);
  context.stroke();
}
function drawCursor(context, { layout, selected, compare, hover, colours }, height) {
  const bottom = LABEL_Y + 6;
  const column = (position, colour, alpha) => {
    if (position < 0 || position >= layout.centres.length) return;
    const width = Math.min(layout.pitch, 30);
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.beginPath();
    context.roundRect(
      layout.centres[position] - width / 2,
      1,
      width,
      Math.min(bottom, height) - 1,
      4
    );
    context.fill();
    context.globalAlpha = 1;
  };
  if (hover !== selected) column(hover, colours.muted, 0.12);
  column(compare, colours.overwrite, 0.2);
  column(selected, colours.select, 1);
}
function drawBars(context, { history, layout, up, down, peak, colours }, i) {
  if (!peak) return;
  const width = Math.max(Math.min(layout.pitch * 0.5, 18), 3);
  const x = layout.centres[i] - width / 2;
  const height = up[i] > 0 ? Math.max(Math.sqrt(up[i] / peak) * UP, 1.5) : 0;
  const depth = down[i] > 0 ? Math.max(Math.sqrt(down[i] / peak) * DOWN, 1.5) : 0;
  context.fillStyle = colours[history.kind(i).colour];
  context.fillRect(x, BASE - height, width, height);
  context.globalAlpha = 0.45;
  context.fillRect(x, BASE + 1, width, depth);
  context.globalAlpha = 1;
}
function drawMark(context, { history, layout, selected, colours, font }, i) {
  const { letter, colour } = history.kind(i);
  const x = layout.centres[i];
  const radius = 6.5;
  shape(context, letter, x, MARK_Y, radius);
  const hollow = history.expired(i);
  if (hollow) {
    context.lineWidth = 1.5;
    context.strokeStyle = colours[colour];
    context.stroke();
  } else {
    context.fillStyle = colours[colour];
    context.fill();
  }
  context.fillStyle = hollow ? colours[colour] : colours.bg;
  context.font = `600 9px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(letter, x, MARK_Y + (letter === "O" ? 1.2 : 0.5));
  if (history.fresh.has(history.ids[i])) {
    context.strokeStyle = colours.add;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, MARK_Y, 10, 0, Math.PI * 2);
    context.stroke();
  }
  if (history.gapBefore(i)) drawGap(context, (layout.centres[i - 1] + x) / 2, colours.muted);
  if (i !== selected) return;
  context.strokeStyle = colours.accent;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 7, LABEL_Y + 7);
  context.lineTo(x + 7, LABEL_Y + 7);
  context.stroke();
}
function shape(context, letter, x, y, r) {
  context.beginPath();
  if (letter === "A") context.arc(x, y, r, 0, Math.PI * 2);
  else if (letter === "C") context.roundRect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1, 2);
  else {
    const points = letter === "O" ? [x, y - r - 1.5, x + r + 1.5, y + r - 0.5, x - r - 1.5, y + r - 0.5] : [x, y - r - 1.5, x + r + 1.5, y, x, y + r + 1.5, x - r - 1.5, y];
    for (let i = 0; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
    context.closePath();
  }
}
function drawGap(context, x, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  for (const dx of [-1.5, 1.5]) {
    context.moveTo(x + dx + 1, MARK_Y - 6);
    context.lineTo(x + dx - 1, MARK_Y + 6);
  }
  context.stroke();
}
function drawLabels(context, scene, first, last) {
  const { history, layout, offset, selected, axis, colours, font } = scene;
  context.font = `11px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const { centres } = layout;
  const label = (i) => axis === "time" ? formatTime(history.times[i], { seconds: false }).slice(5) : String(history.ids[i]);
  let taken = [Infinity, -Infinity];
  const write = (i, colour) => {
    context.fillStyle = colour;
    const half = context.measureText(label(i)).width / 2;
    context.fillText(label(i), clamp(centres[i], half, layout.total - half), LABEL_Y);
  };
  if (selected >= first && selected <= last) {
    const half = context.measureText(label(selected)).width / 2 + 8;
    taken = [centres[selected] - half, centres[selected] + half];
    context.font = `600 11px ${font}`;
    write(selected, colours.fg);
    context.font = `11px ${font}`;
  }
  const step = Math.max(Math.ceil((axis === "time" ? 84 : 44) / layout.pitch), 1);
  let end = -Infinity;
  for (let i = first - first % step; i <= last; i += step) {
    if (i < 0 || i === selected) continue;
    const half = context.measureText(label(i)).width / 2 + 4;
    const [left, right] = [centres[i] - half, centres[i] + half];
    if (left < Math.max(end, offset) || right > taken[0] && left < taken[1]) continue;
    write(i, colours.muted);
    end = right;
  }
}
function drawFlag(context, { colours, font }, { kind, text, x, left, width, lane }) {
  const top = FLAGS_Y + lane * LANE2 + 2;
  const colour = colours[kind] ?? colours.muted;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x + 0.5, LABEL_Y + 9);
  context.lineTo(x + 0.5, top + 14);
  context.stroke();
  context.globalAlpha = 0.16;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(left, top, width - 4, 14, left < x ? [4, 0, 0, 4] : [0, 4, 4, 0]);
  context.fill();
  context.globalAlpha = 1;
  context.font = `11px ${font}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.fg;
  context.fillText(text, left + 6, top + 7.5);
}
function drawOverview(context, { history, layout, offset, up, peak, selected, colours }, height) {
  const top = height - OVERVIEW - 1;
  const scale = layout.width / layout.total;
  context.globalAlpha = 0.08;
  context.fillStyle = colours.fg;
  context.fillRect(0, top, layout.width, OVERVIEW);
  context.globalAlpha = 0.85;
  const width = Math.max(scale * layout.pitch * 0.6, 1);
  for (let i = 0; i < history.count; i++) {
    const tall = 3 + (peak ? Math.sqrt(Math.max(up[i], 0) / peak) : 0) * (OVERVIEW - 4);
    context.fillStyle = colours[history.kind(i).colour];
    context.fillRect(layout.centres[i] * scale - width / 2, top + OVERVIEW - tall, width, tall);
  }
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(offset * scale + 0.75, top - 0.25, layout.width * scale - 1.5, OVERVIEW, 3);
  context.stroke();
  if (selected < 0) return;
  context.fillStyle = colours.accent;
  context.fillRect(layout.centres[selected] * scale - 1, top, 2, OVERVIEW);
}

// src/timeline.js
var DRAWN = [
  "position",
  "compare",
  "metric",
  "axis",
  "writers",
  "readers",
  "lifetimes",
  "theme",
  "fresh"
];
function createTimeline(context) {
  const { store, history } = context;
  const canvas = el("canvas", {
    class: "pe-timeline-canvas",
    role: "slider",
    tabindex: "0",
    "aria-label": "Snapshot",
    "aria-orientation": "horizontal"
  });
  const paint = canvas.getContext("2d");
  const tip = el("div", { class: "pe-tip", hidden: true, "aria-hidden": "true" });
  const query = createQueryHistory(context);
  const frame = el("div", { class: "pe-timeline-frame" }, canvas, tip, query.element);
  const controls = createControls(context);
  const element = el(
    "section",
    { class: "pe-timeline", "aria-label": "Timeline" },
    controls.element,
    frame
  );
  let flags = history.flags();
  let lanes = [];
  let offset = Number.POSITIVE_INFINITY;
  let hover = -1;
  let width = 0;
  let height = 0;
  let layout = layoutTimeline({ count: 0, width: 1, axis: "id", times: [] });
  let arranged;
  let bars = context.bars();
  const scene = () => {
    const { position, axis, compare } = store.get();
    return {
      history,
      layout,
      offset,
      hover,
      axis,
      flags,
      lanes,
      ...bars,
      selected: position,
      compare: compare ? history.positionOf(compare) : -1,
      colours: context.colours(),
      font: context.colours().font
    };
  };
  const draw = perFrame(() => {
    if (width <= 0 || !arranged) return;
    drawTimeline(paint, scene(), arranged, height);
    query.scroll(offset);
  });
  const relayout = () => {
    const { axis, position, writers, readers } = store.get();
    lanes = lanesOf(history, { writers, readers });
    flags = history.flags().filter(({ kind }) => !readers || kind !== "consumer");
    paint.font = `11px ${context.colours().font}`;
    const label = (most, lane) => Math.max(most, paint.measureText(lane.label).width + 8);
    const gutter = lanes.length && Math.ceil(lanes.reduce(label, 8));
    layout = layoutTimeline({ count: history.count, width, axis, times: history.times, gutter });
    offset = offsetFor(layout, position, offset);
    arranged = arrangeFlags(paint, scene());
    height = sceneHeight(layout, arranged.lanes, lanes.length);
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    controls.hint(bars.peak, arranged.hidden);
    query.place(layout);
    draw();
  };
  const describe = () => {
    const { position } = store.get();
    attribute(canvas, "aria-valuemin", history.count ? history.ids[0] : 0);
    attribute(canvas, "aria-valuemax", history.count ? history.ids[history.count - 1] : 0);
    attribute(canvas, "aria-valuenow", position < 0 ? 0 : history.ids[position]);
    attribute(canvas, "aria-valuetext", position < 0 ? "none" : mark(position).join(", "));
  };
  const mark = (position) => {
    const lines = [
      `snapshot ${history.ids[position]} ${history.kind(position).token}`,
      formatTime(history.times[position])
    ];
    if (history.unreadable(position)) return [lines[0]];
    if (history.expired(position)) lines.push("expired, kept by a tag");
    const delta = history.deltaRows[position];
    lines.push(`${delta < 0 ? "−" : "+"}${plural(Math.abs(delta), "row")}`);
    const changes = context.changes();
    if (changes) {
      lines.push(
        `+${formatCount(changes.added.files[position])} −${formatCount(changes.removed.files[position])} files`
      );
    }
    lines.push(...laneWords(history, position));
    for (const flag of history.flags()) {
      if (flag.position === position) lines.push(`${flag.kind} ${visible(flag.name)}`);
    }
    return lines;
  };
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const choose = (event) => {
    const { x, y } = place(event);
    const strip = inOverview(layout, y, height) ? x / width * layout.total : x + offset;
    context.moveTo(markAt(layout, strip));
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    choose(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) choose(event);
    const { x, y } = place(event);
    hover = inOverview(layout, y, height) ? -1 : markAt(layout, x + offset);
    showTip(hover < 0 ? [] : mark(hover), hover < 0 ? 0 : layout.centres[hover] - offset);
    draw();
  });
  canvas.addEventListener("pointerleave", () => {
    hover = -1;
    showTip([], 0);
    draw();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!scrolls(layout) || event.ctrlKey) return;
      const before = offset;
      const by = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
      offset = clamp(offset + by, 0, layout.total - layout.width);
      if (offset === before) return;
      event.preventDefault();
      draw();
    },
    { passive: false }
  );
  const showTip = (lines, x) => {
    tip.hidden = !lines.length;
    if (!lines.length) return;
    fill(tip, ...lines.map((text) => el("div", {}, text)));
    const room = width - tip.offsetWidth - 8;
    tip.style.left = `${clamp(x + 14, 4, Math.max(room, 4))}px`;
  };
  const rescale = () => {
    bars = context.bars();
    controls.hint(bars.peak, arranged?.hidden ?? 0);
  };
  const observer = new ResizeObserver(() => {
    const found = frame.clientWidth;
    if (found === width || found === 0) return;
    width = found;
    relayout();
  });
  observer.observe(frame);
  rescale();
  describe();
  return {
    element,
    focus: () => canvas.focus(),
    /** @param {Set<string>} changed */
    update(changed) {
      controls.update();
      query.update(changed);
      if (changed.has("metric") || changed.has("lifetimes")) rescale();
      if (["axis", "writers", "readers", "history"].some((name2) => changed.has(name2))) relayout();
      if (changed.has("position")) {
        offset = offsetFor(layout, store.get().position, offset);
        describe();
      }
      if (DRAWN.some((name2) => changed.has(name2))) draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      controls.dispose();
    }
  };
}
function createControls(context) {
  const { store } = context;
  const metric = segmented(
    "Bar height",
    [
      ["rows", "rows", "Rows added and removed"],
      ["bytes", "bytes", "Bytes of data files added and removed"],
      ["files", "files", "Data files added and removed"]
    ],
    (value) => store.set({ metric: value })
  );
  const live = createLiveSwitch(context);
  const update = () => {
    live.update();
    metric.press(store.get().metric);
  };
  update();
  const legend = el("div", { class: "pe-legend", "aria-hidden": "true" });
  for (const [token, letter] of [
    ["append", "A"],
    ["compact", "C"],
    ["overwrite", "O"],
    ["analyze", "Z"]
  ]) {
    legend.append(
      el("span", { class: "pe-legend-item", "data-kind": token }, `${letter} ${token}`)
    );
  }
  const note = el("div", { class: "pe-timeline-note" });
  const element = el(
    "div",
    { class: "pe-timeline-controls" },
    metric.element,
    ...live.elements,
    legend,
    note
  );
  const hint = (peak, hidden) => {
    const { metric: shown } = store.get();
    const highest = shown === "bytes" ? formatBytes(peak) : `${formatShort(peak)} ${shown}`;
    const parts = [
      peak ? `max ${highest}` : "",
      hidden ? `${plural(hidden, "reference")} hidden` : ""
    ];
    fill(note, parts.filter(Boolean).join(" · "));
  };
  return { element, update, hint, dispose: live.dispose };
}
function createLiveSwitch(context) {
  const { store } = context;
  const text = el("span", { class: "pe-live", role: "status" });
  const follow = () => store.set({ live: store.get().live ? 0 : 2 });
  const made = button("Live", "Follow the table: look for new snapshots every 2 seconds", follow);
  let part;
  let asked = false;
  let gone = false;
  const load = async () => {
    asked = true;
    try {
      const { create } = await loaded(context, "live");
      if (!gone) part = create(context, text);
    } catch (error) {
      fill(text, visible(failureOf(error).message));
      asked = false;
    }
  };
  return {
    elements: store.get().live === void 0 ? [] : [made, text],
    // a saved page cannot follow
    update() {
      const { live } = store.get();
      attribute(made, "aria-pressed", String(live > 0));
      if (live && !asked) load();
      part?.update();
    },
    dispose() {
      gone = true;
      part?.dispose();
    }
  };
}

// src/whole_text.js
var MOST = 2e3;
function showWhole({ target }) {
  if (!(target instanceof HTMLElement) || target.closest("[title]:not([data-whole])")) return;
  const whole = partlyShown(target);
  if (whole === null && !target.hasAttribute("data-whole")) return;
  attribute(target, "title", whole);
  attribute(target, "data-whole", whole !== null);
}
function partlyShown(element) {
  if (element instanceof HTMLInputElement) return element.value ? null : element.placeholder;
  if (element.scrollWidth <= element.clientWidth) return null;
  if (getComputedStyle(element).textOverflow !== "ellipsis") return null;
  return cut(element.textContent, MOST);
}

// src/explorer.js
var SYNC_MILLIS = 80;
var instances = 0;
function render({ model, el: place }) {
  const root = el("div", {
    class: "pe-explorer",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Paimon table explorer",
    tabindex: "-1"
  });
  setHeight(root, model.get("height"));
  fill(place, el("style", {}, explorer_default), root);
  fill(root, el("div", { class: "pe-empty" }, "Reading snapshots…"));
  const channel = new Channel(model);
  let close = () => {
  };
  let gone = false;
  channel.ask("open").then((answer) => {
    if (!gone) close = start(model, root, channel, answer);
  }).catch((error) => {
    fill(root, problem(failureOf(error)));
    attribute(root, "data-error", failureOf(error).kind);
    attribute(root, "data-ready", "1");
  });
  return () => {
    gone = true;
    close();
    channel.close();
  };
}
function setHeight(root, height) {
  const pixels = Number(height) || 0;
  if (pixels > 0) root.style.setProperty("--pe-height", `${clamp(pixels, 200, 4e3)}px`);
  else root.style.removeProperty("--pe-height");
}
function start(model, root, channel, opened) {
  const prefix = `pe${++instances}`;
  const history = new History(opened);
  const offers = (request) => model.recorded?.(request) ?? true;
  const groups = offeredGroups(opened.body.groups, offers);
  const store = createStore(initialState(model, history, groups));
  let files = {
    lifetimes: void 0,
    frame: -1,
    first: 0,
    last: -1,
    covered: 0,
    failure: void 0,
    unknown: new Set(),
    grouped: false,
    narrowed: false
  };
  let changes;
  let mask;
  let filterFailure;
  let stopped = false;
  const parts = [];
  const tell = (changed) => {
    for (const part of parts) part.update(changed);
  };
  let hints;
  let colours = {};
  const unwatch = watchTheme(root, (found) => {
    colours = found;
    tell(new Set(["theme"]));
  });
  const context = {
    store,
    history,
    channel,
    groups,
    prefix,
    root,
    offers,
    hints() {
      hints ??= channel.ask("hints", { snapshot: store.get().selected }).then(
        ({ body }) => body,
        () => ({ examples: {}, terms: [] })
        // fields and labels work without them
      );
      return hints;
    },
    files: () => files,
    changes: () => changes,
    mask: () => mask,
    filterFailure: () => filterFailure,
    colours: () => colours,
    bars() {
      const { metric } = store.get();
      if (changes) return withPeak(changes.added[metric], changes.removed[metric]);
      const none = new Float64Array(history.count);
      if (metric !== "rows") return withPeak(none, none);
      return withPeak(
        history.deltaRows,
        Float64Array.from(history.deltaRows, (rows) => -rows)
      );
    },
    moveTo(position) {
      if (!history.count) return;
      const to = clamp(position, 0, history.count - 1);
      store.set({ position: to, selected: history.ids[to], node: "", aside: "" });
    },
    step: (by) => context.moveTo(store.get().position + by),
    refresh: () => refresh(),
    act: (id) => acts[id](),
    focusView: () => views.focus(),
    tell,
    async goTo(text) {
      try {
        const answer = await channel.latest("resolve", "resolve", { text });
        if (!answer) return false;
        fill(notice);
        context.moveTo(history.positionOf(answer.body.snapshot));
        return true;
      } catch (error) {
        context.report(failureOf(error));
        return false;
      }
    },
    report(failure) {
      const item = el(
        "div",
        { class: "pe-notice-item" },
        problem(failure),
        button("×", "Dismiss", () => item.remove())
      );
      const equal = [...notice.children].find((other) => other.textContent === item.textContent);
      equal?.remove();
      notice.append(item);
      while (notice.children.length > 4) notice.children[0].remove();
    }
  };
  const notice = el("div", { class: "pe-notice" });
  const steps = createSteps(context);
  const search = lazyPane("side_panes", "search")(context);
  const saving = lazyPane("side_panes", "export")(context);
  const header = createHeader(context, search.element, steps.element, saving.element);
  const summary = createSummary(context);
  const timeline = createTimeline(context);
  const tree = sidePane(context, "tree", "Manifests");
  const detail = sidePane(context, "detail", "Details");
  const views = createViews(context);
  const layout = lazyPane("side_panes", "layout")(context);
  for (const { element } of [layout, search, saving]) {
    fill(element);
    element.style.flex = "none";
  }
  const code = createCode(context, history.table.problems.length);
  const main = el("div", { class: "pe-main" }, tree.element, views.element, detail.element);
  const frame = el(
    "div",
    { class: "pe-frame" },
    header.element,
    timeline.element,
    summary.element,
    notice,
    main,
    code.element,
    layout.element
  );
  fill(root, frame);
  for (const { message, path } of history.table.problems) {
    context.report({ kind: "Problem", message, path });
  }
  parts.push(header, steps, timeline, summary, tree, views, detail, code, layout, search, saving);
  const acts = createActs(context, { views, search, saving, code });
  const unsaved = new Set();
  const save = whenQuiet(() => {
    unsaved.clear();
    model.save_changes();
  }, SYNC_MILLIS);
  const offStore = store.on((changed) => {
    const state = store.get();
    let dirty = false;
    for (const name2 of TRAITS) {
      if (!changed.has(name2) || model.get(name2) === state[name2]) continue;
      model.set(name2, state[name2]);
      unsaved.add(name2);
      dirty = true;
    }
    if (dirty) save();
    if (changed.has("height")) setHeight(root, state.height);
    tell(changed);
    if (changed.has("filter")) applyFilter();
    if (changed.has("position") && !files.failure) ensureFiles();
  });
  const fromPython = TRAITS.map((name2) => {
    const listener = () => {
      if (unsaved.has(name2)) {
        model.set(name2, store.get()[name2]);
        return;
      }
      const patch = { [name2]: model.get(name2) };
      if (name2 === "selected") {
        patch.position = history.positionOf(model.get(name2));
        if (patch.position < 0 && model.get(name2)) return void refresh();
      }
      store.set(patch);
    };
    model.on(`change:${name2}`, listener);
    return () => model.off(`change:${name2}`, listener);
  });
  const applyFilter = async () => {
    const { filter } = store.get();
    const { frame: frame2 } = files;
    if (!filter || frame2 < 0) {
      mask = void 0;
      filterFailure = void 0;
      if (files.narrowed) takeFiles(await channel.ask("history"));
    } else {
      try {
        const answer = await channel.latest("filter", "filter", { text: filter, frame: frame2 });
        if (!answer || frame2 !== files.frame) return;
        filterFailure = void 0;
        if (answer.body.grouped !== void 0) return takeFiles(answer, true);
        mask = answer.columns.mask;
      } catch (error) {
        filterFailure = failureOf(error);
      }
    }
    tell(new Set(["mask"]));
  };
  const takeFiles = ({ body, columns }, narrowed = false) => {
    const partitions = decodeTexts(columns.partition_text, columns.partition_end);
    const lifetimes = new FileLifetimes(columns, partitions, history.count);
    const all = body.first === 0 && body.last === history.count - 1;
    files = {
      ...files,
      lifetimes,
      frame: body.frame,
      first: body.first,
      last: body.last,
      unknown: new Set(body.unknown),
      grouped: body.grouped,
      narrowed
    };
    if (!narrowed) changes = all ? lifetimes.changes(files.unknown, history.deltaRows) : void 0;
    mask = void 0;
    tell(new Set(["lifetimes"]));
    if (store.get().filter && !narrowed) applyFilter();
  };
  let ensuring = false;
  const ensureFiles = async () => {
    const { position, selected } = store.get();
    if (ensuring || position < 0 || position >= files.first && position <= files.last) return;
    ensuring = true;
    try {
      const answer = await channel.ask("files", { snapshot: selected });
      if (!stopped && !changes) takeFiles(answer);
    } catch (error) {
      if (!changes) files = { ...files, failure: failureOf(error) };
      tell(new Set(["lifetimes"]));
    }
    ensuring = false;
  };
  const readHistory = async () => {
    await ensureFiles();
    try {
      for (; ; ) {
        const answer = await channel.ask("history");
        if (stopped) return;
        if (answer.body.done) {
          files = { ...files, failure: void 0 };
          takeFiles(answer);
          for (const failure of answer.body.problems ?? []) context.report(failure);
          break;
        }
        files = { ...files, covered: answer.body.covered };
        tell(new Set(["covered"]));
        ensureFiles();
      }
    } catch (error) {
      context.report(failureOf(error));
    }
    isComplete = true;
    if (isBehind) refresh().catch((error) => context.report(failureOf(error)));
    attribute(root, "data-complete", "1");
    views.countFindings();
  };
  let isComplete = !history.count;
  let isBehind = false;
  let refreshing = false;
  const refresh = async () => {
    isBehind ||= !isComplete;
    if (!isComplete || refreshing) return {};
    refreshing = true;
    try {
      const { selected: asked, node } = store.get();
      const answer = await channel.ask("poll", { version: history.version });
      const { body, columns } = answer;
      if (!body.changed) return body;
      let found = await channel.ask("history");
      while (!found.body.done) found = await channel.ask("history");
      if (stopped) return {};
      history.load(answer);
      takeFiles(found);
      const now = store.get();
      const stays = now.selected !== asked && history.positionOf(now.selected) >= 0;
      const selected = stays ? now.selected : body.selected;
      const compare = history.positionOf(now.compare) < 0 ? 0 : now.compare;
      const position = history.positionOf(selected);
      store.set({ selected, position, compare, node: now.node === node ? body.node : now.node });
      tell(new Set(["history", "position", "lifetimes"]));
      attribute(root, "data-count", columns.id.length);
      return body;
    } finally {
      refreshing = false;
    }
  };
  const onKey = createKeys(context);
  root.addEventListener("keydown", onKey);
  root.addEventListener("pointerover", showWhole);
  if (history.count) readHistory();
  attribute(root, "data-count", history.count);
  attribute(root, "data-ready", "1");
  return () => {
    stopped = true;
    offStore();
    save.flush();
    unwatch();
    for (const off of fromPython) off();
    for (const part of parts) part.dispose?.();
    root.removeEventListener("keydown", onKey);
    root.removeEventListener("pointerover", showWhole);
  };
}
function initialState(model, history, groups) {
  const traits = Object.fromEntries(TRAITS.map((name2) => [name2, model.get(name2)]));
  const ids = groups.flatMap(([, tabs]) => tabs.map(([id]) => id));
  const tab = ids.includes(traits.tab) ? traits.tab : ids[0];
  return {
    ...traits,
    tab,
    position: history.positionOf(traits.selected),
    metric: "rows",
    axis: "id",
    ...usefulLanes(history),
    scope: "live",
    sort: "partition",
    descending: false,
    aside: "",
    column: "",
    queryHistory: void 0
  };
}
function sidePane(context, pane, title) {
  const inside = lazyPane("side_panes", pane)(context);
  const element = el(
    "section",
    { class: `pe-pane pe-pane-${pane}`, "aria-label": title },
    el("h3", { class: "pe-pane-title" }, title),
    inside.element
  );
  return { ...inside, element };
}
function withPeak(up, down) {
  let peak = 0;
  for (let i = 0; i < up.length; i++) peak = Math.max(peak, up[i], down[i]);
  return { up, down, peak };
}
function createHeader({ history, act }, ...parts) {
  const name2 = el("div", { class: "pe-header-facts" });
  const show = () => {
    const { table } = history;
    const branch = table.branch === "main" ? [] : [`branch ${table.branch}`];
    fill(
      name2,
      el("h2", { class: "pe-name" }, visible(table.name)),
      el("span", { class: "pe-muted", title: visible(table.location) }, visible(table.database)),
      ...[...branch, ...table.chips].map(
        (text) => el("span", { class: "pe-chip" }, visible(cut(text)))
      )
    );
  };
  show();
  const element = el(
    "header",
    { class: "pe-header" },
    name2,
    el(
      "div",
      { class: "pe-steps-bar" },
      ...parts,
      button("⚙", "Settings", () => act("settings")),
      button("?", "Keyboard shortcuts and symbols", () => act("help"))
    )
  );
  return {
    element,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("history")) show();
    }
  };
}
function createSummary(context) {
  const { history, store } = context;
  const element = el("div", { class: "pe-summary", role: "status" });
  const show = () => {
    const { position, compare } = store.get();
    if (position < 0) {
      fill(
        element,
        el(
          "span",
          { class: "pe-muted" },
          history.count ? "No snapshot selected." : "The table has no snapshot yet."
        )
      );
      return;
    }
    const kind = history.kind(position);
    const changes = context.changes();
    const parts = [
      el("strong", {}, `snapshot ${history.ids[position]}`),
      el("span", { class: "pe-kind", "data-kind": kind.colour }, kind.token)
    ];
    if (history.unreadable(position)) {
      fill(
        element,
        ...parts,
        el("span", { class: "pe-minus" }, "the snapshot file cannot be read")
      );
      return;
    }
    const delta = history.deltaRows[position];
    parts.push(
      el("span", {}, formatTime(history.times[position])),
      el("span", {}, `schema ${history.schemas[position]}`),
      el(
        "span",
        { title: "Rows of all live files, before merging" },
        plural(history.totalRows[position], "row")
      ),
      el(
        "span",
        { class: delta < 0 ? "pe-minus" : "pe-plus" },
        `${delta < 0 ? "−" : "+"}${plural(Math.abs(delta), "row")}`
      )
    );
    if (changes && !context.files().unknown.has(position)) {
      parts.push(fileChange(changes, position));
    }
    const flags = history.flags().filter((flag) => flag.position === position);
    for (const { kind: sort, name: name2 } of flags) {
      parts.push(
        el("span", { class: "pe-chip", "data-flag": sort }, `${sort} ${visible(cut(name2))}`)
      );
    }
    if (compare) parts.push(el("span", { class: "pe-chip" }, `compared with snapshot ${compare}`));
    parts.push(
      el(
        "span",
        { class: "pe-muted pe-user", title: "Commit user" },
        visible(cut(history.user(position)))
      )
    );
    fill(element, ...parts);
  };
  show();
  return {
    element,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("position") || changed.has("compare") || changed.has("lifetimes")) show();
    }
  };
}
function fileChange({ added, removed }, position) {
  const text = `+${formatShort(added.bytes[position]) === "0" ? "0 B" : formatBytes(added.bytes[position])} −${formatBytes(removed.bytes[position])}`;
  return el(
    "span",
    { title: `Data files: ${text}` },
    el("span", { class: "pe-plus" }, `+${formatCount(added.files[position])}`),
    " ",
    el("span", { class: "pe-minus" }, `−${formatCount(removed.files[position])}`),
    " files"
  );
}
function createCode({ store, channel }, problems) {
  let spark = false;
  const prompt = el("span", { class: "pe-prompt", "aria-hidden": "true" });
  const text = el("code", {
    class: "pe-code",
    tabindex: "0",
    role: "textbox",
    "aria-readonly": "true",
    "aria-label": "Code"
  });
  const busy = el("span", { class: "pe-busy", role: "status" });
  const line2 = () => spark ? store.get().spark_code : store.get().code;
  const copy = copyButton("Copy the code", line2);
  const toggle = button("Spark", "Show PySpark code", () => {
    spark = !spark;
    attribute(toggle, "aria-pressed", String(spark));
    show();
  });
  const show = () => {
    fill(prompt, spark ? "spark" : "python");
    fill(text, visible(line2()));
  };
  let timer = 0;
  channel.onWaiting = (count) => {
    clearTimeout(timer);
    if (!count) fill(busy);
    else timer = setTimeout(() => fill(busy, "Waiting for Python…"), 400);
  };
  show();
  const note = problems ? el("span", { class: "pe-minus" }, plural(problems, "problem")) : null;
  const element = el("footer", { class: "pe-footer" }, prompt, text, busy, note, copy, toggle);
  return {
    element,
    copy: () => copy.click(),
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("code") || changed.has("spark_code")) show();
    }
  };
}
function createActs({ store, history, root, step, moveTo }, { views, search, saving, code }) {
  const toggle = (aside) => store.set({ aside: store.get().aside === aside ? "" : aside });
  return {
    find: () => search.focus(),
    previous: () => step(-1),
    next: () => step(1),
    back: () => step(-10),
    forward: () => step(10),
    first: () => moveTo(0),
    last: () => moveTo(history.count - 1),
    filter() {
      store.set({ tab: "files" });
      root.querySelector(".pe-filter")?.focus();
    },
    mark() {
      const { compare, selected } = store.get();
      store.set({ compare: compare === selected ? 0 : selected });
    },
    copy: () => code.copy(),
    export: () => saving.focus(),
    settings: () => toggle("settings"),
    help: () => toggle("help"),
    leave() {
      const focused = root.querySelector(":focus");
      if (isTyping(focused)) views.focus();
      else if (store.get().aside) store.set({ aside: "" });
      else leave(root, focused);
    }
  };
}
var isTyping = (element) => /^(INPUT|SELECT|TEXTAREA)$/.test(element?.tagName ?? "");
function createKeys({ act }) {
  return (event) => {
    const target = event.target;
    const tabs = target.getAttribute("role") === "tab";
    const asked = actOf(event, { typing: isTyping(target), tabs });
    if (!asked) return;
    event.preventDefault();
    event.stopPropagation();
    act(asked);
  };
}
function leave(root, focused) {
  focused?.blur();
  const cell = root.closest(".jp-Notebook, [data-windowed-list-index]");
  cell?.focus();
}
var explorer_default2 = { render };
export {
  explorer_default2 as default
};
