// What a page of the kill matrix does (support/kill-matrix.ts): a scenario that changes a store in every way, and a look
// at what is left of it. The page's functions are those of `globalThis.matrix`; `tell` leads to the test.
import { Gantry } from '/package/dist/index.js';

const STORE = 'killed';
const DEPENDENCIES = {
  kept: { cors: '^2.8.0', picocolors: '^1.1.1' },
  aside: { zod: '^4.6.0' },
  first: { cors: '^2.8.0', express: '^5.3.0', zod: '^4.6.0', '@types/express': '^5.0.0' },
  // Removes some, keeps most and adds others.
  second: { express: '^5.3.0', lodash: '^4.18.0', react: '^19.3.0', 'react-dom': '^19.3.0' },
};

/** The workers that the scenario has started, by name. */
const workers = new Map();
let isWorking = false;
const BrowserWorker = globalThis.Worker;
globalThis.Worker = class extends BrowserWorker {
  constructor(url, options) {
    super(url, options);
    workers.set(options.name, this);
  }
};

const open = (registry, store = STORE) => Gantry.open({ registry, store, workers: 2, timeout: 30_000 });

function install(gantry, project, dependencies, onEvent) {
  const packageJson = { name: project, version: '1.0.0', dependencies: DEPENDENCIES[dependencies] };
  return gantry.install({ project, packageJson, lockfile: null, ...(onEvent && { onEvent }) });
}

/** The digest of a project, `undefined` where there is none, or why it cannot be had. */
async function digestOf(gantry, name) {
  try {
    return await (await gantry.project(name))?.treeDigest();
  } catch (error) {
    return `${error.code}: ${error.message}`;
  }
}

globalThis.matrix = {
  /** What every project is when nothing goes wrong, in a store of its own. */
  async undisturbed(registry) {
    const gantry = await open(registry, 'undisturbed');
    const digests = {};
    for (const name of Object.keys(DEPENDENCIES)) {
      const project = name === 'first' || name === 'second' ? 'main' : name;
      digests[name] = await (await install(gantry, project, name)).treeDigest();
    }
    await gantry.clear();
    await gantry.close();
    return digests;
  },

  /** The store as every scenario finds it. */
  async prepare(registry) {
    const gantry = await open(registry);
    await gantry.clear();
    await install(gantry, 'kept', 'kept');
    await install(gantry, 'aside', 'aside');
    await gantry.close();
  },

  /** Changes the store in every way, tells where it is, and, each time it is told so by the package, what is done. */
  async work(registry) {
    workers.clear();
    isWorking = true;
    let gantry;
    try {
      await tell({ stage: 'opening' });
      gantry = await open(registry);
      for (const name of ['first', 'second']) {
        await tell({ stage: `${name} install: resolve` });
        const onEvent = ({ type, phase }) => {
          if (type === 'phase') tell({ stage: `${name} install: ${phase}` });
        };
        await install(gantry, 'main', name, onEvent);
        await tell({ reported: name });
      }
      await tell({ stage: 'removing a project' });
      await gantry.removeProject('aside');
      await tell({ reported: 'removed' });
      await tell({ stage: 'pruning' });
      await gantry.prune();
      await tell({ stage: 'closing' });
      await gantry.close();
      await tell({ stage: 'after the end' });
      return undefined;
    } catch (error) {
      return `${error.code}: ${error.message}`;
    } finally {
      isWorking = false;
      await gantry?.close();
    }
  },

  /** What is there now, before anything is installed; and after the next install. */
  async look(registry) {
    await tell({ stage: 'looking: opening' });
    const gantry = await open(registry);
    await tell({ stage: 'looking: reading' });
    const found = {};
    for (const name of ['kept', 'aside', 'main']) found[name] = await digestOf(gantry, name);
    await tell({ stage: 'looking: verifying' });
    const { damaged, projects: broken } = await gantry.verify();
    await tell({ stage: 'looking: installing' });
    const { packages, reused } = await install(gantry, 'main', 'second');
    await tell({ stage: 'looking: pruning' });
    await gantry.prune();
    await tell({ stage: 'looking: reading again' });
    const after = { kept: await digestOf(gantry, 'kept'), main: await digestOf(gantry, 'main') };
    const verified = await gantry.verify();
    await gantry.close();
    return { found, damaged: [...damaged, ...verified.damaged], broken, missing: packages - reused, after };
  },

  /**
   * End a worker as the page does, as soon as it lives: a worker that never came to life cannot be missed. Does nothing once
   * the scenario has ended.
   */
  async end(name) {
    const kind = name === 'gantry' ? 'coordinator' : 'unpack';
    const lives = async () => {
      const { held } = await navigator.locks.query();
      const started = [...workers.keys()].filter((other) => (other === 'gantry') === (name === 'gantry'));
      const alive = held.filter((lock) => lock.name.startsWith(`gantry-alive:${kind}:`));
      return workers.has(name) && alive.length >= started.length;
    };
    while (isWorking && !(await lives())) await new Promise((resume) => setTimeout(resume, 5));
    if (isWorking) workers.get(name).terminate();
  },
};
