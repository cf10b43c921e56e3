// What the bench calls in a page: start an installer, install, look at the result. The page says which installer by the
// module beside it (`./tool.js`); nothing is loaded before `start`, so that the page can first be shown to be empty.

/**
 * What an installer is asked to do. `lock` is the text of npm's lock, `foreseen` of the one that will come out, for what is
 * no installer; `added` is the dependency that the manifest has more than at the last install.
 * @typedef {{ manifest: string, lock?: string, foreseen?: string, added?: { name: string, range: string } }} Task
 */
/**
 * An installer behind one face. Paths are relative to the project's folder.
 * @typedef {object} Installer
 * @property {(task: Task) => Promise<void>} install
 * @property {(path: string) => Promise<{ name: string, directory: boolean }[]>} [readdir]
 * @property {(path: string) => Promise<Uint8Array>} [readFile]
 */
/** `project`: its name, unless it is the first of its page's origin. @typedef {{ registry: string, workers: number, project?: string }} Settings */

/** Reads under way at once while a tree is looked at. */
const READS = 16;

/** Milliseconds of every main-thread task over 50 ms since the last `take`. */
class LongTasks {
  /** @type {number[]} */ #durations = [];
  /** @type {PerformanceObserver | undefined} */ #observer;

  constructor() {
    if (!PerformanceObserver.supportedEntryTypes.includes('longtask')) return;
    this.#observer = new PerformanceObserver((list) => this.#keep(list.getEntries()));
    this.#observer.observe({ type: 'longtask' });
  }

  #keep(entries) {
    this.#durations.push(...entries.map((entry) => entry.duration));
  }

  /** The longest; 0 if none, `undefined` where the browser cannot tell. */
  take() {
    if (!this.#observer) return undefined;
    this.#keep(this.#observer.takeRecords());
    return Math.max(0, ...this.#durations.splice(0));
  }
}

const longTasks = new LongTasks();
/** @type {Installer | undefined} */
let installer;

/** What this origin has stored, in names. */
async function stored() {
  const names = [];
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) names.push(`OPFS ${name}`);
  for (const { name } of await indexedDB.databases()) names.push(`IndexedDB ${name}`);
  for (const name of await caches.keys()) names.push(`Cache ${name}`);
  for (const { scope } of await navigator.serviceWorker.getRegistrations()) names.push(`service worker ${scope}`);
  if (localStorage.length > 0) names.push('localStorage');
  const { usage = 0 } = await navigator.storage.estimate();
  return { names, usage };
}

/** Loads the installer and waits until it takes calls. Milliseconds. @param {Settings} settings */
async function start(settings) {
  const begun = performance.now();
  const tool = await import(new URL('tool.js', location.href).href);
  installer = await tool.open(settings);
  return performance.now() - begun;
}

/** @returns {Installer} */
function started() {
  if (!installer) throw new Error('the installer has not been started');
  return installer;
}

/** @param {Task} task */
async function install(task) {
  const tool = started();
  await nextTask();
  longTasks.take();
  const begun = performance.now();
  await tool.install(task);
  const wall = performance.now() - begun;
  // A task is reported after its end, so the one that noticed the end of the install is still to come.
  await nextTask();
  await nextTask();
  return { wall, longestTask: longTasks.take() };
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** Every package folder of the tree, as its own package.json says. */
async function packages() {
  const { readdir, readFile } = reading();
  const found = [];
  const decoder = new TextDecoder();
  const folders = async (path) => {
    const entries = await readdir(path).catch(() => []);
    return entries.filter((entry) => entry.directory && !entry.name.startsWith('.')).map(({ name }) => name);
  };
  const below = async (modules) => {
    const names = await folders(modules);
    const nested = await inTurns(names, async (name) =>
      name.startsWith('@') ? (await folders(`${modules}/${name}`)).map((own) => `${name}/${own}`) : [name],
    );
    const deeper = await inTurns(nested.flat(), (name) => take(`${modules}/${name}`));
    return deeper.flat();
  };
  const take = async (path) => {
    const text = await readFile(`${path}/package.json`).catch(() => undefined);
    if (!text) return [];
    const { name, version } = JSON.parse(decoder.decode(text));
    found.push({ path, name, version });
    return [`${path}/node_modules`];
  };
  for (let level = ['node_modules']; level.length > 0; ) level = (await inTurns(level, below)).flat();
  return found;
}

/** SHA-1 of files in hexadecimal; `null` where one cannot be read. @param {string[]} paths */
function digests(paths) {
  const { readFile } = reading();
  return inTurns(paths, async (path) => {
    const bytes = await readFile(path).catch(() => undefined);
    if (!bytes) return null;
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-1', new Uint8Array(bytes)));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  });
}

function reading() {
  const { readdir, readFile } = started();
  if (!readdir || !readFile) throw new Error('this installer keeps no files');
  return { readdir, readFile };
}

/** @template T, R @param {T[]} items @param {(item: T) => Promise<R>} work @returns {Promise<R[]>} */
async function inTurns(items, work) {
  const results = new Array(items.length);
  let next = 0;
  const turn = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]);
    }
  };
  await Promise.all(Array.from({ length: READS }, turn));
  return results;
}

/** For the bench: failures as text, since an error's own fields are lost on the way. */
const told = (work) => async (argument) => {
  try {
    return { result: await work(argument) };
  } catch (error) {
    const code = typeof error?.code === 'string' ? `${error.code}: ` : '';
    return { failure: `${code}${error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error))}` };
  }
};

globalThis.bench = {
  stored: told(stored),
  start: told(start),
  install: told(install),
  packages: told(packages),
  digests: told(digests),
};
