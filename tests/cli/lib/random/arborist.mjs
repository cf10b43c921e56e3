// npm's own Arborist, driven as npm's commands drive it, in a process that lives long and so saves most of the time that
// starting npm takes. Is asked by messages `{ path, registry, cache, words }`, and answers with `{ code }` of the error, if there
// is one. What nobody catches ends the process, as it would end npm.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const npmFolder = fileURLToPath(new URL('../../../../node_modules/npm/', import.meta.url));
const Arborist = require(join(npmFolder, 'node_modules/@npmcli/arborist'));
const binLinks = require(join(npmFolder, 'node_modules/bin-links'));
const getWorkspaces = require(join(npmFolder, 'lib/utils/get-workspaces.js'));
const validateLockfile = require(join(npmFolder, 'lib/utils/validate-lockfile.js'));
const { version: npmVersion } = require(join(npmFolder, 'package.json'));

const camel = (key) => key.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** The names of the workspaces that a command is for, where it is for some. */
async function chosenWorkspaces(path, { workspace, workspaces }) {
  if (!workspaces && workspace.length === 0) return undefined;
  try {
    return [...(await getWorkspaces(workspace, { path, relativeFrom: path })).keys()];
  } catch (error) {
    throw error.message.startsWith('No workspaces found') ? Object.assign(error, { code: NO_WORKSPACES }) : error;
  }
}

/** npm's options for the words of a command line, and the packages that it names. */
function understand(words) {
  const names = [];
  const options = { omit: [], workspace: [] };
  const included = [];
  for (const word of words) {
    const [key, value = true] = word.split('=');
    switch (key) {
      case '--omit':
        options.omit.push(value);
        break;
      case '--include':
        included.push(value);
        break;
      case '--workspace':
        options.workspace.push(value);
        break;
      case '--no-workspaces':
        options.workspacesEnabled = false;
        break;
      case '--save-dev':
      case '--save-optional':
      case '--save-peer':
      case '--save-prod':
        options.saveType = key.slice('--save-'.length);
        break;
      case '--tag':
        options.defaultTag = value;
        break;
      case '--save-exact':
        options.savePrefix = '';
        break;
      case '--lockfile-version':
        options.lockfileVersion = Number(value);
        break;
      default:
        if (!key.startsWith('--')) names.push(word);
        else if (key.startsWith('--no-')) options[camel(key.slice(5))] = false;
        else options[camel(key.slice(2))] = value;
    }
  }
  options.omit = options.omit.filter((kind) => !included.includes(kind));
  // As npm has it: who writes a lock and nothing else wants one.
  if (options.packageLockOnly) options.packageLock = true;
  return { names, options };
}

/** npm has no code for it. */
const NO_WORKSPACES = 'no workspaces found';

async function cleanInstall(options) {
  options = { ...options, packageLock: true, save: false };
  const known = new Arborist(options);
  try {
    await known.loadVirtual();
  } catch {
    throw Object.assign(new Error('no lock'), { code: 'EUSAGE' });
  }
  const inventory = new Map(known.virtualTree.inventory);
  const arborist = new Arborist(options);
  await arborist.buildIdealTree();
  const errors = validateLockfile(inventory, arborist.idealTree.inventory);
  if (errors.length > 0) throw Object.assign(new Error(errors.join('\n')), { code: 'EUSAGE' });
  const folders = [options.path, ...(arborist.idealTree.workspaces?.values() ?? [])];
  for (const modules of folders.map((folder) => join(folder, 'node_modules'))) {
    // npm leaves the folder itself, and only therefore a hidden lock where nothing is installed.
    const entries = existsSync(modules) ? readdirSync(modules) : [];
    for (const entry of entries) rmSync(join(modules, entry), { recursive: true, force: true });
  }
  await arborist.reify(options);
}

/** Does what npm would do with such a command line. */
async function run({ path, registry, cache, words: [command, ...words] }) {
  // Where npm looks for what is named by its path.
  process.chdir(path);
  const { names, options } = understand(words);
  const all = {
    path,
    registry,
    cache,
    audit: false,
    ignoreScripts: true,
    nodeVersion: process.version,
    npmVersion,
    savePrefix: '^',
    save: true,
    defaultTag: 'latest',
    omitLockfileRegistryResolved: false,
    replaceRegistryHost: 'npmjs',
    fetchRetries: 0,
    ...options,
    workspaces: await chosenWorkspaces(path, options),
  };
  // A process remembers which commands it has linked, and links none again.
  binLinks.resetSeen();
  switch (command) {
    case 'ci':
      return cleanInstall(all);
    case 'install':
      return new Arborist(all).reify({ ...all, add: names });
    case 'uninstall':
      return new Arborist(all).reify({ ...all, rm: names });
    case 'prune':
      return new Arborist(all).prune(all);
    case 'dedupe':
      return new Arborist({ ...all, save: false }).dedupe({ ...all, save: false });
    default: {
      const save = words.includes('--save');
      return new Arborist({ ...all, save }).reify({ ...all, save, update: names.length > 0 ? names : true });
    }
  }
}

process.on('message', async (asked) => {
  let code;
  try {
    await run(asked);
  } catch (error) {
    // One of its own programming has none.
    code = error.code ?? `npm crashed: ${error.message}`;
  }
  process.send({ code });
});
process.on('disconnect', () => process.exit());
