// Workspaces, folders and tarballs: step by step, gantry and npm change the same project and come to the same.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { registryForSuite, Workspace } from './lib/programs.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

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

  test('what is nested in a workspace is not put there again', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', {
      'package.json': root({ workspaces: ['a'], dependencies: { left: '1.1.0' } }),
    });
    workspace.project('project/a', { 'package.json': member('a', { dependencies: { left: '1.0.0' } }) });
    workspace.gantryIn(project, 'install').succeeded();
    const folder = () => statSync(join(project, 'a/node_modules/left')).ino;
    const before = folder();
    for (const words of [['install'], ['install', 'deprecated']]) {
      workspace.gantryIn(project, ...words).succeeded();
      assert.equal(folder(), before, words.join(' '));
    }
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

  test('a workspace is saved by its version, whatever it is asked for by', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'] }),
      'p/a/package.json': member('a'),
      'p/left/package.json': member('left'),
    });
    const saved = () => JSON.parse(readFileSync(join(pair.folders[0], 'package.json'), 'utf8'));
    pair.same('by its folder', 'install', ['./p/a']);
    assert.deepEqual(saved().dependencies, { a: '^1.0.0' });
    pair.same('for development', 'install', ['-D', 'file:p/a']);
    pair.same('a range that it is not in', 'install', ['left@2']);
    assert.deepEqual(saved().dependencies, { left: '^1.0.0' });
    pair.same('exactly', 'install', ['-E', 'a']);
    pair.write({ 'package.json': root({ workspaces: ['p/*'], dependencies: { a: 'file:p/a' } }) });
    pair.same('one that is listed by its folder', 'install', ['a']);
    assert.deepEqual(saved().dependencies, { a: '^1.0.0' });
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

  test('a folder that a link leads to is saved as what it is', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({}),
      'real/package.json': member('linked', { dependencies: { left: '1' } }),
      '../outside/package.json': member('outside'),
    });
    for (const folder of pair.folders) {
      symlinkSync('real', join(folder, 'link'));
      symlinkSync('../outside', join(folder, 'away'));
    }
    pair.same('inside', 'install', ['./link']);
    pair.same('outside', 'install', ['./away']);
    pair.same('from the lock', 'ci');
  });

  test("the project's overrides hold in its workspaces, whoever else asks for them", (context) => {
    for (const list of ['dependencies', 'devDependencies', 'peerDependencies']) {
      for (const overrides of [
        { left: '$left' },
        { left: '1.0.0' },
        { a: { left: '1.0.0' } },
        { right: { left: '1.0.0' } },
      ]) {
        const own = { dependencies: { left: '1.0.0' } };
        const files = {
          'package.json': root({ workspaces: ['p/*'], overrides, ...own, [list]: { ...own[list], a: '*' } }),
          'p/a/package.json': member('a', { dependencies: { left: '^1.1.0', right: '1' } }),
          'p/b/package.json': member('b', { dependencies: { left: '1.1.0', a: '1' } }),
        };
        const pair = new Pair(context, registry, files);
        const step = JSON.stringify([list, overrides]);
        pair.same(step);
        pair.same(`${step}, again`);
        pair.write({ 'p/b/package.json': member('b', { dependencies: { '@scope/middle': '1', a: '1' } }) });
        pair.same(`${step}, changed`);
        pair.same(`${step}, everything looked up again`, 'update');
        new Pair(context, registry, files).same(`${step}, by an update`, 'update');
      }
    }
  });

  test('what nobody asks for leaves a workspace with the next install', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'] }),
      'p/a/package.json': member('a', { dependencies: { left: '1' } }),
      'p/b/package.json': member('b'),
    });
    pair.same('first');
    pair.write({
      'p/a/node_modules/left/package.json': member('left'),
      'p/a/node_modules/@scope/stranger/package.json': member('@scope/stranger'),
      'p/b/node_modules/stranger/package.json': member('stranger'),
      'p/b/node_modules/.cache/kept.txt': 'kept',
    });
    pair.same('without them');
    pair.same('again');
  });

  test('ci clears what workspaces have of their own, and no other folder that is linked to', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'], dependencies: { lib: 'file:lib' } }),
      'p/a/package.json': member('a', { dependencies: { left: '1' } }),
      'lib/package.json': member('lib', { dependencies: { left: '1' }, devDependencies: { right: '1' } }),
    });
    pair.same('first');
    pair.write({
      'p/a/node_modules/stranger/package.json': member('stranger'),
      'lib/node_modules/right/package.json': member('right'),
      'lib/node_modules/right/index.js': '',
    });
    pair.same('from the lock', 'ci');
    assert.ok(listing(pair.folders[0]).some((line) => line.startsWith('lib/node_modules/right/index.js ')));
  });

  test('what folders say of themselves is read anew, by ci as well, and goes into the lock with an install', (context) => {
    const dependencies = { lib: 'file:lib', left: '1' };
    const peers = { peerDependencies: { right: '1' } };
    const pair = new Pair(context, registry, {
      'package.json': root({ workspaces: ['p/*'], dependencies }),
      'p/a/package.json': member('a', { bin: { run: 'run.js' } }),
      'p/a/run.js': '#!/usr/bin/env node\n',
      'lib/package.json': member('lib', peers),
    });
    pair.same('first');
    const scripts = { postinstall: 'node run.js' };
    pair.write({
      'package.json': root({ workspaces: ['p/*'], dependencies, scripts, funding: 'https://example.org/give' }),
      'p/a/package.json': member('a', { version: '1.1.0', bin: { run: 'run.js' }, os: ['!plan9'], scripts }),
      'lib/package.json': member('lib', { ...peers, version: '2.0.0', license: 'MIT' }),
    });
    pair.same('a clean install', 'ci');
    pair.same('an install');
    pair.same('a clean install of that', 'ci');
    const meta = { ...peers, peerDependenciesMeta: { right: { optional: false } } };
    pair.write({
      'package.json': root({ workspaces: ['p/*'], dependencies }),
      'p/a/package.json': member('a', { bin: { run: 'run.js' } }),
      'lib/package.json': member('lib', meta),
    });
    pair.same('without them');
    pair.write({
      'p/a/package.json': member('a', { bin: { run: 'run.js' }, dependencies: { right: '1' } }),
      'lib/package.json': member('lib'),
    });
    pair.same('what asks for others than the lock has', 'ci');
    pair.same('and is installed');
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

  test('a tarball of the project that brings others along', (context) => {
    const pair = new Pair(context, registry, { 'package.json': root({}) });
    const source = join(pair.workspace.folder, 'source');
    mkdirSync(join(source, 'node_modules', 'left'), { recursive: true });
    const bundler = { dependencies: { left: '1.0.0', right: '1' }, bundleDependencies: ['left'] };
    writeFileSync(join(source, 'package.json'), json(member('bundler', bundler)));
    writeFileSync(join(source, 'node_modules', 'left', 'package.json'), json(member('left')));
    pair.workspace.npm(source, 'pack', '--pack-destination', pair.workspace.folder).succeeded();
    const tarball = readFileSync(join(pair.workspace.folder, 'bundler-1.0.0.tgz'));
    pair.write({ 'package.json': root({ devDependencies: { bundler: 'file:bundler.tgz' } }), 'bundler.tgz': tarball });
    const carried = 'node_modules/bundler/node_modules/left';
    const locked = () => JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8')).packages[carried];
    pair.same('the lock alone', 'install', ['--package-lock-only']);
    assert.deepEqual([locked().dev, locked().inBundle, locked().extraneous], [true, true, undefined]);
    pair.same('the tree');
    pair.same('another beside it', 'install', ['executable']);
    pair.same('from the lock', 'ci');
    const other = new Pair(context, registry, { 'package.json': root({}), 'bundler.tgz': tarball });
    other.same('by its file', 'install', ['./bundler.tgz']);
    other.same('again');
  });

  test('where a manifest names a folder of commands, they are what is in it', (context) => {
    const script = '#!/usr/bin/env node\n';
    const pair = new Pair(context, registry, { 'package.json': root({}) });
    const source = join(pair.workspace.folder, 'source');
    const carried = join(source, 'node_modules', 'left');
    mkdirSync(join(carried, 'commands'), { recursive: true });
    mkdirSync(join(source, 'bin'));
    const bundler = { directories: { bin: './bin' }, dependencies: { left: '1.0.0' }, bundleDependencies: ['left'] };
    writeFileSync(join(source, 'package.json'), json(member('bundler', bundler)));
    writeFileSync(join(source, 'bin', 'bundle'), script, { mode: 0o755 });
    writeFileSync(join(carried, 'package.json'), json(member('left', { directories: { bin: 'commands' } })));
    writeFileSync(join(carried, 'commands', 'inner'), script, { mode: 0o755 });
    pair.workspace.npm(source, 'pack', '--pack-destination', pair.workspace.folder).succeeded();
    pair.write({
      'package.json': root({
        directories: { bin: 'scripts' },
        workspaces: ['apps/*'],
        dependencies: { bundler: 'file:bundler.tgz', own: 'file:own', named: 'file:named' },
      }),
      'bundler.tgz': readFileSync(join(pair.workspace.folder, 'bundler-1.0.0.tgz')),
      'scripts/build.js': script,
      'apps/web/package.json': member('web', { directories: { bin: '../commands' } }),
      'apps/web/commands/serve': script,
      'apps/web/commands/.hidden': script,
      'apps/web/commands/more/stop.js': script,
      'own/package.json': member('own', { directories: { bin: 'absent' } }),
      'named/package.json': member('named', { bin: { named: 'cli.js' }, directories: { bin: 'commands' } }),
      'named/cli.js': script,
      'named/commands/other': script,
    });
    pair.same('first');
    const { packages } = JSON.parse(readFileSync(join(pair.folders[0], 'package-lock.json'), 'utf8'));
    assert.deepEqual(packages['apps/web'].bin, {
      more: 'commands/more',
      serve: 'commands/serve',
      'stop.js': 'commands/more/stop.js',
    });
    assert.deepEqual(packages['node_modules/bundler/node_modules/left'].bin, { inner: 'commands/inner' });
    pair.same('from the lock', 'ci');
    pair.remove('package-lock.json');
    pair.same('from the tree');
    pair.remove('package-lock.json');
    pair.remove('node_modules/.package-lock.json');
    pair.same('from the packages themselves');
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
