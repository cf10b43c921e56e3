/** What opening a store takes, wherever it is. */
import { Archives } from '../archives.js';
import { type OpenParameters, patienceOf } from '../protocol.js';
import { type CoordinatorOptions, compile, instantiate, moduleUnavailable } from '../wasm.js';
import { MemoryFolder } from './memory-folder.js';
import { MemoryStore } from './memory-store.js';
import type { OpenStore } from './open-store.js';
import { defaultPoolSize, Pool } from './pool.js';
import { stopped } from './stopped.js';

/**
 * Packs in memory go to unpack workers and back with every install that has something to unpack, and Firefox copies what is
 * transferred through a port: a store of 260 MB took more than two seconds for that. So packs that are large stay.
 */
const PACK_BYTES = 4 << 20;

export async function openInMemory(parameters: OpenParameters, signal: AbortSignal): Promise<OpenStore> {
  const { store: name, workers = defaultPoolSize() } = parameters;
  const compiling = compileModule(parameters, signal);
  const folder = new MemoryFolder('memory');
  const pool = new Pool(compiling, folder, workers);
  pool.warm();
  await instantiate(await compiling);
  const options = { ...coordinatorOptions(parameters), packBytes: PACK_BYTES, inMemory: true };
  return MemoryStore.open(name, options, { pool, archives: new Archives(), folder });
}

export function compileModule({ wasmUrl }: OpenParameters, signal: AbortSignal): Promise<WebAssembly.Module> {
  const compiling = compile(wasmUrl, signal).catch((error: unknown) => {
    if (signal.aborted) throw stopped(signal);
    throw moduleUnavailable(error);
  });
  // Why it failed is told where it is awaited, which may be later.
  compiling.catch(() => {});
  return compiling;
}

export function coordinatorOptions(parameters: OpenParameters): CoordinatorOptions {
  const { registry, scopes, token, tokens, replaceRegistryHost } = parameters;
  return {
    registry,
    ...(scopes && { scopes }),
    ...(token && { token }),
    ...(tokens && { tokens }),
    ...(replaceRegistryHost && { replaceRegistryHost }),
    ...patienceOf(parameters),
  };
}
