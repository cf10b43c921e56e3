import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tarballFiles } from '../../../../bench/lib/tarball.mjs';
import { PLACEHOLDER } from '../places.mjs';
import { expand, shorten } from './fields.mjs';
import { reduceTarball, tarOf } from './tarball.mjs';

test('a version keeps what locks are written from, and gets back what follows from the rest', () => {
  const manifest = {
    name: '@a/b',
    version: '1.0.0',
    description: 'x',
    dependencies: { c: '^1' },
    devDependencies: { d: '^1' },
    optionalDependencies: {},
    scripts: { postinstall: 'node x', test: 'y' },
    dist: { tarball: `${PLACEHOLDER}@a/b/-/b-1.0.0.tgz`, integrity: 'sha512-x==', shasum: '00', fileCount: 3 },
  };
  const short = shorten('@a/b', '1.0.0', manifest);
  assert.deepEqual(short, { dependencies: { c: '^1' }, hasInstallScript: true, dist: { integrity: 'sha512-x==' } });
  const full = expand({ name: '@a/b', tags: { latest: '1.0.0' }, versions: { '1.0.0': short } });
  assert.deepEqual(full.versions['1.0.0'], {
    name: '@a/b',
    version: '1.0.0',
    dependencies: { c: '^1' },
    hasInstallScript: true,
    dist: { tarball: `${PLACEHOLDER}@a/b/-/b-1.0.0.tgz`, integrity: 'sha512-x==' },
  });
});

test('a version without an integrity keeps its SHA-1, and an unusual tarball its address', () => {
  const dist = { tarball: `${PLACEHOLDER}old/-/Old-0.1.0.tgz`, shasum: '00' };
  assert.deepEqual(shorten('old', '0.1.0', { name: 'old', version: '0.1.0', dist }).dist, dist);
});

test('a reduced tarball has the manifests, also those at long paths, and nothing else', () => {
  const long = `node_modules/${'a'.repeat(120)}/package.json`;
  const files = new Map([
    ['package.json', Buffer.from('{"name":"x"}')],
    ['index.js', Buffer.alloc(2000)],
    [long, Buffer.from('{"name":"a"}')],
  ]);
  const reduced = reduceTarball(gzipSync(tarOf(files)));
  const kept = [...tarballFiles(reduced)].map(([path, body]) => [path, body.toString()]);
  assert.deepEqual(kept, [
    [long, '{"name":"a"}'],
    ['package.json', '{"name":"x"}'],
  ]);
});
