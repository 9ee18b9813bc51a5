// A model without a kernel: answers the explorer's requests from generated data.
import groups from "./groups.js"; // the table of Python

const KIND_CYCLE = [0, 0, 1, 0, 0, 0, 1, 2, 0, 1, 0, 0, 3];

/** The same numbers in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Columns in one buffer, each from a multiple of 8, as Python sends them. */
export function packColumns(columns) {
  const names = { Uint8Array: "u8", Uint16Array: "u16", Uint32Array: "u32", Int8Array: "i8", Int16Array: "i16", Int32Array: "i32", Float64Array: "f64" };
  const specs = [];
  let size = 0;
  for (const [name, values] of Object.entries(columns)) {
    specs.push([name, names[values.constructor.name], size, values.length]);
    size += Math.ceil(values.byteLength / 8) * 8;
  }
  const bytes = new Uint8Array(size);
  for (const [index, values] of Object.values(columns).entries()) {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), specs[index][2]);
  }
  return { columns: specs, buffer: new DataView(bytes.buffer) };
}

function texts(name, values) {
  const encoder = new TextEncoder();
  const parts = values.map((value) => encoder.encode(value));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  const ends = new Uint32Array(parts.length);
  let end = 0;
  parts.forEach((part, index) => {
    bytes.set(part, end);
    end += part.length;
    ends[index] = end;
  });
  return { [`${name}_text`]: bytes, [`${name}_end`]: ends };
}

/** A history of `snapshots` snapshots and `files` files. */
export function generate(snapshots, files) {
  const next = random(7);
  const n = snapshots;
  const id = Uint32Array.from({ length: n }, (_, i) => i + 1);
  const kind = Uint8Array.from({ length: n }, (_, i) => KIND_CYCLE[i % KIND_CYCLE.length]);
  const time = new Float64Array(n);
  let clock = Date.UTC(2026, 10, 20, 6);
  for (let i = 0; i < n; i++) time[i] = clock += 30_000 + (i % 37 === 36 ? 9_000_000 * next() : 400_000 * next());
  const names = ["added", "removed"];
  const columns = Object.fromEntries(names.map((name) => [name, new Uint16Array(files)]));
  Object.assign(columns, {
    size: new Uint32Array(files), rows: new Uint32Array(files), level: new Uint8Array(files), bucket: new Int8Array(files),
    partition: new Uint16Array(files), created: new Float64Array(files), schema: new Uint8Array(files),
  });
  const partitions = Array.from({ length: 60 }, (_, i) => `dt=2026-${String(9 + Math.floor(i / 28)).padStart(2, "0")}-${String((i % 28) + 1).padStart(2, "0")}`).sort();
  for (let row = 0; row < files; row++) {
    const added = Math.floor((row / files) * n) + 1;
    const compacted = kind[added - 1] === 1;
    columns.added[row] = row < files * 0.01 ? 0 : added;
    columns.removed[row] = next() < 0.55 ? Math.min(added + 1 + Math.floor(next() * 40), n + 1) : n + 1;
    columns.level[row] = compacted ? (next() < 0.3 ? 4 : 5) : 0;
    columns.size[row] = Math.floor((compacted ? 8e6 : 4e5) * (0.2 + next() ** 3 * 4));
    columns.rows[row] = Math.floor(columns.size[row] / 42);
    columns.bucket[row] = row % 4;
    columns.partition[row] = Math.floor(next() * partitions.length);
    columns.created[row] = time[Math.max(added - 1, 0)];
    columns.schema[row] = added > n / 2 ? 1 : 0;
  }
  const delta = new Float64Array(n);
  for (let row = 0; row < files; row++) {
    if (columns.added[row] > 0) delta[columns.added[row] - 1] += columns.rows[row];
    if (columns.removed[row] <= n) delta[columns.removed[row] - 1] -= columns.rows[row];
  }
  const total = new Float64Array(n);
  let sum = 0;
  for (let i = 0; i < n; i++) total[i] = sum = Math.max(sum + delta[i], 0);
  return { id, kind, time, columns, partitions, delta, total };
}

const HOSTILE = "<img src=x onerror=\"window.__ran=1\">\u202egnp.exe\u0000\u001b[31m`'\"</script><svg onload=window.__ran=1>javascript:window.__ran=1 __proto__";

export class FakeModel {
  #listeners = new Map();
  sent = [];

  constructor(options) {
    this.options = options;
    const { snapshots, files } = options;
    this.data = generate(snapshots, files);
    this.name = options.hostile ? HOSTILE : "orders";
    this.traits = {
      selected: snapshots, compare: 0, node: "", filter: "", where: "", tab: "files", height: options.height ?? 560,
      code: `t.at(${snapshots}).files()`,
      spark_code: `spark.read.format("paimon_explore").option("scan.snapshot-id", "${snapshots}").load("wh/default.db/orders$files")`,
    };
    this.steps = 0;
  }

  get(name) {
    return this.traits[name];
  }

  set(name, value) {
    this.traits[name] = value;
  }

  save_changes() {
    const { selected, filter } = this.traits;
    this.traits.code = `t.at(${selected}).files(${filter ? `where=${JSON.stringify(filter)}` : ""})`;
    this.#emit("change:code");
  }

  on(event, callback) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(callback);
  }

  off(event, callback) {
    this.#listeners.get(event)?.delete(callback);
  }

  #emit(event, ...values) {
    for (const callback of this.#listeners.get(event) ?? []) callback(...values);
  }

  /** Python sets a trait. */
  receive(name, value) {
    this.traits[name] = value;
    this.#emit(`change:${name}`);
  }

  listenerCount() {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  send(content) {
    this.sent.push(content);
    setTimeout(async () => {
      let answer;
      try {
        answer = { ok: true, ...(await this[`on_${content.op}`](content)) };
      } catch (error) {
        answer = { ok: false, error: { kind: "InvalidInputError", message: error.message } };
      }
      const { buffer, ...rest } = answer;
      this.#emit("msg:custom", { id: content.id, op: content.op, ...rest }, buffer ? [buffer] : []);
    }, this.options.delay ?? 0);
  }

  on_open() {
    const { data, options } = this;
    const n = options.snapshots;
    const word = (text) => (options.hostile ? `${text}${HOSTILE}` : text);
    const packed = packColumns({
      id: data.id, time: data.time, kind: data.kind,
      state: Uint8Array.from({ length: n }, (_, i) => (options.problem && i === 3 ? 1 : i === 0 && n > 20 ? 2 : 0)),
      schema: Uint8Array.from({ length: n }, (_, i) => (i > n / 2 ? 1 : 0)),
      total_rows: data.total, delta_rows: data.delta, changelog_rows: new Float64Array(n), user: new Uint8Array(n), watermark: new Float64Array(n),
      ...texts("user", [word("1f0c6d5e-8f6b-4c5e-9a55-5d2f2c2d1c11")]),
    });
    const flags = n
      ? [
          { kind: "hint", name: "EARLIEST", snapshot: n > 20 ? 2 : 1 },
          { kind: "hint", name: "LATEST", snapshot: n },
          { kind: "tag", name: word("v1"), snapshot: Math.ceil(n * 0.6) },
          { kind: "tag", name: "nightly", snapshot: n - 1 },
          { kind: "branch", name: "dev", snapshot: n - 1 },
          { kind: "consumer", name: "c1 (lag 3)", snapshot: n - 3 },
        ]
      : [];
    if (options.problem) packed.columns = packed.columns.slice();
    const table = {
      name: this.name, database: "default", location: "/wh/default.db/orders", branch: "main",
      chips: ["primary key dt, id", "partition dt", "bucket 4", "deletion vectors"].map(word), problems: options.problem ? [{ message: "snapshot-4: not JSON: Expecting value", path: "/wh/default.db/orders/snapshot/snapshot-4" }] : [],
    };
    return { body: { table, flags, groups }, ...packed };
  }

  /** Pack the files beforehand, as that is Python's work. */
  prepare() {
    const { data, options } = this;
    const partitions = options.hostile ? data.partitions.map((text) => `${text}${HOSTILE}`) : data.partitions;
    const at = data.id.indexOf(this.traits.selected) + 1;
    const { added, removed } = data.columns;
    const live = (_, row) => added[row] <= at && removed[row] > at;
    const now = Object.entries(data.columns).map(([name, values]) => [name, values.filter(live)]);
    const pack = (columns) => packColumns({ ...columns, ...texts("partition", partitions) });
    this.packed = pack(data.columns);
    this.packedNow = pack(Object.fromEntries(now));
  }

  #files(packed, frame, first, last) {
    const { options } = this;
    return { body: { done: true, frame, first, last, unknown: options.problem ? [3] : [] }, ...packed };
  }

  on_files() {
    const at = this.data.id.indexOf(this.traits.selected);
    return this.#files(this.packedNow, 0, at, at);
  }

  on_history() {
    this.steps += 1;
    if (this.steps < 3) return { body: { done: false, covered: Math.round((this.options.snapshots * this.steps) / 3) } };
    return this.#files(this.packed, 1, 0, this.options.snapshots - 1);
  }

  on_findings() {
    return { body: this.options.findings ? { total: 3, worst: "warning", words: "1 warning, 2 notes" } : {} };
  }

  on_hints() {
    return { body: { examples: { files: "dt = '2026-09-01' and level = 0", explain: "id > 3" }, terms: [["level", "The level of a file.", ["levels"]]] } };
  }

  on_report({ pane }) {
    return { body: { kind: pane, title: this.name, sections: [], code: "", spark_code: "" } };
  }

  async on_pane({ name }) {
    return { body: { esm: await (await fetch(`./${name}.js`)).text() } };
  }

  on_rows({ rows }) {
    return {
      body: {
        rows: rows.map((row) => ({
          name: this.options.hostile ? HOSTILE : `data-${(row * 2654435761 >>> 0).toString(16).padStart(8, "0")}-2f70-41ce-a9e8-d8abd9db6937-${row % 7}.parquet`,
          min_key: String(row * 10), max_key: String(row * 10 + 9_999), note: "",
        })),
      },
    };
  }

  on_filter({ text }) {
    const found = /^(level|bucket|size|rows)\s*(=|<|>)\s*(\d+)$/.exec(text);
    if (!found) throw new Error(`cannot read the condition ${JSON.stringify(text)} at position 1: expected a comparison`);
    const [, name, operator, number] = found;
    const column = this.data.columns[name];
    const wanted = Number(number);
    const test = { "=": (v) => v === wanted, "<": (v) => v < wanted, ">": (v) => v > wanted }[operator];
    return { body: {}, ...packColumns({ mask: Uint8Array.from(column, (v) => (test(v) ? 1 : 0)) }) };
  }

  on_resolve({ text }) {
    const id = Number(text);
    if (!this.data.id.includes(id)) throw new Error(`no snapshot, tag or time ${JSON.stringify(text)}`);
    return { body: { snapshot: id } };
  }

  on_tree({ snapshot, keys, offset = 0 }) {
    const { options } = this;
    const children = {};
    const name = (text) => (options.hostile ? HOSTILE : text);
    for (const key of keys) {
      const parts = key.split("/");
      if (key === "") {
        children[key] = { total: 5, nodes: [
          { key: "base", type: "list", label: "base manifest list", count: 3, size: 9012, added: 9400, deleted: 12, expandable: true },
          { key: "delta", type: "list", label: "delta manifest list", size: 2044, added: 3, deleted: 5, expandable: true },
          { key: "index", type: "index", label: "index manifest", count: 2, size: 1204, expandable: true },
          { key: "statistics", type: "statistics", label: "statistics", size: 612 },
          { key: "schema", type: "schema", label: "schema 1", count: 8 },
        ] };
      } else if (parts.length === 1 && (key === "base" || key === "delta")) {
        const nodes = Array.from({ length: key === "base" ? 3 : 1 }, (_, i) => ({
          key: `${key}/${i}`, type: "manifest", label: name(`manifest-ad5c6324-2f70-41ce-a9e8-d8abd9db6937-${i}`), range: name("dt=2026-09-01…2026-10-28"),
          size: 120_000 + i, added: 120, deleted: i * 40, expandable: true, shared: i === 0 && key === "base" ? `in snapshots ${snapshot - 3} to ${snapshot}` : undefined,
          problem: options.problem && i === 2 ? "manifest-ad5c…-2: no such file" : undefined,
        }));
        children[key] = { total: nodes.length, nodes };
      } else if (parts.length === 2) {
        const total = 430;
        const nodes = Array.from({ length: Math.min(100, total - offset) }, (_, j) => {
          const i = offset + j;
          return {
            key: `${key}/${i}`, type: "entry", kind: i % 5 === 3 ? "DELETE" : "ADD", cancelled: i % 5 >= 3, size: 40_000 * (i + 1), expandable: false,
            label: name(`data-405c6324-2f70-41ce-a9e8-d8abd9db6937-${i}.parquet`), range: `dt=2026-09-0${(i % 9) + 1} b${i % 4} L${i % 2 ? 5 : 0}`,
          };
        });
        children[key] = { total, nodes };
      }
    }
    return { body: { children } };
  }

  on_detail({ node }) {
    const word = (text) => (this.options.hostile ? `${text}${HOSTILE}` : text);
    if (this.options.problem && node.endsWith("base/2")) {
      throw new Error("/wh/default.db/orders/manifest/manifest-ad5c6324-2: no such file");
    }
    const entry = node.split("/").length === 4 || node.startsWith("file/");
    if (!entry) {
      return { body: { title: `snapshot ${node}`, subtitle: "snapshot", sections: [
        { type: "facts", rows: [["commit kind", "APPEND"], ["commit user", word("1f0c6d5e-8f6b-4c5e-9a55")], ["commit identifier", "9223372036854775807"], ["committed", "2026-11-20 23:14:02.123 UTC"], ["schema", "1"], ["rows", "4,100,233 (+12,000)"], ["watermark", "none"], ["held by", "tag v1, consumer c1"]] },
        { type: "text", title: "JSON", text: `{\n  "version": 3,\n  "id": ${node},\n  "commitKind": "APPEND"\n}` },
      ] } };
    }
    return { body: { title: word("data-405c6324-2f70-41ce-a9e8-d8abd9db6937-0.parquet"), subtitle: "data file · ADD", kind: "ADD", sections: [
      { type: "facts", rows: [["partition", word("dt=2026-09-01")], ["bucket", "0 of 4"], ["level", "5"], ["rows", "9,999 (12 deletes)"], ["size", "1.2 MB"], ["schema", "0"], ["sequence", "1200 … 8123"], ["created", "2026-11-20 23:14:02.123 (local time of the writer)"]] },
      { type: "bounds", title: "Key bounds", rows: [{ column: "id", type: "BIGINT NOT NULL", min: "3", max: "99123", nulls: "0" }] },
      { type: "bounds", title: "Value bounds", rows: [
        { column: word("dt"), type: "STRING NOT NULL", min: "2026-09-01", max: "2026-09-01", nulls: "0" },
        { column: "id", type: "BIGINT NOT NULL", min: "3", max: "99123", nulls: "0" },
        { column: "amount", type: "DECIMAL(12, 2)", min: "-20.00", max: "99812.50", nulls: "17" },
        { column: "note", type: "STRING", min: word("a long beginning"), max: "zebra crossinh", nulls: "3", note: "truncated to 16" },
        { column: "tags", type: "ARRAY<STRING>", reason: "bounds are not collected for ARRAY" },
        { column: "v", type: "DOUBLE", reason: "not in _VALUE_STATS_COLS: metadata.stats-mode of the column is none", nulls: "?" },
        { column: "big", type: "STRING", min: "x".repeat(5000), max: "y".repeat(300), nulls: "0" },
      ] },
    ] } };
  }
}
