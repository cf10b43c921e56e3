// Projects that have a yarn.lock: what gantry makes of it, and writes into it, is what npm does in the same run.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { projectsFolder, registryForSuite, Workspace } from './lib/programs.mjs';

const manifest = (fields) => ({ name: 'project', version: '1.0.0', ...fields });
const read = (project, file) => {
  const path = join(project, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

/** The hosts that npm takes for its public registry in a yarn.lock: Yarn's name for it, and its own. */
function publicHosts() {
  const npm = createRequire(import.meta.url).resolve('npm/package.json');
  const arborist = createRequire(npm).resolve('@npmcli/arborist/package.json');
  const source = readFileSync(join(dirname(arborist), 'lib', 'shrinkwrap.js'), 'utf8');
  return ['yarnRegRe', 'npmRegRe'].map((name) => {
    const [, pattern] = source.match(new RegExp(`${name} = /(.*)/`));
    return pattern.split('\\/').at(-2).replaceAll('\\', '');
  });
}

const [yarnHost, npmHost] = publicHosts();
const head = '# yarn lockfile v1\n\n\n';

describe('yarn.lock', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  /** A workspace, and what the registry says of the integrity of these packages, each `name@version`. */
  function place(context, ...packages) {
    const workspace = new Workspace(context, registry);
    const integrity = {};
    for (const spec of packages) {
      const project = workspace.project(`lock-of-${Math.random()}`, { 'package.json': {} });
      workspace.npm(project, 'install', '--package-lock-only', spec).succeeded();
      const lock = JSON.parse(read(project, 'package-lock.json'));
      integrity[spec] = lock.packages[`node_modules/${spec.slice(0, spec.lastIndexOf('@'))}`].integrity;
    }
    return { workspace, integrity };
  }

  /** An entry of a yarn.lock whose tarball is at a host, or an address up to the slash. */
  function entry(requests, name, version, { at = yarnHost, integrity, hash = '#0123abcd' } = {}) {
    const base = at.includes(':') ? at.replace(/\/$/, '') : `https://${at}`;
    const address = `${base}/${name}/-/${name.split('/').at(-1)}-${version}.tgz${hash}`;
    const stated = integrity ? `  integrity ${integrity}\n` : '';
    return `${requests}:\n  version "${version}"\n  resolved "${address}"\n${stated}\n`;
  }

  /** Runs both on the same files, and compares what each left of `results`. */
  function bothLeave(
    workspace,
    files,
    { command = 'install', list = ['--package-lock-only'], results = [], fails = false } = {},
  ) {
    const [ours, theirs] = ['ours', 'theirs'].map((name) => {
      const folder = join(`both-${Math.random()}`.slice(0, 12), name, 'project');
      for (const path of Object.keys(files)) {
        mkdirSync(join(workspace.folder, folder, dirname(path)), { recursive: true });
      }
      return workspace.project(folder, files);
    });
    const gantry = workspace.gantry(command, '--prefix', ours, '--ignore-scripts', '--json', ...list);
    const npm = workspace.npm(theirs, command, '--ignore-scripts', ...list);
    if (fails) {
      assert.notEqual(npm.status, 0, npm.stderr);
      assert.equal(read(ours, 'yarn.lock'), files['yarn.lock']);
      return { failure: gantry.lines.at(-1), ours };
    }
    npm.succeeded();
    gantry.succeeded();
    const left = ['package-lock.json', 'yarn.lock', ...results].map((file) => {
      const [text, expected] = [read(ours, file), read(theirs, file)];
      assert.equal(text?.replaceAll(ours, '.'), expected?.replaceAll(theirs, '.'), file);
      return text;
    });
    return { left, lock: left[0] && JSON.parse(left[0]), yarn: left[1], gantry, ours };
  }

  const version = (lock, name) => lock.packages[`node_modules/${name}`]?.version;

  test('without a lock its versions are taken, and it is brought up to date', (context) => {
    const { workspace, integrity } = place(context, 'left@1.0.0');
    const files = {
      'package.json': manifest({ dependencies: { left: '^1.0.0', right: '1' } }),
      'yarn.lock': head + entry('left@^1.0.0', 'left', '1.0.0', { integrity: integrity['left@1.0.0'] }),
    };
    for (const list of [['--package-lock-only'], []]) {
      const { lock, yarn } = bothLeave(workspace, files, { list, results: ['node_modules/.package-lock.json'] });
      assert.equal(version(lock, 'left'), '1.0.0');
      assert.match(yarn, /^right@1:$/m);
    }
    const other = files['yarn.lock'].replace(yarnHost, npmHost);
    assert.equal(version(bothLeave(workspace, { ...files, 'yarn.lock': other }).lock, 'left'), '1.0.0');
  });

  test('aliases, scopes, tags, ranges in quotes and optional packages', (context) => {
    const { workspace } = place(context);
    const dependencies = { alias: 'npm:left@^1.0.0', '@scope/middle': '>=1 <2', left: 'latest', right: '*' };
    const fields = { dependencies, optionalDependencies: { 'with-optional': '^1.0.0', deprecated: '' } };
    const yarn = [
      entry('"alias@npm:left@^1.0.0", "left@^1.0.0"', 'left', '1.0.0'),
      entry('"@scope/middle@>=1 <2"', '@scope/middle', '1.2.3'),
      entry('left@latest', 'left', '1.0.0', { hash: '' }),
      entry('right@*', 'right', '1.0.0'),
      entry('deprecated@', 'deprecated', '1.0.0'),
      entry('only-elsewhere@1.0.0', 'only-elsewhere', '1.0.0'),
    ].join('');
    const files = { 'package.json': manifest(fields), 'yarn.lock': head + yarn };
    for (const list of [['--package-lock-only'], []]) {
      const { lock } = bothLeave(workspace, files, { list });
      assert.deepEqual([version(lock, 'alias'), version(lock, 'left')], ['1.0.0', '1.0.0']);
    }
  });

  test('addresses of other registries are tarballs to be fetched from there', (context) => {
    const { workspace, integrity } = place(context, 'right@1.0.0', 'left@1.0.0');
    const dependencies = { right: '^1.0.0' };
    const stated = (spec) => ({ at: registry, integrity: integrity[spec] });
    const yarn = [
      entry('left@^1.0.0', 'left', '1.0.0', stated('left@1.0.0')),
      entry('right@^1.0.0', 'right', '1.0.0', stated('right@1.0.0')),
    ].join('');
    for (const text of [yarn, yarn.replaceAll(/ {2}integrity.*\n/g, '')]) {
      for (const list of [['--package-lock-only'], []]) {
        const files = { 'package.json': manifest({ dependencies }), 'yarn.lock': head + text };
        assert.equal(version(bothLeave(workspace, files, { list }).lock, 'left'), '1.0.0');
      }
    }
    const wrong = yarn.replace(integrity['left@1.0.0'], `sha512-${Buffer.alloc(64).toString('base64')}`);
    const files = { 'package.json': manifest({ dependencies }), 'yarn.lock': head + wrong };
    const { failure } = bothLeave(workspace, files, { fails: true });
    assert.deepEqual([failure.code, failure.package], ['ARCHIVE_INTEGRITY', 'left']);
  });

  test('its integrity counts beside that of the registry', (context) => {
    const { workspace, integrity } = place(context, 'left@1.0.0', 'right@1.0.0');
    const fields = { 'package.json': manifest({ dependencies: { left: '1' } }) };
    const withIntegrity = (text) => head + entry('left@1', 'left', '1.0.0', { integrity: text });
    const shasum = 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=';
    const { lock } = bothLeave(workspace, { ...fields, 'yarn.lock': withIntegrity(shasum) });
    assert.equal(lock.packages['node_modules/left'].integrity, `${shasum} ${integrity['left@1.0.0']}`);
    bothLeave(workspace, { ...fields, 'yarn.lock': withIntegrity('no-integrity') });
    const wrong = { ...fields, 'yarn.lock': withIntegrity(integrity['right@1.0.0']) };
    const { failure, ours } = bothLeave(workspace, wrong, { fails: true });
    assert.deepEqual([failure.code, failure.package], ['RESOLVE_FETCH', 'left']);
    assert.equal(read(ours, 'package-lock.json'), undefined);
  });

  test('files that lie come to what npm makes of them', (context) => {
    const { workspace } = place(context);
    const fields = { dependencies: { left: '^1.0.0', '@scope/middle': '1' } };
    const lies = {
      'a version that does not fit': entry('left@^1.0.0', 'left', '2.0.0-beta.1'),
      'another package': entry('left@^1.0.0', 'right', '1.0.0'),
      'another version in the address': entry('left@^1.0.0', 'left', '1.0.0').replace('"1.0.0"', '"1.1.0"'),
      'no address': 'left@^1.0.0:\n  version "1.0.0"\n',
      'no version': `left@^1.0.0:\n  resolved "https://${yarnHost}/left/-/left-1.0.0.tgz"\n`,
      'other requests': entry('left@~1, left, "left@ ^1.0.0"', 'left', '1.0.0'),
      'the same request twice': entry('left@^1.0.0', 'left', '1.1.0') + entry('left@^1.0.0', 'left', '1.0.0'),
    };
    for (const [lie, yarn] of Object.entries(lies)) {
      context.diagnostic(lie);
      bothLeave(workspace, { 'package.json': manifest(fields), 'yarn.lock': head + yarn });
    }
    const gone = head + entry('left@^1.0.0', 'left', '1.0.77');
    const files = { 'package.json': manifest(fields), 'yarn.lock': gone };
    assert.equal(bothLeave(workspace, files, { fails: true }).failure.code, 'RESOLVE_NO_MATCHING_VERSION');
    bothLeave(workspace, {
      'package.json': manifest({ dependencies: { executable: '1' }, optionalDependencies: { left: '^1.0.0' } }),
      'yarn.lock': gone,
    });
  });

  test('of what cannot be read, only what comes before counts', (context) => {
    const { workspace } = place(context);
    const fields = manifest({ dependencies: { left: '^1.0.0', right: '^1.0.0' } });
    const good = entry('left@^1.0.0', 'left', '1.0.0');
    const texts = {
      'garbage at the end': `${head}${good}what is this\n${entry('right@^1.0.0', 'right', '0.0.1')}`,
      'garbage at the beginning': `<<<<<<< HEAD\n${good}`,
      'nothing at all': head,
      'a later version': '__metadata:\n  version: 8\n\n"left@npm:^1.0.0":\n  version: 1.0.0\n  linkType: hard\n',
      'other line ends': (head + good).replaceAll('\n', '\r\n'),
      'no end of line': (head + good).trimEnd(),
      'a byte order mark': `\ufeff${head}${good}`,
    };
    for (const [what, text] of Object.entries(texts)) {
      context.diagnostic(what);
      const { gantry, yarn } = bothLeave(workspace, { 'package.json': fields, 'yarn.lock': text });
      assert.equal(gantry.stdout.includes('LOCK_SHAPE'), /garbage|mark/.test(what), what);
      assert.notEqual(yarn, text);
    }
    const { yarn } = bothLeave(workspace, { 'package.json': fields, 'yarn.lock': '' });
    assert.equal(yarn, '', 'an empty file is none');
    bothLeave(workspace, { 'package.json': manifest({}), 'yarn.lock': head + good });
  });

  test('a lock comes first, and yarn.lock follows it', (context) => {
    const { workspace, integrity } = place(context, 'left@1.1.0');
    const project = workspace.project('locked', { 'package.json': manifest({ dependencies: { left: '1.1.0' } }) });
    workspace.npm(project, 'install', '--package-lock-only').succeeded();
    const lock = read(project, 'package-lock.json').replace('"left": "1.1.0"', '"left": "^1.0.0"');
    const yarn = head + entry('left@^1.0.0', 'left', '1.0.0') + entry('right@^1.0.0', 'right', '0.1.0');
    for (const dependencies of [{ left: '^1.0.0' }, { left: '^1.0.0', right: '*' }]) {
      const files = { 'package.json': manifest({ dependencies }), 'package-lock.json': lock, 'yarn.lock': yarn };
      for (const list of [['--package-lock-only'], []]) {
        const both = bothLeave(workspace, files, { list });
        assert.equal(version(both.lock, 'left'), '1.1.0');
        assert.doesNotMatch(both.yarn, /0\.1\.0/);
      }
    }
    const bare = lock.replaceAll(/^ +"(resolved|integrity)".*\n/gm, '');
    const knowing = entry('left@^1.0.0', 'left', '1.1.0', { integrity: integrity['left@1.1.0'], hash: '' });
    const files = { 'package.json': manifest({ dependencies: { left: '^1.0.0' } }), 'package-lock.json': bare };
    const both = bothLeave(workspace, { ...files, 'yarn.lock': head + knowing });
    assert.equal(both.lock.packages['node_modules/left'].integrity, integrity['left@1.1.0'], 'it completes the lock');
    bothLeave(workspace, { ...files, 'yarn.lock': head + knowing.replace('1.1.0"', '1.0.0"') });
  });

  test('what is left out of the tree is left out of it, and ci writes it too', (context) => {
    const { workspace } = place(context);
    const fields = manifest({
      dependencies: { 'with-optional': '1' },
      devDependencies: { right: '1', left: '^1.0.0' },
    });
    const files = { 'package.json': fields, 'yarn.lock': head + entry('left@^1.0.0', 'left', '1.0.0') };
    for (const list of [['--omit=dev'], ['--omit=optional'], ['--omit=dev', '--package-lock-only']]) {
      const { yarn } = bothLeave(workspace, files, { list });
      assert.doesNotMatch(yarn, /^only-elsewhere/m);
      assert.equal(/^right/m.test(yarn), list[0] !== '--omit=dev' || list.length > 1);
    }
    const locked = { ...files, 'package-lock.json': bothLeave(workspace, files).left[0] };
    for (const list of [[], ['--omit=dev']]) bothLeave(workspace, locked, { command: 'ci', list });
  });

  test('it is written with the hidden lock unless locks do not count', (context) => {
    const { workspace } = place(context);
    const files = {
      'package.json': manifest({ dependencies: { left: '^1.0.0' } }),
      'yarn.lock': head + entry('left@^1.0.0', 'left', '1.0.0'),
    };
    const results = ['node_modules/.package-lock.json'];
    const hidden = (setting) => bothLeave(workspace, files, { list: [setting], results }).left;
    const [, kept, tree] = hidden('--no-save');
    assert.notEqual(kept, files['yarn.lock'], 'whatever save says');
    assert.equal(JSON.parse(tree).packages['node_modules/left'].version, '1.0.0');
    const [, untouched, other] = hidden('--no-package-lock');
    assert.equal(untouched, files['yarn.lock']);
    assert.equal(JSON.parse(other).packages['node_modules/left'].version, '1.1.0');
  });

  test('overrides, peers, bundles and nested versions are in it as npm has them', (context) => {
    const { workspace } = place(context);
    const yarn = `${head}${entry('left@^1.0.0', 'left', '1.1.0')}`;
    for (const fields of [
      { dependencies: { right: '1', left: '1.0.0' }, overrides: { right: { left: '1.1.0' } } },
      { dependencies: { 'peer-guest': '1', 'with-bundle': '1', left: '1.0.0' } },
      {
        dependencies: { right: '1', left: '2.0.0-beta.1', '@scope/middle': '1' },
        devDependencies: { executable: '1' },
      },
      { dependencies: { 'old-shasum': '1', 'no-digests': '1' } },
    ]) {
      for (const list of [['--package-lock-only'], [], ['--package-lock-only', '--lockfile-version=1']]) {
        bothLeave(workspace, { 'package.json': manifest(fields), 'yarn.lock': yarn }, { list });
      }
    }
    const fields = { dependencies: { executable: '1' }, optionalDependencies: { left: '77' } };
    for (const list of [['--package-lock-only'], []]) {
      bothLeave(workspace, { 'package.json': manifest(fields), 'yarn.lock': yarn }, { list });
    }
  });

  test('workspaces and folders are in it as npm has them', (context) => {
    const { workspace } = place(context);
    const files = {
      'package.json': manifest({ workspaces: ['packages/*'], dependencies: { folder: 'file:folder', left: '1' } }),
      'packages/a/package.json': { name: 'a', version: '1.0.0', dependencies: { b: '^1.0.0', left: '1.0.0' } },
      'packages/b/package.json': { name: '@own/b', version: '1.0.0', dependencies: { left: '2.0.0-beta.1' } },
      'folder/package.json': { name: 'folder', dependencies: { right: '1' }, devDependencies: { executable: '1' } },
      'yarn.lock': head + entry('left@1', 'left', '1.0.0') + entry('b@^1.0.0', 'left', '1.0.0'),
    };
    for (const list of [['--package-lock-only'], []]) bothLeave(workspace, files, { list });
  });
});

describe('yarn.lock of real projects', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  for (const name of ['express', 'vue']) {
    test(`${name}: written, read again, and read with the addresses of another registry`, (context) => {
      const workspace = new Workspace(context, registry);
      const text = readFileSync(join(projectsFolder, name, 'package.json'));
      const both = (side, yarn, ...words) => {
        const files = { 'package.json': text, 'yarn.lock': yarn };
        const [ours, theirs] = ['ours', 'theirs'].map((who) => workspace.project(`${side}-${who}`, files));
        workspace.gantry('install', '--prefix', ours, '--ignore-scripts', ...words).succeeded();
        workspace.npm(theirs, 'install', '--ignore-scripts', ...words).succeeded();
        for (const file of ['package-lock.json', 'yarn.lock']) {
          const [written, expected] = [read(ours, file), read(theirs, file)].map((result) =>
            result.replaceAll(`"name": "${side}-ours"`, `"name": "${side}-theirs"`),
          );
          assert.equal(written, expected, `${side}: ${file}`);
        }
        return read(ours, 'yarn.lock');
      };
      const written = both('new', head, '--package-lock-only');
      both('public', written.replaceAll(registry, `https://${yarnHost}/`), '--package-lock-only');
      both('other', written, '--package-lock-only');
    });
  }
});
