// @ts-check
/** A stage: cards that come and go frame by frame, played or step by step. */

import { attribute, button, el, fill } from "./dom.js";
import { cut, visible } from "./text_format.js";

/** @typedef {{column: number, text: string, note: string, since: number, until: number | null}} Card */
/**
 * @typedef {object} Stage
 * @property {"stage"} type
 * @property {string} title
 * @property {string[]} columns
 * @property {{title: string, text: string, tone: string}[]} frames
 * @property {Card[]} cards
 */

const PLAY_MILLIS = 1400;

/**
 * Those who want no motion get the steps without a way to play them.
 * @param {Stage} stage
 * @param {boolean} [still]
 * @returns {{element: HTMLElement, dispose: () => void}}
 */
export function createStage(stage, still = matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const end = stage.frames.length - 1;
  let at = end;
  let timer = 0;
  const first = button("«", "First step", () => go(0));
  const previous = button("‹", "Previous step", () => go(at - 1));
  const next = button("›", "Next step", () => go(at + 1));
  const last = button("»", "Last step", () => go(end));
  const play = button("▶", "Play the commit", () => (timer ? stop() : start()), { hidden: still });
  const count = el("span", { class: "pes-count" });
  const caption = el("div", { class: "pes-caption", "aria-live": "polite" });

  const cards = stage.cards.map((card) => {
    const note = card.note ? el("span", { class: "pes-count" }, visible(card.note)) : null;
    return { card, element: el("div", { class: "pes-card" }, shortened(card.text), note) };
  });
  const board = el("div", {
    class: "pes-board",
    tabindex: "0",
    role: "group",
    "aria-label": "Files of the commit",
  });
  board.style.setProperty("--pes-columns", String(stage.columns.length));
  stage.columns.forEach((name, number) => {
    const mine = cards.filter(({ card }) => card.column === number);
    const head = el("div", { class: "pes-card-head" }, visible(name));
    board.append(el("div", { class: "pes-lane" }, head, ...mine.map(({ element }) => element)));
  });

  /** @param {number} frame */
  const show = (frame) => {
    at = Math.min(Math.max(frame, 0), end);
    const { title, text, tone } = stage.frames[at];
    for (const { card, element } of cards) {
      element.hidden = card.since > at;
      attribute(element, "data-new", card.since === at ? "1" : null);
      attribute(element, "data-gone", card.until !== null && card.until <= at ? "1" : null);
    }
    fill(count, `step ${at + 1} of ${end + 1}`);
    fill(caption, el("strong", { "data-tone": tone }, visible(title)), " ", visible(text));
    first.disabled = previous.disabled = at === 0;
    next.disabled = last.disabled = at === end;
  };
  const start = () => {
    if (at === end) show(0);
    fill(play, "❚❚");
    attribute(play, "aria-pressed", "true");
    timer = setInterval(() => {
      show(at + 1);
      if (at === end) stop();
    }, PLAY_MILLIS);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(play, "▶");
    attribute(play, "aria-pressed", "false");
  };
  /** @param {number} frame */
  const go = (frame) => {
    stop();
    show(frame);
  };
  show(end);
  const steps = el("span", { class: "pes-steps" }, first, previous, play, next, last);
  const element = el(
    "div",
    { class: "pes-stage", role: "group", "aria-label": visible(stage.title) },
    el("div", { class: "pes-stage-bar" }, steps, count),
    board,
    caption,
  );
  return { element, dispose: stop };
}

/**
 * The end of a name, which tells it from the others; its column tells the rest.
 * @param {string} text
 */
function shortened(text) {
  const shown = visible(cut(text));
  const short = shown.length > 14 ? `…${shown.slice(-7)}` : shown;
  return el("span", { class: "pes-card-name", title: shown }, short);
}
