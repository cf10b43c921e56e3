// `gantry ls` prints what `npm ls` prints, and ends as it does.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';
import { Repository } from './lib/repository.mjs';

const ALL_FORMS = [[], ['--json'], ['--parseable'], ['--parseable', '--long'], ['--all'], ['--all', '--json']];

/** Runs both with these words. Gives what ours has printed in the first of the forms: the tree unless others are given. */
function same(pair, step, words = [], inside = '', forms = [[]]) {
  const printed = forms.map((form) => {
    const line = ['ls', ...form, ...words];
    return pair.print(step, line, inside, line.includes('--json') ? withoutError : undefined);
  });
  return printed[0];
}

/** What is wrong is in `problems`; npm tells it once more as an error. */
function withoutError(text) {
  const { error, ...list } = JSON.parse(text);
  return `${JSON.stringify(list, null, 2)}\n`;
}

describe('ls', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  const asked = {
    name: 'named-otherwise',
    version: '1.2.3',
    dependencies: {
      left: '1.0.0',
      right: '^1.0.0',
      other: 'npm:left@1.0.0',
      'peer-guest': '1',
      'peer-host': '1',
      '@scope/middle': '1',
      folder: 'file:folder',
    },
    devDependencies: { deprecated: '*', executable: '1', 'with-bundle': '1' },
    optionalDependencies: { 'with-optional': '1', 'only-elsewhere': '1' },
    overrides: { right: { left: '1.0.0' } },
  };
  const folder = { name: 'folder', version: '1.0.0', dependencies: { left: '1.1.0' } };

  test('everything that a project can have, at all levels', (context) => {
    const pair = new Pair(context, suite.registry, { 'package.json': asked, 'folder/package.json': folder });
    assert.match(same(pair, 'nothing is installed', [], '', ALL_FORMS).stdout, /UNMET DEPENDENCY left@1\.0\.0/);
    pair.same('installed');
    same(pair, 'installed', [], '', ALL_FORMS);
    same(pair, 'two levels', ['--depth=1']);
    same(pair, 'a package', ['left'], '', [[], ['--json'], ['-p', '-l']]);
    same(pair, 'packages', ['left@^1.1.0', 'executable@*']);
    same(pair, 'what is not there', ['left@2'], '', [[], ['--json'], ['-p']]);
    same(pair, 'an alias', ['other']);
    same(pair, 'links', ['--link']);
    same(pair, 'in ASCII', ['--all', '--no-unicode']);
    same(pair, 'in more than ASCII', ['--all', '--unicode']);
    same(pair, 'without some', ['--omit=dev', '--omit=optional']);
    same(pair, 'by the lock', ['--package-lock-only', '--all']);
  });

  test('what is missing, wrong or of nobody is said', (context) => {
    const pair = new Pair(context, suite.registry, { 'package.json': asked, 'folder/package.json': folder });
    pair.same('installed');
    for (const name of ['executable', 'with-optional', '@scope/middle']) {
      for (const project of pair.folders) rmSync(join(project, 'node_modules', name), { recursive: true });
    }
    const wrong = { ...asked, dependencies: { ...asked.dependencies, left: '^2', new: '1', 'peer-host': '2' } };
    delete wrong.dependencies.other;
    pair.write({
      'package.json': wrong,
      'node_modules/of-nobody/package.json': { name: 'of-nobody', version: '3.0.0' },
    });
    same(pair, 'after all of it', [], '', ALL_FORMS);
    same(pair, 'after all of it, one', ['left'], '', [[], ['--json']]);
    pair.write({ 'package.json': { dependencies: {} } });
    same(pair, 'nothing is asked for', [], '', ALL_FORMS);
  });

  test('workspaces, all of them and chosen ones', (context) => {
    const member = (name, fields) => ({ name, version: '1.0.0', ...fields });
    const pair = new Pair(context, suite.registry, {
      'package.json': { name: 'root', workspaces: ['p/*'], dependencies: { left: '1.0.0', executable: '1' } },
      'p/a/package.json': member('a', { dependencies: { left: '1.1.0', '@team/b': '^1.0.0' } }),
      'p/b/package.json': member('@team/b', { dependencies: { right: '1' }, devDependencies: { deprecated: '*' } }),
    });
    pair.same('installed');
    same(pair, 'whole', [], '', ALL_FORMS);
    const choices = ['-w a', '-w @team/b', '--workspaces', '-w a --include-workspace-root', '--no-workspaces'];
    for (const choice of choices) same(pair, choice, choice.split(' '));
    same(pair, 'chosen, at all levels', ['-w', 'a', '--all', '--json']);
    same(pair, 'in a workspace', [], 'p/b');
    same(pair, 'a package', ['left']);
  });

  test('repositories, trees of other installers, and what is empty', (context) => {
    const pair = new Pair(context, suite.registry, { 'package.json': {} });
    same(pair, 'an empty project', [], '', ALL_FORMS);
    const repository = new Repository(join(pair.workspace.folder, 'repository'));
    repository.write({ 'package.json': { name: 'kept-in-git', version: '1.0.0' } });
    repository.commit('first');
    pair.write({ 'package.json': { dependencies: { 'kept-in-git': `git+file://${repository.folder}`, right: '1' } } });
    pair.same('installed');
    same(pair, 'a repository', [], '', ALL_FORMS);
    pair.remove('node_modules/.package-lock.json');
    same(pair, 'without a hidden lock', ['--all']);
  });
});
