// `before` and `min-release-age`: versions younger than that do not exist, for gantry as for npm.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { registryForSuite, Workspace } from './lib/programs.mjs';

const DAY = 86_400_000;
const since = (date) => Math.floor((Date.now() - Date.parse(date)) / DAY);

describe('the age of versions', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });
  const manifest = { name: 'project', dependencies: { zod: '>=3', '@types/node': '*', vary: '*' } };

  /** Both programs' locks under the same .npmrc. */
  function locks(context, settings) {
    const workspace = new Workspace(context, registry);
    const files = { 'package.json': manifest, '.npmrc': `${settings.join('\n')}\n` };
    const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(name, files));
    workspace.gantry('install', '--prefix', ours, '--lockfile-only').succeeded();
    workspace.npm(theirs, 'install', '--package-lock-only').succeeded();
    return [ours, theirs].map((folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  }

  const newest = (context) => locks(context, [])[0];

  for (const [name, settings] of Object.entries({
    'a date': ['before=2025-04-15'],
    'a number of days': [`min-release-age=${since('2025-04-15')}`],
    'a number of days, but not for these': [
      `min-release-age=${since('2025-04-15')}`,
      'min-release-age-exclude[]=vary',
      'min-release-age-exclude[]=zo*',
      'min-release-age-exclude[]=!@types/*',
    ],
    'a date beside a number of days': ['before=2025-04-15', 'min-release-age=1'],
  })) {
    test(`${name} gives npm's lock`, (context) => {
      const [ours, theirs] = locks(context, settings);
      assert.equal(ours, theirs);
      assert.notEqual(ours, newest(context), 'the setting makes a difference here');
    });
  }

  test('no days are none, and what is no number is refused', (context) => {
    const [ours, theirs] = locks(context, ['min-release-age=0']);
    assert.equal(ours, theirs);
    assert.equal(ours, newest(context));
    const workspace = new Workspace(context, registry);
    for (const text of ['soon', '-1', '1e400']) {
      const project = workspace.project('wrong', { 'package.json': manifest, '.npmrc': `min-release-age=${text}\n` });
      const run = workspace.gantry('install', '--prefix', project, '--lockfile-only', '--json');
      assert.deepEqual([run.status, run.lines.at(-1).code], [1, 'CONFIG_INVALID'], text);
    }
  });
});
