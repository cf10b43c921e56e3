// Locks that were made with another registry: whom gantry asks for their tarballs is whom npm asks.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { control, fixturesForSuite, startRegistry, Workspace } from './lib/programs.mjs';

describe('tarballs of a lock that was made with another registry', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const tarballs = async (address) => {
    const { log } = await control(address, 'GET', 'stats?log');
    await control(address, 'POST', 'reset');
    return log.map(({ path }) => path).filter((path) => path.endsWith('.tgz'));
  };

  /** Installs from a lock whose addresses were changed, by both programs; gives what each asked registries for. */
  async function asked(context, { name, change, npmrc, registries }) {
    const workspace = new Workspace(context, suite.registry);
    const files = { 'package.json': { name: 'project', version: '1.0.0', dependencies: { [name]: '1' } } };
    const locked = workspace.project('locked', files);
    workspace.gantry('install', '--lockfile-only', '--prefix', locked).succeeded();
    const lock = readFileSync(join(locked, 'package-lock.json'), 'utf8').replaceAll(suite.registry, change);
    assert.ok(lock.includes(change));
    for (const address of registries) await tarballs(address);
    const sides = {
      ours: (project) => workspace.gantry('ci', '--prefix', project),
      theirs: (project) => workspace.npm(project, 'ci', '--ignore-scripts'),
    };
    const found = {};
    for (const [side, install] of Object.entries(sides)) {
      const project = workspace.project(side, { ...files, 'package-lock.json': lock, '.npmrc': npmrc });
      install(project).succeeded();
      assert.ok(existsSync(join(project, 'node_modules', name, 'package.json')), side);
      found[side] = [];
      for (const address of registries) found[side].push((await tarballs(address)).sort());
    }
    assert.deepEqual(found.ours, found.theirs);
    return found.ours;
  }

  test('are asked of the default registry, also those of a scope that has its own', async (context) => {
    const own = await startRegistry(context, '--fixtures', 'basic');
    const npmrc = `@scope:registry=${own}\nreplace-registry-host=old.test\n`;
    const about = { name: '@scope/middle', npmrc, registries: [suite.registry, own] };
    const moved = await asked(context, { ...about, change: 'https://old.test/' });
    assert.deepEqual([moved[0].length, moved[1]], [3, []]);
    const kept = await asked(context, { ...about, change: own });
    assert.deepEqual([kept[0], kept[1].length], [[], 3]);
  });

  test('have the path of replace-registry-host swapped for that of the registry', async (context) => {
    const about = { name: 'right', registries: [suite.registry] };
    const within = 'replace-registry-host=https://127.0.0.1/npm/old/\n';
    const [moved] = await asked(context, { ...about, npmrc: within, change: 'http://127.0.0.1:1/npm/old/' });
    assert.deepEqual(moved, ['/left/-/left-1.1.0.tgz', '/right/-/right-1.0.0.tgz']);
    // Another path of that host is another registry's, and nobody is there.
    const other = { ...about, npmrc: within, change: 'http://127.0.0.1:1/npm/older/' };
    await assert.rejects(asked(context, other), /127\.0\.0\.1:1\/npm\/older\//);
  });
});
