// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/report.css
var report_default = '.pes-root {\ncontainer-type: inline-size;\n--pe-bg: var(--jp-layout-color1, var(--vscode-editor-background, Canvas));\n--pe-fg: var(--jp-ui-font-color1, var(--vscode-editor-foreground, CanvasText));\n--pe-muted: color-mix(in srgb, var(--pe-fg) 74%, var(--pe-bg));\n--pe-faint: color-mix(in srgb, var(--pe-fg) 5%, var(--pe-bg));\n--pe-line: color-mix(in srgb, var(--pe-fg) 16%, var(--pe-bg));\n--pe-accent: var(--jp-brand-color1, var(--vscode-focusBorder, #1b6ac9));\n--pe-append: #2563c9;\n--pe-compact: #7b45c4;\n--pe-overwrite: #b3540b;\n--pe-add: #1a7038;\n--pe-remove: #b3261e;\n--pe-font: var(--jp-ui-font-family, var(--vscode-font-family, system-ui, sans-serif));\n--pe-mono: var(--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, monospace));\npadding: 4px 12px 10px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 13px / 1.4 var(--pe-font);\nfont-variant-numeric: tabular-nums;\n}\n.pes-root[data-theme="dark"] {\n--pe-append: #79aefc;\n--pe-compact: #c3a0f8;\n--pe-overwrite: #f5a35f;\n--pe-add: #76d48f;\n--pe-remove: #ff8f85;\n}\n.pes-pane {\nposition: relative;\n}\n.pes-body {\ncontainer-type: inline-size;\nflex: 1;\noverflow: auto;\npadding: 4px 10px 12px;\nmin-height: 0;\n}\n.pes-pane[data-busy] .pes-body {\nopacity: 0.6;\n}\n.pes-ask {\ndisplay: flex;\nalign-items: center;\ngap: 6px;\npadding: 6px 10px;\nborder-bottom: 1px solid var(--pe-line);\n}\n.pes-ask label {\ncolor: var(--pe-muted);\nfont-size: 12px;\n}\n.pes-input {\nflex: 1;\nmin-width: 0;\npadding: 2px 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\ncolor: var(--pe-fg);\nfont: 12px / 20px var(--pe-mono);\n}\n.pes-input::placeholder {\ncolor: var(--pe-muted);\nopacity: 0.85;\n}\n.pes-title {\nmargin: 4px 0 6px !important;\nfont-size: 13px;\nfont-weight: 600;\noverflow-wrap: anywhere;\n}\n.pes-heading {\noverflow-wrap: anywhere;\nmargin: 12px 0 3px !important;\nfont-size: 12px;\nfont-weight: 600;\n}\n.pes-count {\nmargin-left: 8px;\ncolor: var(--pe-muted);\nfont-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts {\ndisplay: grid;\ngrid-template-columns: minmax(90px, auto) minmax(0, 1fr);\ngap: 2px 12px;\nmargin: 0;\nfont-size: 12px;\n}\n:is(.pes-pane, .pes-root) .pes-facts dt {\ngrid-column: 1;\nfloat: none;\nwidth: auto;\nmax-width: 170px;\noverflow-wrap: anywhere;\ncolor: var(--pe-muted);\nfont-weight: normal;\n}\n:is(.pes-pane, .pes-root) .pes-facts dd {\ngrid-column: 2;\nfloat: none;\nwidth: auto;\nmargin: 0;\noverflow-wrap: anywhere;\n}\n.pes-note {\noverflow-wrap: anywhere;\nmargin: 6px 0 !important;\ncolor: var(--pe-muted);\nfont-size: 12px;\n}\n.pes-sentences {\nmargin: 2px 0;\npadding: 0 0 0 16px;\nfont-size: 12px;\nline-height: 19px;\noverflow-wrap: anywhere;\n}\n.pes-sentences [data-tone="warn"] {\ncolor: var(--pe-overwrite);\n}\n.pes-sentences [data-tone="remove"] {\ncolor: var(--pe-remove);\n}\n.pes-scroll {\noverflow-x: auto;\noverflow-y: hidden;\n}\n.pes-grid {\nmin-width: 100%;\nmargin: 0;\nborder-collapse: collapse;\nfont-size: 12px;\n}\n.pes-grid :is(th, td) {\nposition: relative;\npadding: 2px 12px 2px 0;\nborder: 0;\nborder-bottom: 1px solid var(--pe-line);\nbackground: none;\nfont-weight: normal;\nline-height: 18px;\ntext-align: left;\nvertical-align: top;\nwhite-space: nowrap;\nmax-width: none;\n}\n.pes-grid tbody tr:hover {\nbackground: var(--pe-faint);\n}\n.pes-grid thead :is(th, td) {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pes-grid .pes-number {\ntext-align: right;\n}\n.pes-grid .pes-long {\nmin-width: clamp(150px, 36cqw, 320px);\nwhite-space: normal;\noverflow-wrap: anywhere;\n}\n@container (max-width: 660px) {\n.pes-grid :is(th, td):not(.pes-number, [data-tone]) {\nwhite-space: normal;\n}\n.pes-grid .pes-long {\nmin-width: 130px;\n}\n}\n.pes-bar {\nposition: absolute;\nright: 12px;\nbottom: 0;\nwidth: calc((100% - 12px) * 1);\nheight: 2px;\nbackground: linear-gradient(\nto left,\nvar(--pe-accent) var(--pes-share),\ntransparent var(--pes-share)\n);\n}\n:is(.pes-pane, .pes-root) .pes-link {\nmargin: 0;\npadding: 0;\nborder: 0;\nbackground: none;\ncolor: inherit;\nfont: inherit;\ntext-align: inherit;\ntext-decoration: underline;\ntext-decoration-color: color-mix(in srgb, currentColor 45%, transparent);\ntext-underline-offset: 2px;\ncursor: pointer;\n}\n:is(.pes-pane, .pes-root) .pes-link:hover {\nbackground: none;\ntext-decoration-color: currentColor;\n}\n.pes-link:focus-visible,\n.pes-scroll:focus-visible,\n.pes-body:focus-visible {\noutline: 2px solid var(--pe-accent);\noutline-offset: -2px;\n}\n:is(.pes-pane, .pes-root) .pes-file {\nfont: 11px / 18px var(--pe-mono);\nwhite-space: nowrap;\n}\n.pes-grid [data-tone="add"],\n.pes-facts [data-tone="add"] {\ncolor: var(--pe-add);\n}\n.pes-grid [data-tone="remove"],\n.pes-facts [data-tone="remove"],\n.pes-note[data-tone="remove"] {\ncolor: var(--pe-remove);\n}\n.pes-grid [data-tone="move"],\n.pes-facts [data-tone="move"] {\ncolor: var(--pe-compact);\n}\n.pes-grid [data-tone="warn"],\n.pes-facts [data-tone="warn"],\n.pes-note[data-tone="warn"] {\ncolor: var(--pe-overwrite);\n}\n.pes-grid [data-tone="muted"] {\ncolor: var(--pe-muted);\n}\n.pes-problem {\nmargin: 8px 0;\npadding: 6px 10px;\nborder-left: 3px solid var(--pe-remove);\nborder-radius: 3px;\nbackground: color-mix(in srgb, var(--pe-remove) 8%, var(--pe-bg));\nfont-size: 12px;\noverflow-wrap: anywhere;\n}\n.pes-path {\nfont-family: var(--pe-mono);\n}\n.pes-code {\ndisplay: block;\nmargin-top: 10px;\ncolor: var(--pe-muted);\nfont: 12px / 18px var(--pe-mono);\noverflow-wrap: anywhere;\n}\n.pes-form {\nmargin: 4px 0 8px;\npadding: 8px 10px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\n}\n.pes-form-line {\ndisplay: flex;\nalign-items: center;\ngap: 6px;\nmargin-bottom: 6px;\n}\n.pes-form-line .pes-input {\nflex: 0 1 220px;\n}\n.pes-fields {\ndisplay: grid;\ngrid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr));\ngap: 4px 18px;\n}\n.pes-field {\ndisplay: grid;\ngrid-template-columns: minmax(0, 2fr) minmax(70px, 1fr);\nalign-items: center;\ngap: 0 8px;\nfont-size: 12px;\n}\n.pes-field-name {\noverflow-wrap: anywhere;\n}\n.pes-commands-part {\nmargin: 6px 0;\n}\n.pes-command {\ndisplay: flex;\nalign-items: center;\ngap: 8px;\nmargin-top: 6px;\nfont-size: 12px;\n}\npre.pes-code {\nmargin: 2px 0 0;\nbackground: none;\ncolor: var(--pe-fg);\nwhite-space: pre-wrap;\n}\n.pes-chart {\nmargin: 0;\n}\n.pes-chart-frame {\noverflow: hidden;\n}\n.pes-chart svg {\ndisplay: block;\nfont: 11px var(--pe-font);\n}\n.pes-label,\n.pes-figure {\nfill: var(--pe-fg);\n}\n.pes-label {\nfill: var(--pe-muted);\n}\n.pes-line {\nfill: none;\nstroke: var(--pe-line);\n}\n.pes-depth {\nfill: color-mix(in srgb, var(--pe-overwrite) 14%, transparent);\nstroke: var(--pe-overwrite);\nstroke-width: 1.5;\n}\n.pes-chart [data-tone] {\n--pes-tone: var(--pe-append);\n}\n.pes-chart [data-tone="add"] {\n--pes-tone: var(--pe-add);\n}\n.pes-chart [data-tone="remove"] {\n--pes-tone: var(--pe-remove);\n}\n.pes-chart [data-tone="move"] {\n--pes-tone: var(--pe-compact);\n}\n.pes-chart [data-tone="warn"] {\n--pes-tone: var(--pe-overwrite);\n}\n.pes-chart [data-tone="muted"] {\n--pes-tone: color-mix(in srgb, var(--pe-fg) 40%, var(--pe-bg));\n}\n.pes-mark {\nfill: var(--pes-tone);\n}\n.pes-area {\nfill: color-mix(in srgb, var(--pes-tone) 24%, var(--pe-bg));\nstroke: var(--pes-tone);\n}\n.pes-box[data-select],\n.pes-mark[data-select] {\ncursor: pointer;\n}\n.pes-box[data-select]:hover .pes-area {\nfill: color-mix(in srgb, var(--pes-tone) 42%, var(--pe-bg));\n}\n.pes-gone {\nfill: color-mix(in srgb, var(--pe-remove) 22%, var(--pe-bg));\n}\n.pes-hatch {\nfill: none;\nstroke: var(--pe-remove);\n}\n.pes-stage {\nmargin: 8px 0;\npadding: 8px;\nborder: 1px solid var(--pe-line);\nborder-radius: 6px;\n}\n.pes-stage-bar,\n.pes-steps {\ndisplay: flex;\nalign-items: center;\n}\n.pes-steps button {\nmin-width: 28px;\n}\n.pes-board {\ndisplay: grid;\ngrid-template-columns: repeat(var(--pes-columns), minmax(84px, 1fr));\ngap: 4px;\nmargin: 8px 0;\noverflow-x: auto;\n}\n.pes-lane {\nmin-height: 96px;\npadding: 4px;\nborder-radius: 4px;\nbackground: var(--pe-faint);\n}\n.pes-card-head {\ncolor: var(--pe-muted);\nfont-size: 11px;\n}\n.pes-card {\nmargin-top: 4px;\npadding: 3px 5px;\nborder: 1px solid var(--pe-line);\nborder-radius: 4px;\nbackground: var(--pe-bg);\nfont: 11px / 1.4 var(--pe-mono);\noverflow-wrap: anywhere;\n}\n.pes-card[hidden] {\ndisplay: none;\n}\n.pes-card-name {\ndisplay: block;\n}\n.pes-card .pes-count {\ndisplay: block;\nmargin: 0;\nfont-family: var(--pe-font);\n}\n.pes-card[data-new] {\nborder-color: var(--pe-accent);\nbox-shadow: inset 3px 0 var(--pe-accent);\nanimation: pes-come 0.3s ease-out;\n}\n.pes-card[data-gone] {\nborder-style: dashed;\ncolor: var(--pe-remove);\ntext-decoration: line-through;\n}\n@keyframes pes-come {\nfrom {\nopacity: 0;\ntransform: translateX(-12px);\n}\n}\n@media (prefers-reduced-motion: reduce) {\n.pes-card {\nanimation: none !important;\n}\n}\n.pes-caption {\nmin-height: 36px;\nfont-size: 12px;\n}\n';

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

// src/replay_view.js
var PLAY_MILLIS = 1400;
function createStage(stage, still = matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const end = stage.frames.length - 1;
  let at = end;
  let timer = 0;
  const first = button("«", "First step", () => go(0));
  const previous = button("‹", "Previous step", () => go(at - 1));
  const next = button("›", "Next step", () => go(at + 1));
  const last = button("»", "Last step", () => go(end));
  const play = button("▶", "Play the commit", () => timer ? stop() : start(), { hidden: still });
  const count = el("span", { class: "pes-count" });
  const caption = el("div", { class: "pes-caption", "aria-live": "polite" });
  const cards = stage.cards.map((card) => {
    const note = card.note ? el("span", { class: "pes-count" }, visible(card.note)) : null;
    return { card, element: el("div", { class: "pes-card" }, shortened2(card.text), note) };
  });
  const board = el("div", {
    class: "pes-board",
    tabindex: "0",
    role: "group",
    "aria-label": "Files of the commit"
  });
  board.style.setProperty("--pes-columns", String(stage.columns.length));
  stage.columns.forEach((name, number) => {
    const mine = cards.filter(({ card }) => card.column === number);
    const head = el("div", { class: "pes-card-head" }, visible(name));
    board.append(el("div", { class: "pes-lane" }, head, ...mine.map(({ element: element2 }) => element2)));
  });
  const show = (frame) => {
    at = Math.min(Math.max(frame, 0), end);
    const { title, text, tone } = stage.frames[at];
    for (const { card, element: element2 } of cards) {
      element2.hidden = card.since > at;
      attribute(element2, "data-new", card.since === at ? "1" : null);
      attribute(element2, "data-gone", card.until !== null && card.until <= at ? "1" : null);
    }
    fill(count, `step ${at + 1} of ${end + 1}`);
    fill(caption, el("strong", { "data-tone": tone }, visible(title)), " ", visible(text));
    first.disabled = previous.disabled = at === 0;
    next.disabled = last.disabled = at === end;
  };
  const start = () => {
    if (at === end) show(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      show(at + 1);
      if (at === end) stop();
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };
  const go = (frame) => {
    stop();
    show(frame);
  };
  show(end);
  const steps = el("span", { class: "pes-steps" }, first, previous, play, next, last);
  const element = el(
    "div",
    { class: "pes-stage", role: "group", "aria-label": visible(stage.title) },
    el("div", { class: "pes-stage-bar" }, steps, count),
    board,
    caption
  );
  return { element, dispose: stop };
}
function shortened2(text) {
  const shown = visible(cut(text));
  const short = shown.length > 14 ? `…${shown.slice(-7)}` : shown;
  return el("span", { class: "pes-card-name", title: shown }, short);
}

// src/report_form.js
function inputText(action, settings) {
  const given = [...settings].filter(([, value]) => value !== "");
  const texts = given.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return [action, texts.join(", ")].filter(Boolean).join(" ");
}
function createReportForm(form, select) {
  const actions = el("select", { class: "pes-input", "aria-label": "Action", "data-focus": "" });
  for (const [name, label] of form.actions) actions.append(new Option(visible(label), name));
  actions.value = form.action;
  actions.hidden = form.actions.length < 2;
  actions.addEventListener("change", () => select(`ask:${actions.value}`));
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
        input
      )
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
    grid
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const settings = [...inputs].map(
      ([name, input]) => [name, input.value.trim()]
    );
    select(`ask:${inputText(form.action, settings)}`);
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") event.stopPropagation();
  });
  return element;
}
var placeholderOf = ({ current, example }) => [current, example && `e.g. ${example}`].filter(Boolean).join(", ");
function inputOf(field) {
  const attributes = {
    class: "pes-input",
    "data-focus": field.name,
    "aria-label": visible(cut(field.label))
  };
  if (!field.allowed.length) {
    const input = el("input", {
      ...attributes,
      type: "text",
      placeholder: visible(cut(placeholderOf(field))),
      autocomplete: "off",
      spellcheck: "false"
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
function createCommands(commands) {
  const body = el("div", { class: "pes-commands", hidden: true });
  for (const [name, code] of commands.rows) {
    const copy = copyButton(`Copy the ${name} code`, () => code);
    body.append(
      el("div", { class: "pes-command" }, el("span", {}, visible(name)), copy),
      el("pre", { class: "pes-code", tabindex: "0" }, visible(code))
    );
  }
  const toggle = button(
    "Show code",
    `${commands.title}, in ${commands.rows.map(([name]) => name).join(" and ")}`,
    () => {
      body.hidden = !body.hidden;
      attribute(toggle, "aria-expanded", String(!body.hidden));
    },
    { "aria-expanded": "false" }
  );
  return el("div", { class: "pes-commands-part" }, toggle, body);
}

// src/report_view.js
var LONG = 48;
var NAME_ENDS = 14;
function drawReport(report, select) {
  const disposals = [];
  const elements = report.sections.map((part) => {
    const made = section(part, select);
    disposals.push(made.dispose ?? (() => {
    }));
    return made.element;
  });
  const title = el("h4", { class: "pes-title" }, visible(cut(report.title)));
  return {
    elements: [title, ...elements],
    dispose() {
      for (const dispose of disposals) dispose();
    }
  };
}
function section(part, select) {
  switch (part.type) {
    case "facts":
      return { element: facts(part.title, part.rows, select) };
    case "grid":
      return { element: gridOf(part, select) };
    case "note":
      return {
        element: el("p", { class: "pes-note", "data-tone": part.tone }, visible(part.text))
      };
    case "sentences":
      return { element: sentences(part.title, part.items, select) };
    case "problem":
      return { element: problemOf(part.failure) };
    case "stage":
      return createStage(part);
    case "commands":
      return { element: createCommands(part) };
    case "form":
      return { element: createReportForm(part, select) };
    case "bars":
    case "lanes":
      return createChart(part, select);
  }
}
function sentences(title, items, select) {
  const lines = items.map((parts) => el("li", {}, ...parts.map((part) => inside(part, select))));
  const heading = el("h5", { class: "pes-heading" }, visible(title));
  return el("div", {}, heading, el("ul", { class: "pes-sentences" }, ...lines));
}
function facts(title, rows, select) {
  const list = el("dl", { class: "pes-facts" });
  for (const [label, value] of rows) {
    list.append(el("dt", {}, visible(cut(label))), el("dd", {}, inside(value, select)));
  }
  return el("div", {}, title ? el("h5", { class: "pes-heading" }, visible(title)) : null, list);
}
function gridOf(grid, select) {
  const count = grid.total > grid.rows.length ? `first ${grid.rows.length} of ` : "total: ";
  const heading = el(
    "h5",
    { class: "pes-heading" },
    visible(grid.title),
    el("span", { class: "pes-count" }, `${count}${formatCount(grid.total)}`)
  );
  if (!grid.rows.length) {
    return el("div", {}, heading, el("p", { class: "pes-note" }, "None."));
  }
  const head = el("tr", {});
  grid.columns.forEach((name, i) => {
    const shown = cut(name, LONG);
    const title = shown === name ? null : visible(cut(name, 2e3));
    const cell = name ? el("th", { class: grid.numeric[i] ? "pes-number" : null, title }, visible(shown)) : el("td", {});
    if (cell instanceof HTMLTableCellElement && name) cell.scope = "col";
    head.append(cell);
  });
  const body = el("tbody", {});
  for (const row of grid.rows) {
    const line = el("tr", {});
    row.forEach((cell, i) => {
      line.append(tableCell(cell, grid.numeric[i], select));
    });
    body.append(line);
  }
  const table = el("table", { class: "pes-grid", "aria-label": visible(grid.title) });
  table.append(el("thead", {}, head), body);
  const scroller = el(
    "div",
    {
      class: "pes-scroll",
      tabindex: "0",
      role: "region",
      "aria-label": `Table: ${visible(grid.title)}`
    },
    table
  );
  const note = grid.note ? el("p", { class: "pes-note" }, visible(grid.note)) : null;
  return el("div", {}, heading, scroller, note);
}
function tableCell(cell, number, select) {
  const plain = typeof cell === "string" ? { text: cell } : cell;
  const long = plain.text.length > LONG && plain.selects !== `file:${plain.text}`;
  const place = el(
    "td",
    {
      class: `${number ? "pes-number" : ""}${long ? " pes-long" : ""}`.trim() || null,
      "data-tone": plain.tone,
      "data-text": plain.selects?.startsWith("file:") || plain.text.length > CELL_LIMIT ? plain.text : null
    },
    inside(cell, select)
  );
  if (plain.share !== void 0) {
    const bar = el("span", { class: "pes-bar", "aria-hidden": "true" });
    bar.style.setProperty("--pes-share", `${100 * plain.share}%`);
    place.append(bar);
  }
  return place;
}
function inside(cell, select) {
  const { text, selects = "", tone = void 0 } = typeof cell === "string" ? { text: cell } : cell;
  if (!selects || select.offers?.(selects) === false) {
    const shown = text.length > CELL_LIMIT ? longText(text) : visible(text);
    return tone ? el("span", { "data-tone": tone }, shown) : shown;
  }
  const file = selects === `file:${text}`;
  return button(
    file ? shortName(text) : visible(cut(text)),
    meaning(selects, text),
    () => select(selects),
    {
      class: file ? "pes-link pes-file" : "pes-link",
      "data-tone": tone
    }
  );
}
function longText(text) {
  const shown = el("span", {}, visible(cut(text)));
  const expand = button("show all", `Show all ${text.length} characters`, () => {
    shown.textContent = visible(text);
    expand.remove();
  });
  return el("span", {}, shown, " ", expand);
}
function shortName(name) {
  const shown = visible(cut(name));
  if (shown.length <= 2 * NAME_ENDS + 4) return shown;
  return `${shown.slice(0, NAME_ENDS)}…${shown.slice(-NAME_ENDS)}`;
}
function meaning(selects, text) {
  const at = selects.indexOf(":");
  const kind = selects.slice(0, at);
  const what = visible(cut(selects.slice(at + 1)));
  switch (kind) {
    case "snapshot":
      return `Go to snapshot ${what}`;
    case "file":
      return `Show details of ${what}`;
    case "filter":
      return what ? `List files where ${what}` : "List all files";
    case "schema":
      return what ? `Show details of schema ${what}` : "Open the view schema";
    case "ask":
      return `Show ${what} in this view`;
    default:
      return `Open the view ${visible(kind)}: ${visible(cut(text))}`;
  }
}
function problemOf(failure) {
  if (failure.kind === "not saved") return el("p", { class: "pes-note" }, failure.message);
  return el(
    "div",
    { class: "pes-problem", role: "alert", "data-error": failure.kind },
    el("strong", {}, visible(failure.kind)),
    " ",
    visible(cut(failure.message, 2e3)),
    failure.path && !failure.message.includes(failure.path) ? el("div", { class: "pes-path" }, visible(cut(failure.path, 1e3))) : null,
    failure.hint ? el("div", {}, visible(cut(failure.hint, 1e3))) : null
  );
}

// src/theme.js
var { readColours, isDark, watchTheme } = peShared;

// src/report.js
var QUIET_MILLIS = 90;
var QUICK = new Set(["overview"]);
var FIELDS = {
  lsm: { label: "Bucket", hint: "partition and bucket" },
  diff: { label: "Compare with", hint: "snapshot id, tag or time; 0 = no snapshot", rows: true },
  explain: { label: "Condition", hint: "SQL condition, limit" },
  key: { label: "Primary key", hint: "values of the key columns" },
  why: { label: "File name", hint: "name of a data, manifest or index file" },
  expiry: { label: "Retention options", hint: "retain_max, retain_min, older_than" }
};
var NOT_SAVED = "Not available in a saved page: open the table in a notebook";
function create(context) {
  const { store, channel, pane } = context;
  const field = FIELDS[pane];
  const body = el("div", {
    class: "pes-body",
    tabindex: "0",
    role: "region",
    "aria-label": "Result",
    "aria-live": "off"
  });
  const asked = () => store.get().asked[pane] ?? "";
  const ask = (text) => store.set({ asked: { ...store.get().asked, [pane]: text } });
  const shared = () => pane === "explain" ? store.get().where ?? "" : "";
  const form = field ? createForm(context, pane, field, { asked, shared }, ask) : void 0;
  const element = el("div", { class: "pe-view pes-pane", "data-pane": pane });
  element.append(el("style", {}, report_default), ...form ? [form.element] : [], body);
  const split = (target) => {
    const at = target.indexOf(":");
    return [target.slice(0, at), target.slice(at + 1)];
  };
  const select = (target) => {
    const [kind, what] = split(target);
    switch (kind) {
      case "snapshot":
        return context.moveTo(context.history.positionOf(Number(what)));
      case "file":
        return store.set({ node: `name/${what}`, aside: "" });
      case "schema":
        if (what) return store.set({ node: `schema/${what}`, aside: "" });
        return store.set({ tab: kind });
      case "filter":
        return store.set({ tab: "files", filter: what });
      case "ask":
        return ask(what);
      default:
        return store.set({ tab: kind, asked: { ...store.get().asked, [kind]: what } });
    }
  };
  select.offers = (target) => {
    const [kind, what] = split(target);
    const { selected } = store.get();
    switch (kind) {
      case "snapshot":
        return true;
      case "file":
        return context.offers({ op: "detail", node: `name/${what}` });
      case "schema":
        return !what || context.offers({ op: "detail", node: `schema/${what}` });
      case "filter":
        return !what || context.offers({ op: "filter" });
      default: {
        if (kind === "partitions") return true;
        const asks = { pane: kind === "ask" ? pane : kind, text: what, compare: 0, node: "" };
        return context.offers({ op: "report", snapshot: selected, ...asks });
      }
    }
  };
  let dispose = () => {
  };
  let shown = "";
  const load = whenQuiet(async () => {
    const { tab, selected, compare, node } = store.get();
    if (tab !== pane) return;
    const question = {
      pane,
      snapshot: selected,
      text: asked() || shared(),
      compare: pane === "diff" ? compare : 0,
      node: pane === "why" ? node : ""
    };
    const key = JSON.stringify(question);
    if (key === shown) return;
    shown = key;
    attribute(element, "data-busy", "1");
    if (QUICK.has(pane) && context.offers({ op: "report", ...question, text: "quick" })) {
      if (!await present({ ...question, text: "quick" })) return;
      attribute(element, "data-busy", null);
    }
    if (!await present(question)) return;
    attribute(element, "data-shown", key);
    attribute(element, "data-busy", null);
  }, QUIET_MILLIS);
  const replace = (...parts) => {
    const focused = body.contains(document.activeElement);
    keepingFocus(body, () => fill(body, ...parts));
    if (focused && !body.contains(document.activeElement)) body.focus();
  };
  let drawn = "";
  const present = async (question) => {
    try {
      const answer = await channel.latest(`report-${pane}`, "report", question);
      if (!answer) return false;
      dispose();
      const made = drawReport(answer.body, select);
      dispose = made.dispose;
      const isEmpty = !context.history.count;
      const next = isEmpty ? el("p", { class: "pes-note" }, NO_SNAPSHOT) : null;
      replace(next, ...made.elements);
      attribute(element, "data-error", null);
    } catch (error) {
      dispose();
      dispose = () => {
      };
      const failure = failureOf(error);
      replace(problemOf(failure));
      attribute(element, "data-error", failure.kind);
    }
    if (drawn !== shown) body.scrollTop = 0;
    drawn = shown;
    return true;
  };
  load();
  return {
    element,
    focus: () => form ? form.focus() : body.focus(),
    update(changed) {
      const relevant = [
        ...["selected", "tab", "asked", "compare", "node", "where"]
      ];
      if (!relevant.some((name) => changed.has(name))) return;
      if (changed.has("asked") || changed.has("where")) form?.show();
      load();
    },
    dispose() {
      load.cancel();
      dispose();
    }
  };
}
function keepingFocus(body, draw) {
  const root = body.getRootNode();
  const active = root.activeElement;
  const name = active && body.contains(active) ? active.getAttribute("data-focus") : null;
  draw();
  if (name === null) return;
  const controls = body.querySelectorAll("[data-focus]");
  const again = [...controls].find((control) => control.getAttribute("data-focus") === name);
  again?.focus({ preventScroll: true });
}
function createForm(context, pane, field, { asked, shared }, ask) {
  const id = `${context.prefix}-ask-${pane}`;
  const input = el("input", {
    id,
    type: "text",
    class: "pes-input",
    placeholder: field.hint,
    autocomplete: "off",
    spellcheck: "false"
  });
  const send = () => ask(input.value.trim());
  input.addEventListener("change", send);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    send();
    event.preventDefault();
    event.stopPropagation();
  });
  const clear = button("×", `Clear the field ${field.label}`, () => {
    input.value = "";
    ask("");
    input.focus();
  });
  const rows = field.rows ? button(
    "compare rows",
    "Also compare the rows; this reads the data files of changed buckets",
    () => {
      const bare = asked().replace(/,?\s*\brows\s*$/i, "");
      ask(bare === asked() ? `${bare}${bare ? ", " : ""}rows` : bare);
    }
  ) : void 0;
  let { hint } = field;
  if (context.offers({ op: "report" })) {
    context.hints().then(({ examples }) => {
      hint = withExample(field.hint, examples[pane]);
      show();
    });
  } else {
    for (const control of [input, clear, ...rows ? [rows] : []]) {
      control.disabled = true;
      attribute(control, "title", NOT_SAVED);
    }
    hint = NOT_SAVED;
  }
  const show = () => {
    if (input.value.trim() !== asked()) input.value = asked();
    attribute(input, "placeholder", visible(shared()) || hint);
    if (rows) attribute(rows, "aria-pressed", String(/\brows\s*$/i.test(asked())));
  };
  show();
  const element = el(
    "div",
    { class: "pes-ask" },
    el("label", { for: id }, visible(field.label)),
    input,
    clear,
    rows
  );
  return { element, show, focus: () => input.focus() };
}
var NO_LINKS = Object.assign(() => {
}, { offers: () => false });
function render({ model, el: place }) {
  const root = el("div", {
    class: "pes-root",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Result"
  });
  fill(place, el("style", {}, report_default), root);
  let dispose = () => {
  };
  const draw = () => {
    dispose();
    const made = drawReport(model.get("report"), NO_LINKS);
    dispose = made.dispose;
    const code = model.get("report").code;
    fill(root, ...made.elements, code ? el("code", { class: "pes-code" }, visible(code)) : null);
  };
  draw();
  const unwatch = watchTheme(root, () => {
  });
  model.on("change:report", draw);
  attribute(root, "data-ready", "1");
  return () => {
    unwatch();
    dispose();
    model.off("change:report", draw);
  };
}
var report_default2 = { render };
export {
  create,
  report_default2 as default
};
