// Dependencies added, removed and brought up to date by name: gantry and npm change the same project and come to the same
// package.json, lock and tree.
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Pair } from './lib/pair.mjs';
import { control, projectsFolder, registryForSuite } from './lib/programs.mjs';

const manifest = (fields) => ({ name: 'project', version: '1.0.0', ...fields });
const read = (folder, file) => readFileSync(join(folder, file), 'utf8');
const written = (pair) => JSON.parse(read(pair.folders[0], 'package.json'));

describe('dependencies changed by name', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );
  const pairOf = (context, fields = {}, files = {}) =>
    new Pair(context, registry, { 'package.json': manifest(fields), ...files });

  test('a package is added with the range npm saves', (context) => {
    const pair = pairOf(context);
    pair.same('the first', 'install', ['right']);
    assert.deepEqual(written(pair).dependencies, { right: '^1.0.0' });
    pair.same('an exact version', 'install', ['left@1.0.0']);
    pair.same('another in its place', 'install', ['left@1.1.0', '--save-exact']);
    assert.equal(written(pair).dependencies.left, '1.1.0');
    pair.same('a wider range', 'install', ['left@>=1 <1.1.0 || 1.0.0']);
    pair.same('a tag', 'install', ['left@next']);
    assert.equal(written(pair).dependencies.left, '^2.0.0-beta.1');
    pair.same('several, with a prefix', 'install', ['@scope/middle', 'executable@1', '--save-prefix', '~']);
    assert.equal(written(pair).dependencies.executable, '~1.0.0');
    pair.same('what is there', 'install', ['right']);
    pair.same('nothing more');
    pair.same('from the lock', 'ci');
  });

  test('every kind of dependency, and from one kind to another', (context) => {
    const pair = pairOf(context, { dependencies: { left: '^1.0.0' } });
    pair.same('for development', 'install', ['-D', 'right']);
    pair.same('optional', 'install', ['-O', 'executable']);
    pair.same('a peer', 'install', ['--save-peer', 'peer-host@1']);
    pair.same('to the optional ones', 'install', ['-O', 'right']);
    pair.same('back for production', 'install', ['-P', 'right']);
    pair.same('for development instead', 'install', ['-D', 'left']);
    pair.same('a peer that is for development, too', 'install', ['--save-peer', 'left@1.0.0']);
    pair.same('newer in both', 'install', ['left@1.1.0']);
    pair.same('bundled', 'install', ['-B', 'executable', '@scope/middle']);
    assert.deepEqual(written(pair).bundleDependencies, ['@scope/middle', 'executable']);
    pair.same('for production after all', 'install', ['-P', 'left']);
    pair.same('nothing more');
  });

  test('settings of a file say how it is saved', (context) => {
    const pair = pairOf(context, {}, { '.npmrc': 'save-exact=true\nsave-dev=true\n' });
    pair.same('by the file', 'install', ['left']);
    assert.deepEqual(written(pair).devDependencies, { left: '1.1.0' });
    pair.same('exactly, whatever the prefix', 'install', ['executable', '--save-prefix', '~']);
    pair.same('unless an option says otherwise', 'install', ['right', '--save-exact=false', '--save-prefix=~']);
    assert.deepEqual(written(pair).devDependencies, { executable: '1.0.0', left: '1.1.0', right: '~1.0.0' });
    pair.write({ '.npmrc': 'save-prefix=~\n' });
    pair.same('another prefix', 'install', ['@scope/middle']);
    assert.deepEqual(written(pair).dependencies, { '@scope/middle': '~1.2.3' });
  });

  test('what a tarball carries although nothing needs it is found again where a tree is made', (context) => {
    const pair = pairOf(context, { dependencies: { 'with-leftovers': '1' } });
    const leftover = 'node_modules/with-leftovers/node_modules/inside/node_modules/leftover';
    const locked = () => JSON.parse(read(pair.folders[0], 'package-lock.json')).packages[leftover];
    pair.same('first');
    assert.deepEqual([locked().extraneous, locked().inBundle], [true, true]);
    pair.same('another beside it', 'install', ['right']);
    assert.ok(locked());
    pair.same('nothing more');
    pair.same('from the lock', 'ci');
    pair.same('for npm 6, too', 'install', ['--lockfile-version', '2']);
    pair.remove('node_modules');
    pair.same('a tree that is new, for npm 6, too');
    pair.same('for npm 7 again', 'install', ['--lockfile-version', '3']);
    pair.remove('node_modules');
    pair.same('the lock alone', 'install', ['--package-lock-only', 'left']);
    assert.equal(locked(), undefined);
    pair.same('a tree that is new', 'install');
    assert.ok(locked());
  });

  test('what a tarball carries comes from there, also where the lock has an integrity of it', (context) => {
    const inside = 'node_modules/with-leftovers/node_modules/inside';
    const integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
    const packages = () => JSON.parse(read(pair.folders[0], 'package-lock.json')).packages;
    const pair = pairOf(context, { optionalDependencies: { 'with-leftovers': '1' } });
    pair.same('the lock alone', 'install', ['--package-lock-only']);
    const lock = JSON.parse(read(pair.folders[0], 'package-lock.json'));
    // As the lock of version 1 of a package whose bundle is published, too, is brought up to date.
    lock.packages[inside] = { ...lock.packages[inside], version: '1.0.0', integrity, inBundle: true, optional: true };
    pair.write({ 'package-lock.json': lock });
    pair.same('from the lock', 'ci');
    assert.equal(packages()[inside].integrity, integrity);
    pair.remove('node_modules');
    pair.same('a tree that is new');
    assert.equal(packages()[inside].integrity, undefined);
    pair.same('nothing more');
  });

  test('what a tarball carries although nothing needs it is not looked for where the tarball is left out', (context) => {
    const pair = pairOf(context, { devDependencies: { 'with-leftovers': '1' } });
    pair.same('first');
    pair.same('left out', 'install', ['--omit=dev']);
    assert.doesNotMatch(read(pair.folders[0], 'package-lock.json'), /leftover"/);
    pair.same('there again', 'install');
    assert.match(read(pair.folders[0], 'package-lock.json'), /leftover"/);
  });

  test('a lock that fits is laid out like package.json, and mended where it says too much', (context) => {
    const pair = pairOf(context, { dependencies: { left: '1.0.0', right: '1' } });
    pair.same('first');
    const manifestText = (indentation, newline) =>
      JSON.stringify(written(pair), null, indentation).replaceAll('\n', newline) + newline;
    for (const [indentation, newline] of [
      ['\t', '\n'],
      [4, '\r\n'],
      [2, '\n'],
    ]) {
      pair.write({ 'package.json': manifestText(indentation, newline) });
      pair.same(`laid out by ${JSON.stringify([indentation, newline])}`);
    }
    for (const change of [{ extraneous: true }, { inBundle: true }]) {
      const lock = JSON.parse(read(pair.folders[0], 'package-lock.json'));
      Object.assign(lock.packages['node_modules/left'], change);
      pair.write({ 'package-lock.json': lock });
      pair.same(JSON.stringify(change));
    }
    pair.write({ '.npmrc': 'omit-lockfile-registry-resolved=true\n' });
    pair.same('without addresses');
    assert.doesNotMatch(read(pair.folders[0], 'package-lock.json'), /resolved/);
  });

  test("install strategies by the names of npm's past", (context) => {
    for (const name of ['global-style', 'legacy-bundling']) {
      const pair = pairOf(
        context,
        { dependencies: { right: '1', '@scope/middle': '1' } },
        { '.npmrc': `${name}=true\n` },
      );
      pair.same(name);
      pair.same(`${name}, again`);
    }
  });

  test('devEngines: what is not there is refused or told of, as the project says', (context) => {
    const dependencies = { left: '1.0.0' };
    const pair = pairOf(context, { dependencies });
    const demand = (devEngines) => pair.write({ 'package.json': manifest({ dependencies, devEngines }) });
    demand({ packageManager: { name: 'npm', version: '>=11' }, runtime: [{ name: 'deno' }, { name: 'node' }] });
    pair.same('all is there');
    demand({ os: { name: process.platform, version: release() }, cpu: { name: process.arch } });
    pair.same('the machine, too');
    for (const wrong of [
      { packageManager: { name: 'pnpm' } },
      { runtime: { name: 'node', version: '^1.0.0' } },
      { cpu: { name: 'pdp11', onFail: 'download' } },
      { os: 'linux' },
    ]) {
      demand(wrong);
      for (const command of ['install', 'ci']) pair.fail(JSON.stringify(wrong), 'DEV_ENGINES', command);
    }
    demand({ packageManager: { name: 'pnpm', onFail: 'warn' } });
    pair.same('a warning');
    demand({ runtime: { name: 'bun' } });
    pair.same('by force', 'install', ['--force']);
  });

  test('an alias is saved as one', (context) => {
    const pair = pairOf(context);
    pair.same('with a range', 'install', ['old@npm:left@1.0.0']);
    assert.deepEqual(written(pair).dependencies, { old: 'npm:left@^1.0.0' });
    pair.same('another name for the same', 'install', ['newest@npm:left']);
    pair.same('again', 'install', ['old']);
    pair.same('one less', 'uninstall', ['old']);
  });

  test('packages are removed from wherever they are', (context) => {
    const pair = pairOf(context, {
      dependencies: { right: '1', left: '1.0.0', '@scope/middle': '1' },
      devDependencies: { executable: '1' },
      optionalDependencies: { 'with-optional': '1' },
      peerDependencies: { 'peer-host': '1' },
      bundleDependencies: ['right'],
    });
    pair.same('first');
    pair.same('one', 'uninstall', ['right']);
    pair.same('another that others need', 'uninstall', ['left']);
    pair.same('the last of its list', 'uninstall', ['executable']);
    pair.same('one that is not there', 'uninstall', ['never-published']);
    pair.same('the rest', 'uninstall', ['with-optional', 'peer-host', '@scope/middle']);
    assert.deepEqual(written(pair), manifest({}));
  });

  test('what the project bundles goes as everything else', (context) => {
    const fields = { dependencies: { right: '1', executable: '1' }, bundleDependencies: ['right'] };
    const pair = pairOf(context, fields);
    pair.same('first');
    pair.same('from the lock', 'ci');
    pair.same('without it', 'uninstall', ['right']);
    assert.deepEqual(written(pair).dependencies, { executable: '1' });
  });

  test('what is updated is what was named, as far as package.json allows', (context) => {
    const locked = { left: '1.0.0', right: '1', 'peer-host': '1.0.0' };
    const pair = pairOf(context, { dependencies: locked });
    pair.same('first');
    pair.write({ 'package.json': manifest({ dependencies: { ...locked, left: '^1.0.0', 'peer-host': '>=1' } }) });
    pair.same('what is locked stays');
    pair.same('one', 'update', ['left']);
    assert.equal(written(pair).dependencies.left, '^1.0.0');
    assert.match(read(pair.folders[0], 'package-lock.json'), /left-1\.1\.0\.tgz/);
    pair.same('everything', 'update');
    assert.match(read(pair.folders[0], 'package-lock.json'), /peer-host-2\.0\.0\.tgz/);
    pair.same('with the ranges', 'update', ['--save']);
    assert.equal(written(pair).dependencies.left, '^1.1.0');
  });

  test('one is updated wherever it is in the tree', (context) => {
    const pair = pairOf(context, { dependencies: { right: '1', left: '1.0.0' } });
    pair.same('first');
    pair.same('the shared one is not ours alone any more', 'uninstall', ['left']);
    assert.match(read(pair.folders[0], 'package-lock.json'), /left-1\.0\.0\.tgz/);
    pair.same('below another', 'update', ['left']);
    assert.match(read(pair.folders[0], 'package-lock.json'), /left-1\.1\.0\.tgz/);
    pair.same('saved, where it is a dependency', 'update', ['right', '--save']);
  });

  test('a lock of another version is brought up to date, or not, as by npm', (context) => {
    const pair = pairOf(context, { dependencies: { left: '^1.0.0' } });
    pair.same('version 2', 'install', ['--lockfile-version', '2']);
    pair.same('added', 'install', ['right']);
    pair.same('updated by name', 'update', ['left']);
    pair.same('all', 'update');
  });

  test('peers of what is added come along, and a conflict changes nothing', (context) => {
    const pair = pairOf(context, { dependencies: { 'peer-host': '^2.0.0' } });
    pair.same('first');
    const before = pair.folders.map((folder) => [read(folder, 'package.json'), read(folder, 'package-lock.json')]);
    pair.fail('a conflict', 'RESOLVE_PEER_CONFLICT', 'install', ['peer-guest']);
    assert.deepEqual(
      pair.folders.map((folder) => [read(folder, 'package.json'), read(folder, 'package-lock.json')]),
      before,
    );
    pair.same('the peer goes', 'uninstall', ['peer-host']);
    pair.same('and comes with its guest', 'install', ['peer-guest']);
    pair.same('in place of another', 'install', ['peer-host@1']);
  });

  test('folders, tarballs and addresses get their names from what is there', (context) => {
    const tarball = `${registry}left/-/left-1.0.0.tgz`;
    const pair = pairOf(context, {}, { 'libs/own/package.json': { name: 'its-own', version: '2.0.0' } });
    pair.same('a folder', 'install', ['./libs/own']);
    assert.deepEqual(written(pair).dependencies, { 'its-own': 'file:libs/own' });
    pair.same('an address', 'install', [tarball]);
    assert.equal(written(pair).dependencies.left, tarball);
    pair.same('under another name', 'install', [`other@${tarball}`]);
    pair.same('from the lock', 'ci');
  });

  test('package.json keeps its look, its mode, and the link it is', (context) => {
    const text =
      '{\r\n\t"version": "1.0.0",\r\n\t"x": [1.50, "\\u00e9"],\r\n\t"name": "project",\r\n\t"files": []\r\n}\r\n';
    const pair = new Pair(context, registry, { 'package.json': text });
    pair.same('tabs', 'install', ['left']);
    assert.match(read(pair.folders[0], 'package.json'), /^\{\r\n\t"version"/);
    const [ours] = pair.folders;
    renameSync(join(ours, 'package.json'), join(ours, 'real.json'));
    symlinkSync('real.json', join(ours, 'package.json'));
    chmodSync(join(ours, 'real.json'), 0o600);
    pair.workspace.gantry('install', 'right', '--prefix', ours).succeeded();
    assert.equal(readlinkSync(join(ours, 'package.json')), 'real.json');
    assert.equal(statSync(join(ours, 'real.json')).mode & 0o777, 0o600);
    assert.ok(JSON.parse(read(ours, 'real.json')).dependencies.right);
    assert.ok(lstatSync(join(ours, 'node_modules/right')).isDirectory());
    writeFileSync(join(ours, 'real.json'), '{"name":"project"}');
    pair.workspace.gantry('install', 'left@1.0.0', '--prefix', ours).succeeded();
    assert.equal(read(ours, 'real.json'), '{"name":"project","dependencies":{"left":"^1.0.0"}}');
  });

  test('only the lock, nothing saved, or no lock at all', (context) => {
    const pair = pairOf(context, { dependencies: { left: '1.0.0' } });
    pair.same('first');
    pair.same('nothing is saved', 'install', ['right', '--no-save']);
    assert.deepEqual(written(pair).dependencies, { left: '1.0.0' });
    const bare = pairOf(context, { dependencies: { left: '1.0.0' } });
    const options = ['--package-lock-only'];
    const both = (command, words) => {
      const [ours, theirs] = bare.folders;
      bare.workspace.gantry(command, ...words, '--prefix', ours).succeeded();
      bare.workspace.npm(theirs, command, ...words).succeeded();
      for (const file of ['package.json', 'package-lock.json']) assert.equal(read(ours, file), read(theirs, file));
    };
    both('install', ['right', ...options]);
    both('update', ['left', ...options]);
    both('uninstall', ['right', ...options]);
    const [ours] = pairOf(context).folders;
    bare.workspace.gantry('install', 'left', '--no-package-lock', '--prefix', ours).succeeded();
    assert.deepEqual(JSON.parse(read(ours, 'package.json')).dependencies, { left: '^1.1.0' });
    assert.throws(() => read(ours, 'package-lock.json'), /ENOENT/);
  });

  test('beside a yarn.lock, and without any lock beside a tree', (context) => {
    const pair = pairOf(context, { dependencies: { right: '1' } }, { 'yarn.lock': '# yarn lockfile v1\n\n\n' });
    pair.same('added', 'install', ['left@1.0.0']);
    pair.same('removed', 'uninstall', ['right']);
    pair.same('all', 'update');
    const bare = pairOf(context, { dependencies: { right: '1', left: '1.0.0' } });
    bare.same('first');
    bare.remove('package-lock.json');
    bare.same('one more, from the hidden lock', 'install', ['executable']);
    bare.remove('package-lock.json');
    bare.remove('node_modules/.package-lock.json');
    bare.same('one more, from the folders', 'install', ['@scope/middle']);
    bare.remove('package-lock.json');
    bare.same('everything', 'update');
  });

  test('a project begins with what is added, and is found from below', (context) => {
    const pair = new Pair(context, registry, {});
    pair.same('the first', 'install', ['left']);
    assert.equal(read(pair.folders[0], 'package.json'), '{\n  "dependencies": {\n    "left": "^1.1.0"\n  }\n}\n');
    pair.write({ 'src/deep/file.js': '' });
    const [ours, theirs] = pair.folders;
    const below = (folder) => join(folder, 'src', 'deep');
    pair.workspace.gantryIn(below(ours), 'install', 'right').succeeded();
    pair.workspace.npm(below(theirs), 'install', 'right').succeeded();
    pair.same('from above again');
    assert.ok(written(pair).dependencies.right);
    const tree = pair.workspace.gantryIn(below(ours), 'why', 'left').succeeded().stdout;
    assert.match(tree, /right@1\.0\.0/);
  });

  test('the folder of a workspace is no project of its own', (context) => {
    const files = { 'packages/a/package.json': { name: 'a', version: '1.0.0' }, 'other/package.json': { name: 'b' } };
    const pair = pairOf(context, { workspaces: ['packages/*'] }, files);
    const [ours] = pair.folders;
    pair.same('in a workspace', 'install', ['left'], 'packages/a');
    assert.throws(() => read(ours, 'packages/a/package-lock.json'), /ENOENT/);
    pair.same('in another folder', 'install', ['left'], 'other');
    assert.ok(read(ours, 'other/package-lock.json'));
  });

  test('a tarball that is added by its address is fetched once', async (context) => {
    const { workspace, folders } = pairOf(context);
    await control(registry, 'POST', 'reset');
    workspace.gantryIn(folders[0], 'install', `${registry}left/-/left-1.0.0.tgz`).succeeded();
    assert.equal((await control(registry, 'GET', 'stats')).requests, 1);
  });

  test('what is not allowed is not even looked at', async (context) => {
    const pair = pairOf(
      context,
      {},
      { 'own/package.json': { name: 'own' }, '.npmrc': 'allow-remote=none\nallow-directory=none\n' },
    );
    await control(registry, 'POST', 'reset');
    for (const word of [`${registry}left/-/left-1.0.0.tgz`, './own']) {
      pair.fail(word, 'RESOLVE_NOT_ALLOWED', 'install', [word.replace('./', `${pair.folders[0]}/`)]);
    }
    assert.equal((await control(registry, 'GET', 'stats')).requests, 0);
  });

  test('update with save leaves the look of package.json alone where no dependency is concerned', (context) => {
    const pair = new Pair(context, registry, { 'package.json': '{ "name": "project" ,  "version": "1.0.0" }' });
    pair.same('nothing to save', 'update', ['--save']);
  });

  test('what cannot be added is said, and nothing is changed', (context) => {
    const pair = pairOf(context, {}, { 'nameless/package.json': {} });
    const [ours] = pair.folders;
    const before = read(ours, 'package.json');
    for (const [words, code, status] of [
      [['install', 'never-published'], 'RESOLVE_PACKAGE_NOT_FOUND', 1],
      [['install', 'left@never-tagged'], 'RESOLVE_NO_MATCHING_VERSION', 1],
      [['install', 'left@^99'], 'RESOLVE_NO_MATCHING_VERSION', 1],
      [['install', 'workspace:*'], 'SPEC_UNSUPPORTED_PROTOCOL', 1],
      [['install', 'file:nameless'], 'DEPENDENCY_NAMELESS', 1],
      [['install', 'left', '--save-dev', '--save-peer'], undefined, 2],
      [['update', 'left@1'], 'CONFIG_INVALID', 1],
      [['uninstall'], undefined, 2],
    ]) {
      const run = pair.workspace.gantry(
        ...words.map((word) => word.replace('nameless', join(ours, 'nameless'))),
        '--prefix',
        ours,
        '--json',
      );
      assert.equal(run.status, status, `${words.join(' ')}: ${run.stdout}${run.stderr}`);
      if (code) assert.equal(run.lines.at(-1).code, code, words.join(' '));
      assert.equal(read(ours, 'package.json'), before);
    }
  });
});

describe('dependencies of recorded projects changed by name', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  // Metadata alone: the recording has the tarballs of what these projects need, and changes may need others.
  for (const name of ['react', 'vue', 'express']) {
    test(`${name}: what others bring along is added, what was there removed, and some of it updated`, (context) => {
      const files = { 'package.json': readFileSync(join(projectsFolder, name, 'package.json'), 'utf8') };
      const pair = new Pair(context, registry, files);
      const lock = () => JSON.parse(read(pair.folders[0], 'package-lock.json')).packages;
      const both = (command, ...words) => {
        const [ours, theirs] = pair.folders;
        const options = ['--package-lock-only', '--ignore-scripts'];
        pair.workspace.gantryIn(ours, command, ...words, ...options).succeeded();
        pair.workspace.npm(theirs, command, ...words, ...options).succeeded();
        for (const file of ['package.json', 'package-lock.json']) {
          assert.equal(read(ours, file), read(theirs, file), `${command} ${words.join(' ')}: ${file}`);
        }
      };
      both('install');
      // Not those of other platforms, which both refuse as ordinary dependencies.
      const below = Object.entries(lock()).filter(
        ([path, entry]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !entry.cpu && !entry.os,
      );
      const names = below.map(([path]) => path.slice('node_modules/'.length));
      const own = Object.keys({ ...lock()[''].dependencies, ...lock()[''].devDependencies });
      const foreign = names.filter((known) => !own.includes(known));
      const at = (list, part) => list[Math.floor(list.length * part)];
      both('install', at(foreign, 0.2), `${at(foreign, 0.7)}@${lock()[`node_modules/${at(foreign, 0.7)}`].version}`);
      both('install', '-D', at(foreign, 0.5));
      both('uninstall', own[0]);
      both('update', at(names, 0.4), at(names, 0.9));
      both('install', own[0]);
      both('uninstall', at(own, 0.5), at(foreign, 0.2));
      both('update');
    });
  }
});
