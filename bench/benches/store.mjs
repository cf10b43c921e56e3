// The store in Chromium: storing a project's files in packs and as OPFS files, opening a journal, reading, and installing
// again what is stored. Everything through the page's API or the module that it loads; OPFS files by the page's own means.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gantryModuleDigest } from '../lib/browser/pages.mjs';
import { say } from '../lib/paths.mjs';
import { providePrograms } from '../lib/programs.mjs';
import { projectManifest, recordingStamp } from '../lib/record.mjs';
import { Registry } from '../lib/registry.mjs';
import { StorePage, startShapeRegistry } from '../lib/store/browser.mjs';
import { storeReport } from '../lib/store/report.mjs';
import { beginStudy, inTurn } from '../lib/study.mjs';
import { Workspace } from '../lib/workspace.mjs';

/** Packages in the journals that are opened. */
const JOURNALS = [0, 100, 500, 1500];
/** The same once more, with the documents of its packages removed: what opening them costs is the difference. */
const BARE = `bare-${JOURNALS.at(-1)}`;
/** Files of each of those packages. */
const FILES = 20;
/** Reads of about this size. */
const READ = { low: 3000, high: 5200, count: 300 };

/** Ways of storing the same contents. */
const ways = [
  { name: 'one pack, appended', way: 'pack', workers: 1, inFlight: 1 },
  { name: 'OPFS files, one at a time', way: 'files', workers: 1, inFlight: 1 },
  { name: 'OPFS files, 32 in flight', way: 'files', workers: 1, inFlight: 32 },
  { name: 'OPFS files, 4 workers × 32', way: 'files', workers: 4, inFlight: 32 },
];
const reads = [
  'gantry, one by one',
  'gantry, pipelined',
  'gantry, readMany',
  'gantry/read, one by one',
  'gantry/read, pipelined',
  'gantry in a worker, readFileSync',
  'gantry in a worker, readFileSync of text',
  'gantry in a worker, promises one by one',
  'files, one by one',
  'files, pipelined',
];

/** @param {Record<string, any>} options */
export async function main(options) {
  const stamp = recordingStamp();
  if (!stamp) throw new Error('the recording is missing or of other projects: npm run bench -- record');
  const { 'shape-registry': program, 'mirror-opening': mirrorProgram } = await providePrograms();
  const projects = options.projects?.split(',') ?? ['vite-react', 'next15', 'cra5'];
  const workspace = Workspace.create(options.fs);
  const registry = await Registry.start();
  const shapes = await startShapeRegistry(program, Math.max(...JOURNALS));
  let page;
  try {
    page = await StorePage.start(workspace);
    const own = {
      module: gantryModuleDigest(),
      browser: page.version,
      profile: workspace.fileSystem,
      recording: stamp,
      stored: { project: projects[0] },
      journals: JOURNALS.map((packages) => ({ packages, files: packages * FILES })),
      projects: {},
      rows: [],
    };
    const { result, save, done } = beginStudy('store', options, own, storeReport);
    const study = new Study({ page, registry, shapes, result });
    study.mirror(mirrorProgram, join(workspace.folderFor('mirror'), 'store'));
    await study.prepareJournals();
    for (const project of projects) await study.prepareProject(project);
    for (let round = -1; round < result.rounds; round++) {
      say('store', round < 0 ? 'warming up' : `round ${round + 1} of ${result.rounds}`);
      await study.journals(round);
      await study.reinstalls(projects, round);
      await study.storing(projects[0], round);
      if (round >= 0) save();
    }
    done();
  } finally {
    await page?.close();
    await shapes.close();
    await registry.close();
    workspace.remove();
  }
}

class Study {
  constructor({ page, registry, shapes, result }) {
    Object.assign(this, { page, registry, shapes, result });
  }

  /** Keeps a sample; the round before the first is not measured. */
  #keep(kind, name, size, round, seconds) {
    if (round < 0) return;
    const { rows } = this.result;
    let row = rows.find((other) => other.kind === kind && other.name === name && other.size === size);
    if (!row) {
      row = { kind, name, size, samples: [] };
      rows.push(row);
    }
    row.samples[round] = seconds;
  }

  /** Stores with so many packages, for opening. */
  async prepareJournals() {
    const { page, shapes } = this;
    for (const [store, packages] of [...JOURNALS.map((size) => [`journal-${size}`, size]), [BARE, JOURNALS.at(-1)]]) {
      say('store', `a store of ${packages} packages`);
      const dependencies = Object.fromEntries(Object.entries(shapes.manifest.dependencies).slice(0, packages));
      const manifest = JSON.stringify({ ...shapes.manifest, dependencies });
      await page.call('open', { registry: shapes.url, store });
      if (packages > 0) {
        const { files } = await page.call('install', { name: 'stored', manifest });
        if (files !== packages * FILES)
          throw new Error(`${files} files stored of ${packages} packages with ${FILES} each`);
      }
      await page.call('close');
      if (store === BARE) await page.call('forgetDocuments', store);
    }
  }

  /** Opening a mirror of documents natively, with nothing around it. @param {string} program @param {string} folder */
  mirror(program, folder) {
    const documents = JOURNALS.at(-1);
    const words = ['--folder', folder, '--documents', String(documents), '--rounds', '21'];
    const { opened, lookedUp, bytes } = JSON.parse(execFileSync(program, words, { encoding: 'utf8' }));
    const seconds = (milliseconds) => milliseconds.slice(1).map((each) => each / 1000);
    this.result.mirror = { documents, bytes, opened: seconds(opened), lookedUp: seconds(lookedUp) };
  }

  /** A recorded project in a store of its own, and its lock. */
  async prepareProject(project) {
    const { page, registry, result } = this;
    say('store', `${project}: installing`);
    const manifest = projectManifest(project);
    await page.call('open', { registry: registry.url, store: `project-${project}` });
    const { packages, files, lockfile } = await page.call('install', { name: project, manifest });
    if (project === result.stored.project) Object.assign(result.stored, await page.call('takeFiles'), { packages });
    await page.call('close');
    result.projects[project] = { packages, files };
    this.locks = { ...this.locks, [project]: lockfile };
  }

  async journals(round) {
    const { page, shapes } = this;
    await page.reload();
    const bare = await page.call('openJournal', { registry: shapes.url, store: BARE });
    this.#keep('open', 'the same without documents, first time', JOURNALS.at(-1), round, bare.first.open);
    this.#keep('open', 'the same without documents, again', JOURNALS.at(-1), round, bare.second.open);
    for (const packages of inTurn(JOURNALS, Math.max(round, 0))) {
      const options = { registry: shapes.url, store: `journal-${packages}` };
      await page.reload();
      this.#keep('open', 'page: workers, module and journal', packages, round, await page.call('open', options));
      if (packages > 0) {
        this.#keep('open', 'page: a project found again', packages, round, await page.call('reopen', 'stored'));
      }
      await page.call('close');
      const project = packages > 0 ? 'stored' : undefined;
      const { first, second } = await page.call('openJournal', { ...options, project });
      this.#keep('open', 'journal alone, first time', packages, round, first.open);
      this.#keep('open', 'journal alone, again', packages, round, second.open);
      if (packages > 0) this.#keep('open', 'a project found again, again', packages, round, second.project);
    }
  }

  /** In a reloaded page, with everything stored. */
  async reinstalls(projects, round) {
    const { page, registry } = this;
    for (const project of inTurn(projects, Math.max(round, 0))) {
      const manifest = projectManifest(project);
      const size = this.result.projects[project].packages;
      const options = { registry: registry.url, store: `project-${project}` };
      for (const [name, lock] of [
        ['with its own last lock', undefined],
        ['from a lock, frozen', this.locks[project]],
      ]) {
        await page.reload();
        await registry.reset();
        await page.call('open', options);
        const { seconds, requests } = await page.call('install', { name: project, manifest, lock });
        const { requests: seen } = await registry.counts();
        if (requests > 0 || seen > 0)
          throw new Error(`${project} was not all stored: ${Math.max(requests, seen)} requests`);
        this.#keep('reinstall', name, size, round, seconds);
        await page.call('close');
      }
    }
  }

  /** The same contents in packs and as files, then reading both. */
  async storing(project, round) {
    const { page, registry, result } = this;
    const manifest = projectManifest(project);
    const { files: size } = result.stored;
    const lock = this.locks[project];
    await page.reload();
    // Contents from the store that has them.
    await page.call('open', { registry: registry.url, store: `project-${project}` });
    await page.call('reopen', project);
    await page.call('takeFiles');
    const paths = await page.call('pick', READ);
    result.stored.reads = paths.length;
    await page.call('close');

    const whole = async () => {
      await page.call('open', { registry: registry.url, store: `round-${round + 1}` });
      const { seconds, reused } = await page.call('install', { name: project, manifest, lock });
      if (reused > 0) throw new Error(`${reused} packages were stored before`);
      this.#keep('write', 'gantry, whole install from the lock', size, round, seconds);
      this.#keep('remove', 'gantry, the whole store', size, round, await page.call('clear'));
      await page.call('close');
    };
    const written = (way) => async () => {
      const folder = folderOf(way);
      this.#keep('write', way.name, size, round, await page.call('write', { ...way, folder }));
    };
    for (const step of inTurn([whole, ...ways.map(written)], Math.max(round, 0))) await step();

    await page.call('open', { registry: registry.url, store: `project-${project}` });
    await page.call('reopen', project);
    for (const name of inTurn(reads, Math.max(round, 0))) {
      const seconds = await page.call('read', { way: name, paths, folder: folderOf(ways.at(-1)) });
      this.#keep('read', name, paths.length, round, seconds);
    }
    await page.call('close');
    for (const way of ways) {
      const seconds = await page.call('remove', folderOf(way));
      this.#keep('remove', way.name, size, round, seconds);
    }
  }
}

const folderOf = ({ way, workers, inFlight }) => `bench-${way}-${workers}-${inFlight}`;
