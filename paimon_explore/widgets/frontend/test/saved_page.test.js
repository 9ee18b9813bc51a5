import assert from "node:assert/strict";
import { test } from "node:test";
import { SavedModel } from "../src/saved_page.js";

const recording = {
  script: "",
  traits: { selected: 7, tab: "files", code: "t.files()", spark_code: "" },
  answers: {
    '{"op":"history"}': { ok: true, body: { done: true }, columns: [], data: "AAEC" },
    '{"node":"7","op":"detail"}': { ok: true, body: { title: "snapshot 7" } },
  },
  tree: { "7||0": { nodes: [], total: 0 } },
  rows: [{ name: "a", min_key: "1", max_key: "2" }],
  codes: { "6|lsm": ["t.at(snapshot=6).inspect.lsm()", "spark"] },
};

test("requests are answered from the recording, members in any order", () => {
  const model = new SavedModel(recording);
  assert.equal(model.answer({ op: "detail", node: "7" }).body.title, "snapshot 7");
  assert.equal(model.answer({ op: "files", snapshot: 3 }).body.done, true);
  assert.deepEqual(model.answer({ op: "tree", snapshot: 7, keys: ["", "base"] }).body, {
    children: { "": { nodes: [], total: 0 } },
  });
  assert.deepEqual(
    model.answer({ op: "rows", frame: 1, rows: [0, 9] }).body.rows.map(({ name }) => name),
    ["a", "…"],
  );
});

test("what was not recorded is told", () => {
  const model = new SavedModel(recording);
  assert.equal(model.answer({ op: "detail", node: "8" }).error.kind, "not saved");
  assert.equal(model.answer({ op: "tree", snapshot: 8, keys: [""] }).ok, false);
});

test("only what was recorded is offered", () => {
  const model = new SavedModel(recording);
  assert.equal(model.recorded({ op: "detail", node: "7" }), true);
  assert.equal(model.recorded({ op: "pane", name: "bytes" }), false);
});

test("answers carry their buffer, and the code follows what is shown", async () => {
  const model = new SavedModel(recording);
  const heard = [];
  model.on("msg:custom", (answer, buffers) => heard.push(answer.id, buffers[0]?.byteLength));
  model.on("change:code", () => heard.push(model.get("code")));
  model.send({ id: 4, op: "history" });
  await Promise.resolve();
  model.set("selected", 6);
  model.set("tab", "lsm");
  model.save_changes();
  assert.deepEqual(heard, [4, 3, "t.at(snapshot=6).inspect.lsm()"]);
});
