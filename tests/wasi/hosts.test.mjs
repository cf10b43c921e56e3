// The same lock and the same tree under every WASI host as by the native command and in a page: one table of digests.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fixturesForSuite, registryForSuite } from '../cli/lib/programs.mjs';
import { BROWSERS, byPackageIn, openPages, underShimIn } from './lib/browsers.mjs';
import { underNode, underShim, underWasmtime } from './lib/hosts.mjs';
import { CI, completeTree, folderInMemory, Prepared } from './lib/projects.mjs';
import { fileIn } from './lib/shim-host.mjs';

const PROJECTS = ['vue', 'react', 'express'];

describe('one lock, one tree', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((address) => {
    registry = address;
  });
  let opened;
  before(async () => {
    opened = await openPages();
  });
  after(() => opened?.close());
  const table = {};
  after(() => console.table(table));

  /** Installs under a host of real files; gives its digests: the native command's of what it made, and its own. */
  async function onDisk(prepared, run, words) {
    const project = prepared.fresh();
    const before = readdirSync(project);
    const folders = prepared.folders(project, mkdtempSync(join(prepared.folder, 'store-')));
    const result = (await run(words, folders)).succeeded();
    completeTree(project, result);
    assert.equal(readFileSync(join(project, 'package-lock.json'), 'utf8'), prepared.lock);
    assert.deepEqual(readdirSync(project).sort(), [...before, 'node_modules'].sort());
    const digests = [prepared.digestOf(project)];
    const own = async (host) =>
      digests.push((await run(['digest', '--prefix', '/project'], host)).succeeded().stdout.trim());
    await own(folders);
    (await run(['verify', '--prefix', '/project'], folders)).succeeded();
    // The store alone is enough from now on; where the host refuses links, scripts count as them.
    const { '/tarballs': _, ...withoutTarballs } = folders;
    const again = (await run(CI, withoutTarballs)).succeeded().lines.at(-1);
    assert.equal(again.reused, again.packages);
    await own(withoutTarballs);
    assert.deepEqual(digests, digests.slice(0, 1).concat(digests.slice(0, 1), digests.slice(0, 1)));
    return digests[0];
  }

  /** Installs under the browser shim in this process. */
  async function inMemory(prepared) {
    const folders = {
      '/project': folderInMemory(prepared.fresh()),
      '/store': new Map(),
      '/tarballs': folderInMemory(join(prepared.folder, 'tarballs')),
    };
    (await underShim(CI, folders)).succeeded();
    (await underShim(['verify', '--prefix', '/project'], folders)).succeeded();
    assert.equal(Buffer.from(fileIn(folders['/project'], 'package-lock.json')).toString(), prepared.lock);
    return (await underShim(['digest', '--prefix', '/project'], folders)).succeeded().stdout.trim();
  }

  for (const name of PROJECTS) {
    test(`${name}: every host makes what the native command makes`, async (context) => {
      const prepared = new Prepared(context, registry, name);
      const missing = await prepared.feed(underNode, prepared.fresh());
      assert.ok(missing.length > 0 && missing.every(({ integrity, version }) => integrity && version));
      // Node's WASI refuses the links of node_modules/.bin: its host makes them.
      const digests = {
        native: prepared.digest,
        'node:wasi': await onDisk(prepared, underNode, [...CI, '--host-links']),
        wasmtime: await onDisk(prepared, underWasmtime, CI),
        'shim in Node': await inMemory(prepared),
      };
      const packageJson = readFileSync(join(prepared.native, 'package.json'), 'utf8');
      for (const browser of BROWSERS) {
        const page = opened.pages[browser];
        const files = { 'package.json': packageJson, 'package-lock.json': prepared.lock };
        const shim = await underShimIn(page, { files, registry });
        assert.equal(shim.lock, prepared.lock);
        assert.equal(shim.fetched, missing.length);
        digests[`shim in ${browser}`] = shim.digest;
        const own = await byPackageIn(page, packageJson, registry);
        assert.equal(own.lock, prepared.lock);
        digests[browser] = own.digest;
      }
      for (const [host, digest] of Object.entries(digests)) {
        table[host] = { ...table[host], [name]: digest.slice(0, 16) };
      }
      for (const [host, digest] of Object.entries(digests)) assert.equal(digest, prepared.digest, host);
    });
  }

  for (const browser of BROWSERS) {
    test(`${browser}: a store in OPFS is there for the next worker, which fetches nothing`, async (context) => {
      const prepared = new Prepared(context, registry, 'express');
      const files = {
        'package.json': readFileSync(join(prepared.native, 'package.json'), 'utf8'),
        'package-lock.json': prepared.lock,
      };
      const task = { files, registry, store: `store-${Date.now()}` };
      const first = await underShimIn(opened.pages[browser], task);
      assert.ok(first.fetched > 0);
      await opened.pages[browser].reload();
      const second = await underShimIn(opened.pages[browser], task);
      assert.equal(second.fetched, 0);
      assert.equal(second.reused, second.packages);
      assert.deepEqual([first.digest, second.digest], [prepared.digest, prepared.digest]);
    });
  }
});

describe('workspaces', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  const files = {
    'package.json': { name: 'project', version: '1.0.0', workspaces: ['packages/*'], dependencies: { right: '1' } },
    'packages/tool/package.json': { name: 'tool', version: '1.0.0', bin: 'tool.js', dependencies: { left: '1' } },
    'packages/tool/tool.js': '#!/usr/bin/env node\n',
    'packages/other/package.json': { name: 'other', version: '1.0.0', bin: { gone: 'not-there.js' } },
  };

  test('links to folders are made by wasmtime, and by the host of node:wasi from the list', async (context) => {
    const prepared = new Prepared(context, suite.registry, files);
    await prepared.feed(underNode, prepared.fresh());
    for (const [run, words] of [
      [underWasmtime, CI],
      [underNode, [...CI, '--host-links']],
    ]) {
      const project = prepared.fresh();
      const result = (await run(words, prepared.folders(project))).succeeded();
      assert.ok(result.lines.at(-1).executables.includes('packages/tool/tool.js'));
      completeTree(project, result);
      assert.equal(prepared.digestOf(project), prepared.digest);
      const verified = await run(['verify', '--prefix', '/project'], prepared.folders(project));
      verified.succeeded();
    }
  });

  test('where nobody makes them, the install says so and makes nothing', async (context) => {
    const prepared = new Prepared(context, suite.registry, files);
    const project = prepared.fresh();
    await prepared.feed(underNode, project);
    const before = readdirSync(project, { recursive: true }).sort();
    const result = await underNode(CI, prepared.folders(project));
    assert.equal(result.status, 4);
    assert.equal(result.lines.at(-1).code, 'LINK_REFUSED');
    assert.deepEqual(readdirSync(project, { recursive: true }).sort(), before);
  });
});
