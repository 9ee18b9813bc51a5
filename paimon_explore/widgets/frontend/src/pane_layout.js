// @ts-check
/** The sizes of the panes: handles to drag, keys to press, and a button that maximises the explorer. */

import { attribute, button, el, fill } from "./dom.js";
import { remember, remembered } from "./remembered.js";

/** @import {Context, Pane} from "./context.js" */

/** Shares of the width in percent. */
const USUAL = { left: 27, right: 28 };
const LEAST = 10;
const MOST = 60;
const [LOWEST, HIGHEST] = [320, 2000];
const STEP = 2;
const STEP_PIXELS = 20;

/**
 * @param {Context} context
 * @returns {Pane}
 */
export function createLayout(context) {
  const { root, store } = context;
  const main = /** @type {HTMLElement} */ (root.querySelector(".pe-main"));
  const frame = /** @type {HTMLElement} */ (root.querySelector(".pe-frame"));
  const shares = usualShares();

  const left = splitter(
    "Width of the manifest tree",
    1,
    () => shares.left,
    (share) => set({ left: share }),
  );
  const right = splitter(
    "Width of the details",
    -1,
    () => shares.right,
    (share) => set({ right: share }),
  );
  main.children[0].append(left.element);
  main.children[1].append(right.element);

  /** @param {Partial<typeof USUAL>} patch */
  function set(patch) {
    Object.assign(shares, patch);
    apply();
    remember("localStorage", "panes", shares);
  }
  const apply = () => {
    main.style.setProperty("--pe-left", `${shares.left}%`);
    main.style.setProperty("--pe-right", `${shares.right}%`);
    for (const { update } of [left, right]) update();
  };

  const bottom = heightHandle(
    frame,
    () => store.get().height,
    (height) => store.set({ height }),
  );
  const maximise = "showPopover" in root ? maximiser(root) : undefined; // not in old browsers
  if (maximise) root.querySelector(".pe-steps-bar")?.append(maximise.element);
  apply();
  return {
    element: bottom.element,
    focus: () => bottom.element.focus(),
    update(changed) {
      if (changed.has("height")) bottom.update();
    },
    dispose: () => maximise?.dispose(),
  };

  /**
   * A handle between two panes.
   * @param {string} label
   * @param {1 | -1} side  of the pane whose width it is: left or right of the handle
   * @param {() => number} share
   * @param {(share: number) => void} change
   */
  function splitter(label, side, share, change) {
    const element = handle("pe-split", label, "vertical", LEAST, MOST);
    attribute(element, "data-side", side);
    const to = (/** @type {number} */ wanted) =>
      change(Math.min(Math.max(Math.round(wanted), LEAST), MOST));
    drag(element, () => {
      const start = share();
      const percent = 100 / main.clientWidth;
      return (x) => to(start + side * x * percent);
    });
    const usual = side === 1 ? USUAL.left : USUAL.right;
    element.addEventListener("dblclick", () => to(usual));
    keys(element, {
      ArrowLeft: () => to(share() - side * STEP),
      ArrowRight: () => to(share() + side * STEP),
      Enter: () => to(usual),
    });
    return { element, update: () => attribute(element, "aria-valuenow", share()) };
  }
}

/**
 * The handle below the explorer.
 * @param {HTMLElement} frame
 * @param {() => number} height  0 if the explorer follows the window
 * @param {(height: number) => void} change
 */
function heightHandle(frame, height, change) {
  const element = handle("pe-resize", "Height of the explorer", "horizontal", LOWEST, HIGHEST);
  const present = () => height() || frame.offsetHeight;
  const to = (/** @type {number} */ wanted) =>
    change(Math.min(Math.max(Math.round(wanted), LOWEST), HIGHEST));
  const follow = () => change(0);
  drag(element, () => {
    const start = present();
    return (_x, y) => to(start + y);
  });
  element.addEventListener("dblclick", follow);
  keys(element, {
    ArrowUp: () => to(present() - STEP_PIXELS),
    ArrowDown: () => to(present() + STEP_PIXELS),
    Enter: follow,
  });
  const update = () => attribute(element, "aria-valuenow", present());
  update();
  return { element, update };
}

/**
 * @param {string} name
 * @param {string} label
 * @param {"horizontal" | "vertical"} orientation
 * @param {number} least
 * @param {number} most
 */
function handle(name, label, orientation, least, most) {
  return el("div", {
    class: name,
    role: "separator",
    tabindex: "0",
    title: `${label}: drag, or press the arrow keys; double-click or press Enter to reset`,
    "aria-label": label,
    "aria-orientation": orientation,
    "aria-valuemin": least,
    "aria-valuemax": most,
    "aria-valuenow": least,
  });
}

/**
 * Follow the pointer from where it was pressed.
 * @param {HTMLElement} element
 * @param {() => (x: number, y: number) => void} begin  called when the drag begins; gets the distances
 */
function drag(element, begin) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const move = begin();
    const follow = (/** @type {PointerEvent} */ to) =>
      move(to.clientX - event.clientX, to.clientY - event.clientY);
    const end = () => {
      element.removeEventListener("pointermove", follow);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", follow);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    event.preventDefault();
  });
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, () => void>} commands  by key
 */
function keys(element, commands) {
  element.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(commands, event.key) || event.ctrlKey || event.metaKey || event.altKey)
      return;
    commands[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });
}

/** The widths that the user chose last, in any explorer. */
function usualShares() {
  const { left, right } = remembered("localStorage", "panes") ?? {};
  const fits = [left, right].every((share) => share >= LEAST && share <= MOST);
  return fits && left + right <= 100 - LEAST ? { left, right } : { ...USUAL };
}

/**
 * The button that shows the explorer in a tab of JupyterLab, or else in the whole window.
 * @param {HTMLElement} root
 */
function maximiser(root) {
  const open = () => root.matches(":popover-open");
  const restore = () => {
    root.hidePopover();
    root.popover = null;
    show();
  };
  const toggle = () => {
    if (open()) return restore();
    const asked = new CustomEvent("paimon-explore-open", { bubbles: true, cancelable: true });
    if (!root.closest(".jp-LinkedOutputView") && !root.dispatchEvent(asked)) return;
    root.popover = "manual";
    root.showPopover();
    show();
  };
  const element = button("⤢", "Maximise", toggle);
  const show = () => {
    fill(element, open() ? "⤡" : "⤢");
    for (const name of ["title", "aria-label"]) {
      attribute(element, name, open() ? "Restore the size" : "Maximise");
    }
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const { target } = event;
    if (event.key !== "Escape" || !open() || target instanceof HTMLInputElement) return;
    restore();
    event.preventDefault();
    event.stopPropagation();
  };
  root.addEventListener("keydown", onKey, true);
  root.classList.toggle("pe-own-tab", root.closest(".jp-LinkedOutputView") !== null);
  return { element, dispose: () => root.removeEventListener("keydown", onKey, true) };
}
