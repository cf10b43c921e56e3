// What the options promise, on small packages made for it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing, Pair } from './lib/pair.mjs';
import { registryForSuite, startRegistry, temporaryFolder, Workspace } from './lib/programs.mjs';

const manifest = (fields) => ({ 'package.json': { name: 'project', version: '1.0.0', ...fields } });

describe('options', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );

  const readLock = (project) => JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  const installed = (project, name) => existsSync(join(project, 'node_modules', name, 'package.json'));

  test('an install has the packages, their commands and the lock', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { '@scope/middle': '^1.0.0' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.ok(installed(project, '@scope/middle'));
    assert.ok(installed(project, 'left'));
    assert.deepEqual(readdirSync(join(project, 'node_modules', '.bin')).sort(), ['middle', 'right']);
    assert.ok(statSync(join(project, 'node_modules', '.bin', 'right')).mode & 0o100, 'commands are executable');
    assert.equal(readLock(project).lockfileVersion, 3);
  });

  test('--lockfile-only writes the lock and nothing else', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { right: '1' } }));
    workspace.gantry('install', '--prefix', project, '--lockfile-only').succeeded();
    assert.deepEqual(readdirSync(project).sort(), ['package-lock.json', 'package.json']);
    assert.deepEqual(Object.keys(readLock(project).packages), ['', 'node_modules/left', 'node_modules/right']);
  });

  test('--omit dev leaves development packages out of the tree and in the lock', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project(
      'project',
      manifest({ dependencies: { left: '1' }, devDependencies: { executable: '1' } }),
    );
    workspace.gantry('install', '--prefix', project, '--omit', 'dev').succeeded();
    assert.ok(installed(project, 'left'));
    assert.ok(!installed(project, 'executable'));
    assert.equal(readLock(project).packages['node_modules/executable'].dev, true);
  });

  test('--omit optional leaves optional packages out of the tree', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project(
      'project',
      manifest({ dependencies: { right: '1' }, optionalDependencies: { executable: '1' } }),
    );
    workspace.gantry('install', '--prefix', project, '--omit=optional').succeeded();
    assert.ok(installed(project, 'right'));
    assert.ok(!installed(project, 'executable'));
  });

  test('--os and --cpu choose the platform of optional packages', (context) => {
    const workspace = new Workspace(context, registry);
    const fields = manifest({ dependencies: { 'with-optional': '1' } });
    const [here, elsewhere] = ['here', 'elsewhere'].map((name) => workspace.project(name, fields));
    workspace.gantry('install', '--prefix', here).succeeded();
    workspace.gantry('install', '--prefix', elsewhere, '--os', 'plan9', '--cpu', 'pdp11').succeeded();
    assert.ok(!installed(here, 'only-elsewhere'));
    assert.ok(installed(elsewhere, 'only-elsewhere'));
    const lock = (project) => readFileSync(join(project, 'package-lock.json'), 'utf8');
    assert.equal(lock(here), lock(elsewhere), 'the lock is the same for all platforms');
  });

  test('--no-bin-links makes no links to commands', (context) => {
    const pair = new Pair(context, registry, {
      'package.json': {
        name: 'root',
        version: '1.0.0',
        workspaces: ['packages/*'],
        dependencies: { 'executable-command': '1' },
      },
      'packages/own/package.json': { name: 'own', version: '1.0.0', bin: 'own.js', dependencies: { executable: '1' } },
      'packages/own/own.js': '#!/usr/bin/env node\n',
    });
    const none = ['--no-bin-links'];
    const commands = (folder) => {
      const path = join(folder, 'node_modules', '.bin');
      return existsSync(path) ? listing(path).length : 0;
    };
    pair.same('first', 'install', none);
    pair.same('again', 'install', none);
    pair.same('clean', 'ci', none);
    pair.same('added', 'install', ['with-optional', ...none]);
    pair.same('removed', 'uninstall', ['with-optional', ...none]);
    assert.deepEqual(pair.folders.map(commands), [0, 0]);
    assert.equal(
      statSync(join(pair.folders[0], 'packages/own/own.js')).mode & 0o111,
      0,
      "the user's file is left alone",
    );
    pair.write({ '.npmrc': 'bin-links=false\n' });
    pair.same('by a file', 'ci');
    assert.deepEqual(pair.folders.map(commands), [0, 0]);
    pair.same('with them', 'ci', ['--bin-links']);
    assert.deepEqual(pair.folders.map(commands), [2, 2]);
    // npm leaves those that are there.
    const [ours] = pair.folders;
    pair.workspace.gantryIn(ours, 'install').succeeded();
    assert.equal(commands(ours), 0);
  });

  test('settings that are not there yet are refused, not passed over', (context) => {
    const workspace = new Workspace(context, registry);
    const refusals = {
      'global=true': 'global',
      'lockfile-version=7': 'lockfile-version',
      'cert=-----BEGIN CERTIFICATE-----': 'cert',
      '_authToken=secret': '_authToken',
      '_auth=secret': '_auth',
      'node-version=20': 'node-version',
    };
    for (const [setting, name] of Object.entries(refusals)) {
      const project = workspace.project('project', {
        ...manifest({ dependencies: { left: '1' } }),
        '.npmrc': `${setting}\n`,
      });
      const finished = workspace.gantry('install', '--prefix', project, '--json');
      assert.notEqual(finished.status, 0, setting);
      const [error] = finished.lines;
      assert.match(error.code, /^(CONFIG|HTTP)_/, setting);
      assert.ok(error.message.includes(name) && error.hint, JSON.stringify(error));
      assert.doesNotMatch(finished.stdout, /secret/);
      assert.ok(!installed(project, 'left'), setting);
    }
    const words = ['install', '--prefix', workspace.project('project', { '.npmrc': '' }), '--node-version', '20'];
    assert.notEqual(workspace.gantry(...words).status, 0);
  });

  test('older names of omit and include mean what they mean to npm', (context) => {
    const workspace = new Workspace(context, registry);
    const fields = {
      dependencies: { left: '1' },
      devDependencies: { executable: '1' },
      optionalDependencies: { deprecated: '1' },
    };
    const cases = [
      ['', [], { executable: true, deprecated: true }],
      ['production=true', [], { executable: false, deprecated: true }],
      ['only=prod', [], { executable: false, deprecated: true }],
      ['optional=false', [], { executable: true, deprecated: false }],
      ['production=true', ['--include', 'dev'], { executable: true, deprecated: true }],
      ['omit[]=dev\nomit[]=optional\nalso=development', [], { executable: true, deprecated: false }],
      ['omit=dev', ['--omit', 'optional'], { executable: true, deprecated: false }],
    ];
    for (const [position, [setting, words, expected]] of cases.entries()) {
      const files = { ...manifest(fields), '.npmrc': `${setting}\n` };
      const project = workspace.project(`project-${position}`, files);
      workspace.gantry('install', '--prefix', project, ...words).succeeded();
      for (const [name, present] of Object.entries(expected)) {
        assert.equal(installed(project, name), present, `${name} with ${setting} ${words}`);
      }
      const npm = workspace.project(`npm-${position}`, files);
      workspace.npm(npm, 'install', ...words).succeeded();
      for (const [name, present] of Object.entries(expected)) {
        assert.equal(installed(npm, name), present, `npm: ${name} with ${setting} ${words}`);
      }
    }
  });

  test('numbers that are none are told, and a time limit of 0 is the default', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', {
      ...manifest({ dependencies: { left: '1' } }),
      '.npmrc': 'fetch-timeout=0\nfetch-retry-factor=many\n',
    });
    const { lines } = workspace.gantry('install', '--prefix', project, '--json').succeeded();
    const warnings = lines.filter((line) => line.type === 'warning');
    assert.deepEqual(
      warnings.map((line) => line.code),
      ['CONFIG_INVALID'],
    );
    assert.match(warnings[0].message, /fetch-retry-factor=many/);
  });

  test('certificates that are none are an error before anything is asked, a file that is not there a warning', (context) => {
    const workspace = new Workspace(context, registry);
    const bad = '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n';
    for (const [name, text] of Object.entries({ empty: '', prose: 'not a certificate\n', bad })) {
      const file = join(workspace.folder, `${name}.pem`);
      writeFileSync(file, text);
      const project = workspace.project(name, {
        ...manifest({ dependencies: { left: '1' } }),
        '.npmrc': `cafile=${file}\n`,
      });
      const run = workspace.gantry('install', '--prefix', project, '--json');
      const error = run.lines.at(-1);
      assert.deepEqual([run.status, error.code], [1, 'CONFIG_INVALID'], `${name}: ${run.stdout}`);
      assert.ok(error.message.includes(file), error.message);
    }
    const project = workspace.project('missing', {
      ...manifest({ dependencies: { left: '1' } }),
      '.npmrc': `cafile=${join(workspace.folder, 'missing.pem')}\n`,
    });
    const { lines } = workspace.gantry('install', '--prefix', project, '--json').succeeded();
    assert.equal(lines.filter(({ code }) => code === 'CONFIG_INVALID').length, 1);
    assert.ok(installed(project, 'left'));
  });

  test('certificates of the system are missed only by who has no others for a server that shows one', async (context) => {
    const certificate = join(temporaryFolder(context), 'authority.pem');
    const safe = await startRegistry(context, '--fixtures', 'basic', '--tls', '--certificate', certificate);
    const workspace = new Workspace(context, registry);
    delete workspace.environment.SSL_CERT_DIR;
    workspace.environment.SSL_CERT_FILE = join(workspace.folder, 'missing.pem');
    const project = (name, npmrc) =>
      workspace.project(name, { ...manifest({ dependencies: { left: '1' } }), '.npmrc': npmrc });
    const plain = project('plain', '');
    workspace.gantry('install', '--prefix', plain).succeeded();
    assert.ok(installed(plain, 'left'));
    workspace.environment.npm_config_registry = safe;
    const own = project('own', `cafile=${certificate}\n`);
    workspace.gantry('install', '--prefix', own, '--prefer-online').succeeded();
    assert.ok(installed(own, 'left'));
    workspace.environment.GANTRY_STORE_DIR = join(workspace.folder, 'empty');
    const none = workspace.gantry('install', '--prefix', project('none', 'fetch-retries=0\n'), '--json');
    const error = none.lines.at(-1);
    assert.deepEqual([none.status, error.code], [3, 'REGISTRY_UNREACHABLE']);
    assert.match(error.message, /SSL_CERT_FILE.* certificate/i);
    // The system's certificates, or what stands in for them where it has none.
    delete workspace.environment.SSL_CERT_FILE;
    const refused = workspace.gantry('install', '--prefix', project('refused', 'fetch-retries=0\n'), '--json');
    assert.deepEqual([refused.status, refused.lines.at(-1).code], [3, 'REGISTRY_UNREACHABLE']);
    assert.match(refused.lines.at(-1).message, /invalid peer certificate/);
  });

  test('a proxy is asked for everything, but not for what noproxy lists', (context) => {
    const workspace = new Workspace(context, 'http://registry.invalid/');
    for (const key of ['https-proxy', 'proxy']) {
      const project = workspace.project(key, {
        ...manifest({ dependencies: { left: '1' } }),
        '.npmrc': `${key}=${registry}\nreplace-registry-host=always\n`,
      });
      workspace.gantry('install', '--prefix', project).succeeded();
      assert.ok(installed(project, 'left'), key);
      workspace.environment.NO_PROXY = 'invalid';
      const direct = workspace.project(`${key}-direct`, {
        ...manifest({ dependencies: { right: '1' } }),
        '.npmrc': `${key}=${registry}\n`,
      });
      assert.equal(workspace.gantry('install', '--prefix', direct).status, 3);
      delete workspace.environment.NO_PROXY;
    }
  });

  test('--store-dir is where packages are kept', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { left: '1' } }));
    const store = join(workspace.folder, 'another-store');
    workspace.gantry('install', '--prefix', project, '--store-dir', store).succeeded();
    assert.notEqual(readdirSync(store).length, 0);
    assert.ok(!existsSync(workspace.environment.GANTRY_STORE_DIR));
  });

  test('--registry wins over the settings', (context) => {
    const workspace = new Workspace(context, 'http://127.0.0.1:9/');
    const project = workspace.project('project', manifest({ dependencies: { left: '1' } }));
    workspace.gantry('install', '--prefix', project, '--registry', registry).succeeded();
    assert.ok(installed(project, 'left'));
  });

  test('--json prints one object a line, the result last', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { right: '1' } }));
    const { lines } = workspace.gantry('install', '--prefix', project, '--json').succeeded();
    assert.ok(lines.every((line) => typeof line.type === 'string'));
    const result = lines.at(-1);
    assert.equal(result.type, 'result');
    assert.equal(result.packages, 2);
    assert.equal(result.lockChanged, true);
  });

  test('installing again changes nothing and asks for no package', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { '@scope/middle': '1' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    const lock = readFileSync(join(project, 'package-lock.json'));
    const file = join(project, 'node_modules', 'left', 'index.js');
    const before = statSync(file);
    const result = workspace.gantry('install', '--prefix', project, '--json').succeeded().lines.at(-1);
    assert.equal(result.lockChanged, false);
    assert.equal(result.requests, 0);
    assert.deepEqual(readFileSync(join(project, 'package-lock.json')), lock);
    assert.equal(statSync(file).ino, before.ino);
  });

  test('a package added later leaves the others where they are', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { left: '1.0.0' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    workspace.project('project', manifest({ dependencies: { left: '1.0.0', right: '1' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.equal(readLock(project).packages['node_modules/left'].version, '1.0.0');
    assert.ok(installed(project, 'right'));
  });

  test('what package.json no longer asks for is removed', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest({ dependencies: { left: '1', executable: '1' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    workspace.project('project', manifest({ dependencies: { left: '1' } }));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.ok(!installed(project, 'executable'));
    assert.ok(installed(project, 'left'));
    assert.deepEqual(Object.keys(readLock(project).packages), ['', 'node_modules/left']);
  });

  test('--timing and --trace say where the time went, with what had to be asked for again', (context) => {
    const workspace = new Workspace(context, registry);
    delete workspace.environment.npm_config_fetch_retries;
    const project = workspace.project('project', {
      ...manifest({ dependencies: { 'busy-twice': '1', right: '1' } }),
      '.npmrc': 'fetch-retry-mintimeout=1\nfetch-retry-maxtimeout=2\n',
    });
    const file = join(project, 'trace.json');
    const run = workspace.gantry('install', '--prefix', project, '--timing', '--trace', file).succeeded();
    for (const stage of ['resolve', 'fetch', 'link', 'lock'])
      assert.match(run.stderr, new RegExp(`^${stage} +\\S+ ms`, 'm'));
    assert.match(run.stderr, /^tarball +3 +0 /m, run.stderr);

    const events = JSON.parse(readFileSync(file, 'utf8')).traceEvents;
    const of = (kind) => events.filter((event) => event.cat === kind);
    for (const kind of ['tarball', 'verify', 'unpack', 'store']) {
      assert.deepEqual(
        of(kind)
          .map(({ name }) => name)
          .sort(),
        ['busy-twice@1.0.0', 'left@1.1.0', 'right@1.0.0'],
        kind,
      );
    }
    const busy = of('packument').filter(({ name }) => name === 'busy-twice');
    assert.deepEqual(
      busy.map(({ args }) => args.status),
      [503, 503, 200],
    );
    assert.ok(of('resolve').length > 0);
    const kept = of('mirror').reduce((sum, { args }) => sum + args.bytes, 0);
    const received = of('packument').filter(({ args }) => args.status === 200);
    assert.ok(kept > received.reduce((sum, { args }) => sum + args.bytes, 0), 'each document is kept, and where it is');
    for (const { ts, dur } of [...of('packument'), ...of('mirror'), ...of('store')]) assert.ok(ts >= 0 && dur >= 0);

    // Once more: nothing is asked for, and a place that cannot be written to costs nothing else.
    const missing = join(project, 'no', 'trace.json');
    const again = workspace
      .gantry('install', '--prefix', project, '--json', '--timing', '--trace', missing)
      .succeeded();
    const lines = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { phases, work } = lines.find(({ type }) => type === 'timing');
    assert.deepEqual(
      phases.map(({ phase }) => phase),
      ['fetch', 'link', 'lock'],
    );
    assert.deepEqual(work, []);
    assert.ok(lines.some(({ type, code }) => type === 'warning' && code === 'TRACE_NOT_WRITTEN'));
  });

  test('transient failures are overcome', (context) => {
    const workspace = new Workspace(context, registry);
    delete workspace.environment.npm_config_fetch_retries;
    const project = workspace.project('project', {
      ...manifest({ dependencies: { 'busy-twice': '1', 'reset-once': '1' } }),
      '.npmrc': 'fetch-retry-mintimeout=1\nfetch-retry-maxtimeout=2\n',
    });
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.ok(installed(project, 'busy-twice'));
    assert.ok(installed(project, 'reset-once'));
  });
});
