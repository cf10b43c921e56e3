// What the store bench calls in a page. Everything is timed here; whoever calls decides on rounds and their order.
import { removeFrom } from './remove-from.js';

const { Gantry } = await import(new URL('package/dist/index.js', location.href).href);

/** @type {import('gantry').Gantry | undefined} */
let gantry;
/** @type {import('gantry').Project | undefined} */
let project;
/** Contents of the project's files. @type {{ path: string, bytes: Uint8Array }[]} */
let files = [];

/** Files read in one call while contents are taken out. */
const BATCH = 500;

async function timed(work) {
  const begun = performance.now();
  const result = await work();
  return { seconds: (performance.now() - begun) / 1000, result };
}

/** A worker that is given a task, says when it has it, and begins when told. */
class Helper {
  #worker = new Worker(new URL('store-worker.js', location.href), { type: 'module' });
  #ready;

  constructor(task) {
    this.#ready = this.#answer();
    this.#worker.postMessage(task);
  }

  #answer() {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => (data.failure ? reject(new Error(data.failure)) : resolve(data));
      this.#worker.onerror = ({ message }) => reject(new Error(message));
    });
  }

  ready() {
    return this.#ready;
  }

  run() {
    const answer = this.#answer();
    this.#worker.postMessage('go');
    return answer.finally(() => this.#worker.terminate());
  }
}

async function inWorkers(tasks) {
  const helpers = tasks.map((task) => new Helper(task));
  await Promise.all(helpers.map((helper) => helper.ready()));
  return Promise.all(helpers.map((helper) => helper.run()));
}

async function walk(folder, paths) {
  for (const entry of await project.fs.readdir(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) await walk(path, paths);
    else if (entry.isFile()) paths.push(path);
  }
  return paths;
}

const bench = {
  /** Opens a store, all workers started anew. @param {{ registry: string, store: string }} options */
  async open(options) {
    const { seconds, result } = await timed(() => Gantry.open(options));
    gantry = result;
    return seconds;
  },

  async close() {
    await gantry?.close();
    gantry = undefined;
    project = undefined;
  },

  /** Removes what a store keeps of documents, which nobody may have open. @param {string} store */
  async forgetDocuments(store) {
    const origin = await navigator.storage.getDirectory();
    const folder = await (await origin.getDirectoryHandle('gantry')).getDirectoryHandle(store);
    const names = await Array.fromAsync(folder.keys());
    for (const name of names.filter((each) => each.startsWith('metadata-'))) await removeFrom(folder, name);
  },

  clear: async () => (await timed(() => gantry.clear())).seconds,

  /** Installs under its own name. @param {{ name: string, manifest: string, lock?: string }} task */
  async install({ name, manifest, lock }) {
    const how = { project: name, packageJson: manifest, ...(lock && { lockfile: lock, frozen: true }) };
    const { seconds, result } = await timed(() => gantry.install(how));
    project = result;
    const { packages, files: count, requests, reused, lockfile } = result;
    return { seconds, packages, files: count, requests, reused, lockfile };
  },

  /** Finds a project again. @param {string} name */
  async reopen(name) {
    const { seconds, result } = await timed(() => gantry.project(name));
    project = result;
    return seconds;
  },

  /** Opens the journal alone, with the module that the product loads; a worker that has done it before.
   * @param {{ registry: string, store: string, project?: string }} options */
  openJournal: async (options) => (await inWorkers([{ kind: 'open', options }]))[0],

  /** Takes the project's files out of the store, as the contents for what follows. */
  async takeFiles() {
    const paths = await walk('node_modules', []);
    files = [];
    for (let at = 0; at < paths.length; at += BATCH) {
      const batch = paths.slice(at, at + BATCH);
      const contents = await project.fs.readMany(batch);
      files.push(...batch.map((path, index) => ({ path, bytes: contents[index] })));
    }
    return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0) };
  },

  /** Writes the same contents: `files`, one OPFS file each, by so many workers with so many under way each, or `pack`, one
   * after the other into one file. @param {{ way: 'files' | 'pack', folder: string, workers: number, inFlight: number }} options */
  async write({ way, folder, workers, inFlight }) {
    const parts = Array.from({ length: workers }, () => []);
    // Whole folders to each worker, in turn.
    const folders = new Map();
    for (const file of files) {
      const key = file.path.slice(0, file.path.lastIndexOf('/'));
      if (!folders.has(key)) folders.set(key, folders.size % workers);
      parts[folders.get(key)].push(file);
    }
    const answers = await inWorkers(parts.map((part) => ({ kind: way, folder, inFlight, files: part })));
    const begun = Math.min(...answers.map((answer) => answer.begun));
    return (Math.max(...answers.map((answer) => answer.ended)) - begun) / 1000;
  },

  /** Removes what `write` wrote. @param {string} folder */
  async remove(folder) {
    const root = await navigator.storage.getDirectory();
    return (await timed(() => root.removeEntry(folder, { recursive: true }))).seconds;
  },

  /** Files of about this many bytes, evenly taken from all. @param {{ low: number, high: number, count: number }} options */
  pick({ low, high, count }) {
    const fit = files.filter(({ bytes }) => bytes.length >= low && bytes.length <= high).map(({ path }) => path);
    const share = (index) => Math.floor((index * count) / fit.length);
    return fit.filter((_, index) => count >= fit.length || share(index) !== share(index - 1));
  },

  /** Seconds for each read. @param {{ way: string, paths: string[], folder: string }} options */
  async read({ way, paths, folder }) {
    if (way.startsWith('gantry in a worker')) {
      const [answer] = await inWorkers([{ kind: 'reader', store: gantry.store, project: project.name, way, paths }]);
      return answer.seconds;
    }
    const { one, end = () => {} } = await readerOf(way, folder);
    const { seconds } = await timed(async () => {
      if (way === 'gantry, readMany') await project.fs.readMany(paths);
      else if (way.endsWith('one by one')) for (const path of paths) await one(path);
      else await Promise.all(paths.map(one));
    });
    end();
    return seconds / paths.length;
  },
};

/** What reads one file, and what is to be called afterwards. @param {string} way @param {string} folder */
async function readerOf(way, folder) {
  if (way.startsWith('files')) return { one: await opfsReader(folder) };
  if (!way.startsWith('gantry/read')) return { one: (path) => project.fs.readFile(path) };
  const { openProject } = await import(new URL('package/dist/read.js', location.href).href);
  const own = await openProject({ store: gantry.store, project: project.name });
  // Opens the store's files.
  await own.fs.stat('/');
  return { one: (path) => own.fs.readFile(path), end: () => own.close() };
}

/** Reads an OPFS file by its path, as one who has real files does. @param {string} folder */
async function opfsReader(folder) {
  const root = await navigator.storage.getDirectory();
  const top = await root.getDirectoryHandle(folder);
  return async (path) => {
    const names = path.split('/');
    const name = names.pop();
    let at = top;
    for (const part of names) at = await at.getDirectoryHandle(part);
    const file = await (await at.getFileHandle(name)).getFile();
    return new Uint8Array(await file.arrayBuffer());
  };
}

Object.assign(globalThis, { bench });
