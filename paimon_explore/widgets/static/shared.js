const peShared = (() => {
// src/channel.js
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
  const columns = Object.create(null);
  if (!specs.length) return columns;
  const isEmpty = specs.every(([, , , length]) => length === 0);
  const bytes = isEmpty && !buffer ? new Uint8Array(0) : aligned(buffer);
  for (const [name, type, offset, length] of specs) {
    if (!Object.hasOwn(TYPES, type)) throw new RangeError(`Unknown column type ${type}.`);
    const Type = TYPES[type];
    if (offset % 8 !== 0 || offset + length * Type.BYTES_PER_ELEMENT > bytes.byteLength) {
      throw new RangeError(`Column ${name} extends beyond the buffer.`);
    }
    columns[name] = new Type(
      bytes.buffer,
      bytes.byteOffset + offset,
      length
    );
  }
  return columns;
}
function aligned(buffer) {
  if (!buffer) throw new RangeError("The answer has no column buffer.");
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer);
  const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}
function decodeTexts(bytes, ends) {
  const decoder = new TextDecoder();
  const texts = [];
  let start = 0;
  for (const end of ends) {
    texts.push(decoder.decode(bytes.subarray(start, end)));
    start = end;
  }
  return texts;
}
var AskError = class extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.message);
    this.failure = failure;
  }
};
function failureOf(error) {
  const failure = error?.failure;
  return failure ?? { kind: "error", message: String(error) };
}
var ENDED = {
  kind: "Disconnected",
  message: "The Python kernel of this view cannot be reached, as after a restart.",
  hint: "Run the cell again."
};
var Channel = class {
  #model;
  #next = Math.floor(Math.random() * 2 ** 50);
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (reason: Error) => void}>} */
  #waiting = new Map();
  /** @type {Map<string, number>} */
  #newest = new Map();
  #receive = (content, buffers) => this.#settle(content, buffers);
  /** The kernel ended: it will not answer. */
  #end = () => {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, ok: false, error: ENDED }, []);
  };
  /** Called with the number of requests that wait, after each change. */
  onWaiting = (_count) => {
  };
  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#receive);
    model.on("comm_live_update", this.#end);
  }
  close() {
    this.#model.off("msg:custom", this.#receive);
    this.#model.off("comm_live_update", this.#end);
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
    this.onWaiting(this.#waiting.size);
    try {
      this.#model.send({ ...args, id, op });
    } catch {
      this.#settle({ id, ok: false, error: ENDED }, []);
    }
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
      waiter.reject(error);
    }
  }
};

// src/dom.js
var ATTRIBUTES = new Set([
  "autocomplete",
  "class",
  "for",
  "height",
  "hidden",
  "id",
  "list",
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
    throw new TypeError(`Attribute ${name} is not allowed.`);
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
    ...children.filter((child) => child || child === "")
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
var COPIED_MILLIS = 1200;
function copyButton(says, given) {
  const made = button("copy", says, async () => {
    try {
      const found = await given();
      if (typeof found === "string") await navigator.clipboard.writeText(found);
      else await navigator.clipboard.write([found]);
      fill(made, "copied");
    } catch {
      fill(made, "not copied");
    }
    setTimeout(() => fill(made, "copy"), COPIED_MILLIS);
  });
  return made;
}
function segmented(says, choices, choose) {
  const buttons = new Map();
  const element = el("div", { class: "pe-segmented", role: "group", "aria-label": says });
  for (const [value, label, title] of choices) {
    const made = el("button", { type: "button", title, "aria-pressed": "false" }, label);
    made.addEventListener("click", () => choose(value));
    buttons.set(value, made);
    element.append(made);
  }
  return {
    element,
    /** @param {string} value */
    press(value) {
      for (const [key, made] of buttons) attribute(made, "aria-pressed", String(key === value));
    },
    /**
     * @param {string} value
     * @param {string} label
     */
    label(value, label) {
      fill(buttons.get(value), label);
    }
  };
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
    timer = setTimeout(() => {
      timer = 0;
      callback();
    }, millis);
  };
  schedule.cancel = () => {
    clearTimeout(timer);
    timer = 0;
  };
  schedule.flush = () => {
    if (!timer) return;
    schedule.cancel();
    callback();
  };
  return schedule;
}

// src/text_format.js
var UNSEEN = /\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
var SHORT = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["	", "\\t"]
]);
var CELL_LIMIT = 256;
var NO_SNAPSHOT = "The table has no snapshot yet. Write rows to it, for example with t.append(rows) or in the tab SQL.";
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
function formatTime(millis, { utc = false, seconds = true } = {}) {
  const shifted = utc ? millis : millis - new Date(millis).getTimezoneOffset() * 6e4;
  const date = new Date(shifted);
  if (Number.isNaN(date.getTime())) return "unknown time";
  const text = date.toISOString().replace("T", " ").slice(0, -5);
  return seconds ? text : text.slice(0, -3);
}
function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
var withExample = (label, example) => example ? `${label}, e.g. ${visible(example)}` : label;

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
  let timers = [];
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

// src/virtual_scroll.js
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

// <stdin>
var shared = { decodeColumns, decodeTexts, AskError, failureOf, Channel, attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet, CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample, readColours, isDark, watchTheme, ROW_HEIGHT, windowOf, scrollTo };
return shared;
})();
