import assert from "node:assert/strict";
import { test } from "node:test";
import { valueText } from "../src/query_history.js";
import { cut, formatBytes, formatShort, formatTime, visible } from "../src/text_format.js";

test("control, bidi and invisible characters become escapes", () => {
  assert.equal(
    visible("a\u202egnp\u0000\u001b[31m\n\ufeff"),
    "a\\u{202e}gnp\\x00\\x1b[31m\\n\\u{feff}",
  );
});

test("lone surrogates are escaped and pairs are not", () => {
  assert.equal(visible("\ud83d\ude00 \ud83d x \ude00"), "\ud83d\ude00 \\u{d83d} x \\u{de00}");
});

test("other scripts and joined letters stay as they are", () => {
  assert.equal(visible("中文 ðæ क्‍ष"), "中文 ðæ क्‍ष");
});

test("a long text is cut between whole characters", () => {
  assert.equal(cut("abc", 3), "abc");
  assert.equal(cut("abcd", 3), "abc…");
  assert.equal(cut("ab\ud83d\ude00d", 3), "ab…");
});

test("sizes and counts take few characters", () => {
  assert.deepEqual([0, 999, 1000, 9_949, 12_345, 999_600, 5e9].map(formatShort), [
    "0",
    "999",
    "1.0k",
    "9.9k",
    "12k",
    "1.0M",
    "5.0G",
  ]);
  assert.equal(formatBytes(-2_500_000), "−2.5 MB");
});

test("an impossible time is named, not thrown", () => {
  assert.equal(formatTime(Number.MAX_VALUE), "unknown time");
  assert.equal(formatTime(0, { utc: true }), "1970-01-01 00:00:00");
});

test("characters above U+FFFF that show nothing become escapes", () => {
  assert.equal(visible("a\u{e0041}b\u{1d173}"), "a\\u{e0041}b\\u{1d173}");
  assert.equal(visible("a\u3164b"), "a\\u{3164}b");
});

test("times of all years have seconds, if they are wanted", () => {
  const far = Date.UTC(14645, 5, 30, 15, 6, 40);
  assert.equal(formatTime(far, { utc: true }), "+014645-06-30 15:06:40");
  assert.equal(formatTime(far, { utc: true, seconds: false }), "+014645-06-30 15:06");
  assert.equal(formatTime(0, { utc: true }), "1970-01-01 00:00:00");
});

test("whole numbers of a history keep all digits", () => {
  assert.equal(valueText(9007199254740991), "9,007,199,254,740,991");
  assert.equal(valueText(0.1 + 0.2), "0.3");
  assert.equal(valueText(null), "no value");
});
