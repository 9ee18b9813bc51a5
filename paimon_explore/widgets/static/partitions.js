// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/partition_sums.js
function byPartition({ columns, partitions }, rows) {
  const { partition, size, rows: counts, level, bucket, files } = columns;
  const slots = new Int32Array(partitions.length).fill(-1);
  const sums = [];
  for (const row of rows) {
    const id = partition[row];
    if (slots[id] < 0) {
      slots[id] = sums.length;
      sums.push({ partition: id, files: 0, bytes: 0, rows: 0, level0: 0, buckets: new Set() });
    }
    const entry = sums[slots[id]];
    const count = files ? files[row] : 1;
    entry.files += count;
    entry.bytes += size[row];
    entry.rows += counts[row];
    if (level[row] === 0) entry.level0 += count;
    entry.buckets.add(bucket[row]);
  }
  return sums.sort((left, right) => left.partition - right.partition);
}

// src/partitions.css
var partitions_default = ".pe-explorer .pe-scroll {\nflex: 1;\noverflow: auto;\n}\n.pe-explorer .pe-table {\nwidth: 100%;\nborder-collapse: collapse;\nfont-size: 12px;\n}\n.pe-explorer .pe-table :is(th, td) {\npadding: 3px 10px;\nfont-weight: normal;\ntext-align: left;\nwhite-space: nowrap;\nbackground: none;\nborder: 0;\n}\n.pe-explorer .pe-table .pe-number {\ntext-align: right;\n}\n.pe-explorer .pe-table thead th {\nposition: sticky;\ntop: 0;\nbackground: var(--pe-bg);\ncolor: var(--pe-muted);\nfont-size: 11px;\nbox-shadow: inset 0 -1px var(--pe-line);\n}\n.pe-explorer .pe-size-bar {\ndisplay: block;\nheight: 3px;\nwidth: var(--pe-share);\nmargin-left: auto;\nborder-radius: 2px;\nbackground: var(--pe-accent);\n}\n";

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

// src/partitions.js
var MOST = 500;
function create(context) {
  const { store } = context;
  const inside = el("tbody", {});
  const head = el("tr", {});
  for (const name of ["partition", "files", "level-0 files", "buckets", "rows", "size"]) {
    const cell = el("th", { class: name === "partition" ? "" : "pe-number" }, name);
    cell.scope = "col";
    head.append(cell);
  }
  const table = el(
    "table",
    { class: "pe-table", "aria-label": "Partitions" },
    el("thead", {}, head),
    inside
  );
  const scroller = el(
    "div",
    { class: "pe-scroll", tabindex: "0", role: "region", "aria-label": "Partitions" },
    table
  );
  const note = el("div", { class: "pe-totals", role: "status" });
  const empty = el("div", { class: "pe-empty", role: "status" });
  const element = el("div", { class: "pe-view" }, el("style", {}, partitions_default), scroller, empty, note);
  const draw = perFrame(() => {
    const { lifetimes, failure, first, last, unknown } = context.files();
    const { position, selected } = store.get();
    const known = lifetimes && position >= first && position <= last && !unknown.has(position);
    scroller.hidden = note.hidden = !known;
    empty.hidden = !scroller.hidden;
    if (!lifetimes || !known) {
      const { count } = context.history;
      const says = failure || unknown.has(position) ? "are unknown because a manifest cannot be read. The manifest tree shows which one" : "are still being read";
      fill(empty, count ? `The files of snapshot ${selected} ${says}.` : NO_SNAPSHOT);
      if (failure) empty.append(problem(failure));
      return;
    }
    const sums = byPartition(lifetimes, lifetimes.select(position, "live", context.mask()).rows);
    const most = sums.reduce((peak, sum) => Math.max(peak, sum.bytes), 0);
    fill(
      inside,
      ...sums.slice(0, MOST).map((sum) => line(sum, lifetimes.partitions[sum.partition], most))
    );
    const cut2 = sums.length > MOST ? `, first ${MOST} shown` : "";
    fill(
      note,
      el("strong", {}, plural(sums.length, "partition")),
      el("span", {}, `in snapshot ${selected}${cut2}`)
    );
    attribute(element, "data-count", sums.length);
  });
  draw();
  return {
    element,
    focus: () => scroller.focus(),
    update(changed) {
      const relevant = ["position", "lifetimes", "mask", "tab"];
      if (relevant.some((key) => changed.has(key))) draw();
    },
    dispose: () => draw.cancel()
  };
}
function line(sum, name, most) {
  const title = el("th", { class: "pe-cell" }, visible(name || "unpartitioned"));
  title.scope = "row";
  const bar = el("span", { class: "pe-size-bar", "aria-hidden": "true" });
  bar.style.setProperty("--pe-share", `${most ? 100 * sum.bytes / most : 0}%`);
  const number = (text, exact) => el("td", { class: "pe-number", "data-text": exact }, text);
  const size = number(formatBytes(sum.bytes), sum.bytes);
  size.append(bar);
  return el(
    "tr",
    {},
    title,
    number(formatCount(sum.files), sum.files),
    number(formatCount(sum.level0), sum.level0),
    number(formatCount(sum.buckets.size), sum.buckets.size),
    number(formatShort(sum.rows), sum.rows),
    size
  );
}
export {
  create
};
