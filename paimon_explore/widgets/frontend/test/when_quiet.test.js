import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as passed } from "node:timers/promises";

import { whenQuiet } from "../src/dom.js";

test("what waits is called once: when it is quiet, or at once if the view closes", async () => {
  let calls = 0;
  const save = whenQuiet(() => {
    calls += 1;
  }, 5);
  save();
  save();
  await passed(20);
  assert.equal(calls, 1);
  save.flush();
  assert.equal(calls, 1);
  save();
  save.flush();
  assert.equal(calls, 2);
  await passed(20);
  assert.equal(calls, 2);
});
