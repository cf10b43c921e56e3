// Documents whose addresses of tarballs say who may have them: npm writes those into its lock as they are, and so must
// gantry, whose lock is the same; nowhere else is a password to be seen.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Pair } from './lib/pair.mjs';
import { Workspace } from './lib/programs.mjs';

let registry;
let server;
before(async () => {
  const script = fileURLToPath(new URL('./lib/naming-registry.mjs', import.meta.url));
  server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(server.stdout, 'data');
  registry = String(line).trim();
});
after(() => server.kill());

describe('credentials in the address of a tarball', () => {
  test('are in the lock as npm has them, and are shown to the registry as npm shows them', async (context) => {
    const pair = new Pair(context, registry, {
      'package.json': { name: 'project', version: '1.0.0', dependencies: { here: '1' } },
    });
    pair.same('first');
    const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    assert.deepEqual(await (await fetch(`${registry}asked`)).json(), [basic, basic]);
    for (const folder of pair.folders) {
      assert.match(readFileSync(`${folder}/package-lock.json`, 'utf8'), /me:secret@/);
    }
  });

  test('are in nothing that is said, neither of a success nor of a failure', (context) => {
    const workspace = new Workspace(context, registry);
    for (const [name, isFine] of [
      ['here', true],
      ['gone', false],
    ]) {
      for (const words of [[], ['--json'], ['--timing'], ['--json', '--timing']]) {
        const project = workspace.project(`${name}${words.join('')}`, {
          'package.json': { name: 'project', dependencies: { [name]: '1' } },
        });
        const run = workspace.gantryIn(project, 'install', '--store-dir', `${project}/store`, ...words);
        assert.equal(run.status === 0, isFine, run.stderr);
        // Long lines are broken for a terminal, with a bar before what follows.
        const said = (run.stdout + run.stderr).replace(/[\s│]+/g, '');
        assert.ok(said.length > 0 && !said.includes('secret'), said);
        if (!isFine) assert.match(said, /127\.0\.0\.1:\d+\/gone\/-\/gone-1\.0\.0\.tgz/);
      }
    }
  });
});

describe('escapes in the user name and the password of an address', () => {
  const who = ['user%40corp:pa%20ss%21%3A', 'm\u00fc%3Ab:p%2F+%25', ':secret'];
  const basic = (text) => `Basic ${Buffer.from(text).toString('base64')}`;
  const within = (address, user) => address.replace('//', `//${user}@`);
  const said = async () => (await fetch(`${registry}said`)).json();

  /** What gantry and what npm say of who asks, by the path that is asked for. */
  async function saidByBoth(context, spec, environment) {
    const manifest = { name: 'project', version: '1.0.0', dependencies: { open: spec } };
    const pair = new Pair(context, registry, { 'package.json': manifest });
    Object.assign(pair.workspace.environment, environment);
    const [ours, theirs] = pair.folders;
    await said();
    pair.workspace.gantryIn(ours, 'install').succeeded();
    const byGantry = await said();
    pair.workspace.npm(theirs, 'install').succeeded();
    const lock = (folder) => readFileSync(`${folder}/package-lock.json`, 'utf8');
    assert.equal(lock(ours), lock(theirs));
    return [byGantry, await said()];
  }

  test('stay as they are for a registry', async (context) => {
    for (const user of who) {
      const [ours, theirs] = await saidByBoth(context, '1', { npm_config_registry: within(registry, user) });
      const document = (requests) => requests.find(({ path }) => path === 'open');
      assert.deepEqual(document(ours), document(theirs));
      assert.equal(document(ours).authorization, basic(encodeURI(user).replaceAll('%25', '%')));
    }
  });

  test('stay as they are for a tarball', async (context) => {
    for (const user of who) {
      const [ours, theirs] = await saidByBoth(context, `${within(registry, user)}open/-/open-1.0.0.tgz`, {});
      assert.deepEqual(ours, theirs);
      assert.equal(ours[0].authorization, basic(encodeURI(user).replaceAll('%25', '%')));
    }
  });

  test('are resolved for a proxy', async (context) => {
    for (const user of who) {
      const environment = { npm_config_registry: 'http://far.example/', npm_config_proxy: within(registry, user) };
      const [ours, theirs] = await saidByBoth(context, '1', environment);
      assert.deepEqual(ours, theirs);
      assert.equal(ours[0].proxy, basic(decodeURIComponent(user)));
    }
  });
});
