// Projects that volumes, caches and folders of the user are mounted in, as containers have them, and stores in the lower layer of
// an overlay, as images have them: nothing can be renamed across the edge of a mount, nor a folder of a lower layer.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { mount, unmount, whyNoMount } from './lib/mounts.mjs';
import { listing } from './lib/pair.mjs';
import { fixturesForSuite, Workspace } from './lib/programs.mjs';

const VOLUME = ['-t', 'tmpfs', 'gantry-test'];

/** Workspaces of which one has a package of its own. */
const FILES = {
  'package.json': {
    name: 'project',
    version: '1.0.0',
    workspaces: ['packages/*'],
    dependencies: { left: '^1.1.0', '@scope/middle': '1', 'with-bundle': '1' },
  },
};
const WORKSPACES = {
  a: { name: '@w/a', version: '1.0.0', dependencies: { left: '1.0.0', right: '1' } },
  b: { name: '@w/b', version: '1.0.0', dependencies: { executable: '1' } },
};

/** A project with such mounts in it, from the outermost on; these end before the workspace is removed. */
function mounted(context, registry, ...places) {
  const mounts = [];
  context.after(() => mounts.reverse().forEach(unmount));
  const workspace = new Workspace(context, registry);
  const project = workspace.project('project', FILES);
  const mountAt = (place, words = VOLUME) => {
    const folder = join(project, place);
    mkdirSync(folder, { recursive: true });
    assert.equal(mount(...words, folder), undefined);
    mounts.push(folder);
    return folder;
  };
  if (places.includes('packages')) mountAt('packages');
  for (const [name, manifest] of Object.entries(WORKSPACES))
    workspace.project(`project/packages/${name}`, { 'package.json': manifest });
  for (const place of places.filter((place) => place !== 'packages')) mountAt(place);
  return { workspace, project, mountAt };
}

/** What is there, but for what is no package's. */
function tree(project) {
  return listing(project).filter((line) => !line.startsWith('node_modules/.cache/'));
}

describe('a project that something is mounted in', { concurrency: 1, skip: whyNoMount() ?? false }, () => {
  const suite = fixturesForSuite();

  for (const places of [
    ['node_modules'],
    ['packages/a/node_modules'],
    ['packages/b/node_modules'],
    ['packages'],
    ['node_modules/.cache'],
    ['node_modules', 'node_modules/.cache', 'packages/a/node_modules', 'packages/b/node_modules'],
  ]) {
    test(`gets the tree of any other: ${places.join(', ')}`, (context) => {
      const plain = mounted(context, suite.registry);
      const other = mounted(context, suite.registry, ...places);
      const cache = join(other.project, 'node_modules/.cache');
      if (existsSync(cache)) writeFileSync(join(cache, 'file'), 'kept');
      for (const words of [['install'], ['install', 'deprecated'], ['uninstall', 'deprecated'], ['ci'], ['install']]) {
        plain.workspace.gantryIn(plain.project, ...words).succeeded();
        other.workspace.gantryIn(other.project, ...words).succeeded();
        assert.deepEqual(tree(other.project), tree(plain.project), words.join(' '));
      }
      rmSync(join(other.project, 'node_modules/.package-lock.json'));
      other.workspace.gantryIn(other.project, 'install').succeeded();
      assert.deepEqual(tree(other.project), tree(plain.project));
      if (existsSync(cache)) assert.equal(readFileSync(join(cache, 'file'), 'utf8'), 'kept');
    });
  }

  test('keeps what is mounted over a package, or in one', (context) => {
    for (const place of ['node_modules/left', 'node_modules/left/lib']) {
      const { workspace, project, mountAt } = mounted(context, suite.registry);
      workspace.gantryIn(project, 'install').succeeded();
      writeFileSync(join(mountAt(place), 'package.json'), '{ "name": "left", "version": "1.1.0" }');
      const before = listing(project);
      const refused = workspace.gantryIn(project, 'ci', '--json');
      const { code, message, hint } = refused.lines.at(-1);
      assert.deepEqual([refused.status, code], [4, 'DISK_IO']);
      assert.ok(message.includes(join(project, place)), message);
      assert.match(hint, /mounted/);
      assert.deepEqual(listing(project), before);
    }
  });
});

const overlay = (folder) => {
  for (const name of ['lower', 'upper', 'work']) mkdirSync(join(folder, name));
  const at = (name) => join(folder, name);
  return [
    '-t',
    'overlay',
    '-o',
    `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`,
    'gantry-test',
  ];
};

describe('a store in an image', { concurrency: 1, skip: whyNoMount(overlay) ?? false }, () => {
  const suite = fixturesForSuite();

  test('gives up what is damaged, and what is not used', (context) => {
    const mounts = [];
    context.after(() => mounts.reverse().forEach(unmount));
    const workspace = new Workspace(context, suite.registry);
    const disk = workspace.project('disk', {});
    assert.equal(mount(...VOLUME, disk), undefined);
    mounts.push(disk);
    const image = join(disk, 'image');
    mkdirSync(image);
    const words = overlay(disk);
    const inStore = (folder) => {
      workspace.environment.GANTRY_STORE_DIR = join(folder, 'store');
    };
    const dependencies = { left: '1.0.0', right: '1.0.0', executable: '1' };
    const project = workspace.project('project', {
      'package.json': { name: 'project', version: '1.0.0', dependencies },
    });
    inStore(join(disk, 'lower'));
    workspace.gantryIn(project, 'install').succeeded();
    const installed = listing(project);
    assert.equal(mount(...words, image), undefined);
    mounts.push(image);
    inStore(image);

    const packages = join(image, 'store/v1/packages');
    const stored = () =>
      readdirSync(packages).flatMap((folder) =>
        readdirSync(join(packages, folder)).map((key) => join(packages, folder, key)),
      );
    const [damaged] = stored();
    rmSync(join(damaged, 'files/package.json'));
    workspace.gantryIn(project, 'ci').succeeded();
    assert.deepEqual(listing(project), installed);
    assert.ok(existsSync(join(damaged, 'files/package.json')));

    const [, another] = stored();
    rmSync(join(another, 'files/package.json'));
    assert.equal(workspace.gantryIn(project, 'store', 'verify', '--json').lines.at(-1).code, 'STORE_CORRUPT');
    assert.ok(!stored().includes(another));

    rmSync(join(project, 'node_modules'), { recursive: true });
    workspace.gantryIn(project, 'store', 'prune').succeeded();
    assert.deepEqual(stored(), []);
    workspace.gantryIn(project, 'ci').succeeded();
    workspace.gantryIn(project, 'store', 'clear').succeeded();
    assert.deepEqual(readdirSync(join(image, 'store/v1')), []);
  });
});
