import assert from "node:assert/strict";
import { test } from "node:test";
import { shortName } from "../src/report_view.js";

test("a file's name keeps its begin and its end, which tell names apart", () => {
  assert.equal(
    shortName("data-405c6324-2f70-41ce-a9e8-d8abd9db6937-10.parquet"),
    "data-405c6324-…937-10.parquet",
  );
  assert.equal(shortName("plain.parquet"), "plain.parquet");
});

test("a hostile name is drawn with its controls visible", () => {
  assert.equal(shortName("a\u202eb"), "a\\u{202e}b");
});
