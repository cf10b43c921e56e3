// A registry that hangs, lies, breaks off, throttles or sends elsewhere: each ends in the documented way and within its
// time, and what else is under way goes on.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { control, registryForSuite, startRegistry, Workspace } from './lib/programs.mjs';

const TIMEOUT = 300;
const patience = `fetch-timeout=${TIMEOUT}\nfetch-retries=1\nfetch-retry-mintimeout=1\nfetch-retry-maxtimeout=2\n`;
const faultOf = (path) => (what, code, asked, fault) => ({ what, code, asked, path, ...fault });
const document = faultOf('/old-shasum$');
const tarball = faultOf('/old-shasum/-/*');

/** What the registry does, the error, and how often it is asked for that: what may be different later is tried again. */
const cases = [
  document('hangs before the headers of a document', 'REGISTRY_TIMEOUT', 2, { kind: 'hang-before-headers' }),
  document('hangs in a document', 'REGISTRY_TIMEOUT', 2, { kind: 'hang-in-body', after: 30 }),
  document('resets in a document', 'REGISTRY_UNREACHABLE', 2, { kind: 'reset', after: 30 }),
  document('closes in a document', 'REGISTRY_UNREACHABLE', 2, { kind: 'close', after: 30 }),
  document('sends half a document, compressed', 'REGISTRY_UNREACHABLE', 2, { kind: 'truncate', after: 30 }),
  document('announces a document too long', 'REGISTRY_UNREACHABLE', 2, { kind: 'wrong-length', by: 10 }),
  document('sends garbage as gzip', 'REGISTRY_UNREACHABLE', 2, { kind: 'gzip-garbage' }),
  document('sends a page instead of a document', 'REGISTRY_PACKUMENT', 1, { kind: 'html', status: 200 }),
  document('throttles for ever', 'REGISTRY_STATUS', 2, { kind: 'status', status: 429, retry_after: '0' }),
  document('redirects in circles', 'REGISTRY_UNREACHABLE', 21, { kind: 'redirect' }),
  document('nests 10,000 arrays', 'REGISTRY_PACKUMENT', 1, { kind: 'deep-json', depth: 10_000 }),
  document('sends 200 MB that are none', 'REGISTRY_PACKUMENT', 1, { kind: 'huge', bytes: 200e6 }),
  tarball('hangs before the headers of a tarball', 'REGISTRY_TIMEOUT', 2, { kind: 'hang-before-headers' }),
  tarball('hangs in a tarball', 'REGISTRY_TIMEOUT', 2, { kind: 'hang-in-body', after: 20 }),
  tarball('resets in a tarball', 'REGISTRY_UNREACHABLE', 2, { kind: 'reset', after: 20 }),
  tarball('sends half a tarball', 'ARCHIVE_INTEGRITY', 2, { kind: 'truncate', after: 20 }),
  tarball('announces a tarball too long', 'REGISTRY_UNREACHABLE', 2, { kind: 'wrong-length', by: 10 }),
  tarball('sends a page instead of a tarball', 'ARCHIVE_INTEGRITY', 2, { kind: 'html', status: 200 }),
  tarball('throttles tarballs', 'REGISTRY_STATUS', 2, { kind: 'status', status: 429, retry_after: '0' }),
  tarball('redirects a tarball in circles', 'REGISTRY_UNREACHABLE', 21, { kind: 'redirect' }),
];

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
    '.npmrc': patience,
  });
  const started = (workspace, fields, ...words) => {
    delete workspace.environment.npm_config_fetch_retries;
    const project = workspace.project('project', needing(fields));
    const begun = performance.now();
    const run = workspace.gantry('install', '--prefix', project, '--json', ...words);
    return { project, run, elapsed: performance.now() - begun };
  };

  for (const { what, code, asked, ...fault } of cases) {
    test(what, async (context) => {
      await control(registry, 'POST', 'faults', fault);
      const workspace = new Workspace(context, registry);
      const { run, elapsed } = started(workspace, { dependencies: { 'old-shasum': '1' } });
      const error = run.lines.at(-1);
      assert.deepEqual(
        [error.type, error.code, error.package?.split('@')[0]],
        ['error', code, 'old-shasum'],
        run.stdout,
      );
      assert.ok(elapsed < asked * TIMEOUT + 3_000, `${elapsed} ms`);
      const { log } = await control(registry, 'GET', 'stats?log');
      const pattern = new RegExp(`^${fault.path.replace('*', '.*')}`);
      assert.equal(log.filter(({ path }) => pattern.test(path)).length, asked);

      // What may be missing holds nothing up; but nobody passes over a tarball that is not what was promised.
      const { project, run: optional } = started(workspace, {
        dependencies: { right: '1' },
        optionalDependencies: { 'old-shasum': '1' },
      });
      if (code === 'ARCHIVE_INTEGRITY') {
        assert.equal(optional.lines.at(-1).code, code);
        return;
      }
      optional.succeeded();
      assert.ok(existsSync(join(project, 'node_modules', 'right', 'cli.js')));
      assert.ok(!existsSync(join(project, 'node_modules', 'old-shasum')));
    });
  }

  test('is not asked more at once than maxsockets allows', async (context) => {
    await control(registry, 'POST', 'faults', { path: '/*', kind: 'delay', ms: 20 });
    for (const [most, expected] of [
      ['maxsockets=2\n', 2],
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

  test('is slow but goes on is waited for', async (context) => {
    // Longer than the time-out in all, never without progress for as long.
    for (const path of ['/old-shasum$', '/old-shasum/-/*']) {
      await control(registry, 'POST', 'faults', { path, kind: 'drip', bytes: 40, every_ms: TIMEOUT / 6 });
    }
    const { project, run, elapsed } = started(new Workspace(context, registry), {
      dependencies: { 'old-shasum': '1' },
    });
    run.succeeded();
    assert.ok(existsSync(join(project, 'node_modules', 'old-shasum')));
    assert.ok(elapsed > TIMEOUT, `${elapsed} ms`);
  });

  test('sends elsewhere is followed, and credentials stay behind', async (context) => {
    const elsewhere = await startRegistry(context, '--fixtures', 'basic');
    await control(registry, 'POST', 'faults', { path: '/left$', kind: 'redirect', to: `${elsewhere}left` });
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', {
      ...needing({ dependencies: { left: '1' } }),
      '.npmrc': `${patience}//${new URL(registry).host}/:_authToken=secret\n`,
    });
    workspace.gantry('install', '--prefix', project, '--json').succeeded();
    assert.ok(existsSync(join(project, 'node_modules', 'left', 'index.js')));
    const asked = async (address) => (await control(address, 'GET', 'stats?log')).log.map((entry) => entry.authorized);
    // The document that comes from there names tarballs of there.
    assert.deepEqual(await asked(registry), [true]);
    assert.deepEqual(await asked(elsewhere), [false, false]);
  });
});
