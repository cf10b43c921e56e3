// `gantry explain`: which peer dependencies contradict each other, told without installing anything.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { registryForSuite, Workspace } from './lib/programs.mjs';

const CONTRADICTION = { 'peer-guest': '1.0.0', 'peer-host': '2.0.0' };

describe('explain', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  /** A project that asks for these, and a way to run gantry and npm in it. */
  const begin = (context, dependencies) => {
    const workspace = new Workspace(context, registry);
    const folder = workspace.project('project', { 'package.json': { name: 'root', dependencies } });
    return {
      gantry: (command, ...words) => workspace.gantry(command, '--prefix', folder, ...words),
      npm: (...words) => workspace.npm(folder, ...words),
      files: () => readdirSync(folder),
    };
  };

  test('a conflict that stops an install: who wants what through whom, and what would end it', (context) => {
    const { gantry, npm, files } = begin(context, CONTRADICTION);
    const [conflict, ...others] = JSON.parse(gantry('explain', '--json').succeeded().stdout);
    assert.deepEqual(others, []);
    const { stops, concernsProject, wanted, found, remedies, message } = conflict;
    assert.deepEqual([stops, concernsProject], [true, true]);
    assert.deepEqual([wanted.type, wanted.name, wanted.spec], ['peer', 'peer-host', '^1.0.0']);
    assert.equal(wanted.from.package, 'peer-guest@1.0.0');
    assert.equal(found.package, 'peer-host@2.0.0');
    const [asked] = found.dependents;
    assert.deepEqual(
      [asked.type, asked.name, asked.spec, asked.from.package],
      ['prod', 'peer-host', '2.0.0', 'the root project'],
    );
    assert.ok(remedies.length > 0);

    const text = gantry('explain').succeeded().stdout;
    assert.ok(text.startsWith('stops an install: '));
    assert.ok(text.includes(message));
    for (const remedy of remedies) assert.ok(text.includes(`would end it: ${remedy}`));
    assert.deepEqual(files(), ['package.json'], 'nothing is installed');

    // It is what an install fails of, npm's too.
    const failed = gantry('install', '--json');
    assert.deepEqual([failed.status, failed.lines.at(-1).code], [1, 'RESOLVE_PEER_CONFLICT']);
    assert.equal(failed.lines.at(-1).message, message);
    assert.match(npm('install').stderr, /ERESOLVE/);
  });

  test('a conflict that is accepted, none, and what is no conflict', (context) => {
    const forced = begin(context, CONTRADICTION);
    const accepted = JSON.parse(forced.gantry('explain', '--force', '--json').succeeded().stdout);
    assert.deepEqual(
      accepted.map(({ stops, wanted }) => [stops, wanted.name]),
      [[false, 'peer-host']],
    );
    assert.match(forced.gantry('explain', '--force').succeeded().stdout, /^accepted: peer dependencies contradict/);
    assert.match(forced.npm('install', '--force').stderr, /ERESOLVE overriding peer dependency/);

    const agreed = begin(context, { 'peer-guest': '1.0.0', 'peer-host': '1.0.0' });
    assert.equal(agreed.gantry('explain', '--json').succeeded().stdout, '[]\n');
    assert.equal(agreed.gantry('explain').succeeded().stdout, 'no peer dependencies contradict each other\n');

    const absent = begin(context, { 'never-published': '1' });
    const run = absent.gantry('explain', '--json');
    assert.deepEqual([run.status, run.lines.at(-1).code], [1, 'RESOLVE_PACKAGE_NOT_FOUND']);
  });

  test('with packages it is `why`', (context) => {
    const { gantry } = begin(context, { right: '1' });
    gantry('install').succeeded();
    const [explained, why] = ['explain', 'why'].map((command) => gantry(command, 'left', '--json').succeeded().stdout);
    assert.equal(explained, why);
    assert.equal(JSON.parse(why)[0].name, 'left');
  });

  test('options that mean nothing to it are refused', (context) => {
    const { gantry } = begin(context, { right: '1' });
    const own = [['--lockfile-only'], ['--timing'], ['--trace', 'file']];
    for (const words of [...own, ['left', '--force'], ['left', '--os', 'linux']]) {
      const run = gantry('explain', ...words);
      assert.equal(run.status, 2, words.join(' '));
      assert.match(run.stderr, new RegExp(`'${words.find((word) => word.startsWith('--'))}( <OS>)?'`));
    }
  });
});
