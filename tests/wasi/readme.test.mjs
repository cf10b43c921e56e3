// The example of the README runs as it stands there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startRegistry } from '../cli/lib/programs.mjs';
import { module, underNode } from './lib/hosts.mjs';
import { Prepared } from './lib/projects.mjs';

test('the host in the README installs a project', async (context) => {
  const registry = await startRegistry(context, '--fixtures', 'basic');
  const prepared = new Prepared(context, registry, {
    'package.json': { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '^1.0.0' } },
  });
  const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const [, example] = /^## Under WASI$.*?^```js\n(.*?)^```$/ms.exec(readme) ?? [];
  assert.ok(example, 'there is an example');
  const cwd = join(prepared.folder, 'host');
  mkdirSync(join(cwd, 'web', 'wasi'), { recursive: true });
  writeFileSync(join(cwd, 'host.mjs'), example);
  symlinkSync(module, join(cwd, 'web', 'wasi', 'gantry.wasm'));

  const project = prepared.fresh();
  const [major] = process.versions.node.split('.').map(Number);
  const switches = major < 22 ? ['--no-turbo-fast-api-calls'] : [];
  // Not waited for as `spawnSync` does: the registry is a child of this process.
  const child = spawn(process.execPath, [...switches, 'host.mjs', project], { cwd, stdio: 'inherit' });
  const status = await new Promise((settle) => child.on('exit', settle));
  assert.equal(status, 0);
  const folders = { '/project': project, '/store': join(cwd, 'store') };
  const digest = await underNode(['digest', '--prefix', '/project'], folders);
  assert.equal(digest.succeeded().stdout.trim(), prepared.digest);
});
