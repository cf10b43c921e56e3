// What npm has to tidy a tree up with, and to look before changing it: prune, dedupe, find-dupes, --dry-run.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { fixturesForSuite, projectsFolder, startRegistry } from './lib/programs.mjs';

const manifest = (dependencies, more = {}) => ({
  'package.json': { name: 'project', version: '1.0.0', dependencies, ...more },
});

/** Everything of a project, to be compared with what it is later. */
const all = (folder) => JSON.stringify(listing(folder));

/** npm's lines of a dry run without its summary, sorted. */
const lines = (output) =>
  output
    .split('\n')
    .filter((line) => /^(add|remove|change) /.test(line))
    .sort();

/** Runs both with `--dry-run`: the lines are npm's, and nothing changes. Gives the lines. */
function sameDryRun(pair, step, command = 'install', words = []) {
  const before = pair.folders.map(all);
  const [ours, theirs] = pair.folders;
  const run = pair.workspace.gantryIn(ours, command, '--dry-run', ...words).succeeded();
  const expected = pair.workspace.npm(theirs, command, '--dry-run', '--ignore-scripts', ...words).succeeded();
  assert.deepEqual(lines(run.stdout), lines(expected.stdout), step);
  assert.deepEqual(pair.folders.map(all), before, `${step}: nothing changes`);
  assert.match(run.stderr, /^nothing was changed; /m);
  return lines(run.stdout);
}

describe('tidying up', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const pairOf = (context, files) => new Pair(context, suite.registry, files);

  /** A project whose `right` has a `left` of its own, which the other one would do for. */
  function doubled(context, more) {
    const pair = pairOf(context, manifest({ left: '1.0.0', right: '1' }, more));
    pair.same('the older one');
    const older = pair.folders.map((folder) => lockOf(folder).packages['node_modules/left']);
    pair.write(manifest({ left: '^1.1.0', right: '1' }, more));
    pair.same('the newer one');
    for (const [number, folder] of pair.folders.entries()) {
      const lock = lockOf(folder);
      const { 'node_modules/right': right, ...packages } = lock.packages;
      lock.packages = {
        ...packages,
        'node_modules/right': right,
        'node_modules/right/node_modules/left': older[number],
      };
      writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
    }
    pair.same('both of them', 'ci');
    assert.ok(existsSync(join(pair.folders[0], 'node_modules/right/node_modules/left')));
    return pair;
  }

  test('dedupe takes out what another one does for', (context) => {
    const pair = doubled(context);
    pair.same('install leaves it');
    assert.ok(existsSync(join(pair.folders[0], 'node_modules/right/node_modules/left')));
    assert.deepEqual(sameDryRun(pair, 'before', 'dedupe'), ['remove left 1.0.0']);
    const [ours] = pair.folders;
    const before = all(ours);
    const found = pair.workspace.gantryIn(ours, 'find-dupes').succeeded();
    assert.deepEqual([lines(found.stdout), all(ours)], [['remove left 1.0.0'], before]);
    pair.same('dedupe', 'dedupe');
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/right/node_modules/left')));
    pair.same('again', 'dedupe');
    assert.deepEqual(sameDryRun(pair, 'after', 'dedupe'), []);
  });

  test('dedupe without a lock goes by the tree, and brings up to date what is there twice', (context) => {
    const pair = doubled(context);
    pair.remove('package-lock.json');
    pair.same('dedupe', 'dedupe');
  });

  test('dedupe gives the root of a lock the name of the folder where the project has none', (context) => {
    const pair = doubled(context, { name: undefined });
    assert.equal(lockOf(pair.folders[0]).packages[''].name, undefined);
    pair.same('dedupe', 'dedupe');
    assert.equal(lockOf(pair.folders[0]).packages[''].name, 'project');
    pair.same('install');
  });

  test('dedupe leaves alone what is there once, with a newer version and without', (context) => {
    const pair = pairOf(context, manifest({ left: '1.0.0', right: '1' }));
    pair.same('the older one');
    pair.write(manifest({ left: '^1.0.0', right: '1' }));
    pair.same('nothing twice', 'dedupe');
    assert.equal(lockOf(pair.folders[0]).packages['node_modules/left'].version, '1.0.0');
  });

  test('prune takes out what nothing needs, and what is to be left out', (context) => {
    const pair = pairOf(context, manifest({ left: '^1.0.0' }, { devDependencies: { right: '1' } }));
    pair.same('install');
    for (const folder of pair.folders) writeStray(folder);
    assert.deepEqual(sameDryRun(pair, 'what is left out', 'prune', ['--omit=dev']), [
      'remove right 1.0.0',
      'remove stray 1.0.0',
    ]);
    pair.same('strays', 'prune');
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/stray')));
    pair.same('what is left out', 'prune', ['--omit=dev']);
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/right')));
    pair.same('all of it again', 'prune');
    pair.write(manifest({ left: '^1.0.0' }));
    pair.same('what is not listed any more', 'prune');
  });

  test('prune of a tree without a lock takes out strays that an install leaves', (context) => {
    const pair = pairOf(context, manifest({ left: '^1.0.0' }));
    pair.same('install');
    for (const folder of pair.folders) writeStray(folder);
    pair.remove('package-lock.json');
    pair.remove('node_modules/.package-lock.json');
    pair.same('prune', 'prune');
    assert.ok(!existsSync(join(pair.folders[0], 'node_modules/stray')));
  });

  test('a dry run tells what would be, in npm’s lines, and changes nothing', (context) => {
    const pair = pairOf(context, manifest({ left: '1.0.0' }));
    assert.deepEqual(sameDryRun(pair, 'first'), ['add left 1.0.0']);
    assert.deepEqual(sameDryRun(pair, 'added', 'install', ['right']), ['add left 1.0.0', 'add right 1.0.0']);
    pair.same('install');
    assert.deepEqual(sameDryRun(pair, 'nothing'), []);
    assert.deepEqual(sameDryRun(pair, 'newer', 'install', ['left@1.1.0', 'executable']), [
      'add executable 1.0.0',
      'change left 1.0.0 => 1.1.0',
    ]);
    assert.deepEqual(sameDryRun(pair, 'removed', 'uninstall', ['left']), ['remove left 1.0.0']);
    pair.write(manifest({ left: '^1.0.0' }));
    assert.deepEqual(sameDryRun(pair, 'updated', 'update'), ['change left 1.0.0 => 1.1.0']);
    pair.write(manifest({ left: '^1.0.0' }, { optionalDependencies: { 'only-elsewhere': '1' } }));
    assert.deepEqual(sameDryRun(pair, 'of another platform'), []);
    pair.write(manifest({ left: '^1.0.0' }, { optionalDependencies: { 'no-such-package': '1', right: '1' } }));
    assert.deepEqual(sameDryRun(pair, 'what cannot be had'), ['add right 1.0.0']);
    pair.write(manifest({ left: '^1.0.0' }, { optionalDependencies: { 'only-elsewhere': '1' } }));
    pair.same('all of it');
    const [ours] = pair.folders;
    const before = all(ours);
    const run = pair.workspace.gantryIn(ours, 'install', 'right', '--dry-run', '--json').succeeded();
    const place = (name, version) => ({ path: `node_modules/${name}`, name, version });
    assert.deepEqual(run.lines.at(-1), {
      type: 'result',
      dryRun: true,
      add: [place('right', '1.0.0')],
      change: [],
      remove: [],
      lockChanged: true,
      manifestChanged: true,
    });
    writeFileSync(join(ours, '.npmrc'), 'dry-run=true\n');
    pair.workspace.gantryIn(ours, 'install', 'right').succeeded();
    pair.workspace.gantryIn(ours, 'ci').succeeded();
    assert.deepEqual(all(ours).replace(/"\.npmrc [^"]*",/, ''), before);
  });

  test('a dry run of a project with workspaces, and one that fails', (context) => {
    const pair = pairOf(context, {
      ...manifest({}, { workspaces: ['packages/*'] }),
      'packages/a/package.json': { name: 'a', version: '2.0.0', dependencies: { left: '1.0.0' } },
    });
    assert.deepEqual(sameDryRun(pair, 'first'), ['add a 2.0.0', 'add left 1.0.0']);
    pair.same('install');
    assert.deepEqual(sameDryRun(pair, 'nothing'), []);
    const before = all(pair.folders[0]);
    pair.fail('a package that there is not', 'RESOLVE_PACKAGE_NOT_FOUND', 'install', [
      'nowhere-to-be-found',
      '--dry-run',
    ]);
    assert.equal(all(pair.folders[0]), before);
  });

  test('recorded projects are deduplicated as by npm', async (context) => {
    const registry = await startRegistry(context);
    // Locks alone: the recording has the tarballs of what these projects need, and others may come of this.
    const words = ['--package-lock-only'];
    for (const name of ['react', 'vue', 'express']) {
      const text = readFileSync(join(projectsFolder, name, 'package.json'), 'utf8');
      const pair = new Pair(context, registry, { 'package.json': text });
      pair.same(name, 'install', words);
      pair.same(`${name}, deduplicated`, 'dedupe', words);
    }
  });
});

const lockOf = (folder) => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));

/** A package that nobody asks for, as somebody may have copied it there. */
function writeStray(folder) {
  const stray = join(folder, 'node_modules', 'stray');
  mkdirSync(stray);
  writeFileSync(join(stray, 'package.json'), '{"name":"stray","version":"1.0.0"}\n');
}
