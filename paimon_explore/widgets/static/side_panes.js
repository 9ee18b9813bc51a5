// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

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
function rowAfter(key, row, count) {
  if (!count) return void 0;
  if (key === "ArrowDown") return Math.min(row + 1, count - 1);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  return void 0;
}

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/keyboard_help.js
var IN_PANES = [
  ["↑ ↓", "Select a row of the manifest tree or of the file list"],
  ["+ −", "Open or close a tree node"],
  ["Enter", "Show the details of the selected row"],
  ["Ctrl-Enter", "Run the SQL query"],
  ["Ctrl-Space", "Complete a word of the SQL query"]
];
function createHelp(context) {
  const list = el("dl", { class: "pe-facts pe-help" });
  const general = ACTS.map(({ key, shown, label }) => [shown ?? key, label]);
  for (const [keys2, meaning] of [...general, ...IN_PANES]) {
    const names = keys2.split(" ").map((key) => el("kbd", {}, key));
    list.append(el("dt", {}, ...names), el("dd", {}, meaning));
  }
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Keyboard shortcuts"),
    list,
    el(
      "p",
      { class: "pe-note" },
      "A filter is an SQL condition on columns of the file list, for example: level = 0 and size < 1 MB"
    ),
    el(
      "p",
      { class: "pe-note" },
      "Snapshots: circle (A) append, square (C) compact, triangle (O) overwrite, diamond (Z) analyze; hollow if expired and kept by a tag. Bars: added above the line, removed below, on a square-root scale. Rows below: one per commit user; the row of a consumer is filled up to the last snapshot it has read."
    )
  );
  context.hints().then(({ terms }) => {
    const meanings = el("dl", { class: "pe-facts pe-terms" });
    for (const [name, meaning] of terms) {
      meanings.append(el("dt", {}, visible(name)), el("dd", {}, visible(meaning)));
    }
    if (terms.length) element.append(el("h4", { class: "pe-detail-title" }, "Terms"), meanings);
  });
  return { element, focus: () => element.focus(), update: () => {
  } };
}

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
function valueCondition(column, type, value) {
  const name = /^[A-Za-z_]\w*$/.test(column) ? column : `\`${column.replaceAll("`", "``")}\``;
  const number = /^(TINYINT|SMALLINT|INT|BIGINT|DECIMAL|FLOAT|DOUBLE|BOOLEAN)/.test(type);
  return `${name} = ${number ? value : `'${value.replaceAll("'", "''")}'`}`;
}

// src/remembered.js
function remembered(where, name) {
  try {
    return JSON.parse(globalThis[where].getItem(`paimon-explore-${name}`) ?? "null") ?? void 0;
  } catch {
    return void 0;
  }
}
function remember(where, name, value) {
  try {
    globalThis[where].setItem(`paimon-explore-${name}`, JSON.stringify(value));
  } catch {
  }
}

// src/settings.js
var HIDDEN_OR_SHOWN = [
  [false, "hidden"],
  [true, "shown"]
];
var SETTINGS = [
  {
    name: "metric",
    label: "Bars of the timeline",
    choices: ["rows", "bytes", "files"].map((name) => [name, name]),
    lasts: true
  },
  {
    name: "axis",
    label: "Spacing of snapshots",
    choices: [
      ["id", "equal"],
      ["time", "by commit time"]
    ],
    lasts: true
  },
  { name: "writers", label: "Rows of commit users", choices: HIDDEN_OR_SHOWN },
  { name: "readers", label: "Rows of consumers and watermark", choices: HIDDEN_OR_SHOWN },
  {
    name: "live",
    label: "Look for new snapshots",
    choices: [
      [0, "never"],
      [2, "every 2 s"],
      [10, "every 10 s"],
      [60, "every minute"]
    ]
  },
  {
    name: "height",
    label: "Height",
    choices: [
      [0, "as the window"],
      [560, "560 px"],
      [800, "800 px"],
      [1200, "1200 px"]
    ]
  }
];
function settingsOf({ store }) {
  return SETTINGS.filter(({ name }) => store.get()[name] !== void 0).map((setting) => ({
    ...setting,
    set(value) {
      store.set({ [setting.name]: value });
      if (!setting.lasts) return;
      const known = remembered("localStorage", "settings") ?? {};
      remember("localStorage", "settings", { ...known, [setting.name]: value });
    }
  }));
}
function restoreSettings({ store }) {
  const known = remembered("localStorage", "settings") ?? {};
  for (const { name, choices, lasts } of SETTINGS) {
    if (lasts && choices.some(([value]) => value === known[name])) {
      store.set({ [name]: known[name] });
    }
  }
}
function createSettings(context) {
  const parts = settingsOf(context).map(({ name, label, choices, set }) => {
    const control = segmented(
      label,
      choices.map(([value, title2]) => [String(value), title2, `${label}: ${title2}`]),
      (chosen) => set(choices.find(([value]) => String(value) === chosen)?.[0])
    );
    return { name, label, control };
  });
  const list = el("dl", { class: "pe-facts pe-settings" });
  for (const { label, control } of parts) {
    list.append(el("dt", {}, label), el("dd", {}, control.element));
  }
  const reset = button("Reset the widths", "Give the panes their usual widths", () => {
    for (const handle2 of context.root.querySelectorAll(".pe-split")) {
      handle2.dispatchEvent(new MouseEvent("dblclick"));
    }
  });
  const show = () => {
    for (const { name, control } of parts) control.press(String(context.store.get()[name]));
  };
  show();
  const element = el(
    "div",
    { class: "pe-section", tabindex: "-1" },
    el("h4", { class: "pe-detail-title" }, "Settings"),
    list,
    reset
  );
  return { element, focus: () => element.focus(), update: show };
}

// src/detail_view.js
var QUIET_MILLIS = 60;
var ASIDES = { help: createHelp, settings: createSettings };
function createDetail(context) {
  const { store, channel } = context;
  const body = el("div", {
    class: "pe-detail",
    tabindex: "0",
    role: "region",
    "aria-label": "Details of the selected item"
  });
  const element = el("div", { class: "pe-panel" }, body);
  const load = whenQuiet(async () => {
    const { node, selected, aside } = store.get();
    if (aside) return;
    if (!selected) {
      fill(body, el("div", { class: "pe-empty" }, "Select a snapshot, a tree node or a file."));
      return;
    }
    try {
      const answer = await channel.latest("detail", "detail", { node: node || String(selected) });
      if (!answer || store.get().aside) return;
      draw(answer.body);
    } catch (error) {
      const failure = failureOf(error);
      fill(body, problem(failure));
      attribute(element, "data-node", node);
    }
  }, QUIET_MILLIS);
  const showRows = async (rows, condition = store.get().where ?? "") => {
    const { selected, asked } = store.get();
    try {
      const answer = await channel.ask("condition", { snapshot: selected, text: condition });
      const text = JSON.stringify(rows);
      store.set({ tab: "rows", where: answer.body.where, asked: { ...asked, rows: text } });
    } catch (error) {
      context.report(failureOf(error));
    }
  };
  const draw = (document2) => {
    fill(
      body,
      el("div", { class: "pe-detail-kind" }, visible(document2.subtitle)),
      el("h4", { class: "pe-detail-title", "data-kind": document2.kind }, longText(document2.title)),
      /^data file/.test(document2.subtitle) ? button(
        "Show rows",
        "Show the records of this file",
        () => showRows({ scope: "file", file: document2.title })
      ) : null,
      ...document2.sections.map((part) => section(part, showRows))
    );
    body.scrollTop = 0;
    attribute(element, "data-node", store.get().node);
  };
  const asides = {};
  load();
  return {
    element,
    focus: () => body.focus(),
    update(changed) {
      const { aside } = store.get();
      if (aside) {
        asides[aside] ??= ASIDES[aside](context);
        asides[aside].update(changed);
      }
      if (changed.has("aside")) {
        if (aside) fill(body, asides[aside].element);
        else load();
      } else if (changed.has("node") || changed.has("selected")) load();
    },
    dispose: () => load.cancel()
  };
}
function section(part, showRows) {
  switch (part.type) {
    case "facts":
      return el("div", { class: "pe-section" }, heading(part.title), facts(part.rows));
    case "bounds":
      return el(
        "div",
        { class: "pe-section" },
        heading(part.title),
        bounds(part.rows, part.title, showRows),
        part.note ? el("p", { class: "pe-note" }, visible(part.note)) : null
      );
    case "problem":
      return problem(part.failure);
    case "text":
      return el(
        "div",
        { class: "pe-section" },
        heading(part.title),
        el("pre", { class: "pe-text", tabindex: "0" }, visibleLines(part.text))
      );
  }
}
function heading(title2) {
  return title2 ? el("h5", { class: "pe-heading" }, visible(title2)) : null;
}
function facts(rows) {
  const list = el("dl", { class: "pe-facts" });
  for (const [label, value] of rows) {
    list.append(el("dt", {}, visible(label)), el("dd", {}, longText(value)));
  }
  return list;
}
function bounds(rows, label, showRows) {
  const table = el("table", { class: "pe-bounds", "aria-label": label });
  const head = el("tr", {});
  for (const name of ["column", "min", "max", "nulls"]) {
    const cell = el("th", {}, name);
    cell.scope = "col";
    head.append(cell);
  }
  table.append(el("thead", {}, head));
  const inside = el("tbody", {});
  for (const row of rows) inside.append(boundRow(row, showRows));
  table.append(inside);
  return table;
}
function boundRow(row, showRows) {
  const name = el(
    "th",
    {},
    longText(row.column),
    el("span", { class: "pe-type" }, visible(row.type))
  );
  name.scope = "row";
  const nulls = el("td", { class: "pe-nulls" }, row.nulls ?? "?");
  if (row.min === void 0 || row.max === void 0) {
    const why = el("td", { class: "pe-absent" }, visible(row.reason ?? "unknown"));
    why.colSpan = 2;
    return el("tr", {}, name, why, nulls);
  }
  const [min, max] = [row.min, row.max].map((text) => {
    const whole = text.length > CELL_LIMIT ? text : null;
    const cell = el("td", { class: "pe-value", "data-text": whole }, longText(text));
    if (!row.note && !/^0x/.test(text)) {
      cell.append(
        " ",
        button(
          "rows",
          "Show rows with this value",
          () => showRows({}, valueCondition(row.column, row.type, text))
        )
      );
    }
    return cell;
  });
  if (row.note) max.append(el("span", { class: "pe-type" }, visible(row.note)));
  return el("tr", {}, name, min, max, nulls);
}
function longText(text) {
  if (text === "") return el("span", { class: "pe-type" }, "empty");
  if (text.length <= CELL_LIMIT) return visible(text);
  const shown = el("span", {}, visible(cut(text)));
  const expand = button("show all", `Show all ${text.length} characters`, () => {
    fill(shown, visible(text));
    expand.remove();
  });
  return el("span", {}, shown, " ", expand);
}
function visibleLines(text) {
  return cut(text, 2e4).split("\n").map(visible).join("\n");
}

// src/picture_export.js
var STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "text-anchor"
];
var SCALE = 2;
function svgText(picture) {
  const copy = picture.cloneNode(true);
  const plain = colours();
  const [from, to] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      to[index].setAttribute(name, name === "fill" || name === "stroke" ? plain(value) : value);
    }
  });
  const ground = document.createElementNS(picture.namespaceURI ?? "", "rect");
  for (const name of ["width", "height"]) ground.setAttribute(name, "100%");
  ground.setAttribute("fill", plain(background(picture)));
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}
async function pictureOf(picture) {
  if (picture instanceof HTMLCanvasElement) {
    return painted(picture, picture.width, picture.height, background(picture));
  }
  const image = new Image();
  const text = svgText(picture);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  return painted(image, image.width * SCALE, image.height * SCALE, "transparent");
}
function painted(image, width, height, ground) {
  const { canvas, paint } = drawing(width, height);
  paint.fillStyle = ground;
  paint.fillRect(0, 0, width, height);
  paint.drawImage(image, 0, 0, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => blob ? resolve(blob) : reject(new Error("The picture is too large."))
    );
  });
}
function drawing(width, height) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  return { canvas, paint };
}
function colours() {
  const { paint } = drawing(1, 1);
  const known = new Map([["none", "none"]]);
  return (colour) => {
    let found = known.get(colour);
    if (found === void 0) {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = paint.getImageData(0, 0, 1, 1).data;
      found = `rgba(${red},${green},${blue},${alpha / 255})`;
      known.set(colour, found);
    }
    return found;
  };
}
function background(picture) {
  const root = picture.closest(".pe-explorer") ?? document.body;
  return getComputedStyle(root).backgroundColor;
}

// src/table_export.js
function tableRows(element) {
  if (element.matches("[role=grid]")) {
    const detail = {};
    element.dispatchEvent(new CustomEvent("pe-export", { detail }));
    return detail.rows ?? { rows: [], more: false };
  }
  const rows = element instanceof HTMLTableElement ? [...element.rows].map(({ cells }) => [...cells].flatMap(cellTexts)) : [...element.querySelectorAll("dt")].map((name) => [
    textOf(name),
    ...name.nextElementSibling ? [textOf(name.nextElementSibling)] : []
  ]);
  return { rows, more: false };
}
function cellTexts(cell) {
  return [textOf(cell), ...Array(cell.colSpan - 1).fill("")];
}
function textOf(cell) {
  const whole = cell.getAttribute("data-text");
  if (whole !== null) return whole;
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const parts = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const button2 = parentElement?.closest("button");
    if (!button2 || /-link\b/.test(button2.className)) parts.push(data.trim());
  }
  return parts.filter(Boolean).join(" ");
}
var FORMULA = /^(?:[=@\t\r]|[+-].*[(|!])/s;
function separated(rows, separator) {
  const safe = (text) => FORMULA.test(text) ? `'${text}` : text;
  const cell = (text) => text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map((row) => `${row.map(safe).map(cell).join(separator)}\r
`).join("");
}

// src/export_menu.js
var TABLES = "table, [role=grid], dl:not(.pe-settings)";
var PICTURES = "svg[role=img], canvas";
var HEADINGS = "h4, h5, figcaption";
function createExport(context) {
  const { root, prefix } = context;
  const id = `${prefix}-export`;
  const panel = el("div", { class: "pe-export", id, role: "group", hidden: true });
  attribute(panel, "aria-label", "Copy or save tables and pictures");
  const toggle = button("⤓", "Copy or save tables and pictures", () => open(panel.hidden), {
    "aria-expanded": "false",
    "aria-controls": id
  });
  const status = el("p", { class: "pe-note", role: "status" });
  const open = (isOpen) => {
    panel.hidden = !isOpen;
    attribute(toggle, "aria-expanded", String(isOpen));
    if (!isOpen) return;
    const lines = [...root.querySelectorAll(`${TABLES}, ${PICTURES}`)].filter((element2) => element2.checkVisibility()).map((element2) => line(element2));
    fill(status, lines.length ? "" : "The open view has no table and no picture.");
    fill(panel, ...lines, status);
    panel.querySelector("button")?.focus();
  };
  const line = (element2) => {
    const isTable = element2.matches(TABLES);
    const name = nameOf(element2);
    const file = [context.history.table.name, context.store.get().selected, name].join("-").replace(/[^\p{L}\p{N}]+/gu, "-");
    const rows = async () => {
      const { rows: found, more } = await tableRows(element2);
      fill(status, more ? `The first ${plural(found.length - 1, "row")}; the code reads all.` : "");
      return found;
    };
    const png = () => pictureOf(element2);
    const choices = isTable ? [
      copyButton(`Copy the table ${name}`, async () => separated(await rows(), "	")),
      button(
        "CSV",
        `Save the table ${name} as CSV`,
        async () => save(new Blob([separated(await rows(), ",")], { type: "text/csv" }), `${file}.csv`)
      )
    ] : [
      copyButton(`Copy the picture ${name}`, () => new ClipboardItem({ "image/png": png() })),
      button(
        "PNG",
        `Save the picture ${name} as PNG`,
        async () => save(await png(), `${file}.png`)
      )
    ];
    if (element2 instanceof SVGSVGElement) {
      const svg = () => new Blob([svgText(element2)], { type: "image/svg+xml" });
      choices.push(
        button("SVG", `Save the picture ${name} as SVG`, () => save(svg(), `${file}.svg`))
      );
    }
    for (const choice of choices) attribute(choice, "aria-label", choice.title);
    return el("div", { class: "pe-export-line" }, el("span", {}, name), ...choices);
  };
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    open(false);
    toggle.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  const element = el("div", {}, toggle, panel);
  element.addEventListener("focusout", ({ relatedTarget }) => {
    const leaves = relatedTarget instanceof Node && !element.contains(relatedTarget);
    if (leaves) open(false);
  });
  return {
    element,
    focus: () => open(true),
    update(changed) {
      if (changed.has("tab") || changed.has("selected") || changed.has("node")) open(false);
    }
  };
}
function nameOf(element) {
  const own = element.getAttribute("aria-label");
  const part = element.closest("figure, .pe-section, .pes-body > div, .pe-pane, .pe-timeline");
  const heading2 = part?.querySelector(HEADINGS)?.firstChild?.textContent;
  const label = part?.getAttribute("aria-label");
  if (element instanceof HTMLCanvasElement) return label ?? "Picture";
  const usual = element.closest(".pe-pane-detail") ? "Details" : "Facts";
  return cut(own ?? heading2 ?? label ?? usual, 60);
}
function save(content, name) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1e4);
}

// src/pane_layout.js
var USUAL = { left: 27, right: 28 };
var LEAST = 10;
var MOST = 60;
var [LOWEST, HIGHEST] = [320, 2e3];
var STEP = 2;
var STEP_PIXELS = 20;
function createLayout(context) {
  const { root, store } = context;
  const main = root.querySelector(".pe-main");
  const frame = root.querySelector(".pe-frame");
  const shares = usualShares();
  const left = splitter(
    "Width of the manifest tree",
    1,
    () => shares.left,
    (share) => set({ left: share })
  );
  const right = splitter(
    "Width of the details",
    -1,
    () => shares.right,
    (share) => set({ right: share })
  );
  main.children[0].append(left.element);
  main.children[1].append(right.element);
  function set(patch) {
    Object.assign(shares, patch);
    apply();
    remember("localStorage", "panes", shares);
  }
  const apply = () => {
    main.style.setProperty("--pe-left", `${shares.left}%`);
    main.style.setProperty("--pe-right", `${shares.right}%`);
    for (const { update } of [left, right]) update();
  };
  const bottom = heightHandle(
    frame,
    () => store.get().height,
    (height) => store.set({ height })
  );
  const maximise = "showPopover" in root ? maximiser(root) : void 0;
  if (maximise) root.querySelector(".pe-steps-bar")?.append(maximise.element);
  apply();
  return {
    element: bottom.element,
    focus: () => bottom.element.focus(),
    update(changed) {
      if (changed.has("height")) bottom.update();
    },
    dispose: () => maximise?.dispose()
  };
  function splitter(label, side, share, change) {
    const element = handle("pe-split", label, "vertical", LEAST, MOST);
    attribute(element, "data-side", side);
    const to = (wanted) => change(Math.min(Math.max(Math.round(wanted), LEAST), MOST));
    drag(element, () => {
      const start = share();
      const percent = 100 / main.clientWidth;
      return (x) => to(start + side * x * percent);
    });
    const usual = side === 1 ? USUAL.left : USUAL.right;
    element.addEventListener("dblclick", () => to(usual));
    keys(element, {
      ArrowLeft: () => to(share() - side * STEP),
      ArrowRight: () => to(share() + side * STEP),
      Enter: () => to(usual)
    });
    return { element, update: () => attribute(element, "aria-valuenow", share()) };
  }
}
function heightHandle(frame, height, change) {
  const element = handle("pe-resize", "Height of the explorer", "horizontal", LOWEST, HIGHEST);
  const present = () => height() || frame.offsetHeight;
  const to = (wanted) => change(Math.min(Math.max(Math.round(wanted), LOWEST), HIGHEST));
  const follow = () => change(0);
  drag(element, () => {
    const start = present();
    return (_x, y) => to(start + y);
  });
  element.addEventListener("dblclick", follow);
  keys(element, {
    ArrowUp: () => to(present() - STEP_PIXELS),
    ArrowDown: () => to(present() + STEP_PIXELS),
    Enter: follow
  });
  const update = () => attribute(element, "aria-valuenow", present());
  update();
  return { element, update };
}
function handle(name, label, orientation, least, most) {
  return el("div", {
    class: name,
    role: "separator",
    tabindex: "0",
    title: `${label}: drag, or press the arrow keys; double-click or press Enter to reset`,
    "aria-label": label,
    "aria-orientation": orientation,
    "aria-valuemin": least,
    "aria-valuemax": most,
    "aria-valuenow": least
  });
}
function drag(element, begin) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const move = begin();
    const follow = (to) => move(to.clientX - event.clientX, to.clientY - event.clientY);
    const end = () => {
      element.removeEventListener("pointermove", follow);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", follow);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    event.preventDefault();
  });
}
function keys(element, commands) {
  element.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(commands, event.key) || event.ctrlKey || event.metaKey || event.altKey)
      return;
    commands[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });
}
function usualShares() {
  const { left, right } = remembered("localStorage", "panes") ?? {};
  const fits = [left, right].every((share) => share >= LEAST && share <= MOST);
  return fits && left + right <= 100 - LEAST ? { left, right } : { ...USUAL };
}
function maximiser(root) {
  const open = () => root.matches(":popover-open");
  const restore = () => {
    root.hidePopover();
    root.popover = null;
    show();
  };
  const toggle = () => {
    if (open()) return restore();
    const asked = new CustomEvent("paimon-explore-open", { bubbles: true, cancelable: true });
    if (!root.closest(".jp-LinkedOutputView") && !root.dispatchEvent(asked)) return;
    root.popover = "manual";
    root.showPopover();
    show();
  };
  const element = button("⤢", "Maximise", toggle);
  const show = () => {
    fill(element, open() ? "⤡" : "⤢");
    for (const name of ["title", "aria-label"]) {
      attribute(element, name, open() ? "Restore the size" : "Maximise");
    }
  };
  const onKey = (event) => {
    const { target } = event;
    if (event.key !== "Escape" || !open() || target instanceof HTMLInputElement) return;
    restore();
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", onKey, true);
  root.classList.toggle("pe-own-tab", root.closest(".jp-LinkedOutputView") !== null);
  return { element, dispose: () => root.removeEventListener("keydown", onKey, true) };
}

// src/text_match.js
function matchRank(name, typed) {
  const [whole, wanted] = [name.toLowerCase(), typed.trim().toLowerCase()];
  if (whole.startsWith(wanted)) return 0;
  const words = whole.split(/[^\p{L}\p{N}]+/u);
  const begins = (part) => words.some((word) => word.startsWith(part));
  if (wanted.split(/\s+/).every(begins)) return 1;
  if (whole.includes(wanted)) return 2;
  let at = -1;
  for (const letter of wanted.replace(/\s/g, "")) {
    at = whole.indexOf(letter, at + 1);
    if (at < 0) return void 0;
  }
  return 3;
}

// src/search_box.js
var QUIET_MILLIS2 = 120;
var MOST2 = 12;
var LEAST_TYPED = 2;
function createSearchBox(context) {
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
    spellcheck: "false"
  });
  const list = el("ul", {
    class: "pe-found",
    id: `${prefix}-found`,
    role: "listbox",
    "aria-label": "Found",
    hidden: true
  });
  const element = el("div", { class: "pe-search" }, input, list);
  let items = [];
  let named = [];
  let chosen = 0;
  let uses = 0;
  const draw = () => {
    fill(
      list,
      ...items.map(
        ({ kind, name, about, key }, index) => el(
          "li",
          {
            role: "option",
            id: `${prefix}-found-${index}`,
            "aria-selected": String(index === chosen),
            "data-index": index
          },
          el("span", { class: "pe-found-name" }, visible(cut(name))),
          about ? el("span", { class: "pe-muted" }, visible(cut(about))) : null,
          el("span", { class: "pe-muted pe-found-kind" }, kind),
          key ? el("kbd", {}, key) : null
        )
      ),
      items.length ? null : el("li", { role: "option", "aria-disabled": "true" }, "Nothing found.")
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
        go: () => context.goTo(typed)
      });
    }
    chosen = 0;
    list.hidden = false;
    attribute(input, "aria-expanded", "true");
    draw();
  };
  const views = () => context.groups.flatMap(
    ([group, tabs]) => tabs.map(([tab, name]) => ({
      kind: "view",
      name,
      about: group,
      go: () => store.set({ tab })
    }))
  );
  const references = () => history.flags().map(({ kind, name, position }) => ({
    kind,
    name,
    about: `snapshot ${history.ids[position]}`,
    go: () => context.moveTo(position)
  }));
  const snapshots = (typed) => {
    const digits = /^(?:s\w*\s*)?(\d+)$/.exec(typed)?.[1];
    if (!digits) return [];
    const positions = [...history.ids.keys()];
    return positions.filter((position) => String(history.ids[position]).startsWith(digits)).slice(0, MOST2).map((position) => ({
      kind: "snapshot",
      name: String(history.ids[position]),
      about: `${history.kind(position).token} ${formatTime(history.times[position])}`,
      go: () => context.moveTo(position)
    }));
  };
  const commands = () => [
    ...ACTS.filter(({ id }) => id !== "find" && id !== "leave").map(
      ({ id, key, shown, label }) => ({
        kind: "command",
        name: label,
        key: shown ?? key,
        go: () => context.act(id)
      })
    ),
    ...settingsOf(context).flatMap(
      ({ label, choices, set }) => choices.map(([value, name]) => ({
        kind: "setting",
        name: `${label}: ${name}`,
        go: () => set(value)
      }))
    )
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
        ...columns.map(([name, about]) => ({
          kind: "column",
          name,
          about,
          go: () => store.set({ tab: "profile", column: name })
        })),
        ...files.map((name) => ({
          kind: "file",
          name,
          go: () => store.set({ node: `name/${name}`, aside: "" })
        }))
      ];
      if (!list.hidden) show();
    } catch {
    }
  }, QUIET_MILLIS2);
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
    if (next !== void 0) {
      if (list.hidden) show();
      else chosen = next;
      draw();
    } else if (event.key === "Enter") go(list.hidden ? void 0 : items[chosen]);
    else if (event.key === "Escape" && !list.hidden) {
      close();
      input.value = "";
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const line = event.target.closest("[data-index]");
    if (line) go(items[Number(line.getAttribute("data-index"))]);
  });
  return {
    element,
    focus() {
      uses += 1;
      input.focus();
      input.select();
    },
    update() {
    },
    dispose: () => ask.cancel()
  };
}
function best(items, typed) {
  const counts = new Map();
  const ranked = items.flatMap((item) => {
    const own = matchRank(item.name, typed);
    const rank = own ?? matchRank(`${item.name} ${item.about ?? ""}`, typed);
    return rank === void 0 ? [] : [{ item, rank: own === void 0 ? rank + 1 : rank }];
  });
  ranked.sort((one, other) => one.rank - other.rank);
  if (!typed) return ranked.map(({ item }) => item);
  return ranked.flatMap(({ item }) => {
    const count = (counts.get(item.kind) ?? 0) + 1;
    counts.set(item.kind, count);
    return count > MOST2 ? [] : [item];
  });
}

// src/side_panes.css
var side_panes_default = '.pe-tree {\nflex: 1;\noverflow: auto;\npadding: 4px 0;\n}\n.pe-stale {\nopacity: 0.55;\n}\n.pe-tree-row {\ndisplay: flex;\nalign-items: center;\ngap: 5px;\npadding: 0 8px 0 calc(4px + var(--pe-depth) * 14px);\nmin-height: 24px;\nwhite-space: nowrap;\ncursor: default;\n}\n.pe-tree-row:hover {\nbackground: var(--pe-faint);\n}\n.pe-tree-row[aria-selected="true"] {\nbackground: var(--pe-select) !important;\n}\n.pe-twisty {\nflex: none;\nwidth: 14px;\ncolor: var(--pe-muted);\ntext-align: center;\ncursor: pointer;\n}\n.pe-tree-label {\nflex: 0 1 auto;\nmin-width: 40px;\noverflow: hidden;\ntext-overflow: ellipsis;\n}\n.pe-name-parts {\ndisplay: flex;\nmin-width: 0;\n}\n.pe-name-head {\noverflow: hidden;\n}\n.pe-name-whole {\noverflow: hidden;\ntext-overflow: ellipsis;\n}\n.pe-tree-row:is([data-type="manifest"], [data-type="entry"], [data-type="index-file"])\n.pe-tree-label {\nmin-width: 88px;\nfont: 12px / 1.4 var(--pe-mono);\n}\n.pe-tree-row:is([data-type="loading"], [data-type="none"]) .pe-tree-label {\ncolor: var(--pe-muted);\nfont-style: italic;\n}\n.pe-tree-row[data-type="more"] .pe-tree-label {\ncolor: var(--pe-accent);\ncursor: pointer;\ntext-decoration: underline;\n}\n.pe-tree-row[data-cancelled] .pe-tree-label {\ncolor: var(--pe-muted);\n}\n.pe-tree-range {\nflex: 0 100 auto;\nmin-width: 0;\noverflow: hidden;\ntext-overflow: ellipsis;\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-tree-figure {\nflex: none;\nmargin-left: auto;\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-tree-problem {\nflex: 1 0 100%;\noverflow: hidden;\ntext-overflow: ellipsis;\ncolor: var(--pe-remove);\nfont-size: 11px;\n}\n.pe-tree-row[data-problem] {\nflex-wrap: wrap;\n}\n.pe-sign {\nflex: none;\nwidth: 10px;\nfont-weight: 700;\ntext-align: center;\n}\n.pe-sign[data-kind="ADD"] {\ncolor: var(--pe-add);\n}\n.pe-sign[data-kind="DELETE"] {\ncolor: var(--pe-remove);\n}\n.pe-shared {\nposition: relative;\nflex: none;\nwidth: 11px;\nheight: 11px;\n}\n.pe-shared::before,\n.pe-shared::after {\ncontent: "";\nposition: absolute;\nwidth: 7px;\nheight: 7px;\nborder: 1px solid var(--pe-muted);\nborder-radius: 2px;\n}\n.pe-shared::after {\nleft: 3px;\ntop: 3px;\nbackground: var(--pe-bg);\n}\n.pe-change {\nflex: none;\ndisplay: inline-flex;\nalign-items: center;\ngap: 4px;\nfont-size: 11px;\n}\n.pe-change-bar {\nwidth: 22px;\nheight: 6px;\nborder-radius: 2px;\nbackground: linear-gradient(\nto right,\nvar(--pe-add) var(--pe-share),\nvar(--pe-remove) var(--pe-share)\n);\n}\n.pe-detail {\nflex: 1;\noverflow: auto;\npadding: 8px 10px;\n}\n.pe-detail-kind {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-explorer .pe-detail-title {\nfont-size: 13px;\nfont-weight: 600;\noverflow-wrap: anywhere;\n}\n.pe-section {\nmargin-top: 8px;\n}\n.pe-explorer .pe-heading {\nmargin: 12px 0 4px;\npadding-bottom: 2px;\nborder-bottom: 1px solid var(--pe-line);\nfont-size: 12px;\nfont-weight: 600;\n}\n.pe-explorer .pe-facts {\ndisplay: grid;\ngrid-template-columns: auto minmax(0, 1fr);\ngap: 2px 10px;\nfont-size: 12px;\n}\n.pe-explorer .pe-facts dt {\ngrid-column: 1;\nfloat: none;\nwidth: auto;\nmax-width: 120px;\ncolor: var(--pe-muted);\nfont-weight: normal;\n}\n.pe-explorer .pe-facts dd {\ngrid-column: 2;\nfloat: none;\nwidth: auto;\noverflow-wrap: anywhere;\n}\n.pe-bounds {\nwidth: 100%;\nborder-collapse: collapse;\ntable-layout: fixed;\nfont-size: 12px;\n}\n.pe-bounds :is(th, td) {\npadding: 3px 8px 3px 0;\nborder: 0;\nborder-bottom: 1px solid var(--pe-line);\nbackground: none;\nfont-weight: normal;\ntext-align: left;\nvertical-align: top;\nwhite-space: normal;\noverflow-wrap: anywhere;\n}\n.pe-bounds thead th {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-bounds th:first-child {\nwidth: 30%;\n}\n.pe-bounds :is(th, td):last-child {\nwidth: 40px;\npadding-right: 0;\ntext-align: right;\n}\n.pe-type {\ndisplay: block;\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pe-value {\nfont-family: var(--pe-mono);\n}\n.pe-absent {\ncolor: var(--pe-muted);\nfont-style: italic;\n}\n.pe-explorer .pe-note {\nmargin-top: 6px !important;\ncolor: var(--pe-muted);\nfont-size: 12px;\n}\n.pe-explorer .pe-text {\nmax-height: 260px;\noverflow: auto;\npadding: 6px 8px;\nborder-radius: 4px;\nbackground: var(--pe-faint);\ncolor: var(--pe-fg);\nfont: 11px / 1.5 var(--pe-mono);\nwhite-space: pre-wrap;\noverflow-wrap: anywhere;\n}\n.pe-detail .pe-problem {\nmargin: 8px 0;\n}\n.pe-explorer .pe-search-input {\nwidth: 150px;\n}\n.pe-found,\n.pe-export {\nposition: absolute;\ntop: calc(100% + 4px);\nright: 0;\nz-index: 5;\nwidth: min(440px, 100cqw - 24px);\nmax-height: 320px;\noverflow: auto;\nmargin: 0;\npadding: 4px 0;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\nbackground: var(--pe-bg);\nbox-shadow: 0 4px 16px rgb(0 0 0 / 24%);\nlist-style: none;\n}\n.pe-export-line {\ndisplay: flex;\nalign-items: center;\ngap: 6px;\npadding: 2px 10px;\nfont-size: 12px;\n}\n.pe-export-line > span {\nflex: 1;\noverflow-wrap: anywhere;\n}\n.pe-export .pe-note {\npadding: 0 10px !important;\n}\n.pe-found > li {\ndisplay: flex;\nalign-items: baseline;\ngap: 8px;\npadding: 3px 10px;\nfont-size: 12px;\ncursor: default;\n}\n.pe-found > li:hover {\nbackground: var(--pe-faint);\n}\n.pe-found > li[aria-selected="true"] {\nbackground: var(--pe-select);\n}\n.pe-found-name,\n.pe-found .pe-muted {\noverflow-wrap: anywhere;\n}\n.pe-found-kind {\nmargin-left: auto;\nfont-size: 11px;\n}\n.pe-explorer .pe-settings {\ngrid-template-columns: minmax(0, 1fr);\nmargin-bottom: 10px;\n}\n.pe-explorer .pe-settings dt {\nmax-width: none;\n}\n.pe-explorer .pe-settings dd {\ngrid-column: 1;\nmargin-bottom: 6px;\n}\n.pe-explorer .pe-settings .pe-segmented {\nflex-wrap: wrap;\n}\n.pe-explorer .pe-help dt {\ndisplay: flex;\nalign-items: flex-start;\ngap: 3px;\n}\n.pe-explorer kbd {\npadding: 0 5px;\nborder: 1px solid var(--pe-line);\nborder-radius: 3px;\nbackground: var(--pe-faint);\ncolor: var(--pe-fg);\nfont: 11px / 17px var(--pe-mono);\n}\n.pe-split {\nposition: absolute;\ntop: 0;\nbottom: 0;\nright: -4px;\nz-index: 3;\nwidth: 7px;\ncursor: col-resize;\ntouch-action: none;\n}\n.pe-resize {\nheight: 7px;\nbackground: var(--pe-faint);\ncursor: row-resize;\ntouch-action: none;\n}\n.pe-resize::before {\ncontent: "";\ndisplay: block;\nwidth: 36px;\nheight: 3px;\nmargin: 2px auto;\nborder-radius: 2px;\nbackground: var(--pe-muted);\n}\n.pe-explorer :is(.pe-split, .pe-resize):is(:hover, :focus-visible) {\nbackground: var(--pe-accent);\n}\n.pe-own-tab .pe-frame {\nheight: max(420px, 100vh - 96px);\n}\n.pe-explorer:popover-open {\nposition: fixed;\ninset: 0;\nwidth: auto;\nheight: auto;\nmax-width: none;\nmax-height: none;\nmargin: 0;\npadding: 0;\nborder: 0;\noverflow: auto;\n}\n.pe-explorer:popover-open .pe-frame {\nheight: 100vh;\nborder-radius: 0;\n}\n:is(.pe-explorer:popover-open, .pe-own-tab) .pe-resize {\ndisplay: none;\n}\n@container pe-explorer (max-width: 1080px) {\n.pe-pane-view > .pe-split {\ndisplay: none;\n}\n}\n@container pe-explorer (max-width: 700px) {\n.pe-split,\n.pe-resize {\ndisplay: none;\n}\n.pe-explorer:popover-open .pe-frame {\nheight: auto;\nmin-height: 100vh;\n}\n}\n.pe-explorer .pe-terms {\ngrid-template-columns: minmax(0, 1fr);\n}\n.pe-explorer .pe-terms dt {\ndisplay: block;\nmax-width: none;\ncolor: var(--pe-fg);\nfont-weight: 600;\n}\n.pe-explorer .pe-terms dd {\ngrid-column: 1;\n}\n';

// src/term_tooltips.js
var LABELS = "th, dt, .pe-kind, .pe-chip, .pe-legend-item, [role=columnheader], [role=tab], .pe-tree-label, .pe-pane-title, .pe-heading, .pes-heading, .pes-count, .pe-segmented button";
function createTooltips({ root, hints }) {
  const meanings = new Map();
  hints().then(({ terms }) => {
    for (const [name, meaning, others] of terms) {
      for (const one of [name, ...others]) meanings.set(one.toLowerCase(), meaning);
    }
  });
  const explain = ({ target }) => {
    const label = target instanceof Element ? target.closest(LABELS) : null;
    if (!label || label.hasAttribute("title")) return;
    const meaning = meaningOf(label.textContent ?? "", meanings);
    if (meaning) label.setAttribute("title", meaning);
  };
  const events = ["pointerover", "focusin"];
  for (const name of events) root.addEventListener(name, explain);
  return () => {
    for (const name of events) root.removeEventListener(name, explain);
  };
}
function meaningOf(text, meanings) {
  const words = text.trim().toLowerCase().replace(/[▴▾]$/, "").split(/\s+/);
  for (let count = Math.min(words.length, 5); count > 0; count--) {
    const found = meanings.get(words.slice(0, count).join(" "));
    if (found) return found;
  }
  return void 0;
}

// src/file_name.js
function shortName(name) {
  return name.replace(
    /([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (_whole, first) => `${first}…`
  );
}

// src/tree_model.js
var Tree = class {
  /** @type {Set<string>} */
  open = new Set(["", "delta"]);
  /** @type {Map<string, Children>} */
  children = new Map();
  /**
   * Replace all that is known by the answer for another snapshot.
   * @param {Record<string, Children>} children
   */
  load(children) {
    this.children = new Map(Object.entries(children));
  }
  /**
   * One more page of a node's children.
   * @param {string} key
   * @param {Children} page
   */
  extend(key, page) {
    const known = this.children.get(key);
    const nodes = known ? [...known.nodes, ...page.nodes] : page.nodes;
    this.children.set(key, { nodes, total: page.total });
  }
  /**
   * Rows from top to bottom below the root; a node with more children than known ends in a row of type "more".
   * @returns {TreeRow[]}
   */
  rows() {
    const rows = [];
    this.#collect("", 1, rows);
    return rows;
  }
  /**
   * @param {string} key
   * @param {number} depth
   * @param {TreeRow[]} rows
   */
  #collect(key, depth, rows) {
    const known = this.children.get(key);
    if (!known) {
      rows.push({ ...bare(`${key}/…`, "loading", "reading…"), depth });
      return;
    }
    known.nodes.forEach((node, position) => {
      const open = this.open.has(node.key) && node.expandable === true;
      rows.push({ ...node, depth, open, position: position + 1, siblings: known.total, rest: 0 });
      if (open) this.#collect(node.key, depth + 1, rows);
    });
    const rest = known.total - known.nodes.length;
    if (rest > 0) rows.push({ ...bare(`${key}/more`, "more", ""), depth, rest });
    if (!known.total && key) rows.push({ ...bare(`${key}/none`, "none", "empty"), depth });
  }
};
function bare(key, type, label) {
  return { key, type, label, depth: 0, open: false, position: 1, siblings: 1, rest: 0 };
}
function parentKey(key) {
  const cut2 = key.lastIndexOf("/");
  return cut2 < 0 ? "" : key.slice(0, cut2);
}

// src/tree_view.js
var QUIET_MILLIS3 = 60;
function createTree(context) {
  const { history, store, channel } = context;
  const tree = new Tree();
  const list = el("div", {
    class: "pe-tree",
    role: "tree",
    tabindex: "0",
    "aria-label": "Metadata files of the snapshot"
  });
  const says = history.count ? "No snapshot is selected." : NO_SNAPSHOT;
  const empty = el("div", { class: "pe-empty", hidden: true }, says);
  const message = el("div", { hidden: true });
  const element = el("div", { class: "pe-panel" }, message, empty, list);
  let current = "";
  let shownSnapshot = -1;
  let rows = [];
  const path = (key) => `${store.get().selected}${key ? `/${key}` : ""}`;
  const load = whenQuiet(async () => {
    const { selected } = store.get();
    if (!selected) return show();
    try {
      const keys2 = [...tree.open].sort();
      const answer = await channel.latest("tree", "tree", { snapshot: selected, keys: keys2 });
      if (!answer) return;
      tree.load(answer.body.children);
      shownSnapshot = selected;
      message.hidden = true;
    } catch (error) {
      tree.load({});
      fail(error);
    }
    show();
  }, QUIET_MILLIS3);
  const fail = (error) => {
    message.hidden = false;
    fill(message, problem(failureOf(error)));
  };
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
  const toggle = (row, open = !row.open) => {
    if (!row.expandable || open === row.open) return;
    if (open) {
      tree.open.add(row.key);
      if (!tree.children.has(row.key)) page(row.key);
    } else tree.open.delete(row.key);
    show();
  };
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
    const target = event.target;
    const row = rows[Number(target.closest("[data-row]")?.getAttribute("data-row"))];
    if (!row) return;
    if (target.closest(".pe-twisty")) toggle(row);
    else choose(row);
  });
  list.addEventListener("dblclick", (event) => {
    const target = event.target;
    const row = rows[Number(target.closest("[data-row]")?.getAttribute("data-row"))];
    if (row && !target.closest(".pe-twisty")) toggle(row);
  });
  list.addEventListener("keydown", (event) => {
    const at = Math.max(
      rows.findIndex((row) => row.key === current),
      -1
    );
    const next = rowAfter(event.key, at, rows.length);
    if (next !== void 0) {
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
    dispose: () => load.cancel()
  };
}
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
      "data-problem": row.problem !== void 0,
      "aria-level": row.depth,
      "aria-posinset": row.position,
      "aria-setsize": row.siblings,
      "aria-selected": String(row.key === current),
      "aria-expanded": row.expandable ? String(row.open) : null,
      title: title(row)
    },
    el(
      "span",
      { class: "pe-twisty", "aria-hidden": "true" },
      row.expandable ? row.open ? "▾" : "▸" : ""
    ),
    row.kind ? sign(row.kind) : null,
    el("span", { class: "pe-tree-label" }, labelOf(row)),
    row.range ? el("span", { class: "pe-tree-range" }, visible(row.range)) : null,
    row.shared ? el("span", { class: "pe-shared", title: visible(row.shared) }) : null,
    changeBar(row),
    el("span", { class: "pe-tree-figure" }, figure(row))
  );
  element.style.setProperty("--pe-depth", String(row.depth - 1));
  if (!row.problem) return element;
  element.append(el("span", { class: "pe-tree-problem" }, "⚠ ", visible(row.problem)));
  return element;
}
function sign(kind) {
  const add = kind === "ADD";
  return el(
    "span",
    { class: "pe-sign", "data-kind": kind, title: kind },
    add ? "+" : "−",
    el("span", { class: "pe-hidden" }, ` ${kind} `)
  );
}
function labelOf(row) {
  if (row.type === "more") return `${plural(row.rest, "more node")}…`;
  const [head, tail] = visible(shortName(row.label)).split(/(?=…)/);
  const tag = row.cancelled ? "s" : "span";
  return el(
    tag,
    { class: "pe-name-parts" },
    el("span", { class: tail ? "pe-name-head" : "pe-name-whole" }, head),
    tail ? el("span", {}, tail) : null
  );
}
function title(row) {
  return [
    row.name ?? row.label,
    row.range,
    row.shared,
    row.cancelled && "cancelled by another manifest entry",
    row.problem
  ].filter((text) => typeof text === "string" && text).map((text) => visible(text)).join("\n");
}
function changeBar({ added, deleted }) {
  if (added === void 0 || deleted === void 0 || added + deleted === 0) return null;
  const bar = el("span", { class: "pe-change-bar", "aria-hidden": "true" });
  bar.style.setProperty("--pe-share", `${100 * added / (added + deleted)}%`);
  return el(
    "span",
    { class: "pe-change" },
    added ? el("span", { class: "pe-plus" }, `+${formatShort(added)}`) : null,
    deleted ? el("span", { class: "pe-minus" }, `−${formatShort(deleted)}`) : null,
    bar
  );
}
function figure({ count, size }) {
  if (size !== void 0) return formatBytes(size);
  return count === void 0 ? "" : formatCount(count);
}

// src/side_panes.js
var PANES = {
  tree: createTree,
  detail: createDetail,
  layout: createLayout,
  search: createSearchBox,
  export: createExport
};
function create(context) {
  const made = PANES[context.pane](context);
  if (context.pane !== "layout") return made;
  context.root.prepend(el("style", {}, side_panes_default));
  restoreSettings(context);
  const { dispose } = made;
  const end = createTooltips(context);
  return {
    ...made,
    dispose() {
      dispose?.();
      end();
    }
  };
}
export {
  create
};
