// @ts-check
/** The bytes of a file beside their fields: a byte finds its field, a field its bytes. */

import { byteAfter, FieldTree, glyph, hex, offsetDigits, pagesTo, spaceOf } from "./byte_model.js";
import { failureOf } from "./channel.js";
import { attribute, button, el, fill, perFrame } from "./dom.js";
import { rowAfter } from "./keyboard.js";
import { cut, formatCount, visible } from "./text_format.js";
import { ROW_HEIGHT, scrollTo, windowOf } from "./virtual_scroll.js";

/** @import {Field, Row} from "./byte_model.js" */
/** @import {Answer, Failure} from "./channel.js" */

/** @typedef {(op: string, args: Record<string, unknown>) => Promise<Answer>} Ask */
/** @typedef {{name: string, path: string, layout: string, crossCheck?: string, size: number, handle: number, fields: Field[], total: number, open?: string[]}} File */

/** From this width on, rows of 16 bytes fit beside the fields. */
const WIDE = 860;
const CHUNK = 4096;
const MOST_CHUNKS = 256;
let instances = 0;

const MARKS = new Set(["opens", "closes", "space", "key", "colon", "comma"]);

/**
 * Whether a field only keeps others apart.
 * @param {Field} field
 */
function isMark(field) {
  return (field.form === "JSON" && MARKS.has(field.name)) || field.form === "zeros";
}

/**
 * @param {Ask} ask
 */
export function createBytesView(ask) {
  const prefix = `peb${++instances}`;
  /** @type {File | undefined} */
  let file;
  let tree = new FieldTree();
  /** @type {Row[]} */
  let rows = [];
  /** @type {Field | undefined} */
  let chosen;
  let space = "";
  let spaceSize = 0;
  let spaceName = "";
  let cursor = 0;
  let perRow = 16;
  /** @type {Map<string, Uint8Array | null>} */
  let chunks = new Map();
  let generation = 0;

  const title = el("div", { class: "peb-title" });
  const where = el("div", { class: "peb-where", role: "status" });
  const hexHead = el("div", { class: "peb-spaces" });
  const head = el("div", { class: "peb-head" }, title, hexHead);
  const hexInside = el("div", { class: "peb-inside" });
  const hexBox = el(
    "div",
    {
      class: "peb-hex",
      tabindex: "0",
      role: "grid",
      "aria-label": "Bytes",
      "aria-readonly": "true",
    },
    hexInside,
  );
  const fieldsInside = el("div", { class: "peb-inside", role: "presentation" });
  const fieldsBox = el(
    "div",
    { class: "peb-fields", tabindex: "0", role: "tree", "aria-label": "Fields" },
    fieldsInside,
  );
  const detail = el("div", {
    class: "peb-detail",
    tabindex: "0",
    role: "region",
    "aria-label": "Field",
  });
  const notice = el("div", { class: "peb-notice" });
  const main = el(
    "div",
    { class: "peb-main" },
    el("div", { class: "peb-left" }, hexBox),
    el("div", { class: "peb-right" }, fieldsBox, detail),
  );
  const element = el("div", { class: "peb" }, head, notice, main, where);

  const drawHex = perFrame(() => {
    const count = Math.ceil(spaceSize / perRow);
    const view = windowOf(count, hexBox.scrollTop, hexBox.clientHeight || 300);
    const digits = offsetDigits(spaceSize);
    hexInside.style.height = `${view.height}px`;
    const first = chosen && spaceOf(chosen.path) === space ? chosen.offset : -1;
    const end = first < 0 ? -1 : first + (chosen?.length ?? 0);
    const drawn = [];
    for (let row = view.first; row < view.last; row++) {
      const line = hexRow(row, digits, first, end);
      line.style.top = `${view.top + (row - view.first) * ROW_HEIGHT}px`;
      drawn.push(line);
    }
    hexInside.replaceChildren(...drawn);
    attribute(hexBox, "aria-rowcount", count);
    attribute(hexBox, "aria-activedescendant", spaceSize ? `${prefix}-b${cursor}` : null);
  });

  /**
   * @param {number} row
   * @param {number} digits
   * @param {number} first
   * @param {number} end
   */
  const hexRow = (row, digits, first, end) => {
    const start = row * perRow;
    const line = el(
      "div",
      { class: "peb-row", role: "row", "aria-rowindex": row + 1 },
      el("span", { class: "peb-offset", role: "rowheader" }, hex(start, digits)),
    );
    const letters = el("span", { class: "peb-glyphs", "aria-hidden": "true" });
    for (let i = start; i < Math.min(start + perRow, spaceSize); i++) {
      const byte = byteAt(i);
      const inField = i >= first && i < end;
      const kind = `${inField ? " peb-in" : ""}${i === cursor ? " peb-at" : ""}`;
      line.append(
        el(
          "span",
          {
            class: `peb-byte${kind}${i % 8 === 0 && i !== start ? " peb-mid" : ""}`,
            role: "gridcell",
            id: `${prefix}-b${i}`,
            "data-byte": i,
            "aria-selected": inField ? "true" : null,
          },
          byte === undefined ? "··" : hex(byte, 2),
        ),
      );
      letters.append(
        el(
          "span",
          { class: `peb-glyph${kind}`, "data-byte": i },
          byte === undefined ? " " : glyph(byte),
        ),
      );
    }
    line.append(letters);
    return line;
  };

  /** @param {number} offset */
  const byteAt = (offset) => {
    const number = Math.floor(offset / CHUNK);
    const key = `${space}:${number}`;
    const known = chunks.get(key);
    if (known) return known[offset - number * CHUNK];
    if (known === undefined && file) loadChunk(key, number);
    return undefined;
  };

  /**
   * @param {string} key
   * @param {number} number
   */
  const loadChunk = async (key, number) => {
    const mine = generation;
    chunks.set(key, null);
    if (chunks.size > MOST_CHUNKS)
      chunks.delete(/** @type {string} */ (chunks.keys().next().value));
    try {
      const { columns } = await ask("byte_data", {
        handle: file?.handle,
        within: space,
        offset: number * CHUNK,
        length: CHUNK,
      });
      if (mine !== generation) return;
      chunks.set(key, Uint8Array.from(columns.bytes));
      drawHex();
      tell();
    } catch (error) {
      if (mine === generation) fail(error);
    }
  };

  const drawFields = perFrame(() => {
    const view = windowOf(rows.length, fieldsBox.scrollTop, fieldsBox.clientHeight || 300);
    fieldsInside.style.height = `${view.height}px`;
    const drawn = [];
    for (let i = view.first; i < view.last; i++) {
      const line = fieldRow(rows[i], i);
      line.style.top = `${view.top + (i - view.first) * ROW_HEIGHT}px`;
      drawn.push(line);
    }
    fieldsInside.replaceChildren(...drawn);
    const at = rows.findIndex((row) => row.kind === "field" && row.field.path === chosen?.path);
    const shown = at >= view.first && at < view.last;
    attribute(fieldsBox, "aria-activedescendant", shown ? `${prefix}-f${at}` : null);
  });

  /**
   * @param {Row} row
   * @param {number} i
   */
  const fieldRow = (row, i) => {
    if (row.kind === "more") {
      const line = el(
        "div",
        { class: "peb-field", role: "treeitem", id: `${prefix}-f${i}`, "data-row": i },
        el("span", { class: "peb-more" }, row.label),
      );
      line.style.setProperty("--peb-depth", String(row.depth));
      return line;
    }
    const { field } = row;
    const line = el(
      "div",
      {
        class: `peb-field${field.strange ? " peb-strange" : ""}${isMark(field) ? " peb-mark" : ""}`,
        role: "treeitem",
        id: `${prefix}-f${i}`,
        "data-row": i,
        "aria-level": row.depth + 1,
        "aria-expanded": field.opens ? String(row.open) : null,
        "aria-selected": String(field.path === chosen?.path),
        title: field.rule || null,
      },
      el(
        "span",
        { class: "peb-twisty", "aria-hidden": "true" },
        field.opens ? (row.open ? "▾" : "▸") : "",
      ),
      el("span", { class: "peb-name" }, visible(cut(field.name, 80))),
      el("span", { class: "peb-value" }, visible(cut(field.text, 120))),
      el(
        "span",
        { class: "peb-size" },
        `${formatCount(field.offset)} +${formatCount(field.length)}`,
      ),
    );
    line.style.setProperty("--peb-depth", String(row.depth));
    return line;
  };

  /** @param {Field} field */
  const drawDetail = (field) => {
    const list = el("dl", { class: "peb-facts" });
    const form = field.form === field.says ? field.form : `${field.form}: ${field.says}`;
    const facts = [
      ["value", visible(field.text)],
      ["description", visible(field.rule)],
      ["stored as", field.form ? form : "group of fields"],
    ];
    for (const [name, text] of facts) {
      if (text) list.append(el("dt", {}, name), el("dd", {}, text));
    }
    fill(detail, list);
    detail.scrollTop = 0;
  };

  const drawTitle = () => {
    if (!file) return fill(title);
    fill(
      title,
      el("span", {}, visible(file.layout)),
      file.crossCheck
        ? el("span", { title: visible(file.crossCheck) }, visible(cut(file.crossCheck, 60)))
        : null,
      el("strong", { title: visible(file.path) }, visible(cut(file.name, 90))),
    );
  };

  const drawSpaces = () => {
    const steps = [["", file?.name ?? ""]];
    const parts = space ? space.split(".") : [];
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === "@") steps.push([parts.slice(0, i).join("."), "decompressed"]);
    }
    if (space) steps.push([space, spaceName]);
    const shown = steps.map(([path, name], i) => {
      const says = i ? visible(name) : "file";
      if (path === space) return el("span", { class: "peb-space" }, says);
      return button(says, `Show the bytes of ${visible(cut(name, 60))}`, () => enter(path, 0));
    });
    fill(hexHead, ...shown, el("span", { class: "peb-count" }, `${formatCount(spaceSize)} bytes`));
  };

  /** @param {unknown} error */
  const fail = (error) => {
    /** @type {Failure} */
    const failure = failureOf(error);
    fill(
      notice,
      el(
        "div",
        { class: "peb-problem", role: "alert" },
        el("strong", {}, visible(failure.kind)),
        ` ${visible(cut(failure.message, 1000))}`,
        failure.hint ? ` ${visible(failure.hint)}` : null,
      ),
    );
    attribute(element, "data-error", failure.kind);
  };

  /**
   * Show the bytes of another address space.
   * @param {string} path  of the packed leaf, "" for the file
   * @param {number} offset
   */
  const enter = async (path, offset) => {
    if (path !== space) {
      space = path;
      if (!path) {
        spaceSize = file?.size ?? 0;
        spaceName = file?.name ?? "";
      } else {
        const page = await load(path, 0);
        if (!page) return;
        spaceSize = page.items[0].length;
        spaceName = page.items[0].name;
      }
      hexInside.style.height = `${windowOf(Math.ceil(spaceSize / perRow), 0, 0).height}px`;
      hexBox.scrollTop = 0;
      drawSpaces();
    }
    moveTo(offset, false);
  };

  /**
   * Fields below one, from Python unless they are known.
   * @param {string} path
   * @param {number} first
   */
  const load = async (path, first) => {
    const known = tree.page(path);
    if (known && known.first === first) return known;
    const mine = generation;
    try {
      const { body } = await ask("byte_fields", { handle: file?.handle, path, first });
      if (mine !== generation) return undefined;
      const page = { first, total: body.total, items: body.fields };
      tree.put(path, page);
      return page;
    } catch (error) {
      if (mine === generation) fail(error);
      return undefined;
    }
  };

  const refresh = () => {
    rows = tree.rows();
    // At once, for what is scrolled to may lie in the part that is new.
    fieldsInside.style.height = `${windowOf(rows.length, 0, 0).height}px`;
    drawFields();
    drawHex();
    attribute(element, "data-fields", rows.length);
  };

  /**
   * @param {Field} field
   * @param {boolean} follow  whether the bytes follow
   */
  const choose = async (field, follow) => {
    chosen = field;
    drawDetail(field);
    tell();
    if (follow) {
      await enter(spaceOf(field.path), field.offset);
      refresh();
    }
  };

  const tell = () => {
    const byte = byteAt(cursor);
    const value = byte === undefined ? "" : ` = 0x${hex(byte, 2)} = ${byte}`;
    const place = chosen ? ` of ${formatCount(chosen.length)} in ${cut(chosen.name, 60)}` : "";
    const inside = chosen && cursor >= chosen.offset && cursor < chosen.offset + chosen.length;
    const name = chosen && inside ? `: byte ${cursor - chosen.offset + 1}${place}` : "";
    fill(where, visible(`byte ${formatCount(cursor)} (0x${hex(cursor, 4)})${value}${name}`));
    attribute(element, "data-byte", cursor);
    attribute(element, "data-path", chosen?.path ?? "");
  };

  /**
   * @param {number} offset
   * @param {boolean} explain  whether the field is to be found
   */
  const moveTo = (offset, explain) => {
    cursor = Math.max(0, Math.min(offset, spaceSize - 1));
    const count = Math.ceil(spaceSize / perRow);
    const row = Math.floor(cursor / perRow);
    hexBox.scrollTop = scrollTo(row, count, hexBox.scrollTop, hexBox.clientHeight);
    drawHex();
    tell();
    if (explain && spaceSize) findField(cursor);
  };

  let asked = 0;
  /** @param {number} offset */
  const findField = async (offset) => {
    const mine = ++asked;
    try {
      const { body } = await ask("byte_at", { handle: file?.handle, within: space, offset });
      if (mine !== asked) return;
      const leaf = /** @type {Field} */ (body.places.at(-1));
      for (const [path, first] of pagesTo(leaf.path)) await load(path, first);
      if (mine !== asked) return;
      await choose(leaf, false);
      refresh();
      reveal();
    } catch (error) {
      if (mine === asked) fail(error);
    }
  };

  const reveal = () => {
    const at = rows.findIndex((row) => row.kind === "field" && row.field.path === chosen?.path);
    if (at < 0) return;
    fieldsBox.scrollTop = scrollTo(at, rows.length, fieldsBox.scrollTop, fieldsBox.clientHeight);
    drawFields();
  };

  /** @param {readonly string[]} paths */
  const openFirst = async (paths) => {
    const mine = generation;
    for (const path of paths) await load(path, 0);
    if (mine === generation) refresh();
  };

  /** @param {Field} field */
  const toggle = async (field) => {
    if (!field.opens) return;
    if (tree.page(field.path)) tree.close(field.path);
    else await load(field.path, 0);
    refresh();
  };

  /** @param {Row} row */
  const press = async (row) => {
    if (row.kind === "field") return choose(row.field, true);
    await load(row.path, row.first);
    refresh();
  };

  hexBox.addEventListener("scroll", drawHex, { passive: true });
  fieldsBox.addEventListener("scroll", drawFields, { passive: true });
  hexInside.addEventListener("click", (event) => {
    const byte = /** @type {HTMLElement} */ (event.target).dataset.byte;
    if (byte !== undefined) moveTo(Number(byte), true);
  });
  hexBox.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(hexBox.clientHeight / ROW_HEIGHT) - 1);
    const to = byteAfter(event.key, cursor, spaceSize, perRow, page);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(to, true);
  });
  fieldsInside.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const line = /** @type {HTMLElement | null} */ (target.closest("[data-row]"));
    const row = line ? rows[Number(line.dataset.row)] : undefined;
    if (!row) return;
    if (row.kind === "field" && target.classList.contains("peb-twisty")) toggle(row.field);
    else press(row);
  });
  fieldsInside.addEventListener("dblclick", (event) => {
    const line = /** @type {HTMLElement} */ (event.target).closest("[data-row]");
    const row = rows[Number(/** @type {HTMLElement | null} */ (line)?.dataset.row)];
    if (row?.kind === "field") toggle(row.field);
  });
  fieldsBox.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = rows.findIndex((row) => row.kind === "field" && row.field.path === chosen?.path);
    const row = rows[at];
    const to = rowAfter(event.key, at, rows.length);
    const opening = event.key === "ArrowRight" || event.key === "+";
    const closing = event.key === "ArrowLeft" || event.key === "-" || event.key === "−";
    if (to !== undefined && rows[to]) press(rows[to]).then(reveal);
    else if (row?.kind === "field" && opening && row.field.opens && !row.open) toggle(row.field);
    else if (row?.kind === "field" && closing && row.open) toggle(row.field);
    else if (event.key === "Enter" && row?.kind === "field") toggle(row.field);
    else if (!opening && !closing && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
  });
  const watcher = new ResizeObserver(() => {
    const fits = element.clientWidth >= WIDE ? 16 : 8;
    if (fits !== perRow) {
      perRow = fits;
      moveTo(cursor, false);
    }
    attribute(element, "data-per-row", perRow);
    drawHex();
    drawFields();
  });
  watcher.observe(hexBox);
  watcher.observe(fieldsBox);

  return {
    element,
    focus: () => hexBox.focus(),
    fail,
    /** @param {string} text */
    say(text) {
      fill(notice, el("p", { class: "peb-say" }, text));
      main.hidden = head.hidden = where.hidden = true;
    },
    /** @param {File} opened */
    show(opened) {
      generation += 1;
      file = opened;
      tree = new FieldTree();
      chunks = new Map();
      chosen = undefined;
      space = "";
      spaceSize = opened.size;
      spaceName = opened.name;
      hexInside.style.height = `${windowOf(Math.ceil(spaceSize / perRow), 0, 0).height}px`;
      cursor = 0;
      fill(notice);
      main.hidden = head.hidden = where.hidden = false;
      attribute(element, "data-error", null);
      tree.put("", { first: 0, total: opened.total, items: opened.fields });
      hexBox.scrollTop = 0;
      fieldsBox.scrollTop = 0;
      drawTitle();
      drawSpaces();
      refresh();
      if (opened.fields.length) choose(opened.fields[0], false);
      else fill(detail, el("p", {}, "The file is empty."));
      tell();
      attribute(element, "data-file", opened.name);
      openFirst(opened.open ?? []);
    },
    dispose() {
      generation += 1;
      watcher.disconnect();
      drawHex.cancel();
      drawFields.cancel();
    },
  };
}
