// @ts-check
/** The rows of an SQL result, page by page. */

import { Channel, failureOf } from "./channel.js";
import { attribute, button, el, fill } from "./dom.js";
import css from "./result_pages.css";
import { formatCount, visible } from "./text_format.js";

/** @import {Model} from "./channel.js" */
/** @typedef {{columns: string[], rows: string[][], number: number, first: number, more: boolean}} Page */

/**
 * @param {{model: Model, el: HTMLElement}} given
 * @returns {() => void} takes the widget down
 */
function render({ model, el: place }) {
  const channel = new Channel(model);
  /** @type {Page} */
  let page = model.get("page");
  const status = el("span", { role: "status" });
  const rows = el("div", {
    class: "pep-rows",
    role: "region",
    "aria-label": "Rows",
    tabindex: "0",
  });
  /** @param {number} number */
  const go = async (number) => {
    for (const one of [back, on]) one.disabled = true;
    try {
      page = (await channel.ask("page", { page: number })).body;
      show();
    } catch (error) {
      fill(status, visible(failureOf(error).message));
    }
  };
  const back = button("Previous", "Show the previous rows", () => go(page.number - 1));
  const on = button("Next", "Show the next rows", () => go(page.number + 1));
  const show = () => {
    const { columns, first, more, number } = page;
    const head = columns.map((name) => el("th", {}, visible(name)));
    const lines = page.rows.map((row) =>
      el("tr", {}, ...row.map((text) => el("td", {}, visible(text)))),
    );
    fill(rows, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...lines)));
    const last = first + page.rows.length - 1;
    const total = more ? `more than ${formatCount(last)}` : formatCount(last);
    fill(status, `Rows ${formatCount(first)} to ${formatCount(last)} of ${total}`);
    back.disabled = number === 0;
    on.disabled = !more;
  };
  const root = el(
    "div",
    { class: "pep jp-RenderedHTMLCommon", role: "group", "aria-label": "SQL result" },
    el("style", {}, css),
    el("div", { class: "pep-bar" }, back, on, status),
    rows,
  );
  show();
  fill(place, root);
  attribute(root, "data-ready", "1");
  return () => channel.close();
}

export default { render };
