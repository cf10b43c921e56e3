// A registry that abbreviates documents by rules of its own, as Verdaccio does, with `time` and without what npm's own rules
// keep: what is installed and locked is what npm makes of full documents.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDocuments } from './lib/documents.mjs';
import { Pair } from './lib/pair.mjs';

const LOCK_ONLY = ['--package-lock-only'];

describe('a registry that abbreviates by rules of its own', { concurrency: 1 }, () => {
  test('takes no license and no C library out of the lock, also from what is kept', async (context) => {
    const native = (libc) => ({ license: 'MIT', os: ['linux'], libc: [libc] });
    const registry = await startDocuments(context, {
      'plain@1.0.0': { license: 'ISC', acceptDependencies: { other: '1' } },
      'other@1.0.0': { dependencies: { plain: '1' } },
      'native-gnu@1.0.0': native('glibc'),
      'native-musl@1.0.0': native('musl'),
    });
    const optionalDependencies = { 'native-gnu': '^1.0.0', 'native-musl': '^1.0.0' };
    const fields = { name: 'root', version: '1.0.0', dependencies: { other: '^1.0.0' }, optionalDependencies };
    const pair = new Pair(context, registry, { 'package.json': fields });
    const locked = () => JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8')).packages;
    for (const what of ['from nothing', 'from what is kept']) {
      pair.remove('package-lock.json');
      pair.same(what, 'install', LOCK_ONLY);
      const { 'node_modules/plain': plain, 'node_modules/native-musl': musl } = locked();
      assert.deepEqual([plain.license, musl.license, musl.libc], ['ISC', 'MIT', ['musl']], what);
    }
  });
});
