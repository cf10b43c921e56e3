// What a tab of the random test does (support/random/tab.ts). `tab.run` does one thing and says what came of it, as data.
import { Gantry } from '/package/dist/index.js';
import { archives } from './random-archives.js';
import { readers } from './random-readers.js';
import { keep, readFrom, reads } from './random-reads.js';

/** The workers of the store by their names, the last of each. */
const workers = new Map();
const BrowserWorker = globalThis.Worker;
globalThis.Worker = class extends BrowserWorker {
  constructor(url, options) {
    super(url, options);
    workers.set(options?.name, this);
  }
};

/** Bytes before the first package. */
const PACK_HEADER = 16;

let gantry;

const storeFolder = async () => {
  const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
  return stores.getDirectoryHandle('gantry');
};

async function stateOf(name) {
  try {
    const project = await gantry.project(name);
    // Removed meanwhile.
    if (!project) return undefined;
    const { lockfile } = project;
    return await project.treeDigest().then(
      (digest) => ({ lockfile, digest }),
      ({ code, message }) => ({ lockfile, code, message }),
    );
  } catch ({ code, message }) {
    return { code, message };
  }
}

const actions = {
  ...reads,
  ...archives,
  ...readers,
  async open({ registry, storage, workers }) {
    const patience = { fetchRetries: 1, fetchRetryMintimeout: 20, fetchTimeout: 4000 };
    gantry = await Gantry.open({ registry, storage, workers, ...patience });
    readFrom(gantry);
  },
  close: () => gantry.close(),
  async install(parameters, signal) {
    const project = await gantry.install({ ...parameters, signal });
    keep(project);
    const { lockfile, packageJson, packages, reused, changes } = project;
    return { lockfile, packageJson, packages, reused, changes };
  },
  async state() {
    const found = {};
    for (const name of await gantry.projects()) found[name] = await stateOf(name);
    return found;
  },
  projects: () => gantry.projects(),
  usage: () => gantry.usage(),
  verify: (_, signal) => gantry.verify({ signal }),
  prune: (_, signal) => gantry.prune({ signal }),
  clear: (_, signal) => gantry.clear({ signal }),
  removeProject: ({ project }, signal) => gantry.removeProject(project, { signal }),
  removeStore: () => Gantry.remove({ timeout: 5000 }),
  explain: async ({ project, packageJson }, signal) => (await gantry.explain({ project, packageJson, signal })).length,
  endWorker({ name }) {
    const worker = workers.get(name);
    worker?.terminate();
    return worker !== undefined;
  },
  files: async () => Array.fromAsync((await storeFolder()).keys()),
  /** Changes a byte of one of the packs, which nobody has open. */
  async damage({ at }) {
    const folder = await storeFolder();
    const packs = (await Array.fromAsync(folder.keys())).filter((name) => /^pack-\d+$/.test(name)).sort();
    const pack = packs[Math.floor(at * packs.length)];
    if (!pack) return undefined;
    const handle = await folder.getFileHandle(pack);
    const file = await handle.getFile();
    if (file.size <= PACK_HEADER) return undefined;
    const position = PACK_HEADER + Math.floor(((at * 1009) % 1) * (file.size - PACK_HEADER));
    const [byte] = new Uint8Array(await file.slice(position, position + 1).arrayBuffer());
    const stream = await handle.createWritable({ keepExistingData: true });
    await stream.write({ type: 'write', position, data: new Uint8Array([byte ^ 0x5a]) });
    await stream.close();
    return `${pack} at ${position}`;
  },
};

globalThis.tab = {
  async run(action, argument = {}, abortAfter) {
    const abort = new AbortController();
    if (abortAfter !== undefined) setTimeout(() => abort.abort(), abortAfter);
    try {
      return { result: await actions[action](argument, abort.signal) };
    } catch (error) {
      // What looks at what it read throws errors without a code.
      const isCoded = typeof error.code === 'string';
      const code = isCoded ? error.code : error.name;
      return { code, message: `${isCoded ? error.message : error.stack}`, isAborted: abort.signal.aborted };
    }
  },
};
