// A clean install of single workspaces: what it needs, and its tree, are those of the native command with the same options.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fixturesForSuite } from '../cli/lib/programs.mjs';
import { underNode } from './lib/hosts.mjs';
import { CI, completeTree, Prepared } from './lib/projects.mjs';

const member = (name, fields) => ({ name, version: '1.0.0', ...fields });
const files = {
  'package.json': member('root', { workspaces: ['p/*', 'q/*'], dependencies: { left: '1.1.0' } }),
  'p/a/package.json': member('a', { dependencies: { right: '1' } }),
  'p/b/package.json': member('b', { dependencies: { left: '1.0.0', executable: '1' } }),
  'q/c/package.json': member('@team/c', { dependencies: { a: '^1.0.0', '@scope/middle': '1' } }),
};
const HOST_LINKS = [...CI, '--host-links'];

describe('workspaces', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('a part needs and gets what the native command gives it', async (context) => {
    const prepared = new Prepared(context, suite.registry, files);
    // The names of what each needs; `left` there is in two versions.
    const choices = [
      [['-w', 'b'], ['executable', 'left'], 'workspace=b\n'],
      [['--workspace=q'], ['@scope/middle', 'left', 'left', 'right'], 'workspace=./q\n'],
      [['--no-workspaces'], ['left'], 'workspaces=false\n'],
      [['--workspaces'], ['@scope/middle', 'executable', 'left', 'left', 'right'], 'workspaces=true\n'],
      [['-w', 'b', '--iwr'], ['executable', 'left', 'left'], 'workspace=b\ninclude-workspace-root=true\n'],
      [[], ['@scope/middle', 'executable', 'left', 'left', 'right'], ''],
    ];
    for (const [words, names, settings] of choices) {
      const step = words.join(' ');
      const native = prepared.fresh('again');
      const target = ['--os', 'linux', '--cpu', 'wasm32'];
      prepared.gantry('ci', '--prefix', native, '--ignore-scripts', ...target, ...words).succeeded();
      for (const name of readdirSync(join(prepared.folder, 'tarballs')))
        rmSync(join(prepared.folder, 'tarballs', name));
      const folders = (project) => prepared.folders(project, join(prepared.folder, `store${step}`));
      const project = prepared.fresh();
      const withWords = (given) => underNode([...given, ...words], folders(project));
      const missing = await prepared.feed(withWords, project);
      assert.deepEqual(
        missing.map(({ name }) => name),
        names,
        step,
      );
      completeTree(project, (await withWords(HOST_LINKS)).succeeded());
      assert.equal(prepared.digestOf(project), prepared.digestOf(native), step);
      const verified = await underNode(['verify', '--prefix', '/project', '--json'], folders(project));
      assert.equal(verified.succeeded().lines.at(-1).type, 'result', step);

      // The same by settings, over the tree of the whole project.
      completeTree(project, (await underNode(HOST_LINKS, await fed(prepared, folders(project)))).succeeded());
      writeFileSync(join(project, '.npmrc'), settings);
      completeTree(project, (await underNode(HOST_LINKS, folders(project))).succeeded());
      assert.equal(prepared.digestOf(project), prepared.digestOf(native), settings);
      assert.equal(existsSync(join(project, 'p/b/node_modules')), existsSync(join(native, 'p/b/node_modules')), step);
    }
  });

  test('what cannot be chosen is refused', async (context) => {
    const prepared = new Prepared(context, suite.registry, files);
    const project = prepared.fresh();
    for (const [words, code] of [
      [['-w', 'absent'], 'WORKSPACE_UNKNOWN'],
      [['-w', 'a', '--no-workspaces'], 'CONFIG_INVALID'],
    ]) {
      for (const command of [CI, ['ci', '--print-missing', '--json', '--prefix', '/project']]) {
        const failed = await underNode([...command, ...words], prepared.folders(project));
        assert.notEqual(failed.status, 0);
        assert.equal(failed.lines.at(-1).code, code);
      }
    }
    assert.ok(!existsSync(join(project, 'node_modules')));
  });
});

/** The folders, with whatever the whole project needs. */
async function fed(prepared, folders) {
  await prepared.feed((words) => underNode(words, folders), folders['/project']);
  return folders;
}
