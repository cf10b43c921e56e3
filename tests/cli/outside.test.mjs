// What locks say of folders outside of the project, and of what is installed in these: nothing of it is this project's.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite } from './lib/programs.mjs';

const manifest = (fields) => ({ name: 'project', version: '1.0.0', ...fields });

describe('folders outside of the project', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  /** Two projects with a lock of npm's that `change` has changed. */
  function locked(context, files, change) {
    const pair = new Pair(context, suite.registry, files);
    pair.same('a first install');
    const lock = JSON.parse(readFileSync(join(pair.folders[1], 'package-lock.json'), 'utf8'));
    change(lock.packages);
    lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([one], [other]) => (one < other ? -1 : 1)));
    pair.remove('node_modules');
    pair.write({ 'package-lock.json': lock });
    return pair;
  }

  test('what a lock says is installed in one stays in the lock, and is not installed', (context) => {
    const files = {
      'package.json': manifest({
        dependencies: { lib: 'file:../lib', left: '1.0.0' },
        devDependencies: { right: '1' },
      }),
      '../lib/package.json': { name: 'lib', version: '1.0.0', dependencies: { executable: '1' } },
    };
    const pair = locked(context, files, (packages) => {
      // As npm 7 wrote it, which installed there.
      packages['../lib/node_modules/executable'] = { ...packages['node_modules/right'], dev: undefined };
    });
    const text = () => readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8');
    for (const [command, ...words] of [
      ['ci'],
      ['install'],
      ['install', '--package-lock-only'],
      ['install', 'executable@1'],
      ['uninstall', 'executable'],
      ['install', '--omit=dev'],
      ['update', 'left'],
    ]) {
      pair.same([command, ...words].join(' '), command, words);
      assert.match(text(), /"\.\.\/lib\/node_modules\/executable"/);
      for (const folder of pair.folders) assert.equal(listing(join(folder, '../lib')).length, 1);
    }
    pair.remove('node_modules');
    pair.same('from the lock again', 'ci');
    pair.same('nothing leads there any more', 'uninstall', ['lib']);
    assert.doesNotMatch(text(), /\.\.\/lib/);
  });

  test('what no link leads to any more goes', (context) => {
    const files = { 'package.json': manifest({ dependencies: { left: '1.0.0' } }) };
    for (const words of [['--package-lock-only'], []]) {
      const pair = locked(context, files, (packages) => {
        packages['../former'] = { version: '1.0.0', extraneous: true, devDependencies: { right: '1' } };
      });
      pair.same('an install', 'install', words);
    }
  });
});
