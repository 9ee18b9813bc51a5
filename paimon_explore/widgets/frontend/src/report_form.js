// @ts-check
/** The form of a report, and the code that does what the report previews. */

import { attribute, button, copyButton, el } from "./dom.js";
import { cut, visible } from "./text_format.js";

/** @typedef {{name: string, label: string, current: string, value: string, allowed: string[], tooltip: string, example: string}} Field */
/** @typedef {{type: "form", title: string, actions: [string, string][], action: string, fields: Field[], submit: string}} Form */
/** @typedef {{type: "commands", title: string, rows: [string, string][]}} Commands */

/**
 * The input that a form stands for: the action, and each setting that is filled in.
 * @param {string} action
 * @param {Iterable<readonly [name: string, value: string]>} settings
 */
export function inputText(action, settings) {
  const given = [...settings].filter(([, value]) => value !== "");
  const texts = given.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return [action, texts.join(", ")].filter(Boolean).join(" ");
}

/**
 * @param {Form} form
 * @param {(target: string) => void} select  told the input, as `ask:…`
 */
export function createReportForm(form, select) {
  const actions = el("select", { class: "pes-input", "aria-label": "Action", "data-focus": "" });
  for (const [name, label] of form.actions) actions.append(new Option(visible(label), name));
  actions.value = form.action;
  actions.hidden = form.actions.length < 2;
  actions.addEventListener("change", () => select(`ask:${actions.value}`));

  /** @type {Map<string, HTMLInputElement | HTMLSelectElement>} */
  const inputs = new Map();
  const grid = el("div", { class: "pes-fields" });
  for (const field of form.fields) {
    const input = inputOf(field);
    inputs.set(field.name, input);
    grid.append(
      el(
        "label",
        { class: "pes-field", title: visible(field.tooltip) },
        el("span", { class: "pes-field-name" }, visible(cut(field.label))),
        input,
      ),
    );
  }
  const submit = el("button", { type: "submit", class: "pe-button" }, visible(form.submit));
  attribute(submit, "data-focus", "submit");
  const reset = button("reset", "Empty all fields: use the current values", () => {
    for (const input of inputs.values()) input.value = "";
    select(`ask:${form.action}`);
  });
  const element = el(
    "form",
    { class: "pes-form", "aria-label": visible(form.title) },
    el("div", { class: "pes-form-line" }, actions, submit, reset),
    grid,
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const settings = [...inputs].map(
      ([name, input]) => /** @type {const} */ ([name, input.value.trim()]),
    );
    select(`ask:${inputText(form.action, settings)}`);
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") event.stopPropagation();
  });
  return element;
}

/**
 * What an empty field stands for, and an example.
 * @param {Field} field
 */
const placeholderOf = ({ current, example }) =>
  [current, example && `e.g. ${example}`].filter(Boolean).join(", ");

/** @param {Field} field */
function inputOf(field) {
  const attributes = {
    class: "pes-input",
    "data-focus": field.name,
    "aria-label": visible(cut(field.label)),
  };
  if (!field.allowed.length) {
    const input = el("input", {
      ...attributes,
      type: "text",
      placeholder: visible(cut(placeholderOf(field))),
      autocomplete: "off",
      spellcheck: "false",
    });
    input.value = field.value;
    return input;
  }
  const list = el("select", attributes);
  list.append(new Option(`${visible(cut(field.current))} (current)`, ""));
  const known = field.allowed.includes(field.value) || !field.value;
  for (const value of known ? field.allowed : [...field.allowed, field.value]) {
    list.append(new Option(visible(cut(value)), value));
  }
  list.value = field.value;
  return list;
}

/** @param {Commands} commands */
export function createCommands(commands) {
  const body = el("div", { class: "pes-commands", hidden: true });
  for (const [name, code] of commands.rows) {
    const copy = copyButton(`Copy the ${name} code`, () => code);
    body.append(
      el("div", { class: "pes-command" }, el("span", {}, visible(name)), copy),
      el("pre", { class: "pes-code", tabindex: "0" }, visible(code)),
    );
  }
  const toggle = button(
    "Show code",
    `${commands.title}, in ${commands.rows.map(([name]) => name).join(" and ")}`,
    () => {
      body.hidden = !body.hidden;
      attribute(toggle, "aria-expanded", String(!body.hidden));
    },
    { "aria-expanded": "false" },
  );
  return el("div", { class: "pes-commands-part" }, toggle, body);
}
