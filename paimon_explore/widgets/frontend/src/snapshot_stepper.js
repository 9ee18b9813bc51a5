// @ts-check
/** Buttons that move the cursor. */

import { attribute, button, el, fill } from "./dom.js";

/** @import {Change, Context} from "./context.js" */

const PLAY_MILLIS = 700;

/** @param {Context} context */
export function createSteps(context) {
  const { store, history } = context;
  const step = (/** @type {number} */ by) => () => context.step(by);
  const first = button("«", "First snapshot", () => context.moveTo(0));
  const previous = button("‹", "Previous snapshot", step(-1));
  const next = button("›", "Next snapshot", step(1));
  const last = button("»", "Last snapshot", () => context.moveTo(history.count - 1));

  let timer = 0;
  const play = button("▶", "Play the snapshots in order", () => {
    if (timer) stop();
    else start();
  });
  const start = () => {
    if (store.get().position >= history.count - 1) context.moveTo(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      if (store.get().position >= history.count - 1) stop();
      else context.step(1);
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };

  const update = () => {
    const { position } = store.get();
    play.disabled = history.count < 2;
    first.disabled = previous.disabled = position <= 0;
    next.disabled = last.disabled = position >= history.count - 1;
  };
  update();
  const group = el(
    "div",
    { class: "pe-steps", role: "group", "aria-label": "Move to another snapshot" },
    first,
    previous,
    play,
    next,
    last,
  );
  return {
    element: group,
    /** @param {Set<Change>} changed */
    update(changed) {
      if (changed.has("position")) update();
    },
    dispose: stop,
  };
}
