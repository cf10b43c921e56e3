// Proxies that cannot be used: they stop what would be asked through them, and nothing else, as with npm.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fixturesForSuite, registryForSuite, temporaryFolder, Workspace } from './lib/programs.mjs';

describe('a proxy that cannot be used', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const folder = temporaryFolder({ after });
  const certificate = join(folder, 'authority.pem');
  let safe;
  registryForSuite(
    (url) => {
      safe = url;
    },
    ...['--fixtures', 'basic', '--tls', '--certificate', certificate],
  );
  const package_json = { name: 'project', version: '1.0.0', dependencies: { left: '1' } };

  /** What gantry says in the end where both programs fail, and nothing where both succeed. */
  function told(context, { registry, npmrc = '', environment = {} }) {
    const workspace = new Workspace(context, registry);
    Object.assign(workspace.environment, environment);
    const files = { 'package.json': package_json, '.npmrc': `cafile=${certificate}\n${npmrc}` };
    const [ours, theirs] = ['ours', 'theirs'].map((side) => workspace.project(side, files));
    const run = workspace.gantry('install', '--prefix', ours, '--json');
    const npm = workspace.npm(theirs, 'install');
    assert.equal(run.status === 0, npm.status === 0, `${run.stdout}\n${npm.stderr}`);
    assert.equal(existsSync(join(ours, 'node_modules', 'left', 'package.json')), run.status === 0);
    assert.doesNotMatch(run.stdout + run.stderr, /secret/);
    return run.status === 0 ? undefined : { status: run.status, ...run.lines.at(-1) };
  }

  for (const [what, npmrc, environment, name] of [
    ['without a scheme', '', { http_proxy: 'proxy.test:3128' }, 'proxy.test:3128'],
    ['that is an address without a scheme', '', { HTTPS_PROXY: '127.0.0.1:1' }, '127.0.0.1:1'],
    ['without a scheme, from a file', 'proxy=proxy.test:3128\n', {}, 'proxy.test:3128'],
    ['of another scheme', 'https-proxy=gopher://me:secret@proxy.test\n', {}, 'proxy.test'],
    ['that is a word', '', { PROXY: 'stray' }, 'stray'],
  ]) {
    test(`${what} is an error of who is asked through it`, (context) => {
      const error = told(context, { registry: suite.registry, npmrc, environment });
      assert.deepEqual([error?.status, error?.code], [3, 'REGISTRY_PROXY']);
      assert.ok(error.message.includes(name) && error.hint.includes('https-proxy'), JSON.stringify(error));
    });
  }

  test('is nothing to who is asked directly', (context) => {
    const { hostname } = new URL(suite.registry);
    for (const environment of [{ http_proxy: 'proxy.test:3128' }, { PROXY: 'stray' }]) {
      assert.equal(told(context, { registry: safe, environment }), undefined);
    }
    const environment = { http_proxy: 'proxy.test:3128', no_proxy: hostname };
    assert.equal(told(context, { registry: suite.registry, environment }), undefined);
    const npmrc = `https-proxy=gopher://me:secret@proxy.test\nnoproxy=${hostname}\n`;
    assert.equal(told(context, { registry: suite.registry, npmrc }), undefined);
  });

  test('is nothing to an install that asks nobody', (context) => {
    const workspace = new Workspace(context, suite.registry);
    const install = (name, ...words) =>
      workspace.gantry('install', '--prefix', workspace.project(name, { 'package.json': package_json }), ...words);
    install('first').succeeded();
    workspace.environment.https_proxy = 'proxy.test:3128';
    install('second', '--offline').succeeded();
    install('third').succeeded();
  });
});
