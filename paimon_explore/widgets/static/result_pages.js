// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/result_pages.css
var result_pages_default = ".pep-bar {\ndisplay: flex;\ngap: 6px;\nalign-items: center;\n}\n.pep-rows {\noverflow-x: auto;\n}\n.pep th,\n.pep td {\npadding: 2px 8px;\ntext-align: left;\n}\n";

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/result_pages.js
function render({ model, el: place }) {
  const channel = new Channel(model);
  let page = model.get("page");
  const status = el("span", { role: "status" });
  const rows = el("div", {
    class: "pep-rows",
    role: "region",
    "aria-label": "Rows",
    tabindex: "0"
  });
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
    const lines = page.rows.map(
      (row) => el("tr", {}, ...row.map((text) => el("td", {}, visible(text))))
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
    el("style", {}, result_pages_default),
    el("div", { class: "pep-bar" }, back, on, status),
    rows
  );
  show();
  fill(place, root);
  attribute(root, "data-ready", "1");
  return () => channel.close();
}
var result_pages_default2 = { render };
export {
  result_pages_default2 as default
};
