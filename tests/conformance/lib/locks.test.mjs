import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareLocks } from './compare.mjs';
import { entriesOf, entriesOfBun, entriesOfPnpm } from './locks.mjs';

const lock = (packages) =>
  `${JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }, undefined, 2)}\n`;

test("npm's lock gives names, also of aliases, workspaces and links", () => {
  const entries = entriesOf(
    lock({
      'node_modules/@a/b/node_modules/c': { version: '1.0.0', dev: true, peer: true },
      'node_modules/alias': { name: 'real', version: '2.0.0' },
      'node_modules/own': { resolved: 'packages/own', link: true },
      'packages/own': { version: '0.1.0' },
    }),
  );
  assert.deepEqual(
    entries.map(({ path, name, version, flags }) => [path, name, version, flags]),
    [
      ['node_modules/@a/b/node_modules/c', 'c', '1.0.0', 'dev peer'],
      ['node_modules/alias', 'real', '2.0.0', ''],
      ['node_modules/own', 'own', 'link:packages/own', 'link'],
      ['packages/own', 'packages/own', '0.1.0', ''],
    ],
  );
});

test("bun's lock gives places from its keys", () => {
  const text = `{
  "packages": {
    "@a/b": ["@a/b@1.0.0", "", { "dependencies": { "c": "^2" } }, "sha512-x=="],
    "@a/b/c": ["c@2.0.0", "", {}, "sha512-y=="],
    "d/@e/f": ["@e/f@3.0.0", "", {}, "sha512-z=="],
  },
}
`;
  assert.deepEqual(entriesOfBun(text), [
    { path: 'node_modules/@a/b', name: '@a/b', version: '1.0.0', flags: '' },
    { path: 'node_modules/@a/b/node_modules/c', name: 'c', version: '2.0.0', flags: '' },
    { path: 'node_modules/d/node_modules/@e/f', name: '@e/f', version: '3.0.0', flags: '' },
  ]);
});

test("pnpm's lock gives the versions of its packages and not those of its snapshots", () => {
  const text = `lockfileVersion: '9.0'

packages:

  '@a/b@1.0.0':
    resolution: {integrity: sha512-x==}
    engines: {node: '>=8'}

  c@2.0.0-rc.1:
    resolution: {integrity: sha512-y==}

snapshots:

  c@2.0.0-rc.1(d@1.0.0):
    dependencies:
      d: 1.0.0
`;
  const found = entriesOfPnpm(text).map(({ name, version }) => `${name}@${version}`);
  assert.deepEqual(found, ['@a/b@1.0.0', 'c@2.0.0-rc.1']);
});

test('each measure sees what the weaker ones do not', () => {
  const theirs = lock({
    'node_modules/a': { version: '1.0.0' },
    'node_modules/a/node_modules/b': { version: '1.0.0' },
  });
  const scoresOf = (packages) => compareLocks(theirs, lock(packages)).scores;
  const full = (count) => ({ found: count, wanted: count, extra: 0 });

  const moved = scoresOf({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } });
  assert.deepEqual(moved.versions, full(2));
  assert.deepEqual(moved.placement, { found: 1, wanted: 2, extra: 1 });

  const flagged = scoresOf({
    'node_modules/a': { version: '1.0.0', dev: true },
    'node_modules/a/node_modules/b': { version: '1.0.0' },
  });
  assert.deepEqual(flagged.placement, full(2));
  assert.deepEqual(flagged.flags, { found: 1, wanted: 2, extra: 1 });
});

test('a lock that differs only in a field names the first line that differs', () => {
  const [theirs, ours] = ['MIT', 'ISC'].map((license) => lock({ 'node_modules/a': { version: '1.0.0', license } }));
  const { scores, differences } = compareLocks(theirs, ours);
  assert.deepEqual(scores.flags, { found: 1, wanted: 1, extra: 0 });
  assert.deepEqual(scores.text, { found: 0, wanted: 1, extra: 0 });
  assert.deepEqual(differences, ['line 7: npm writes `"license": "MIT"`, not `"license": "ISC"`']);
});
