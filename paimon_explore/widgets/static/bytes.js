// src/bytes.css
var bytes_default = '.peb-root {\n  --pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n  --pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n  --pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n  --pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n  --pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n  --pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n  --pe-select: color-mix(in srgb, var(--pe-accent) 20%, var(--pe-bg));\n  --pe-remove: #b3261e;\n  --pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n  --pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\n  height: var(--peb-height, 480px);\n  border: 1px solid var(--pe-line);\n  border-radius: 6px;\n  overflow: hidden;\n  background: var(--pe-bg);\n  color: var(--pe-fg);\n  font: 13px / 1.4 var(--pe-font);\n  text-align: left;\n}\n.peb-root[data-theme="dark"] {\n  --pe-remove: #ff8f85;\n}\n.peb-pane {\n  padding: 0;\n}\n.peb,\n.peb * {\n  box-sizing: border-box;\n}\n.peb {\n  container: peb / inline-size;\n  display: flex;\n  flex-direction: column;\n  height: 100%;\n  min-height: 0;\n  font-variant-numeric: tabular-nums;\n}\n.peb :focus-visible {\n  outline: 2px solid var(--pe-accent);\n  outline-offset: -2px;\n}\n.peb :is(h4, p, dl, dd) {\n  margin: 0;\n}\n.peb .peb-head {\n  display: flex;\n  flex-wrap: wrap;\n  align-items: center;\n  gap: 2px 10px;\n  padding: 3px 10px;\n  border-bottom: 1px solid var(--pe-line);\n  background: var(--pe-faint);\n  font-size: 12px;\n  min-height: 27px;\n}\n.peb .peb-title {\n  display: flex;\n  flex: 1 1 180px;\n  gap: 8px;\n  min-width: 0;\n}\n.peb .peb-title span {\n  flex: none;\n}\n.peb .peb-title strong {\n  min-width: 0;\n  overflow: hidden;\n  text-overflow: ellipsis;\n  white-space: nowrap;\n}\n.peb .peb-title span,\n.peb .peb-count,\n.peb .peb-size,\n.peb .peb-offset,\n.peb .peb-more {\n  color: var(--pe-muted);\n}\n.peb .peb-main {\n  display: flex;\n  flex: 1;\n  min-height: 0;\n}\n.peb .peb-left {\n  display: flex;\n  flex: none;\n  flex-direction: column;\n  min-height: 0;\n  border-right: 1px solid var(--pe-line);\n}\n.peb .peb-right {\n  display: flex;\n  flex: 1;\n  flex-direction: column;\n  min-width: 0;\n  min-height: 0;\n}\n.peb .peb-spaces {\n  display: flex;\n  flex-wrap: wrap;\n  align-items: center;\n  gap: 4px 6px;\n}\n.peb .peb-spaces button {\n  border: 1px solid var(--pe-line);\n  border-radius: 4px;\n  background: var(--pe-bg);\n  color: var(--pe-fg);\n  font: inherit;\n  padding: 0 6px;\n  cursor: pointer;\n}\n.peb .peb-spaces button::after {\n  content: " ›";\n}\n.peb .peb-space {\n  font-weight: 600;\n}\n.peb .peb-count {\n  margin-left: 6px;\n}\n.peb .peb-hex,\n.peb .peb-fields {\n  flex: 1;\n  min-height: 0;\n  overflow: auto;\n}\n.peb .peb-hex {\n  font: 12px / 24px var(--pe-mono);\n}\n.peb .peb-inside {\n  position: relative;\n  min-width: max-content;\n}\n.peb .peb-fields .peb-inside {\n  min-width: 0;\n}\n.peb .peb-row {\n  position: absolute;\n  left: 0;\n  height: 24px;\n  padding: 0 10px;\n  white-space: pre;\n}\n.peb .peb-row:nth-child(even) {\n  background: var(--pe-faint);\n}\n.peb .peb-hex .peb-inside::before {\n  content: "";\n  display: block;\n  visibility: hidden;\n  width: 78ch;\n}\n.peb[data-per-row="8"] .peb-hex .peb-inside::before {\n  width: 43ch;\n}\n.peb .peb-offset {\n  display: inline-block;\n  padding-right: 1.5ch;\n}\n.peb .peb-byte {\n  display: inline-block;\n  width: 3ch;\n  text-align: center;\n  cursor: pointer;\n}\n.peb .peb-mid {\n  margin-left: 1ch;\n}\n.peb .peb-glyphs {\n  padding-left: 1.5ch;\n}\n.peb .peb-glyph {\n  cursor: pointer;\n}\n.peb .peb-in {\n  background: var(--pe-select);\n  box-shadow: inset 0 -2px var(--pe-accent);\n}\n.peb .peb-at {\n  outline: 1px solid var(--pe-fg);\n  outline-offset: -2px;\n  font-weight: 700;\n}\n.peb .peb-field {\n  position: absolute;\n  left: 0;\n  right: 0;\n  display: flex;\n  align-items: center;\n  gap: 6px;\n  height: 24px;\n  padding: 0 8px 0 calc(6px + min(var(--peb-depth), 12) * 13px);\n  white-space: nowrap;\n  cursor: pointer;\n}\n.peb .peb-field:hover {\n  background: var(--pe-faint);\n}\n.peb .peb-field[aria-selected="true"] {\n  background: var(--pe-select);\n  box-shadow: inset 3px 0 var(--pe-accent);\n}\n.peb .peb-twisty {\n  flex: none;\n  width: 12px;\n  text-align: center;\n}\n.peb .peb-name {\n  flex: 0 1 auto;\n  min-width: 40px;\n  overflow: hidden;\n  text-overflow: ellipsis;\n  font-weight: 600;\n}\n.peb .peb-mark .peb-name {\n  font-weight: 400;\n  color: var(--pe-muted);\n}\n.peb .peb-value {\n  flex: 1 1 60px;\n  min-width: 30px;\n  overflow: hidden;\n  text-overflow: ellipsis;\n  font-family: var(--pe-mono);\n  font-size: 12px;\n}\n.peb .peb-size {\n  flex: none;\n  font-size: 11px;\n}\n.peb .peb-field[aria-selected="true"] .peb-size {\n  color: var(--pe-fg);\n}\n.peb .peb-strange .peb-name,\n.peb .peb-problem strong {\n  color: var(--pe-remove);\n}\n.peb .peb-problem {\n  padding: 6px 10px;\n  border-left: 3px solid var(--pe-remove);\n  background: var(--pe-faint);\n  overflow-wrap: anywhere;\n}\n.peb [hidden] {\n  display: none !important;\n}\n.peb .peb-say {\n  padding: 24px;\n  text-align: center;\n  color: var(--pe-muted);\n}\n.peb .peb-detail {\n  flex: none;\n  max-height: 40%;\n  min-height: 66px;\n  overflow: auto;\n  padding: 5px 10px;\n  border-top: 1px solid var(--pe-line);\n}\n.peb .peb-facts {\n  display: grid;\n  grid-template-columns: max-content 1fr;\n  gap: 1px 10px;\n}\n.peb .peb-facts dt {\n  white-space: nowrap;\n  color: var(--pe-muted);\n}\n.peb .peb-facts dd {\n  overflow-wrap: anywhere;\n}\n.peb .peb-where {\n  padding: 3px 10px;\n  border-top: 1px solid var(--pe-line);\n  background: var(--pe-faint);\n  font: 12px / 18px var(--pe-mono);\n  white-space: nowrap;\n  overflow: hidden;\n  text-overflow: ellipsis;\n}\n@container peb (max-width: 640px) {\n  .peb .peb-size {\n    display: none;\n  }\n  .peb .peb-field {\n    gap: 4px;\n    padding-left: calc(4px + min(var(--peb-depth), 12) * 7px);\n  }\n  .peb .peb-name {\n    flex-shrink: 0.2;\n  }\n  .peb .peb-facts {\n    grid-template-columns: 1fr;\n  }\n}\n@container peb (max-width: 500px) {\n  .peb .peb-main {\n    flex-direction: column;\n  }\n  .peb .peb-left {\n    max-width: none;\n    flex: 1 1 45%;\n    border-right: 0;\n    border-bottom: 1px solid var(--pe-line);\n  }\n  .peb .peb-right {\n    flex: 1 1 55%;\n  }\n}\n';

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
  #pages = /* @__PURE__ */ new Map();
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
      rows.push({ kind: "more", path, first: before, depth, label: `… ${first} before` });
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
        label: `… ${rest} more`
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

// src/grid.js
var ROW_HEIGHT = 24;
var OVERSCAN = 6;
var MOST_PIXELS = 8e6;
function windowOf(count, scrollTop, viewHeight) {
  const whole = count * ROW_HEIGHT;
  const height = Math.min(whole, MOST_PIXELS);
  const share = whole > height ? (whole - viewHeight) / Math.max(height - viewHeight, 1) : 1;
  const place = Math.max(Math.min(scrollTop, height - viewHeight), 0) * share;
  const first = Math.max(Math.floor(place / ROW_HEIGHT) - OVERSCAN, 0);
  const last = Math.min(Math.ceil((place + viewHeight) / ROW_HEIGHT) + OVERSCAN, count);
  const shift = share === 1 ? 0 : Math.min(scrollTop, Math.max(height - viewHeight, 0)) - place;
  return { first, last, top: first * ROW_HEIGHT + shift, height };
}
function scrollTo(row, count, scrollTop, viewHeight) {
  const whole = count * ROW_HEIGHT;
  const height = Math.min(whole, MOST_PIXELS);
  const share = whole > height ? (whole - viewHeight) / Math.max(height - viewHeight, 1) : 1;
  const place = scrollTop * share;
  const top = row * ROW_HEIGHT;
  if (top < place) return top / share;
  if (top + ROW_HEIGHT > place + viewHeight) return (top + ROW_HEIGHT - viewHeight) / share;
  return scrollTop;
}

// src/keys.js
function rowAfter(key, row, count) {
  if (!count) return void 0;
  if (key === "ArrowDown") return Math.min(row + 1, count - 1);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  return void 0;
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
    return SHORT.get(found) ?? (code < 256 ? `\\x${hex2(code, 2)}` : `\\u{${hex2(code, 4)}}`);
  });
}
function hex2(code, digits) {
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

// src/wire.js
var TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  f64: Float64Array
};
function decodeColumns(specs, buffer) {
  const columns = /* @__PURE__ */ Object.create(null);
  if (!specs.length) return columns;
  const isEmpty = specs.every(([, , , length]) => length === 0);
  const bytes = isEmpty && !buffer ? new Uint8Array(0) : aligned(buffer);
  for (const [name, type, offset, length] of specs) {
    if (!Object.hasOwn(TYPES, type)) throw new RangeError(`column type ${type} is not known`);
    const Type = TYPES[
      /** @type {keyof typeof TYPES} */
      type
    ];
    if (offset % 8 !== 0 || offset + length * Type.BYTES_PER_ELEMENT > bytes.byteLength) {
      throw new RangeError(`column ${name} lies outside of its buffer`);
    }
    columns[name] = new Type(
      /** @type {ArrayBuffer} */
      bytes.buffer,
      bytes.byteOffset + offset,
      length
    );
  }
  return columns;
}
function aligned(buffer) {
  if (!buffer) throw new RangeError("the buffer of the columns is missing");
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer);
  const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}
var AskError = class extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.message);
    this.failure = failure;
  }
};
function failureOf(error) {
  const failure = (
    /** @type {Partial<AskError> | undefined} */
    error?.failure
  );
  return failure ?? { kind: "error", message: String(error) };
}
var Channel = class {
  #model;
  #next = 1;
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (reason: Error) => void}>} */
  #waiting = /* @__PURE__ */ new Map();
  /** @type {Map<string, number>} */
  #newest = /* @__PURE__ */ new Map();
  #receive = (content, buffers) => this.#settle(content, buffers);
  /** Called with the number of requests that wait, after each change. */
  onWaiting = (_count) => {
  };
  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#receive);
  }
  close() {
    this.#model.off("msg:custom", this.#receive);
    this.#waiting.clear();
  }
  /**
   * One request; rejects with `AskError` when Python refuses it.
   * @param {string} op
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<Answer>}
   */
  ask(op, args = {}) {
    const id = this.#next++;
    const promise = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#model.send({ ...args, id, op });
    this.onWaiting(this.#waiting.size);
    return promise;
  }
  /**
   * As `ask`, but the answer is undefined once a newer request of the same slot was made.
   * @param {string} slot
   * @param {string} op
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<Answer | undefined>}
   */
  async latest(slot, op, args = {}) {
    const number = (this.#newest.get(slot) ?? 0) + 1;
    this.#newest.set(slot, number);
    try {
      const answer = await this.ask(op, args);
      return this.#newest.get(slot) === number ? answer : void 0;
    } catch (error) {
      if (this.#newest.get(slot) !== number) return void 0;
      throw error;
    }
  }
  /**
   * @param {any} content
   * @param {DataView[]} buffers
   */
  #settle(content, buffers) {
    const waiter = this.#waiting.get(content?.id);
    if (!waiter) return;
    this.#waiting.delete(content.id);
    this.onWaiting(this.#waiting.size);
    if (!content.ok) {
      waiter.reject(new AskError(content.error));
      return;
    }
    try {
      const columns = decodeColumns(content.columns ?? [], buffers?.[0]);
      waiter.resolve({ body: content.body, columns });
    } catch (error) {
      waiter.reject(
        /** @type {Error} */
        error
      );
    }
  }
};

// src/bytes_view.js
var WIDE = 860;
var CHUNK = 4096;
var MOST_CHUNKS = 256;
var instances = 0;
var MARKS = /* @__PURE__ */ new Set(["opens", "closes", "space", "key", "colon", "comma"]);
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
  let chunks = /* @__PURE__ */ new Map();
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
      chunks.delete(
        /** @type {string} */
        chunks.keys().next().value
      );
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
      ["rule", visible(field.rule)],
      ["stored as", field.form ? form : "a group of fields"]
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
      if (parts[i] === "@") steps.push([parts.slice(0, i).join("."), "unpacked"]);
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
      const leaf = (
        /** @type {Field} */
        body.places.at(-1)
      );
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
    const byte = (
      /** @type {HTMLElement} */
      event.target.dataset.byte
    );
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
    const target = (
      /** @type {HTMLElement} */
      event.target
    );
    const line = (
      /** @type {HTMLElement | null} */
      target.closest("[data-row]")
    );
    const row = line ? rows[Number(line.dataset.row)] : void 0;
    if (!row) return;
    if (row.kind === "field" && target.classList.contains("peb-twisty")) toggle(row.field);
    else press(row);
  });
  fieldsInside.addEventListener("dblclick", (event) => {
    const line = (
      /** @type {HTMLElement} */
      event.target.closest("[data-row]")
    );
    const row = rows[Number(
      /** @type {HTMLElement | null} */
      line?.dataset.row
    )];
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
      chunks = /* @__PURE__ */ new Map();
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
    if (!selected) return view.say("No snapshot is chosen, so there is no file to look into.");
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
