// npm's install-links: packages made of folders, which gantry and npm make alike, and leave alone alike.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';
import { all, bothRecorded, events, pair, record, warned } from './lib/scripts.mjs';

const on = '--install-links';
const root = (dependencies, fields) => ({ name: 'root', version: '1.0.0', dependencies, ...fields });
const lib = (fields) => ({ name: 'lib', version: '1.0.0', ...fields });

/** A project that asks for a folder beside it, which needs something of the registry. */
const simple = () => ({
  'package.json': root({ lib: 'file:../lib' }),
  '../lib/package.json': lib({ dependencies: { left: '^1.0.0' }, devDependencies: { deprecated: '1' } }),
  '../lib/index.js': 'module.exports = 1;\n',
});

describe('install-links', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const place = (context, files) => new Pair(context, suite.registry, files);
  const isLink = (pair, path) => lstatSync(join(pair.folders[0], path)).isSymbolicLink();
  const text = (pair, path) => readFileSync(join(pair.folders[0], path), 'utf8');
  const lock = (pair) => JSON.parse(text(pair, 'package-lock.json'));

  test('a folder beside the project is copied with what it needs, and stays what it was', (context) => {
    const pair = place(context, simple());
    pair.same('first', 'install', [on]);
    assert.ok(!isLink(pair, 'node_modules/lib'));
    assert.equal(lock(pair).packages['node_modules/lib'].resolved, 'file:../lib');
    assert.equal(lock(pair).packages['node_modules/deprecated'], undefined);
    pair.same('again', 'install', [on]);
    pair.write({ '../lib/index.js': 'module.exports = 2;\n', '../lib/more.js': '' });
    pair.same('its files have changed', 'install', [on]);
    assert.equal(text(pair, 'node_modules/lib/index.js'), 'module.exports = 1;\n');
    pair.write({ '../lib/package.json': lib({ version: '1.1.0', dependencies: { left: '1.0.0', right: '1' } }) });
    pair.same('its manifest has changed', 'install', [on]);
    pair.same('a clean install takes what is there', 'ci', [on]);
    assert.equal(text(pair, 'node_modules/lib/index.js'), 'module.exports = 2;\n');
    pair.same('after it', 'install', [on]);
    pair.same('asked for', 'install', [on, '../lib']);
    assert.equal(lock(pair).packages['node_modules/lib'].version, '1.1.0');
    pair.write({ '../lib/index.js': 'module.exports = 3;\n' });
    pair.same('asked for once more', 'install', [on, '../lib']);
    pair.same('clean once more', 'ci', [on]);
    assert.equal(text(pair, 'node_modules/lib/index.js'), 'module.exports = 3;\n');
    pair.same('uninstalled', 'uninstall', [on, 'lib']);
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/lib')));
  });

  test('what was put aside or is missing is made anew', (context) => {
    const pair = place(context, simple());
    pair.same('first', 'install', [on]);
    pair.write({ '../lib/index.js': 'module.exports = 2;\n' });
    pair.remove('node_modules/lib');
    pair.same('without it', 'install', [on]);
    assert.equal(text(pair, 'node_modules/lib/index.js'), 'module.exports = 2;\n');
    pair.write({ '../lib/index.js': 'module.exports = 3;\n' });
    pair.remove('node_modules');
    pair.same('without anything', 'install', [on]);
    assert.equal(text(pair, 'node_modules/lib/index.js'), 'module.exports = 3;\n');
    pair.remove('package-lock.json');
    pair.same('without a lock', 'install', [on]);
  });

  test('an update looks at the folder again', (context) => {
    for (const words of [[], ['lib'], ['left']]) {
      const pair = place(context, simple());
      pair.same('first', 'install', [on]);
      pair.write({
        '../lib/package.json': lib({ version: '2.0.0', dependencies: { right: '1' } }),
        '../lib/index.js': 'module.exports = 2;\n',
      });
      pair.same(`update ${words}`, 'update', [on, ...words]);
      pair.same(`after update ${words}`, 'install', [on]);
    }
  });

  test('the setting may be turned on and off', (context) => {
    const pair = place(context, simple());
    pair.same('off', 'install');
    assert.ok(isLink(pair, 'node_modules/lib'));
    pair.fail('on, clean, with more than the lock has', 'LOCK_OUT_OF_SYNC', 'ci', [on]);
    pair.same('on', 'install', [on]);
    assert.ok(!isLink(pair, 'node_modules/lib'));
    pair.same('off again', 'install');
    assert.ok(isLink(pair, 'node_modules/lib'));
    pair.write({ '.npmrc': 'install-links=true\n' });
    pair.same('on by a file', 'install');
    assert.ok(!isLink(pair, 'node_modules/lib'));
    pair.fail('off by an option, clean', 'LOCK_OUT_OF_SYNC', 'ci', ['--no-install-links']);
    pair.same('off by an option', 'install', ['--no-install-links']);
    assert.ok(isLink(pair, 'node_modules/lib'));
    pair.remove('package-lock.json');
    pair.same('on, by the tree alone', 'install');
    pair.remove('package-lock.json');
    pair.same('off, by the tree alone', 'install', ['--no-install-links']);
    pair.remove('node_modules');
    pair.same('on, for the lock alone', 'install', ['--package-lock-only']);
    pair.same('clean by that lock', 'ci');
  });

  test('a clean install goes by the setting, where the lock has all there is', (context) => {
    const pair = place(context, {
      'package.json': root({ lib: 'file:../lib' }),
      '../lib/package.json': lib(),
    });
    pair.same('off', 'install');
    pair.same('on, clean', 'ci', [on]);
    assert.ok(!isLink(pair, 'node_modules/lib'));
    pair.same('off, clean', 'ci');
    assert.ok(isLink(pair, 'node_modules/lib'));
    pair.write({ '../lib/package.json': lib({ version: '2.0.0' }) });
    pair.same('on, clean, of another version', 'ci', [on]);
    pair.same('on', 'install', [on]);
  });

  test('folders inside of the project are linked to where a path with a dot names them', (context) => {
    const pair = place(context, {
      'package.json': root({
        one: 'file:one',
        two: 'file:./two',
        three: './three',
        four: 'file:../project/four',
        five: 'file:../five',
      }),
      'one/package.json': { name: 'one', version: '1.0.0', dependencies: { six: 'file:../six' } },
      'two/package.json': { name: 'two', version: '1.0.0', dependencies: { six: 'file:../six' } },
      'three/package.json': { name: 'three', version: '1.0.0' },
      'four/package.json': { name: 'four', version: '1.0.0', dependencies: { five: 'file:../../five' } },
      'six/package.json': { name: 'six', version: '1.0.0' },
      '../five/package.json': { name: 'five', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    assert.deepEqual(
      ['one', 'two', 'three', 'four', 'five'].map((name) => isLink(pair, `node_modules/${name}`)),
      [false, true, false, true, false],
    );
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('off', 'install');
    pair.same('on', 'install', [on]);
  });

  test('workspaces stay links', (context) => {
    const pair = place(context, {
      'package.json': root({ b: 'file:packages/b', lib: 'file:../lib' }, { workspaces: ['packages/*'] }),
      'packages/a/package.json': {
        name: 'a',
        version: '1.0.0',
        dependencies: { b: '^1.0.0', lib: 'file:../../../lib' },
      },
      'packages/b/package.json': { name: 'b', version: '1.0.0', dependencies: { other: 'file:../../../other' } },
      '../lib/package.json': lib({ dependencies: { other: 'file:../other' } }),
      '../other/package.json': { name: 'other', version: '1.0.0', dependencies: { left: '1' } },
    });
    pair.same('first', 'install', [on]);
    assert.deepEqual(
      ['a', 'b', 'lib', 'other'].map((name) => isLink(pair, `node_modules/${name}`)),
      [true, true, false, false],
    );
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('in a workspace', 'install', [on, '--workspace', 'a', 'left']);
    pair.same('off', 'install');
    pair.same('on', 'install', [on]);
  });

  test('folders that folders ask for are copied from where they are', (context) => {
    const pair = place(context, {
      'package.json': root({ a: 'file:../outer/a', c: '1 || 2' }, { dependencies: { a: 'file:../outer/a' } }),
      '../outer/a/package.json': {
        name: 'a',
        version: '1.0.0',
        dependencies: { b: 'file:../b' },
        optionalDependencies: { d: 'file:../d', gone: 'file:../gone' },
        devDependencies: { e: 'file:../e' },
      },
      '../outer/b/package.json': { name: 'b', version: '1.0.0', dependencies: { a: 'file:../a', f: 'file:inside/f' } },
      '../outer/b/inside/f/package.json': { name: 'f', version: '1.0.0', dependencies: { left: '1.0.0' } },
      '../outer/d/package.json': { name: 'd', version: '1.0.0', dependencies: { left: '^1.0.0' } },
      '../outer/e/package.json': { name: 'e', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.fail('clean, without what is not there', 'LOCK_OUT_OF_SYNC', 'ci', [on]);
    pair.write({ '../outer/gone/package.json': { name: 'gone', version: '1.0.0' } });
    pair.remove('package-lock.json');
    pair.remove('node_modules');
    pair.same('with all', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('off', 'install');
    pair.same('on', 'install', [on]);
    pair.same('uninstalled', 'uninstall', [on, 'a']);
  });

  test('any other kind of dependency may be a folder, under any name', (context) => {
    const pair = place(context, {
      'package.json': {
        ...root({ renamed: 'file:../lib', '@scope/a': 'file:../scoped' }),
        devDependencies: { dev: 'file:../dev' },
        optionalDependencies: { optional: 'file:../optional' },
        peerDependencies: { peer: 'file:../peer' },
      },
      '../lib/package.json': lib({ dependencies: { left: '1' } }),
      '../scoped/package.json': { name: '@scope/a', dependencies: { right: '1' } },
      '../dev/package.json': { name: 'dev', version: '1.0.0', dependencies: { shared: 'file:../shared' } },
      '../optional/package.json': { name: 'optional', version: '1.0.0', dependencies: { shared: 'file:../shared' } },
      '../peer/package.json': { name: 'peer', version: '1.0.0', peerDependencies: { left: '1' } },
      '../shared/package.json': { name: 'shared', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('without some', 'ci', [on, '--omit=dev', '--omit=optional']);
    pair.same('with all', 'install', [on]);
    pair.same('nested', 'install', [on, '--install-strategy=nested']);
    pair.remove('package-lock.json');
    pair.remove('node_modules');
    pair.same('nested from nothing', 'install', [on, '--install-strategy=nested']);
  });

  test('overrides lead to folders, and hold in them', (context) => {
    const pair = place(context, {
      'package.json': {
        ...root({ left: 'file:../mine', lib: 'file:../lib', right: '*' }),
        overrides: { left: '$left', lib: { deprecated: '1.0.0' } },
      },
      '../lib/package.json': lib({ dependencies: { deprecated: '*', left: '^1.0.0' } }),
      '../mine/package.json': { name: 'left', version: '9.0.0', dependencies: { other: 'file:../other' } },
      '../other/package.json': { name: 'other', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('off', 'install');
    pair.same('on', 'install', [on]);
  });

  test('folders are asked for on the command line', (context) => {
    const pair = place(context, {
      'package.json': root(undefined),
      '../lib/package.json': lib({ dependencies: { other: 'file:../other' } }),
      '../other/package.json': { name: 'other', version: '1.0.0' },
      'inside/package.json': { name: 'inside', version: '1.0.0' },
      'sub/folder/.keep': '',
    });
    pair.same('a folder beside the project', 'install', [on, '../lib']);
    assert.equal(JSON.parse(text(pair, 'package.json')).dependencies.lib, 'file:../lib');
    pair.same('one inside of it', 'install', [on, './inside']);
    pair.same('one for development', 'install', [on, '-D', '../other']);
    pair.same('another for good', 'install', [on, 'left', '../other']);
    pair.same('without an option', 'install', ['../lib']);
  });

  test('a package that is made of a folder has peers, is deduplicated and updated as others are', (context) => {
    const pair = place(context, {
      'package.json': root({ a: 'file:../a', b: 'file:../b' }),
      '../a/package.json': {
        name: 'a',
        version: '1.0.0',
        dependencies: { shared: 'file:../shared', left: '1.0.0' },
        peerDependencies: { 'peer-host': '1' },
      },
      '../b/package.json': {
        name: 'b',
        version: '1.0.0',
        dependencies: { shared: 'file:../shared', left: '^1.0.0' },
        peerDependencies: { left: '1' },
      },
      '../shared/package.json': { name: 'shared', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.same('deduplicated', 'dedupe', [on]);
    pair.write({ '../a/package.json': { name: 'a', version: '1.1.0', dependencies: { shared: 'file:../shared' } } });
    pair.same('updated', 'update', [on, 'a']);
    pair.same('pruned', 'prune', [on]);
    pair.same('clean', 'ci', [on]);
  });

  test('locks of every version say where packages are from', (context) => {
    // From version 1 npm does not find a way back to the folder.
    place(context, simple()).same('version 1', 'install', [on, '--lockfile-version=1']);
    const old = place(context, simple());
    old.same('version 2', 'install', [on, '--lockfile-version=2']);
    old.same('version 2 again', 'install', [on]);
    old.same('version 2, clean', 'ci', [on]);
    const pair = place(context, simple());
    pair.same('without addresses', 'install', [on, '--omit-lockfile-registry-resolved']);
    pair.same('without addresses again', 'install', [on, '--omit-lockfile-registry-resolved']);
  });

  test('folders that are not allowed are refused', (context) => {
    const pair = place(context, {
      ...simple(),
      '../lib/package.json': lib({ dependencies: { other: 'file:../other' } }),
      '../other/package.json': { name: 'other', version: '1.0.0' },
    });
    pair.fail('none', 'RESOLVE_NOT_ALLOWED', 'install', [on, '--allow-directory=none']);
    pair.fail('of others', 'RESOLVE_NOT_ALLOWED', 'install', [on, '--allow-directory=root']);
    pair.same('all', 'install', [on, '--allow-directory=all']);
  });

  test('a dry run makes nothing and runs nothing', (context) => {
    const workspace = new Workspace(context, suite.registry);
    workspace.project('lib', { 'package.json': lib({ scripts: { prepare: 'echo made > made.js' } }) });
    const project = workspace.project('project', { 'package.json': root({ lib: 'file:../lib' }) });
    const run = workspace.gantryIn(project, 'install', on, all, '--dry-run').succeeded();
    assert.match(run.stdout + run.stderr, /lib/);
    assert.ok(!existsSync(join(workspace.folder, 'lib/made.js')));
    assert.ok(!existsSync(join(project, 'node_modules')));
  });

  test('what is packed is what npm packs', (context) => {
    const pair = place(context, {
      'package.json': root({ lib: 'file:../lib', listed: 'file:../listed', git: 'file:../git' }),
      '../lib/package.json': lib({ main: 'ignored/main.js', bin: { tool: './bin/tool.js' } }),
      '../lib/.npmignore': 'ignored\n*.log\nbin\n!kept.log\n',
      '../lib/.npmrc': 'a=b\n',
      '../lib/README.md': '# lib\n',
      '../lib/a.log': '',
      '../lib/kept.log': '',
      '../lib/ignored/main.js': '',
      '../lib/ignored/other.js': '',
      '../lib/bin/tool.js': '#!/usr/bin/env node\n',
      '../lib/package-lock.json': {},
      '../lib/deep/package-lock.json': {},
      '../lib/deep/.npmignore': 'x.js\n',
      '../lib/deep/x.js': '',
      '../lib/deep/y.js': '',
      '../lib/.git/config': '',
      '../lib/node_modules/left/package.json': { name: 'left', version: '1.0.0' },
      '../lib/deep/node_modules/left/package.json': { name: 'left', version: '1.0.0' },
      '../lib/.DS_Store': '',
      '../lib/a.orig': '',
      '../listed/package.json': { name: 'listed', version: '1.0.0', files: ['lib', 'one.js', '*.txt', '!lib/no.js'] },
      '../listed/.npmignore': 'lib\n',
      '../listed/.gitignore': 'lib\n',
      '../listed/lib/yes.js': '',
      '../listed/lib/no.js': '',
      '../listed/lib/.gitignore': 'inner.js\n',
      '../listed/lib/inner.js': '',
      '../listed/one.js': '',
      '../listed/two.js': '',
      '../listed/a.txt': '',
      '../listed/LICENSE': '',
      '../git/package.json': { name: 'git', version: '1.0.0', directories: { bin: 'commands' } },
      '../git/.gitignore': 'dist\n',
      '../git/dist/x.js': '',
      '../git/src/x.js': '',
      '../git/commands/one': '#!/bin/sh\n',
    });
    for (const folder of pair.folders) {
      chmodSync(join(folder, '../lib/bin/tool.js'), 0o755);
      symlinkSync('README.md', join(folder, '../lib/link.md'));
      mkdirSync(join(folder, '../lib/empty'));
    }
    pair.same('first', 'install', [on]);
    pair.same('clean', 'ci', [on]);
  });

  test('the folder may be the one that the project is in', (context) => {
    const pair = place(context, {
      'package.json': root({ lib: 'file:..' }),
      '../package.json': lib(),
      '../index.js': '',
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
    pair.same('clean again', 'ci', [on]);
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/lib/project/node_modules')));
  });

  test('what a folder bundles comes along', (context) => {
    const pair = place(context, {
      'package.json': root({ lib: 'file:../lib' }),
      '../lib/package.json': lib({
        dependencies: { a: '1', left: '1.0.0' },
        bundleDependencies: ['a'],
      }),
      '../lib/node_modules/a/package.json': {
        name: 'a',
        version: '1.0.0',
        files: ['in.js'],
        dependencies: { b: '1', c: '1' },
      },
      '../lib/node_modules/a/in.js': '',
      '../lib/node_modules/a/out.js': '',
      '../lib/node_modules/a/node_modules/c/package.json': { name: 'c', version: '1.0.0' },
      '../lib/node_modules/a/node_modules/unused/package.json': { name: 'unused', version: '1.0.0' },
      '../lib/node_modules/b/package.json': { name: 'b', version: '1.0.0' },
      '../lib/node_modules/b/.npmignore': 'x.js\n',
      '../lib/node_modules/b/x.js': '',
      '../lib/node_modules/left/package.json': { name: 'left', version: '1.0.0' },
    });
    pair.same('first', 'install', [on]);
    pair.same('again', 'install', [on]);
    pair.same('clean', 'ci', [on]);
  });

  test('commands of copies are linked to', (context) => {
    const pair = place(context, {
      'package.json': root({ lib: 'file:../lib' }),
      '../lib/package.json': lib({ bin: 'cli.js' }),
      '../lib/cli.js': '#!/usr/bin/env node\r\n',
    });
    pair.same('first', 'install', [on]);
    assert.equal(lstatSync(join(pair.folders[0], '../lib/cli.js')).mode & 0o111, 0, 'the folder is left alone');
    pair.write({ '../lib/package.json': lib({ version: '1.0.1', bin: { other: 'cli.js' } }) });
    pair.same('renamed', 'install', [on, '../lib']);
    pair.same('clean', 'ci', [on]);
  });

  test('a folder that is not there is said so', (context) => {
    const pair = place(context, { 'package.json': root({ lib: 'file:../lib' }) });
    const error = pair.fail('no folder', 'FOLDER_MISSING', 'install', [on]);
    assert.match(error.message, /\.\.\/lib/);
    assert.ok(error.hint);
    pair.write({ '../lib/package.json': lib() });
    pair.same('there', 'install', [on]);
    pair.remove('../lib');
    pair.same('gone, but in its place', 'install', [on]);
    pair.fail('gone, clean', 'FOLDER_MISSING', 'ci', [on]);
  });

  test('scripts get a folder ready and run in the copy, where they may', (context) => {
    const scripts = Object.fromEntries(
      ['preprepare', 'prepare', 'postprepare', 'prepack', 'preinstall', 'install', 'postinstall'].map((event) => [
        event,
        record,
      ]),
    );
    scripts.prepare = `${record} && echo made > made.js`;
    const both = pair(context, suite, {
      'package.json': root({ lib: 'file:../lib' }),
      '../lib/package.json': lib({ scripts }),
    });
    const step = (command, ...words) => {
      const [ours, theirs] = bothRecorded(both, command, [on, ...words]);
      const told = (lines) =>
        lines.map(({ event, name, folder, environment }) => ({
          event,
          name,
          folder,
          resolved: environment.npm_package_resolved,
          manifest: environment.npm_package_json,
        }));
      assert.deepEqual(told(ours), told(theirs), command);
      assert.deepEqual(listing(both.folders[0]), listing(both.folders[1]), command);
      return events(ours);
    };
    const expected = ['lib prepare', 'lib preinstall', 'lib install', 'lib postinstall'];
    assert.deepEqual(step('install', all), expected);
    assert.ok(existsSync(join(both.folders[0], 'node_modules/lib/made.js')));
    assert.deepEqual(step('install', all), [], 'what stays is not made again');
    assert.deepEqual(step('ci', all), expected);
    assert.deepEqual(step('ci', '--ignore-scripts'), []);
    both.write({ 'package.json': root({ lib: 'file:../lib' }, { allowScripts: { 'file:../lib': true } }) });
    assert.deepEqual(step('ci'), expected);
  });

  test('what nobody has let run scripts is packed as it is, and a warning says so', (context) => {
    const workspace = new Workspace(context, suite.registry);
    workspace.project('lib', { 'package.json': lib({ scripts: { prepare: 'echo made > made.js' } }) });
    const project = workspace.project('project', { 'package.json': root({ lib: 'file:../lib' }) });
    const run = workspace.gantryIn(project, 'install', on, '--json').succeeded();
    const [message] = warned(run, 'FOLDER_NOT_PREPARED');
    assert.match(message, /lib.*"allowScripts".*{"file:\.\.\/lib":true}/);
    assert.ok(!existsSync(join(project, 'node_modules/lib/made.js')));
    assert.ok(!existsSync(join(workspace.folder, 'lib/made.js')));
  });

  test('a script that fails stops the install, unless the folder is optional', (context) => {
    const both = place(context, {
      'package.json': root({ lib: 'file:../lib' }),
      '../lib/package.json': lib({ scripts: { prepare: 'echo why; false' } }),
    });
    const [ours, theirs] = both.folders;
    const run = both.workspace.gantryIn(ours, 'install', on, all, '--json');
    assert.equal(run.lines.at(-1).code, 'FOLDER_UNPACKED');
    assert.match(run.lines.at(-1).message, /why/);
    assert.notEqual(both.workspace.npm(theirs, 'install', on).status, 0);
    assert.ok(!existsSync(join(ours, 'package-lock.json')));
    both.write({ 'package.json': { ...root({ left: '1' }), optionalDependencies: { lib: 'file:../lib' } } });
    both.options = [];
    both.same('optional', 'install', [on, all]);
    assert.ok(!existsSync(join(ours, 'node_modules/lib')));
  });

  test('projects do not share what is made of folders, nor keep what was made of them before', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const make = (content) => {
      workspace.project('lib', { 'package.json': lib(), 'index.js': content });
    };
    make('1');
    const projects = ['one', 'two'].map((name) =>
      workspace.project(name, { 'package.json': root({ lib: 'file:../lib' }) }),
    );
    const contents = () => projects.map((project) => readFileSync(join(project, 'node_modules/lib/index.js'), 'utf8'));
    const [one, two] = projects;
    workspace.gantryIn(one, 'install', on).succeeded();
    make('2');
    workspace.gantryIn(two, 'install', on).succeeded();
    assert.deepEqual(contents(), ['1', '2']);
    workspace.gantryIn(one, 'ci', on).succeeded();
    assert.deepEqual(contents(), ['2', '2']);
    writeFileSync(join(one, 'node_modules/lib/index.js'), '3');
    assert.deepEqual(contents(), ['3', '2']);
    assert.equal(readFileSync(join(workspace.folder, 'lib/index.js'), 'utf8'), '2');
    workspace.gantryIn(one, 'ci', on, '--offline').succeeded();
    assert.deepEqual(contents(), ['2', '2']);
  });
});
