// `gantry outdated` prints what `npm outdated` prints, and ends as it does.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { control, fixturesForSuite, projectsFolder, registryForSuite } from './lib/programs.mjs';

const ALL_FORMS = [[], ['--json'], ['--parseable'], ['--long'], ['--long', '--json'], ['-p', '-l']];

/** Runs both with these words. Gives what ours has printed in the first of the forms: the table unless others are given. */
function same(pair, step, words = [], inside = '', forms = [[]]) {
  return forms.map((form) => pair.print(step, ['outdated', ...form, ...words], inside))[0];
}

describe('outdated', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('everything that a project can ask for, with what is there and without', (context) => {
    const asked = {
      name: 'named-otherwise',
      dependencies: {
        left: '1.0.0',
        right: '^1.0.0',
        other: 'npm:left@1.0.0',
        'peer-host': '1',
        next: 'npm:left@next',
        '@scope/middle': '1',
        folder: 'file:folder',
      },
      devDependencies: { deprecated: '*', executable: '1' },
      optionalDependencies: { 'with-optional': '1', 'only-elsewhere': '1' },
      peerDependencies: { 'peer-guest': '*' },
      overrides: { right: { left: '1.0.0' } },
    };
    const pair = new Pair(context, suite.registry, {
      'package.json': asked,
      'folder/package.json': { name: 'folder', version: '1.0.0', dependencies: { left: '1.0.0' } },
    });
    assert.match(same(pair, 'nothing is installed', [], '', ALL_FORMS).stdout, /MISSING/);
    pair.same('installed');
    assert.deepEqual(
      same(pair, 'installed', [], '', ALL_FORMS)
        .stdout.split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ +/)[0]),
      ['left', 'next:left@next', 'only-elsewhere', 'other:left@1.0.0', 'peer-host'],
    );
    same(pair, 'everything', ['--all'], '', [['--json', '--long']]);
    same(pair, 'with a name', ['left']);
    same(pair, 'with names', ['left', 'peer-host', 'absent']);
    same(pair, 'with the name of what has nothing newer', ['executable']);
    same(pair, 'without some', ['--omit=dev', '--omit=optional', '--omit=peer']);
    same(pair, 'by another tag', ['--tag=next']);
    for (const name of ['executable', 'with-optional', 'right', 'deprecated']) {
      for (const folder of pair.folders) rmSync(join(folder, 'node_modules', name), { recursive: true });
    }
    same(pair, 'something has been removed');
    same(pair, 'something has been removed, of everything', ['--all']);
    pair.write({ 'package.json': { ...asked, dependencies: { ...asked.dependencies, left: '^1.1.0', new: '1' } } });
    same(pair, 'package.json asks for something else');
  });

  test('where nothing is newer nothing is printed; where nobody knows, too', (context) => {
    const pair = new Pair(context, suite.registry, { 'package.json': { dependencies: { left: '1.1.0' } } });
    pair.same('installed');
    const { stdout, status } = same(pair, 'newest', [], '', ALL_FORMS);
    assert.deepEqual([stdout, status], ['', 0]);
    pair.write({ 'package.json': { dependencies: { left: '1.1.0', 'never-published': '1', right: '^9' } } });
    assert.equal(same(pair, 'not in the registry').status, 0);
    pair.write({ 'package.json': { dependencies: { left: '1.1.0', 'no-versions': '1' } } });
    const [ours, theirs] = pair.folders;
    const { stdout: told, status: end } = pair.workspace.gantryIn(ours, 'outdated');
    assert.deepEqual([told, end, pair.workspace.npm(theirs, 'outdated').stdout], ['', 0, '']);
    assert.match(pair.workspace.npm(theirs, 'outdated').stderr, /ENOVERSIONS/);
  });

  test('workspaces, all of them and chosen ones', (context) => {
    const member = (name, fields) => ({ name, version: '1.0.0', ...fields });
    const pair = new Pair(context, suite.registry, {
      'package.json': { workspaces: ['p/*'], dependencies: { left: '1.0.0' } },
      'p/a/package.json': member('a', { dependencies: { left: '1.0.0' } }),
      'p/b/package.json': member('@team/b', { dependencies: { 'peer-host': '1' }, devDependencies: { left: '1.1.0' } }),
    });
    const words = ['--all', '-w a', '-w @team/b', '--workspaces', '-w a --include-workspace-root', '--no-workspaces'];
    same(pair, 'nothing is installed');
    pair.same('installed');
    for (const word of ['', ...words]) same(pair, `with ${word}`, word === '' ? [] : word.split(' '));
    same(pair, 'in all forms', ['--all'], '', ALL_FORMS);
    same(pair, 'in a workspace', [], 'p/b', [
      ['--json', '--long'],
      ['-p', '-l'],
    ]);
    same(pair, 'by name', ['left']);
    same(pair, 'by name, in a part', ['left', '-w', 'a']);
    same(pair, 'a workspace by name', ['a']);
  });

  test('a tree that another installer has made', (context) => {
    const pair = new Pair(context, suite.registry, { 'package.json': { dependencies: { left: '1.0.0', right: '1' } } });
    pair.same('installed');
    pair.remove('node_modules/.package-lock.json');
    pair.remove('package-lock.json');
    same(pair, 'without any lock', ['--all']);
  });

  test('a registry that fails is no answer', async (context) => {
    const pair = new Pair(context, suite.registry, {
      'package.json': { dependencies: { left: '1.0.0', 'peer-host': '1' } },
    });
    pair.same('installed');
    const fault = (status, count) =>
      control(suite.registry, 'POST', 'faults', [{ path: '/left$', kind: 'status', status, count }]);
    await fault(403, 20);
    assert.match(same(pair, 'forbidden').stdout, /^peer-host/m);
    await control(suite.registry, 'DELETE', 'faults');
    await fault(401, 20);
    const refused = pair.workspace.gantryIn(pair.folders[0], 'outdated', '--json');
    assert.deepEqual([refused.status, refused.lines[0].code], [3, 'REGISTRY_UNAUTHORIZED']);
    await control(suite.registry, 'DELETE', 'faults');
    const offline = pair.workspace.gantryIn(pair.folders[0], 'outdated', '--offline');
    assert.match(offline.stdout, /^left +1\.0\.0 +1\.0\.0 +1\.1\.0 +node_modules\/left +project$/m);
  });
});

describe('outdated of real projects', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  test('what is older than what the lock allows is told, with where it is described', (context) => {
    const manifest = JSON.parse(readFileSync(join(projectsFolder, 'vue', 'package.json'), 'utf8'));
    const pair = new Pair(context, registry, { 'package.json': manifest });
    pair.same('installed');
    assert.equal(same(pair, 'everything', ['--all'], '', [['--long'], ['--json']]).status, 1);
  });
});
