// Single workspaces: gantry and npm install, add, remove, update and clean-install for the same part of the same project, step by
// step, and come to the same manifests, locks and trees.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { registryForSuite } from './lib/programs.mjs';

const member = (name, fields) => ({ name, version: '1.0.0', ...fields });

describe('chosen workspaces', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  /** `a` is like any other, `b` needs another version of what the project has, `c` needs `a`, `d` has everything. */
  const files = (fields) => ({
    'package.json': member('root', { workspaces: ['p/*', 'q/*'], dependencies: { left: '1.1.0' }, ...fields }),
    'p/a/package.json': member('a', { dependencies: { right: '1' }, bin: 'a.js' }),
    'p/a/a.js': '#!/usr/bin/env node\n',
    'p/b/package.json': member('b', { dependencies: { left: '1.0.0', executable: '1' } }),
    'q/c/package.json': member('@team/c', { dependencies: { a: '^1.0.0', '@scope/middle': '1' } }),
    'q/d/package.json': member('d', {
      dependencies: { left: '1' },
      devDependencies: { 'peer-host': '1.0.0', 'with-script': '*' },
      optionalDependencies: { executable: '*' },
    }),
  });
  const pairOf = (context, fields, more) => new Pair(context, registry, { ...files(fields), ...more });
  const manifest = (pair, folder) => JSON.parse(readFileSync(join(pair.folders[0], folder, 'package.json'), 'utf8'));
  const has = (pair, path) => existsSync(join(pair.folders[0], path));

  /** Runs both in the same folder of the project; both must fail, ours with `code`. */
  const fails = (pair, step, code, command, words, inside = '') => {
    const [ours, theirs] = pair.folders;
    const run = pair.workspace.gantryIn(join(ours, inside), command, '--json', ...words);
    assert.notEqual(run.status, 0, `${step}: gantry fails`);
    assert.equal(run.lines.at(-1).code, code, step);
    assert.notEqual(pair.workspace.npm(join(theirs, inside), command, ...words).status, 0, `${step}: npm fails`);
    return run.lines.at(-1);
  };

  test('in the folder of a workspace, only this one changes', (context) => {
    const pair = pairOf(context);
    pair.same('first', 'install', [], 'p/a');
    assert.ok(has(pair, 'node_modules/right') && !has(pair, 'node_modules/executable'));
    pair.same('something more', 'install', ['peer-host'], 'p/a');
    assert.deepEqual(manifest(pair, 'p/a').dependencies, { 'peer-host': '^1.0.0', right: '1' });
    pair.same('for development', 'install', ['-D', 'left@1.0.0'], 'p/a');
    pair.same('in another', 'install', [], 'p/b');
    pair.same('an exact version there', 'install', ['-E', 'right@1'], 'p/b');
    pair.same('gone again', 'uninstall', ['peer-host'], 'p/a');
    pair.same('below the folder of the workspace', 'install', ['with-script'], 'p/a/node_modules');
    pair.same('the whole project at last');
    pair.same('once more', 'install', [], 'q/c');
    pair.same('nothing to do', 'install', [], 'p/b');
  });

  test('by name, by folder, and by the folder that they are in', (context) => {
    for (const words of [
      ['-w', 'a'],
      ['-w', '@team/c'],
      ['--workspace=p/b'],
      ['-w', './p/b/'],
      ['-w', 'q'],
      ['-w', 'p/'],
      ['-w', 'a', '-w', 'd'],
      ['-w', 'a', '-w', 'absent'],
      ['--workspaces'],
      ['-w', 'b', '--include-workspace-root'],
      ['--workspaces', '--include-workspace-root'],
      ['--include-workspace-root'],
      ['--no-workspaces'],
    ]) {
      const pair = pairOf(context);
      const step = words.join(' ');
      pair.same(step, 'install', words);
      pair.same(`${step}, with something more`, 'install', ['with-script@*', ...words]);
      pair.same(`${step}, from the lock`, 'ci', words);
      pair.same(`${step}, then everything`);
      pair.same(`${step}, of everything`, 'install', words);
      pair.same(`${step}, without it`, 'uninstall', ['with-script', ...words]);
    }
  });

  test('paths start where one is, and what is named takes the place of the folder', (context) => {
    const pair = pairOf(context);
    pair.same('another', 'install', ['-w', 'b'], 'p/a');
    pair.same('by its path', 'install', ['-w', '../../q/d'], 'p/a');
    pair.same('this folder', 'install', ['right', '-w', '.'], 'q/c');
    pair.same('from between', 'install', ['right', '-w', 'd'], 'q');
    pair.same('from between, nothing named', 'install', [], 'q');
    pair.same('without workspaces, which makes it a project', 'install', ['--no-workspaces'], 'p/b');
    pair.same('all of them', 'install', ['--workspaces'], 'p/b');
  });

  test('settings choose, as options do', (context) => {
    for (const setting of [
      'workspace=a',
      'workspace[]=a\nworkspace[]=b',
      'workspaces=true',
      'workspaces=false',
      'workspace=b\ninclude-workspace-root=true',
    ]) {
      const pair = pairOf(context, {}, { '.npmrc': `${setting}\n` });
      pair.same(setting);
      pair.same(`${setting}, with something more`, 'install', ['with-script']);
      if (setting !== 'workspaces=false') pair.same(`${setting}, elsewhere`, 'install', ['-w', 'd'], 'p/a');
    }
    const pair = pairOf(context, {}, { 'p/a/.npmrc': 'save-exact=true\n' });
    pair.same("a workspace's own settings do not count", 'install', ['with-script'], 'p/a');
    const run = pair.workspace.gantryIn(join(pair.folders[0], 'p/a'), 'install', '--json').succeeded();
    assert.ok(run.lines.some(({ code }) => code === 'CONFIG_IGNORED'));
    for (const variable of ['npm_config_workspace', 'npm_config_workspaces']) {
      const pair = pairOf(context);
      pair.workspace.environment[variable] = variable.endsWith('s') ? 'true' : 'b';
      pair.same(variable);
    }
  });

  test('a lock without a tree, and a tree without a lock', (context) => {
    for (const words of [['-w', 'b'], ['-w', 'c', '-w', '@team/c'], ['--no-workspaces']]) {
      const pair = pairOf(context);
      const step = words.join(' ');
      pair.same(`${step}: the lock alone`, 'install', ['--package-lock-only', 'with-script', ...words]);
      pair.same(`${step}: the tree`, 'install', words);
      pair.remove('package-lock.json');
      pair.same(`${step}: the lock again`, 'install', words);
      pair.remove('package-lock.json');
      pair.same(`${step}: and once more with a change`, 'install', ['right@1', ...words]);
      pair.remove('node_modules');
      pair.same(`${step}: no tree`, 'install', ['left@1.0.0', ...words]);
      pair.same(`${step}: no lock at all`, 'install', ['--no-package-lock', ...words]);
      pair.same(`${step}: not saved`, 'install', ['--no-save', 'with-script', ...words]);
    }
  });

  test('what is not asked for any more goes, where it was chosen', (context) => {
    const pair = pairOf(context);
    pair.same('first');
    pair.write({ 'p/b/package.json': member('b', { dependencies: { left: '1.1.0' } }) });
    pair.write({ 'p/a/package.json': member('a', { dependencies: { '@scope/middle': '1' }, bin: 'a.js' }) });
    pair.same('a alone', 'install', ['-w', 'a']);
    assert.ok(has(pair, 'p/b/node_modules/left'));
    pair.same('b, too', 'install', ['-w', 'b']);
    assert.ok(!has(pair, 'p/b/node_modules/left'));
    pair.write({ 'package.json': member('root', { workspaces: ['p/*', 'q/*'], dependencies: { deprecated: '*' } }) });
    pair.same('the project asks for something else', 'install', ['-w', 'b']);
    assert.ok(!has(pair, 'node_modules/deprecated'));
    pair.same('the project', 'install', ['--no-workspaces']);
    assert.ok(has(pair, 'node_modules/deprecated'));
    pair.same('everything');
  });

  test('what others left stays, but for the chosen', (context) => {
    const pair = pairOf(context);
    pair.same('first');
    pair.write({
      'node_modules/stranger/package.json': member('stranger'),
      'p/a/node_modules/stranger/package.json': member('stranger'),
      'p/b/node_modules/stranger/package.json': member('stranger'),
      'p/b/node_modules/.cache/kept.txt': 'kept',
    });
    pair.same('b', 'install', ['-w', 'b']);
    assert.ok(has(pair, 'node_modules/stranger') && has(pair, 'p/a/node_modules/stranger'));
    assert.ok(!has(pair, 'p/b/node_modules/stranger') && has(pair, 'p/b/node_modules/.cache/kept.txt'));
    pair.same('a', 'install', ['-w', 'a']);
    pair.same('from the lock', 'ci', ['-w', 'a']);
  });

  test('an empty folder in the place of the link to another workspace is in nobody’s way', (context) => {
    const pair = pairOf(context);
    pair.same('first');
    const [project] = pair.folders;
    pair.remove('node_modules/d');
    mkdirSync(join(project, 'node_modules', 'd'));
    // So it is for npm, but that takes the `q/d` of the link for a repository of GitHub's in its hidden lock.
    pair.workspace.gantryIn(project, 'install', '--workspace=a').succeeded();
    pair.same('the whole project');
  });

  test('kinds of dependencies are left out of the part alone', (context) => {
    const pair = pairOf(context);
    pair.same('without development', 'install', ['--omit=dev', '-w', 'd']);
    assert.ok(!has(pair, 'node_modules/with-script') && has(pair, 'node_modules/executable'));
    pair.same('without what is optional', 'install', ['--omit=optional', '-w', 'd']);
    pair.same('everything');
    pair.same('left out elsewhere', 'install', ['--omit=dev', '-w', 'b']);
    assert.ok(has(pair, 'node_modules/with-script'));
    pair.same('left out here', 'install', ['--omit=dev', '-w', 'd']);
    assert.ok(!has(pair, 'node_modules/with-script'));
    pair.same('from the lock', 'ci', ['--omit=dev', '-w', 'd']);
  });

  test('workspaces, folders and tags are added to workspaces', (context) => {
    const pair = pairOf(context, {}, { 'lib/package.json': member('lib', { dependencies: { 'with-script': '*' } }) });
    pair.same('a workspace by its name', 'install', ['a'], 'p/b');
    assert.equal(manifest(pair, 'p/b').dependencies.a, '^1.0.0');
    pair.same('a workspace by its folder', 'install', ['../b'], 'p/a');
    pair.same('a folder', 'install', ['../../lib'], 'q/d');
    assert.equal(manifest(pair, 'q/d').dependencies.lib, 'file:../../lib');
    pair.same('a folder, by -w', 'install', ['./lib', '-w', 'p']);
    pair.same('a tag', 'install', ['left@next', '-w', 'a', '-w', '@team/c']);
    pair.same('optional', 'install', ['-O', 'executable', '-w', 'a', '-w', '@team/c']);
    pair.same('a peer', 'install', ['--save-peer', 'peer-host@1', '-w', 'a']);
    pair.same('from one kind to another', 'install', ['-D', 'executable', '-w', 'a', '--include-workspace-root']);
    pair.same('everything');
    pair.same('from the lock', 'ci', ['-w', '@team/c']);
  });

  test('a workspace that is new joins first, and changes then', (context) => {
    const pair = pairOf(context);
    pair.same('first');
    pair.write({ 'q/new/package.json': member('new', { dependencies: { left: '1.0.0' } }) });
    pair.same('named', 'install', ['with-script', '-w', 'new']);
    assert.equal(manifest(pair, 'q/new').dependencies['with-script'], undefined);
    pair.same('again', 'install', ['with-script', '-w', 'new']);
    pair.write({ 'q/newer/package.json': member('newer', { dependencies: { right: '*' } }) });
    pair.same('in its folder', 'install', [], 'q/newer');
    pair.remove('q/new');
    pair.same('one is gone');
    pair.same('one is gone, and another chosen', 'install', ['-w', 'a']);
  });

  test('updates are for the part', (context) => {
    const fields = { dependencies: { left: '^1.0.0' } };
    const old = { 'p/a/package.json': member('a', { dependencies: { left: '1.0.0', right: '1' }, bin: 'a.js' }) };
    for (const words of [
      ['-w', 'a'],
      ['left', '-w', 'b'],
      ['left', '--save', '-w', 'a'],
      ['--save', '-w', 'a'],
      ['--save', '--workspaces', '--include-workspace-root'],
      ['--save'],
      ['--no-workspaces'],
    ]) {
      const pair = pairOf(context, { dependencies: { left: '1.0.0' } }, old);
      pair.same('first');
      pair.write({ 'package.json': { ...files(fields)['package.json'] } });
      pair.write({ 'p/a/package.json': member('a', { dependencies: { left: '^1.0.0', right: '1' }, bin: 'a.js' }) });
      pair.same(`update ${words.join(' ')}`, 'update', words);
      pair.same(`update ${words.join(' ')}, then everything`);
    }
    const pair = pairOf(context);
    pair.same('in the folder', 'update', [], 'p/b');
    pair.same('in the folder, by name', 'update', ['left'], 'q/d');
  });

  test('a clean install has the part alone', (context) => {
    for (const words of [['-w', 'b'], ['-w', '@team/c'], ['--workspaces'], ['--no-workspaces']]) {
      const pair = pairOf(context);
      const step = words.join(' ');
      pair.same(`${step}: the lock`, 'install', ['--package-lock-only']);
      pair.same(`${step}: no tree`, 'ci', words);
      pair.same(`${step}: more`, 'install');
      pair.same(`${step}: less`, 'ci', words);
      pair.same(`${step}: in a folder`, 'ci', [], 'q/d');
    }
    const pair = pairOf(context);
    pair.same('first');
    pair.write({ 'p/a/package.json': member('a', { dependencies: { deprecated: '*' } }) });
    fails(pair, 'what another asks for is not in the lock', 'LOCK_OUT_OF_SYNC', 'ci', ['-w', 'b']);
  });

  test('a project that depends on nothing itself is installed whole where it alone is meant', (context) => {
    const pair = pairOf(context, { dependencies: {} });
    pair.same('first', 'install', ['--no-workspaces']);
    pair.same('from the lock', 'ci', ['--no-workspaces']);
    pair.same('with a dependency', 'install', ['with-script', '--no-workspaces']);
  });

  test('--prefix names the project and no workspace', (context) => {
    const pair = pairOf(context);
    const [ours, theirs] = pair.folders;
    const prefixed = (step, inside, words, own) => {
      pair.workspace.gantryIn(join(ours, own), 'install', '--prefix', join(ours, inside), ...words).succeeded();
      pair.workspace.npm(join(theirs, own), 'install', '--prefix', join(theirs, inside), ...words).succeeded();
      pair.same(`${step}, afterwards`, 'install', ['-w', 'a']);
    };
    prefixed('the project from a workspace', '', ['-w', 'b'], 'p/a');
    prefixed('the project from elsewhere', '', ['-w', 'q'], '..');
    prefixed('a workspace as a project', 'p/b', ['with-script'], '');
  });

  test('why, in a workspace, tells of what this one needs', (context) => {
    const pair = pairOf(context);
    pair.same('first');
    const [ours, theirs] = pair.folders;
    for (const inside of ['', 'p/a', 'p/b', 'q/c', 'q/d']) {
      for (const name of ['left', 'right', 'a', '@scope/middle', 'executable']) {
        const known = pair.workspace.npm(join(theirs, inside), 'explain', '--json', name);
        const own = pair.workspace.gantryIn(join(ours, inside), 'why', '--json', name);
        const places = ({ status, stdout }) => (status === 0 ? JSON.parse(stdout).map(({ location }) => location) : []);
        assert.deepEqual(places(own).sort(), places(known).sort(), `${name} in ${inside}`);
      }
    }
    const digest = (inside) => pair.workspace.gantryIn(join(ours, inside), 'digest').succeeded().stdout;
    assert.equal(digest('p/a'), digest(''));
  });

  test('why tells of what the chosen part needs', (context) => {
    const files = {
      'package.json': member('root', {
        workspaces: ['p/*', 'q/*'],
        dependencies: { left: '1.1.0', lib: 'file:lib', '@team/c': '*' },
      }),
      'lib/package.json': member('lib', { dependencies: { 'with-script': '*' } }),
    };
    const pair = pairOf(context, {}, files);
    pair.workspace.gantryIn(pair.folders[0], 'install', '--ignore-scripts').succeeded();
    pair.workspace.npm(pair.folders[1], 'install', '--ignore-scripts').succeeded();
    const places = ({ status, stdout }) => (status === 0 ? JSON.parse(stdout).map(({ location }) => location) : []);
    const compare = (words, inside = '') => {
      const [ours, theirs] = pair.folders.map((folder) => join(folder, inside));
      for (const name of ['left', 'a', 'executable', 'with-script', '@scope/middle', 'lib']) {
        const own = pair.workspace.gantryIn(ours, 'why', '--json', name, ...words);
        const known = pair.workspace.npm(theirs, 'explain', '--json', name, ...words);
        assert.deepEqual(places(own).sort(), places(known).sort(), `${name} ${words.join(' ')} in ${inside}`);
      }
    };
    compare(['-w', 'b']);
    compare(['-w', 'p', '-w', 'absent']);
    compare(['--workspaces']);
    compare(['-w', 'b', '--include-workspace-root']);
    compare(['--no-workspaces']);
    compare(['-w', '../../q/d'], 'p/b');
    pair.write({ '.npmrc': 'workspace=a\n' });
    compare([]);
    const explain = (...words) => pair.workspace.gantryIn(pair.folders[0], 'explain', '--json', ...words);
    const why = (...words) => pair.workspace.gantryIn(pair.folders[0], 'why', '--json', ...words);
    assert.equal(explain('left', '-w', 'b').succeeded().stdout, why('left', '-w', 'b').succeeded().stdout);
    for (const [run, code, message] of [
      [why('left', '-w', 'absent'), 'WORKSPACE_UNKNOWN', /absent/],
      [why('with-script', '-w', 'b'), 'PACKAGE_UNKNOWN', /nothing that was chosen/],
      [why('left', '-w', 'b', '--no-workspaces'), 'CONFIG_INVALID', /b is chosen/],
      [explain('-w', 'b'), 'CONFIG_INVALID', /whole project/],
    ]) {
      assert.notEqual(run.status, 0);
      assert.equal(run.lines.at(-1).code, code);
      assert.match(run.lines.at(-1).message, message);
    }
  });

  test('what cannot be chosen is refused, and nothing changes', (context) => {
    const pair = pairOf(context);
    const unknown = fails(pair, 'no such workspace', 'WORKSPACE_UNKNOWN', 'install', ['-w', 'absent']);
    assert.match(unknown.message, /absent/);
    assert.match(unknown.hint, /a, b, @team\/c, d/);
    fails(pair, 'both', 'CONFIG_INVALID', 'install', ['-w', 'a', '--no-workspaces']);
    fails(pair, 'both, in a folder', 'CONFIG_INVALID', 'install', ['-w', 'b', '--no-workspaces'], 'p/a');
    for (const command of ['update', 'ci']) {
      fails(pair, command, 'WORKSPACE_UNKNOWN', command, ['-w', 'absent']);
    }
    fails(pair, 'uninstall', 'WORKSPACE_UNKNOWN', 'uninstall', ['left', '-w', 'absent']);
    pair.write({ '.npmrc': 'workspaces=false\n' });
    fails(pair, 'a setting and a folder', 'CONFIG_INVALID', 'install', [], 'p/a');
    assert.ok(!has(pair, 'node_modules') && !has(pair, 'package-lock.json'));
    const alone = new Pair(context, registry, { 'package.json': member('alone') });
    for (const words of [['-w', 'a'], ['--workspaces']]) {
      fails(alone, 'a project without workspaces', 'WORKSPACE_UNKNOWN', 'install', words);
    }
    alone.same('a project without workspaces, without them', 'install', ['with-script', '--no-workspaces']);
  });
});
