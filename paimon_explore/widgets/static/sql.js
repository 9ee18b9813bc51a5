// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/shortened_text.js
function shortened(texts, room, widthOf2) {
  const begins = texts.map((text) => fit([...text], room, widthOf2, 1));
  const sources = new Map();
  begins.forEach((begin, i) => {
    sources.set(begin, (sources.get(begin) ?? new Set()).add(texts[i]));
  });
  return begins.map(
    (begin, i) => (sources.get(begin)?.size ?? 0) > 1 ? fit([...texts[i]], room, widthOf2, 1 / 3) : begin
  );
}
function fit(letters, room, widthOf2, share) {
  if (widthOf2(letters.join("")) <= room) return letters.join("");
  const made = (count) => {
    const ahead = Math.ceil(count * share);
    return `${letters.slice(0, ahead).join("")}…${letters.slice(letters.length - count + ahead).join("")}`;
  };
  let [low, high] = [0, letters.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf2(made(middle)) <= room) low = middle;
    else high = middle - 1;
  }
  return made(low);
}

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/chart_view.js
var SVG = "http://www.w3.org/2000/svg";
var ATTRIBUTES = new Set([
  ...["class", "d", "data-tone", "data-select", "height", "rx", "text-anchor", "transform"],
  ...["viewBox", "width", "x", "y", "role", "aria-label"]
]);
var BAR = 20;
var LANE = 26;
var LEAST = 13;
var AXIS = 20;
var PROFILE = 46;
var FONT_SIZE = 11;
var LEAST_TEXT = 20;
var MOST_BARS = 60;
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES.has(name)) throw new TypeError(`Attribute ${name} is not allowed.`);
    if (value !== void 0 && value !== "") element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}
function createChart(chart, select) {
  const frame = el("div", { class: "pes-chart-frame" });
  const element = el(
    "figure",
    { class: "pes-chart" },
    el("figcaption", { class: "pes-heading" }, visible(cut(chart.title)), leftOut(chart)),
    frame
  );
  let drawn = 0;
  const draw = () => {
    const width = Math.max(Math.floor(frame.clientWidth), 200);
    if (width === drawn) return;
    drawn = width;
    const { fontFamily } = getComputedStyle(frame);
    measuring().font = `${FONT_SIZE}px ${fontFamily}`;
    frame.replaceChildren(chart.type === "bars" ? bars(chart, width) : lanes(chart, width));
  };
  frame.addEventListener("click", (event) => {
    const target = event.target.closest("[data-select]");
    const chosen = target?.getAttribute("data-select");
    if (chosen) select(chosen);
  });
  const watcher = new ResizeObserver(draw);
  watcher.observe(frame);
  return { element, dispose: () => watcher.disconnect() };
}
function leftOut(chart) {
  const all = chart.type === "bars" ? chart.categories.length : 0;
  if (all <= MOST_BARS) return null;
  return el("span", { class: "pes-count" }, `first ${MOST_BARS} of ${formatCount(all)}`);
}
function picture(width, height, says, parts) {
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": visible(cut(says))
    },
    ...parts
  );
}
var pen;
function measuring() {
  pen ??= document.createElement("canvas").getContext("2d");
  return pen;
}
var widthOf = (text) => measuring().measureText(text).width;
function labelRoom(labels, width) {
  const longest = labels.reduce((most, label) => Math.max(most, widthOf(visible(cut(label)))), 0);
  return Math.min(longest + 14, width / 3);
}
var fitting = (text, room) => shortened([visible(cut(text, 600))], room, widthOf)[0];
function rowLabels(names, left, baseline) {
  const whole = names.map((name) => visible(cut(name, 600)));
  const shown = shortened(whole, left - 12, widthOf);
  return shown.map((text, i) => {
    const place = { class: "pes-label", x: left - 8, y: baseline(i), "text-anchor": "end" };
    return svg("text", place, text, ...text === whole[i] ? [] : [svg("title", {}, whole[i])]);
  });
}
function valueText(value, unit) {
  if (unit === "bytes") return formatBytes(Math.abs(value));
  if (unit === "share") return `${Math.round(value * 100)}%`;
  return Number.isInteger(value) ? formatShort(Math.abs(value)) : value.toFixed(1);
}
function bars(chart, width) {
  const names = chart.categories.slice(0, MOST_BARS);
  const left = labelRoom(names, width);
  const rows = names.map((_, i) => chart.series.map(({ values }) => values[i]));
  const sum = (row, sign) => row.reduce((total, value) => total + Math.max(value * sign, 0), 0);
  const back = Math.max(...rows.map((row) => sum(row, -1)), 0);
  const ahead = Math.max(...rows.map((row) => sum(row, 1)), 0);
  const figures = chart.unit === "share" ? 44 : 110;
  const scale = (width - left - figures) / (back + ahead || 1);
  const zero = left + back * scale;
  const parts = rowLabels(names, left, (i) => i * BAR + 14);
  names.forEach((name, i) => {
    const y = i * BAR;
    let [low, high] = [zero, zero];
    const told = [];
    chart.series.forEach((series, at) => {
      const value = rows[i][at];
      if (!value) return;
      const wide = Math.max(Math.abs(value) * scale, 1);
      const x2 = value > 0 ? high : low - wide;
      if (value > 0) high += wide;
      else low -= wide;
      const text = valueText(value, chart.unit);
      if (chart.unit !== "share" || at === 0) told.push(value < 0 ? `−${text}` : text);
      parts.push(
        svg(
          "rect",
          {
            class: "pes-mark",
            x: x2,
            y: y + 4,
            width: wide,
            height: BAR - 8,
            rx: 2,
            "data-tone": series.tone,
            "data-select": chart.selects[i]
          },
          svg("title", {}, `${visible(cut(name))}: ${series.name} ${text}`)
        )
      );
    });
    if (chart.unit === "share" && !rows[i][0]) told.push("0%");
    parts.push(svg("text", { class: "pes-figure", x: high + 6, y: y + 14 }, told.join(" ")));
  });
  const bottom = names.length * BAR;
  if (back) parts.push(svg("path", { class: "pes-line", d: `M${zero} 0V${bottom}` }));
  let x = left;
  const legend = chart.series.length > 1;
  for (const series of legend ? chart.series : []) {
    parts.push(
      svg("rect", {
        class: "pes-mark",
        x,
        y: bottom + 6,
        width: 10,
        height: 10,
        rx: 2,
        "data-tone": series.tone
      }),
      svg("text", { class: "pes-figure", x: x + 14, y: bottom + 15 }, visible(series.name))
    );
    x += 32 + widthOf(visible(series.name));
  }
  return picture(width, bottom + (legend ? 22 : 4), chart.title, parts);
}
function lanes(chart, width) {
  const names = chart.profile ? [...chart.lanes, chart.profile.title] : chart.lanes;
  const left = labelRoom(names, width);
  const span = chart.end - chart.start || 1;
  const place = (value) => left + (Math.min(Math.max(value, chart.start), chart.end) - chart.start) / span * (width - left - 4);
  const parts = rowLabels(chart.lanes, left, (i) => (i + 1) * LANE - 8.5);
  for (let i = 1; i <= chart.lanes.length; i++) {
    parts.push(svg("path", { class: "pes-line", d: `M${left} ${i * LANE - 0.5}H${width}` }));
  }
  for (const box of chart.boxes) parts.push(boxOf(box, place));
  let bottom = chart.lanes.length * LANE;
  let free = -Infinity;
  for (const [value, label] of chart.ticks) {
    const x = place(value);
    const text = fitting(label, 120);
    const room = widthOf(text);
    const from = Math.min(Math.max(x - room / 2, left), width - room - 2);
    if (from < free) continue;
    free = from + room + 10;
    parts.push(
      svg("path", { class: "pes-line", d: `M${x} ${bottom}v4` }),
      svg("text", { class: "pes-figure", x: from, y: bottom + 15 }, text)
    );
  }
  bottom += chart.ticks.length ? AXIS : 4;
  if (chart.profile) {
    parts.push(...profileOf(chart.profile, place, bottom, left));
    bottom += PROFILE;
  }
  return picture(width, bottom, chart.title, parts);
}
function boxOf(box, place) {
  const x = place(box.start) + 0.5;
  const wide = Math.max(place(box.end) - x - 0.5, 2);
  const tall = Math.max(box.height * (LANE - 6), LEAST);
  const y = (box.lane + 1) * LANE - 3 - tall;
  const group = svg(
    "g",
    { class: "pes-box", "data-tone": box.tone, "data-select": box.selects },
    svg("title", {}, visible(cut(box.says, 600))),
    svg("rect", { class: "pes-area", x, y, width: wide, height: tall, rx: 2 })
  );
  if (box.hatched) {
    const part = Math.max(wide * box.hatched, 1);
    group.append(
      svg("rect", { class: "pes-gone", x: x + wide - part, y, width: part, height: tall }),
      svg("path", { class: "pes-hatch", d: hatches(x + wide - part, y, part, tall) })
    );
  }
  if (wide > LEAST_TEXT) {
    const label = fitting(box.label, wide - 8);
    if (label && label !== "…") {
      group.append(svg("text", { class: "pes-figure", x: x + 4, y: y + tall / 2 + 4 }, label));
    }
  }
  return group;
}
function hatches(x, y, width, height) {
  let path = "";
  for (let at = 4; at < width + height; at += 5) {
    const [x1, y1] = at < height ? [x, y + at] : [x + at - height, y + height];
    const [x2, y2] = at < width ? [x + at, y] : [x + width, y + at - width];
    path += `M${x1} ${y1}L${x2} ${y2}`;
  }
  return path;
}
function profileOf(profile, place, top, left) {
  const peak = profile.steps.reduce((most, [, value]) => Math.max(most, value), 1);
  const floor = top + PROFILE - 8;
  let path = "";
  for (const [at, value] of profile.steps) {
    const y = floor - value / peak * (PROFILE - 16);
    path += path ? `H${place(at)}V${y}` : `M${place(at)} ${floor}V${y}`;
  }
  return [
    ...rowLabels([profile.title], left, () => floor - 8),
    svg("path", { class: "pes-depth", d: path }, svg("title", {}, visible(profile.title)))
  ];
}

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

// src/report.css
var report_default = '.pes-root {\ncontainer-type: inline-size;\n--pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n--pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n--pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n--pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n--pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n--pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n--pe-append: #2563c9;\n--pe-compact: #7b45c4;\n--pe-overwrite: #b3540b;\n--pe-add: #1a7038;\n--pe-remove: #b3261e;\n--pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n--pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\npadding: 4px 12px 10px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 13px / 1.4 var(--pe-font);\nfont-variant-numeric: tabular-nums;\n}\n.pes-root[data-theme="dark"] {\n--pe-append: #79aefc;\n--pe-compact: #c3a0f8;\n--pe-overwrite: #f5a35f;\n--pe-add: #76d48f;\n--pe-remove: #ff8f85;\n}\n.pes-pane {\nposition: relative;\n}\n.pes-body {\ncontainer-type: inline-size;\nflex: 1;\noverflow: auto;\npadding: 4px 10px 12px;\nmin-height: 0;\n}\n.pes-pane[data-busy] .pes-body {\nopacity: 0.6;\n}\n.pes-ask {\ndisplay: flex;\nalign-items: center;\ngap: 6px;\npadding: 6px 10px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pes-ask label {\ncolor: var(--pe-muted);\nfont-size: 12px;\n}\n.pes-input {\nflex: 1;\nmin-width: 0;\npadding: 2px 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-mono);\n}\n.pes-input::placeholder {\ncolor: var(--pe-muted);\nopacity: 0.85;\n}\n.pes-title {\nmargin: 4px 0 6px !important;\nfont-size: 13px;\nfont-weight: 600;\noverflow-wrap: anywhere;\n}\n.pes-heading {\noverflow-wrap: anywhere;\nmargin: 12px 0 3px !important;\nfont-size: 12px;\nfont-weight: 600;\n}\n.pes-count {\nmargin-left: 8px;\ncolor: var(--pe-muted);\nfont-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts {\ndisplay: grid;\ngrid-template-columns: minmax(90px, auto) minmax(0, 1fr);\ngap: 2px 12px;\nmargin: 0;\nfont-size: 12px;\n}\n:is(.pes-pane, .pes-root) .pes-facts dt {\ngrid-column: 1;\nfloat: none;\nwidth: auto;\nmax-width: 170px;\noverflow-wrap: anywhere;\ncolor: var(--pe-muted);\nfont-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts dd {\ngrid-column: 2;\nfloat: none;\nwidth: auto;\nmargin: 0;\noverflow-wrap: anywhere;\n}\n.pes-note {\noverflow-wrap: anywhere;\nmargin: 6px 0 !important;\ncolor: var(--pe-muted);\nfont-size: 12px;\n}\n.pes-sentences {\nmargin: 2px 0;\npadding: 0 0 0 16px;\nfont-size: 12px;\nline-height: 19px;\noverflow-wrap: anywhere;\n}\n.pes-sentences [data-tone="warn"] {\ncolor: var(--pe-overwrite);\n}\n.pes-sentences [data-tone="remove"] {\ncolor: var(--pe-remove);\n}\n.pes-scroll {\noverflow-x: auto;\noverflow-y: hidden;\n}\n.pes-grid {\nmin-width: 100%;\nmargin: 0;\nborder-collapse: collapse;\nfont-size: 12px;\n}\n.pes-grid :is(th, td) {\nposition: relative;\npadding: 2px 12px 2px 0;\nborder: 0;\nborder-bottom: 1px solid var(--pe-line);\nbackground: none;\nfont-weight: normal;\nline-height: 18px;\ntext-align: left;\nvertical-align: top;\nwhite-space: nowrap;\nmax-width: none;\n}\n.pes-grid tbody tr:hover {\nbackground: var(--pe-faint);\n}\n.pes-grid thead :is(th, td) {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pes-grid .pes-number {\ntext-align: right;\n}\n.pes-grid .pes-long {\nmin-width: clamp(150px, 36cqw, 320px);\nwhite-space: normal;\noverflow-wrap: anywhere;\n}\n@container (max-width: 660px) {\n.pes-grid :is(th, td):not(.pes-number, [data-tone]) {\nwhite-space: normal;\n}\n.pes-grid .pes-long {\nmin-width: 130px;\n}\n}\n.pes-bar {\nposition: absolute;\nright: 12px;\nbottom: 0;\nwidth: calc((100% - 12px) * 1);\nheight: 2px;\nbackground: linear-gradient(\nto left,\nvar(--pe-accent) var(--pes-share),\ntransparent var(--pes-share)\n);\n}\n:is(.pes-pane, .pes-root) .pes-link {\nmargin: 0;\npadding: 0;\nborder: 0;\nbackground: none;\ncolor: inherit;\nfont: inherit;\ntext-align: inherit;\ntext-decoration: underline;\ntext-decoration-color: color-mix(in srgb, currentColor 45%, transparent);\ntext-underline-offset: 2px;\ncursor: pointer;\n}\n:is(.pes-pane, .pes-root) .pes-link:hover {\nbackground: none;\ntext-decoration-color: currentColor;\n}\n.pes-link:focus-visible,\n.pes-scroll:focus-visible,\n.pes-body:focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n:is(.pes-pane, .pes-root) .pes-file {\nfont: 11px / 18px var(--pe-mono);\nwhite-space: nowrap;\n}\n.pes-grid [data-tone="add"],\n.pes-facts [data-tone="add"] {\ncolor: var(--pe-add);\n}\n.pes-grid [data-tone="remove"],\n.pes-facts [data-tone="remove"],\n.pes-note[data-tone="remove"] {\ncolor: var(--pe-remove);\n}\n.pes-grid [data-tone="move"],\n.pes-facts [data-tone="move"] {\ncolor: var(--pe-compact);\n}\n.pes-grid [data-tone="warn"],\n.pes-facts [data-tone="warn"],\n.pes-note[data-tone="warn"] {\ncolor: var(--pe-overwrite);\n}\n.pes-grid [data-tone="muted"] {\ncolor: var(--pe-muted);\n}\n.pes-problem {\nmargin: 8px 0;\npadding: 6px 10px;\nborder-left: 3px solid var(--pe-remove);\nborder-radius: 3px;\nbackground: color-mix(in srgb, var(--pe-remove) 8%, var(--pe-bg));\nfont-size: 12px;\noverflow-wrap: anywhere;\n}\n.pes-path {\nfont-family: var(--pe-mono);\n}\n.pes-code {\ndisplay: block;\nmargin-top: 10px;\ncolor: var(--pe-muted);\nfont: 12px / 18px var(--pe-mono);\noverflow-wrap: anywhere;\n}\n.pes-form {\nmargin: 4px 0 8px;\npadding: 8px 10px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\n}\n.pes-form-line {\ndisplay: flex;\nalign-items: center;\ngap: 6px;\nmargin-bottom: 6px;\n}\n.pes-form-line .pes-input {\nflex: 0 1 220px;\n}\n.pes-fields {\ndisplay: grid;\ngrid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr));\ngap: 4px 18px;\n}\n.pes-field {\ndisplay: grid;\ngrid-template-columns: minmax(0, 2fr) minmax(70px, 1fr);\nalign-items: center;\ngap: 0 8px;\nfont-size: 12px;\n}\n.pes-field-name {\noverflow-wrap: anywhere;\n}\n.pes-commands-part {\nmargin: 6px 0;\n}\n.pes-command {\ndisplay: flex;\nalign-items: center;\ngap: 8px;\nmargin-top: 6px;\nfont-size: 12px;\n}\npre.pes-code {\nmargin: 2px 0 0;\nbackground: none;\ncolor: var(--pe-fg);\nwhite-space: pre-wrap;\n}\n.pes-chart {\nmargin: 0;\n}\n.pes-chart-frame {\noverflow: hidden;\n}\n.pes-chart svg {\ndisplay: block;\nfont: 11px var(--pe-font);\n}\n.pes-label,\n.pes-figure {\nfill: var(--pe-fg);\n}\n.pes-label {\nfill: var(--pe-muted);\n}\n.pes-line {\nfill: none;\nstroke: var(--pe-line);\n}\n.pes-depth {\nfill: color-mix(in srgb, var(--pe-overwrite) 14%, transparent);\nstroke: var(--pe-overwrite);\nstroke-width: 1.5;\n}\n.pes-chart [data-tone] {\n--pes-tone: var(--pe-append);\n}\n.pes-chart [data-tone="add"] {\n--pes-tone: var(--pe-add);\n}\n.pes-chart [data-tone="remove"] {\n--pes-tone: var(--pe-remove);\n}\n.pes-chart [data-tone="move"] {\n--pes-tone: var(--pe-compact);\n}\n.pes-chart [data-tone="warn"] {\n--pes-tone: var(--pe-overwrite);\n}\n.pes-chart [data-tone="muted"] {\n--pes-tone: color-mix(in srgb, var(--pe-fg) 40%, var(--pe-bg));\n}\n.pes-mark {\nfill: var(--pes-tone);\n}\n.pes-area {\nfill: color-mix(in srgb, var(--pes-tone) 24%, var(--pe-bg));\nstroke: var(--pes-tone);\n}\n.pes-box[data-select],\n.pes-mark[data-select] {\ncursor: pointer;\n}\n.pes-box[data-select]:hover .pes-area {\nfill: color-mix(in srgb, var(--pes-tone) 42%, var(--pe-bg));\n}\n.pes-gone {\nfill: color-mix(in srgb, var(--pe-remove) 22%, var(--pe-bg));\n}\n.pes-hatch {\nfill: none;\nstroke: var(--pe-remove);\n}\n.pes-stage {\nmargin: 8px 0;\npadding: 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\n}\n.pes-stage-bar,\n.pes-steps {\ndisplay: flex;\nalign-items: center;\n}\n.pes-steps button {\nmin-width: 28px;\n}\n.pes-board {\ndisplay: grid;\ngrid-template-columns: repeat(var(--pes-columns), minmax(84px, 1fr));\ngap: 4px;\nmargin: 8px 0;\noverflow-x: auto;\n}\n.pes-lane {\nmin-height: 96px;\npadding: 4px;\nborder-radius: 4px;\nbackground: var(--pe-faint);\n}\n.pes-card-head {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pes-card {\nmargin-top: 4px;\npadding: 3px 5px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\nfont: 11px / 1.4 var(--pe-mono);\noverflow-wrap: anywhere;\n}\n.pes-card[hidden] {\ndisplay: none;\n}\n.pes-card-name {\ndisplay: block;\n}\n.pes-card .pes-count {\ndisplay: block;\nmargin: 0;\nfont-family: var(--pe-font);\n}\n.pes-card[data-new] {\nborder-color: var(--pe-accent);\nbox-shadow: inset 3px 0 var(--pe-accent);\nanimation: pes-come 0.3s ease-out;\n}\n.pes-card[data-gone] {\nborder-style: dashed;\ncolor: var(--pe-remove);\ntext-decoration: line-through;\n}\n@keyframes pes-come {\nfrom {\nopacity: 0;\ntransform: translateX(-12px);\n}\n}\n@media (prefers-reduced-motion: reduce) {\n.pes-card {\nanimation: none !important;\n}\n}\n.pes-caption {\nmin-height: 36px;\nfont-size: 12px;\n}\n';

// src/row_layout.js
var RowLayout = class {
  /**
   * @param {ArrayLike<number>} most  rows of each unit, or an upper bound
   * @param {ArrayLike<number>} exact  1 where it is the number of rows
   */
  constructor(most, exact) {
    this.sizes = Float64Array.from(most);
    this.known = Uint8Array.from(exact);
    this.starts = new Float64Array(this.sizes.length + 1);
    this.#sum(0);
  }
  /** @param {number} from */
  #sum(from) {
    for (let unit = from; unit < this.sizes.length; unit++) {
      this.starts[unit + 1] = this.starts[unit] + this.sizes[unit];
    }
  }
  get units() {
    return this.sizes.length;
  }
  /** Number of rows of the list, or an upper bound. */
  get count() {
    return this.starts[this.units];
  }
  /** The first unit whose number of rows is not known. */
  get firstUnknown() {
    const found = this.known.indexOf(0);
    return found < 0 ? this.units : found;
  }
  get isExact() {
    return this.firstUnknown === this.units;
  }
  /**
   * The number of rows of a unit has become known.
   * @param {number} unit
   * @param {number} count
   */
  learn(unit, count) {
    this.known[unit] = 1;
    if (this.sizes[unit] === count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }
  /**
   * A unit whose number of rows was estimated has at least so many.
   * @param {number} unit
   * @param {number} count
   */
  grow(unit, count) {
    if (this.known[unit] || this.sizes[unit] >= count) return;
    this.sizes[unit] = count;
    this.#sum(unit);
  }
  /**
   * The unit of a row of the list.
   * @param {number} row
   * @returns {Place}
   */
  place(row) {
    let low = 0;
    let high = this.units;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.starts[middle + 1] <= row) low = middle + 1;
      else high = middle;
    }
    return { unit: low, offset: row - this.starts[low] };
  }
  /** @param {Place} place */
  row({ unit, offset }) {
    return this.starts[unit] + offset;
  }
  /**
   * Whether the number of a row within the whole list is known.
   * @param {Place} place
   */
  hasNumber({ unit }) {
    return unit <= this.firstUnknown;
  }
};
var grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
function placeText(layout, place) {
  if (layout.hasNumber(place)) {
    const total = grouped(layout.count);
    return `row ${grouped(layout.row(place) + 1)} of ${layout.isExact ? total : `at most ${total}`}`;
  }
  return `row ${grouped(place.offset + 1)} of split ${grouped(place.unit + 1)} of ${grouped(layout.units)}`;
}
function columnWidths(columns, rows) {
  return columns.map(({ name }, at) => {
    let longest = name.length + 2;
    for (const row of rows.slice(0, 100)) longest = Math.max(longest, row[at]?.length ?? 0);
    return Math.round(Math.min(Math.max(longest * 7.2 + 18, 60), 320));
  });
}

// src/rows.css
var rows_default = ".per {\nposition: relative;\n}\n.per :is(select, input) {\nmin-width: 0;\npadding: 1px 6px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-font);\n}\n.per [hidden] {\ndisplay: none !important;\n}\n.per .per-partition {\nwidth: 150px;\n}\n.per .per-bucket {\nwidth: 64px;\n}\n.per .per-find {\nwidth: 110px;\n}\n.per[data-busy] .per-grid {\nopacity: 0.6;\n}\n.per .per-value,\n.per .per-text {\nfont-family: var(--pe-mono);\n}\n.per .per-null {\ncolor: var(--pe-muted);\nfont-style: italic;\n}\n.per .per-struck .per-value {\ntext-decoration: line-through;\ncolor: var(--pe-muted);\n}\n.per .per-active {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n.per .per-failed {\nwidth: 100%;\ncolor: var(--pe-remove);\n}\n.per .per-failure {\ngrid-column: 1 / -1;\noverflow: visible;\n}\n.per .pe-grid-row .pe-cell {\nfont-family: inherit;\n}\n.per .pe-grid-row .per-value {\nfont-family: var(--pe-mono);\n}\n.per .per-cell-value {\nflex: none;\nmax-height: 30%;\noverflow: auto;\npadding: 3px 10px;\nborder-top: 1px solid var(--pe-line);\nfont-size: 12px;\noverflow-wrap: anywhere;\n}\n.per .per-cell-value:empty {\ndisplay: none;\n}\n.per .per-cell-value pre {\nmargin: 0;\nwhite-space: pre-wrap;\n}\n.per .per-note {\npadding: 4px 10px;\nfont-size: 12px;\n}\n.per .per-foot {\nflex-wrap: wrap;\n}\n.per :is(.per-chooser, .per-copies) {\ndisplay: flex;\nflex-wrap: wrap;\nalign-items: center;\ngap: 4px;\n}\n";

// src/virtual_scroll.js
var { ROW_HEIGHT, windowOf, scrollTo } = peShared;

// src/rows_grid.js
var FETCH_MILLIS = 30;
var MAX_ROWS = 5e3;
var MORE = 40;
var MAX_EXPORTED = 1e4;
var EXPORTED_AT_ONCE = 200;
var RECORD_HEADS = ["status", "sequence", "row kind", "level", "file", "position"];
var VISIBLE = new Set(["returned", "combined"]);
var textOf = (cell) => cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
var storedTexts = ([fate, reason, sequence, kind, level, file, position]) => [
  reason || (fate === "returned" ? "returned by reads" : fate),
  sequence === null ? "" : String(sequence),
  kind,
  `L${level}`,
  file,
  String(position)
];
function createGrid(prefix, source) {
  const header = el("div", { class: "pe-grid-head", role: "row", "aria-rowindex": "1" });
  const sizer = el("div", { class: "pe-grid-sizer", role: "presentation" });
  const scroller = el(
    "div",
    { class: "pe-grid per-grid", role: "grid", tabindex: "0", "aria-label": "Rows" },
    el("div", { role: "rowgroup", class: "pe-grid-top" }, header),
    el("div", { role: "rowgroup" }, sizer)
  );
  const status = el("div", { class: "per-status", role: "status" });
  const stop = el("button", { type: "button", class: "pe-button", hidden: true }, "Stop");
  let layout;
  let columns = [];
  let stored = false;
  let order = { column: "", descending: false };
  const rows = new Map();
  let pool = [];
  let cursor = -1;
  let column = 0;
  let measured = false;
  let stopped = false;
  let busy = false;
  let generation = 0;
  let topRow = 0;
  let shown = [0, 0];
  const heads = () => [...stored ? RECORD_HEADS : [], ...columns.map(({ name }) => name)];
  const keyOf = (row) => {
    const { unit, offset } = layout.place(row);
    return `${unit}:${offset}`;
  };
  const drawHeader = () => {
    fill(
      header,
      ...heads().map((name, index) => {
        const at = index - (stored ? RECORD_HEADS.length : 0);
        const cell = el("div", {
          role: "columnheader",
          class: "pe-cell",
          "aria-colindex": index + 1,
          title: at >= 0 ? visible(`${columns[at].name} ${columns[at].type}`) : null
        });
        const { sortBy } = source;
        if (at < 0 || stored || !sortBy) {
          cell.append(visible(cut(name, 60)));
          return cell;
        }
        const mine = order.column === name;
        const arrow = mine ? order.descending ? " ▾" : " ▴" : "";
        attribute(
          cell,
          "aria-sort",
          mine ? order.descending ? "descending" : "ascending" : "none"
        );
        const sort = el("button", { type: "button", tabindex: "-1" }, visible(cut(name, 60)));
        sort.append(el("span", { "aria-hidden": "true" }, arrow));
        sort.addEventListener("click", () => sortBy(at));
        cell.append(sort);
        return cell;
      })
    );
  };
  const textsOf = (row) => [
    ...row.stored ? storedTexts(row.stored) : [],
    ...row.cells.map(textOf)
  ];
  const measure = () => {
    measured = rows.size > 0;
    const texts = [...rows.values()].filter((row) => !row.failure).map(textsOf);
    const widths = columnWidths(
      heads().map((name) => ({ name })),
      texts
    );
    const wide = widths.reduce((sum, width) => sum + width, 0);
    scroller.style.setProperty("--pe-columns", widths.map((width) => `${width}px`).join(" "));
    sizer.style.width = `${wide}px`;
    header.style.width = `${wide}px`;
  };
  const draw = perFrame(() => {
    if (!layout) return;
    const view = Math.max(scroller.clientHeight - header.offsetHeight, 0);
    const { first, last, top, height } = windowOf(layout.count, scroller.scrollTop, view);
    sizer.style.height = `${height}px`;
    while (pool.length < last - first) {
      const line = el("div", { class: "pe-grid-row", role: "row" });
      sizer.append(line);
      pool.push(line);
    }
    pool.forEach((line, index) => {
      const at = first + index;
      line.hidden = at >= last;
      if (line.hidden) return;
      line.style.transform = `translateY(${top + index * ROW_HEIGHT}px)`;
      write(line, at);
    });
    attribute(scroller, "aria-rowcount", layout.count + 1);
    const active = cursor >= first && cursor < last ? `${prefix}-row-${cursor}` : null;
    attribute(scroller, "aria-activedescendant", active);
    shown = [first, last];
    const all = height === layout.count * ROW_HEIGHT;
    topRow = all ? Math.floor(scroller.scrollTop / ROW_HEIGHT) : first;
    tell();
    if (missing() !== void 0 && !stopped) fetch();
  });
  const tell = () => {
    if (!layout) return;
    const [first, last] = shown;
    const at = cursor >= first && cursor < last ? cursor : Math.min(topRow, layout.count - 1);
    const where = layout.count ? placeText(layout, layout.place(at)) : "no rows";
    const note = stopped ? " · stopped; scroll to continue" : busy ? " · reading…" : "";
    fill(status, `${where}${note}`);
    stop.hidden = !busy;
    attribute(scroller, "data-count", layout.isExact ? layout.count : null);
    attribute(scroller, "data-busy", busy ? "1" : null);
  };
  const write = (line, at) => {
    const row = rows.get(keyOf(at));
    line.id = `${prefix}-row-${at}`;
    attribute(line, "aria-rowindex", at + 2);
    attribute(line, "aria-selected", String(at === cursor));
    line.classList.toggle("pe-odd", at % 2 === 1);
    const struck = row?.stored && !VISIBLE.has(row.stored[0]);
    line.classList.toggle("per-struck", Boolean(struck));
    line.classList.toggle("per-failed", Boolean(row?.failure));
    if (row?.failure) {
      const { kind, message, path } = row.failure;
      const where = path && !message.includes(path) ? ` ${path}` : "";
      const text = visible(cut(`${kind}: ${message}${where}`, 600));
      return fill(line, el("div", { class: "pe-cell per-failure", role: "gridcell" }, text));
    }
    if (!row) return fill(line, el("div", { class: "pe-cell", role: "gridcell" }, "…"));
    const before = row.stored ? RECORD_HEADS.length : 0;
    fill(
      line,
      ...textsOf(row).map((text, index) => {
        const right = index >= before ? columns[index - before]?.right : index === 1;
        const empty = index >= before && row.cells[index - before] === null;
        const classes = ["pe-cell"];
        if (right) classes.push("pe-number");
        if (empty) classes.push("per-null");
        if (index >= before) classes.push("per-value");
        if (at === cursor && index - before === column) classes.push("per-active");
        return el(
          "div",
          {
            class: classes.join(" "),
            role: "gridcell",
            "aria-colindex": index + 1,
            title: index === 0 && before ? visible(text) : null
          },
          visible(text)
        );
      })
    );
  };
  const missing = () => {
    for (let at = shown[0]; at < shown[1]; at++) if (!rows.has(keyOf(at))) return at;
    return void 0;
  };
  const fetch = whenQuiet(async () => {
    const at = layout ? missing() : void 0;
    if (!layout || at === void 0 || busy) return;
    const mine = generation;
    busy = true;
    tell();
    const place = layout.place(at);
    try {
      const answer = await source.page(place.unit, place.offset, shown[1] - at + MORE);
      if (mine !== generation) return;
      if (answer) for (const part of answer.parts) take(part);
    } catch (error) {
      if (mine !== generation) return;
      take({
        ...place,
        rows: [],
        records: null,
        end: null,
        partial: false,
        failure: failureOf(error)
      });
    } finally {
      if (mine === generation) {
        busy = false;
        draw();
      }
    }
  }, FETCH_MILLIS);
  const take = (part) => {
    if (!layout) return;
    if (rows.size > MAX_ROWS) rows.clear();
    if (part.failure) {
      rows.set(`${part.unit}:${part.offset}`, { cells: [], failure: part.failure });
      layout.learn(part.unit, part.offset + 1);
      return;
    }
    part.rows.forEach((cells, index) => {
      const key = `${part.unit}:${part.offset + index}`;
      rows.set(key, part.records ? { cells, stored: part.records[index] } : { cells });
    });
    if (part.end !== null) layout.learn(part.unit, part.end);
    else layout.grow(part.unit, part.offset + part.rows.length);
    if (!measured) measure();
  };
  const choose = (at) => {
    if (!layout?.count) return;
    cursor = Math.max(Math.min(at, layout.count - 1), 0);
    scroller.scrollTop = scrollTo(
      cursor,
      layout.count,
      scroller.scrollTop,
      scroller.clientHeight - header.offsetHeight
    );
    showCell();
    draw();
  };
  const showCell = () => {
    if (!layout) return;
    const row = rows.get(keyOf(cursor));
    if (row && !row.failure) source.show(layout.place(cursor), column, row.cells[column] ?? null);
  };
  scroller.addEventListener(
    "scroll",
    () => {
      stopped = false;
      draw();
    },
    { passive: true }
  );
  sizer.addEventListener("click", (event) => {
    const target = event.target;
    const line = target.closest("[aria-rowindex]");
    if (!line) return;
    const index = Number(target.closest("[aria-colindex]")?.getAttribute("aria-colindex") ?? 1) - 1;
    column = Math.max(index - (stored ? RECORD_HEADS.length : 0), 0);
    choose(Number(line.getAttribute("aria-rowindex")) - 2);
  });
  scroller.addEventListener("keydown", (event) => {
    if (event.target !== scroller || !layout?.count) return;
    const page = Math.max(Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) choose(cursor + steps[event.key]);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(layout.count - 1);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      column = Math.max(
        Math.min(column + (event.key === "ArrowRight" ? 1 : -1), columns.length - 1),
        0
      );
      choose(Math.max(cursor, 0));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  stop.addEventListener("click", () => {
    stopped = true;
    generation++;
    busy = false;
    draw();
  });
  scroller.addEventListener("pe-export", (event) => {
    event.detail.rows = exported();
  });
  const exported = async () => {
    const found = [heads()];
    let [unit, offset] = [0, 0];
    while (layout && unit < layout.units && found.length <= MAX_EXPORTED) {
      const parts = (await source.page(unit, offset, EXPORTED_AT_ONCE, true))?.parts ?? [];
      const before = found.length;
      for (const { rows: cells, records, end, failure, ...place } of parts) {
        cells.forEach((row, index) => {
          const values = row.map((cell) => cell === null ? "" : textOf(cell));
          found.push(records ? [...storedTexts(records[index]), ...values] : values);
        });
        if (failure) found.push([`${failure.kind}: ${failure.message}`]);
        [unit, offset] = [place.unit, place.offset + cells.length];
        if (failure || end !== null && offset >= end) [unit, offset] = [unit + 1, 0];
      }
      if (found.length === before && offset) break;
      if (!parts.length) break;
    }
    const more = found.length > MAX_EXPORTED;
    return { rows: found.slice(0, MAX_EXPORTED + 1), more };
  };
  const observer = new ResizeObserver(draw);
  observer.observe(scroller);
  return {
    element: scroller,
    status,
    stop,
    focus: () => scroller.focus(),
    /**
     * Show other rows, or other columns of the same rows.
     * @param {{layout: RowLayout, columns: Column[], stored: boolean, order: {column: string, descending: boolean}, stay?: boolean}} given
     */
    open(given) {
      ({ layout, columns, stored, order } = given);
      generation++;
      busy = stopped = measured = false;
      rows.clear();
      for (const line of pool) line.remove();
      pool = [];
      if (!given.stay) {
        cursor = -1;
        scroller.scrollTop = 0;
      }
      column = Math.min(column, Math.max(columns.length - 1, 0));
      drawHeader();
      measure();
      draw();
    },
    dispose() {
      observer.disconnect();
      draw.cancel();
      fetch.cancel();
    }
  };
}

// src/sql.css
var sql_default = '.peq-editor {\nposition: relative;\nflex: none;\nmargin: 0 10px;\n}\n.pe-explorer .peq-editor :is(.peq-input, .peq-paint) {\nwidth: 100%;\nmargin: 0;\npadding: 5px 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nfont: 12px / 18px var(--pe-mono);\ntab-size: 2;\nwhite-space: pre-wrap;\noverflow-wrap: anywhere;\noverflow: hidden auto;\nscrollbar-gutter: stable;\n}\n.pe-explorer .peq-editor .peq-input {\ndisplay: block;\nposition: relative;\nheight: 84px;\nmin-height: 48px;\nmax-height: 40vh;\nresize: vertical;\nbackground: none;\ncolor: transparent;\ncaret-color: var(--pe-fg);\n}\n.pe-explorer .peq-editor .peq-input::selection {\nbackground: color-mix(in srgb, var(--pe-accent) 30%, transparent);\ncolor: transparent;\n}\n.pe-explorer .peq-editor .peq-paint {\nposition: absolute;\ninset: 0;\ncolor: var(--pe-fg);\nbackground: var(--pe-bg);\npointer-events: none;\n}\n.peq [data-kind="keyword"] {\ncolor: var(--pe-compact);\nfont-weight: 600;\n}\n.peq [data-kind="function"] {\ncolor: var(--pe-append);\n}\n.peq [data-kind="text"] {\ncolor: var(--pe-add);\n}\n.peq [data-kind="number"] {\ncolor: var(--pe-overwrite);\n}\n.peq [data-kind="comment"] {\ncolor: var(--pe-muted);\nfont-style: italic;\n}\n.peq .peq-mark {\ntext-decoration: underline wavy var(--pe-remove);\nbackground: color-mix(in srgb, var(--pe-remove) 16%, transparent);\n}\n.peq .peq-list {\nposition: absolute;\nz-index: 5;\nmin-width: 200px;\nmax-width: 360px;\noverflow: hidden;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\nbox-shadow: 0 4px 14px rgb(0 0 0 / 25%);\nfont: 12px / 20px var(--pe-mono);\n}\n.peq .peq-list > div {\ndisplay: flex;\njustify-content: space-between;\ngap: 16px;\npadding: 0 8px;\nwhite-space: nowrap;\ncursor: pointer;\n}\n.peq .peq-list > [aria-selected="true"] {\nbackground: var(--pe-select);\n}\n.peq .peq-text {\nmargin: 0 10px;\npadding: 5px 8px;\nmax-height: 30%;\noverflow: auto;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nfont: 12px / 18px var(--pe-mono);\nwhite-space: pre-wrap;\noverflow-wrap: anywhere;\n}\n.peq .peq-question {\nmargin: 0 10px;\npadding: 8px 10px;\nborder: 1px solid var(--pe-accent);\nborder-radius: 4px;\n}\n.peq .peq-question > p {\nmargin: 0 0 6px;\n}\n.peq .peq-choice {\ndisplay: flex;\ngap: 6px;\n}\n.peq .peq-results {\ndisplay: flex;\nflex: 1;\nmin-height: 0;\n}\n.peq .peq-results > .pe-grid {\nflex: 1 1 50%;\n}\n.peq .peq-chart {\nflex: 1 1 50%;\nmin-width: 0;\noverflow: auto;\npadding: 0 10px;\nborder-left: 1px solid var(--pe-line);\n}\n@container pe-explorer (max-width: 1000px) {\n.peq .peq-results {\nflex-direction: column;\n}\n.peq .peq-chart {\nborder-left: 0;\nborder-top: 1px solid var(--pe-line);\n}\n}\n@media (forced-colors: active) {\n.pe-explorer .peq-editor .peq-paint {\nvisibility: hidden;\n}\n}\n';

// src/sql_text.js
var KEYWORDS = new Set(
  "SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS ON USING JOIN LEFT RIGHT FULL INNER OUTER CROSS SEMI ANTI LATERAL UNION ALL EXCEPT INTERSECT WITH VALUES AND OR NOT IN IS NULL LIKE RLIKE BETWEEN EXISTS CASE WHEN THEN ELSE END CAST INTERVAL DATE TIMESTAMP TRUE FALSE ASC DESC NULLS FIRST LAST OVER PARTITION ROWS RANGE UNBOUNDED PRECEDING FOLLOWING CURRENT ROW QUALIFY EXPLAIN DESCRIBE ROLLUP CUBE FILTER INSERT INTO OVERWRITE UPDATE SET DELETE MERGE MATCHED TRUNCATE TABLE ALTER ADD COLUMN CALL".split(" ")
);
var FUNCTIONS = "abs any_value array array_contains array_distinct array_size avg bool_and bool_or cardinality ceil coalesce collect_list collect_set concat concat_ws corr count count_if current_date current_timestamp date_add date_diff date_format date_sub date_trunc day dense_rank element_at explode first_value floor greatest hour if ifnull initcap instr lag last_value lead least length lower lpad ltrim map map_keys map_values max max_by md5 median min min_by minute mod month months_between nullif nvl percent_rank percentile pow quarter rank regexp_extract regexp_replace repeat replace reverse round row_number rpad rtrim second sign split sqrt stddev substring sum to_date to_timestamp trim trunc try_cast unix_timestamp upper variance weekofyear year";
var FUNCTION_NAMES = FUNCTIONS.split(" ");
var KNOWN_FUNCTIONS = new Set(FUNCTION_NAMES);
var TOKEN = /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<text>'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?)|(?<quoted>`[^`]*`?)|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\w*)|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<space>\s+)|(?<sign>.)/gsu;
var WORD = /(?:`[^`\n]*|[\p{L}_][\p{L}\p{N}_$]*)$/u;
var MOST = 200;
function tokensOf(text) {
  return [...text.matchAll(TOKEN)].map((match) => {
    const groups = match.groups;
    return { kind: kindOf(groups), text: match[0], start: match.index };
  });
}
function kindOf({ comment, text, quoted: quoted2, number, word, space }) {
  if (comment !== void 0) return "comment";
  if (text !== void 0) return "text";
  if (quoted2 !== void 0) return "name";
  if (number !== void 0) return "number";
  if (space !== void 0) return "space";
  if (word === void 0) return "sign";
  if (KEYWORDS.has(word.toUpperCase())) return "keyword";
  return KNOWN_FUNCTIONS.has(word.toLowerCase()) ? "function" : "name";
}
function completionsOf(text, caret, names) {
  const before = text.slice(0, caret);
  const inside = tokensOf(text).find(
    ({ start: start2, text: part }) => start2 < caret && caret <= start2 + part.length
  );
  const typed = WORD.exec(before)?.[0] ?? "";
  const start = caret - typed.length;
  if (inside && ["text", "comment", "number"].includes(inside.kind)) return { start, items: [] };
  const prefix = typed.replace(/^`/, "").toLowerCase();
  const words = before.slice(0, start).toUpperCase().match(/[A-Z]+|\.|,/g) ?? [];
  const last = words.at(-1);
  const columns = names.columns.map(([name, type]) => ({
    label: name,
    detail: type,
    insert: quoted(name)
  }));
  const tables = names.tables.map((name) => ({
    label: name.replaceAll("`", ""),
    detail: "table",
    insert: name.startsWith("`") ? name : quoted(name)
  }));
  const isTable = last === "FROM" || last === "JOIN";
  let known = isTable ? tables : columns;
  if (last !== "." && !isTable) {
    const upper = typed !== typed.toLowerCase();
    known = [
      ...columns,
      ...tables,
      ...FUNCTION_NAMES.map((name) => ({ label: name, detail: "function", insert: `${name}(` })),
      ...[...KEYWORDS].map((word) => {
        const label = upper || !typed ? word : word.toLowerCase();
        return { label, detail: "", insert: label };
      })
    ];
  }
  const items = known.filter(({ label }) => label.toLowerCase().startsWith(prefix));
  const isWhole = items.length === 1 && items[0].insert === typed;
  return { start, items: isWhole ? [] : items.slice(0, MOST) };
}
var quoted = (name) => /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name.toUpperCase()) ? name : `\`${name.replaceAll("`", "``")}\``;
function placeOf(message, text) {
  const tokens = tokensOf(text);
  const place = /line (\d+), column (\d+)/.exec(message);
  if (place) {
    const lines = text.split("\n").slice(0, Number(place[1]) - 1);
    const at = lines.reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]) - 1;
    const found = tokens.find(({ start, text: part }) => start <= at && at < start + part.length);
    return found ? found.start : -1;
  }
  const name = (/"([^"]+)"/.exec(message) ?? /name (\S+) does not exist/.exec(message))?.[1];
  const same = ({ text: part }) => part.replaceAll("`", "").toLowerCase() === name?.toLowerCase();
  return tokens.find(same)?.start ?? -1;
}

// src/sql_editor.js
var SHOWN = 9;
function coloured(text, marked = -1) {
  return tokensOf(text).map(({ kind, text: part, start }) => {
    const isMarked = start === marked;
    if (!isMarked && (kind === "space" || kind === "sign" || kind === "name")) return part;
    return el("span", { "data-kind": kind, class: isMarked ? "peq-mark" : null }, part);
  });
}
function createEditor(prefix, names, run) {
  const paint = el("pre", { class: "peq-paint", "aria-hidden": "true" });
  const listId = `${prefix}-sql-completions`;
  const input = el("textarea", {
    class: "peq-input",
    "aria-label": "SQL query",
    "aria-autocomplete": "list",
    "aria-haspopup": "listbox",
    autocomplete: "off",
    spellcheck: "false",
    title: "Ctrl-Enter runs the query, Ctrl-Space completes a word"
  });
  const list = el("div", { class: "peq-list", role: "listbox", id: listId, hidden: true });
  attribute(list, "aria-label", "Completions");
  const element = el("div", { class: "peq-editor" }, paint, input, list);
  let items = [];
  let first = 0;
  let chosen = 0;
  let top = 0;
  let marked = -1;
  const draw = () => {
    fill(paint, ...coloured(input.value, marked), "\n");
    scroll();
  };
  const scroll = () => {
    paint.scrollTop = input.scrollTop;
    paint.scrollLeft = input.scrollLeft;
  };
  const close = () => {
    items = [];
    list.hidden = true;
    attribute(input, "aria-activedescendant", null);
    attribute(input, "aria-controls", null);
  };
  const drawList = () => {
    top = Math.max(chosen - SHOWN + 1, 0);
    const lines = items.slice(top, top + SHOWN).map(({ label, detail }, line) => {
      const id = `${listId}-${top + line}`;
      return el(
        "div",
        { role: "option", id, "aria-selected": String(top + line === chosen) },
        el("span", {}, visible(label)),
        el("span", { class: "pe-muted" }, visible(detail))
      );
    });
    fill(list, ...lines);
    attribute(input, "aria-controls", listId);
    attribute(input, "aria-activedescendant", `${listId}-${chosen}`);
  };
  const open = () => {
    const found = completionsOf(input.value, input.selectionStart, names());
    if (!found.items.length) return close();
    ({ items } = found);
    first = found.start;
    chosen = 0;
    list.hidden = false;
    place();
    drawList();
  };
  const place = () => {
    const range = document.createRange();
    const walker = document.createTreeWalker(paint, NodeFilter.SHOW_TEXT);
    let rest = first;
    let node = walker.nextNode();
    while (node && rest > node.length) {
      rest -= node.length;
      node = walker.nextNode();
    }
    if (!node) return;
    range.setStart(node, rest);
    const box = range.getBoundingClientRect();
    const frame = element.getBoundingClientRect();
    const left = Math.min(box.left - frame.left, frame.width - 240);
    list.style.left = `${Math.max(left, 0)}px`;
    list.style.top = `${box.bottom - frame.top + 2}px`;
  };
  const accept = (at) => {
    const { insert } = items[at];
    const { value, selectionStart } = input;
    close();
    input.value = `${value.slice(0, first)}${insert}${value.slice(selectionStart)}`;
    input.selectionStart = input.selectionEnd = first + insert.length;
    marked = -1;
    draw();
  };
  input.addEventListener("input", () => {
    marked = -1;
    draw();
    const before = input.value.slice(0, input.selectionStart);
    if (/[\p{L}\p{N}_.`]$/u.test(before)) open();
    else close();
  });
  input.addEventListener("scroll", scroll, { passive: true });
  input.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => {
    const line = event.target.closest("[role=option]");
    if (line) accept(top + [...list.children].indexOf(line));
    event.preventDefault();
  });
  input.addEventListener("keydown", (event) => {
    const isOpen = !list.hidden;
    const control = event.ctrlKey || event.metaKey;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && control) {
      close();
      run();
    } else if (event.key === " " && control) open();
    else if (isOpen && step && !control) {
      chosen = (chosen + step + items.length) % items.length;
      drawList();
    } else if (isOpen && (event.key === "Enter" || event.key === "Tab")) accept(chosen);
    else if (isOpen && event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element,
    focus: () => input.focus(),
    value: () => input.value,
    /** @param {string} text */
    set(text) {
      if (text === input.value) return;
      input.value = text;
      marked = -1;
      draw();
    },
    /** @param {number} at  offset of the token that an error is about; -1 for none */
    mark(at) {
      marked = at;
      draw();
    }
  };
}

// src/sql.js
var QUIET_MILLIS = 90;
var EXAMPLE = "SELECT * FROM t";
function create(context) {
  const { store, channel, prefix, history: snapshots } = context;
  const isSaved = context.offers({ op: "sql_last" }) && !context.offers({ op: "sql_stop" });
  const asked = () => store.get().asked.sql ?? "";
  let names = { tables: ["t"], columns: [] };
  let opened;
  let shown = "";
  let turn = 0;
  let isHistory = false;
  let isWriting = false;
  let written = "";
  let confirmation = "";
  let rowsShown = Promise.resolve(false);
  let disposeChart = () => {
  };
  const take = () => {
    const text = editor.value().trimStart();
    editor.set(text);
    if (text !== asked()) store.set({ asked: { ...store.get().asked, sql: text } });
    load.cancel();
    return text;
  };
  const run = () => {
    if (isWriting) return;
    take();
    shown = "";
    isHistory = false;
    start().then(() => cancel.focus());
  };
  const history = async () => {
    if (isWriting) return;
    const text = take();
    const rows = start();
    isHistory = true;
    const body = await rows && await ended("sql_history", { text });
    isHistory = false;
    if (!body) return;
    showHistory(body);
    start();
  };
  const showHistory = ({ history: found }) => {
    store.set({ queryHistory: found });
    fail();
    fill(status, `History of ${plural(found.count, "snapshot")} below the timeline`);
  };
  const editor = createEditor(prefix, () => names, run);
  const runButton = button("Run", "Run the query (Ctrl-Enter)", run);
  const historyButton = button(
    "History",
    "Run the query at each of the last 100 snapshots, and draw its numbers below the timeline",
    history
  );
  const stop = button("Stop", "Stop the query", () => {
    turn++;
    isHistory = false;
    setBusy(false);
    fill(status, "Stopped.");
    channel.ask("sql_stop").catch(() => {
    });
  });
  const write = async () => {
    if (editor.value().trimStart() !== written) return run();
    const args = { snapshot: store.get().selected, text: written, confirmation };
    runButton.focus();
    isWriting = true;
    const body = await ended("sql_run", args);
    isWriting = false;
    if (body?.question) ask(body);
    else if (body) present(body);
    context.refresh().catch((error) => context.report(failureOf(error)));
  };
  const cancel = button("Cancel", "Do not run the statement", () => {
    closeQuestion();
    runButton.focus();
    channel.ask("sql_stop").catch(() => {
    });
  });
  const [asks, latest] = [el("p", { id: `${prefix}-writes` }), el("p", { id: `${prefix}-latest` })];
  const question = el(
    "div",
    {
      class: "peq-question",
      role: "alertdialog",
      "aria-label": "Run the statement?",
      "aria-describedby": `${prefix}-writes ${prefix}-latest`,
      hidden: true
    },
    asks,
    latest,
    el(
      "div",
      { class: "peq-choice" },
      button("Run statement", "Write to the table", write),
      cancel
    )
  );
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel.click();
  });
  const sayLatest = () => {
    const isOlder = store.get().position < snapshots.count - 1;
    fill(latest, isOlder ? "It works on the latest snapshot, whatever is selected." : "");
  };
  const closeQuestion = () => {
    question.hidden = true;
    confirmation = "";
  };
  const ask = (body) => {
    fail();
    results.hidden = foot.hidden = true;
    fill(value);
    fill(status);
    confirmation = body.confirmation;
    fill(asks, visible(cut(body.question, 400)));
    sayLatest();
    question.hidden = false;
  };
  const status = el("span", { class: "pe-muted", role: "status" });
  const bar = el("div", { class: "pe-bar" }, runButton, historyButton, stop, status);
  const message = el("div", { hidden: true, tabindex: "-1" });
  const value = el("div", {
    class: "per-cell-value",
    role: "region",
    "aria-label": "Value",
    tabindex: "0"
  });
  const chart = el("div", {
    class: "peq-chart",
    role: "region",
    "aria-label": "Chart",
    tabindex: "0",
    hidden: true
  });
  const grid = createGrid(`${prefix}-sql`, {
    async page(_unit, offset, count, whole2) {
      const { first, handle } = opened;
      const rows = first.rows.slice(offset, offset + count);
      if (isSaved || rows.length && !whole2) return { parts: [{ ...first, offset, rows }] };
      const request = { handle, offset, count: Math.min(count, 400) };
      const answer = whole2 ? await channel.ask("sql_page", { ...request, whole: whole2 }) : await channel.latest("sql_page", "sql_page", request);
      return answer && handle === opened?.handle ? answer.body : void 0;
    },
    show({ offset }, column, cell) {
      const { name, type } = opened.columns[column];
      const text = cell === null ? "null" : typeof cell === "string" ? cell : cell.text;
      fill(
        value,
        el("strong", {}, visible(cut(name, 80))),
        " ",
        el("span", { class: "pe-type" }, visible(cut(type, 80))),
        " ",
        el("span", { class: "per-text" }, visible(text))
      );
      if (cell === null || typeof cell === "string" || isSaved) return;
      const says = `Show all ${formatCount(cell.length)} characters`;
      value.append(
        " ",
        button("show all", says, () => whole(offset, column))
      );
    }
  });
  const results = el("div", { class: "peq-results", hidden: true }, grid.element, chart);
  const foot = el("div", { class: "pe-totals", hidden: true }, grid.status, grid.stop);
  const query = isSaved ? el("pre", { class: "peq-text", tabindex: "0" }) : editor.element;
  const element = el(
    "div",
    { class: "pe-view per peq pes-pane", "data-pane": "sql" },
    el("style", {}, rows_default, report_default, sql_default),
    bar,
    query,
    question,
    message,
    results,
    value,
    foot
  );
  const whole = async (offset, column) => {
    try {
      const answer = await channel.ask("sql_cell", { handle: opened.handle, offset, column });
      const text = visible(answer.body.text ?? "null");
      fill(value, el("pre", { class: "per-text", tabindex: "0" }, text));
    } catch (error) {
      fail(failureOf(error));
    }
  };
  const setBusy = (busy) => {
    attribute(element, "data-busy", busy ? "1" : null);
    stop.hidden = !busy || isWriting;
  };
  const fail = (failure) => {
    message.hidden = !failure;
    attribute(element, "data-error", failure?.kind);
    editor.mark(failure ? placeOf(failure.message, editor.value()) : -1);
    if (!failure) return;
    fill(message, problem(failure));
    fill(status);
    results.hidden = foot.hidden = true;
    fill(value);
  };
  const present = (body) => {
    opened = body;
    fail();
    disposeChart();
    disposeChart = () => {
    };
    const { columns, total, first, width, snapshot } = body;
    const count = isSaved ? first.rows.length : total;
    results.hidden = foot.hidden = !columns.length;
    grid.open({
      layout: new RowLayout([count], [1]),
      columns,
      stored: false,
      order: { column: "", descending: false }
    });
    chart.hidden = !body.chart;
    fill(chart);
    if (body.chart) {
      const drawn = createChart(body.chart, () => {
      });
      disposeChart = drawn.dispose;
      fill(chart, drawn.element);
    }
    fill(value);
    const notes = [
      body.note || (columns.length ? plural(total, "row") : "Statement executed"),
      body.cut ? "first rows only; the code reads all" : "",
      count < total ? `first ${formatCount(count)} shown` : "",
      width > columns.length ? `first ${columns.length} of ${formatCount(width)} columns` : "",
      snapshot ? `snapshot ${snapshot}` : ""
    ];
    fill(status, notes.filter(Boolean).join(" · "));
    attribute(element, "data-shown", String(snapshot));
  };
  const ended = async (op, args) => {
    const mine = ++turn;
    setBusy(true);
    closeQuestion();
    fill(status, "Running…");
    let body;
    try {
      ({ body } = await channel.ask(op, args));
      while (!body.done && mine === turn) {
        ({ body } = await channel.ask("sql_step", { handle: body.handle }));
      }
    } catch (error) {
      body = void 0;
      if (mine === turn) fail(failureOf(error));
    }
    if (mine !== turn) return void 0;
    setBusy(false);
    return body;
  };
  const start = () => {
    const { selected, queryHistory } = store.get();
    const key = `${selected} ${asked()}`;
    if (key === shown || !asked() || isHistory || isWriting) return rowsShown;
    shown = key;
    if (queryHistory && queryHistory.text !== asked()) store.set({ queryHistory: void 0 });
    rowsShown = ended("sql_run", { snapshot: selected, text: asked() }).then((body) => {
      if (body?.question) written = asked();
      if (body && !body.question) present(body);
      else if (body && !isHistory) ask(body);
      return Boolean(body);
    });
    return rowsShown;
  };
  const load = whenQuiet(() => {
    if (store.get().tab === "sql" && asked() !== written) start();
  }, QUIET_MILLIS);
  const openSaved = async () => {
    const { body } = await channel.ask("sql_last");
    runButton.hidden = historyButton.hidden = true;
    fill(query, ...coloured(visible(body.text)));
    present(body);
    if (body.history) store.set({ queryHistory: body.history });
  };
  const readNames = async () => {
    try {
      names = (await channel.ask("sql_names", { snapshot: store.get().selected })).body;
    } catch (error) {
      const failure = failureOf(error);
      fail(failure);
      if (failure.kind !== "UnsupportedFeatureError") return;
      bar.hidden = query.hidden = true;
      attribute(message, "tabindex", "0");
    } finally {
      attribute(element, "data-shown", String(store.get().selected));
    }
  };
  stop.hidden = true;
  if (isSaved) openSaved();
  else {
    editor.set(asked() || EXAMPLE);
    readNames();
    load();
  }
  return {
    element,
    focus: () => results.hidden ? runButton.focus() : grid.focus(),
    update(changed) {
      if (isSaved) return;
      if (changed.has("asked") && asked()) editor.set(asked());
      if (changed.has("selected")) readNames();
      if (changed.has("position") || changed.has("history")) sayLatest();
      if (changed.has("selected") || changed.has("asked") || changed.has("tab")) load();
    },
    dispose() {
      turn++;
      load.cancel();
      disposeChart();
      grid.dispose();
    }
  };
}
export {
  create
};
