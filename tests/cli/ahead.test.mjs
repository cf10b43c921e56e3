// Packuments that are asked for before anybody needs them: over a network, and never to anybody's harm.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { control, projectsFolder, registryForSuite, startRegistry, Workspace } from './lib/programs.mjs';

const LATENCY = 40;

describe('packuments asked for ahead', { concurrency: 1 }, () => {
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    '--latency',
    `${LATENCY}`,
  );
  beforeEach(async () => {
    await control(registry, 'DELETE', 'faults');
    await control(registry, 'POST', 'reset');
  });

  const needing = (fields) => ({ 'package.json': { name: 'project', version: '1.0.0', ...fields } });
  const asked = async () => (await control(registry, 'GET', 'stats?log')).log;
  /** The one request for a package's packument. */
  const request = (log, name) => {
    const [found, ...others] = log.filter(({ path }) => path === `/${name}`);
    assert.deepEqual(others, [], `${name} is asked for once`);
    return found;
  };
  const installed = (workspace, project, ...words) =>
    workspace.gantry('install', '--lockfile-only', '--json', '--prefix', project, ...words).succeeded();

  test('what lies levels below is asked for while the first packument is on its way', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needing({ dependencies: { express: '^5.0.0' } }));
    await control(registry, 'POST', 'faults', [{ path: '/express$', kind: 'delay', ms: 1500 }]);
    installed(workspace, project);

    const log = await asked();
    const express = request(log, 'express');
    const answered = express.started_microseconds + express.microseconds;
    for (const name of ['accepts', 'mime-db', 'side-channel', 'call-bind-apply-helpers', 'function-bind']) {
      assert.ok(request(log, name).started_microseconds < answered, `${name} is asked for before express is there`);
    }
  });

  test('the lock is that of a registry that is near', async (context) => {
    const near = new Workspace(context, await startRegistry(context));
    const far = new Workspace(context, registry);
    for (const name of ['express', 'react', 'svelte']) {
      const manifest = readFileSync(join(projectsFolder, name, 'package.json'));
      const [here, there] = [near, far].map((workspace) => {
        const project = workspace.project(name, { 'package.json': manifest });
        installed(workspace, project);
        return readFileSync(join(project, 'package-lock.json'), 'utf8').replaceAll(workspace.registry, '');
      });
      assert.equal(there, here, name);
    }
  });

  test('nobody waits for what turns out not to be needed, or hears of its failure', async (context) => {
    const workspace = new Workspace(context, registry);
    const dependencies = { express: '^5.0.0' };
    const overrides = { accepts: 'npm:once@^1.4.0', qs: 'npm:once@^1.4.0', debug: 'npm:once@^1.4.0' };
    const project = workspace.project('project', needing({ dependencies, overrides }));
    await control(registry, 'POST', 'faults', [
      { path: '/accepts$', kind: 'hang-before-headers' },
      { path: '/qs$', kind: 'status', status: 500 },
      { path: '/debug$', kind: 'html' },
    ]);
    const { lines } = installed(workspace, project);

    const log = await asked();
    for (const name of ['accepts', 'qs', 'debug']) {
      assert.ok(
        log.some(({ path }) => path === `/${name}`),
        `${name} is foretold`,
      );
    }
    assert.deepEqual(
      lines.filter(({ type }) => type === 'warning'),
      [],
    );
  });

  test('a failure of what is needed is told as ever', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needing({ dependencies: { express: '^5.0.0' } }));
    await control(registry, 'POST', 'faults', [
      { path: '/express$', kind: 'delay', ms: 500 },
      { path: '/ms$', kind: 'status', status: 403 },
    ]);
    const run = workspace.gantry('install', '--lockfile-only', '--json', '--prefix', project);
    assert.notEqual(run.status, 0);
    const error = run.lines.at(-1);
    assert.equal(error.code, 'REGISTRY_UNAUTHORIZED');
    assert.match(error.message, /\bms\b/);
  });

  test('with a lock only what is new is asked for', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', needing({ dependencies: { express: '^5.0.0' } }));
    installed(workspace, project);
    await control(registry, 'POST', 'reset');
    // It needs nothing but what express has brought.
    workspace.gantryIn(project, 'install', '--lockfile-only', 'finalhandler', '--prefer-online').succeeded();
    const names = (await asked()).filter(({ kind }) => kind.endsWith('packument')).map(({ path }) => path);
    assert.deepEqual([...new Set(names)], ['/finalhandler']);
  });
});
