// Disks that get full, with every amount of room that is left when a command begins: what fails leaves all as it was, and runs when
// there is room again.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mount, unmount, whyNoMount } from './lib/mounts.mjs';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';

const AMPLE = 'size=64m,nr_inodes=100000';

/** A small disk of its own. */
class Disk {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder);
    assert.equal(mount('-t', 'tmpfs', '-o', AMPLE, 'gantry-test', folder), undefined);
  }

  /** A place to work in, with such a disk that is there as long as a test runs. */
  static within(context, registry) {
    let disk;
    // Before the workspace is removed, so this is said before there is one.
    context.after(() => disk && unmount(disk.folder));
    const workspace = new Workspace(context, registry);
    disk = new Disk(join(workspace.folder, 'disk'));
    return { workspace, disk };
  }

  /** Leaves room for so much more: blocks (`size`) or files (`nr_inodes`). */
  leave(kind, more) {
    const { bsize, blocks, bfree, files, ffree } = statfsSync(this.folder);
    const value = kind === 'size' ? Math.max(1, blocks - bfree + more) * bsize : files - ffree + more;
    assert.equal(mount('-o', `remount,${kind}=${value}`, this.folder), undefined);
  }

  empty() {
    assert.equal(mount('-o', `remount,${AMPLE}`, this.folder), undefined);
  }
}

const manifest = { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '^1.0.0', left: '*' } };

/** A lock of Yarn's that knows nothing yet: it is written when the command ends. */
const yarn = { 'yarn.lock': '# yarn lockfile v1\n' };

/** Commands, whether something is installed before, and what else the project has. */
const COMMANDS = [
  [['install'], false],
  [['install'], false, yarn],
  [['install', 'deprecated'], true],
  [['install', 'deprecated'], true, yarn],
  [['uninstall', '@scope/middle'], true],
  [['ci'], true],
];

describe('a full disk', { concurrency: 1, skip: whyNoMount() ?? false }, () => {
  const suite = fixturesForSuite();

  for (const kind of ['size', 'nr_inodes']) {
    for (const [words, isInstalled, others = {}] of COMMANDS) {
      const what = [words.join(' '), ...Object.keys(others)].join(' with ');
      test(`of a project leaves all as it was, for ${what}, ${kind}`, (context) => {
        const { workspace, disk } = Disk.within(context, suite.registry);
        for (let [more, isDone] = [0, false]; !isDone; more++) {
          const project = workspace.project(`disk/${more}`, { 'package.json': manifest, ...others });
          if (isInstalled) workspace.gantryIn(project, 'install').succeeded();
          const before = listing(project);
          disk.leave(kind, more);
          const run = workspace.gantryIn(project, ...words, '--json');
          disk.empty();
          isDone = run.status === 0;
          if (!isDone) {
            const { code, message, hint } = run.lines.at(-1);
            assert.deepEqual([run.status, code], [4, 'DISK_FULL'], message);
            assert.ok(message.includes(project) && hint, message);
            assert.deepEqual(listing(project), before, `${more}: ${message}`);
            workspace.gantryIn(project, ...words).succeeded();
          }
          rmSync(project, { recursive: true });
          assert.ok(more < 200, 'it never succeeds');
        }
      });
    }
  }

  test('of the store does for what the store has', (context) => {
    const { workspace, disk } = Disk.within(context, suite.registry);
    workspace.environment.GANTRY_STORE_DIR = join(disk.folder, 'store');
    const project = workspace.project('project', { 'package.json': manifest });
    workspace.gantryIn(project, 'install').succeeded();
    const installed = listing(project);
    rmSync(join(project, 'node_modules'), { recursive: true });
    disk.leave('size', 0);
    workspace.gantryIn(project, 'ci').succeeded();
    assert.deepEqual(listing(project), installed);
    assert.deepEqual(readdirSync(join(disk.folder, 'store', 'v1', 'temporary')), []);

    const { code, hint } = workspace.gantryIn(project, 'install', 'deprecated', '--json').lines.at(-1);
    assert.equal(code, 'DISK_FULL');
    assert.match(hint, /--store-dir/);
    assert.deepEqual(listing(project), installed);
  });
});
