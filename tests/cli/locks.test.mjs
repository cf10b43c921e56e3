// Lock files of every age: what gantry makes of them is what npm makes of them, in the same run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startDocuments } from './lib/documents.mjs';
import { projectsFolder, registryForSuite, Workspace } from './lib/programs.mjs';

const manifest = (fields) => ({ name: 'project', version: '1.0.0', ...fields });
const read = (project, file) => {
  const path = join(project, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

/** Settings as gantry's and npm's command lines both take them. */
const settings = (list) => list.map((setting) => `--${setting}`);

describe('locks of small packages', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  /** A workspace with a function that has npm write a lock. */
  function place(context) {
    const workspace = new Workspace(context, registry);
    const lockOf = (fields, ...list) => {
      const project = workspace.project(`lock-of-${Math.random()}`, { 'package.json': manifest(fields) });
      workspace.npm(project, 'install', '--package-lock-only', '--ignore-scripts', ...settings(list)).succeeded();
      return read(project, 'package-lock.json');
    };
    return { workspace, lockOf };
  }

  /** Runs both on the same files; gives what each left of `results` after checking that it is the same. */
  function bothLeave(workspace, files, { list = ['package-lock-only'], results = ['package-lock.json'] } = {}) {
    const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(`${name}-${Math.random()}`, files));
    const finished = workspace.gantry('install', '--prefix', ours, '--ignore-scripts', ...settings(list)).succeeded();
    workspace.npm(theirs, 'install', '--ignore-scripts', ...settings(list)).succeeded();
    const left = results.map((file) => {
      const [text, expected] = [read(ours, file), read(theirs, file)];
      assert.equal(text?.replaceAll(ours, '.'), expected?.replaceAll(theirs, '.'), file);
      return text;
    });
    return { left, ours, theirs, finished };
  }

  const everything = {
    dependencies: { '@scope/middle': '^1.0.0', 'with-optional': '1', alias: 'npm:left@1.0.0', 'old-shasum': '1' },
    devDependencies: { executable: '1' },
    optionalDependencies: { deprecated: '1' },
  };

  for (const version of [1, 2, 3]) {
    test(`lockfile-version=${version} writes what npm writes`, (context) => {
      const { workspace } = place(context);
      const list = ['package-lock-only', `lockfile-version=${version}`];
      const { left } = bothLeave(workspace, { 'package.json': manifest(everything) }, { list });
      assert.equal(JSON.parse(left[0]).lockfileVersion, version);
    });
  }

  test('the version is also a setting of .npmrc, and one that does not exist is refused', (context) => {
    const { workspace } = place(context);
    const files = { 'package.json': manifest({ dependencies: { right: '1' } }) };
    const { left } = bothLeave(workspace, { ...files, '.npmrc': 'lockfile-version=2\n' });
    assert.equal(JSON.parse(left[0]).lockfileVersion, 2);
    const wrong = workspace.project('wrong', { ...files, '.npmrc': 'lockfile-version=7\n' });
    assert.equal(workspace.npm(wrong, 'install').status, 1);
    assert.equal(workspace.gantry('install', '--prefix', wrong, '--json').lines.at(-1).code, 'CONFIG_INVALID');
  });

  test('a lock of version 2 stays one, whether it fits or not', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = lockOf(everything, 'lockfile-version=2');
    const fits = bothLeave(workspace, { 'package.json': manifest(everything), 'package-lock.json': lock });
    assert.equal(fits.left[0], lock);
    const more = manifest({ ...everything, dependencies: { ...everything.dependencies, 'peer-guest': '1' } });
    const { left } = bothLeave(workspace, { 'package.json': more, 'package-lock.json': lock });
    assert.equal(JSON.parse(left[0]).lockfileVersion, 2);
    assert.ok(JSON.parse(left[0]).dependencies['peer-host']);
  });

  test('packages that bring others along are marked in the old tree too', (context) => {
    const { workspace } = place(context);
    for (const version of [1, 2]) {
      const list = ['package-lock-only', `lockfile-version=${version}`];
      bothLeave(workspace, { 'package.json': manifest({ dependencies: { 'with-bundle': '1' } }) }, { list });
    }
  });

  test('what a lock leaves out of what packages bring along is looked for where npm does', (context) => {
    const { workspace, lockOf } = place(context);
    for (const bundler of [
      { dependencies: { 'with-bundle': '1' } },
      { optionalDependencies: { 'with-bundle': '1' } },
    ]) {
      const whole = JSON.parse(lockOf(bundler));
      delete whole.packages['node_modules/with-bundle/node_modules/inside'];
      const files = { 'package.json': manifest(bundler), 'package-lock.json': whole };
      bothLeave(workspace, files, { list: ['package-lock-only'] });
      bothLeave(workspace, files, { list: [], results: ['package-lock.json', 'node_modules/.package-lock.json'] });
    }
  });

  test('what ci writes is laid out as the manifest, however the lock is', (context) => {
    const { workspace, lockOf } = place(context);
    const fields = manifest({ dependencies: { '@scope/middle': '1' }, devDependencies: { executable: '1' } });
    const lock = JSON.parse(lockOf(fields));
    const wrong = structuredClone(lock);
    wrong.packages['node_modules/executable'].dev = undefined;
    for (const packages of [lock, wrong]) {
      const files = { 'package.json': fields, 'package-lock.json': JSON.stringify(packages, null, '\t') };
      const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(`${name}-${Math.random()}`, files));
      workspace.gantry('ci', '--prefix', ours, '--ignore-scripts').succeeded();
      workspace.npm(theirs, 'ci', '--ignore-scripts').succeeded();
      for (const file of ['package-lock.json', 'node_modules/.package-lock.json']) {
        assert.equal(read(ours, file), read(theirs, file), file);
      }
    }
  });

  test('a lock of version 1 becomes one of version 3 with the same versions', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = lockOf({ dependencies: { left: '1.0.0', right: '1' } }, 'lockfile-version=1');
    const fields = manifest({ dependencies: { left: '^1.0.0', right: '1' } });
    const { left, finished } = bothLeave(workspace, { 'package.json': fields, 'package-lock.json': lock });
    const written = JSON.parse(left[0]);
    assert.equal(written.lockfileVersion, 3);
    assert.equal(written.packages['node_modules/left'].version, '1.0.0');
    assert.deepEqual(written.packages['node_modules/right'].bin, { right: 'cli.js' }, 'from the registry');
    assert.match(finished.stderr, /old version of npm/);
  });

  test('a lock of version 1 keeps its version where that is asked for', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = lockOf(everything, 'lockfile-version=1');
    const list = ['package-lock-only', 'lockfile-version=1'];
    const { left } = bothLeave(
      workspace,
      { 'package.json': manifest(everything), 'package-lock.json': lock },
      { list },
    );
    assert.equal(left[0], lock);
  });

  test('aliases, bundles, peers and optional packages of a lock of version 1', (context) => {
    const { workspace, lockOf } = place(context);
    for (const fields of [
      everything,
      { dependencies: { 'with-bundle': '1' } },
      { dependencies: { 'peer-guest': '1' } },
      { dependencies: { 'peer-guest': '1', 'peer-host': '1', left: '1' } },
      { devDependencies: { right: '1', 'with-optional': '1' } },
    ]) {
      const lock = lockOf(fields, 'lockfile-version=1');
      bothLeave(workspace, { 'package.json': manifest(fields), 'package-lock.json': lock });
      const changed = manifest({ ...fields, dependencies: { ...fields.dependencies, '@scope/middle': '1' } });
      bothLeave(workspace, { 'package.json': changed, 'package-lock.json': lock });
    }
  });

  test('a lock of version 1 of which the registry knows nothing any more', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = JSON.parse(lockOf({ dependencies: { right: '1' } }, 'lockfile-version=1'));
    lock.dependencies.right.version = '1.0.77';
    const fields = { 'package.json': manifest({ dependencies: { right: '1' } }), 'package-lock.json': lock };
    bothLeave(workspace, fields);
    lock.dependencies.left.integrity = lock.dependencies.right.integrity;
    bothLeave(workspace, { ...fields, 'package-lock.json': lock });
  });

  test('a lock of npm 4, without requires', (context) => {
    const { workspace } = place(context);
    const lock = { name: 'project', version: '1.0.0', dependencies: { right: { version: '1.0.0', from: 'right@1' } } };
    lock.dependencies.left = { version: '1.0.0', from: 'left@^1.0.0' };
    bothLeave(
      workspace,
      {
        'package.json': manifest({ dependencies: { right: '1' } }),
        'npm-shrinkwrap.json': lock,
      },
      { results: ['npm-shrinkwrap.json', 'package-lock.json'] },
    );
  });

  test('an update in a lock of version 1 asks for the peers of what needs the package updated, and of nothing else', async (context) => {
    const url = await startDocuments(context, {
      'host@1.0.0': {},
      'left@1.0.0': {},
      'left@1.1.0': {},
      'guest@1.0.0': { dependencies: { left: '^1.0.0' }, peerDependencies: { host: '^1.0.0' } },
    });
    const workspace = new Workspace(context, url);
    const locked = { left: { version: '1.0.0' }, guest: { version: '1.0.0', requires: { left: '^1.0.0' } } };
    const files = {
      'package.json': manifest({ dependencies: { guest: '1' } }),
      'package-lock.json': {
        name: 'project',
        version: '1.0.0',
        lockfileVersion: 1,
        requires: true,
        dependencies: locked,
      },
    };
    const commands = [
      { words: ['install'], left: '1.0.0', host: undefined },
      { words: ['update', 'left'], left: '1.1.0', host: '1.0.0' },
      { words: ['update', 'guest'], left: '1.0.0', host: undefined },
    ];
    for (const { words, left, host } of commands) {
      const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(`${name}-${words.join('-')}`, files));
      workspace.gantryIn(ours, ...words, '--package-lock-only').succeeded();
      workspace.npm(theirs, ...words, '--package-lock-only').succeeded();
      const lock = read(ours, 'package-lock.json');
      assert.equal(lock, read(theirs, 'package-lock.json'), words.join(' '));
      const { packages } = JSON.parse(lock);
      assert.deepEqual(
        [packages['node_modules/left'].version, packages['node_modules/host']?.version],
        [left, host],
        words.join(' '),
      );
    }
  });

  test('the tree of a lock of version 1 is the one npm makes', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = lockOf(everything, 'lockfile-version=1');
    const files = { 'package.json': manifest(everything), 'package-lock.json': lock };
    const results = ['package-lock.json', 'node_modules/.package-lock.json'];
    const { ours, theirs } = bothLeave(workspace, files, { list: [], results });
    const digest = (folder) => workspace.gantry('digest', '--prefix', folder).succeeded().stdout;
    assert.equal(digest(ours), digest(theirs));
    for (const run of [
      (folder) => workspace.gantry('ci', '--prefix', folder, '--ignore-scripts'),
      (folder) => workspace.npm(folder, 'ci', '--ignore-scripts'),
    ]) {
      const folder = workspace.project(`ci-${Math.random()}`, files);
      run(folder).succeeded();
      assert.equal(digest(folder), digest(theirs));
      assert.equal(read(folder, 'package-lock.json'), lock, 'ci leaves it as it is');
      assert.equal(read(folder, 'node_modules/.package-lock.json'), read(theirs, 'node_modules/.package-lock.json'));
    }
  });

  test('ci refuses a lock of version 1 that does not fit', (context) => {
    const { workspace, lockOf } = place(context);
    const lock = lockOf({ dependencies: { left: '1.0.0' } }, 'lockfile-version=1');
    const files = {
      'package.json': manifest({ dependencies: { left: '1.1.0', right: '1' } }),
      'package-lock.json': lock,
    };
    const [ours, theirs] = ['ours', 'theirs'].map((name) => workspace.project(name, files));
    const npm = workspace.npm(theirs, 'ci');
    const gantry = workspace.gantry('ci', '--prefix', ours, '--json');
    assert.equal(npm.status, 1);
    const { code, message } = gantry.lines.at(-1);
    assert.equal(code, 'LOCK_OUT_OF_SYNC');
    const problems = (text) => text.split('\n').filter((line) => /^(npm error )?(Missing|Invalid):/.test(line));
    assert.deepEqual(
      problems(message),
      problems(npm.stderr).map((line) => line.replace('npm error ', '')),
    );
  });

  test('conflict markers of a merge are settled as npm settles them', (context) => {
    const { workspace, lockOf } = place(context);
    const [ours, theirs] = [{ right: '1' }, { left: '1.0.0', executable: '1' }].map((dependencies) =>
      lockOf({ dependencies }).split('\n'),
    );
    // Both sides whole, with and without the common ancestor.
    const base = lockOf({ dependencies: {} }).split('\n');
    const texts = {
      diff3: ['<<<<<<< HEAD', ...ours, '||||||| base', ...base, '=======', ...theirs, '>>>>>>> branch', ''],
      merge: ['<<<<<<< HEAD', ...ours, '=======', ...theirs, '>>>>>>> branch', ''],
    };
    const fields = manifest({ dependencies: { right: '1', left: '^1.0.0' } });
    for (const [style, lines] of Object.entries(texts)) {
      const files = { 'package.json': fields, 'package-lock.json': lines.join('\n') };
      const { left, finished } = bothLeave(workspace, files);
      const version = JSON.parse(left[0]).packages['node_modules/left'].version;
      assert.equal(version, style === 'diff3' ? '1.1.0' : '1.1.0');
      assert.equal(/LOCK_CONFLICT|cannot be settled/.test(finished.stderr), style === 'merge');
    }
  });

  test('a conflict within one entry keeps our version of it', (context) => {
    const { workspace, lockOf } = place(context);
    const text = lockOf({ dependencies: { left: '1.0.0' } });
    const newer = lockOf({ dependencies: { left: '1.1.0' } });
    const [old, recent] = [text, newer].map((lock) => lock.split('\n'));
    const lines = old.flatMap((line, index) =>
      line === recent[index] ? [line] : ['<<<<<<< HEAD', line, '=======', recent[index], '>>>>>>> branch'],
    );
    const files = { 'package.json': manifest({ dependencies: { left: '1' } }), 'package-lock.json': lines.join('\n') };
    bothLeave(workspace, files);
  });

  test('locks that lie come to what npm makes of them', (context) => {
    const { workspace, lockOf } = place(context);
    const fields = { dependencies: { right: '1', alias: 'npm:left@1' }, optionalDependencies: { executable: '1' } };
    const lies = {
      'a package is missing': (packages) => delete packages['node_modules/left'],
      'a version that does not fit': (packages) => Object.assign(packages['node_modules/left'], { version: '9.9.9' }),
      'a version that fits and does not exist': (packages) =>
        Object.assign(packages['node_modules/left'], { version: '1.0.77' }),
      'other dependencies': (packages) =>
        Object.assign(packages['node_modules/right'], { dependencies: { executable: '1', left: '0.1.0 || 1' } }),
      'another package': (packages) => Object.assign(packages['node_modules/left'], { name: 'right' }),
      'nothing but paths': (packages) => {
        for (const path of Object.keys(packages)) packages[path] = {};
      },
      'all flags at once': (packages) => {
        for (const entry of Object.values(packages)) Object.assign(entry, { dev: true, optional: true, peer: true });
      },
      'packages nobody asks for, below nothing': (packages) => {
        packages['node_modules/constructor'] = { version: '1.0.0' };
        packages['node_modules/gone/node_modules/left'] = { version: '1.0.0' };
        packages['node_modules/left/node_modules/gone/node_modules/right'] = { version: '1.0.0' };
        packages['node_modules/stray'] = { version: '1.0.0' };
        packages['node_modules/stray/node_modules/gone/node_modules/right'] = { version: '1.0.0' };
      },
      'a root that is another': (packages) =>
        Object.assign(packages[''], { name: 'other', dependencies: { left: '2' } }),
    };
    for (const [lie, tell] of Object.entries(lies)) {
      for (const version of [2, 3]) {
        const lock = JSON.parse(lockOf(fields, `lockfile-version=${version}`));
        tell(lock.packages);
        context.diagnostic(lie);
        bothLeave(workspace, { 'package.json': manifest(fields), 'package-lock.json': lock });
      }
    }
    for (const lock of [{}, { lockfileVersion: 3 }, { lockfileVersion: 2, dependencies: {} }, { packages: {} }]) {
      bothLeave(workspace, { 'package.json': manifest(fields), 'package-lock.json': lock });
    }
  });

  test('a lock follows the name of the project, and keeps a version that the project no longer has', (context) => {
    const { workspace, lockOf } = place(context);
    const dependencies = { left: '1' };
    const lock = lockOf({ dependencies });
    const { left } = bothLeave(workspace, {
      'package.json': { name: 'renamed', dependencies },
      'package-lock.json': lock,
    });
    assert.equal(JSON.parse(left[0]).name, 'renamed');
    assert.equal(JSON.parse(left[0]).version, '1.0.0');
  });

  test('a lock with too much in it is refused at once, and nothing is changed', (context) => {
    const { workspace } = place(context);
    const packages = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`node_modules/p${index}`, {}]));
    const text = JSON.stringify({ lockfileVersion: 3, packages });
    const files = { 'package.json': manifest({ dependencies: { left: '1' } }), 'package-lock.json': text };
    const project = workspace.project('project', files);
    for (const command of ['install', 'ci']) {
      const { status, lines } = workspace.gantry(command, '--prefix', project, '--json');
      assert.equal(status, 1);
      assert.equal(lines.at(-1).code, 'LOCK_TOO_LARGE');
      assert.equal(read(project, 'package-lock.json'), text);
    }
  });

  test('a lock of npm 12 for packages that it changes is refused, and nothing is changed', (context) => {
    const { workspace, lockOf } = place(context);
    const fields = { dependencies: { left: '1' } };
    const lock = JSON.parse(lockOf(fields));
    const patched = { path: 'patches/left@1.1.0.patch', integrity: 'sha512-AAAA' };
    Object.assign(lock, { lockfileVersion: 4 }).packages['node_modules/left'].patched = patched;
    const text = JSON.stringify(lock);
    const project = workspace.project('project', { 'package.json': manifest(fields), 'package-lock.json': text });
    const before = read(project, 'package.json');
    for (const words of [['install'], ['install', 'right'], ['update'], ['ci'], ['dedupe'], ['prune']]) {
      const { status, lines } = workspace.gantry(...words, '--prefix', project, '--json');
      assert.deepEqual([status, lines.at(-1).code], [1, 'LOCK_VERSION'], words.join(' '));
      assert.equal(read(project, 'package-lock.json'), text);
      assert.equal(read(project, 'package.json'), before);
      assert.ok(!existsSync(join(project, 'node_modules')), words.join(' '));
    }
  });

  test('what only npm 12 does to packages is not done, as with npm 11, and said', (context) => {
    const { workspace } = place(context);
    const fields = {
      dependencies: { left: '1' },
      patchedDependencies: { left: 'left.patch' },
      packageExtensions: { left: { dependencies: { right: '1' } } },
    };
    const repairs = (run) => run.lines.filter(({ code }) => code === 'REPAIRS_NOT_MADE').map(({ message }) => message);
    const files = { 'package.json': manifest(fields), '.npm-extension.mjs': '' };
    const project = workspace.project('project', files);
    bothLeave(workspace, files);
    for (const command of ['install', 'ci']) {
      const [message, ...others] = repairs(workspace.gantry(command, '--prefix', project, '--json').succeeded());
      assert.match(message, / by packageExtensions, patchedDependencies, \.npm-extension\.mjs; /);
      assert.deepEqual(others, []);
    }
    const nothing = { 'package.json': manifest({ ...fields, patchedDependencies: {}, packageExtensions: {} }) };
    const plain = workspace.project('plain', nothing);
    assert.deepEqual(repairs(workspace.gantry('install', '--prefix', plain, '--json').succeeded()), []);
  });

  test('npm-shrinkwrap.json comes before package-lock.json and is the one written', (context) => {
    const { workspace, lockOf } = place(context);
    const fields = { dependencies: { left: '^1.0.0' } };
    const files = {
      'package.json': manifest({ dependencies: { ...fields.dependencies, executable: '1' } }),
      'npm-shrinkwrap.json': lockOf({ dependencies: { left: '1.0.0' } }),
      'package-lock.json': lockOf({ dependencies: { left: '1.1.0' } }),
    };
    const results = ['npm-shrinkwrap.json', 'package-lock.json'];
    const { left } = bothLeave(workspace, files, { results });
    assert.equal(JSON.parse(left[0]).packages['node_modules/left'].version, '1.0.0');
    assert.equal(left[1], files['package-lock.json'], 'the other stays as it is');
    bothLeave(workspace, { ...files, 'npm-shrinkwrap.json': '' }, { results });
  });

  test('a lock that is a link is written where that leads to, with the mode of what is there', (context) => {
    const { workspace, lockOf } = place(context);
    const kept = {
      'package-lock.json': lockOf({ dependencies: { left: '1.0.0' } }),
      'yarn.lock': 'left@^1.0.0:\n  version "1.0.0"\n',
    };
    const files = { 'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1' } }) };
    const run = {
      ours: (folder) => workspace.gantry('install', '--prefix', folder, '--ignore-scripts'),
      theirs: (folder) => workspace.npm(folder, 'install', '--ignore-scripts'),
    };
    const [ours, theirs] = Object.entries(run).map(([name, install]) => {
      const shared = workspace.project(`${name} shared`, kept);
      const [project, unmade] = [name, `${name} unmade`].map((folder) => workspace.project(folder, files));
      for (const file of Object.keys(kept)) {
        chmodSync(join(shared, file), 0o640);
        symlinkSync(join('..', `${name} shared`, file), join(project, file));
      }
      symlinkSync('second', join(unmade, 'package-lock.json'));
      symlinkSync(`../${name} shared/third`, join(unmade, 'second'));
      for (const folder of [project, unmade]) install(folder).succeeded();
      for (const link of [
        'ours/package-lock.json',
        'ours/yarn.lock',
        'ours unmade/package-lock.json',
        'ours unmade/second',
      ])
        assert.ok(lstatSync(join(workspace.folder, link.replace('ours', name))).isSymbolicLink(), `${name}: ${link}`);
      return readdirSync(shared)
        .sort()
        .map((file) => {
          const path = join(shared, file);
          return [file, (lstatSync(path).mode & 0o777).toString(8), readFileSync(path, 'utf8')];
        });
    });
    assert.deepEqual(ours, theirs);
    const names = ours.map(([file]) => file);
    assert.deepEqual(names, ['package-lock.json', 'third', 'yarn.lock']);
  });

  test('without a lock the installed tree is kept to', (context) => {
    const { workspace } = place(context);
    const run = {
      ours: (folder, ...words) => workspace.gantry('install', '--prefix', folder, '--ignore-scripts', ...words),
      theirs: (folder, ...words) => workspace.npm(folder, 'install', '--ignore-scripts', ...words),
    };
    const locks = Object.entries(run).map(([name, install]) => {
      const folder = workspace.project(name, {
        'package.json': manifest({ dependencies: { left: '1.0.0', 'with-optional': '1' } }),
        '.npmrc': 'package-lock=false\n',
      });
      install(folder).succeeded();
      assert.equal(read(folder, 'package-lock.json'), undefined);
      workspace.project(name, {
        'package.json': manifest({ dependencies: { left: '^1.0.0', 'with-optional': '1', right: '1' } }),
        '.npmrc': '',
      });
      install(folder).succeeded();
      return read(folder, 'package-lock.json');
    });
    assert.equal(locks[0], locks[1]);
    assert.equal(JSON.parse(locks[0]).packages['node_modules/left'].version, '1.0.0');
  });

  test('package-lock=false neither reads nor writes the lock, and save=false reads it', (context) => {
    const { workspace, lockOf } = place(context);
    const files = {
      'package.json': manifest({ dependencies: { left: '^1.0.0' } }),
      'package-lock.json': lockOf({ dependencies: { left: '1.0.0' } }),
    };
    const results = ['package-lock.json', 'node_modules/.package-lock.json'];
    const hidden = (list) => JSON.parse(bothLeave(workspace, files, { list, results }).left[1]);
    assert.equal(hidden(['no-package-lock']).packages['node_modules/left'].version, '1.1.0');
    assert.equal(hidden(['no-save']).packages['node_modules/left'].version, '1.0.0');
  });

  test('what a lock has no integrity of is shared with no other project', (context) => {
    const workspace = new Workspace(context, registry);
    const fields = manifest({ dependencies: { tool: 'file:tool.tgz' } });
    const entry = { version: '1.0.0', resolved: 'file:tool.tgz' };
    const lock = { name: 'project', version: '1.0.0', lockfileVersion: 3, requires: true };
    const packages = { '': fields, 'node_modules/tool': entry };
    const sides = {
      gantry: (project) => workspace.gantryIn(project, 'ci'),
      npm: (project) => workspace.npm(project, 'ci', '--ignore-scripts'),
    };
    for (const text of ['first', 'second']) {
      const source = workspace.project(`source-${text}`, {
        'index.js': text,
        'package.json': { name: 'tool', ...entry },
      });
      const tarball = join(workspace.folder, `${text}.tgz`);
      execFileSync(
        'tar',
        ['--create', '--gzip', '--file', tarball, '--transform=s,^,package/,', 'index.js', 'package.json'],
        {
          cwd: source,
        },
      );
      for (const [side, install] of Object.entries(sides)) {
        const project = workspace.project(`${side}-${text}`, {
          'package.json': fields,
          'package-lock.json': { ...lock, packages },
          'tool.tgz': readFileSync(tarball),
        });
        install(project).succeeded();
        assert.equal(read(project, 'node_modules/tool/index.js'), text, side);
      }
    }
  });
});

describe('locks of real projects', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  for (const name of ['express', 'vue']) {
    test(`${name}: versions 1 and 2 of the lock are npm's, and version 1 is brought up to date as npm does`, (context) => {
      const workspace = new Workspace(context, registry);
      const text = readFileSync(join(projectsFolder, name, 'package.json'));
      const lock = (folder) => read(folder, 'package-lock.json');
      for (const version of [1, 2]) {
        const [ours, theirs] = ['ours', 'theirs'].map((side) =>
          workspace.project(`${side}-${version}`, { 'package.json': text }),
        );
        const words = ['--package-lock-only', `--lockfile-version=${version}`];
        workspace.gantry('install', '--prefix', ours, ...words).succeeded();
        workspace.npm(theirs, 'install', '--ignore-scripts', ...words).succeeded();
        assert.equal(lock(ours), lock(theirs));
        workspace.gantry('install', '--prefix', ours, '--package-lock-only').succeeded();
        workspace.npm(theirs, 'install', '--ignore-scripts', '--package-lock-only').succeeded();
        assert.equal(lock(ours), lock(theirs));
        assert.equal(JSON.parse(lock(ours)).lockfileVersion, version === 1 ? 3 : 2);
      }
    });
  }
});
