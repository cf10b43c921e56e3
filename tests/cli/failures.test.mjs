// Bad input of every kind: an exit status that says whose fault it is, one error object with --json, and nothing
// half-done left behind.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { registryForSuite, Workspace } from './lib/programs.mjs';

/** Exit statuses of the command. */
const fault = { project: 1, usage: 2, registry: 3, disk: 4, package: 5 };

const needs = (name, range = '*') => ({
  'package.json': { name: 'project', version: '1.0.0', dependencies: { [name]: range } },
});

const cases = [
  { what: 'a package.json that is not JSON', files: { 'package.json': '{ "name": ' }, status: fault.project },
  { what: 'a package.json that is a list', files: { 'package.json': '[]' }, status: fault.project },
  { what: 'no package.json', files: {}, status: fault.project },
  { what: 'a package nobody published', files: needs('never-published'), names: 'never-published' },
  { what: 'a dependency nobody published', files: needs('no-such-package'), names: 'never-published' },
  { what: 'a range without a version', files: needs('left', '^99.0.0'), names: 'left' },
  { what: 'a dependency whose range has no version', files: needs('no-such-version'), names: 'left' },
  { what: 'a tag that does not exist', files: needs('left', 'never'), names: 'left' },
  { what: 'a wrong integrity', files: needs('bad-integrity'), names: 'bad-integrity', status: fault.package },
  { what: 'a truncated tarball', files: needs('truncated'), names: 'truncated', status: fault.package },
  { what: 'a damaged archive', files: needs('broken-archive'), names: 'broken-archive', status: fault.package },
  { what: 'a tarball that is none', files: needs('not-an-archive'), names: 'not-an-archive', status: fault.package },
  { what: 'a tarball that is gone', files: needs('missing-tarball'), names: 'missing-tarball', status: fault.registry },
  {
    what: 'a tarball damaged on its way',
    files: needs('corrupt-tarball'),
    names: 'corrupt-tarball',
    status: fault.package,
  },
  {
    what: 'a page of HTML instead of a document',
    files: needs('html-packument'),
    names: 'html-packument',
    status: fault.registry,
  },
  {
    what: 'garbage instead of gzip',
    files: needs('garbled-packument'),
    names: 'garbled-packument',
    status: fault.registry,
  },
  { what: 'a document that is too deep', files: needs('deep-packument'), names: 'deep-packument' },
  { what: 'a document that is no object', files: needs('not-an-object'), names: 'not-an-object' },
  { what: 'a document of wrong types', files: needs('wrong-types'), names: 'wrong-types' },
  { what: 'a package without versions', files: needs('no-versions'), names: 'no-versions' },
  { what: 'a server that is always busy', files: needs('always-busy'), names: 'always-busy', status: fault.registry },
  { what: 'a redirect to itself', files: needs('redirect-loop'), names: 'redirect-loop', status: fault.registry },
];

/** Checks one failed run with --json. */
function assertOneError(finished, { names, status }) {
  const expected = status === undefined ? 'any but 0' : status;
  assert.notEqual(finished.status, null, 'the command ended by itself');
  assert.ok(
    status === undefined ? finished.status > 0 : finished.status === status,
    `exit status ${finished.status}, expected ${expected}\n${finished.stdout}${finished.stderr}`,
  );
  const errors = finished.lines.filter((line) => line.type === 'error');
  assert.equal(errors.length, 1, `one error object:\n${finished.stdout}`);
  const [error] = errors;
  assert.equal(finished.lines.at(-1).type, 'error', 'it comes last');
  assert.match(error.code, /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/);
  assert.ok(error.message.length > 10, error.message);
  assert.doesNotMatch(finished.stderr, /panicked/);
  if (names) {
    assert.match(error.package ?? '', new RegExp(`^${names}(@|$)`), JSON.stringify(error));
  }
  return error;
}

/** A loopback port that nobody listens on. */
async function closedPort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

describe('bad input', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );
  // Retries wait as npm's do; for what is transient on purpose, one quick retry is enough.
  const impatient = 'fetch-retries=1\nfetch-retry-mintimeout=1\nfetch-retry-maxtimeout=2\n';

  for (const { what, files, names, status } of cases) {
    test(what, (context) => {
      const workspace = new Workspace(context, registry);
      delete workspace.environment.npm_config_fetch_retries;
      const project = workspace.project('project', { ...files, '.npmrc': impatient });
      assertOneError(workspace.gantry('install', '--prefix', project, '--json'), { names, status });
      assert.ok(!existsSync(join(project, 'node_modules', names ?? 'left')), 'nothing half-installed is visible');
      assert.ok(!existsSync(join(project, 'package-lock.json')), 'no lock is written');
    });
  }

  test('without --json the error is told on standard error, with its code', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needs('bad-integrity'));
    const finished = workspace.gantry('install', '--prefix', project);
    assert.equal(finished.status, fault.package);
    assert.equal(finished.stdout, '');
    assert.match(finished.stderr, /ARCHIVE_[A-Z]+/);
    assert.match(finished.stderr, /bad-integrity/);
  });

  test('a registry that is down', async (context) => {
    const workspace = new Workspace(context, `http://127.0.0.1:${await closedPort()}/`);
    const project = workspace.project('project', { ...needs('left'), '.npmrc': impatient });
    delete workspace.environment.npm_config_fetch_retries;
    assertOneError(workspace.gantry('install', '--prefix', project, '--json'), {
      names: 'left',
      status: fault.registry,
    });
  });

  test("a password in the registry's address is never printed", async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needs('left'));
    const address = `http://user:secret@127.0.0.1:${await closedPort()}/`;
    const words = ['install', '--prefix', project, '--registry', address];
    for (const finished of [workspace.gantry(...words), workspace.gantry(...words, '--json')]) {
      assert.equal(finished.status, fault.registry);
      assert.doesNotMatch(finished.stdout + finished.stderr, /secret/);
    }
  });

  test('nor is one in the address of a dependency', async (context) => {
    const workspace = new Workspace(context, registry);
    const down = `127.0.0.1:${await closedPort()}`;
    const addresses = [
      `http://user:secret@${down}/a.tgz`,
      `https://secret@${down}/a.tgz`,
      `git+http://user:secret@${down}/a.git`,
      `git+https://secret@${down}/a.git#semver:^1`,
      `git+ssh://user:secret@${down}/a.git`,
      `ftp://user:secret@${down}/a`,
      'npm:left@http://user:secret@host.test/',
    ];
    for (const [index, address] of addresses.entries()) {
      const project = workspace.project(`project-${index}`, needs('tool', address));
      for (const words of [['install'], ['install', '--json'], ['install', '--offline'], ['update']]) {
        const { status, stdout, stderr } = workspace.gantryIn(project, ...words);
        assert.notEqual(status, 0, address);
        assert.match(stdout + stderr, /tool|left/, address);
        assert.doesNotMatch(stdout + stderr, /secret/, `${address}: ${words}`);
      }
    }
  });

  test('what a package says cannot do anything to a terminal', (context) => {
    const workspace = new Workspace(context, registry);
    const title = '\u001b]0;title\u0007\u009b2J';
    const project = workspace.project('project', {
      ...needs('left'),
      'package-lock.json': {
        name: 'project',
        version: '1.0.0',
        lockfileVersion: 3,
        packages: {
          '': { name: 'project', version: '1.0.0', dependencies: { left: '*' } },
          'node_modules/left': { version: '1.0.0', engines: { node: `<1${title}` } },
        },
      },
    });
    const install = workspace.gantryIn(project, 'ci').succeeded();
    assert.match(install.stderr, /warning EBADENGINE: .*\^\[\]0;title\^G\^\[2J/);
    const broken = workspace.project('broken', needs('left', `${title}&`));
    for (const text of [install.stderr, workspace.gantryIn(broken, 'install').stderr]) {
      assert.ok(text.includes('title') && ![...'\u001b\u0007\u009b'].some((control) => text.includes(control)), text);
    }
  });

  test('a failed install is finished by the next one', (context) => {
    const workspace = new Workspace(context, registry);
    const both = { name: 'project', version: '1.0.0', dependencies: { right: '1', 'bad-integrity': '1' } };
    const project = workspace.project('project', { 'package.json': both });
    assertOneError(workspace.gantry('install', '--prefix', project, '--json'), {
      names: 'bad-integrity',
      status: fault.package,
    });
    workspace.project('project', needs('right'));
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.ok(existsSync(join(project, 'node_modules', 'left', 'index.js')));
  });

  test('a lock that is not JSON is made anew by install, as npm does, and refused by ci', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', { ...needs('left'), 'package-lock.json': 'lock' });
    const error = assertOneError(workspace.gantry('ci', '--prefix', project, '--json'), { status: fault.project });
    assert.equal(error.code, 'LOCK_JSON');
    const { lines } = workspace.gantry('install', '--prefix', project, '--json').succeeded();
    assert.ok(lines.some((line) => line.type === 'warning' && line.code === 'LOCK_JSON'));
    assert.equal(JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')).lockfileVersion, 3);
  });

  test('archive entries that would leave the package are left out, as npm does', (context) => {
    const workspace = new Workspace(context, registry);
    const names = ['escaping', 'absolute-name', 'symbolic-link', 'hard-link', 'device'];
    const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']));
    const project = workspace.project('project', {
      'package.json': { name: 'project', version: '1.0.0', dependencies },
    });
    workspace.gantry('install', '--prefix', project).succeeded();
    for (const name of names) {
      const folder = join(project, 'node_modules', name);
      const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
      assert.ok(entries.length > 0, name);
      assert.ok(
        entries.every((entry) => entry.isFile() || entry.isDirectory()),
        `${name} has files only`,
      );
    }
    const strays = readdirSync(workspace.folder, { recursive: true }).filter((path) => path.endsWith('/escaped.js'));
    assert.deepEqual(strays, []);
    assert.ok(!existsSync('/tmp/gantry-escaped.js'));
  });

  test('gantry ci without a lock', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needs('left'));
    const error = assertOneError(workspace.gantry('ci', '--prefix', project, '--json'), { status: fault.project });
    assert.equal(error.code, 'LOCK_MISSING');
  });

  test('gantry ci with a lock that does not fit package.json', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needs('left', '1.0.0'));
    workspace.gantry('install', '--prefix', project, '--lockfile-only').succeeded();
    workspace.project('project', needs('left', '1.1.0'));
    const error = assertOneError(workspace.gantry('ci', '--prefix', project, '--json'), { status: fault.project });
    assert.equal(error.code, 'LOCK_OUT_OF_SYNC');
    assert.match(error.message, /left/);
  });

  test('gantry ci where an optional package cannot be had, which no lock has', (context) => {
    const workspace = new Workspace(context, registry);
    const fields = { name: 'project', version: '1.0.0', dependencies: { left: '1' } };
    const manifest = { ...fields, optionalDependencies: { nowhere: '1' } };
    const project = workspace.project('project', { 'package.json': manifest });
    workspace.gantry('install', '--prefix', project).succeeded();
    const hintOf = () => {
      const error = assertOneError(workspace.gantry('ci', '--prefix', project, '--json'), { status: fault.project });
      assert.deepEqual([error.code, workspace.npm(project, 'ci').status], ['LOCK_OUT_OF_SYNC', 1]);
      return error.hint;
    };
    assert.match(hintOf(), /^No lock has optional packages that cannot be had \(nowhere\), .* use `install`/);
    workspace.gantry('install', '--prefix', project).succeeded();
    manifest.dependencies.executable = '1';
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    assert.match(hintOf(), /^Run an install .* \(nowhere\)/);
  });

  test('an unknown option is wrong usage', (context) => {
    const finished = new Workspace(context, registry).gantry('install', '--no-such-option');
    assert.equal(finished.status, fault.usage);
    assert.match(finished.stderr, /--no-such-option/);
  });

  test('wrong usage with --json is one object, too', (context) => {
    const workspace = new Workspace(context, registry);
    const lines = [
      [['install', '--no-such-option', '--json'], '--no-such-option'],
      [['ci', '--json', '--omit', 'some'], 'some'],
      [['why', '--json'], 'PACKAGE'],
      [['instal1', '--json=true'], 'instal1'],
    ];
    for (const [words, named] of lines) {
      const error = assertOneError(workspace.gantry(...words), { status: fault.usage });
      assert.equal(error.code, 'WRONG_USAGE', words.join(' '));
      assert.ok(error.message.includes(named) && error.hint, error.message);
      assert.equal(error.package, null);
    }
  });
});
