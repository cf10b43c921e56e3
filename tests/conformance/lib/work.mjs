// Small helpers of the suite: lines for people, work side by side, folders that go away.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from '../../../bench/lib/registry.mjs';
import { registryCommand } from '../../../scripts/lib/paths.mjs';

/** One line on standard error. @param {string} message */
export const say = (message) => process.stderr.write(`[conformance] ${message}\n`);

/** Runs `work` for each item, a few at a time; results come in the items' order.
 * @template T, R @param {T[]} items @param {(item: T) => Promise<R>} work @param {number} [atOnce]
 * @returns {Promise<R[]>} */
export async function forEach(items, work, atOnce = Math.min(4, availableParallelism())) {
  /** @type {R[]} */
  const results = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** A folder that is removed when the work is done, however it ends. @template T
 * @param {(folder: string) => Promise<T>} work @returns {Promise<T>} */
export async function inScratch(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-conformance-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A replay registry of the recording in a folder while the work lasts; with `upstream` it fetches what is missing.
 * @template T @param {{ recording: string, upstream?: string }} options @param {(registry: Registry) => Promise<T>} work
 * @returns {Promise<T>} */
export async function withRegistry(options, work) {
  // The benchmarks' helper looks for the program there.
  process.env.GANTRY_REGISTRY_BIN = registryCommand;
  const registry = await Registry.start(options);
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}
