// @ts-check
/**
 * Requests to Python and the columns that come back.
 *
 * A request is `{id, op, ...arguments}`, its answer `{id, ok, body, columns, error}` with at most one
 * buffer. Columns lie in that buffer little-endian, each from a multiple of 8.
 */

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float64Array} NumberColumn */
/** @typedef {[name: string, type: string, offset: number, length: number]} ColumnSpec */
/** @typedef {Record<string, NumberColumn>} Columns */
/** @typedef {{kind: string, message: string, path?: string, where?: string, hint?: string}} Failure */
/** @typedef {{body: any, columns: Columns}} Answer */
/**
 * What anywidget gives a widget, as far as it is used here.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, callback: (...args: any[]) => void) => void} on
 * @property {(event: string, callback: (...args: any[]) => void) => void} off
 * @property {(content: unknown) => void} send
 * @property {(request: Record<string, unknown>) => boolean} [recorded]  of a saved page: whether it has the answer
 */

const TYPES = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  f64: Float64Array,
};

/**
 * The columns in a buffer, without a copy where their place allows it.
 * @param {readonly ColumnSpec[]} specs
 * @param {DataView | ArrayBuffer | undefined} buffer
 * @returns {Columns}
 */
export function decodeColumns(specs, buffer) {
  /** @type {Columns} */
  const columns = Object.create(null);
  if (!specs.length) return columns;
  const isEmpty = specs.every(([, , , length]) => length === 0);
  const bytes = isEmpty && !buffer ? new Uint8Array(0) : aligned(buffer);
  for (const [name, type, offset, length] of specs) {
    if (!Object.hasOwn(TYPES, type)) throw new RangeError(`Unknown column type ${type}.`);
    const Type = TYPES[/** @type {keyof typeof TYPES} */ (type)];
    if (offset % 8 !== 0 || offset + length * Type.BYTES_PER_ELEMENT > bytes.byteLength) {
      throw new RangeError(`Column ${name} extends beyond the buffer.`);
    }
    columns[name] = new Type(
      /** @type {ArrayBuffer} */ (bytes.buffer),
      bytes.byteOffset + offset,
      length,
    );
  }
  return columns;
}

/**
 * @param {DataView | ArrayBuffer | undefined} buffer
 * @returns {Uint8Array}
 */
function aligned(buffer) {
  if (!buffer) throw new RangeError("The answer has no column buffer.");
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer);
  const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/**
 * Texts sent as one UTF-8 column and the offsets of their ends.
 * @param {NumberColumn} bytes
 * @param {NumberColumn} ends
 */
export function decodeTexts(bytes, ends) {
  const decoder = new TextDecoder();
  /** @type {string[]} */
  const texts = [];
  let start = 0;
  for (const end of ends) {
    texts.push(decoder.decode(/** @type {Uint8Array} */ (bytes).subarray(start, end)));
    start = end;
  }
  return texts;
}

/** What Python raised, as the widget shows it. */
export class AskError extends Error {
  /** @param {Failure} failure */
  constructor(failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * What failed; bundles of panes have classes of their own, so the error is known by what it holds.
 * @param {unknown} error
 * @returns {Failure}
 */
export function failureOf(error) {
  const failure = /** @type {Partial<AskError> | undefined} */ (error)?.failure;
  return failure ?? { kind: "error", message: String(error) };
}

/** @type {Failure} */
const ENDED = {
  kind: "Disconnected",
  message: "The Python kernel of this view cannot be reached, as after a restart.",
  hint: "Run the cell again.",
};

/**
 * Numbered requests over the custom messages of one model. Answers reach all views of the model, in other windows too,
 * so that each view starts with a number of its own.
 */
export class Channel {
  #model;
  #next = Math.floor(Math.random() * 2 ** 50);
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (reason: Error) => void}>} */
  #waiting = new Map();
  /** @type {Map<string, number>} */
  #newest = new Map();
  #receive = (/** @type {any} */ content, /** @type {DataView[]} */ buffers) =>
    this.#settle(content, buffers);
  /** The kernel ended: it will not answer. */
  #end = () => {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, ok: false, error: ENDED }, []);
  };
  /** Called with the number of requests that wait, after each change. */
  onWaiting = (/** @type {number} */ _count) => {};

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#receive);
    model.on("comm_live_update", this.#end);
  }

  close() {
    this.#model.off("msg:custom", this.#receive);
    this.#model.off("comm_live_update", this.#end);
    this.#waiting.clear();
  }

  /**
   * One request; rejects with `AskError` when Python refuses it.
   * @param {string} op
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<Answer>}
   */
  ask(op, args = {}) {
    const id = this.#next++;
    const promise = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.onWaiting(this.#waiting.size);
    try {
      this.#model.send({ ...args, id, op });
    } catch {
      this.#settle({ id, ok: false, error: ENDED }, []);
    }
    return promise;
  }

  /**
   * As `ask`, but the answer is undefined once a newer request of the same slot was made.
   * @param {string} slot
   * @param {string} op
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<Answer | undefined>}
   */
  async latest(slot, op, args = {}) {
    const number = (this.#newest.get(slot) ?? 0) + 1;
    this.#newest.set(slot, number);
    try {
      const answer = await this.ask(op, args);
      return this.#newest.get(slot) === number ? answer : undefined;
    } catch (error) {
      if (this.#newest.get(slot) !== number) return undefined;
      throw error;
    }
  }

  /**
   * @param {any} content
   * @param {DataView[]} buffers
   */
  #settle(content, buffers) {
    const waiter = this.#waiting.get(content?.id);
    if (!waiter) return;
    this.#waiting.delete(content.id);
    this.onWaiting(this.#waiting.size);
    if (!content.ok) {
      waiter.reject(new AskError(content.error));
      return;
    }
    try {
      const columns = decodeColumns(content.columns ?? [], buffers?.[0]);
      waiter.resolve({ body: content.body, columns });
    } catch (error) {
      waiter.reject(/** @type {Error} */ (error));
    }
  }
}
