// What a host can ask for, and where tarballs may come from: each time the tree is the native command's.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fixturesForSuite, registryForSuite } from '../cli/lib/programs.mjs';
import { underNode, underShim, underWasmtime } from './lib/hosts.mjs';
import { CI, completeTree, folderInMemory, Prepared } from './lib/projects.mjs';

describe('options', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((address) => {
    registry = address;
  });

  test('what is left out, and for which machine, is as the native command has it', async (context) => {
    const prepared = new Prepared(context, registry, 'vue');
    const choices = [
      ['--omit', 'dev'],
      ['--omit=optional', '--omit=peer'],
      ['--cpu', 'x64', '--libc', 'glibc'],
    ];
    for (const choice of choices) {
      const target = choice[0] === '--cpu' ? choice : ['--os', 'linux', '--cpu', 'wasm32', ...choice];
      const native = prepared.fresh('again');
      prepared.gantry('ci', '--prefix', native, '--ignore-scripts', ...target).succeeded();
      const project = prepared.fresh();
      const run = (words, folders) => underNode([...words, ...choice], folders);
      await prepared.feed(run, project);
      completeTree(project, (await run([...CI, '--host-links'], prepared.folders(project))).succeeded());
      assert.equal(prepared.digestOf(project), prepared.digestOf(native), choice.join(' '));
      // The same by the project's own settings.
      const settings = choice[0] === '--omit' ? ['omit[]=dev\n', 'production=true\n'] : [];
      for (const npmrc of settings) {
        writeFileSync(join(project, '.npmrc'), npmrc);
        completeTree(project, (await underNode([...CI, '--host-links'], prepared.folders(project))).succeeded());
        assert.equal(prepared.digestOf(project), prepared.digestOf(native));
      }
    }
  });
});

describe('settings', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('what the command refuses is refused, and nothing is made', async (context) => {
    const dependencies = { right: '1' };
    const prepared = new Prepared(context, suite.registry, { 'package.json': { name: 'project', dependencies } });
    const project = prepared.fresh();
    for (const setting of ['bin-links=false', 'install-links=true', 'node-version=20']) {
      writeFileSync(join(project, '.npmrc'), `${setting}\n`);
      const before = readdirSync(project).sort();
      const { status, stdout, stderr } = await underNode(CI, prepared.folders(project));
      assert.notEqual(status, 0, setting);
      assert.match(`${stdout}${stderr}`, /CONFIG_(UNSUPPORTED|INVALID)/, setting);
      assert.deepEqual(readdirSync(project).sort(), before);
    }
  });
});

describe('sources', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  const dependencies = { '@scope/middle': '^1.0.0', right: '1' };

  test("npm's own cache is a folder of tarballs", async (context) => {
    const prepared = new Prepared(context, suite.registry, { 'package.json': { name: 'project', dependencies } });
    prepared.npm(prepared.fresh('cached'), 'ci', '--ignore-scripts').succeeded();
    const project = prepared.fresh();
    const folders = { ...prepared.folders(project), '/tarballs': join(prepared.folder, 'npm-cache', '_cacache') };
    const result = (await underWasmtime(CI, folders)).succeeded();
    assert.equal(result.lines.at(-1).reused, 0);
    completeTree(project, result);
    assert.equal(prepared.digestOf(project), prepared.digest);
  });

  test('a project without a name may be opened under any', async (context) => {
    const prepared = new Prepared(context, suite.registry, { 'package.json': { dependencies } });
    assert.match(prepared.lock, /"name": "native"/);
    await prepared.feed(underNode, prepared.fresh());
    const project = prepared.fresh('elsewhere');
    completeTree(project, (await underWasmtime(CI, prepared.folders(project))).succeeded());
    assert.equal(prepared.digestOf(project), prepared.digest);
  });

  test('a tarball of the project is taken from there, and is not missing', async (context) => {
    const tarball = Buffer.from(await (await fetch(`${suite.registry}right/-/right-1.0.0.tgz`)).arrayBuffer());
    const files = { 'package.json': { name: 'project', dependencies: { right: 'file:a.tgz' } }, 'a.tgz': tarball };
    const prepared = new Prepared(context, suite.registry, files);
    const missing = await prepared.feed(underNode, prepared.fresh());
    assert.ok(missing.every(({ name }) => name !== 'right'));
    const project = prepared.fresh();
    completeTree(project, (await underWasmtime(CI, prepared.folders(project))).succeeded());
    assert.equal(prepared.digestOf(project), prepared.digest);
    rmSync(join(project, 'a.tgz'));
    const store = mkdtempSync(join(prepared.folder, 'store-'));
    const failed = await underWasmtime(CI, prepared.folders(project, store));
    assert.equal(failed.lines.at(-1).code, 'TARBALL_MISSING');
  });

  test('unpacking is all or nothing, whichever change fails', async (context) => {
    const prepared = new Prepared(context, suite.registry, { 'package.json': { name: 'project', dependencies } });
    const [{ file }] = await prepared.feed(underNode, prepared.fresh());
    const tarballs = folderInMemory(join(prepared.folder, 'tarballs'));
    const words = ['unpack', `/tarballs/${file}`, '/out/package', '--json'];
    for (let nth = 1; ; nth += 1) {
      const out = new Map();
      let changes = 0;
      const failing = (functions) => {
        const changed = { ...functions };
        for (const name of ['path_open', 'fd_write', 'path_create_directory', 'path_rename']) {
          changed[name] = (...given) => {
            const counts = name !== 'fd_write' || given[0] > 2;
            if (counts) changes += 1;
            return counts && changes === nth ? 51 : functions[name](...given);
          };
        }
        return changed;
      };
      const { status } = await underShim(words, { '/tarballs': tarballs, '/out': out }, failing);
      if (changes < nth) {
        assert.equal(status, 0);
        assert.deepEqual([...out.keys()], ['package']);
        break;
      }
      if (status !== 0) assert.equal(out.size, 0, `change ${nth}`);
    }
  });
});
