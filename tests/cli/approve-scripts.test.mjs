// `approve-scripts`, `deny-scripts` and `install-scripts`: they write into package.json what npm's do, and what then counts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';
import { events, manifest, place, record, recorded, warned } from './lib/scripts.mjs';

const text = (project, file = 'package.json') => readFileSync(join(project, file), 'utf8');
const allowed = (project) => JSON.parse(text(project)).allowScripts;
const isObject = (value) => typeof value === 'object' && value !== null;

/** Both programs' result of one command, in which they must have written the same. */
function both({ workspace, folders: [ours, theirs] }, ...words) {
  const run = workspace.gantryIn(ours, ...words, '--json').succeeded();
  const npm = JSON.parse(workspace.npm(theirs, ...words, '--json').succeeded().stdout);
  assert.equal(text(ours), text(theirs), words.join(' '));
  return [run.lines.at(-1), npm, run];
}

/** A project for both in which nothing has run. */
function installed(context, suite, files) {
  const pair = new Pair(context, suite.registry, files);
  const { workspace, folders } = pair;
  workspace.gantryIn(folders[0], 'install', '--ignore-scripts').succeeded();
  workspace.npm(folders[1], 'install', '--ignore-scripts').succeeded();
  return pair;
}

const three = {
  recorder: '1.0.0',
  other: 'npm:recorder@1.1.0',
  builder: '1',
  'with-gyp': '1',
  tool: '1',
  carrier: '1',
};

describe('approve-scripts', { concurrency: 1 }, () => {
  const suite = fixturesForSuite('scripts');

  test('writes and tells what npm does, step by step', (context) => {
    const pair = installed(context, suite, manifest(three));
    for (const words of [
      ['approve-scripts', 'builder'],
      ['approve-scripts', 'builder'],
      ['install-scripts', 'approve', 'recorder@^1.1.0', 'tool'],
      ['approve-scripts', 'recorder'],
      ['deny-scripts', 'recorder@1.0.0'],
      ['approve-scripts', 'recorder'],
      ['install-scripts', 'deny', 'builder', 'with-gyp'],
      ['install-scripts', 'prune'],
      ['install-scripts', 'prune'],
    ]) {
      const [ours, theirs] = both(pair, ...words);
      assert.deepEqual(ours.allowScripts, theirs.allowScripts, words.join(' '));
    }
    assert.deepEqual(allowed(pair.folders[0]), { recorder: false, builder: false, 'with-gyp': false });
    const lines = ({ stdout }) => stdout.trim().split('\n');
    const [ours, theirs] = pair.folders;
    for (const words of [
      ['approve-scripts', 'builder'],
      ['deny-scripts', 'tool'],
      ['install-scripts', 'prune'],
    ]) {
      const run = pair.workspace.gantryIn(ours, ...words).succeeded();
      assert.deepEqual(lines(run), lines(pair.workspace.npm(theirs, ...words).succeeded()), words.join(' '));
    }
  });

  test('lists and approves all of which nothing is said, as npm does', (context) => {
    const pair = installed(context, suite, manifest(three, { allowScripts: { 'builder@1.0.0': true } }));
    const pending = ({ allowScripts }) =>
      allowScripts.map(({ name, changes }) => [name, changes.map(({ key, change }) => [key, change])]);
    for (const words of [
      ['install-scripts', 'ls'],
      ['install-scripts', 'list'],
      ['approve-scripts', '--allow-scripts-pending'],
    ]) {
      const [ours, theirs] = both(pair, ...words);
      assert.deepEqual(pending(ours), pending(theirs));
      assert.equal(pending(ours).flatMap(([, changes]) => changes).length, 3);
    }
    const [ours, theirs] = both(pair, 'approve-scripts', '-a');
    assert.deepEqual(ours.allowScripts, theirs.allowScripts);
    assert.deepEqual(ours.rebuild, ['other', 'recorder', 'with-gyp']);
    for (const words of [
      ['approve-scripts', '--all'],
      ['deny-scripts', '--all'],
      ['install-scripts', 'ls'],
    ]) {
      const [none, npms] = both(pair, ...words);
      assert.deepEqual([none.allowScripts, npms.allowScripts], [[], []]);
    }
    assert.equal(
      pair.workspace.gantryIn(pair.folders[0], 'install-scripts', 'ls').succeeded().stdout,
      pair.workspace.npm(pair.folders[1], 'install-scripts', 'ls').succeeded().stdout,
    );
  });

  test('what is there already makes room, as with npm', (context) => {
    const pair = installed(context, suite, manifest(three));
    for (const allowScripts of [
      { recorder: true, z: true },
      { 'recorder@0.9.0': true, 'recorder@1.0.0': true, 10: true, 'recorder@1.0.0 || 1.1.0': true },
      { 'recorder@0.9.0': false, builder: 'yes' },
      { 'recorder@latest': false },
      'nonsense',
      [],
    ]) {
      for (const words of [
        ['approve-scripts', 'recorder'],
        ['approve-scripts', 'recorder', '--no-allow-scripts-pin'],
      ]) {
        for (const more of [[], ['deny-scripts', 'recorder']]) {
          pair.write(manifest(three, { allowScripts, last: 1 }));
          both(pair, ...words);
          if (more.length > 0) both(pair, ...more);
        }
      }
    }
    pair.write({ '.npmrc': 'allow-scripts-pin=false\n', ...manifest(three) });
    both(pair, 'approve-scripts', 'builder');
    assert.deepEqual(allowed(pair.folders[0]), { builder: true });
    both(pair, 'approve-scripts', 'builder', '--allow-scripts-pin');
    assert.deepEqual(allowed(pair.folders[0]), { 'builder@1.0.0': true });
  });

  test('without addresses in the lock the name is approved, as by npm', (context) => {
    const omitted = { '.npmrc': 'omit-lockfile-registry-resolved=true\n' };
    const pair = installed(context, suite, { ...manifest({ builder: '1', tool: '1' }), ...omitted });
    const [ours, theirs, run] = both(pair, 'approve-scripts', 'builder');
    assert.deepEqual(ours.allowScripts, theirs.allowScripts);
    assert.equal(warned(run, 'SCRIPTS_UNPINNED').length, 1);
    assert.deepEqual(allowed(pair.folders[0]), { builder: true });
    assert.equal(pair.workspace.gantryIn(pair.folders[0], 'rebuild', '--json').lines.at(-1).scriptsRun.length, 1);
  });

  test('package.json keeps its look', (context) => {
    const pair = installed(context, suite, manifest({ builder: '1', tool: '1' }));
    const fields = '"dependencies": {"tool": "1",\r\n"builder": "1"}, "empty": {}, "n": 1.0';
    for (const source of [`{\r\n\t"name": "p", ${fields}\r\n}`, `{"name":"p",${fields.replaceAll('\r\n', '')}}\n\n`]) {
      pair.write({ 'package.json': source });
      both(pair, 'approve-scripts', 'builder');
      both(pair, 'deny-scripts', 'builder');
      pair.write({ 'package.json': text(pair.folders[0]).replaceAll('"builder"', '"gone"') });
      both(pair, 'install-scripts', 'prune');
      assert.equal(allowed(pair.folders[0]), undefined);
    }
  });

  test('what is approved runs with the next step that is named, and what is denied never', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ ...three, second: '1' }));
    const strict = workspace.gantryIn(project, 'install', '--strict-allow-scripts', '--json').lines.at(-1);
    assert.deepEqual([strict.code, /`gantry approve-scripts NAME`/.test(strict.hint)], ['SCRIPTS_UNREVIEWED', true]);
    const [told] = warned(workspace.gantryIn(project, 'install', '--json').succeeded(), 'SCRIPTS_NOT_RUN');
    assert.match(told, /`gantry approve-scripts NAME`.*`gantry deny-scripts NAME`/);
    const run = workspace.gantryIn(project, 'approve-scripts', 'recorder', 'tool').succeeded();
    const [, next] = run.stderr.match(/`gantry (rebuild[^`]*)` runs their scripts/);
    assert.equal(next, 'rebuild other recorder');
    workspace.gantryIn(project, ...next.split(' ')).succeeded();
    const ran = ['recorder preinstall', 'recorder install', 'recorder install', 'recorder postinstall'];
    assert.deepEqual(events(recorded(workspace)), ran);
    workspace.gantryIn(project, 'deny-scripts', '--all').succeeded();
    workspace.gantryIn(project, 'deny-scripts', 'recorder').succeeded();
    const after = workspace.gantryIn(project, 'ci', '--json').succeeded();
    assert.deepEqual([warned(after, 'SCRIPTS_NOT_RUN'), after.lines.at(-1).scriptsRun], [[], []]);
    workspace.gantryIn(project, 'ci', '--strict-allow-scripts').succeeded();
    // Nothing runs anyway.
    writeFileSync(join(project, '.npmrc'), 'ignore-scripts=true\n');
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest(three)['package.json']));
    const ignored = workspace.gantryIn(project, 'approve-scripts', '--all', '--json').succeeded().lines.at(-1);
    assert.deepEqual([ignored.allowScripts.length, ignored.rebuild], [5, []]);
  });

  test('scripts are listed as they are, whatever is in them', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest({ lib: 'file:lib' }));
    mkdirSync(join(project, 'lib'));
    const install = 'evil \u001b[8m; # \u202e\n  kind@1.0.0 (install: kind';
    writeFileSync(join(project, 'lib', 'package.json'), JSON.stringify({ name: 'lib', scripts: { install } }));
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const [, line, ...more] = workspace.gantryIn(project, 'install-scripts', 'ls').succeeded().stdout.split('\n');
    assert.equal(line, String.raw`  lib (install: evil \u{1b}[8m; # \u{202e}\n  kind@1.0.0 (install: kind)`);
    assert.deepEqual(more, ['']);
    const [{ allowScripts }] = workspace.gantryIn(project, 'install-scripts', 'ls', '--json').succeeded().lines;
    assert.deepEqual(allowScripts[0].changes[0].scripts, { install });
  });

  test('folders, tarballs and repositories are written as they are meant', (context) => {
    const workspace = place(context, suite);
    const scripts = { install: record, prepare: record };
    const fields = (name) => JSON.stringify({ name, version: '1.0.0', scripts });
    const dependencies = { linked: 'file:lib', tarred: 'file:tarred-1.0.0.tgz' };
    const project = workspace.project('project', manifest(dependencies, { workspaces: ['packages/*'] }));
    for (const [folder, name] of [
      ['lib', 'lib'],
      ['packages/a', 'a'],
      ['tarred', 'tarred'],
    ]) {
      mkdirSync(join(project, folder), { recursive: true });
      writeFileSync(join(project, folder, 'package.json'), fields(name));
    }
    workspace.npm(join(project, 'tarred'), 'pack', '--ignore-scripts', '--pack-destination=..').succeeded();
    const repository = workspace.project('repository', { 'package.json': fields('cloned') });
    const git = (...words) => execFileSync('git', words, { cwd: repository, encoding: 'utf8' }).trim();
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@test', 'commit', '--quiet', '--message', 'first');
    const address = `git+file://${repository}`;
    const cloned = manifest({ ...dependencies, cloned: address }, { workspaces: ['packages/*'] });
    writeFileSync(join(project, 'package.json'), JSON.stringify(cloned['package.json']));
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const [{ allowScripts }] = workspace.gantryIn(project, 'install-scripts', 'ls', '--json').succeeded().lines;
    assert.deepEqual(
      allowScripts.map(({ name }) => name),
      ['linked', 'cloned', 'tarred'],
    );
    const commit = git('rev-parse', 'HEAD');
    // What did not run is told with what approving the first of it would write.
    const entries = (...words) => {
      const told = warned(workspace.gantryIn(project, ...words, '--json').succeeded(), 'SCRIPTS_NOT_RUN');
      return told.map((message) => JSON.parse(message.match(/: (\{".*":true\})/)[1]));
    };
    for (const command of ['install', 'ci', 'rebuild']) {
      const expected = [{ [`${address}#${commit}`]: true }, { 'file:lib': true }];
      assert.deepEqual(entries(command), expected, command);
      assert.deepEqual(
        entries(command, '--no-allow-scripts-pin'),
        [{ [address]: true }, { 'file:lib': true }],
        command,
      );
    }
    assert.deepEqual(entries('rebuild', 'tarred'), [{ 'file:tarred-1.0.0.tgz': true }]);
    assert.deepEqual(entries('rebuild', 'linked'), [{ 'file:lib': true }]);
    recorded(workspace);
    // As for its neighbours: from wherever in the project, and not for the workspace alone.
    workspace.gantryIn(join(project, 'packages/a'), 'approve-scripts', '--all').succeeded();
    const keys = ['file:lib', `${address}#${commit}`, 'file:tarred-1.0.0.tgz'];
    assert.deepEqual(Object.keys(allowed(project)), keys);
    assert.equal(JSON.parse(text(project, 'packages/a/package.json')).allowScripts, undefined);
    recorded(workspace);
    workspace.gantryIn(project, 'rebuild', 'linked', 'cloned', 'tarred').succeeded();
    const names = new Set(recorded(workspace).map(({ name }) => name));
    assert.deepEqual(names, new Set(['lib', 'cloned', 'tarred']));
    assert.deepEqual(
      workspace.gantryIn(project, 'install-scripts', 'prune', '--json').succeeded().lines.at(-1).allowScripts,
      {
        removed: [],
        dryRun: false,
      },
    );
    workspace.gantryIn(project, 'deny-scripts', 'linked', 'cloned', 'tarred').succeeded();
    assert.deepEqual(allowed(project), { 'file:lib': false, 'file:tarred-1.0.0.tgz': false, [address]: false });
    const after = workspace.gantryIn(project, 'install', '--json').succeeded();
    assert.deepEqual(warned(after, 'SCRIPTS_NOT_RUN'), []);
  });

  test('of many that did not run some are named', (context) => {
    const workspace = place(context, suite);
    const names = [...'abcdefghij'];
    const dependencies = Object.fromEntries(names.map((name) => [name, `file:${name}`]));
    const project = workspace.project('project', manifest(dependencies));
    for (const name of names) {
      mkdirSync(join(project, name));
      // The first has none: it is neither named nor what is approved.
      const scripts = name === 'a' ? {} : { install: record };
      writeFileSync(join(project, name, 'package.json'), JSON.stringify({ name, version: '1.0.0', scripts }));
    }
    for (const command of ['install', 'rebuild']) {
      const run = workspace.gantryIn(project, command, '--json').succeeded();
      const [told] = warned(run, 'SCRIPTS_NOT_RUN');
      const shown = names.slice(1, 9).map((name) => `${name} (install)`);
      assert.ok(told.includes(`did not run: ${shown.join(', ')} and 1 more. `), told);
      assert.ok(told.endsWith(': {"file:b":true}'), told);
    }
  });

  test('a dry run tells the same and writes nothing', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest(three, { allowScripts: { gone: true } }));
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const before = text(project);
    for (const [words, said] of [
      [['approve-scripts', 'builder'], 'Would approve builder:\n  added builder@1.0.0\n'],
      [['install-scripts', 'deny', 'builder'], 'Would deny builder:\n  added builder\n'],
      [['install-scripts', 'prune'], 'Would remove 1 unused allowScripts entry:\n  gone (package not installed)\n'],
    ]) {
      assert.equal(workspace.gantryIn(project, ...words, '--dry-run').succeeded().stdout, said);
      const result = workspace
        .gantryIn(project, ...words, '--dry-run', '--json')
        .succeeded()
        .lines.at(-1);
      assert.ok(result.dryRun ?? result.allowScripts.dryRun);
      assert.equal(text(project), before);
    }
  });

  test('what cannot be done is said, and nothing is written', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', manifest(three));
    const fails = (folder, code, status, ...words) => {
      const run = workspace.gantryIn(folder, ...words, '--json');
      assert.deepEqual([run.lines.at(-1).code, run.status], [code, status], words.join(' '));
      assert.notEqual(workspace.npm(folder, ...words).status, 0, words.join(' '));
      return run.lines.at(-1);
    };
    fails(project, 'TREE_UNKNOWN', 1, 'approve-scripts', 'builder');
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const before = text(project);
    fails(project, 'PACKAGE_UNKNOWN', 1, 'approve-scripts', 'builder', 'nothing');
    fails(project, 'PACKAGE_UNKNOWN', 1, 'approve-scripts', 'builder@2');
    assert.match(fails(project, 'PACKAGE_UNKNOWN', 1, 'deny-scripts', 'other').hint, /is recorder: /);
    for (const words of [
      ['approve-scripts'],
      ['deny-scripts'],
      ['deny-scripts', '--allow-scripts-pending'],
      ['deny-scripts', 'builder', '--allow-scripts-pending'],
      ['approve-scripts', 'builder', '--allow-scripts-pending'],
      ['approve-scripts', '--all', '--allow-scripts-pending'],
      ['install-scripts'],
      ['install-scripts', 'builder'],
      ['install-scripts', 'approve'],
      ['install-scripts', 'ls', 'builder'],
      ['install-scripts', 'prune', '--all'],
    ]) {
      fails(project, 'WRONG_USAGE', 2, ...words);
    }
    fails(project, 'CONFIG_UNSUPPORTED', 1, 'approve-scripts', 'builder', '--global');
    fails(project, 'CONFIG_INVALID', 1, 'approve-scripts', 'builder', '--allow-scripts=builder');
    assert.equal(text(project), before);
    rmSync(join(project, 'package.json'));
    fails(project, 'MANIFEST_MISSING', 1, 'deny-scripts', 'builder');
  });

  test('what an entry refuses stays refused, and a list elsewhere that counts no longer is told of', (context) => {
    const workspace = place(context, suite);
    const project = workspace.project('project', {
      ...manifest(three, { allowScripts: { builder: false } }),
      '.npmrc': 'allow-scripts=recorder\n',
    });
    workspace.gantryIn(project, 'install', '--ignore-scripts').succeeded();
    const run = workspace.gantryIn(project, 'approve-scripts', 'builder', 'with-gyp', '--json').succeeded();
    assert.match(warned(run, 'SCRIPTS_DENIED')[0], /^builder is not approved: /);
    assert.deepEqual(allowed(project), { builder: false, 'with-gyp@1.0.0': true });
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest(three)['package.json']));
    const first = workspace.gantryIn(project, 'approve-scripts', '--all', '--json').succeeded();
    assert.equal(warned(first, 'CONFIG_IGNORED').length, 1);
    assert.deepEqual(allowed(project), { 'builder@1.0.0': true, 'with-gyp@1.0.0': true });
    const pending = workspace.gantryIn(project, 'install-scripts', 'ls', '--json').succeeded().lines.at(-1);
    assert.deepEqual(
      pending.allowScripts.map(({ name, changes }) => [name, changes.every(({ scripts }) => isObject(scripts))]),
      [['recorder', true]],
    );
  });
});
