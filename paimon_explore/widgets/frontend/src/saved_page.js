// @ts-check
/**
 * A saved page: the explorer on answers that Python gave before, without Python and without network.
 *
 * The page holds the recording as JSON and the explorer's script as a text in it.
 */

/** @typedef {{ok: boolean, body?: any, columns?: unknown[], data?: string, error?: unknown}} Saved */
/**
 * @typedef {object} Recording
 * @property {string} script  the explorer
 * @property {Record<string, unknown>} traits
 * @property {Record<string, Saved>} answers  by request, its members in the order of their names
 * @property {Record<string, unknown>} tree  by `snapshot|key|offset`
 * @property {{name: string, min_key: string, max_key: string}[]} rows  of the files, the first ones
 * @property {Record<string, [python: string, spark: string]>} codes  by `snapshot|tab`
 */

const NOT_SAVED = {
  kind: "not saved",
  message: "Not available in a saved page: open the table in a notebook with t.explore().",
};

/** Replaces the model of a notebook. */
export class SavedModel {
  /** @type {Map<string, Set<(...args: any[]) => void>>} */
  #listeners = new Map();
  #recording;

  /** @param {Recording} recording */
  constructor(recording) {
    this.#recording = recording;
    this.traits = { ...recording.traits };
  }

  /** @param {string} name */
  get(name) {
    return this.traits[name];
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    this.traits[name] = value;
  }

  /** The lines of code follow what is shown; Python would tell them. */
  save_changes() {
    const { selected, tab } = this.traits;
    const [python, spark] = this.#recording.codes[`${selected}|${tab}`] ?? ["", ""];
    this.traits.code = python;
    this.traits.spark_code = spark;
    this.#tell("change:code");
    this.#tell("change:spark_code");
  }

  /**
   * @param {string} event
   * @param {(...args: any[]) => void} callback
   */
  on(event, callback) {
    const known = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, known.add(callback));
  }

  /**
   * @param {string} event
   * @param {(...args: any[]) => void} callback
   */
  off(event, callback) {
    this.#listeners.get(event)?.delete(callback);
  }

  /** @param {any} message */
  send({ id, ...asked }) {
    queueMicrotask(() => {
      const { data, ...answer } = this.answer(asked);
      const buffers = data ? [Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer] : [];
      this.#tell("msg:custom", { id, ...answer }, buffers);
    });
  }

  /**
   * @param {Record<string, any>} asked
   * @returns {Saved}
   */
  answer(asked) {
    const { answers, rows, tree } = this.#recording;
    if (asked.op === "rows") {
      const unknown = { name: "…", min_key: "", max_key: "" };
      return {
        ok: true,
        body: { rows: asked.rows.map((/** @type {number} */ row) => rows[row] ?? unknown) },
      };
    }
    if (asked.op === "tree") {
      const place = (/** @type {string} */ key) => `${asked.snapshot}|${key}|${asked.offset ?? 0}`;
      const known = asked.keys.filter((/** @type {string} */ key) => tree[place(key)]);
      const children = known.map((/** @type {string} */ key) => [key, tree[place(key)]]);
      if (known.length) return { ok: true, body: { children: Object.fromEntries(children) } };
    }
    const request = asked.op === "files" ? { op: "history" } : asked;
    const found = answers[JSON.stringify(request, Object.keys(request).sort())];
    return found ?? { ok: false, error: NOT_SAVED };
  }

  /**
   * Whether the page has the answer to a request.
   * @param {Record<string, any>} request
   */
  recorded(request) {
    return this.answer(request).ok;
  }

  /**
   * @param {string} event
   * @param {...unknown} values
   */
  #tell(event, ...values) {
    for (const callback of this.#listeners.get(event) ?? []) callback(...values);
  }
}

const saved = globalThis.document?.querySelector("#pe-recording");
if (saved) {
  const recording = JSON.parse(saved.textContent ?? "");
  const place = document.querySelector("#pe-place");
  const address = URL.createObjectURL(new Blob([recording.script], { type: "text/javascript" }));
  const { default: explorer } = await import(/* webpackIgnore: true */ address);
  URL.revokeObjectURL(address);
  place?.replaceChildren();
  explorer.render({ model: new SavedModel(recording), el: place });
}
