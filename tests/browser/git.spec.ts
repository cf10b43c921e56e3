/** A page has no git: it takes the archive of a known host that allows its origin, and else says what is in the way. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';

/** An archive as hosts make it, and the commit that it is of. */
function archive(): { commit: string; body: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-git-'));
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@test', ...words], { cwd: folder });
  try {
    git('init', '--quiet');
    const manifest = { name: 'tool', version: '1.2.3', files: ['lib'], dependencies: { left: '1.0.0' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'left-out.js'), '');
    execFileSync('mkdir', [join(folder, 'lib')]);
    writeFileSync(join(folder, 'lib', 'index.js'), 'module.exports = "from git"\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    return {
      commit: git('rev-parse', 'HEAD').toString().trim(),
      body: git('archive', '--format=tar.gz', '--prefix=someone-tool/', 'HEAD'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Stands in for a host that gives archives to pages; tells which were asked for. */
async function serveArchive(page: Page) {
  const { commit, body } = archive();
  const asked: string[] = [];
  await page.context().route('https://codeload.github.com/**', async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    await route.fulfill({ body, headers: { 'access-control-allow-origin': '*', 'content-type': 'application/gzip' } });
  });
  await page.context().route('https://github.com/**', (route) => route.abort());
  return { commit, asked };
}

test('a repository is added by its address alone, and its archive fetched once', async ({ blank, fixtures }) => {
  const { commit, asked } = await serveArchive(blank);
  const [packageJson, resolved] = await blank.evaluate(async (registry) => {
    const { Gantry } = await import('/package/dist/index.js' as string);
    const gantry = await Gantry.open({ registry });
    const project = await gantry.install({ packageJson: '{}', add: ['someone/tool#main'] });
    return [project.packageJson, JSON.parse(project.lockfile).packages['node_modules/tool'].resolved];
  }, fixtures.url);
  expect(packageJson).toBe('{\n  "dependencies": {\n    "tool": "github:someone/tool#main"\n  }\n}\n');
  expect(resolved).toBe(`git+ssh://git@github.com/someone/tool.git#${commit}`);
  expect(asked).toEqual(['/someone/tool/tar.gz/main']);
});

test('an archive that may be read is installed, by branch or by commit', async ({ blank, fixtures }) => {
  const { commit, asked } = await serveArchive(blank);
  const made = await blank.evaluate(async (registry) => {
    const { Gantry } = await import('/package/dist/index.js' as string);
    const gantry = await Gantry.open({ registry });
    const packageJson = { name: 'root', version: '1.0.0', dependencies: { tool: 'someone/tool#main' } };
    const project = await gantry.install({ project: 'root', packageJson });
    const again = await gantry.install({ project: 'other', packageJson, lockfile: project.lockfile, frozen: true });
    return {
      lock: JSON.parse(project.lockfile).packages['node_modules/tool'],
      files: await again.fs.readdir('node_modules/tool'),
      text: await again.fs.readFile('node_modules/tool/lib/index.js', 'utf8'),
    };
  }, fixtures.url);
  expect(made.lock.resolved).toBe(`git+ssh://git@github.com/someone/tool.git#${commit}`);
  expect(made.lock.version).toBe('1.2.3');
  expect(made.files).toEqual(['lib', 'package.json']);
  expect(made.text).toBe('module.exports = "from git"\n');
  expect(asked).toEqual(['/someone/tool/tar.gz/main']);
});

test('a host that does not allow the page is named, with what to do', async ({ blank, fixtures }) => {
  await blank.context().route('https://*.github.com/**', (route) => route.abort());
  await blank.context().route('https://github.com/**', (route) => route.abort());
  const failures = await blank.evaluate(async (registry) => {
    const { Gantry } = await import('/package/dist/index.js' as string);
    const gantry = await Gantry.open({ registry, fetchRetries: 0 });
    const failures: { code: string; hint: string; package: string }[] = [];
    for (const tool of ['someone/tool', 'git+ssh://git@host.test/someone/tool.git']) {
      const packageJson = { name: 'root', version: '1.0.0', dependencies: { tool } };
      const error = await gantry.install({ project: 'root', packageJson }).catch((caught: Error) => caught);
      const { code, hint, package: concerned } = error as unknown as (typeof failures)[number];
      failures.push({ code, hint, package: concerned });
    }
    return failures;
  }, fixtures.url);
  expect(failures.map(({ code }) => code)).toEqual(['REGISTRY_UNREACHABLE', 'GIT_MISSING']);
  for (const failure of failures) {
    expect(failure.package).toBe('tool');
    expect(failure.hint).toContain('CORS');
  }
});
