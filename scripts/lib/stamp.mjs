// Skipping work whose inputs did not change. A stamp is a digest over path, size and modification time of the inputs
// (and any words the caller adds), kept below the target directory: reading 300 of them takes about 10 ms.
// A step is fresh when its digest is the recorded one and all its outputs are there.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inTarget, root } from './paths.mjs';

const ignored = new Set(['node_modules', 'target', '.git', 'test-results']);

function* files(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) {
    yield [path, stat];
    return;
  }
  for (const name of readdirSync(path).sort()) if (!ignored.has(name)) yield* files(join(path, name));
}

/** Digest of the state of `inputs` (files or directories, absolute) and of `words`. */
export function fingerprint(inputs, words = []) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const [path, stat] of files(input)) hash.update(`${relative(root, path)}\0${stat.size}\0${stat.mtimeMs}\n`);
  }
  for (const word of words) hash.update(`${word}\n`);
  return hash.digest('hex');
}

/** Digest of one file's contents, `''` when there is none. */
export function contentDigest(path) {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}

const stampFile = (name) => inTarget('stamps', name);

/** Runs `work` unless step `name` is fresh. Resolves to whether it ran. */
export async function unlessFresh(name, { inputs = [], words = [], outputs = [] }, work) {
  const file = stampFile(name);
  const digest = fingerprint(inputs, words);
  const fresh = existsSync(file) && readFileSync(file, 'utf8') === digest && outputs.every((path) => existsSync(path));
  if (fresh) return false;
  rmSync(file, { force: true });
  await work();
  // The digest of before the work: what changed meanwhile is noticed by the next run.
  mkdirSync(inTarget('stamps'), { recursive: true });
  writeFileSync(file, digest);
  return true;
}
