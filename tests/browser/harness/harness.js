// Shows one explorer on a fake model; the address says which: ?snapshots=20&files=400&theme=dark&width=1100
import { FakeModel } from "./fake_model.js";
import explorer from "./explorer.js";

const wanted = new URLSearchParams(location.search);
const number = (name, usual) => Number(wanted.get(name) ?? usual);
document.body.className = wanted.get("theme") ?? "light";
const place = document.querySelector("#place");
place.style.width = `${number("width", 1100)}px`;
const model = new FakeModel({
  snapshots: number("snapshots", 20),
  files: number("files", 400),
  delay: number("delay", 0),
  hostile: wanted.has("hostile"),
  problem: wanted.has("problem"),
  height: number("height", 560),
});
window.model = model;
model.prepare();
if (wanted.has("hold")) await new Promise((done) => (window.go = done));
window.startedAt = performance.now();
window.close_ = explorer.render({ model, el: place });

// When the timeline, and when all files, were on the screen: the frame after the one that drew them.
function whenDrawn(attribute, name) {
  const look = () => {
    if (!document.querySelector(`[data-${attribute}="1"]`)) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => (window[name] = performance.now())));
  };
  look();
}
whenDrawn("ready", "readyAt");
whenDrawn("complete", "completeAt");
