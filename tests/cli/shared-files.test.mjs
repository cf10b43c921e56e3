// Files that projects share with the store: what is done to one project, or to the store itself, does not come to others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { control, fixturesForSuite, gantryCommand, Workspace } from './lib/programs.mjs';

const manifest = {
  'package.json': { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '1', executable: '1' } },
};
const isRoot = process.getuid() === 0;
const someone = 65_534;

describe('files shared with the store', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  /** A project that is installed, and a function that installs into a new one from the same store. */
  function installed(context) {
    const workspace = new Workspace(context, suite.registry);
    const first = workspace.project('first', manifest);
    workspace.gantryIn(first, 'install').succeeded();
    // A version that was guessed may have landed in the store.
    workspace.gantry('store', 'prune').succeeded();
    const tree = listing(join(first, 'node_modules'));
    let count = 0;
    const next = (...words) => {
      count += 1;
      const project = workspace.project(`next-${count}`, {
        ...manifest,
        'package-lock.json': readFileSync(join(first, 'package-lock.json')),
      });
      const run = workspace.gantryIn(project, 'ci', '--json', ...words).succeeded();
      return { project, run, tree: listing(join(project, 'node_modules')) };
    };
    return { workspace, first, tree, next };
  }

  const everything = (folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path));

  test('modes that were changed in one project are not those of the next', (context) => {
    const { workspace, first, tree, next } = installed(context);
    execFileSync('chmod', ['-R', 'go-rwx', join(first, 'node_modules')]);
    assert.deepEqual(next('--offline').tree, tree);
    assert.equal(workspace.gantry('store', 'verify').succeeded().stdout, '4 packages are whole\n');
    assert.notDeepEqual(listing(join(first, 'node_modules')), tree, 'that one stays as it is');
  });

  test('who was given one project has nothing of the others', { skip: !isRoot }, (context) => {
    const { first, tree, next } = installed(context);
    execFileSync('chown', ['-R', `${someone}`, join(first, 'node_modules')]);
    const { project, tree: found } = next('--offline');
    assert.deepEqual(found, tree);
    for (const path of everything(join(project, 'node_modules'))) assert.equal(statSync(path).uid, 0, path);
  });

  test('what was written by whom it was given to is fetched again', { skip: !isRoot }, async (context) => {
    const { first, tree, next } = installed(context);
    execFileSync('chown', ['-R', `${someone}`, join(first, 'node_modules')]);
    const file = join(first, 'node_modules/left/index.js');
    const isShared = statSync(file).nlink > 1;
    writeFileSync(file, readFileSync(file, 'utf8').replace('left', 'evil'));
    await control(suite.registry, 'POST', 'reset');
    assert.deepEqual(next().tree, tree);
    const { tarballs } = await control(suite.registry, 'GET', 'stats');
    assert.equal(tarballs, isShared ? 1 : 0);
  });

  test('a store of another user is copied from', { skip: !isRoot }, (context) => {
    const { workspace, tree, next } = installed(context);
    execFileSync('chown', ['-R', `${someone}`, join(workspace.folder, 'store')]);
    const { project, run, tree: found } = next('--offline');
    assert.deepEqual(found, tree);
    for (const path of everything(join(project, 'node_modules')))
      assert.deepEqual([statSync(path).uid, statSync(path).nlink > 1 && statSync(path).isFile()], [0, false], path);
    if (run.lines.at(-1).method === 'hard link') assert.match(run.lines.at(-1).reason, /another user/);
  });

  test('packages that a project patches are its own', (context) => {
    const { workspace, first, tree, next } = installed(context);
    const paths = everything(join(first, 'node_modules')).filter((path) => lstatSync(path).isFile());
    const inodes = () => new Map(paths.map((path) => [path, statSync(path).ino]));
    const before = inodes();
    const isShared = statSync(join(first, 'node_modules/left/index.js')).nlink > 1;
    // As `patch-package` calls its patches. It writes into the files that are there.
    mkdirSync(join(first, 'patches'));
    for (const name of ['left+1.0.0.patch', '@scope+middle+1.2.3.patch'])
      writeFileSync(join(first, 'patches', name), '');
    // What was changed before there was a patch for it stays.
    rmSync(join(first, 'node_modules/left/index.js'));
    writeFileSync(join(first, 'node_modules/left/index.js'), 'changed');
    for (const _ of [1, 2]) {
      assert.equal(workspace.gantryIn(first, 'install', '--json').succeeded().lines.at(-1).linked, 0);
    }
    assert.equal(readFileSync(join(first, 'node_modules/left/index.js'), 'utf8'), 'changed');
    const isPatched = (path) => /node_modules\/(left|@scope\/middle)\//.test(path);
    const after = inodes();
    for (const path of paths.filter((path) => !path.endsWith('.package-lock.json'))) {
      assert.equal(after.get(path) === before.get(path), !(isShared && isPatched(path)), path);
    }
    for (const path of paths.filter(isPatched)) {
      assert.equal(statSync(path).nlink, 1, path);
      writeFileSync(path, 'patched');
    }
    assert.deepEqual(next('--offline').tree, tree);
    assert.equal(workspace.gantry('store', 'verify').succeeded().stdout, '4 packages are whole\n');
    // Once they are its own they stay as they are.
    workspace.gantryIn(first, 'install', 'old-shasum').succeeded();
    assert.equal(readFileSync(join(first, 'node_modules/left/index.js'), 'utf8'), 'patched');
    workspace.gantryIn(first, 'uninstall', 'old-shasum').succeeded();
    const { method, reason } = workspace.gantryIn(first, 'ci', '--json').succeeded().lines.at(-1);
    if (method === 'hard link') assert.match(reason, /packages that have a patch in patches\/ are copied$/);
    assert.deepEqual(listing(join(first, 'node_modules')), tree);
    for (const path of paths.filter(isPatched)) assert.equal(statSync(path).nlink, 1, path);
  });

  const damages = {
    'is cut': (file) => truncateSync(file, 3),
    'may not be run any more': (file) => chmodSync(file, 0o644),
  };
  for (const [what, damage] of Object.entries(damages)) {
    test(`a copy of a store in which a file ${what} is looked through once`, async (context) => {
      const { workspace, tree, next } = installed(context);
      const store = join(workspace.folder, 'store');
      // As a cache restores it, with whatever times. The first one stays: its files' numbers are no others'.
      renameSync(store, `${store}-first`);
      cpSync(`${store}-first`, store, { recursive: true });
      const run = everything(join(store, 'v1/packages')).find(
        (path) => statSync(path).isFile() && statSync(path).mode & 0o100,
      );
      damage(run);
      const asked = async (...words) => {
        await control(suite.registry, 'POST', 'reset');
        const { tree: found } = next(...words);
        assert.deepEqual(found, tree);
        return (await control(suite.registry, 'GET', 'stats')).tarballs;
      };
      assert.equal(await asked(), 1);
      assert.equal(await asked('--offline'), 0);
      assert.ok(existsSync(run));
    });
  }

  test('the umask is that of who fills the store, as npm’s', (context) => {
    const workspace = new Workspace(context, suite.registry);
    for (const umask of ['002', '027', '000']) {
      const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(`${name}-${umask}`, manifest));
      workspace.environment.GANTRY_STORE_DIR = join(workspace.folder, `store-${umask}`);
      const [gantry, npm] = [
        `'${gantryCommand}' install`,
        `'${process.execPath}' '${workspace.npmScript}' install --ignore-scripts`,
      ];
      for (const [folder, command] of [
        [ours, gantry],
        [theirs, npm],
      ]) {
        execFileSync('sh', ['-c', `umask ${umask}; ${command}`], {
          cwd: folder,
          env: workspace.environment,
          stdio: 'ignore',
        });
      }
      assert.deepEqual(listing(ours), listing(theirs), umask);
      const modes = (folder) =>
        everything(join(folder, 'node_modules'))
          .map((path) => `${path.slice(folder.length)} ${(statSync(path).mode & 0o777).toString(8)}`)
          .sort();
      assert.deepEqual(modes(ours), modes(theirs), umask);
    }
  });
});
