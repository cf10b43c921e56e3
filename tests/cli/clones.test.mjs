// What a cloned repository may bring along: links, locks and folders that pass for Gantry's own. Nothing outside of the
// clone changes, and nothing of the user's in it goes that npm would leave.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
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
});
