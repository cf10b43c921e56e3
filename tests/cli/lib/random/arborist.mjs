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
const validateLockfile = require(join(npmFolder, 'lib/utils/validate-lockfile.js'));
const { version: npmVersion } = require(join(npmFolder, 'package.json'));

/** npm's options for the words of a command line, and the packages that it names. */
function understand(words) {
  const names = [];
  const options = { omit: [] };
  for (const word of words) {
    const [key, value = true] = word.split('=');
    switch (key) {
      case '--omit':
        options.omit.push(value);
        break;
      case '--no-save':
        options.save = false;
        break;
      case '--save-dev':
      case '--save-optional':
      case '--save-peer':
        options.saveType = { dev: 'dev', optional: 'optional', peer: 'peer' }[key.slice('--save-'.length)];
        break;
      case '--save-exact':
        options.savePrefix = '';
        break;
      case '--lockfile-version':
        options.lockfileVersion = Number(value);
        break;
      default:
        if (!key.startsWith('--')) names.push(word);
        else options[key.slice(2).replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = value;
    }
  }
  return { names, options };
}

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
