// src/saved_page.js
var NOT_SAVED = {
  kind: "not saved",
  message: "Not available in a saved page: open the table in a notebook with t.explore()."
};
var SavedModel = class {
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
        body: { rows: asked.rows.map((row) => rows[row] ?? unknown) }
      };
    }
    if (asked.op === "tree") {
      const place = (key) => `${asked.snapshot}|${key}|${asked.offset ?? 0}`;
      const known = asked.keys.filter((key) => tree[place(key)]);
      const children = known.map((key) => [key, tree[place(key)]]);
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
};
var saved = globalThis.document?.querySelector("#pe-recording");
if (saved) {
  const recording = JSON.parse(saved.textContent ?? "");
  const place = document.querySelector("#pe-place");
  const address = URL.createObjectURL(new Blob([recording.script], { type: "text/javascript" }));
  const { default: explorer } = await import(
    /* webpackIgnore: true */
    address
  );
  URL.revokeObjectURL(address);
  place?.replaceChildren();
  explorer.render({ model: new SavedModel(recording), el: place });
}
export {
  SavedModel
};
