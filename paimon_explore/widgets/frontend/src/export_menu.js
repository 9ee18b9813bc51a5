// @ts-check
/** The menu that copies and saves the tables and pictures that are on the screen. */

import { attribute, button, copyButton, el, fill } from "./dom.js";
import { pictureOf, svgText } from "./picture_export.js";
import { separated, tableRows } from "./table_export.js";
import { cut, plural } from "./text_format.js";

/** @import {Context, Pane} from "./context.js" */

const TABLES = "table, [role=grid], dl:not(.pe-settings)";
const PICTURES = "svg[role=img], canvas";
const HEADINGS = "h4, h5, figcaption";

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createExport(context) {
  const { root, prefix } = context;
  const id = `${prefix}-export`;
  const panel = el("div", { class: "pe-export", id, role: "group", hidden: true });
  attribute(panel, "aria-label", "Copy or save tables and pictures");
  const toggle = button("⤓", "Copy or save tables and pictures", () => open(panel.hidden), {
    "aria-expanded": "false",
    "aria-controls": id,
  });
  const status = el("p", { class: "pe-note", role: "status" });

  /** @param {boolean} isOpen */
  const open = (isOpen) => {
    panel.hidden = !isOpen;
    attribute(toggle, "aria-expanded", String(isOpen));
    if (!isOpen) return;
    const lines = [...root.querySelectorAll(`${TABLES}, ${PICTURES}`)]
      .filter((element) => element.checkVisibility())
      .map((element) => line(/** @type {HTMLElement} */ (element)));
    fill(status, lines.length ? "" : "The open view has no table and no picture.");
    fill(panel, ...lines, status);
    panel.querySelector("button")?.focus();
  };

  /** @param {HTMLElement} element */
  const line = (element) => {
    const isTable = element.matches(TABLES);
    const name = nameOf(element);
    const file = [context.history.table.name, context.store.get().selected, name]
      .join("-")
      .replace(/[^\p{L}\p{N}]+/gu, "-");
    const rows = async () => {
      const { rows: found, more } = await tableRows(element);
      fill(status, more ? `The first ${plural(found.length - 1, "row")}; the code reads all.` : "");
      return found;
    };
    const png = () => pictureOf(element);
    const choices = isTable
      ? [
          copyButton(`Copy the table ${name}`, async () => separated(await rows(), "\t")),
          button("CSV", `Save the table ${name} as CSV`, async () =>
            save(new Blob([separated(await rows(), ",")], { type: "text/csv" }), `${file}.csv`),
          ),
        ]
      : [
          copyButton(`Copy the picture ${name}`, () => new ClipboardItem({ "image/png": png() })),
          button("PNG", `Save the picture ${name} as PNG`, async () =>
            save(await png(), `${file}.png`),
          ),
        ];
    if (element instanceof SVGSVGElement) {
      const svg = () => new Blob([svgText(element)], { type: "image/svg+xml" });
      choices.push(
        button("SVG", `Save the picture ${name} as SVG`, () => save(svg(), `${file}.svg`)),
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
    },
  };
}

/**
 * What a table or a picture shows: its own label, or the heading before it.
 * @param {Element} element
 */
function nameOf(element) {
  const own = element.getAttribute("aria-label");
  const part = element.closest("figure, .pe-section, .pes-body > div, .pe-pane, .pe-timeline");
  const heading = part?.querySelector(HEADINGS)?.firstChild?.textContent;
  const label = part?.getAttribute("aria-label");
  if (element instanceof HTMLCanvasElement) return label ?? "Picture";
  const usual = element.closest(".pe-pane-detail") ? "Details" : "Facts";
  return cut(own ?? heading ?? label ?? usual, 60);
}

/**
 * @param {Blob} content
 * @param {string} name
 */
function save(content, name) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
