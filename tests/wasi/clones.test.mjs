// What a cloned repository may bring along, under WASI: links, and folders that pass for the command's own. The hosts keep a
// command within the folders that they have opened, so that the clone is in one of them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from '../cli/lib/pair.mjs';
import { fixturesForSuite } from '../cli/lib/programs.mjs';
import { underNode, underWasmtime } from './lib/hosts.mjs';
import { CI, completeTree, Prepared } from './lib/projects.mjs';

const root = (fields) => ({ name: 'repo', version: '1.0.0', ...fields });
const IN_HOME = [...CI.slice(0, -1), '/home/repo', '--host-links'];

/** Writes files below a folder, and links: an object with `to`. */
function fill(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (content.to) symlinkSync(content.to, place);
    else writeFileSync(place, content);
  }
}

describe('a cloned repository under WASI', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  for (const [what, files] of [
    ['a new tree', { '.gantry-wasi/new/node_modules': { to: '../../..' } }],
    ['what was set aside', { '.gantry-wasi/old': { to: '../..' } }],
    ['a tree that was set aside', { '.gantry-wasi/old/work/node_modules': { to: '../../../../work' } }],
    ['a folder that was set aside', { '.gantry-wasi/old/work': { to: '../../../work' } }],
    ['all of it', { '.gantry-wasi': { to: '../work' } }],
  ]) {
    test(`no leftover that is a link is followed: ${what}`, async (context) => {
      const prepared = new Prepared(context, suite.registry, { 'package.json': root({ dependencies: { left: '1' } }) });
      await prepared.feed(underNode, prepared.fresh());
      for (const [host, run] of Object.entries({ 'node:wasi': underNode, wasmtime: underWasmtime })) {
        const project = prepared.fresh();
        const home = join(prepared.folder, `home of ${host}`);
        const mine = {
          '.bashrc': 'mine',
          'work/mine': 'mine',
          'work/new/mine': 'mine',
          'work/old/node_modules/mine': 'mine',
          'work/node_modules/mine': 'mine',
        };
        fill(home, mine);
        const repo = join(home, 'repo');
        renameSync(project, repo);
        fill(repo, { 'work/file': 'x', ...files });
        const outside = () => listing(home).filter((line) => !line.startsWith('repo/'));
        const before = outside();
        const { '/project': _, ...others } = prepared.folders(repo);
        const result = await run(IN_HOME, { ...others, '/home': home });
        assert.deepEqual(outside(), before, host);
        assert.ok(!existsSync(join(repo, 'work/node_modules')), host);
        if (result.status !== 0) assert.equal(result.lines.at(-1).code, 'STAGING_TAKEN', host);
      }
    });
  }

  test('a folder that only has the name stays, and the command says that it is in the way', async (context) => {
    const prepared = new Prepared(context, suite.registry, { 'package.json': root({ dependencies: { left: '1' } }) });
    const project = prepared.fresh();
    await prepared.feed(underNode, project);
    fill(project, { '.gantry-wasi/old/node_modules/x/package.json': '{}', '.gantry-wasi/notes.txt': 'mine' });
    const before = listing(project);
    const failed = await underNode([...CI, '--host-links'], prepared.folders(project));
    assert.notEqual(failed.status, 0);
    const { code, message, hint } = failed.lines.at(-1);
    assert.deepEqual([code, message.includes('.gantry-wasi'), typeof hint], ['STAGING_TAKEN', true, 'string']);
    assert.deepEqual(listing(project), before);
  });

  test("what was installed in a folder that a link leads to is that folder's own affair", async (context) => {
    const prepared = new Prepared(context, suite.registry, {
      'package.json': root({ workspaces: ['p/*'], dependencies: { lib: 'file:lib', left: '1' } }),
      'p/a/package.json': root({ name: 'a' }),
      'lib/package.json': root({ name: 'lib' }),
    });
    const project = prepared.fresh();
    await prepared.feed(underNode, project);
    const native = prepared.fresh('again');
    for (const folder of [project, native]) {
      fill(folder, { 'lib/node_modules/own/package.json': '{}', 'p/a/node_modules/own/package.json': '{}' });
    }
    completeTree(project, (await underNode([...CI, '--host-links'], prepared.folders(project))).succeeded());
    prepared.gantry('ci', '--prefix', native, '--ignore-scripts', '--os', 'linux', '--cpu', 'wasm32').succeeded();
    assert.deepEqual(listing(project), listing(native));
    assert.ok(existsSync(join(project, 'lib/node_modules/own')) && !existsSync(join(project, 'p/a/node_modules')));
  });
});
