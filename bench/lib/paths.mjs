// Where things are: the tree, the cache outside git, the two programs of our own.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the benchmarks. */
export const benchFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const root = dirname(benchFolder);

/** Peers and the recording; nothing in it belongs into git. */
export const cacheFolder =
  process.env.GANTRY_BENCH_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gantry', 'bench');
export const recordingFolder = join(cacheFolder, 'recording');
export const peersFolder = join(cacheFolder, 'peers');
export const projectsFolder = join(benchFolder, 'projects');

/** @param {string} variable @param {string} name */
function ownProgram(variable, name) {
  const path = process.env[variable] || join(root, 'target', 'release', name);
  if (!existsSync(path))
    throw new Error(`${path} is missing: build it (npm run build), or name another in ${variable}`);
  return resolve(path);
}

/** The command that is measured. */
export const gantryCommand = () => ownProgram('GANTRY_BIN', 'gantry');
/** The replay registry. */
export const registryCommand = () => ownProgram('GANTRY_REGISTRY_BIN', 'gantry-registry');

/** One line about what is going on, on standard error. @param {string} area @param {string} message */
export function say(area, message) {
  process.stderr.write(`[${area}] ${message}\n`);
}
