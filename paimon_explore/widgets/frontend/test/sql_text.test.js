import assert from "node:assert/strict";
import { test } from "node:test";
import { completionsOf, placeOf, tokensOf } from "../src/sql_text.js";

const NAMES = {
  tables: ["t", "orders", "`t$files`"],
  columns: [
    ["city", "STRING"],
    ["cost", "INT"],
    ["order", "INT"],
  ],
};

/** What the editor offers at the end of a text. */
const offered = (text) => completionsOf(text, text.length, NAMES).items.map(({ insert }) => insert);

test("tokens make up the text and tell what is coloured", () => {
  const text = "SELECT sum(`a b`) -- all\nFROM t WHERE d = 'it''s' AND n > 1.5e3";
  const tokens = tokensOf(text);
  assert.equal(tokens.map(({ text: part }) => part).join(""), text);
  const of = (kind) => tokens.filter((one) => one.kind === kind).map(({ text: part }) => part);
  assert.deepEqual(of("keyword"), ["SELECT", "FROM", "WHERE", "AND"]);
  assert.deepEqual(of("function"), ["sum"]);
  assert.deepEqual(of("comment"), ["-- all"]);
  assert.deepEqual(of("text"), ["'it''s'"]);
  assert.deepEqual(of("number"), ["1.5e3"]);
});

test("what is not closed ends with the text", () => {
  for (const text of ["'abc", "`abc", "/* abc", '"abc', "\\"]) {
    assert.equal(
      tokensOf(text)
        .map(({ text: part }) => part)
        .join(""),
      text,
    );
  }
});

test("after FROM and JOIN tables are offered, after a point columns", () => {
  assert.deepEqual(offered("SELECT * FROM "), ["t", "orders", "`t$files`"]);
  assert.deepEqual(offered("SELECT * FROM t JOIN or"), ["orders"]);
  assert.deepEqual(offered("SELECT * FROM t$f"), ["`t$files`"]);
  assert.deepEqual(offered("SELECT t.c"), ["city", "cost"]);
});

test("columns come before functions and keywords, and names that need it are quoted", () => {
  assert.deepEqual(offered("SELECT co").slice(0, 2), ["cost", "coalesce("]);
  assert.deepEqual(offered("SELECT t.or"), ["`order`"]);
  assert.deepEqual(offered("SELECT * FROM t whe"), ["where", "when"]);
  assert.deepEqual(offered("SELECT * FROM t WHE"), ["WHERE", "WHEN"]);
});

test("nothing is offered in texts, comments and for what is complete", () => {
  assert.deepEqual(offered("SELECT 'ci"), []);
  assert.deepEqual(offered("SELECT 1 -- ci"), []);
  assert.deepEqual(offered("SELECT t.city"), []);
});

test("an error marks the token that it names", () => {
  assert.equal(placeOf("cannot be parsed at line 2, column 6, near 't'", "SELECT *\nform t x"), 14);
  assert.equal(placeOf('Referenced column "nope" not found', "SELECT 1, nope FROM t"), 10);
  assert.equal(placeOf("Table with name zz does not exist!", "SELECT * FROM zz"), 14);
  assert.equal(placeOf("Out of memory", "SELECT 1"), -1);
});
