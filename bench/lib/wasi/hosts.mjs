// The hosts that work on real files, each as a process of its own: the native command, wasmtime and node:wasi.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { wasiCommand } from '../../../scripts/lib/paths.mjs';
import { provideWasiHosts } from '../../../scripts/lib/wasi.mjs';
import { benchFolder } from '../paths.mjs';
import { measured } from './project.mjs';

const scripts = resolve(benchFolder, '..', 'tests', 'wasi', 'lib');

/** The words that install from the lock under WASI, with nothing fetched. */
export const CI = ['ci', '--offline', '--json', '--prefix', '/project'];

/** `wall`: seconds of the timed part. `install`: those that the installer itself says it took. `before`: seconds of what comes
 * first and is not timed, where that is measured. `peak`: bytes.
 * @typedef {{ wall: number, install: number, before?: number, peak?: number, digest: string, result: any }} Sample */

/** The module for WASI, built. */
export function wasiModule() {
  if (!existsSync(wasiCommand))
    throw new Error(`${wasiCommand} is missing: build it (npm run build), or name another in GANTRY_WASI`);
  return wasiCommand;
}

/** A Python that has wasmtime, found or installed as for the tests; and wasmtime's version. */
export async function provideWasmtime() {
  const { GANTRY_WASMTIME_PYTHON: python = process.env.GANTRY_WASMTIME_PYTHON } = await provideWasiHosts();
  const asked = 'import importlib.metadata; print(importlib.metadata.version("wasmtime"))';
  return { python, version: execFileSync(python, ['-c', asked], { encoding: 'utf8' }).trim() };
}

/** The native command. @param {import('./project.mjs').Project} project @param {string} name @param {import('./project.mjs').Source} source
 * @param {string} [program] */
export const native = (project, name, source, program) => ({
  name,
  source,
  place: () => project.place(name.replaceAll(/\W+/g, '-'), source),
  /** @param {import('./project.mjs').Place} place @returns {Promise<Sample>} */
  async sample(place) {
    const { usage, result } = await project.installNatively(place, source, program);
    const digest = await project.digestOf(place.project);
    return { wall: usage.wall, install: result.elapsed / 1000, peak: usage.maxRss, digest, result };
  },
});

/** node:wasi, in a process of its own. Node 20 crashes when a command ends unless it makes no fast calls.
 * @param {import('./project.mjs').Project} project */
export function nodeWasi(project) {
  const [major] = process.versions.node.split('.').map(Number);
  const switches = ['--no-warnings', ...(major < 22 ? ['--no-turbo-fast-api-calls'] : [])];
  const command = [process.execPath, ...switches, join(scripts, 'node-host.mjs')];
  // It refuses the links of node_modules/.bin.
  return onFiles(project, 'node:wasi', command, [...CI, '--host-links'], {});
}

/** wasmtime by its Python wheel. @param {import('./project.mjs').Project} project @param {string} python */
export function wasmtime(project, python) {
  const compiled = join(project.workspace.folder, 'gantry.cwasm');
  const command = [python, join(scripts, 'wasmtime-host.py')];
  return onFiles(project, 'wasmtime', command, CI, { compiled, readOnly: [] });
}

/** A host that is told in JSON what to run over which folders. */
function onFiles(project, name, command, words, more) {
  return {
    name,
    source: /** @type {const} */ ('files'),
    place: () => project.place(name.replaceAll(/\W+/g, '-'), 'files'),
    /** @param {import('./project.mjs').Place} place @returns {Promise<Sample>} */
    async sample(place) {
      const preopens = { '/project': place.project, '/store': place.cache };
      const task = JSON.stringify({ ...more, module: wasiModule(), preopens, words });
      const invocation = { command: [...command, task], cwd: place.project, environment: { HOME: place.home } };
      const { usage, result } = await measured(invocation, project.workspace.folder);
      const wall = usage.wall + completeTree(place.project, result);
      const digest = await project.digestOf(place.project);
      return { wall, install: result.elapsed / 1000, peak: usage.maxRss, digest, result };
    },
  };
}

/** Gives files the modes that preview 1 has not, and makes the links that were left to the host. Gives the seconds. */
function completeTree(project, { executables, links }) {
  const begun = performance.now();
  for (const path of executables) chmodSync(join(project, path), 0o755);
  for (const { path, target } of links) symlinkSync(target, join(project, path));
  return (performance.now() - begun) / 1000;
}
