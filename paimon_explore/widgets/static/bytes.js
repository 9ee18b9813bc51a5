// src/bytes.css
var bytes_default = '.peb-root {\n--pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n--pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n--pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n--pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n--pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n--pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n--pe-select: color-mix(in srgb, var(--pe-accent) 20%, var(--pe-bg));\n--pe-remove: #b3261e;\n--pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n--pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\nheight: var(--peb-height, 480px);\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\noverflow: hidden;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 13px / 1.4 var(--pe-font);\ntext-align: left;\n}\n.peb-root[data-theme="dark"] {\n--pe-remove: #ff8f85;\n}\n.peb-pane {\npadding: 0;\n}\n.peb,\n.peb * {\nbox-sizing: border-box;\n}\n.peb {\ncontainer: peb / inline-size;\ndisplay: flex;\nflex-direction: column;\nheight: 100%;\nmin-height: 0;\nfont-variant-numeric: tabular-nums;\n}\n.peb :focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n.peb :is(h4, p, dl, dd) {\nmargin: 0;\n}\n.peb .peb-head {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 2px 10px;\npadding: 3px 10px;\nborder-bottom: 1px solid var(--pe-line);\nbackground: var(--pe-faint);\nfont-size: 12px;\nmin-height: 27px;\n}\n.peb .peb-title {\ndisplay: flex;\nflex: 1 1 180px;\ngap: 8px;\nmin-width: 0;\n}\n.peb .peb-title span {\nflex: none;\n}\n.peb .peb-title strong {\nmin-width: 0;\noverflow: hidden;\ntext-overflow: ellipsis;\nwhite-space: nowrap;\n}\n.peb .peb-title span,\n.peb .peb-count,\n.peb .peb-size,\n.peb .peb-offset,\n.peb .peb-more {\ncolor: var(--pe-muted);\n}\n.peb .peb-main {\ndisplay: flex;\nflex: 1;\nmin-height: 0;\n}\n.peb .peb-left {\ndisplay: flex;\nflex: none;\nflex-direction: column;\nmin-height: 0;\nborder-right: 1px solid var(--pe-line);\n}\n.peb .peb-right {\ndisplay: flex;\nflex: 1;\nflex-direction: column;\nmin-width: 0;\nmin-height: 0;\n}\n.peb .peb-spaces {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 4px 6px;\n}\n.peb .peb-spaces button {\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: inherit;\npadding: 0 6px;\ncursor: pointer;\n}\n.peb .peb-spaces button::after {\ncontent: " ›";\n}\n.peb .peb-space {\nfont-weight: 600;\n}\n.peb .peb-count {\nmargin-left: 6px;\n}\n.peb .peb-hex,\n.peb .peb-fields {\nflex: 1;\nmin-height: 0;\noverflow: auto;\n}\n.peb .peb-hex {\nfont: 12px / 24px var(--pe-mono);\n}\n.peb .peb-inside {\nposition: relative;\nmin-width: max-content;\n}\n.peb .peb-fields .peb-inside {\nmin-width: 0;\n}\n.peb .peb-row {\nposition: absolute;\nleft: 0;\nheight: 24px;\npadding: 0 10px;\nwhite-space: pre;\n}\n.peb .peb-row:nth-child(even) {\nbackground: var(--pe-faint);\n}\n.peb .peb-hex .peb-inside::before {\ncontent: "";\ndisplay: block;\nvisibility: hidden;\nwidth: 78ch;\n}\n.peb[data-per-row="8"] .peb-hex .peb-inside::before {\nwidth: 43ch;\n}\n.peb .peb-offset {\ndisplay: inline-block;\npadding-right: 1.5ch;\n}\n.peb .peb-byte {\ndisplay: inline-block;\nwidth: 3ch;\ntext-align: center;\ncursor: pointer;\n}\n.peb .peb-mid {\nmargin-left: 1ch;\n}\n.peb .peb-glyphs {\npadding-left: 1.5ch;\n}\n.peb .peb-glyph {\ncursor: pointer;\n}\n.peb .peb-in {\nbackground: var(--pe-select);\nbox-shadow: inset 0 -2px var(--pe-accent);\n}\n.peb .peb-at {\noutline: 1px solid var(--pe-fg);\noutline-offset: -2px;\nfont-weight: 700;\n}\n.peb .peb-field {\nposition: absolute;\nleft: 0;\nright: 0;\ndisplay: flex;\nalign-items: center;\ngap: 6px;\nheight: 24px;\npadding: 0 8px 0 calc(6px + min(var(--peb-depth), 12) * 13px);\nwhite-space: nowrap;\ncursor: pointer;\n}\n.peb .peb-field:hover {\nbackground: var(--pe-faint);\n}\n.peb .peb-field[aria-selected="true"] {\nbackground: var(--pe-select);\nbox-shadow: inset 3px 0 var(--pe-accent);\n}\n.peb .peb-twisty {\nflex: none;\nwidth: 12px;\ntext-align: center;\n}\n.peb .peb-name {\nflex: 0 1 auto;\nmin-width: 40px;\noverflow: hidden;\ntext-overflow: ellipsis;\nfont-weight: 600;\n}\n.peb .peb-mark .peb-name {\nfont-weight: 400;\ncolor: var(--pe-muted);\n}\n.peb .peb-value {\nflex: 1 1 60px;\nmin-width: 30px;\noverflow: hidden;\ntext-overflow: ellipsis;\nfont-family: var(--pe-mono);\nfont-size: 12px;\n}\n.peb .peb-size {\nflex: none;\nfont-size: 11px;\n}\n.peb .peb-field[aria-selected="true"] .peb-size {\ncolor: var(--pe-fg);\n}\n.peb .peb-strange .peb-name,\n.peb .peb-problem strong {\ncolor: var(--pe-remove);\n}\n.peb .peb-problem {\npadding: 6px 10px;\nborder-left: 3px solid var(--pe-remove);\nbackground: var(--pe-faint);\noverflow-wrap: anywhere;\n}\n.peb [hidden] {\ndisplay: none !important;\n}\n.peb .peb-say {\npadding: 24px;\ntext-align: center;\ncolor: var(--pe-muted);\n}\n.peb .peb-detail {\nflex: none;\nmax-height: 40%;\nmin-height: 66px;\noverflow: auto;\npadding: 5px 10px;\nborder-top: 1px solid var(--pe-line);\n}\n.peb .peb-facts {\ndisplay: grid;\ngrid-template-columns: max-content 1fr;\ngap: 1px 10px;\n}\n.peb .peb-facts dt {\nwhite-space: nowrap;\ncolor: var(--pe-muted);\n}\n.peb .peb-facts dd {\noverflow-wrap: anywhere;\n}\n.peb .peb-where {\npadding: 3px 10px;\nborder-top: 1px solid var(--pe-line);\nbackground: var(--pe-faint);\nfont: 12px / 18px var(--pe-mono);\nwhite-space: nowrap;\noverflow: hidden;\ntext-overflow: ellipsis;\n}\n@container peb (max-width: 640px) {\n.peb .peb-size {\ndisplay: none;\n}\n.peb .peb-field {\ngap: 4px;\npadding-left: calc(4px + min(var(--peb-depth), 12) * 7px);\n}\n.peb .peb-name {\nflex-shrink: 0.2;\n}\n.peb .peb-facts {\ngrid-template-columns: 1fr;\n}\n}\n@container peb (max-width: 500px) {\n.peb .peb-main {\nflex-direction: column;\n}\n.peb .peb-left {\nmax-width: none;\nflex: 1 1 45%;\nborder-right: 0;\nborder-bottom: 1px solid var(--pe-line);\n}\n.peb .peb-right {\nflex: 1 1 55%;\n}\n}\n';

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/byte_model.js
var PAGE = 200;
function spaceOf(path) {
  const steps = path.split(".");
  const last = steps.lastIndexOf("@");
  return last < 0 ? "" : steps.slice(0, last).join(".");
}
function pagesTo(path) {
  const steps = path ? path.split(".") : [];
  return steps.map((step, i) => {
    const at = step === "@" ? 0 : Number(step);
    return [steps.slice(0, i).join("."), Math.floor(at / PAGE) * PAGE];
  });
}
var FieldTree = class {
  /** @type {Map<string, Page>} */
  #pages = new Map();
  /**
   * @param {string} path
   * @param {Page} page
   */
  put(path, page) {
    this.#pages.set(path, page);
  }
  /** @param {string} path */
  page(path) {
    return this.#pages.get(path);
  }
  /** @param {string} path */
  close(path) {
    for (const known of [...this.#pages.keys()]) {
      if (known === path || known.startsWith(`${path}.`)) this.#pages.delete(known);
    }
  }
  /**
   * The rows from top to bottom.
   * @returns {Row[]}
   */
  rows() {
    const rows = [];
    this.#below("", 0, rows);
    return rows;
  }
  /**
   * @param {string} path
   * @param {number} depth
   * @param {Row[]} rows
   */
  #below(path, depth, rows) {
    const page = this.#pages.get(path);
    if (!page) return;
    const { first, total, items } = page;
    if (first > 0) {
      const before = Math.max(first - PAGE, 0);
      rows.push({
        kind: "more",
        path,
        first: before,
        depth,
        label: `… ${plural(first, "previous field")}`
      });
    }
    for (const field of items) {
      const open = this.#pages.has(field.path);
      rows.push({ kind: "field", field, depth, open });
      if (open) this.#below(field.path, depth + 1, rows);
    }
    const rest = total - first - items.length;
    if (rest > 0) {
      rows.push({
        kind: "more",
        path,
        first: first + items.length,
        depth,
        label: `… ${plural(rest, "more field")}`
      });
    }
  }
};
function glyph(byte) {
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·";
}
function hex(value, digits) {
  return value.toString(16).padStart(digits, "0");
}
function offsetDigits(size) {
  return Math.max(4, Math.ceil(Math.log2(Math.max(size, 2)) / 4));
}
function byteAfter(key, at, size, perRow, page) {
  const step = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -perRow,
    ArrowDown: perRow,
    PageUp: -perRow * page,
    PageDown: perRow * page,
    Home: -at,
    End: size - 1 - at
  }[key];
  if (step === void 0 || !size) return void 0;
  const to = at + step;
  if (to < 0 || to >= size)
    return Math.abs(step) > 1 && key.startsWith("Page") ? to < 0 ? 0 : size - 1 : at;
  return to;
}

// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/keyboard.js
function rowAfter(key, row, count) {
  if (!count) return void 0;
  if (key === "ArrowDown") return Math.min(row + 1, count - 1);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  return void 0;
}

// src/virtual_scroll.js
var { ROW_HEIGHT, windowOf, scrollTo } = peShared;

// src/bytes_view.js
var WIDE = 860;
var CHUNK = 4096;
var MOST_CHUNKS = 256;
var instances = 0;
var MARKS = new Set(["opens", "closes", "space", "key", "colon", "comma"]);
function isMark(field) {
  return field.form === "JSON" && MARKS.has(field.name) || field.form === "zeros";
}
function createBytesView(ask) {
  const prefix = `peb${++instances}`;
  let file;
  let tree = new FieldTree();
  let rows = [];
  let chosen;
  let space = "";
  let spaceSize = 0;
  let spaceName = "";
  let cursor = 0;
  let perRow = 16;
  let chunks = new Map();
  let generation = 0;
  const title = el("div", { class: "peb-title" });
  const where = el("div", { class: "peb-where", role: "status" });
  const hexHead = el("div", { class: "peb-spaces" });
  const head = el("div", { class: "peb-head" }, title, hexHead);
  const hexInside = el("div", { class: "peb-inside" });
  const hexBox = el(
    "div",
    {
      class: "peb-hex",
      tabindex: "0",
      role: "grid",
      "aria-label": "Bytes",
      "aria-readonly": "true"
    },
    hexInside
  );
  const fieldsInside = el("div", { class: "peb-inside", role: "presentation" });
  const fieldsBox = el(
    "div",
    { class: "peb-fields", tabindex: "0", role: "tree", "aria-label": "Fields" },
    fieldsInside
  );
  const detail = el("div", {
    class: "peb-detail",
    tabindex: "0",
    role: "region",
    "aria-label": "Field"
  });
  const notice = el("div", { class: "peb-notice" });
  const main = el(
    "div",
    { class: "peb-main" },
    el("div", { class: "peb-left" }, hexBox),
    el("div", { class: "peb-right" }, fieldsBox, detail)
  );
  const element = el("div", { class: "peb" }, head, notice, main, where);
  const drawHex = perFrame(() => {
    const count = Math.ceil(spaceSize / perRow);
    const view = windowOf(count, hexBox.scrollTop, hexBox.clientHeight || 300);
    const digits = offsetDigits(spaceSize);
    hexInside.style.height = `${view.height}px`;
    const first = chosen && spaceOf(chosen.path) === space ? chosen.offset : -1;
    const end = first < 0 ? -1 : first + (chosen?.length ?? 0);
    const drawn = [];
    for (let row = view.first; row < view.last; row++) {
      const line = hexRow(row, digits, first, end);
      line.style.top = `${view.top + (row - view.first) * ROW_HEIGHT}px`;
      drawn.push(line);
    }
    hexInside.replaceChildren(...drawn);
    attribute(hexBox, "aria-rowcount", count);
    attribute(hexBox, "aria-activedescendant", spaceSize ? `${prefix}-b${cursor}` : null);
  });
  const hexRow = (row, digits, first, end) => {
    const start = row * perRow;
    const line = el(
      "div",
      { class: "peb-row", role: "row", "aria-rowindex": row + 1 },
      el("span", { class: "peb-offset", role: "rowheader" }, hex(start, digits))
    );
    const letters = el("span", { class: "peb-glyphs", "aria-hidden": "true" });
    for (let i = start; i < Math.min(start + perRow, spaceSize); i++) {
      const byte = byteAt(i);
      const inField = i >= first && i < end;
      const kind = `${inField ? " peb-in" : ""}${i === cursor ? " peb-at" : ""}`;
      line.append(
        el(
          "span",
          {
            class: `peb-byte${kind}${i % 8 === 0 && i !== start ? " peb-mid" : ""}`,
            role: "gridcell",
            id: `${prefix}-b${i}`,
            "data-byte": i,
            "aria-selected": inField ? "true" : null
          },
          byte === void 0 ? "··" : hex(byte, 2)
        )
      );
      letters.append(
        el(
          "span",
          { class: `peb-glyph${kind}`, "data-byte": i },
          byte === void 0 ? " " : glyph(byte)
        )
      );
    }
    line.append(letters);
    return line;
  };
  const byteAt = (offset) => {
    const number = Math.floor(offset / CHUNK);
    const key = `${space}:${number}`;
    const known = chunks.get(key);
    if (known) return known[offset - number * CHUNK];
    if (known === void 0 && file) loadChunk(key, number);
    return void 0;
  };
  const loadChunk = async (key, number) => {
    const mine = generation;
    chunks.set(key, null);
    if (chunks.size > MOST_CHUNKS)
      chunks.delete(chunks.keys().next().value);
    try {
      const { columns } = await ask("byte_data", {
        handle: file?.handle,
        within: space,
        offset: number * CHUNK,
        length: CHUNK
      });
      if (mine !== generation) return;
      chunks.set(key, Uint8Array.from(columns.bytes));
      drawHex();
      tell();
    } catch (error) {
      if (mine === generation) fail(error);
    }
  };
  const drawFields = perFrame(() => {
    const view = windowOf(rows.length, fieldsBox.scrollTop, fieldsBox.clientHeight || 300);
    fieldsInside.style.height = `${view.height}px`;
    const drawn = [];
    for (let i = view.first; i < view.last; i++) {
      const line = fieldRow(rows[i], i);
      line.style.top = `${view.top + (i - view.first) * ROW_HEIGHT}px`;
      drawn.push(line);
    }
    fieldsInside.replaceChildren(...drawn);
    const at = rows.findIndex((row) => row.kind === "field" && row.field.path === chosen?.path);
    const shown = at >= view.first && at < view.last;
    attribute(fieldsBox, "aria-activedescendant", shown ? `${prefix}-f${at}` : null);
  });
  const fieldRow = (row, i) => {
    if (row.kind === "more") {
      const line2 = el(
        "div",
        { class: "peb-field", role: "treeitem", id: `${prefix}-f${i}`, "data-row": i },
        el("span", { class: "peb-more" }, row.label)
      );
      line2.style.setProperty("--peb-depth", String(row.depth));
      return line2;
    }
    const { field } = row;
    const line = el(
      "div",
      {
        class: `peb-field${field.strange ? " peb-strange" : ""}${isMark(field) ? " peb-mark" : ""}`,
        role: "treeitem",
        id: `${prefix}-f${i}`,
        "data-row": i,
        "aria-level": row.depth + 1,
        "aria-expanded": field.opens ? String(row.open) : null,
        "aria-selected": String(field.path === chosen?.path),
        title: field.rule || null
      },
      el(
        "span",
        { class: "peb-twisty", "aria-hidden": "true" },
        field.opens ? row.open ? "▾" : "▸" : ""
      ),
      el("span", { class: "peb-name" }, visible(cut(field.name, 80))),
      el("span", { class: "peb-value" }, visible(cut(field.text, 120))),
      el(
        "span",
        { class: "peb-size" },
        `${formatCount(field.offset)} +${formatCount(field.length)}`
      )
    );
    line.style.setProperty("--peb-depth", String(row.depth));
    return line;
  };
  const drawDetail = (field) => {
    const list = el("dl", { class: "peb-facts" });
    const form = field.form === field.says ? field.form : `${field.form}: ${field.says}`;
    const facts = [
      ["value", visible(field.text)],
      ["description", visible(field.rule)],
      ["stored as", field.form ? form : "group of fields"]
    ];
    for (const [name, text] of facts) {
      if (text) list.append(el("dt", {}, name), el("dd", {}, text));
    }
    fill(detail, list);
    detail.scrollTop = 0;
  };
  const drawTitle = () => {
    if (!file) return fill(title);
    fill(
      title,
      el("span", {}, visible(file.layout)),
      file.crossCheck ? el("span", { title: visible(file.crossCheck) }, visible(cut(file.crossCheck, 60))) : null,
      el("strong", { title: visible(file.path) }, visible(cut(file.name, 90)))
    );
  };
  const drawSpaces = () => {
    const steps = [["", file?.name ?? ""]];
    const parts = space ? space.split(".") : [];
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === "@") steps.push([parts.slice(0, i).join("."), "decompressed"]);
    }
    if (space) steps.push([space, spaceName]);
    const shown = steps.map(([path, name], i) => {
      const says = i ? visible(name) : "file";
      if (path === space) return el("span", { class: "peb-space" }, says);
      return button(says, `Show the bytes of ${visible(cut(name, 60))}`, () => enter(path, 0));
    });
    fill(hexHead, ...shown, el("span", { class: "peb-count" }, `${formatCount(spaceSize)} bytes`));
  };
  const fail = (error) => {
    const failure = failureOf(error);
    fill(
      notice,
      el(
        "div",
        { class: "peb-problem", role: "alert" },
        el("strong", {}, visible(failure.kind)),
        ` ${visible(cut(failure.message, 1e3))}`,
        failure.hint ? ` ${visible(failure.hint)}` : null
      )
    );
    attribute(element, "data-error", failure.kind);
  };
  const enter = async (path, offset) => {
    if (path !== space) {
      space = path;
      if (!path) {
        spaceSize = file?.size ?? 0;
        spaceName = file?.name ?? "";
      } else {
        const page = await load(path, 0);
        if (!page) return;
        spaceSize = page.items[0].length;
        spaceName = page.items[0].name;
      }
      hexInside.style.height = `${windowOf(Math.ceil(spaceSize / perRow), 0, 0).height}px`;
      hexBox.scrollTop = 0;
      drawSpaces();
    }
    moveTo(offset, false);
  };
  const load = async (path, first) => {
    const known = tree.page(path);
    if (known && known.first === first) return known;
    const mine = generation;
    try {
      const { body } = await ask("byte_fields", { handle: file?.handle, path, first });
      if (mine !== generation) return void 0;
      const page = { first, total: body.total, items: body.fields };
      tree.put(path, page);
      return page;
    } catch (error) {
      if (mine === generation) fail(error);
      return void 0;
    }
  };
  const refresh = () => {
    rows = tree.rows();
    fieldsInside.style.height = `${windowOf(rows.length, 0, 0).height}px`;
    drawFields();
    drawHex();
    attribute(element, "data-fields", rows.length);
  };
  const choose = async (field, follow) => {
    chosen = field;
    drawDetail(field);
    tell();
    if (follow) {
      await enter(spaceOf(field.path), field.offset);
      refresh();
    }
  };
  const tell = () => {
    const byte = byteAt(cursor);
    const value = byte === void 0 ? "" : ` = 0x${hex(byte, 2)} = ${byte}`;
    const place = chosen ? ` of ${formatCount(chosen.length)} in ${cut(chosen.name, 60)}` : "";
    const inside = chosen && cursor >= chosen.offset && cursor < chosen.offset + chosen.length;
    const name = chosen && inside ? `: byte ${cursor - chosen.offset + 1}${place}` : "";
    fill(where, visible(`byte ${formatCount(cursor)} (0x${hex(cursor, 4)})${value}${name}`));
    attribute(element, "data-byte", cursor);
    attribute(element, "data-path", chosen?.path ?? "");
  };
  const moveTo = (offset, explain) => {
    cursor = Math.max(0, Math.min(offset, spaceSize - 1));
    const count = Math.ceil(spaceSize / perRow);
    const row = Math.floor(cursor / perRow);
    hexBox.scrollTop = scrollTo(row, count, hexBox.scrollTop, hexBox.clientHeight);
    drawHex();
    tell();
    if (explain && spaceSize) findField(cursor);
  };
  let asked = 0;
  const findField = async (offset) => {
    const mine = ++asked;
    try {
      const { body } = await ask("byte_at", { handle: file?.handle, within: space, offset });
      if (mine !== asked) return;
      const leaf = body.places.at(-1);
      for (const [path, first] of pagesTo(leaf.path)) await load(path, first);
      if (mine !== asked) return;
      await choose(leaf, false);
      refresh();
      reveal();
    } catch (error) {
      if (mine === asked) fail(error);
    }
  };
  const reveal = () => {
    const at = rows.findIndex((row) => row.kind === "field" && row.field.path === chosen?.path);
    if (at < 0) return;
    fieldsBox.scrollTop = scrollTo(at, rows.length, fieldsBox.scrollTop, fieldsBox.clientHeight);
    drawFields();
  };
  const openFirst = async (paths) => {
    const mine = generation;
    for (const path of paths) await load(path, 0);
    if (mine === generation) refresh();
  };
  const toggle = async (field) => {
    if (!field.opens) return;
    if (tree.page(field.path)) tree.close(field.path);
    else await load(field.path, 0);
    refresh();
  };
  const press = async (row) => {
    if (row.kind === "field") return choose(row.field, true);
    await load(row.path, row.first);
    refresh();
  };
  hexBox.addEventListener("scroll", drawHex, { passive: true });
  fieldsBox.addEventListener("scroll", drawFields, { passive: true });
  hexInside.addEventListener("click", (event) => {
    const byte = event.target.dataset.byte;
    if (byte !== void 0) moveTo(Number(byte), true);
  });
  hexBox.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(hexBox.clientHeight / ROW_HEIGHT) - 1);
    const to = byteAfter(event.key, cursor, spaceSize, perRow, page);
    if (to === void 0) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(to, true);
  });
  fieldsInside.addEventListener("click", (event) => {
    const target = event.target;
    const line = target.closest("[data-row]");
    const row = line ? rows[Number(line.dataset.row)] : void 0;
    if (!row) return;
    if (row.kind === "field" && target.classList.contains("peb-twisty")) toggle(row.field);
    else press(row);
  });
  fieldsInside.addEventListener("dblclick", (event) => {
    const line = event.target.closest("[data-row]");
    const row = rows[Number(line?.dataset.row)];
    if (row?.kind === "field") toggle(row.field);
  });
  fieldsBox.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = rows.findIndex((row2) => row2.kind === "field" && row2.field.path === chosen?.path);
    const row = rows[at];
    const to = rowAfter(event.key, at, rows.length);
    const opening = event.key === "ArrowRight" || event.key === "+";
    const closing = event.key === "ArrowLeft" || event.key === "-" || event.key === "−";
    if (to !== void 0 && rows[to]) press(rows[to]).then(reveal);
    else if (row?.kind === "field" && opening && row.field.opens && !row.open) toggle(row.field);
    else if (row?.kind === "field" && closing && row.open) toggle(row.field);
    else if (event.key === "Enter" && row?.kind === "field") toggle(row.field);
    else if (!opening && !closing && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
  });
  const watcher = new ResizeObserver(() => {
    const fits = element.clientWidth >= WIDE ? 16 : 8;
    if (fits !== perRow) {
      perRow = fits;
      moveTo(cursor, false);
    }
    attribute(element, "data-per-row", perRow);
    drawHex();
    drawFields();
  });
  watcher.observe(hexBox);
  watcher.observe(fieldsBox);
  return {
    element,
    focus: () => hexBox.focus(),
    fail,
    /** @param {string} text */
    say(text) {
      fill(notice, el("p", { class: "peb-say" }, text));
      main.hidden = head.hidden = where.hidden = true;
    },
    /** @param {File} opened */
    show(opened) {
      generation += 1;
      file = opened;
      tree = new FieldTree();
      chunks = new Map();
      chosen = void 0;
      space = "";
      spaceSize = opened.size;
      spaceName = opened.name;
      hexInside.style.height = `${windowOf(Math.ceil(spaceSize / perRow), 0, 0).height}px`;
      cursor = 0;
      fill(notice);
      main.hidden = head.hidden = where.hidden = false;
      attribute(element, "data-error", null);
      tree.put("", { first: 0, total: opened.total, items: opened.fields });
      hexBox.scrollTop = 0;
      fieldsBox.scrollTop = 0;
      drawTitle();
      drawSpaces();
      refresh();
      if (opened.fields.length) choose(opened.fields[0], false);
      else fill(detail, el("p", {}, "The file is empty."));
      tell();
      attribute(element, "data-file", opened.name);
      openFirst(opened.open ?? []);
    },
    dispose() {
      generation += 1;
      watcher.disconnect();
      drawHex.cancel();
      drawFields.cancel();
    }
  };
}

// src/theme.js
var { readColours, isDark, watchTheme } = peShared;

// src/bytes.js
var QUIET_MILLIS = 80;
function create(context) {
  const { store, channel } = context;
  const view = createBytesView((op, args) => channel.ask(op, args));
  const element = el("div", { class: "pe-view peb-pane" }, view.element);
  element.prepend(el("style", {}, bytes_default));
  let shown = "";
  const load = whenQuiet(async () => {
    const { node, selected, tab } = store.get();
    const wanted = node || String(selected);
    if (!selected) {
      const any = context.history.count > 0;
      return view.say(any ? "No snapshot is selected." : NO_SNAPSHOT);
    }
    if (tab !== "bytes" || wanted === shown) return;
    shown = wanted;
    try {
      const answer = await channel.latest("bytes", "bytes", { node: wanted });
      if (answer) view.show(answer.body);
    } catch (error) {
      view.fail(error);
    }
  }, QUIET_MILLIS);
  load();
  return {
    element,
    focus: view.focus,
    update(changed) {
      if (changed.has("node") || changed.has("selected") || changed.has("tab")) load();
    },
    dispose() {
      load.cancel();
      view.dispose();
    }
  };
}
function render({ model, el: place }) {
  const root = el("div", {
    class: "peb-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Bytes of a file"
  });
  const height = Math.max(240, Math.min(Number(model.get("height")) || 480, 4e3));
  root.style.setProperty("--peb-height", model.get("height") === "fill" ? "100%" : `${height}px`);
  fill(place, el("style", {}, bytes_default), root);
  const channel = new Channel(model);
  const view = createBytesView((op, args) => channel.ask(op, args));
  fill(root, view.element);
  const unwatch = watchTheme(root, () => {
  });
  channel.ask("bytes").then((answer) => view.show(answer.body)).catch((error) => view.fail(error)).finally(() => attribute(root, "data-ready", "1"));
  return () => {
    unwatch();
    view.dispose();
    channel.close();
  };
}
var bytes_default2 = { render };
export {
  create,
  bytes_default2 as default
};
