// What the WASI bench calls in a page. Tarballs are fetched into memory before anything is timed, unless they are to come from
// the registry.
const at = (path) => new URL(path, location.href).href;
const text = async (path) => (await fetch(at(`project/${path}`))).text();

/** Bytes of each tarball by its path in the project. */
async function fetchTarballs(folder, tarballs) {
  const fetched = tarballs.map(async (file) => {
    const path = `${folder}/${file}`;
    const answer = await fetch(at(`project/${path}`));
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return [path, new Uint8Array(await answer.arrayBuffer())];
  });
  return Object.fromEntries(await Promise.all(fetched));
}

globalThis.bench = {
  /** How many entries the origin's private file system has. */
  async stored() {
    let count = 0;
    for await (const _ of (await navigator.storage.getDirectory()).keys()) count += 1;
    return count;
  },

  /** Installs by `gantry.wasm` under the shim, in a worker. */
  async shim({ words, roomy, folder, tarballs }) {
    const files = {
      'package.json': new TextEncoder().encode(await text('package.json')),
      'package-lock.json': new TextEncoder().encode(await text('files.json')),
      ...(await fetchTarballs(folder, tarballs)),
    };
    const worker = new Worker(at('wasi-worker.js'), { type: 'module' });
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.problem ? reject(new Error(data.problem)) : resolve(data));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ files, words, roomy });
    });
  },

  /** Installs by the package, in OPFS. */
  async package({ source, registry, folder, tarballs }) {
    const packageJson = await text('package.json');
    const lockfile = await text(`${source}.json`);
    const files = source === 'files' ? await fetchTarballs(folder, tarballs) : undefined;
    const { Gantry } = await import(at('package/dist/index.js'));
    const opening = performance.now();
    const gantry = await Gantry.open({ registry });
    const begun = performance.now();
    let elapsed = 0;
    const onEvent = (event) => {
      if (event.type === 'done') elapsed = event.elapsed;
    };
    const project = await gantry.install({ packageJson, lockfile, frozen: true, files, onEvent });
    const ended = performance.now();
    const { packages, files: count, reused, requests } = project;
    const result = { packages, files: count, reused, requests, method: 'packs in OPFS' };
    const digest = await project.treeDigest();
    await gantry.close();
    const seconds = (from, to) => (to - from) / 1000;
    return { wall: seconds(begun, ended), before: seconds(opening, begun), install: elapsed / 1000, digest, result };
  },
};
