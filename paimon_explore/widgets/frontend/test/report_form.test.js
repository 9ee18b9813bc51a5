import assert from "node:assert/strict";
import { test } from "node:test";
import { inputText } from "../src/report_form.js";

test("an input names the action and the settings that are filled in", () => {
  assert.equal(inputText("compact", []), "compact");
  assert.equal(
    inputText("compact", [
      ["full", "false"],
      ["num-levels", ""],
    ]),
    "compact full = 'false'",
  );
});

test("a quote in a value is doubled", () => {
  assert.equal(
    inputText("options", [
      ["a", "it's, 1"],
      ["b", "2"],
    ]),
    "options a = 'it''s, 1', b = '2'",
  );
});
