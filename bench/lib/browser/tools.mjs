// The installers that run in a page: which script, which headers, which files. The reasons are in ../../peers.md.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { browserPeersFolder, browserPeerVersions } from '../peers.mjs';
import { buildFloor, bundlePeer, bundlesFolder, floorFolder, gantryPackage, scriptsFolder } from './pages.mjs';

/** What makes a page cross-origin isolated, and so gives it shared memory. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** By which share of the learned counts a tool's traffic may differ in some phases, and why.
 * @typedef {{ phases: string[], requests: number, bytes: number, tarballs: number, why: string }} Slack */

/**
 * @typedef {object} BrowserTool
 * @property {string} name
 * @property {string} version
 * @property {'chromium' | 'firefox'} browser
 * @property {Record<string, string>} folders what its page loads
 * @property {Record<string, string>} [headers]
 * @property {(registry: string) => string} [address] the registry's address as this tool has to be told it
 * @property {string[]} [phases] all unless given
 * @property {() => Promise<void>} [build]
 * @property {Slack} slack
 * @property {number} [fewest] share of the tarballs npm needs that a cold install must ask for at least; 0.9 unless given
 * @property {boolean} [foresees] no installer: is told in a cold install, too, what the lock will be, and not judged
 * @property {boolean} [slow] measured in the first round only, unless the run is a full one
 * @property {string} [remark]
 */

/** @type {Slack} */
const none = { phases: [], requests: 0, bytes: 0, tarballs: 0, why: '' };

/** @type {Slack} */
const guesses = {
  phases: ['cold', 'added'],
  requests: 0.3,
  bytes: 2,
  tarballs: 0.7,
  why: 'Gantry fetches tarballs of versions that it guesses while it resolves; how many turn out not to be needed depends on the order of answers. They are counted and timed',
};

/** @type {Slack} */
const wavers = {
  phases: ['cold', 'added'],
  requests: 0.1,
  bytes: 0.1,
  tarballs: 0.1,
  why: '@utoo/web does not resolve to the same tree every time',
};

/**
 * The loopback registry under a name that contains the host of npm's default registry: @utoo/web looks for that in the
 * address, and otherwise asks for ranges, which that registry does not answer. Names below `.localhost` are loopback to browsers.
 * @param {string} registry
 */
function underDefaultName(registry) {
  const { definitions } = createRequire(import.meta.url)('@npmcli/config/lib/definitions');
  const address = new URL(registry);
  address.hostname = `${new URL(definitions.registry.default).hostname}.localhost`;
  return address.href;
}

const page = { 'page.js': join(scriptsFolder, 'page.js') };

/** @param {string} name @param {string} version @param {'chromium' | 'firefox'} browser @returns {BrowserTool} */
const gantry = (name, version, browser = 'chromium') => ({
  name,
  version,
  browser,
  slack: guesses,
  folders: { ...page, 'tool.js': join(scriptsFolder, 'gantry.js'), 'package/': gantryPackage() },
});

/** @param {string} name @param {Partial<BrowserTool>} more @returns {BrowserTool} */
const peer = (name, more) => ({
  name,
  version: browserPeerVersions()[name],
  browser: 'chromium',
  slack: none,
  build: () => bundlePeer(bundleOf(name)),
  phases: ['cold', 'reload', 'added', 'second', 'lock', 'second-stale'],
  ...more,
  folders: { ...page, ...more.folders, '': join(bundlesFolder, bundleOf(name)) },
});

const bundleOf = (name) => name.replace(/^@/, '').replace('/', '-');

/** In the order of the first round. @param {string} gantryVersion @returns {BrowserTool[]} */
export function browserTools(gantryVersion) {
  const { memfs } = browserPeerVersions();
  return [
    gantry('gantry', gantryVersion),
    peer('@utoo/web', {
      headers: ISOLATED,
      address: underDefaultName,
      slack: wavers,
      slow: true,
      folders: {
        'utoo.wasm': join(browserPeersFolder, 'node_modules', '@utoo', 'web', 'esm', 'utoo', 'index_bg.wasm'),
      },
      remark: 'cross-origin isolated page',
    }),
    peer('npm-in-browser', { remark: `memfs ${memfs}, in a worker; keeps everything in memory` }),
    // One version of each name and no optional dependencies: its trees are smaller.
    peer('almostnode', { fewest: 0.5, remark: 'on the main thread; keeps everything in memory' }),
    {
      name: 'floor',
      version: '',
      browser: 'chromium',
      phases: ['cold', 'lock'],
      foresees: true,
      slack: none,
      build: buildFloor,
      folders: {
        ...page,
        'tool.js': join(scriptsFolder, 'floor.js'),
        'floor-worker.js': join(scriptsFolder, 'floor-worker.js'),
        'floor/': floorFolder,
      },
      remark: 'fetches what an install needs, known from the start, hashes and inflates; installs nothing',
    },
    gantry('gantry (Firefox)', gantryVersion, 'firefox'),
    gantry('gantry-again', gantryVersion),
  ];
}
