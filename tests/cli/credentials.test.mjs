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

describe('credentials in the address of a tarball', () => {
  let registry;
  let server;
  before(async () => {
    const script = fileURLToPath(new URL('./lib/naming-registry.mjs', import.meta.url));
    server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout, 'data');
    registry = String(line).trim();
  });
  after(() => server.kill());

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
