// The programs that resolve a project: npm, the judge; Gantry; and the peers as the benchmarks set them up. Each run has
// a home, a cache and settings of its own and is told to resolve for one platform, so that the machine does not matter.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allTools } from '../../../bench/lib/tools.mjs';
import { gantryCommand, pathWith } from '../../../scripts/lib/paths.mjs';
import { npmScript } from './places.mjs';
import { copyProject } from './projects.mjs';

/** Longer than the largest project takes on a slow machine that is busy with others. */
const TIME_LIMIT = 600_000;
/** Locks name the packages of all platforms; this one decides what a platform's absence may do. */
const platform = ['--os', 'linux', '--cpu', 'x64', '--libc', 'glibc'];

/** What a run left. `text` is its lock, if it wrote one.
 * @typedef {{ status: number | null, output: string, text: string | undefined, seconds: number }} Outcome */

/** @typedef {{ project: string, home: string, cache: string }} Folders */

/** Folders for one run, removed when the work is done. @template T
 * @param {string} scratch @param {import('./projects.mjs').Project} project @param {string} registry
 * @param {(folders: Folders) => Promise<T>} work @returns {Promise<T>} */
export async function withFolders(scratch, project, registry, work) {
  const place = join(scratch, `${project.name}-${withFolders.next++}`);
  // Last part of the path as in the tree: npm names a project without a name after its folder.
  const folders = { project: join(place, project.name), home: join(place, 'home'), cache: join(place, 'cache') };
  for (const folder of [join(folders.home, 'tmp'), folders.cache]) mkdirSync(folder, { recursive: true });
  copyProject(project, folders.project, registry);
  try {
    return await work(folders);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
withFolders.next = 0;

/** @param {Folders} folders @returns {Record<string, string>} */
function environment({ home }) {
  const [user, global] = ['user.npmrc', 'global.npmrc'].map((name) => join(home, name));
  for (const file of [user, global]) writeFileSync(file, '');
  return {
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    PATH: pathWith(dirname(process.execPath)),
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    npm_config_userconfig: user,
    npm_config_globalconfig: global,
  };
}

/** @param {string[]} command @param {Folders} folders @param {Record<string, string>} variables
 * @returns {Promise<Outcome>} */
function start([program, ...words], folders, variables) {
  const began = performance.now();
  return new Promise((settle, fail) => {
    const child = spawn(program, words, {
      cwd: folders.project,
      env: variables,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIME_LIMIT,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', fail);
    child.on('close', (status) => {
      const seconds = (performance.now() - began) / 1000;
      settle({ status, output, text: undefined, seconds });
    });
  });
}

/** @param {string} path */
const readIfThere = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** Runs npm in a project. @param {Folders} folders @param {string} registry @param {string[]} words
 * @returns {Promise<Outcome>} */
export async function npm(folders, registry, words) {
  const switches = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--no-progress'];
  const settings = ['--registry', registry, '--cache', join(folders.cache, 'npm'), '--loglevel=error', ...platform];
  const command = [process.execPath, npmScript, ...words, ...switches, ...settings];
  const outcome = await start(command, folders, environment(folders));
  return { ...outcome, text: readIfThere(join(folders.project, 'package-lock.json')) };
}

/** Has Gantry write the lock. @param {Folders} folders @param {string} registry
 * @param {string} nodeVersion the Node for which npm chose @returns {Promise<Outcome>} */
export async function gantry(folders, registry, nodeVersion) {
  const place = ['--prefix', folders.project, '--store-dir', join(folders.cache, 'gantry'), '--registry', registry];
  const words = ['install', '--package-lock-only', '--ignore-scripts', ...place];
  const command = [gantryCommand, ...words, ...platform, '--node-version', nodeVersion];
  const outcome = await start(command, folders, environment(folders));
  return { ...outcome, text: readIfThere(join(folders.project, 'package-lock.json')) };
}

/** The other installers, set up as for the benchmarks. */
export const peers = allTools({ copy: '' }).filter(({ name }) => ['bun', 'pnpm', 'utoo'].includes(name));

/** pnpm as near to npm as its settings bring it: one tree, workspaces used where their version fits. */
const pnpmAsNpm = {
  pnpm_config_node_linker: 'hoisted',
  pnpm_config_link_workspace_packages: 'true',
  // Some projects name another package manager.
  pnpm_config_pm_on_fail: 'ignore',
  pnpm_config_package_manager_strict: 'false',
};

/** pnpm looks for workspaces in a file of its own. @param {string} folder */
function nameWorkspaces(folder) {
  const { workspaces } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const patterns = workspaces?.packages ?? workspaces;
  if (patterns) writeFileSync(join(folder, 'pnpm-workspace.yaml'), `${JSON.stringify({ packages: patterns })}\n`);
}

/** Has a peer write its lock. @param {import('../../../bench/lib/tools.mjs').Tool} peer @param {Folders} folders
 * @param {string} registry @returns {Promise<Outcome>} */
export async function runPeer(peer, folders, registry) {
  const lock = join(folders.project, peer.lock);
  const before = readIfThere(lock);
  if (peer.name === 'pnpm') nameWorkspaces(folders.project);
  const command = peer.command('resolve', folders, registry);
  const variables = { ...environment(folders), ...peer.environment(folders, registry), ...pnpmAsNpm };
  const outcome = await start(command, folders, variables);
  const text = readIfThere(lock);
  return { ...outcome, text: text === before && outcome.status !== 0 ? undefined : text };
}
