// @ts-check
/** The notebook's theme: what canvas draws with, and when it changes. */

const COLOURS = [
  "bg",
  "fg",
  "muted",
  "faint",
  "line",
  "accent",
  "select",
  "append",
  "compact",
  "overwrite",
  "analyze",
  "unknown",
  "add",
  "remove",
  "tag",
  "branch",
  "consumer",
  "hint",
];

/** @typedef {Record<string, string>} Colours  by token, and `font`, a font family */

/**
 * The root's colour tokens as canvas takes them; all are read at once, for each read costs a layout.
 * @param {HTMLElement} root
 * @returns {Colours}
 */
export function readColours(root) {
  const probes = COLOURS.map((name) => {
    const probe = document.createElement("span");
    probe.hidden = true;
    probe.style.color = `var(--pe-${name})`;
    return probe;
  });
  root.append(...probes);
  const colours = Object.fromEntries(
    probes.map((probe, i) => [COLOURS[i], getComputedStyle(probe).color]),
  );
  colours.font = getComputedStyle(root).fontFamily;
  for (const probe of probes) probe.remove();
  return colours;
}

/**
 * Whether a CSS colour is nearer to black than to white.
 * @param {string} colour  rgb(...) or color(srgb ...)
 */
export function isDark(colour) {
  const numbers = (colour.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
  if (numbers.length < 3) return false;
  const [r, g, b] = colour.startsWith("rgb") ? numbers.map((part) => part / 255) : numbers;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.45;
}

/**
 * Keep `data-theme` on the root right and tell the colours, now and after each change.
 * @param {HTMLElement} root
 * @param {(colours: Colours) => void} tell
 */
export function watchTheme(root, tell) {
  let known = "";
  const apply = () => {
    const theme = isDark(readColours(root).bg) ? "dark" : "light";
    root.setAttribute("data-theme", theme);
    const colours = readColours(root);
    const found = Object.values(colours).join();
    if (found !== known) tell(colours);
    known = found;
  };
  // A theme's style sheet may arrive after the attribute that announces it.
  let timers = /** @type {number[]} */ ([]);
  const soon = () => {
    timers.forEach(clearTimeout);
    timers = [0, 150, 600].map((millis) => setTimeout(apply, millis));
  };
  const observer = new MutationObserver(soon);
  for (const target of [document.documentElement, document.body]) {
    observer.observe(target, {
      attributeFilter: [
        "class",
        "style",
        "data-jp-theme-light",
        "data-jp-theme-name",
        "data-vscode-theme-kind",
        "data-theme",
      ],
    });
  }
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", soon);
  apply();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", soon);
    timers.forEach(clearTimeout);
  };
}
