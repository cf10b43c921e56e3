// What is kept of a registry's documents: which requests it saves, and what --offline and its sisters make of it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gantryCommand, startRegistry, Workspace } from './lib/programs.mjs';

const manifest = {
  'package.json': { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '^1.0.0', right: '1' } },
};

describe('metadata that is kept', { concurrency: 1 }, () => {
  let registry;
  // Said here and not in `before`: what a hook registers for later is done when the hook ends.
  const atTheEnd = [];
  after(() => atTheEnd.forEach((action) => void action()));
  before(async () => {
    registry = await startRegistry({ after: (action) => atTheEnd.push(action) }, '--fixtures', 'basic');
  });

  const control = async (action, method) => (await fetch(`${registry}-/gantry/${action}`, { method })).json();
  const counts = () => control('stats', 'GET');
  const reset = () => control('reset', 'POST');
  const lockOf = (project) => readFileSync(join(project, 'package-lock.json'), 'utf8');
  const forget = (project) => {
    for (const name of ['package-lock.json', 'node_modules'])
      rmSync(join(project, name), { recursive: true, force: true });
  };

  /** A project that was resolved once, and the lock that came of it. */
  function resolved(context) {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest);
    workspace.gantry('install', '--lockfile-only', '--prefix', project).succeeded();
    const lock = lockOf(project);
    forget(project);
    return { workspace, project, lock };
  }

  test('fresh metadata costs no request, and the lock is the same', async (context) => {
    const { workspace, project, lock } = resolved(context);
    await reset();
    const result = workspace.gantry('install', '--lockfile-only', '--json', '--prefix', project).succeeded();
    assert.equal(result.lines.at(-1).requests, 0);
    assert.equal((await counts()).requests, 0);
    assert.equal(lockOf(project), lock);
  });

  test('an install after an install asks for nothing, with neither lock nor tree', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest);
    workspace.gantry('install', '--prefix', project).succeeded();
    forget(project);
    await reset();
    workspace.gantry('install', '--prefix', project).succeeded();
    assert.equal((await counts()).requests, 0);
    assert.ok(existsSync(join(project, 'node_modules', 'right', 'package.json')));
  });

  for (const [how, setUp] of [
    ['--prefer-online', () => ['--prefer-online']],
    [
      'prefer-online in .npmrc',
      (project) => {
        writeFileSync(join(project, '.npmrc'), 'prefer-online=true\n');
        return [];
      },
    ],
  ]) {
    test(`${how} asks on condition, and everything is answered 304`, async (context) => {
      const { workspace, project, lock } = resolved(context);
      const words = setUp(project);
      await reset();
      workspace.gantry('install', '--lockfile-only', '--prefix', project, ...words).succeeded();
      const { requests, not_modified } = await counts();
      assert.ok(requests > 0);
      assert.equal(requests, not_modified);
      assert.equal(lockOf(project), lock);
    });
  }

  test('--offline installs what is in the store', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest);
    workspace.gantry('install', '--prefix', project).succeeded();
    const lock = lockOf(project);
    forget(project);
    await reset();
    workspace.gantry('install', '--offline', '--prefix', project).succeeded();
    assert.equal((await counts()).requests, 0);
    assert.equal(lockOf(project), lock);
  });

  test('--offline with nothing kept fails, says what is missing and what to do', async (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', manifest);
    await reset();
    const result = workspace.gantry('install', '--offline', '--json', '--prefix', project);
    assert.equal(result.status, 3);
    const { code, package: name, hint } = result.lines.at(-1);
    assert.equal(code, 'REGISTRY_NOT_CACHED');
    assert.ok(['@scope/middle', 'right'].includes(name));
    assert.match(hint, /network/);
    assert.equal((await counts()).requests, 0);
    assert.deepEqual(readdirSync(project), ['package.json']);
  });

  test('--prefer-offline asks only for what is not kept', async (context) => {
    const { workspace, project } = resolved(context);
    const another = workspace.project('another', {
      'package.json': { name: 'another', dependencies: { right: '1', executable: '1' } },
    });
    await reset();
    workspace.gantry('install', '--lockfile-only', '--prefer-offline', '--prefix', another).succeeded();
    const { abbreviated_packuments } = await counts();
    assert.equal(abbreviated_packuments, 1);
    assert.ok(!existsSync(join(project, 'package-lock.json')));
  });

  test('a registry that cannot be reached is a warning where its documents are kept', (context) => {
    const { workspace, project, lock } = resolved(context);
    const { hostname, port } = new URL(registry);
    // The same registry to the mirror, and a proxy that nobody answers at.
    workspace.environment.npm_config_proxy = `http://${hostname}:1/`;
    assert.notEqual(port, '1');
    const words = ['install', '--lockfile-only', '--prefer-online', '--prefix', project];
    const { stderr } = workspace.gantry(...words).succeeded();
    assert.match(stderr, /REGISTRY_STALE/);
    assert.equal(lockOf(project), lock);
  });

  test('a request without an answer among others is made again, and then concerns one document alone', async (context) => {
    const { workspace, project, lock } = resolved(context);
    delete workspace.environment.npm_config_fetch_retries;
    const patience = 'fetch-timeout=500\nfetch-retries=1\nfetch-retry-mintimeout=1\nfetch-retry-maxtimeout=2\n';
    writeFileSync(join(project, '.npmrc'), `prefer-online=true\n${patience}`);
    const npm = workspace.project('npm', { ...manifest, '.npmrc': `prefer-online=true\n${patience}` });
    workspace.npm(npm, 'install', '--package-lock-only').succeeded();
    assert.equal(lockOf(npm), lock);
    context.after(() => control('faults', 'DELETE'));
    const asked = async (count) => {
      await control('faults', 'DELETE');
      await control('reset', 'POST');
      const fault = { path: '/right$', kind: 'hang-before-headers', ...count };
      await fetch(`${registry}-/gantry/faults`, { method: 'POST', body: JSON.stringify([fault]) });
      forget(project);
      const { lines } = workspace.gantry('install', '--lockfile-only', '--json', '--prefix', project).succeeded();
      assert.equal(lockOf(project), lock);
      const { log } = await control('stats?log', 'GET');
      const times = (path) => log.filter((entry) => entry.path === path).length;
      const stale = lines.filter(({ code }) => code === 'REGISTRY_STALE').map(({ message }) => message);
      return { right: times('/right'), others: times('/@scope/middle') + times('/left'), stale };
    };
    assert.deepEqual(await asked({ count: 1 }), { right: 2, others: 2, stale: [] });
    const { right, others, stale } = await asked({});
    assert.deepEqual([right, others, stale.length], [2, 2, 1]);
    assert.match(stale[0], /kept of right are used/);
    forget(npm);
    workspace.npm(npm, 'install', '--package-lock-only').succeeded();
    assert.equal(lockOf(npm), lock);
  });

  test('two processes at once both succeed, and what they leave is whole', async (context) => {
    const { workspace, lock } = resolved(context);
    const projects = ['one', 'two', 'three'].map((name) => workspace.project(name, manifest));
    rmSync(join(workspace.folder, 'store'), { recursive: true });
    const statuses = await Promise.all(
      projects.map((project) => {
        const words = ['install', '--lockfile-only', '--prefix', project];
        const child = spawn(gantryCommand, words, { env: workspace.environment, stdio: 'ignore' });
        return new Promise((settle) => child.on('exit', settle));
      }),
    );
    assert.deepEqual(statuses, [0, 0, 0]);
    const entries = (text) => JSON.parse(text).packages['node_modules/right'];
    for (const project of projects) {
      assert.deepEqual(entries(lockOf(project)), entries(lock));
      forget(project);
    }
    // Whoever could not write kept nothing; asking once more fills what is missing.
    workspace.gantry('install', '--lockfile-only', '--prefix', projects[0]).succeeded();
    forget(projects[0]);
    await reset();
    workspace.gantry('install', '--lockfile-only', '--prefix', projects[0]).succeeded();
    assert.equal((await counts()).requests, 0);
  });
});
