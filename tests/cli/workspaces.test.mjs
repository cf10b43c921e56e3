// Workspaces, folders and tarballs: step by step, gantry and npm change the same project and come to the same.
import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { registryForSuite, Workspace } from './lib/programs.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Every file and link of a folder: path, mode, what a link says; what a program writes for itself left out. */
function listing(folder, prefix = '') {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = `${prefix}${entry.name}`;
      if (entry.isSymbolicLink()) return [`${name} -> ${readlinkSync(path)}`];
      if (entry.isDirectory()) return listing(path, `${name}/`);
      return [`${name} ${(lstatSync(path).mode & 0o777).toString(8)}`];
    })
    .sort();
}

/** The same project twice, one for each program, and steps that change both. */
class Pair {
  constructor(context, registry, files) {
    this.workspace = new Workspace(context, registry);
    this.folders = ['gantry', 'npm'].map((program) => join(this.workspace.folder, program, 'project'));
    for (const folder of this.folders) mkdirSync(folder, { recursive: true });
    this.write(files);
  }

  write(files) {
    for (const folder of this.folders) {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        const isData = typeof content === 'string' || content instanceof Uint8Array;
        writeFileSync(join(folder, path), isData ? content : json(content));
      }
    }
  }

  remove(path) {
    for (const folder of this.folders) rmSync(join(folder, path), { recursive: true, force: true });
  }

  /** Runs both, which must come to the same lock, the same tree and the same hidden lock. */
  same(step, command = 'install', words = []) {
    const [ours, theirs] = this.folders;
    this.workspace.gantry(command, '--prefix', ours, '--ignore-scripts', ...words).succeeded();
    this.workspace.npm(theirs, command, '--ignore-scripts', ...words).succeeded();
    const text = (folder, path) => readFileSync(join(folder, path), 'utf8');
    assert.equal(text(ours, 'package-lock.json'), text(theirs, 'package-lock.json'), `${step}: lock`);
    assert.deepEqual(listing(ours), listing(theirs), `${step}: tree`);
    const hidden = 'node_modules/.package-lock.json';
    assert.equal(text(ours, hidden), text(theirs, hidden), `${step}: hidden lock`);
  }

  /** Runs both, which must fail; ours with `code`. */
  fail(step, code, command = 'install') {
    const [ours, theirs] = this.folders;
    const run = this.workspace.gantry(command, '--prefix', ours, '--json');
    assert.notEqual(run.status, 0, `${step}: gantry fails`);
    assert.equal(run.lines.at(-1).code, code, step);
    assert.notEqual(this.workspace.npm(theirs, command, '--ignore-scripts').status, 0, `${step}: npm fails`);
    return run.lines.at(-1);
  }
}

const root = (fields) => ({ name: 'root', version: '1.0.0', ...fields });
const member = (name, fields) => ({ name, version: '1.0.0', ...fields });

describe('workspaces, folders and tarballs', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  test('a workspace is linked to, what it needs is hoisted or nested, and changes are followed', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['apps/*', 'libs/*', '!libs/draft'], dependencies: { left: '1.1.0' } }),
      'apps/web/package.json': member('web', {
        dependencies: { left: '1.0.0', '@team/kit': '^1.0.0', right: '*' },
        devDependencies: { executable: '1' },
      }),
      'libs/kit/package.json': member('@team/kit', {
        bin: { kit: 'bin/kit.js', absent: 'bin/absent.js' },
        peerDependencies: { 'peer-host': '>=1' },
        devDependencies: { 'peer-host': '1.0.0' },
      }),
      'libs/kit/bin/kit.js': '#!/usr/bin/env node\n',
      'libs/draft/package.json': member('draft', { dependencies: { 'never-published': '1' } }),
    });
    pair.same('first');
    pair.same('again');
    pair.same('from the lock', 'ci');

    pair.write({ 'apps/web/package.json': member('web', { dependencies: { left: '^1.0.0', '@team/kit': '*' } }) });
    pair.same('what a workspace asked for is gone');
    pair.write({ 'libs/new/package.json': member('new', { dependencies: { '@scope/middle': '1', web: '*' } }) });
    pair.same('a new workspace');
    pair.write({ 'libs/kit/package.json': member('@team/kit', { version: '2.0.0' }) });
    pair.same('a new version of a workspace, without commands');
    pair.remove('libs/new');
    pair.same('a workspace is gone');
    pair.write({ 'package.json': root({ workspaces: ['apps/*', 'libs/kit'] }) });
    pair.same('the root asks for nothing');
    pair.same('from the lock at last', 'ci');
  });

  test('npm takes over what gantry made, and the other way round', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'] }),
      'p/a/package.json': member('a', { dependencies: { right: '1', left: '1.0.0' } }),
      'p/b/package.json': member('b', { dependencies: { a: '1', left: '^1' } }),
    });
    const [ours, theirs] = pair.folders;
    pair.workspace.gantry('install', '--prefix', ours).succeeded();
    pair.workspace.npm(theirs, 'install').succeeded();
    const before = [ours, theirs].map((folder) => [listing(folder), readFileSync(join(folder, 'package-lock.json'))]);
    pair.workspace.npm(ours, 'install').succeeded();
    const report = pair.workspace.gantry('install', '--prefix', theirs, '--json').succeeded().lines.at(-1);
    assert.equal(report.lockChanged, false);
    const after = [ours, theirs].map((folder) => [listing(folder), readFileSync(join(folder, 'package-lock.json'))]);
    assert.deepEqual(after, before);
  });

  test('folders are linked to, from folders too', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ dependencies: { one: 'file:./libs/one', outside: 'file:../outside' } }),
      'libs/one/package.json': member('one', { dependencies: { two: 'file:../two', inner: 'file:inner' } }),
      'libs/one/inner/package.json': member('inner', { dependencies: { left: '1.0.0' } }),
      'libs/two/package.json': member('two', { bin: 'two.js', devDependencies: { left: '^1' } }),
      'libs/two/two.js': '#!/usr/bin/env node\n',
      '../outside/package.json': member('outside', { dependencies: { right: '1' } }),
    });
    pair.same('first');
    pair.same('from the lock', 'ci');
    pair.write({ 'libs/one/package.json': member('one', { dependencies: { two: 'file:../two', right: '1' } }) });
    pair.same('a folder asks for something else');
    pair.write({ 'package.json': root({ dependencies: { two: 'file:libs/two', nowhere: 'file:libs/nowhere' } }) });
    pair.same('a folder that is not there');
  });

  test('tarballs of the project are unpacked, and refused where they are not what the lock says', (context) => {
    const pair = new Pair(context, registry, { 'package.json': root({}) });
    const source = join(pair.workspace.folder, 'source');
    mkdirSync(source);
    const pack = (version) => {
      writeFileSync(
        join(source, 'package.json'),
        json({ name: 'packed', version, bin: 'cli.js', license: 'MIT', dependencies: { left: '^1.0.0' } }),
      );
      writeFileSync(join(source, 'cli.js'), '#!/usr/bin/env node\n');
      pair.workspace.npm(source, 'pack', '--pack-destination', pair.workspace.folder).succeeded();
      return readFileSync(join(pair.workspace.folder, `packed-${version}.tgz`));
    };
    pair.write({
      'package.json': root({ dependencies: { packed: 'file:vendor/packed.tgz' } }),
      'vendor/packed.tgz': pack('1.0.0'),
    });
    pair.same('first');
    pair.same('from the lock', 'ci');
    pair.same('again');
    pair.write({ 'vendor/packed.tgz': pack('1.0.1') });
    for (const cache of ['store', 'npm-cache']) rmSync(join(pair.workspace.folder, cache), { recursive: true });
    assert.equal(pair.fail('another tarball under the same name', 'ARCHIVE_INTEGRITY', 'ci').package, 'packed@1.0.0');
    pair.remove('vendor/packed.tgz');
    pair.fail('no tarball', 'TARBALL_MISSING', 'ci');
  });

  test('workspaces that are not there are told of', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['packages/*'], dependencies: { left: '1' } }),
      'elsewhere/package.json': member('elsewhere'),
    });
    pair.same('without them');
    const run = pair.workspace.gantry('install', '--prefix', pair.folders[0], '--json').succeeded();
    assert.ok(run.lines.some(({ code }) => code === 'WORKSPACES_MISSING'));
  });

  test('what cannot be a workspace is refused', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'] }),
      'p/a/package.json': member('same'),
      'p/b/package.json': member('same'),
    });
    const error = pair.fail('one name twice', 'WORKSPACE_DUPLICATE');
    assert.match(error.message, /p\/a, p\/b/);
    pair.write({ 'p/b/package.json': '{ "name": ' });
    pair.fail('no JSON', 'MANIFEST_JSON');
    pair.write({ 'package.json': root({ workspaces: 'p/*' }) });
    pair.fail('no list', 'MANIFEST_WORKSPACES');
  });
});
