// src/channel.js
var { decodeColumns, decodeTexts, AskError, failureOf, Channel } = peShared;

// src/dom.js
var { attribute, el, fill, button, copyButton, segmented, perFrame, whenQuiet } = peShared;

// src/text_format.js
var { CELL_LIMIT, NO_SNAPSHOT, visible, cut, formatCount, formatShort, formatBytes, formatTime, plural, withExample } = peShared;

// src/live.js
var LEAST_SECONDS = 0.5;
var MOST_SECONDS = 60;
var FRESH_MILLIS = 8e3;
var SLIDE_MILLIS = 350;
var SLIDE_PIXELS = 36;
function delay(live, failures) {
  const usual = Math.max(live, LEAST_SECONDS);
  return Math.max(Math.min(usual * 2 ** Math.min(failures, 10), MOST_SECONDS), usual);
}
function create(context, place) {
  const { store, history } = context;
  let timer = 0;
  let failures = 0;
  let unseen = 0;
  let isOnScreen = false;
  let isBusy = false;
  let gone = false;
  let interval = 0;
  const runs = () => !gone && isOnScreen && place.isConnected && !document.hidden && store.get().live > 0;
  const plan = (seconds) => {
    clearTimeout(timer);
    if (runs() && !isBusy) timer = setTimeout(poll, seconds * 1e3);
  };
  const poll = async () => {
    if (!runs() || isBusy) return;
    isBusy = true;
    try {
      const found = await context.refresh();
      if (failures) fill(place);
      failures = 0;
      if (found.changed && !gone) changed(found);
    } catch (error) {
      failures += 1;
      const next = delay(store.get().live, failures);
      fill(place, visible(`Reading failed, next try in ${next} s. ${failureOf(error).message}`));
    }
    isBusy = false;
    plan(delay(store.get().live, failures));
  };
  const changed = (found) => {
    const { position } = store.get();
    slideIn();
    if (position === history.count - 1) {
      unseen = 0;
      fill(place, position < 0 ? "" : latest(position));
      if (found.was_removed) place.prepend("The selected snapshot was replaced. ");
      return;
    }
    unseen += history.fresh.size;
    const lost = found.was_removed ? `The selected snapshot no longer exists; snapshot ${store.get().selected} is shown. ` : "";
    const show = button(
      "Show latest",
      "Select the latest snapshot and follow it",
      () => context.moveTo(history.count - 1)
    );
    fill(place, lost, unseen ? `${plural(unseen, "new snapshot")} ` : null, unseen ? show : null);
  };
  const latest = (position) => {
    const files = context.changes();
    const text = `Snapshot ${history.ids[position]} ${history.kind(position).token}`;
    if (!files) return text;
    const [added, removed] = [files.added.files[position], files.removed.files[position]];
    return `${text}: +${formatCount(added)} −${formatCount(removed)} files`;
  };
  let fading = 0;
  let frame = 0;
  const slideIn = () => {
    cancelAnimationFrame(frame);
    clearTimeout(fading);
    fading = setTimeout(() => {
      history.fresh = new Set();
      context.tell(new Set(["fresh"]));
    }, FRESH_MILLIS);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const begin = performance.now();
    const step = () => {
      const left = Math.max(1 - (performance.now() - begin) / SLIDE_MILLIS, 0);
      history.slide = SLIDE_PIXELS * left ** 3;
      context.tell(new Set(["fresh"]));
      if (left) frame = requestAnimationFrame(step);
    };
    step();
  };
  const observer = new IntersectionObserver((entries) => {
    isOnScreen = entries.at(-1)?.isIntersecting ?? false;
    plan(0);
  });
  observer.observe(place.parentElement);
  const onVisible = () => plan(0);
  document.addEventListener("visibilitychange", onVisible);
  return {
    update() {
      const { live, position } = store.get();
      if (unseen && position === history.count - 1) {
        unseen = 0;
        fill(place);
      }
      if (live === interval) return;
      interval = live;
      failures = 0;
      if (!live) fill(place);
      plan(0);
    },
    dispose() {
      gone = true;
      clearTimeout(timer);
      clearTimeout(fading);
      cancelAnimationFrame(frame);
      observer.disconnect();
      document.removeEventListener("visibilitychange", onVisible);
    }
  };
}
export {
  create,
  delay
};
