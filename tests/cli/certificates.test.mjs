// Registries that want to know who asks: client certificates, beside npm.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { registryForSuite, temporaryFolder, Workspace } from './lib/programs.mjs';

describe('client certificates', { concurrency: 1 }, () => {
  const folder = temporaryFolder({ after });
  let registry;
  registryForSuite(
    (url) => {
      registry = url;
    },
    ...['--fixtures', 'basic', '--tls', '--certificate', join(folder, 'authority.pem')],
    ...['--require-client-certificate', folder],
  );

  const trust = () => `cafile=${join(folder, 'authority.pem')}\nfetch-retries=0\n`;
  const place = () => registry.replace('https:', '');
  const files = (certificate = 'client.pem', key = 'client-key.pem') =>
    `${place()}:certfile=${join(folder, certificate)}\n${place()}:keyfile=${join(folder, key)}\n`;
  const inline = (name) => readFileSync(join(folder, name), 'utf8').trim().replaceAll('\n', '\\n');
  const readLock = (project) => readFileSync(join(project, 'package-lock.json'), 'utf8');
  const package_json = { name: 'project', version: '1.0.0', dependencies: { right: '1' } };

  test("are shown from files and from settings, and the lock is npm's", (context) => {
    const workspace = new Workspace(context, registry);
    const settings = {
      files: files(),
      'files, whoever the server is': `strict-ssl=false\n${files()}`,
      settings: `cert="${inline('client.pem')}"\nkey="${inline('client-key.pem')}"\n`,
    };
    for (const [name, npmrc] of Object.entries(settings)) {
      const [ours, theirs] = ['ours', 'theirs'].map((side) =>
        workspace.project(`${side} ${name}`, { 'package.json': package_json, '.npmrc': trust() + npmrc }),
      );
      workspace.gantry('install', '--prefix', ours, '--prefer-online').succeeded();
      workspace.npm(theirs, 'install', '--ignore-scripts').succeeded();
      assert.equal(readLock(ours), readLock(theirs), name);
      const digests = [ours, theirs].map((project) => workspace.gantry('digest', '--prefix', project).stdout);
      assert.equal(digests[0], digests[1], name);
    }
  });

  test("documents that a certificate was given are nobody else's", (context) => {
    const workspace = new Workspace(context, registry);
    const project = (name, npmrc) =>
      workspace.project(name, { 'package.json': package_json, '.npmrc': trust() + npmrc });
    workspace.gantry('install', '--prefix', project('known', files())).succeeded();
    workspace.gantry('install', '--prefix', project('again', files()), '--offline').succeeded();
    const { status, lines } = workspace.gantry('install', '--prefix', project('unknown', ''), '--offline', '--json');
    assert.deepEqual([status, lines.at(-1).code], [3, 'REGISTRY_NOT_CACHED']);
  });

  test('without one, or where a file is missing, the registry says so', (context) => {
    const workspace = new Workspace(context, registry);
    const elsewhere = `//registry.test/:certfile=${join(folder, 'client.pem')}\n//registry.test/:keyfile=${join(folder, 'client-key.pem')}\n`;
    for (const npmrc of ['', elsewhere, files('client.pem', 'missing.pem')]) {
      const project = workspace.project('project', { 'package.json': package_json, '.npmrc': trust() + npmrc });
      const { status, lines } = workspace.gantry('install', '--prefix', project, '--json');
      const error = lines.at(-1);
      assert.deepEqual([status, error.code], [3, 'REGISTRY_UNREACHABLE'], npmrc);
      const warnings = lines.filter(
        ({ code, message }) => code === 'CONFIG_INVALID' && message.includes('missing.pem'),
      );
      assert.equal(warnings.length, npmrc.includes('missing') ? 1 : 0);
      assert.ok(!existsSync(join(project, 'node_modules')));
    }
  });

  test('that cannot be used are errors that name the setting and show no key', (context) => {
    const workspace = new Workspace(context, registry);
    const key = readFileSync(join(folder, 'client-key.pem'), 'utf8');
    writeFileSync(join(folder, 'empty.pem'), '');
    writeFileSync(join(folder, 'damaged.pem'), key.replace(/[A-Za-z]{4}/, '!!!!'));
    const cases = {
      certfile: files('empty.pem'),
      'empty.pem': files('client.pem', 'empty.pem').replace(/keyfile=.*/, `keyfile=${join(folder, 'empty.pem')}`),
      'damaged.pem': files('client.pem', 'damaged.pem'),
      'cert:': `cert="nothing"\nkey="${inline('client-key.pem')}"\n`,
      'cert and key': `key="${inline('client-key.pem')}"\n`,
    };
    for (const [name, npmrc] of Object.entries(cases)) {
      const project = workspace.project('project', { 'package.json': package_json, '.npmrc': trust() + npmrc });
      const { status, stdout, lines } = workspace.gantry('install', '--prefix', project, '--json');
      assert.deepEqual([status, lines.at(-1).code], [1, 'CONFIG_INVALID'], name);
      assert.ok(lines.at(-1).message.includes(name), lines.at(-1).message);
      for (const line of key.split('\n').slice(1, -2)) assert.ok(!stdout.includes(line), name);
      assert.deepEqual(readdirSync(project).sort(), ['.npmrc', 'package.json'], name);
    }
  });
});
