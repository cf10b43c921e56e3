/** A page installs a project with workspaces, a linked folder and a tarball of its own: what the command makes of it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './support/fixtures.js';
import { installNatively } from './support/native.js';

const manifests = {
  'package.json': {
    name: 'root',
    version: '1.0.0',
    workspaces: ['apps/*', 'libs/*'],
    dependencies: { left: '1.1.0', packed: 'file:vendor/packed.tgz' },
  },
  'apps/web/package.json': {
    name: 'web',
    version: '1.0.0',
    dependencies: { left: '1.0.0', '@team/kit': '^1.0.0', helper: 'file:../../helper' },
  },
  'libs/kit/package.json': { name: '@team/kit', version: '1.2.0', bin: 'kit.js', dependencies: { right: '1' } },
  'helper/package.json': { name: 'helper', version: '0.1.0', dependencies: { '@scope/middle': '1' } },
};

/** A package packed by npm. */
function packed(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-packed-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'packed', version: '3.0.0', license: 'MIT' }));
    writeFileSync(join(folder, 'index.js'), 'module.exports = "packed"\n');
    execFileSync('npm', ['pack', '--silent'], { cwd: folder });
    return readFileSync(join(folder, 'packed-3.0.0.tgz'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('lock and tree are those of the command', async ({ blank, fixtures }) => {
  const tarball = packed();
  const { 'package.json': root, ...others } = manifests;
  const texts = Object.entries(others).map(([path, manifest]) => [path, JSON.stringify(manifest)]);
  const { lockfile, digest } = installNatively(JSON.stringify(root, undefined, 2), fixtures.url, {
    ...Object.fromEntries(texts),
    'libs/kit/kit.js': '#!/usr/bin/env node\n',
    'vendor/packed.tgz': tarball,
  });

  const made = await blank.evaluate(
    async ({ registry, manifests, tarball }) => {
      const { Gantry } = await import('/package/dist/index.js' as string);
      const gantry = await Gantry.open({ registry });
      const { 'package.json': packageJson, ...others } = manifests;
      const texts = Object.entries(others).map(([path, manifest]) => [path, JSON.stringify(manifest)]);
      const files = { ...Object.fromEntries(texts), './vendor/packed.tgz': new Uint8Array(tarball) };
      const install = (lockfile?: string) => gantry.install({ project: 'root', packageJson, files, lockfile });
      const project = await install();
      const again = await install(project.lockfile);
      const read = (path: string) => project.fs.readFile(path, 'utf8');
      return {
        lockfile: project.lockfile,
        again: again.lockfile,
        digest: await project.treeDigest(),
        link: (await project.fs.lstat('node_modules/@team/kit')).isSymbolicLink(),
        nested: await read('apps/web/node_modules/left/index.js'),
        packed: await read('node_modules/packed/index.js'),
      };
    },
    { registry: fixtures.url, manifests, tarball: [...tarball] },
  );
  expect(made.lockfile).toBe(lockfile);
  expect(made.again).toBe(lockfile);
  expect(made.digest).toBe(digest);
  expect(made.link).toBe(true);
  expect(made.nested).toContain('left 1.0.0');
  expect(made.packed).toContain('packed');
});

test('a tarball that the page does not hand over is named', async ({ blank, fixtures }) => {
  const code = await blank.evaluate(async (registry) => {
    const { Gantry } = await import('/package/dist/index.js' as string);
    const gantry = await Gantry.open({ registry });
    const packageJson = { dependencies: { packed: 'file:packed.tgz' } };
    return gantry.install({ packageJson }).then(
      () => 'none',
      (error: { code: string }) => error.code,
    );
  }, fixtures.url);
  expect(code).toBe('TARBALL_MISSING');
});
