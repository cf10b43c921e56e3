// Projects that have a tree and nothing that accounts for it: what stays of it is what npm keeps, in the same run.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { projectsFolder, registryForSuite } from './lib/programs.mjs';

const manifest = (fields) => ({ name: 'project', version: '1.0.0', ...fields });
const hiddenLock = 'node_modules/.package-lock.json';

describe('trees without a lock', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  /** A project that npm has installed on both sides, with neither lock. */
  function installed(context, files) {
    const pair = new Pair(context, registry, files);
    for (const folder of pair.folders) pair.workspace.npm(folder, 'install', '--ignore-scripts').succeeded();
    for (const lock of ['package-lock.json', hiddenLock]) pair.remove(lock);
    return pair;
  }

  const locked = (pair, path) => {
    const lock = JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8'));
    return lock.packages[`node_modules/${path}`];
  };

  test('versions that fit stay, and the lock does not say where they came from', (context) => {
    const pair = installed(context, {
      'package.json': manifest({ dependencies: { left: '1.0.0', right: '1', 'with-optional': '1' } }),
    });
    pair.write({ 'package.json': manifest({ dependencies: { left: '^1.0.0', right: '*', 'with-optional': '1' } }) });
    pair.same('kept');
    assert.deepEqual(locked(pair, 'left'), { version: '1.0.0', license: 'MIT' });
    pair.same('again');
    pair.remove('node_modules');
    pair.same('from the lock');
    pair.same('from nothing but the lock', 'ci');
  });

  test('what does not fit is replaced, what nobody asks for goes, and what is missing comes', (context) => {
    const pair = installed(context, {
      'package.json': manifest({
        dependencies: { left: '1.0.0', right: '1', alias: 'npm:left@1.1.0', 'old-shasum': '1' },
        devDependencies: { executable: '1' },
      }),
    });
    pair.write({
      'node_modules/stranger/package.json': { name: 'stranger', version: '1.0.0' },
      'node_modules/@strange/scope/package.json': { name: '@strange/scope', version: '1.0.0' },
      'node_modules/right/node_modules/left/package.json': { name: 'left', version: '1.0.0' },
      'node_modules/.cache/kept.txt': 'kept',
      'package.json': manifest({
        dependencies: { left: '2.0.0-beta.1', right: '1', alias: 'npm:left@^1.0.0', '@scope/middle': '1' },
        devDependencies: { executable: '1', deprecated: '1' },
      }),
    });
    pair.same('mixed');
    pair.same('again');
    pair.same('locked', 'ci');
  });

  test('tags, aliases and everything else that has to have come from somewhere is looked up again', (context) => {
    const dependencies = { left: 'next', alias: 'npm:left@1.0.0', right: 'latest', 'peer-host': '' };
    const pair = installed(context, { 'package.json': manifest({ dependencies }) });
    pair.same('looked up');
    pair.same('again');
  });

  test('what was changed in place and what no registry has stays as it is', (context) => {
    const pair = installed(context, { 'package.json': manifest({ dependencies: { left: '1.0.0', right: '1' } }) });
    pair.write({
      'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1', unpublished: '^3.0.0' } }),
      'node_modules/left/index.js': 'patched\n',
      'node_modules/unpublished/package.json': {
        name: 'unpublished',
        version: '3.1.4',
        license: { type: 'Apache-2.0' },
        dependencies: { left: '1' },
        scripts: { install: 'false' },
        engines: { node: '>=4' },
        funding: 'https://funding.example',
        bin: 'cli.js',
        _resolved: 'https://registry.example/unpublished-3.1.4.tgz',
        _integrity: 'sha512-AAAA',
      },
      'node_modules/unpublished/cli.js': '#!/usr/bin/env node\n',
    });
    for (const folder of pair.folders) {
      mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
      symlinkSync('../unpublished/cli.js', join(folder, 'node_modules/.bin/unpublished'));
    }
    pair.same('kept');
    assert.equal(readFileSync(join(pair.folders[0], 'node_modules/left/index.js'), 'utf8'), 'patched\n');
    pair.write({
      'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1', unpublished: '3', executable: '1' } }),
    });
    pair.same('with one more');
  });

  test('a hidden lock that something is newer than does not count', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': manifest({ dependencies: { left: '1.0.0', right: '1' } }),
    });
    for (const folder of pair.folders) pair.workspace.npm(folder, 'install', '--ignore-scripts').succeeded();
    pair.remove('package-lock.json');
    pair.write({ 'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1' } }) });
    const later = new Date(Date.now() + 60_000);
    for (const folder of pair.folders) utimesSync(join(folder, 'node_modules/left'), later, later);
    pair.same('kept');
    assert.equal(locked(pair, 'left').resolved, undefined);
  });

  test('bundles, optional packages and packages within packages', (context) => {
    const pair = installed(context, {
      'package.json': manifest({
        dependencies: { 'with-bundle': '1', '@scope/middle': '1', left: '2.0.0-beta.1' },
        optionalDependencies: { 'with-optional': '1', 'only-elsewhere': '1' },
      }),
    });
    pair.write({
      'node_modules/with-bundle/node_modules/stranger/package.json': { name: 'stranger', version: '1.0.0' },
    });
    pair.same('kept');
    pair.same('again');
  });

  test('peers stay where they are, and conflicts are found', (context) => {
    const fields = { dependencies: { 'peer-guest': '1', 'peer-host': '1' } };
    const pair = installed(context, { 'package.json': manifest(fields) });
    pair.same('kept');
    for (const lock of ['package-lock.json', hiddenLock]) pair.remove(lock);
    pair.write({ 'package.json': manifest({ dependencies: { 'peer-guest': '1', 'peer-host': '2' } }) });
    pair.same('conflict');
  });

  test('what cannot be read is put in place again', (context) => {
    const dependencies = { left: '1.0.0', right: '1', executable: '1', deprecated: '1' };
    const pair = installed(context, { 'package.json': manifest({ dependencies }) });
    pair.write({ 'node_modules/left/package.json': '{', 'node_modules/deprecated/package.json': '[]' });
    pair.remove('node_modules/executable/package.json');
    for (const folder of ['right', '.bin']) pair.remove(`node_modules/${folder}`);
    pair.same('mended');
  });

  test('workspaces and folders that are linked to', (context) => {
    const files = {
      'package.json': manifest({ workspaces: ['packages/*'], dependencies: { folder: 'file:folder', left: '1.0.0' } }),
      'packages/a/package.json': { name: 'a', version: '1.0.0', dependencies: { b: '^1.0.0', left: '1.1.0' } },
      'packages/b/package.json': { name: 'b', version: '1.0.0', dependencies: { left: '^1.0.0' } },
      'folder/package.json': { name: 'folder', dependencies: { right: '1', left: '2.0.0-beta.1' } },
    };
    const pair = installed(context, files);
    pair.write({
      'packages/a/package.json': { name: 'a', version: '1.0.0', dependencies: { b: '^1.0.0', left: '^1.0.0' } },
    });
    pair.same('kept');
    for (const lock of ['package-lock.json', 'node_modules']) pair.remove(lock);
    pair.same('only what is in workspaces');
    for (const lock of ['package-lock.json', hiddenLock, 'node_modules/b', 'packages/b']) pair.remove(lock);
    pair.write({ 'packages/a/package.json': { name: 'a', version: '1.0.0', dependencies: { left: '^1.0.0' } } });
    pair.same('without one');
  });

  test('a yarn.lock says where what Yarn has installed came from', (context) => {
    const pair = installed(context, { 'package.json': manifest({ dependencies: { left: '1.0.0', right: '1' } }) });
    const address = `${registry}left/-/left-1.0.0.tgz`;
    const yarn = `left@1.0.0, left@^1.0.0:\n  version "1.0.0"\n  resolved "${address}#0123"\n`;
    pair.write({ 'yarn.lock': yarn });
    pair.same('known');
    const [ours, theirs] = pair.folders.map((folder) => readFileSync(join(folder, 'yarn.lock'), 'utf8'));
    assert.equal(ours, theirs);
    assert.equal(locked(pair, 'left').resolved, address);
  });

  test('package-lock=false keeps them too', (context) => {
    const pair = installed(context, { 'package.json': manifest({ dependencies: { left: '1.0.0' } }) });
    pair.write({
      '.npmrc': 'package-lock=false\n',
      'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1' } }),
    });
    const [ours, theirs] = pair.folders;
    pair.workspace.gantry('install', '--prefix', ours, '--ignore-scripts').succeeded();
    pair.workspace.npm(theirs, 'install', '--ignore-scripts').succeeded();
    const [hidden, expected] = pair.folders.map((folder) => readFileSync(join(folder, hiddenLock), 'utf8'));
    assert.equal(hidden, expected);
    assert.equal(JSON.parse(hidden).packages['node_modules/left'].version, '1.0.0');
  });

  test('trees of other installers, whose links lead among packages, are made anew', (context) => {
    const pair = new Pair(context, registry, { 'package.json': manifest({ dependencies: { left: '^1.0.0' } }) });
    const [ours] = pair.folders;
    const store = join(ours, 'node_modules/.store/left/node_modules/left');
    mkdirSync(store, { recursive: true });
    writeFileSync(join(store, 'package.json'), '{"name":"left","version":"1.0.0"}');
    symlinkSync('.store/left/node_modules/left', join(ours, 'node_modules/left'));
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    assert.equal(locked(pair, 'left').version, '1.1.0');
    assert.equal(JSON.parse(readFileSync(join(store, 'package.json'), 'utf8')).version, '1.0.0', 'whose file it was');
  });
});

describe('trees of real projects without a lock', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  for (const name of ['express', 'vue']) {
    test(`${name}: the lock and the tree are npm's`, (context) => {
      const files = { 'package.json': readFileSync(join(projectsFolder, name, 'package.json')) };
      const pair = new Pair(context, registry, files);
      for (const folder of pair.folders) pair.workspace.npm(folder, 'install', '--ignore-scripts').succeeded();
      for (const lock of ['package-lock.json', hiddenLock]) pair.remove(lock);
      pair.same('kept');
      pair.same('again');
    });
  }
});
