// @ts-check
/** The explorer: time, tree, view and detail panes over one selection. */

import { Channel, decodeTexts, failureOf } from "./channel.js";
import { attribute, button, copyButton, el, fill, whenQuiet } from "./dom.js";
import css from "./explorer.css";
import { createViews, offeredGroups } from "./explorer_tabs.js";
import { FileLifetimes } from "./file_lifetimes.js";
import { actOf } from "./keyboard.js";
import { lazyPane } from "./lazy_pane.js";
import { problem } from "./problem_view.js";
import { createStore, TRAITS } from "./selection_store.js";
import { History } from "./snapshot_columns.js";
import { createSteps } from "./snapshot_stepper.js";
import {
  cut,
  formatBytes,
  formatCount,
  formatShort,
  formatTime,
  plural,
  visible,
} from "./text_format.js";
import { watchTheme } from "./theme.js";
import { createTimeline } from "./timeline.js";
import { usefulLanes } from "./timeline_lanes.js";
import { clamp } from "./timeline_layout.js";
import { showWhole } from "./whole_text.js";

/** @import {Change, Context, Groups, Hints, LivesState} from "./context.js" */
/** @import {State} from "./selection_store.js" */
/** @import {Answer, Failure, Model} from "./channel.js" */

const SYNC_MILLIS = 80;
let instances = 0;

/**
 * @param {{model: Model, el: HTMLElement}} given
 * @returns {() => void} takes the widget down
 */
function render({ model, el: place }) {
  const root = el("div", {
    class: "pe-explorer",
    "data-lm-suppress-shortcuts": "true",
    role: "group",
    "aria-label": "Paimon table explorer",
    tabindex: "-1",
  });
  setHeight(root, model.get("height"));
  fill(place, el("style", {}, css), root);
  fill(root, el("div", { class: "pe-empty" }, "Reading snapshots…"));
  const channel = new Channel(model);
  let close = () => {};
  let gone = false;
  channel
    .ask("open")
    .then((answer) => {
      if (!gone) close = start(model, root, channel, answer);
    })
    .catch((error) => {
      fill(root, problem(failureOf(error)));
      attribute(root, "data-error", failureOf(error).kind);
      attribute(root, "data-ready", "1");
    });
  return () => {
    gone = true;
    close();
    channel.close();
  };
}

/**
 * @param {HTMLElement} root
 * @param {unknown} height  pixels; 0 to follow the window
 */
function setHeight(root, height) {
  const pixels = Number(height) || 0;
  if (pixels > 0) root.style.setProperty("--pe-height", `${clamp(pixels, 200, 4000)}px`);
  else root.style.removeProperty("--pe-height");
}

/**
 * @param {Model} model
 * @param {HTMLElement} root
 * @param {Channel} channel
 * @param {Answer} opened
 */
function start(model, root, channel, opened) {
  const prefix = `pe${++instances}`;
  const history = new History(opened);
  const offers = (/** @type {Record<string, unknown>} */ request) =>
    model.recorded?.(request) ?? true;
  const groups = offeredGroups(opened.body.groups, offers);
  const store = createStore(initialState(model, history, groups));
  /** @type {LivesState} */
  let files = {
    lifetimes: undefined,
    frame: -1,
    first: 0,
    last: -1,
    covered: 0,
    failure: undefined,
    unknown: new Set(),
    grouped: false,
    narrowed: false,
  };
  /** @type {ReturnType<FileLifetimes["changes"]> | undefined} */
  let changes;
  /** @type {Uint8Array | undefined} */
  let mask;
  /** @type {Failure | undefined} */
  let filterFailure;
  let stopped = false;
  /** @type {{update: (changed: Set<Change>) => void, dispose?: () => void}[]} */
  const parts = [];
  /** @param {Set<Change>} changed */
  const tell = (changed) => {
    for (const part of parts) part.update(changed);
  };
  /** @type {Promise<Hints> | undefined} */
  let hints;
  /** @type {import("./theme.js").Colours} */
  let colours = {};
  const unwatch = watchTheme(root, (found) => {
    colours = found;
    tell(new Set(["theme"]));
  });

  /** @type {Context} */
  const context = {
    store,
    history,
    channel,
    groups,
    prefix,
    root,
    offers,
    hints() {
      hints ??= channel.ask("hints", { snapshot: store.get().selected }).then(
        ({ body }) => body,
        () => ({ examples: {}, terms: [] }), // fields and labels work without them
      );
      return hints;
    },
    files: () => files,
    changes: () => changes,
    mask: () => mask,
    filterFailure: () => filterFailure,
    colours: () => colours,
    bars() {
      const { metric } = store.get();
      if (changes) return withPeak(changes.added[metric], changes.removed[metric]);
      const none = new Float64Array(history.count);
      if (metric !== "rows") return withPeak(none, none);
      return withPeak(
        history.deltaRows,
        Float64Array.from(history.deltaRows, (rows) => -rows),
      );
    },
    moveTo(position) {
      if (!history.count) return;
      const to = clamp(position, 0, history.count - 1);
      store.set({ position: to, selected: history.ids[to], node: "", aside: "" });
    },
    step: (by) => context.moveTo(store.get().position + by),
    refresh: () => refresh(),
    act: (id) => acts[id](),
    focusView: () => views.focus(),
    tell,
    async goTo(text) {
      try {
        const answer = await channel.latest("resolve", "resolve", { text });
        if (!answer) return false;
        fill(notice);
        context.moveTo(history.positionOf(answer.body.snapshot));
        return true;
      } catch (error) {
        context.report(failureOf(error));
        return false;
      }
    },
    report(failure) {
      const item = el(
        "div",
        { class: "pe-notice-item" },
        problem(failure),
        button("×", "Dismiss", () => item.remove()),
      );
      const equal = [...notice.children].find((other) => other.textContent === item.textContent);
      equal?.remove();
      notice.append(item);
      while (notice.children.length > 4) notice.children[0].remove();
    },
  };

  const notice = el("div", { class: "pe-notice" });
  const steps = createSteps(context);
  const search = lazyPane("side_panes", "search")(context);
  const saving = lazyPane("side_panes", "export")(context);
  const header = createHeader(context, search.element, steps.element, saving.element);
  const summary = createSummary(context);
  const timeline = createTimeline(context);
  const tree = sidePane(context, "tree", "Manifests");
  const detail = sidePane(context, "detail", "Details");
  const views = createViews(context);
  const layout = lazyPane("side_panes", "layout")(context);
  for (const { element } of [layout, search, saving]) {
    fill(element); // which take no room until they are loaded
    element.style.flex = "none";
  }
  const code = createCode(context, history.table.problems.length);
  const main = el("div", { class: "pe-main" }, tree.element, views.element, detail.element);
  const frame = el(
    "div",
    { class: "pe-frame" },
    header.element,
    timeline.element,
    summary.element,
    notice,
    main,
    code.element,
    layout.element,
  );
  fill(root, frame);
  for (const { message, path } of history.table.problems) {
    context.report({ kind: "Problem", message, path });
  }

  parts.push(header, steps, timeline, summary, tree, views, detail, code, layout, search, saving);
  const acts = createActs(context, { views, search, saving, code });
  /** Traits whose newest values Python does not know yet. @type {Set<string>} */
  const unsaved = new Set();
  const save = whenQuiet(() => {
    unsaved.clear();
    model.save_changes();
  }, SYNC_MILLIS);
  const offStore = store.on((changed) => {
    const state = store.get();
    let dirty = false;
    for (const name of TRAITS) {
      if (!changed.has(name) || model.get(name) === state[name]) continue;
      model.set(name, state[name]);
      unsaved.add(name);
      dirty = true;
    }
    if (dirty) save();
    if (changed.has("height")) setHeight(root, state.height);
    tell(/** @type {Set<Change>} */ (changed));
    if (changed.has("filter")) applyFilter();
    if (changed.has("position") && !files.failure) ensureFiles();
  });

  const fromPython = TRAITS.map((name) => {
    const listener = () => {
      if (unsaved.has(name)) {
        model.set(name, store.get()[name]); // the answer to an older change
        return;
      }
      /** @type {Partial<State>} */
      const patch = { [name]: model.get(name) };
      if (name === "selected") {
        patch.position = history.positionOf(model.get(name));
        if (patch.position < 0 && model.get(name)) return void refresh(); // Python knows more
      }
      store.set(patch);
    };
    model.on(`change:${name}`, listener);
    return () => model.off(`change:${name}`, listener);
  });

  const applyFilter = async () => {
    const { filter } = store.get();
    const { frame } = files;
    if (!filter || frame < 0) {
      mask = undefined;
      filterFailure = undefined;
      if (files.narrowed) takeFiles(await channel.ask("history"));
    } else {
      try {
        const answer = await channel.latest("filter", "filter", { text: filter, frame });
        if (!answer || frame !== files.frame) return;
        filterFailure = undefined;
        if (answer.body.grouped !== undefined) return takeFiles(answer, true);
        mask = /** @type {Uint8Array} */ (answer.columns.mask);
      } catch (error) {
        filterFailure = failureOf(error);
      }
    }
    tell(new Set(["mask"]));
  };

  /**
   * @param {Answer} answer
   * @param {boolean} [narrowed]  whether a filter left only these; else all are here, or their groups
   */
  const takeFiles = ({ body, columns }, narrowed = false) => {
    const partitions = decodeTexts(columns.partition_text, columns.partition_end);
    const lifetimes = new FileLifetimes(columns, partitions, history.count);
    const all = body.first === 0 && body.last === history.count - 1;
    files = {
      ...files,
      lifetimes,
      frame: body.frame,
      first: body.first,
      last: body.last,
      unknown: new Set(body.unknown),
      grouped: body.grouped,
      narrowed,
    };
    if (!narrowed) changes = all ? lifetimes.changes(files.unknown, history.deltaRows) : undefined;
    mask = undefined;
    tell(new Set(["lifetimes"]));
    if (store.get().filter && !narrowed) applyFilter();
  };

  let ensuring = false;
  /** Show the files of the cursor's snapshot at once, while the whole history is still being read. */
  const ensureFiles = async () => {
    const { position, selected } = store.get();
    if (ensuring || position < 0 || (position >= files.first && position <= files.last)) return;
    ensuring = true;
    try {
      const answer = await channel.ask("files", { snapshot: selected });
      if (!stopped && !changes) takeFiles(answer);
    } catch (error) {
      if (!changes) files = { ...files, failure: failureOf(error) };
      tell(new Set(["lifetimes"]));
    }
    ensuring = false;
  };

  const readHistory = async () => {
    await ensureFiles();
    try {
      for (;;) {
        const answer = await channel.ask("history");
        if (stopped) return;
        if (answer.body.done) {
          files = { ...files, failure: undefined };
          takeFiles(answer);
          for (const failure of answer.body.problems ?? []) context.report(failure);
          break;
        }
        files = { ...files, covered: answer.body.covered };
        tell(new Set(["covered"]));
        ensureFiles();
      }
    } catch (error) {
      context.report(failureOf(error));
    }
    isComplete = true;
    if (isBehind) refresh().catch((error) => context.report(failureOf(error)));
    attribute(root, "data-complete", "1");
    views.countFindings();
  };

  let isComplete = !history.count;
  /** Whether new snapshots were asked for while the files were being read. */
  let isBehind = false;
  let refreshing = false;
  /** Take over new snapshots once all their files are known; what Python said of them. */
  const refresh = async () => {
    isBehind ||= !isComplete;
    if (!isComplete || refreshing) return {};
    refreshing = true;
    try {
      const { selected: asked, node } = store.get();
      const answer = await channel.ask("poll", { version: history.version });
      const { body, columns } = answer;
      if (!body.changed) return body;
      let found = await channel.ask("history");
      while (!found.body.done) found = await channel.ask("history");
      if (stopped) return {};
      history.load(answer);
      takeFiles(found);
      const now = store.get();
      const stays = now.selected !== asked && history.positionOf(now.selected) >= 0;
      const selected = stays ? now.selected : body.selected;
      const compare = history.positionOf(now.compare) < 0 ? 0 : now.compare;
      const position = history.positionOf(selected);
      store.set({ selected, position, compare, node: now.node === node ? body.node : now.node });
      tell(new Set(["history", "position", "lifetimes"]));
      attribute(root, "data-count", columns.id.length);
      return body;
    } finally {
      refreshing = false;
    }
  };

  const onKey = createKeys(context);
  root.addEventListener("keydown", onKey);
  root.addEventListener("pointerover", showWhole);
  if (history.count) readHistory();
  attribute(root, "data-count", history.count);
  attribute(root, "data-ready", "1");

  return () => {
    stopped = true;
    offStore();
    save.flush(); // what the last click changed, which other views of this explorer show too
    unwatch();
    for (const off of fromPython) off();
    for (const part of parts) part.dispose?.();
    root.removeEventListener("keydown", onKey);
    root.removeEventListener("pointerover", showWhole);
  };
}

/**
 * @param {Model} model
 * @param {History} history
 * @param {Groups} groups
 * @returns {State}
 */
function initialState(model, history, groups) {
  const traits = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const ids = groups.flatMap(([, tabs]) => tabs.map(([id]) => id));
  const tab = ids.includes(traits.tab) ? traits.tab : ids[0];
  return /** @type {State} */ ({
    ...traits,
    tab,
    position: history.positionOf(traits.selected),
    metric: "rows",
    axis: "id",
    ...usefulLanes(history),
    scope: "live",
    sort: "partition",
    descending: false,
    aside: "",
    column: "",
    queryHistory: undefined,
  });
}

/**
 * A pane beside the view, with its title; what is in it comes after the first paint.
 * @param {Context} context
 * @param {"tree" | "detail"} pane
 * @param {string} title
 */
function sidePane(context, pane, title) {
  const inside = lazyPane("side_panes", pane)(context);
  const element = el(
    "section",
    { class: `pe-pane pe-pane-${pane}`, "aria-label": title },
    el("h3", { class: "pe-pane-title" }, title),
    inside.element,
  );
  return { ...inside, element };
}

/**
 * @param {ArrayLike<number>} up
 * @param {ArrayLike<number>} down
 */
function withPeak(up, down) {
  let peak = 0;
  for (let i = 0; i < up.length; i++) peak = Math.max(peak, up[i], down[i]);
  return { up, down, peak };
}

/**
 * @param {Context} context
 * @param {...HTMLElement} parts  at its end
 */
function createHeader({ history, act }, ...parts) {
  const name = el("div", { class: "pe-header-facts" });
  const show = () => {
    const { table } = history;
    const branch = table.branch === "main" ? [] : [`branch ${table.branch}`];
    fill(
      name,
      el("h2", { class: "pe-name" }, visible(table.name)),
      el("span", { class: "pe-muted", title: visible(table.location) }, visible(table.database)),
      ...[...branch, ...table.chips].map((text) =>
        el("span", { class: "pe-chip" }, visible(cut(text))),
      ),
    );
  };
  show();
  const element = el(
    "header",
    { class: "pe-header" },
    name,
    el(
      "div",
      { class: "pe-steps-bar" },
      ...parts,
      button("⚙", "Settings", () => act("settings")),
      button("?", "Keyboard shortcuts and symbols", () => act("help")),
    ),
  );
  return {
    element,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("history")) show();
    },
  };
}

/**
 * One line about the snapshot under the cursor.
 * @param {Context} context
 */
function createSummary(context) {
  const { history, store } = context;
  const element = el("div", { class: "pe-summary", role: "status" });
  const show = () => {
    const { position, compare } = store.get();
    if (position < 0) {
      fill(
        element,
        el(
          "span",
          { class: "pe-muted" },
          history.count ? "No snapshot selected." : "The table has no snapshot yet.",
        ),
      );
      return;
    }
    const kind = history.kind(position);
    const changes = context.changes();
    const parts = [
      el("strong", {}, `snapshot ${history.ids[position]}`),
      el("span", { class: "pe-kind", "data-kind": kind.colour }, kind.token),
    ];
    if (history.unreadable(position)) {
      fill(
        element,
        ...parts,
        el("span", { class: "pe-minus" }, "the snapshot file cannot be read"),
      );
      return;
    }
    const delta = history.deltaRows[position];
    parts.push(
      el("span", {}, formatTime(history.times[position])),
      el("span", {}, `schema ${history.schemas[position]}`),
      el(
        "span",
        { title: "Rows of all live files, before merging" },
        plural(history.totalRows[position], "row"),
      ),
      el(
        "span",
        { class: delta < 0 ? "pe-minus" : "pe-plus" },
        `${delta < 0 ? "−" : "+"}${plural(Math.abs(delta), "row")}`,
      ),
    );
    if (changes && !context.files().unknown.has(position)) {
      parts.push(fileChange(changes, position));
    }
    const flags = history.flags().filter((flag) => flag.position === position);
    for (const { kind: sort, name } of flags) {
      parts.push(
        el("span", { class: "pe-chip", "data-flag": sort }, `${sort} ${visible(cut(name))}`),
      );
    }
    if (compare) parts.push(el("span", { class: "pe-chip" }, `compared with snapshot ${compare}`));
    parts.push(
      el(
        "span",
        { class: "pe-muted pe-user", title: "Commit user" },
        visible(cut(history.user(position))),
      ),
    );
    fill(element, ...parts);
  };
  show();
  return {
    element,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("position") || changed.has("compare") || changed.has("lifetimes")) show();
    },
  };
}

/**
 * @param {ReturnType<FileLifetimes["changes"]>} changes
 * @param {number} position
 */
function fileChange({ added, removed }, position) {
  const text = `+${formatShort(added.bytes[position]) === "0" ? "0 B" : formatBytes(added.bytes[position])} −${formatBytes(removed.bytes[position])}`;
  return el(
    "span",
    { title: `Data files: ${text}` },
    el("span", { class: "pe-plus" }, `+${formatCount(added.files[position])}`),
    " ",
    el("span", { class: "pe-minus" }, `−${formatCount(removed.files[position])}`),
    " files",
  );
}

/**
 * The line of Python, or of PySpark, that yields what is shown.
 * @param {Context} context
 * @param {number} problems
 */
function createCode({ store, channel }, problems) {
  let spark = false;
  const prompt = el("span", { class: "pe-prompt", "aria-hidden": "true" });
  const text = el("code", {
    class: "pe-code",
    tabindex: "0",
    role: "textbox",
    "aria-readonly": "true",
    "aria-label": "Code",
  });
  const busy = el("span", { class: "pe-busy", role: "status" });
  const line = () => (spark ? store.get().spark_code : store.get().code);
  const copy = copyButton("Copy the code", line);
  const toggle = button("Spark", "Show PySpark code", () => {
    spark = !spark;
    attribute(toggle, "aria-pressed", String(spark));
    show();
  });
  const show = () => {
    fill(prompt, spark ? "spark" : "python");
    fill(text, visible(line()));
  };
  let timer = 0;
  channel.onWaiting = (count) => {
    clearTimeout(timer);
    if (!count) fill(busy);
    else timer = setTimeout(() => fill(busy, "Waiting for Python…"), 400);
  };
  show();
  const note = problems ? el("span", { class: "pe-minus" }, plural(problems, "problem")) : null;
  const element = el("footer", { class: "pe-footer" }, prompt, text, busy, note, copy, toggle);
  return {
    element,
    copy: () => copy.click(),
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("code") || changed.has("spark_code")) show();
    },
  };
}

/**
 * What each act of the whole widget does.
 * @param {Context} context
 * @param {{views: {focus: () => void}, search: {focus: () => void}, saving: {focus: () => void}, code: {copy: () => void}}} parts
 * @returns {Record<string, () => void>}
 */
function createActs({ store, history, root, step, moveTo }, { views, search, saving, code }) {
  const toggle = (/** @type {State["aside"]} */ aside) =>
    store.set({ aside: store.get().aside === aside ? "" : aside });
  return {
    find: () => search.focus(),
    previous: () => step(-1),
    next: () => step(1),
    back: () => step(-10),
    forward: () => step(10),
    first: () => moveTo(0),
    last: () => moveTo(history.count - 1),
    filter() {
      store.set({ tab: "files" });
      /** @type {HTMLElement | null} */ (root.querySelector(".pe-filter"))?.focus();
    },
    mark() {
      const { compare, selected } = store.get();
      store.set({ compare: compare === selected ? 0 : selected });
    },
    copy: () => code.copy(),
    export: () => saving.focus(),
    settings: () => toggle("settings"),
    help: () => toggle("help"),
    leave() {
      const focused = /** @type {HTMLElement} */ (root.querySelector(":focus"));
      if (isTyping(focused)) views.focus();
      else if (store.get().aside) store.set({ aside: "" });
      else leave(root, focused);
    },
  };
}

/** @param {Element | null} element */
const isTyping = (element) => /^(INPUT|SELECT|TEXTAREA)$/.test(element?.tagName ?? "");

/**
 * @param {Context} context
 * @returns {(event: KeyboardEvent) => void}
 */
function createKeys({ act }) {
  return (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const tabs = target.getAttribute("role") === "tab";
    const asked = actOf(event, { typing: isTyping(target), tabs });
    if (!asked) return;
    event.preventDefault();
    event.stopPropagation();
    act(asked);
  };
}

/**
 * Give the keyboard back to the notebook.
 * @param {HTMLElement} root
 * @param {HTMLElement | null} focused
 */
function leave(root, focused) {
  focused?.blur();
  const cell = /** @type {HTMLElement | null} */ (
    root.closest(".jp-Notebook, [data-windowed-list-index]")
  );
  cell?.focus();
}

export default { render };
