// npm-in-browser in a worker, as its documentation advises.
/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ registry, project }) {
  const worker = new Worker(new URL('./npm-in-browser-worker.js', import.meta.url), { type: 'module' });
  const pending = new Map();
  let calls = 0;
  const call = (method, ...words) =>
    new Promise((resolve, reject) => {
      pending.set(++calls, { resolve, reject });
      worker.postMessage({ call: calls, method, words });
    });
  worker.addEventListener('message', ({ data }) => {
    const { resolve, reject } = pending.get(data.call);
    pending.delete(data.call);
    if (data.failure === undefined) resolve(data.result);
    else reject(new Error(data.failure));
  });
  worker.addEventListener('error', ({ message }) => {
    for (const { reject } of pending.values()) reject(new Error(message));
  });
  await call('open', registry, project);
  return {
    install: (task) => call('install', task),
    readdir: (path) => call('readdir', path),
    readFile: (path) => call('readFile', path),
  };
}
