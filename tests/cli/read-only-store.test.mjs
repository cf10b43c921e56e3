// A store on a place that cannot be written to: what is in it is installed, and what is not is an error that says so. The
// folder is mounted over itself for one run at a time, since permissions do not count for everybody.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { Finished, fixturesForSuite, gantryCommand, temporaryFolder, Workspace } from './lib/programs.mjs';

const manifest = (dependencies) => ({ 'package.json': { name: 'project', version: '1.0.0', dependencies } });
const MOUNTED = 'mount --bind -o ro "$0" "$0" && exec "$@"';

/** Runs a command while nobody, whoever that is, can write to `folder`. */
function withReadOnly(folder, command, { environment = process.env } = {}) {
  const words = ['--mount', ...(process.getuid() === 0 ? [] : ['--map-root-user']), 'sh', '-c', MOUNTED, folder];
  const result = spawnSync('unshare', [...words, ...command], { env: environment, encoding: 'utf8', timeout: 60_000 });
  if (result.error) throw result.error;
  return new Finished(command.join(' '), result);
}

/** Why folders cannot be mounted here; false where they can. */
function cannotMount() {
  const atTheEnd = [];
  try {
    const folder = temporaryFolder({ after: (action) => atTheEnd.push(action) });
    const { status, stderr } = withReadOnly(folder, ['true']);
    return status === 0 ? false : `nothing can be mounted here: ${stderr.trim()}`;
  } catch (error) {
    return `nothing can be mounted here: ${error.message}`;
  } finally {
    for (const action of atTheEnd) action();
  }
}

describe('a store that cannot be written to', { concurrency: 1, skip: cannotMount() }, () => {
  const suite = fixturesForSuite();

  /** A project that was installed into a fresh store, whose `node_modules` are taken away, and a way to run there. */
  function installed(context) {
    const workspace = new Workspace(context, suite.registry);
    const project = workspace.project('project', manifest({ '@scope/middle': '^1.0.0', executable: '1' }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const tree = listing(join(project, 'node_modules'));
    rmSync(join(project, 'node_modules'), { recursive: true });
    const store = join(workspace.folder, 'store');
    const run = (...words) => withReadOnly(store, [gantryCommand, ...words, '--prefix', project, '--json'], workspace);
    return { workspace, project, tree, store, run };
  }

  const warningsOf = (run) => run.lines.filter(({ type }) => type === 'warning').map(({ code }) => code);

  test('is installed from, whether it has a place for temporary things or not', (context) => {
    const { project, tree, store, run } = installed(context);
    for (const prepare of [() => {}, () => rmSync(join(store, 'v1', 'temporary'), { recursive: true })]) {
      prepare();
      const before = listing(store);
      const clean = run('ci', '--offline').succeeded();
      assert.deepEqual(warningsOf(clean), []);
      assert.match(clean.lines.at(-1).method, /copy|reflink/);
      assert.deepEqual(listing(join(project, 'node_modules')), tree);
      for (const made of ['node_modules', 'package-lock.json']) rmSync(join(project, made), { recursive: true });
      assert.deepEqual(warningsOf(run('install', '--offline').succeeded()), []);
      assert.deepEqual(listing(join(project, 'node_modules')), tree);
      assert.deepEqual(listing(store), before);
    }
    assert.ok(!existsSync(join(store, 'v1', 'temporary')));
  });

  test('keeps no metadata, and a warning says so', (context) => {
    const { tree, project, run } = installed(context);
    rmSync(join(project, 'package-lock.json'));
    assert.deepEqual(warningsOf(run('install', '--prefer-online').succeeded()), ['MIRROR_FAILED']);
    assert.deepEqual(listing(join(project, 'node_modules')), tree);
  });

  test('takes no package that it lacks, nor repairs one', (context) => {
    const { workspace, project, store, run } = installed(context);
    const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
    workspace.project('project', manifest({ '@scope/middle': '^1.0.0', executable: '1', deprecated: '1' }));
    const lacking = run('install');
    assert.deepEqual([lacking.status, lacking.lines.at(-1).code], [4, 'DISK_DENIED']);
    assert.ok(lacking.lines.at(-1).message.includes(store), lacking.lines.at(-1).message);
    assert.equal(readFileSync(join(project, 'package-lock.json'), 'utf8'), lock);

    workspace.project('project', manifest({ '@scope/middle': '^1.0.0', executable: '1' }));
    const path = listing(store)
      .find((line) => line.includes('/files/package.json'))
      .split(' ')[0];
    unlinkSync(join(store, path));
    rmSync(join(store, 'v1', 'temporary'), { recursive: true });
    const damaged = run('ci');
    assert.deepEqual([damaged.status, damaged.lines.at(-1).code], [4, 'DISK_DENIED']);
    assert.match(damaged.lines.at(-1).message, /cannot remove the damaged .*: Read-only/);
    assert.ok(!existsSync(join(project, 'node_modules')));
  });
});
