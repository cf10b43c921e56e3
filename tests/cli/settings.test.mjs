// Where settings are read from and what they mean, beside npm: files, the home they begin at, and what is refused.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { control, registryForSuite, temporaryFolder, Workspace } from './lib/programs.mjs';

const manifest = { name: 'project', version: '1.0.0', dependencies: { left: '1' } };
const fixtures = ['--fixtures', 'basic'];

/** A workspace whose folder is the home, and that says nothing of where settings are or of the registry. */
function atHome(context, registry) {
  const workspace = new Workspace(context, registry);
  workspace.environment.HOME = workspace.folder;
  for (const name of ['userconfig', 'globalconfig', 'registry']) delete workspace.environment[`npm_config_${name}`];
  return workspace;
}

/** Writes files below the home. */
function write(workspace, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(workspace.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/**
 * An npm of its own below the home, whose folder says `npmrc`. It comes first in the `PATH`: as a link, or as a script beside
 * a Node.js of its own.
 */
function installNpm(workspace, npmrc, { isLink }) {
  const [from, place] = [dirname(dirname(workspace.npmScript)), join(workspace.folder, 'installed')];
  const npm = join(place, 'lib', 'node_modules', 'npm');
  for (const part of ['bin', 'lib', 'package.json']) cpSync(join(from, part), join(npm, part), { recursive: true });
  symlinkSync(join(from, 'node_modules'), join(npm, 'node_modules'));
  writeFileSync(join(npm, 'npmrc'), npmrc);
  workspace.npmScript = join(npm, 'bin', 'npm-cli.js');
  const bin = join(place, 'bin');
  mkdirSync(bin);
  if (isLink) symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'));
  else {
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec node "${workspace.npmScript}" "$@"\n`, { mode: 0o755 });
    writeFileSync(join(bin, 'node'), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  }
  workspace.environment.PATH = `${bin}:${workspace.environment.PATH}`;
}

const warningsOf = (run) => run.lines.filter(({ type }) => type === 'warning').map(({ message }) => message);

/** Installs the same project with both programs, and gives what ours warned of. */
function both(workspace, name, { npmrc = '', words = (project) => ['--prefix', project] } = {}) {
  const [ours, theirs] = ['ours', 'theirs'].map((side) =>
    workspace.project(`${side} ${name.replaceAll('/', ' ')}`, { 'package.json': manifest, '.npmrc': npmrc }),
  );
  const run = workspace.gantryIn(ours, 'install', '--json', ...words(ours));
  run.succeeded();
  workspace.npm(theirs, 'install', '--ignore-scripts', ...words(theirs)).succeeded();
  for (const project of [ours, theirs]) {
    assert.ok(existsSync(join(project, 'node_modules', 'left')), `${name}: ${project}`);
  }
  return warningsOf(run);
}

describe('settings', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    ...fixtures,
  );
  beforeEach(() => control(registry, 'POST', 'reset'));

  // The programs run in the project's own folder here: --prefix is a setting, too.
  const here = () => [];

  test('a tree of a kind that is not there yet is refused, also where the lock says all there is to know', (context) => {
    const workspace = atHome(context, registry);
    const project = workspace.project('linked', { 'package.json': manifest, '.npmrc': `registry=${registry}\n` });
    workspace.gantryIn(project, 'install').succeeded();
    write(workspace, { 'linked/.npmrc': `registry=${registry}\ninstall-strategy=linked\n` });
    for (const command of ['install', 'ci']) {
      const run = workspace.gantryIn(project, command, '--json');
      assert.equal(run.lines.at(-1).code, 'RESOLVE_UNSUPPORTED', command);
      assert.ok(existsSync(join(project, 'node_modules', 'left', 'package.json')), command);
    }
  });

  test('that are spelled wrongly in files are warned of, and only those', (context) => {
    const workspace = atHome(context, registry);
    const { host } = new URL(registry);
    write(workspace, { '.npmrc': `registry=${registry}\nlegacyPeerDeps=true\nnode-linker=hoisted\n` });
    const wrong = `legacy-peer-dep=true\n//${host}/:_authtoken=secret\n//somebody:secret@other.test/:userName=secret\n`;
    const [own, project] = [join(workspace.folder, '.npmrc'), join(workspace.folder, 'ours spelled', '.npmrc')];
    assert.deepEqual(both(workspace, 'spelled', { npmrc: wrong, words: here }), [
      `legacy-peer-dep in ${project} has no effect: legacy-peer-deps is probably meant`,
      `//${host}/:_authtoken in ${project} has no effect: _authToken is probably meant`,
      `//other.test/:userName in ${project} has no effect: username is probably meant`,
      `legacyPeerDeps in ${own} has no effect: legacy-peer-deps is probably meant`,
    ]);
  });

  test("are read from the installation's file, wherever the others say that it is", (context) => {
    const address = () => `registry=${registry}\n`;
    const cases = {
      'prefix of the user': ['', { '.npmrc': 'prefix=~/given\n', 'given/etc/npmrc': address() }],
      'globalconfig of the user': ['', { '.npmrc': 'globalconfig=~/given.npmrc\n', 'given.npmrc': address() }],
      'prefix of the project': ['prefix=~/given\n', { 'given/etc/npmrc': address() }],
      'userconfig of the project': ['userconfig=~/given.npmrc\n', { 'given.npmrc': address() }],
      'userconfig of the project, prefix of the user': [
        'userconfig=~/given.npmrc\n',
        { 'given.npmrc': 'prefix=~/given\n', 'given/etc/npmrc': address() },
      ],
      'globalconfig beside prefix': [
        '',
        { '.npmrc': 'prefix=~/nowhere\nglobalconfig=~/given.npmrc\n', 'given.npmrc': address() },
      ],
    };
    for (const [name, [npmrc, files]] of Object.entries(cases)) {
      const workspace = atHome(context, registry);
      write(workspace, files);
      assert.deepEqual(both(workspace, name, { npmrc, words: here }), [], name);
    }
    for (const [name, value] of Object.entries({ prefix: '~/given', globalconfig: '~/given/etc/npmrc' })) {
      const workspace = atHome(context, registry);
      workspace.environment[`npm_config_${name}`] = value;
      write(workspace, { 'given/etc/npmrc': address(), '.npmrc': '' });
      assert.deepEqual(both(workspace, name, { words: here }), [], name);
    }
  });

  test('are read below --prefix, which is where the installation is for npm', (context) => {
    const workspace = atHome(context, registry);
    const wrong = 'registry=http://127.0.0.1:1/\nfetch-retries=0\n';
    write(workspace, { '.npmrc': 'prefix=~/given\n', 'given/etc/npmrc': wrong });
    for (const side of ['ours', 'theirs']) write(workspace, { [`${side} below/etc/npmrc`]: `registry=${registry}\n` });
    assert.deepEqual(both(workspace, 'below'), []);
  });

  test("are read from npm's own file, which is the weakest and may say where others are", (context) => {
    const address = () => `registry=${registry}\n`;
    const wrong = 'registry=http://127.0.0.1:1/\nfetch-retries=0\n';
    const cases = {
      'npm says it': [address, {}],
      'npm says where the installation is': [() => 'prefix=~/given\n', { 'given/etc/npmrc': address }],
      'the installation beats npm': [() => `${wrong}prefix=~/given\n`, { 'given/etc/npmrc': address }],
      'the user beats npm': [() => wrong, { '.npmrc': address }],
      'prefix of the user beats that of npm': [
        () => 'prefix=~/wrong\n',
        { '.npmrc': () => 'prefix=~/given\n', 'given/etc/npmrc': address, 'wrong/etc/npmrc': () => wrong },
      ],
      'globalconfig of npm': [() => 'globalconfig=~/given.npmrc\n', { 'given.npmrc': address }],
      'userconfig of npm': [() => 'userconfig=~/given.npmrc\n', { 'given.npmrc': address, '.npmrc': () => wrong }],
      'credentials for no registry are passed over in it': [() => `${address()}_auth=c2VjcmV0\n`, {}],
    };
    for (const [name, [npmrc, files]] of Object.entries(cases)) {
      for (const isLink of [true, false]) {
        const workspace = atHome(context, registry);
        installNpm(workspace, npmrc(), { isLink });
        // It counts for less than what npm says itself.
        workspace.environment.PREFIX = join(workspace.folder, 'nowhere');
        write(workspace, Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text()])));
        assert.deepEqual(both(workspace, name, { words: here }), [], name);
      }
    }
  });

  test('in files that cannot be read are left out, in damaged ones they are read as far as they go', (context) => {
    const address = () => `registry=${registry}\n`;
    const workspace = atHome(context, registry);
    write(workspace, { '.npmrc/is-a-folder': '', 'given.npmrc': address() });
    workspace.environment.npm_config_globalconfig = '~/given.npmrc';
    const [warning, ...others] = both(workspace, 'folder', { words: here });
    assert.ok(warning.includes(join(workspace.folder, '.npmrc')), warning);
    assert.deepEqual(others, []);

    const damaged = atHome(context, registry);
    write(damaged, { '.npmrc': Buffer.concat([Buffer.from('; \xff\xfe\n', 'latin1'), Buffer.from(address())]) });
    assert.deepEqual(both(damaged, 'damaged', { words: here }), []);
  });

  test('credentials for no registry are refused in files and of no use elsewhere', async (context) => {
    const settings = [
      '_auth=c2VjcmV0',
      '_authToken=secret',
      'username=secret',
      '_password=secret',
      '_authtoken=secret',
    ];
    for (const setting of settings) {
      for (const file of ['.npmrc', 'given.npmrc']) {
        const workspace = new Workspace(context, registry);
        workspace.environment.npm_config_globalconfig = join(workspace.folder, 'given.npmrc');
        workspace.environment.npm_config_userconfig = join(workspace.folder, '.npmrc');
        write(workspace, { [file]: `${setting}\n` });
        const project = workspace.project('project', { 'package.json': manifest });
        const run = workspace.gantry('install', '--prefix', project, '--json');
        assert.deepEqual([run.status, run.lines.at(-1).code], [1, 'CONFIG_INVALID'], setting);
        assert.ok(run.lines.at(-1).message.includes(setting.split('=')[0]));
        assert.doesNotMatch(run.stdout, /secret|c2Vj/);
        const npm = workspace.npm(project, 'install', '--ignore-scripts');
        assert.match(npm.stderr, /ERR_INVALID_AUTH/, setting);
      }
    }
    const workspace = new Workspace(context, registry);
    for (const setting of settings) {
      const [name, value] = setting.split('=');
      workspace.environment[`npm_config_${name}`] = value;
    }
    assert.deepEqual(both(workspace, 'environment'), []);
    const { log } = await control(registry, 'GET', 'stats?log');
    assert.ok(log.length > 0 && log.every(({ authorized }) => !authorized));
  });

  test('cache-min and cache-max are other names of prefer-offline and prefer-online', async (context) => {
    const asks = async (npmrc) => {
      const counts = [];
      for (const program of ['gantry', 'npm']) {
        const workspace = new Workspace(context, registry);
        const project = workspace.project('project', { 'package.json': manifest });
        const again = workspace.project('again', { 'package.json': manifest, '.npmrc': npmrc });
        for (const folder of [project, again]) {
          await control(registry, 'POST', 'reset');
          const words = ['install', '--ignore-scripts', '--no-package-lock', '--prefix', folder];
          if (program === 'gantry') workspace.gantry(...words).succeeded();
          else workspace.npm(folder, ...words).succeeded();
        }
        const { log } = await control(registry, 'GET', 'stats?log');
        counts.push(log.filter(({ path }) => path === '/left').length);
      }
      assert.equal(counts[0], counts[1], npmrc);
      return counts[0];
    };
    const expected = {
      '': 0,
      'cache-max=0\n': 1,
      'cache-max=10\n': 0,
      'prefer-online=true\n': 1,
      'prefer-online=true\ncache-min=9999\n': 0,
      'prefer-online=true\ncache-min=9998\n': 1,
      'prefer-online=false\ncache-max=0\n': 1,
      'cache-max=0\nprefer-online=false\n': 0,
    };
    for (const [npmrc, count] of Object.entries(expected)) assert.equal(await asks(npmrc), count, npmrc);
  });
});

describe('certificates of a registry', { concurrency: 1 }, () => {
  const folder = temporaryFolder({ after });
  const authority = join(folder, 'authority.pem');
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    ...fixtures,
    ...['--tls', '--certificate', authority],
  );

  test("are found at home, and among node's own", (context) => {
    const workspace = atHome(context, registry);
    workspace.environment.npm_config_registry = registry;
    copyFileSync(authority, join(workspace.folder, 'authority.pem'));
    both(workspace, 'cafile', { npmrc: 'cafile=~/authority.pem\n' });
    workspace.environment.npm_config_cafile = '~/authority.pem';
    both(workspace, 'cafile of the environment');
    delete workspace.environment.npm_config_cafile;

    workspace.environment.GANTRY_STORE_DIR = join(workspace.folder, 'empty');
    workspace.environment.NODE_EXTRA_CA_CERTS = authority;
    assert.deepEqual(both(workspace, 'extra'), []);
    // What cannot be used of them is passed over.
    write(workspace, { 'mixed.pem': '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n' });
    workspace.environment.NODE_EXTRA_CA_CERTS = join(workspace.folder, 'mixed.pem');
    assert.deepEqual(both(workspace, 'mixed', { npmrc: 'cafile=~/authority.pem\n' }), []);
  });

  test('that nobody vouches for are refused, with a word on a file of them that is not there', (context) => {
    const workspace = atHome(context, registry);
    workspace.environment.npm_config_registry = registry;
    workspace.environment.NODE_EXTRA_CA_CERTS = join(workspace.folder, 'missing.pem');
    const project = workspace.project('project', { 'package.json': manifest });
    const run = workspace.gantry('install', '--prefix', project, '--json');
    assert.deepEqual([run.status, run.lines.at(-1).code], [3, 'REGISTRY_UNREACHABLE']);
    assert.ok(warningsOf(run).some((message) => message.includes('missing.pem')));
    assert.notEqual(workspace.npm(project, 'install', '--ignore-scripts').status, 0);
  });
});
