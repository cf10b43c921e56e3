// A registry that hangs, lies, breaks off, throttles or sends elsewhere: each ends in the documented way and within its
// time, and what else is under way goes on.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { control, projectsFolder, registryForSuite, startRegistry, Workspace } from './lib/programs.mjs';
import { FaultyRegistry } from './lib/random/faulty-registry.mjs';
import { runCommand } from './lib/trouble/command.mjs';

const table = JSON.parse(readFileSync(new URL('../support/registry-faults.json', import.meta.url), 'utf8'));
const { patience, columns } = table;
const rows = table.rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], value])));
const patient = [
  `fetch-timeout=${patience.timeout}`,
  `fetch-retries=${patience.retries}`,
  `fetch-retry-mintimeout=${patience.minWait}`,
  `fetch-retry-maxtimeout=${patience.maxWait}`,
  '',
].join('\n');

describe('a registry that', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--fixtures',
    'basic',
  );
  beforeEach(async () => {
    await control(registry, 'DELETE', 'faults');
    await control(registry, 'POST', 'reset');
  });

  const needing = (fields) => ({
    'package.json': { name: 'project', version: '1.0.0', ...fields },
    '.npmrc': patient,
  });
  const started = (workspace, name, fields) => {
    delete workspace.environment.npm_config_fetch_retries;
    const project = workspace.project(name, needing(fields));
    const begun = performance.now();
    const run = workspace.gantry('install', '--prefix', project, '--json');
    return { project, run, elapsed: performance.now() - begun };
  };

  for (const { what, of, fault, code, asked, besides = {} } of rows) {
    const { once = true, optional = true, alone = false, atLeast = 0 } = besides;
    test(what, async (context) => {
      // Each package is asked for in one install only, as in a page, whose HTTP cache would answer the second time.
      const path = (name) => (of === 'document' ? `/${name}$` : `/${name}/-/*`);
      await control(registry, 'POST', 'faults', [
        { path: path('executable'), ...fault },
        { path: path('old-shasum'), ...fault },
        { path: path('peer-host'), ...fault, count: 1 },
      ]);
      const workspace = new Workspace(context, registry);

      // What may be missing holds nothing up; but nobody passes over a tarball that is not what was promised.
      const optionalDependencies = alone ? {} : { executable: '1' };
      const others = { dependencies: { right: '1' }, optionalDependencies };
      const { project, run: beside } = started(workspace, 'beside', others);
      if (optional || alone) {
        beside.succeeded();
        assert.ok(existsSync(join(project, 'node_modules', 'right', 'cli.js')));
        assert.equal(existsSync(join(project, 'node_modules', 'executable')), code === null && !alone);
      } else assert.equal(beside.lines.at(-1).code, code);

      const { run, elapsed } = started(workspace, 'project', { dependencies: { 'old-shasum': '1', right: '1' } });
      if (code === null) run.succeeded();
      else {
        const error = run.lines.at(-1);
        assert.deepEqual(
          [error.type, error.code, error.package?.split('@')[0]],
          ['error', code, 'old-shasum'],
          run.stdout,
        );
      }
      assert.ok(elapsed >= atLeast && elapsed < asked * patience.timeout + 10_000, `${elapsed} ms`);
      const { log } = await control(registry, 'GET', 'stats?log');
      const pattern = new RegExp(`^${path('old-shasum').replace('*', '.*')}`);
      assert.equal(log.filter((entry) => pattern.test(entry.path)).length, asked);

      if (once && !alone) started(workspace, 'once', { dependencies: { 'peer-host': '1' } }).run.succeeded();
    });
  }

  test('is slow, down or given up on is in the trace, with the waits in between', async (context) => {
    const workspace = new Workspace(context, registry);
    const trace = (name, dependencies, files = {}) => {
      delete workspace.environment.npm_config_fetch_retries;
      const project = workspace.project(name, { ...needing({ dependencies }), ...files });
      const file = join(project, 'trace.json');
      assert.notEqual(workspace.gantry('install', '--prefix', project, '--trace', file).status, 0);
      return JSON.parse(readFileSync(file, 'utf8')).traceEvents.filter(({ ph }) => ph === 'X');
    };
    const endings = (events, kind, name) =>
      events.filter((event) => event.cat === kind && event.name.startsWith(name)).map(({ args }) => args.ending);

    const hang = { kind: 'hang-before-headers' };
    await control(registry, 'POST', 'faults', [
      { path: '/old-shasum/-/*', ...hang },
      { path: '/executable$', ...hang },
    ]);
    for (const [name, kind] of [
      ['old-shasum', 'tarball'],
      ['executable', 'packument'],
    ]) {
      const events = trace(name, { [name]: '1' });
      assert.deepEqual(endings(events, kind, name), ['timeout', 'timeout'], kind);
      const [first, second] = events.filter((event) => event.cat === kind && event.name.startsWith(name));
      const [wait, ...others] = events.filter((event) => event.cat === 'backoff');
      assert.deepEqual([wait.name.startsWith(name), others.length], [true, 0]);
      assert.ok(
        wait.ts >= first.ts + first.dur && wait.ts + wait.dur <= second.ts,
        JSON.stringify([first, wait, second]),
      );
      assert.ok(first.dur >= patience.timeout * 1_000);
    }
    // A damaged tarball ends the install whatever else is under way.
    const events = trace('given-up', { 'bad-integrity': '1', 'old-shasum': '1' }, { '.npmrc': '' });
    assert.deepEqual(endings(events, 'tarball', 'old-shasum'), ['abandoned']);
  });

  test('lacks documents of versions is asked for one in vain once', async (context) => {
    await control(registry, 'POST', 'faults', { path: '/*/1.*', kind: 'status', status: 404 });
    const workspace = new Workspace(context, registry);
    const asked = async (name) => {
      await control(registry, 'POST', 'reset');
      const project = workspace.project(name, needing({ dependencies: { [name]: '1' } }));
      workspace.gantry('install', '--prefix', project, '--lockfile-only').succeeded();
      const { license } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')).packages[
        `node_modules/${name}`
      ];
      const { versions, full_packuments: full } = await control(registry, 'GET', 'stats');
      return { license, versions, full };
    };
    assert.deepEqual(await asked('left'), { license: 'MIT', versions: 1, full: 1 });
    // The registry is the same in the next run, and another package.
    assert.deepEqual(await asked('right'), { license: 'ISC', versions: 0, full: 1 });
  });

  for (const kind of ['hang-before-headers', 'reset', 'hang-in-body']) {
    test(`lets packuments pass and no documents of versions (${kind}) has all packages in the lock`, async (context) => {
      await control(registry, 'POST', 'faults', { path: '/*/1.*', kind, after: 10 });
      const workspace = new Workspace(context, registry);
      const fields = { dependencies: { right: '1.0.0' }, optionalDependencies: { executable: '1.0.0' } };
      const { project, run, elapsed } = started(workspace, 'project', fields);
      run.succeeded();
      assert.deepEqual(
        run.lines.filter(({ type }) => type === 'warning'),
        [],
      );
      const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
      const names = ['', 'node_modules/executable', 'node_modules/left', 'node_modules/right'];
      assert.deepEqual(Object.keys(packages), names);
      // Each once at most, however many documents of versions there are.
      assert.ok(elapsed < 2 * patience.timeout + 10_000, `${elapsed} ms`);
    });
  }

  test('lacks an optional package for once has the user told that the lock is without it', async (context) => {
    await control(registry, 'POST', 'faults', { path: '/executable$', kind: 'status', status: 503 });
    const workspace = new Workspace(context, registry);
    const fields = { dependencies: { right: '1' }, optionalDependencies: { executable: '1', 'never-published': '1' } };
    const { project, run } = started(workspace, 'project', fields);
    const warnings = run.succeeded().lines.filter(({ type }) => type === 'warning');
    assert.deepEqual(
      warnings.map(({ code, message }) => [code, message.split(':')[0]]),
      [['REGISTRY_STATUS', 'optional executable left out of the lock']],
    );
    assert.ok(!readFileSync(join(project, 'package-lock.json'), 'utf8').includes('node_modules/executable'));
  });

  for (const status of [500, 404]) {
    test(`answers ${status} for what is in a cycle with what is installed`, async (context) => {
      const versions = { '1.0.0': { dependencies: { around: '*' } }, '1.1.0': { dependencies: { around: '*' } } };
      const faulty = await new FaultyRegistry().start({
        around: { tags: { latest: '1.0.0' }, versions: { '1.0.0': { dependencies: { turning: '*' } } } },
        turning: { tags: { latest: '1.1.0' }, versions },
      });
      context.after(() => faulty.stop());
      const workspace = new Workspace(context, faulty.url);
      const project = workspace.project('project', {
        'package.json': { name: 'project', dependencies: { around: '1' } },
        '.npmrc': 'fetch-retries=0\n',
      });
      const run = (...words) => runCommand(project, workspace.environment, { words });
      assert.equal((await run('install')).status, 0);
      const texts = () =>
        ['package.json', 'package-lock.json'].map((file) => readFileSync(join(project, file), 'utf8'));
      const before = texts();
      faulty.fail({ kind: 'status', status }, 1);
      const { status: ended, lines } = await run('install', 'turning@1.0.0');
      if (status === 404) {
        // As npm: it ends well, without the package.
        assert.equal(ended, 0);
        assert.ok(!existsSync(join(project, 'node_modules', 'turning')));
        return;
      }
      assert.equal(ended, 3);
      assert.deepEqual([lines.at(-1).code, lines.at(-1).package], ['REGISTRY_STATUS', 'turning']);
      assert.deepEqual(texts(), before);
      assert.ok(existsSync(join(project, 'node_modules', 'turning')));
    });
  }

  test('throttles everything once is asked for all of it again, when it says, and no more', async (context) => {
    const recording = await startRegistry(context);
    const manifest = readFileSync(join(projectsFolder, 'express', 'package.json'), 'utf8');
    const workspace = new Workspace(context, recording);
    delete workspace.environment.npm_config_fetch_retries;
    const install = async (name) => {
      await control(recording, 'POST', 'reset');
      const project = workspace.project(name, { 'package.json': manifest, '.npmrc': 'fetch-retries=1\n' });
      workspace.gantry('install', '--prefix', project, '--store-dir', join(workspace.folder, name)).succeeded();
      return { project, ...(await control(recording, 'GET', 'stats?log')) };
    };
    const calm = await install('calm');
    const paths = [...new Set(calm.log.map(({ path }) => path))];
    const throttle = { kind: 'status', status: 429, retry_after: '1', count: 1 };
    await control(
      recording,
      'POST',
      'faults',
      paths.map((path) => ({ path: `${path}$`, ...throttle })),
    );
    const storm = await install('storm');
    assert.equal(storm.faults, paths.length);
    assert.equal(storm.requests, calm.requests + paths.length);
    const lock = ({ project }) => readFileSync(join(project, 'package-lock.json'), 'utf8');
    assert.equal(lock(storm), lock(calm));
  });

  test('is not asked more at once than maxsockets allows', async (context) => {
    await control(registry, 'POST', 'faults', { path: '/*', kind: 'delay', ms: 20 });
    for (const [most, expected] of [
      ['maxsockets=1\n', 1],
      ['maxsockets=2\n', 2],
      ['maxsockets=18446744073709551615\n', 100],
      ['', 3],
    ]) {
      await control(registry, 'POST', 'reset');
      const workspace = new Workspace(context, registry);
      const dependencies = { left: '1', right: '1', executable: '1', deprecated: '1', 'old-shasum': '1' };
      const project = workspace.project('project', { ...needing({ dependencies }), '.npmrc': most });
      workspace.gantry('install', '--prefix', project).succeeded();
      const { max_in_flight: inFlight } = await control(registry, 'GET', 'stats');
      assert.ok(most ? inFlight <= expected : inFlight >= expected, `${inFlight} with ${most}`);
    }
  });

  test('sends elsewhere is followed, and credentials stay behind', async (context) => {
    const elsewhere = await startRegistry(context, '--fixtures', 'basic');
    await control(registry, 'POST', 'faults', { path: '/left$', kind: 'redirect', to: `${elsewhere}left` });
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', {
      ...needing({ dependencies: { left: '1' } }),
      '.npmrc': `${patient}//${new URL(registry).host}/:_authToken=secret\n`,
    });
    workspace.gantry('install', '--prefix', project, '--json').succeeded();
    assert.ok(existsSync(join(project, 'node_modules', 'left', 'index.js')));
    const asked = async (address) => (await control(address, 'GET', 'stats?log')).log.map((entry) => entry.authorized);
    // The document that comes from there names tarballs of there.
    assert.deepEqual(await asked(registry), [true]);
    assert.deepEqual(await asked(elsewhere), [false, false]);
  });
});
