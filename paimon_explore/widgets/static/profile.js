// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

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

// src/profile.css
var profile_default = '.pep {\ndisplay: flex;\nflex-direction: column;\nmin-height: 0;\nfont-size: 12px;\nfont-variant-numeric: tabular-nums;\n}\n.pep .pep-bar {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 4px 8px;\npadding: 6px 10px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pep .pep-bar label,\n.pep .pep-note,\n.pep .pep-muted,\n.pep .pep-status {\ncolor: var(--pe-muted);\n}\n.pep .pep-input {\nflex: 1 1 180px;\nmin-width: 0;\npadding: 2px 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-mono);\n}\n.pep .pep-input::placeholder {\ncolor: var(--pe-muted);\n}\n.pep .pep-progress {\nwidth: 120px;\nheight: 6px;\nborder-radius: 3px;\nbackground: var(--pe-line);\noverflow: hidden;\n}\n.pep .pep-progress span {\ndisplay: block;\nheight: 100%;\nbackground: var(--pe-accent);\n}\n.pep .pep-body {\nflex: 1;\nmin-height: 0;\noverflow: auto;\npadding: 4px 10px 12px;\n}\n.pep .pes-title {\nmargin: 4px 0 6px !important;\nfont-size: 13px;\nfont-weight: 600;\noverflow-wrap: anywhere;\n}\n.pep .pep-note {\nmargin: 2px 0 !important;\n}\n.pep .pep-table {\nwidth: 100%;\nmargin: 0;\nborder-collapse: collapse;\nfont-size: 12px;\n}\n.pep .pep-table :is(th, td) {\npadding: 4px 12px 4px 0;\nborder: 0;\nborder-bottom: 1px solid var(--pe-line);\nbackground: none;\nfont-weight: normal;\ntext-align: left;\nvertical-align: top;\nmax-width: 180px;\noverflow-wrap: break-word;\n}\n.pep .pep-table thead th {\nwhite-space: nowrap;\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pep .pep-table tbody th {\nfont-weight: 600;\n}\n.pep .pep-table td:last-child {\nmax-width: none;\n}\n.pep .pep-table .pep-number {\ntext-align: right;\nwhite-space: nowrap;\n}\n.pep .pep-bins {\ndisplay: flex;\nalign-items: flex-end;\nwidth: 168px;\nheight: 44px;\npadding: 0 1px;\nborder-bottom: 1px solid var(--pe-line);\ncursor: crosshair;\ntouch-action: none;\nuser-select: none;\n}\n.pep .pep-bins[data-of="lengths"] {\ncursor: default;\n}\n.pep .pep-bin {\ndisplay: flex;\nflex: 1;\nalign-items: flex-end;\nheight: 100%;\n}\n.pep .pep-bin span {\nflex: 1;\nmargin-right: 1px;\nbackground: var(--pe-append);\n}\n.pep .pep-bins[data-of="lengths"] .pep-bin span {\nbackground: var(--pe-muted);\n}\n.pep .pep-bin[aria-selected="true"] {\nbackground: color-mix(in srgb, var(--pe-accent) 28%, var(--pe-bg));\n}\n.pep .pep-ends {\ndisplay: flex;\njustify-content: space-between;\ngap: 8px;\nwidth: 168px;\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pep .pep-values {\ndisplay: grid;\ngap: 1px;\nwidth: 168px;\nmargin: 0;\npadding: 0;\nlist-style: none;\n}\n.pep .pep-value {\nposition: relative;\ndisplay: flex;\njustify-content: space-between;\ngap: 8px;\nwidth: 100%;\nmargin: 0;\npadding: 0 4px;\nborder: 0;\nbackground: none;\ncolor: inherit;\nfont: inherit;\ntext-align: left;\ncursor: pointer;\n}\n.pep .pep-value:hover,\n.pep .pep-link:hover {\ntext-decoration: underline;\n}\n.pep .pep-value i {\nposition: absolute;\ninset: 0 auto 0 0;\nbackground: color-mix(in srgb, var(--pe-append) 22%, var(--pe-bg));\n}\n.pep .pep-part {\nposition: relative;\nwhite-space: nowrap;\n}\n.pep .pep-text {\noverflow: hidden;\ntext-overflow: ellipsis;\n}\n.pep .pep-link {\nmargin: 0;\npadding: 0;\nborder: 0;\nbackground: none;\ncolor: inherit;\nfont: inherit;\ntext-decoration: underline;\ntext-decoration-color: color-mix(in srgb, currentColor 45%, transparent);\ncursor: pointer;\n}\n.pep :focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -1px;\n}\n';

// src/profile_model.js
function brushAfter(brush, { key, shiftKey }, count) {
  const from = brush?.active ?? -1;
  const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: count - 1 }[key];
  if (to === void 0 || count === 0) return void 0;
  const active = Math.min(Math.max(to, 0), count - 1);
  return { anchor: shiftKey && brush ? brush.anchor : active, active };
}
function rangeOf({ anchor, active }) {
  return [Math.min(anchor, active), Math.max(anchor, active)];
}
function barHeights(counts) {
  const peak = counts.reduce((most, count) => Math.max(most, count), 0) || 1;
  return counts.map((count) => count ? Math.max(count / peak, 0.04) : 0);
}
function binText(edges, bin) {
  const [low, high] = [edges[bin], edges[bin + 1]];
  if (low === high) return low;
  return bin === edges.length - 2 ? `${low} to ${high}` : `${low} to before ${high}`;
}
function shareRead({ stored, total, complete }) {
  if (complete) return 1;
  return total ? Math.min(stored / total, 1) : 0;
}

// src/profile_columns.js
var HEADS = ["column", "type", "nulls", "distinct", "min", "max", "distribution"];
var NUMBERS = new Set(["nulls", "distinct"]);
var SHOWN = 300;
function drawColumns(profile, prefix, choose) {
  const head = el("tr", {});
  for (const name of HEADS) {
    const cell = el("th", { class: NUMBERS.has(name) ? "pep-number" : null }, name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = el("tbody", {});
  profile.columns.slice(0, SHOWN).forEach((column, index) => {
    body.append(line(column, index, profile, `${prefix}-${index}`, choose));
  });
  const table = el("table", { class: "pep-table", "aria-label": "Columns" });
  table.append(el("thead", {}, head), body);
  return table;
}
function line(column, index, profile, prefix, choose) {
  const name = el("th", {}, visible(cut(column.name)));
  name.scope = "row";
  const about = [column.reason, ...column.notes];
  if (column.average_length !== null) {
    about.push(`average length ${column.average_length.toFixed(1)}, max ${column.max_length}`);
  }
  const notes = about.filter(Boolean).map((text) => el("div", { class: "pep-muted" }, visible(text)));
  const shown = distribution(column, index, profile.rows, prefix, choose);
  return el(
    "tr",
    { "data-column": index },
    name,
    el("td", {}, visible(cut(column.type)), ...notes),
    el("td", { class: "pep-number" }, nulls(column, index, choose)),
    el("td", { class: "pep-number", title: distinctTitle(column) }, distinctText(column)),
    el("td", {}, visible(cut(column.min ?? "", 60))),
    el("td", {}, visible(cut(column.max ?? "", 60))),
    el("td", {}, shown)
  );
}
function distinctText({ distinct, distinct_error }) {
  return distinct === null ? "" : `${distinct_error ? "~" : ""}${formatCount(distinct)}`;
}
function distinctTitle({ distinct_error }) {
  return distinct_error ? `Estimate; standard error ${(100 * distinct_error).toFixed(1)} %` : null;
}
function nulls({ name, nulls: count }, index, choose) {
  if (count === null) return "";
  if (!count) return "0";
  const select = () => choose({ column: index, part: "nulls", first: 0, last: 0 });
  const says = `Show only rows where ${cut(visible(name), 60)} is null`;
  const text = formatCount(count);
  return button(text, says, select, { class: "pep-link", "aria-label": `${text}: ${says}` });
}
function distribution(column, index, rows, prefix, choose) {
  const { histogram, frequent } = column;
  if (frequent.length && histogram?.of !== "values") return values(column, index, rows, choose);
  return histogram ? bins(column, index, prefix, choose) : "";
}
function values({ name, frequent, frequent_error }, index, rows, choose) {
  const list = el("ul", {
    class: "pep-values",
    "aria-label": `Frequent values of ${visible(name)}`
  });
  const peak = frequent[0].count;
  frequent.forEach(({ value, count }, number) => {
    const share = rows ? ` (${(100 * count / rows).toFixed(0)} %)` : "";
    const bar = el("i", { "aria-hidden": "true" });
    bar.style.width = `${100 * count / peak}%`;
    const made = el(
      "button",
      { type: "button", class: "pep-value", title: "Show only rows with this value" },
      bar,
      el(
        "span",
        { class: "pep-part pep-text" },
        value === "" ? "(empty)" : visible(cut(value, 60))
      ),
      el(
        "span",
        { class: "pep-part" },
        `${frequent_error ? "≥ " : ""}${formatShort(count)}${share}`
      )
    );
    made.addEventListener(
      "click",
      () => choose({ column: index, part: "value", first: number, last: number })
    );
    list.append(el("li", {}, made));
  });
  return list;
}
function bins({ name, histogram }, index, prefix, choose) {
  const { of, edges, counts } = histogram;
  const heights = barHeights(counts);
  const selectable = of === "values";
  const box = el("div", {
    class: "pep-bins",
    "data-of": of,
    tabindex: selectable ? "0" : null,
    role: selectable ? "listbox" : "img",
    "aria-multiselectable": selectable ? "true" : null,
    "aria-label": `${selectable ? "Histogram" : "Lengths"} of ${cut(visible(name), 60)}`,
    title: selectable ? "Drag, or use the arrow keys with Shift and Enter, to select rows" : null
  });
  const options = counts.map((count, bin) => {
    const says = `${visible(binText(edges, bin))}: ${formatCount(count)} rows`;
    const bar = el("span", { "aria-hidden": "true" });
    bar.style.height = `${100 * heights[bin]}%`;
    return el(
      "div",
      {
        class: "pep-bin",
        id: `${prefix}-${bin}`,
        role: selectable ? "option" : null,
        "aria-label": selectable ? says : null,
        "aria-selected": selectable ? "false" : null,
        title: says
      },
      bar
    );
  });
  box.append(...options);
  const ends = el(
    "div",
    { class: "pep-ends" },
    el("span", {}, visible(cut(edges[0], 24))),
    el("span", {}, selectable ? "" : of),
    el("span", {}, visible(cut(edges[edges.length - 1], 24)))
  );
  if (selectable) {
    makeBrush(
      box,
      options,
      ([first, last]) => choose({ column: index, part: "range", first, last })
    );
  }
  return el("div", {}, box, ends);
}
function makeBrush(box, options, apply) {
  let brush;
  let dragging = false;
  const show = () => {
    const [first, last] = brush ? rangeOf(brush) : [-1, -2];
    options.forEach((option, bin) => {
      attribute(option, "aria-selected", String(bin >= first && bin <= last));
    });
    attribute(box, "aria-activedescendant", brush ? options[brush.active].id : null);
  };
  const binAt = (event) => {
    const { left, width } = box.getBoundingClientRect();
    const share = (event.clientX - left) / (width || 1);
    return Math.min(Math.max(Math.floor(share * options.length), 0), options.length - 1);
  };
  box.addEventListener("pointerdown", (event) => {
    dragging = true;
    box.setPointerCapture(event.pointerId);
    const active = binAt(event);
    brush = { anchor: event.shiftKey && brush ? brush.anchor : active, active };
    show();
  });
  box.addEventListener("pointermove", (event) => {
    if (!dragging || !brush) return;
    brush = { ...brush, active: binAt(event) };
    show();
  });
  box.addEventListener("pointerup", () => {
    if (dragging && brush) apply(rangeOf(brush));
    dragging = false;
  });
  box.addEventListener("pointercancel", () => {
    dragging = false;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && brush) apply(rangeOf(brush));
    else if (event.key === "Escape" && brush) brush = void 0;
    else {
      const next = brushAfter(brush, event, options.length);
      if (!next) return;
      brush = next;
    }
    show();
    event.preventDefault();
    event.stopPropagation();
  });
}

// src/profile.js
var QUIET_MILLIS = 90;
var DRAW_MILLIS = 1500;
var AUTOMATIC_ROWS = 1e6;
function create(context) {
  const { store, channel, history, prefix } = context;
  let profile;
  let shown = "";
  let running = false;
  let wanted = false;
  const condition = createCondition(context, (failure) => fail(failure));
  const status = el("span", { class: "pep-status", role: "status" });
  const done = el("span", {});
  const progress = el(
    "div",
    {
      class: "pep-progress",
      role: "progressbar",
      "aria-label": "Rows read",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      hidden: true
    },
    done
  );
  const toggle = button("Read all rows", "Read the rows of the table for exact figures", () => {
    wanted = !wanted;
    if (wanted) read();
  });
  const body = el("div", {
    class: "pep-body",
    tabindex: "0",
    role: "region",
    "aria-label": "Column profiles"
  });
  const bar = el("div", { class: "pep-bar" }, ...condition.elements, toggle, progress, status);
  const element = el("div", { class: "pe-view pes-pane pep", "data-pane": "profile" });
  element.append(el("style", {}, profile_default), bar, body);
  const fail = (failure) => {
    body.querySelector(".pe-problem")?.remove();
    body.prepend(problem(failure));
    attribute(element, "data-error", failure.kind);
  };
  let kept = "";
  const isInColumns = () => {
    const active = document.activeElement;
    return active !== body && body.contains(active);
  };
  const keepFocus = () => {
    const active = document.activeElement;
    const column = isInColumns() ? active?.closest("[data-column]") : null;
    if (column)
      kept = `[data-column="${column.getAttribute("data-column")}"] .${active?.classList[0]}`;
    else if (active !== body) kept = "";
    return kept !== "";
  };
  const draw = () => {
    if (!profile) return;
    const scrolled = body.scrollTop;
    const hadFocus = keepFocus();
    fill(
      body,
      el("h4", { class: "pes-title" }, visible(profile.title)),
      ...[...history.count ? [] : [NO_SNAPSHOT], ...profile.notes].map(
        (note) => el("p", { class: "pep-note" }, visible(note))
      ),
      drawColumns(profile, `${prefix}-profile`, choose)
    );
    body.scrollTop = scrolled;
    if (hadFocus) {
      const control = body.querySelector(kept);
      (control ?? body).focus({ preventScroll: true });
    }
    attribute(element, "data-origin", profile.origin);
    attribute(element, "data-error", null);
  };
  const showProgress = (found) => {
    const share = Math.round(100 * shareRead(found));
    done.style.width = `${share}%`;
    attribute(progress, "aria-valuenow", share);
    const fromRows = profile?.origin === "rows";
    progress.hidden = !running;
    fill(toggle, running ? "Stop" : fromRows ? "Continue" : "Read all rows");
    toggle.hidden = fromRows && found.complete;
    const rows = `${formatCount(found.stored)} of ${formatCount(found.total)} stored rows read`;
    fill(status, fromRows || running ? rows : "From statistics");
    attribute(element, "data-complete", toggle.hidden ? "1" : null);
  };
  const choose = async (part) => {
    if (!profile) return;
    const where = whereOf(store);
    try {
      const answer = await channel.ask("profile_condition", {
        number: profile.number,
        where,
        ...part
      });
      store.set({ where: answer.body.where });
    } catch (error) {
      fail(failureOf(error));
    }
  };
  const read = async () => {
    if (running || !profile) return;
    running = true;
    const { number } = profile;
    let drawn = performance.now();
    try {
      while (profile?.number === number) {
        const stops = !wanted || store.get().tab !== "profile";
        const due = performance.now() - drawn > DRAW_MILLIS && !isInColumns();
        const columns = Number(stops || due);
        const { body: found } = await channel.ask("profile_rows", { number, columns });
        if (profile?.number !== number) break;
        running = !(stops || found.complete);
        if (found.columns) {
          profile = found;
          drawn = performance.now();
          draw();
        }
        showProgress(found);
        if (!running) return;
      }
    } catch (error) {
      if (profile?.number === number) {
        running = wanted = false;
        const failure = failureOf(error);
        showProgress({ ...profile, complete: false });
        if (failure.kind === "not saved") toggle.hidden = true;
        else fail(failure);
        return;
      }
    }
    running = false;
    if (wanted) read();
  };
  const load = whenQuiet(async () => {
    const { tab, selected } = store.get();
    if (tab !== "profile") return;
    const question = { snapshot: selected, where: whereOf(store) };
    const key = JSON.stringify(question);
    if (key === shown) {
      if (wanted && (profile?.origin === "statistics" || !profile?.complete)) read();
      return;
    }
    shown = key;
    attribute(element, "data-busy", "1");
    try {
      const answer = await channel.latest("profile", "profile", question);
      if (!answer) return;
      profile = answer.body;
      wanted = profile.rows === null || profile.rows <= AUTOMATIC_ROWS;
      draw();
      showProgress({ ...profile, complete: false });
      attribute(element, "data-shown", key);
      attribute(element, "data-busy", null);
      showColumn();
      if (wanted) read();
    } catch (error) {
      profile = void 0;
      fill(body);
      fail(failureOf(error));
      attribute(element, "data-shown", key);
      attribute(element, "data-busy", null);
    }
  }, QUIET_MILLIS);
  const showColumn = () => {
    const { column } = store.get();
    const index = profile?.columns.findIndex(({ name }) => name === column);
    body.querySelector(`[data-column="${index}"]`)?.scrollIntoView({ block: "nearest" });
  };
  load();
  return {
    element,
    focus: () => body.focus(),
    update(changed) {
      if (changed.has("where")) condition.show();
      if (changed.has("column")) showColumn();
      if (changed.has("selected") || changed.has("tab") || changed.has("where")) load();
    },
    dispose() {
      load.cancel();
      profile = void 0;
    }
  };
}
var whereOf = (store) => store.get().where ?? "";
function createCondition(context, fail) {
  const { store, channel, prefix } = context;
  const id = `${prefix}-profile-where`;
  const input = el("input", {
    id,
    type: "text",
    class: "pep-input",
    placeholder: "SQL condition on rows",
    autocomplete: "off",
    spellcheck: "false"
  });
  context.hints().then(({ examples }) => {
    attribute(input, "placeholder", withExample("SQL condition on rows", examples.profile));
  });
  const send = async () => {
    const text = input.value.trim();
    if (text === whereOf(store)) return;
    try {
      const answer = await channel.ask("condition", { snapshot: store.get().selected, text });
      store.set({ where: answer.body.where });
    } catch (error) {
      fail(failureOf(error));
    }
  };
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    send();
    event.preventDefault();
    event.stopPropagation();
  });
  const clear = button("×", "Clear the condition on rows", () => {
    input.value = "";
    store.set({ where: "" });
    input.focus();
  });
  const show = () => {
    input.value = whereOf(store);
  };
  show();
  return { elements: [el("label", { for: id }, "Rows where"), input, clear], show };
}
export {
  create
};
