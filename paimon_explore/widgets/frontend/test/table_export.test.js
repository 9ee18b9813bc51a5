import assert from "node:assert/strict";
import { test } from "node:test";
import { separated } from "../src/table_export.js";

test("cells are quoted where their text needs it", () => {
  assert.equal(separated([["a,b", 'c"d', "e"]], ","), '"a,b","c""d",e\r\n');
  assert.equal(separated([["a,b", "c\td", "e\nf"]], "\t"), 'a,b\t"c\td"\t"e\nf"\r\n');
});

test("spreadsheets run no value as a formula", () => {
  for (const text of ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+HYPERLINK(A1)", "\t=1"]) {
    assert.equal(separated([[text]], ",").replaceAll('"', ""), `'${text}\r\n`);
  }
  for (const text of ["-5", "+1.5e3", "-D", "+I", "2026-01-01", "a=b", "'=1", ""]) {
    assert.equal(separated([[text]], ","), `${text}\r\n`);
  }
});
