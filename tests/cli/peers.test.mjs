// Locks whose peer dependencies are wanted by nobody, or no longer what they should be: gantry and npm come to the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDocuments } from './lib/documents.mjs';
import { Pair } from './lib/pair.mjs';

const optionalPeer = (name, range) => ({
  peerDependencies: { [name]: range },
  peerDependenciesMeta: { [name]: { optional: true } },
});

const LOCK_ONLY = ['--package-lock-only'];

describe('peers', { concurrency: 1 }, () => {
  const extraneous = (pair) => {
    const { packages } = JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8'));
    return Object.entries(packages).flatMap(([path, entry]) => (entry.extraneous ? [path] : []));
  };

  test('what only an optional peer wants is left of a tree from nothing, and goes once that replaces a lock', async (context) => {
    const registry = await startDocuments(context, {
      'a@1.0.0': optionalPeer('b', '1'),
      'b@1.0.0': {},
      'b@2.0.0': {},
      'c@1.0.0': { dependencies: { b: '2' } },
    });
    const fields = { name: 'root', version: '1.0.0', dependencies: { a: '1', c: '1' } };
    const pair = new Pair(context, registry, { 'package.json': fields });
    pair.same('from nothing', 'install', LOCK_ONLY);
    assert.equal(extraneous(pair).length, 1, 'npm leaves it there');
    pair.same('all updated', 'update', LOCK_ONLY);
    assert.deepEqual(extraneous(pair), []);
    pair.remove('package-lock.json');
    pair.same('all updated without a lock', 'update', LOCK_ONLY);
    assert.equal(extraneous(pair).length, 1);
    pair.same('installed', 'install', LOCK_ONLY);
    assert.deepEqual(extraneous(pair), []);
  });

  test('an optional peer that the lock has in another version is mended by install, and none of ci', async (context) => {
    const registry = await startDocuments(context, {
      'a@1.0.0': optionalPeer('b', '2'),
      'b@1.0.0': {},
      'b@2.0.0': {},
      'c@1.0.0': { dependencies: { b: '1' } },
    });
    const fields = { name: 'root', version: '1.0.0', dependencies: { a: '1', c: '1' } };
    const pair = new Pair(context, registry, { 'package.json': fields });
    pair.same('accepted', 'install', [...LOCK_ONLY, '--legacy-peer-deps']);
    const paths = () =>
      Object.keys(JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8')).packages);
    assert.ok(paths().includes('node_modules/b'));
    const lock = readFileSync(join(pair.folders[0], 'package-lock.json'));
    pair.same('kept to by ci', 'ci', LOCK_ONLY);
    pair.same('mended', 'install', LOCK_ONLY);
    assert.ok(paths().includes('node_modules/c/node_modules/b'), paths().join());
    // Where the project asks for the wrong one itself it cannot be.
    const own = { ...fields, dependencies: { ...fields.dependencies, b: '1' } };
    pair.write({ 'package.json': own, 'package-lock.json': JSON.parse(lock) });
    pair.fail('contradicted', 'RESOLVE_PEER_CONFLICT', 'install', LOCK_ONLY);
  });
});
