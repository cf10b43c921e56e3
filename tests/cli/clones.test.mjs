// What a cloned repository may bring along: links, locks and folders that pass for Gantry's own. Nothing outside of the
// clone changes, and nothing of the user's in it goes that npm would leave.
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const root = (fields) => ({ name: 'repo', version: '1.0.0', ...fields });
const lockOf = (packages, fields) =>
  json({ name: 'repo', version: '1.0.0', lockfileVersion: 3, requires: true, packages, ...fields });

/** As the command names a folder to build in. */
const OWN = '.gantry-1f2e-18d3a5b6c7d8e9f0-0';
const WITHOUT_DEPENDENCIES = { 'package.json': json(root()), 'package-lock.json': lockOf({ '': root() }) };

/** Writes files below a folder, and links: an object with `to`. */
function fill(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (content.to) symlinkSync(content.to, place);
    else writeFileSync(place, content);
  }
}

const HOME = {
  '.bashrc': 'mine',
  '.ssh/key': 'mine',
  '.bin/mine': { to: '../important/file' },
  '.config/autostart/mine.desktop': 'mine',
  'important/file': 'mine',
  'node_modules/important/file': 'mine',
  'src/node_modules/important/file': 'mine',
  'src/work/node_modules/mine/file': 'mine',
};

/** A user's home with a clone in `src/repo`. */
function cloned(context, registry, files) {
  const workspace = new Workspace(context, registry);
  const home = join(workspace.folder, 'home');
  workspace.environment.HOME = home;
  fill(home, HOME);
  const repo = join(home, 'src', 'repo');
  fill(repo, files);
  const outside = () => listing(home).filter((line) => !line.startsWith('src/repo/'));
  return { workspace, home, repo, outside };
}

/** Makes the hidden lock the newest thing that is there. */
function trust(repo, packages) {
  const path = join(repo, 'node_modules', '.package-lock.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lockOf(packages));
  const later = new Date(Date.now() + 60_000);
  utimesSync(path, later, later);
}

describe('a cloned repository', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  for (const name of ['.gantry-x', OWN, '.gantry-wasi']) {
    for (const [what, files] of [
      ['a new tree', { [`${name}/new/node_modules`]: { to: '../../../..' } }],
      ['a new tree in a link', { [`${name}/new`]: { to: '../../../src' } }],
      ['what was set aside', { [`${name}/old`]: { to: '../..' }, 'work/file': 'x' }],
      ['a tree that was set aside', { [`${name}/old/work/node_modules`]: { to: '../../../../..' }, 'work/file': 'x' }],
      ['a folder that was set aside', { [`${name}/old/work`]: { to: '../../../work' }, 'work/file': 'x' }],
      ['a folder whose tree was set aside', { [`${name}/old/up/node_modules/x`]: 'x', up: { to: '../../important' } }],
      ['all of it', { [name]: { to: '../../important' } }],
    ]) {
      test(`no leftover that is a link is followed: ${name}, ${what}`, (context) => {
        for (const command of ['ci', 'install']) {
          const { workspace, repo, outside } = cloned(context, suite.registry, {
            ...WITHOUT_DEPENDENCIES,
            'node_modules/x/package.json': '{}',
            ...files,
          });
          const before = outside();
          const { status } = workspace.gantry(command, '--prefix', repo);
          assert.deepEqual(outside(), before, command);
          assert.equal(status, 0);
          assert.ok(!existsSync(join(repo, 'work', 'node_modules')), command);
        }
      });
    }
  }

  test("folders of the user's that begin as ours do stay", (context) => {
    const mine = {
      '.gantry-notes/keep.txt': 'mine',
      '.gantry-notes.txt': 'mine',
      // Named as ours, but with something in them that is not.
      [`${OWN}/keep.txt`]: 'mine',
      [`${OWN}/old/node_modules/x/package.json`]: '{}',
      '.gantry-wasi/keep.txt': 'mine',
    };
    for (const command of ['install', 'ci']) {
      const { workspace, repo } = cloned(context, suite.registry, { ...WITHOUT_DEPENDENCIES, ...mine });
      const before = listing(repo);
      workspace.gantry(command, '--prefix', repo).succeeded();
      assert.deepEqual(
        listing(repo).filter((line) => line.startsWith('.gantry')),
        before.filter((line) => line.startsWith('.gantry')),
      );
    }
    const { workspace, repo } = cloned(context, suite.registry, {
      'package.json': json(root({ dependencies: { left: '1.0.0' } })),
      'node_modules/.gantry-notes/keep.txt': 'mine',
    });
    for (const step of ['first', 'again', 'without a hidden lock']) {
      workspace.gantry('install', '--prefix', repo).succeeded();
      assert.ok(existsSync(join(repo, 'node_modules/.gantry-notes/keep.txt')), step);
      if (step === 'again') rmSync(join(repo, 'node_modules/.package-lock.json'));
    }
  });

  test('a store may be in the project', (context) => {
    const { workspace, repo } = cloned(context, suite.registry, {
      'package.json': json(root({ dependencies: { left: '1.0.0' } })),
    });
    const store = ['--store-dir', join(repo, '.gantry-store')];
    workspace.gantry('install', '--prefix', repo, ...store).succeeded();
    workspace.gantry('ci', '--offline', '--prefix', repo, ...store).succeeded();
    assert.ok(existsSync(join(repo, '.gantry-store', 'v1')));
  });

  for (const [what, links, packages] of [
    ['folders of the project', {}, { src: { resolved: 'x', link: true }, '.git': { resolved: 'y', link: true } }],
    ['what a link leads to', { up: { to: '../..' } }, { 'up/important': { resolved: 'x', link: true } }],
    ['a package below a link', { up: { to: '../..' } }, { 'up/node_modules/important': { version: '1.0.0' } }],
    ['a way out', {}, { '../node_modules/important': { version: '1.0.0' } }],
    [
      'a package in a scope that is a link',
      { 'node_modules/@s': { to: '../../..' } },
      { 'node_modules/@s/important': { version: '1.0.0' } },
    ],
    [
      'a link in a scope that is a link',
      { 'node_modules/@s': { to: '../../..' } },
      { 'node_modules/@s/important': { resolved: 'x', link: true } },
    ],
    ['the folder of commands', {}, { 'node_modules/.bin': { version: '1.0.0' } }],
  ]) {
    test(`what a hidden lock says is no reason to remove anything but packages: ${what}`, (context) => {
      const { workspace, repo, outside } = cloned(context, suite.registry, {
        ...WITHOUT_DEPENDENCIES,
        'src/index.js': 'mine',
        '.git/config': 'mine',
        ...links,
      });
      trust(repo, packages);
      const before = outside();
      workspace.gantry('install', '--prefix', repo).succeeded();
      assert.deepEqual(outside(), before);
      assert.ok(existsSync(join(repo, 'src/index.js')) && existsSync(join(repo, '.git/config')));
    });
  }

  const linked = [
    ['a scope', { 'node_modules/@s': { to: '../../../.config' } }, { '@s/autostart': 'npm:@scope/middle@1' }],
    ['the folder of commands', { 'node_modules/.bin': { to: '../../../.config/autostart' } }, { right: '1' }],
    [
      'what packages nest in',
      { 'node_modules/right/package.json': '{}', 'node_modules/right/node_modules': { to: '../../../..' } },
      { left: 'next', right: '1' },
    ],
    ['a package', { 'node_modules/right': { to: '../../..' } }, { left: 'next', right: '1' }],
  ];
  for (const [what, links, dependencies] of linked) {
    for (const hidden of ['an empty', 'a stale', 'no']) {
      test(`packages stay in the project where a link is in their way: ${what}, ${hidden} hidden lock`, (context) => {
        const files = { 'package.json': json(root({ dependencies })) };
        const { workspace, repo, outside } = cloned(context, suite.registry, { ...files, ...links });
        if (hidden !== 'no') trust(repo, {});
        if (hidden === 'a stale') utimesSync(join(repo, 'node_modules/.package-lock.json'), 1, 1);
        const before = outside();
        workspace.gantry('install', '--prefix', repo).succeeded();
        assert.deepEqual(outside(), before);
        const plain = cloned(context, suite.registry, files);
        plain.workspace.gantry('install', '--prefix', plain.repo).succeeded();
        assert.deepEqual(listing(repo), listing(plain.repo));
      });
    }
  }

  for (const hidden of ['the newest', 'a stale']) {
    test(`what is in a package that stays is looked at, but not through a link, ${hidden} hidden lock`, (context) => {
      const files = (left) => ({ 'package.json': json(root({ dependencies: { left, right: '1' } })) });
      const { workspace, repo, outside } = cloned(context, suite.registry, files('1.1.0'));
      const install = () => workspace.gantry('install', '--prefix', repo).succeeded();
      const age = () => {
        const time = new Date(Date.now() + (hidden === 'a stale' ? -60_000 : 60_000));
        utimesSync(join(repo, 'node_modules/.package-lock.json'), time, time);
      };
      install();
      const inside = join(repo, 'node_modules/right/node_modules');
      symlinkSync('../../../..', inside);
      age();
      const before = outside();
      // Nothing is to be in there, then something.
      install();
      assert.deepEqual(outside(), before);
      fill(repo, files('2.0.0-beta.1'));
      age();
      install();
      assert.deepEqual(outside(), before);
      assert.deepEqual(readdirSync(inside).sort(), ['left']);
      assert.ok(lstatSync(inside).isDirectory());
    });
  }

  test('a folder is put in the place of a scope that is a link, as by npm', (context) => {
    const pair = new Pair(context, suite.registry, {
      'package.json': root({ dependencies: { '@scope/middle': '1', right: '1' } }),
      '../scope/middle/mine': 'mine',
    });
    for (const folder of pair.folders) {
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync('../../scope', join(folder, 'node_modules', '@scope'));
      trust(folder, {});
    }
    pair.same('over an empty hidden lock');
    for (const folder of pair.folders) assert.deepEqual(listing(join(folder, '../scope')).length, 1);
  });

  test('a workspace may be reached through a link, as with npm', (context) => {
    const member = (dependencies) => root({ name: 'a', dependencies });
    const pair = new Pair(context, suite.registry, {
      'package.json': root({ workspaces: ['p/*'], dependencies: { left: 'next' } }),
      '../shared/package.json': member({ left: '1.0.0' }),
    });
    for (const folder of pair.folders) {
      mkdirSync(join(folder, 'p'));
      symlinkSync('../../shared', join(folder, 'p', 'a'));
    }
    const same = (step, ...words) => {
      pair.same(step, ...words);
      const [ours, theirs] = pair.folders.map((folder) => listing(join(folder, '../shared')));
      assert.deepEqual(ours, theirs, step);
    };
    same('first');
    pair.write({ '../shared/package.json': member({ left: '1.1.0', right: '1' }) });
    same('changed');
    same('from the lock', 'ci');
    pair.write({ '../shared/package.json': member({}) });
    same('nothing any more');
    same('from the lock, without', 'ci');
  });
});
