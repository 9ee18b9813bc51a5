// Shows one widget whose requests Python answers by `askPython`, without a kernel:
// ?widget=bytes&theme=dark&width=900&traits={"height":480}
const wanted = new URLSearchParams(location.search);
const traits = JSON.parse(wanted.get("traits") ?? "{}");
const QUIET_MILLIS = 100; // longer than the widgets wait before they ask
let unanswered = 0;
let lastAnswer = 0;

// A model whose requests Python answers; `more` is added to each request.
function makeModel(traits, more = {}) {
  const listeners = new Map();
  const emit = (event, ...values) => {
    for (const callback of listeners.get(event) ?? []) callback(...values);
  };
  return {
    get: (name) => traits[name],
    set: (name, value) => (traits[name] = value),
    save_changes: () => {},
    on: (event, callback) => listeners.set(event, (listeners.get(event) ?? new Set()).add(callback)),
    off: (event, callback) => listeners.get(event)?.delete(callback),
    listenerCount: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
    receive(name, value) {
      traits[name] = value;
      emit(`change:${name}`);
    },
    async send(message) {
      unanswered += 1;
      const answer = await window.askPython({ ...message, ...more });
      unanswered -= 1;
      lastAnswer = performance.now();
      const bytes = answer.data ? Uint8Array.from(atob(answer.data), (c) => c.charCodeAt(0)) : undefined;
      emit("msg:custom", answer, bytes ? [new DataView(bytes.buffer)] : []);
    },
  };
}
const model = makeModel(traits);
// The model of another widget of the same notebook.
model.widget_manager = {
  async get_model(of) {
    const { body } = await window.askPython({ id: 0, op: "traits", of });
    return makeModel(body, { of });
  },
};
window.model = model;
// Resolves once every question is answered and none follows.
window.settled = async () => {
  lastAnswer = performance.now();
  while (unanswered || performance.now() - lastAnswer < QUIET_MILLIS) {
    await new Promise(requestAnimationFrame);
  }
};
document.body.className = wanted.get("theme") ?? "light";
const place = document.querySelector("#place");
place.style.width = `${wanted.get("width") ?? 1100}px`;
const { default: widget } = await import(`./${wanted.get("widget")}.js`);
window.close_ = widget.render({ model, el: place });
