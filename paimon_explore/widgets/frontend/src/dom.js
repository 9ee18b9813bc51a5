// @ts-check
/** Elements from data: text only by textContent, attributes only from a list. */

const ATTRIBUTES = new Set([
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
  "width",
]);

/** @typedef {string | number | boolean | null | undefined} AttributeValue */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @param {Element} element
 * @param {string} name
 * @param {AttributeValue} value  null, undefined and false take the attribute away
 */
export function attribute(element, name, value) {
  if (!ATTRIBUTES.has(name) && !/^(aria|data)-[a-z-]+$/.test(name)) {
    throw new TypeError(`Attribute ${name} is not allowed.`);
  }
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * A new element; strings among the children become text nodes.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, AttributeValue>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) attribute(element, name, value);
  // JupyterLab looks for this on the focused element itself: its shortcuts stay away from our keys.
  if (element.tabIndex >= 0 || element.hasAttribute("tabindex")) {
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  fill(element, ...children);
  return element;
}

/**
 * Replace all children.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(
    .../** @type {(Node | string)[]} */ (children.filter((child) => child || child === "")),
  );
}

/**
 * A button; a label that is no word gets a name that is.
 * @param {string} label
 * @param {string} says
 * @param {() => void} action
 * @param {Record<string, AttributeValue>} [attributes]
 */
export function button(label, says, action, attributes = {}) {
  const made = el(
    "button",
    {
      type: "button",
      class: "pe-button",
      title: says,
      "aria-label": /[a-z]/i.test(label) ? null : says,
      ...attributes,
    },
    label,
  );
  made.addEventListener("click", action);
  return made;
}

const COPIED_MILLIS = 1200;

/**
 * A button that copies what is given, a text or a picture, and says whether it did.
 * @param {string} says
 * @param {() => string | ClipboardItem | Promise<string>} given
 */
export function copyButton(says, given) {
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

/**
 * A row of buttons of which one is pressed.
 * @param {string} says
 * @param {readonly (readonly [value: string, label: string, title: string])[]} choices
 * @param {(value: string) => void} choose
 */
export function segmented(says, choices, choose) {
  /** @type {Map<string, HTMLButtonElement>} */
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
      fill(/** @type {Element} */ (buttons.get(value)), label);
    },
  };
}

/**
 * The callback at most once per frame.
 * @param {() => void} callback
 */
export function perFrame(callback) {
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

/**
 * The callback once things have been quiet for a while.
 * @param {() => void} callback
 * @param {number} millis
 */
export function whenQuiet(callback, millis) {
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
  /** Call now what is waiting. */
  schedule.flush = () => {
    if (!timer) return;
    schedule.cancel();
    callback();
  };
  return schedule;
}
