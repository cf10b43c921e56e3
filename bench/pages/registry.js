// What the registry bench calls in a page: fetch a list in a worker, resolve with Gantry.
import { removeFrom } from './remove-from.js';

const { Gantry } = await import(new URL('package/dist/index.js', location.href).href);

/** @type {import('gantry').Gantry | undefined} */
let gantry;

const bench = {
  /** Fetches a list with so many requests under way, in a worker of its own; seconds.
   * @param {{ list: { path: string, accept: string }[], registry: string, inFlight: number }} task */
  fetchList(task) {
    const worker = new Worker(new URL('fetch-list.js', location.href), { type: 'module' });
    return new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) =>
        data.failure ? reject(new Error(data.failure)) : resolve(data),
      );
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(task);
    }).finally(() => worker.terminate());
  },

  /** Opens the store, without the documents that it kept, against a registry. @param {string} registry */
  async open(registry) {
    await gantry?.close();
    await forgetDocuments();
    gantry = await Gantry.open({ registry });
  },

  /** Resolves a project anew and installs it; seconds. The phase is as long as its events say, which come at most a frame
   * late. @param {string} manifest */
  async resolve(manifest) {
    const phases = new Map();
    const onEvent = (event) => {
      if (event.type === 'phase' && !phases.has(event.phase)) phases.set(event.phase, performance.now());
    };
    const begun = performance.now();
    const project = await gantry.install({ packageJson: manifest, lockfile: null, lockFields: 'fast', onEvent });
    const whole = performance.now() - begun;
    const resolved = phases.get('fetch') - begun;
    return { wall: resolved / 1000, whole: whole / 1000, packages: project.packages, reused: project.reused };
  },
};
Object.assign(globalThis, { bench });

/** Removes what the store keeps of documents; its packages stay. */
async function forgetDocuments() {
  const origin = await navigator.storage.getDirectory();
  const all = await origin.getDirectoryHandle('gantry', { create: true });
  for await (const store of all.values()) {
    if (store.kind !== 'directory') continue;
    const names = await Array.fromAsync(store.keys());
    for (const name of names.filter((each) => each.startsWith('metadata-'))) await removeFrom(store, name);
  }
}
