// What each installer is told. Every tool gets a HOME and caches of its own, install scripts off, no minimum age of
// releases, no audit, and otherwise its own defaults. The reasons are in ../peers.md.
import { writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { gantryCommand } from './paths.mjs';
import { peerVersions, programs } from './peers.mjs';

/** What a run does: `resolve` writes the lock only, `install` starts without a lock, `frozen` obeys the lock.
 * @typedef {'resolve' | 'install' | 'frozen'} Mode */

/** The folders of one tool for one project.
 * @typedef {{ home: string, cache: string, project: string }} Folders */

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} lock file name of its lock
 * @property {string} version
 * @property {(mode: Mode, folders: Folders, registry: string) => string[]} command
 * @property {(folders: Folders, registry: string) => Record<string, string>} environment
 * @property {Record<string, string>} [files] further files of the project
 * @property {Slack[]} slack how much its requests may vary from run to run, phase by phase
 * @property {Record<string, number>} [mayFetch] most tarballs it may ask for in phases that need none
 * @property {boolean} [slow] measured in the first round only, unless the run is a full one
 * @property {string[]} [knownMisses] paths it asks for that no registry has
 */

/**
 * By which share of the learned counts a tool may differ in some phases, and why.
 * @typedef {{ phases: string[], requests: number, bytes: number, tarballs: number, why: string }} Slack
 */

/** Packages that bundle others are unpacked when they are resolved: only their tarballs tell what they bring. */
const BUNDLING = 5;

/** @type {Slack} */
const repeats = {
  phases: ['p0', 'p1', 'p1w', 'p1w-stale', 'p2', 'p2-stale'],
  requests: 0.005,
  bytes: 0.01,
  tarballs: 0,
  why: 'pnpm asks for one or two documents more or less from run to run',
};

/** @type {Slack} */
const guesses = {
  phases: ['p0', 'p2', 'p2-stale'],
  requests: 0.3,
  bytes: 2,
  tarballs: 0.7,
  why: 'Gantry fetches tarballs of versions that it guesses while it resolves; how many turn out not to be needed depends on the order of answers. They are counted and timed',
};

/** @type {Slack} */
const parts = {
  phases: ['p3'],
  requests: 0.2,
  bytes: 0.03,
  tarballs: 0.2,
  why: 'Gantry asks for large tarballs in parts where a connection is slow; how many depends on the pace at that moment, and a part begins before all that is on its way has come. Each part counts as a tarball',
};

/** Variables that every tool gets; nothing else of this process's environment is passed on.
 * @param {Folders} folders */
const common = ({ home }) => ({
  HOME: home,
  PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  LANG: 'C.UTF-8',
  TMPDIR: join(home, 'tmp'),
  NO_COLOR: '1',
});

/** What makes every tool trust a registry's certificate. @param {string} [certificate] file @returns {Record<string, string>} */
export const trusting = (certificate) =>
  certificate === undefined
    ? {}
    : {
        npm_config_cafile: certificate,
        pnpm_config_cafile: certificate,
        NODE_EXTRA_CA_CERTS: certificate,
        SSL_CERT_FILE: certificate,
      };

/** npm's own settings, which Gantry reads as well. @param {Folders} folders */
const npmSettings = (folders) => {
  const [user, global] = ['user-npmrc', 'global-npmrc'].map((name) => join(folders.home, name));
  for (const file of [user, global]) writeFileSync(file, '');
  return { npm_config_userconfig: user, npm_config_globalconfig: global };
};

/** @param {string} name @param {() => string} program @param {boolean} limited whether each connection has a limit @returns {Tool} */
const gantry = (name, program, limited) => ({
  name,
  lock: 'package-lock.json',
  version: '',
  slack: limited ? [guesses, parts] : [guesses],
  mayFetch: { p1: BUNDLING, p2: Number.POSITIVE_INFINITY, 'p2-stale': Number.POSITIVE_INFINITY },
  environment: (folders) => ({ ...common(folders), ...npmSettings(folders) }),
  command: (mode, { cache, project }, registry) => [
    program(),
    ...(mode === 'frozen' ? ['ci'] : ['install']),
    ...(mode === 'resolve' ? ['--lockfile-only'] : []),
    ...['--prefix', project, '--store-dir', cache, '--registry', registry, '--ignore-scripts'],
  ],
});

/** @returns {Tool} */
const bun = () => ({
  name: 'bun',
  lock: 'bun.lock',
  version: peerVersions().bun,
  slack: [],
  environment: (folders) => ({
    ...common(folders),
    BUN_INSTALL: join(folders.home, '.bun'),
    BUN_INSTALL_CACHE_DIR: folders.cache,
    DO_NOT_TRACK: '1',
  }),
  command: (mode, { cache }, registry) => [
    programs.bun(),
    'install',
    ...(mode === 'resolve' ? ['--lockfile-only'] : mode === 'frozen' ? ['--frozen-lockfile'] : []),
    ...['--registry', registry, '--cache-dir', cache, '--linker', 'hoisted'],
    ...['--ignore-scripts', '--no-progress', '--no-summary'],
  ],
});

/** @returns {Tool} */
const pnpm = () => ({
  name: 'pnpm',
  lock: 'pnpm-lock.yaml',
  version: peerVersions().pnpm,
  slack: [repeats],
  environment: (folders) => ({
    ...common(folders),
    ...Object.fromEntries(
      Object.entries({
        store_dir: join(folders.cache, 'store'),
        cache_dir: join(folders.cache, 'cache'),
        state_dir: join(folders.cache, 'state'),
        minimum_release_age: '0',
        update_notifier: 'false',
      }).flatMap(([name, value]) => ['pnpm', 'npm'].map((prefix) => [`${prefix}_config_${name}`, value])),
    ),
    PNPM_HOME: join(folders.home, 'pnpm'),
  }),
  command: (mode, _, registry) => [
    programs.pnpm(),
    'install',
    ...(mode === 'resolve' ? ['--lockfile-only'] : []),
    mode === 'frozen' ? '--frozen-lockfile' : '--no-frozen-lockfile',
    ...['--registry', registry, '--ignore-scripts', '--reporter=append-only'],
  ],
});

/** @returns {Tool} */
const utoo = () => ({
  name: 'utoo',
  lock: 'package-lock.json',
  version: peerVersions().utoo,
  slack: [],
  // It looks for a newer version of itself.
  knownMisses: ['/utoo/^1'],
  environment: common,
  command: (mode, { cache }, registry) => [
    programs.utoo(),
    ...(mode === 'resolve' ? ['deps'] : ['install', '--ignore-scripts']),
    ...['--registry', registry, '--cache-dir', cache],
  ],
});

/** @returns {Tool} */
const npm = () => ({
  name: 'npm',
  lock: 'package-lock.json',
  version: peerVersions().npm,
  slack: [],
  mayFetch: { p1: BUNDLING },
  slow: true,
  environment: (folders) => ({ ...common(folders), ...npmSettings(folders) }),
  command: (mode, { cache }, registry) => [
    process.execPath,
    programs.npm(),
    ...(mode === 'frozen' ? ['ci'] : ['install']),
    ...(mode === 'resolve' ? ['--package-lock-only'] : []),
    ...['--registry', registry, '--cache', cache, '--ignore-scripts'],
    ...['--no-audit', '--no-fund', '--no-update-notifier', '--no-progress', '--loglevel=error'],
  ],
});

/** Gantry, its copy under a second name for the null test, and the peers; in the order of the first round.
 * @param {{ copy: string, limited?: boolean }} options path of the copy of the binary; whether each connection has a limit
 * @returns {Tool[]} */
export function allTools({ copy, limited = false }) {
  const mine = gantry('gantry', gantryCommand, limited);
  return [mine, bun(), pnpm(), utoo(), npm(), gantry('gantry-again', () => copy, limited)];
}

/** What a result says about the tools. @param {Tool[]} tools */
export function settings(tools) {
  const folders = { home: '<home>', cache: '<cache>', project: '<project>' };
  return tools.map(({ name, version, lock, slack, knownMisses = [], command }) => ({
    name,
    version,
    lock,
    slack,
    knownMisses,
    commands: Object.fromEntries(
      /** @type {Mode[]} */ (['install', 'resolve', 'frozen']).map((mode) => {
        const words = command(mode, folders, '<registry>');
        return [mode, words.map((word) => (isAbsolute(word) ? basename(word) : word)).join(' ')];
      }),
    ),
  }));
}
