// The phases, each with the preparation that makes it what it is called, and the proof of it.
import { readFileSync, writeFileSync } from 'node:fs';
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
 * @property {() => void} [restoreAged] puts caches back that were kept to age
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
 * @property {boolean} [keepsStale]
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
  {
    name: 'p1w-stale',
    what: `resolve only, metadata cached more than ${STALE_SECONDS} s ago`,
    mode: 'resolve',
    metadata: false,
    tarballs: false,
    keepsStale: true,
    prepare: async (subject) => {
      // Also before a repeated sample: the one before may have renewed what it found.
      subject.restoreAged?.();
      const age = subject.warm ? (Date.now() - subject.warm.at) / 1000 : 0;
      if (subject.warm?.mode !== 'resolve' || age < STALE_SECONDS) throw new Error(`caches are ${age} s old`);
      keepOnly(subject, []);
    },
  },
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

/** Fills the caches for stale phases, whatever is in them now. @param {Subject} subject */
export async function warmForStale(subject) {
  subject.warm = undefined;
  await warm(subject, 'resolve', 0);
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
