// The phases, each with the preparation that makes it what it is called, and the proof of it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contents, expectOnly, wipeAll, wipeFromProject } from './workspace.mjs';

/** How old the run that warmed the caches may be in fresh phases: bun asks nobody for 300 s, npm neither. */
export const FRESH_SECONDS = 120;
/** How old it is at least in stale phases. */
export const STALE_SECONDS = 310;

/**
 * One tool on one project: its folders and what is in its caches.
 * @typedef {object} Subject
 * @property {import('./tools.mjs').Tool} tool
 * @property {string} project
 * @property {string} manifest
 * @property {import('./tools.mjs').Folders} folders
 * @property {import('./workspace.mjs').Workspace} workspace
 * @property {number} needed tarballs that npm needs for the project
 * @property {string} [lock] its own lock, once made
 * @property {{ mode: import('./tools.mjs').Mode, at: number }} [warm] the run that filled the caches
 * @property {Map<string, { at: number, restore: () => void }>} kept caches put away to age, by the phase they are for
 * @property {(mode: import('./tools.mjs').Mode) => Promise<void>} run an unmeasured run that must succeed
 */

/**
 * @typedef {object} Phase
 * @property {string} name
 * @property {string} what
 * @property {import('./tools.mjs').Mode} mode
 * @property {boolean} metadata whether documents must be asked for: a sample without requests was not cold
 * @property {boolean} tarballs whether tarballs must be asked for; if not, none may be
 * @property {(subject: Subject) => Promise<void>} prepare
 * @property {import('./tools.mjs').Mode} [agedFrom] the run that fills the caches long before, where they have to be old
 */

/** @type {Phase[]} */
export const phases = [
  {
    name: 'p0',
    what: 'nothing cached, no lock',
    mode: 'install',
    metadata: true,
    tarballs: true,
    prepare: async (subject) => startFromNothing(subject),
  },
  {
    name: 'p1',
    what: 'resolve only, nothing cached',
    mode: 'resolve',
    metadata: true,
    tarballs: false,
    prepare: async (subject) => startFromNothing(subject),
  },
  {
    name: 'p1w',
    what: `resolve only, metadata cached less than ${FRESH_SECONDS} s ago`,
    mode: 'resolve',
    metadata: false,
    tarballs: false,
    prepare: async (subject) => {
      await warm(subject, 'resolve', FRESH_SECONDS);
      keepOnly(subject, []);
    },
  },
  stale('p1w-stale', 'resolve', 'resolve only, metadata cached'),
  {
    name: 'p2',
    what: `no lock, everything cached less than ${FRESH_SECONDS} s ago`,
    mode: 'install',
    metadata: false,
    tarballs: false,
    prepare: async (subject) => {
      await warm(subject, 'install', FRESH_SECONDS);
      keepOnly(subject, []);
    },
  },
  stale('p2-stale', 'install', 'no lock, everything cached'),
  {
    name: 'p3',
    what: 'lock, nothing cached',
    mode: 'frozen',
    metadata: false,
    tarballs: true,
    prepare: async (subject) => {
      const lock = await ownLock(subject);
      startFromNothing(subject);
      writeFileSync(join(subject.folders.project, subject.tool.lock), lock);
      expectOnly(subject.folders.project, ['package.json', subject.tool.lock]);
    },
  },
  {
    name: 'p4',
    what: 'lock and warm store, no node_modules',
    mode: 'frozen',
    metadata: false,
    tarballs: false,
    prepare: async (subject) => {
      const lock = await ownLock(subject);
      await warm(subject, 'frozen', Number.POSITIVE_INFINITY);
      keepOnly(subject, []);
      writeFileSync(join(subject.folders.project, subject.tool.lock), lock);
    },
  },
];

/** A phase whose caches were put away to age. @param {string} name @param {import('./tools.mjs').Mode} mode
 * @param {string} what @returns {Phase} */
function stale(name, mode, what) {
  return {
    name,
    what: `${what} more than ${STALE_SECONDS} s ago`,
    mode,
    metadata: false,
    tarballs: false,
    agedFrom: mode,
    prepare: async (subject) => {
      const kept = subject.kept.get(name);
      const age = kept ? (Date.now() - kept.at) / 1000 : 0;
      if (!kept || age < STALE_SECONDS) throw new Error(`caches are ${age} s old`);
      // Before every sample: the one before may have renewed what it found.
      kept.restore();
      subject.warm = { mode, at: kept.at };
      keepOnly(subject, []);
    },
  };
}

/** What a phase is. @param {string} name */
export const whatIs = (name) => phases.find((phase) => phase.name === name)?.what ?? '';

/** One line that says what a sample starts from. @param {Subject} subject @param {Phase} phase */
export function proof({ tool, folders, project, warm: warmed }, phase) {
  const age = warmed ? `, caches filled by ${warmed.mode} ${((Date.now() - warmed.at) / 1000).toFixed(0)} s ago` : '';
  const parts = [`project: ${contents(folders.project)}`, `cache: ${contents(folders.cache)}`];
  return `${project} ${phase.name} ${tool.name}: ${parts.join('; ')}; HOME: ${contents(folders.home)}${age}`;
}

/** @param {Subject} subject */
function startFromNothing(subject) {
  const { workspace, folders, manifest } = subject;
  wipeAll(workspace, folders, manifest);
  subject.warm = undefined;
  expectOnly(folders.home, ['tmp']);
  expectOnly(folders.cache, []);
  expectOnly(folders.project, ['package.json']);
}

/** Leaves the manifest and these names in the project. @param {Subject} subject @param {string[]} names */
function keepOnly({ workspace, folders }, names) {
  const keep = ['package.json', ...names];
  wipeFromProject(workspace, folders, (name) => !keep.includes(name));
  expectOnly(folders.project, keep);
}

/** Fills the caches by a run of this kind from nothing, unless that was done lately.
 * @param {Subject} subject @param {import('./tools.mjs').Mode} mode @param {number} seconds */
async function warm(subject, mode, seconds) {
  const { warm: warmed, folders } = subject;
  if (warmed?.mode === mode && (Date.now() - warmed.at) / 1000 < seconds) return;
  const lock = mode === 'frozen' ? await ownLock(subject) : undefined;
  startFromNothing(subject);
  if (lock) writeFileSync(join(folders.project, subject.tool.lock), lock);
  await subject.run(mode);
  subject.warm = { mode, at: Date.now() };
}

/** Fills the caches for a stale phase and puts them away, with their times. @param {Subject} subject @param {Phase} phase */
export async function putAwayToAge(subject, { name, agedFrom }) {
  const { workspace, folders } = subject;
  subject.warm = undefined;
  await warm(subject, /** @type {import('./tools.mjs').Mode} */ (agedFrom), 0);
  const at = Date.now();
  const pairs = [folders.cache, folders.home].map((folder) => [folder, `${folder}-for-${name}`]);
  for (const [folder, kept] of pairs) renameSync(folder, kept);
  subject.warm = undefined;
  const restore = () => {
    for (const [folder, kept] of pairs) {
      workspace.moveAside(folder);
      workspace.copy(kept, folder);
    }
  };
  subject.kept.set(name, { at, restore });
}

/** The tool's own lock, made by its own resolution. @param {Subject} subject @returns {Promise<string>} */
async function ownLock(subject) {
  if (subject.lock === undefined) {
    startFromNothing(subject);
    await subject.run('install');
    subject.lock = readFileSync(join(subject.folders.project, subject.tool.lock), 'utf8');
    subject.warm = { mode: 'install', at: Date.now() };
  }
  return subject.lock;
}
