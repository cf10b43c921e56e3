// Passes commands of the bench on to the worker.
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
const waiting = new Map();
let next = 0;

worker.onmessage = ({ data }) => {
  waiting.get(data.id)?.(data.answer);
  waiting.delete(data.id);
};
worker.onerror = (event) => {
  for (const settle of waiting.values()) settle({ error: `the worker failed: ${event.message}` });
  waiting.clear();
};

globalThis.ask = (message) =>
  new Promise((settle) => {
    const id = next++;
    waiting.set(id, settle);
    worker.postMessage({ id, ...message });
  });
