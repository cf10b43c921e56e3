// The WASI hosts under test. Each runs `gantry.wasm` with words over folders (`{ '/project': folder }`) and resolves to what
// it left behind.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Finished } from '../../cli/lib/programs.mjs';
import { runInMemory } from './shim-host.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = resolve(here, '../../..');
export const module = resolve(root, process.env.GANTRY_WASI || join('web', 'wasi', 'gantry.wasm'));

function finished(command, args, words) {
  const result = spawnSync(command, args, { encoding: 'utf8', input: '', timeout: 300_000, maxBuffer: 1 << 28 });
  if (result.error) throw result.error;
  return new Finished(['gantry.wasm', ...words].join(' '), result);
}

/** node:wasi, in a process of its own. Node 20 crashes when a command ends unless it makes no fast calls. */
export async function underNode(words, folders) {
  const task = JSON.stringify({ module, preopens: folders, words });
  const [major] = process.versions.node.split('.').map(Number);
  const switches = ['--no-warnings', ...(major < 22 ? ['--no-turbo-fast-api-calls'] : [])];
  return finished(process.execPath, [...switches, join(here, 'node-host.mjs'), task], words);
}

/** wasmtime, through its Python wheel. `readOnly` are names of folders that are opened without the right to write. */
export async function underWasmtime(words, folders, { readOnly = [] } = {}) {
  const python = process.env.GANTRY_WASMTIME_PYTHON;
  if (!python)
    throw new Error('wasmtime is missing: GANTRY_WASMTIME_PYTHON names no Python that has it (see npm test -- wasi)');
  const { size, mtimeMs } = statSync(module);
  const compiled = join(root, 'node_modules', '.cache', 'gantry-wasi-tests', `${size}-${mtimeMs}.cwasm`);
  mkdirSync(dirname(compiled), { recursive: true });
  const task = JSON.stringify({ module, compiled, preopens: folders, words, readOnly });
  return finished(python, [join(here, 'wasmtime-host.py'), task], words);
}

let compiled;

/** `@bjorn3/browser_wasi_shim` over folders in memory, in this process; `folders` are the shim's own. */
export async function underShim(words, folders, change) {
  compiled ??= await WebAssembly.compile(readFileSync(module));
  return new Finished(['gantry.wasm', ...words].join(' '), runInMemory(compiled, words, folders, change));
}
