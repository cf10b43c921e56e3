/** The package in Firefox, driven over WebDriver BiDi: the same lock and tree as the native command's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import type * as exporters from '../../web/src/export.js';
import type { Project } from '../../web/src/index.js';
import { runSuite, SUITES } from './support/conformance.js';
import { bundleForWorkers } from './support/consumers.js';
import { installReact, launchFirefox, runReact } from './support/firefox.js';
import { expect, test } from './support/fixtures.js';
import { evaluateInWorker } from './support/in-worker.js';
import { installNatively } from './support/native.js';
import {
  archiveDigest,
  installAndLeaveOpen,
  installForReading,
  readWholeTree,
  runWithPackage,
  untilControlled,
} from './support/page-scripts.js';
import { inRoot, packageFolder } from './support/paths.js';
import { ANSWERS, readAll, readBesideInstalls } from './support/reading.js';

let browser: Browser;

test.beforeAll(async () => {
  browser = await launchFirefox();
});

test.afterAll(() => browser?.close());

test('Firefox: the lock and the tree are those of the native command, and a second install asks nothing', async ({
  site,
  recording,
}) => {
  const packageJson = readFileSync(inRoot('tests', 'projects', 'react', 'package.json'), 'utf8');
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  await recording.reset();
  const install = (manifest: string, registry: string) =>
    page.evaluate(
      async (text, url) => {
        const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
        const gantry = await Gantry.open({ registry: url });
        try {
          const project = await gantry.install({ packageJson: text });
          return { lockfile: project.lockfile as string, digest: (await project.treeDigest()) as string };
        } finally {
          await gantry.close();
        }
      },
      manifest,
      registry,
    );
  const first = await install(packageJson, recording.url);
  const native = installNatively(packageJson, recording.url);
  expect(first.lockfile).toBe(native.lockfile);
  expect(first.digest).toBe(native.digest);
  await recording.reset();
  expect(await install(packageJson, recording.url)).toEqual(first);
  expect(await recording.requests()).toBe(0);
});

test('Firefox: the playground installs React and shows its component', async ({ site, recording }) => {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument((url) => {
    if (self === top) localStorage.setItem('gantry:registry', url);
  }, recording.url);
  await installReact(page, site.url);
  await runReact(page);
  await page.close();
});

test('Firefox: a page that is reloaded while its store is open gets it again every time', async ({
  site,
  fixtures,
}) => {
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  for (let time = 0; time < 25; time++) {
    expect(await page.evaluate(installAndLeaveOpen, fixtures.url)).toBe(1);
    await page.reload();
  }
  await page.close();
});

test('Firefox: a worker reads a project by itself, synchronously, also beside installs', async ({ site, fixtures }) => {
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  await page.evaluate(installForReading, fixtures.url);
  expect(await page.evaluate(evaluateInWorker, readAll)).toMatchObject({ ...ANSWERS, method: 'snapshots' });
  const beside = [readBesideInstalls.toString(), fixtures.url] as const;
  const result = (await page.evaluate(runWithPackage, beside)) as Awaited<ReturnType<typeof readBesideInstalls>>;
  expect(result.during).toEqual(['module.exports = "left 1.0.0"\n']);
  expect(result.seen[3]).toMatchObject({ text: 'module.exports = "left 1.1.0"\n' });
  expect(result.cleared).toEqual(['STORE_LOCKED', 'done']);
  await page.close();
});

test('Firefox: a page reads a whole tree by itself', async ({ site, recording }) => {
  const packageJson = readFileSync(inRoot('tests', 'projects', 'express', 'package.json'), 'utf8');
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  const { installed, ...read } = await page.evaluate(readWholeTree, [packageJson, recording.url] as const);
  expect(read).toEqual({ digest: installed, refused: 1, different: [], isWhole: true });
  await page.close();
});

test('Firefox: the package works from another origin than its page’s', async ({ site, cdn, fixtures }) => {
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  const listed = await page.evaluate(
    async (from, registry) => {
      const { Gantry } = await import(`${from}/package/dist/index.js`);
      const gantry = await Gantry.open({ registry, store: 'elsewhere' });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const names = await project.fs.readdir('/node_modules/left');
      await gantry.close();
      return names;
    },
    cdn.url,
    fixtures.url,
  );
  expect(listed).toEqual(['index.js', 'lib', 'package.json']);
  await page.close();
});

test('Firefox: a service worker that is bundled serves files of a tree', async ({ site, fixtures }) => {
  const worker = readFileSync(inRoot('tests', 'browser', 'pages', 'tree-worker.js'), 'utf8');
  const read = join(packageFolder, 'dist', 'read.js');
  await bundleForWorkers('service', worker.replace("'/package/dist/read.js'", JSON.stringify(read)));
  site.pages.set('/tree-service.js', "importScripts('/consumers/service.js');");
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  await page.evaluate(installForReading, fixtures.url);
  await page.evaluate(() => navigator.serviceWorker.register('/tree-service.js').then(() => undefined));
  await page.evaluate(untilControlled);
  const texts = await page.evaluate(async () => {
    const text = async (path: string) => (await fetch(path)).text();
    return [await text('/tree/node_modules/left/index.js'), await text('/names/node_modules/left')];
  });
  expect(texts).toEqual(['module.exports = "left 1.1.0"\n', '["index.js","lib","package.json"]']);
  await page.evaluate(async () => {
    for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
  });
  await page.close();
});

test('Firefox: a tree leaves as an archive and as files in OPFS', async ({ site, recording, blank }) => {
  const packageJson = readFileSync(inRoot('tests', 'projects', 'express', 'package.json'), 'utf8');
  const page = await browser.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  const result = await page.evaluate(
    async (text, registry, small) => {
      const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
      const { toTar, writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const gantry = await Gantry.open({ registry, store: 'exported' });
      const project = (await gantry.install({ packageJson: text })) as Project;
      const bytes = await new Response(toTar(project) as BodyInit).arrayBuffer();
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
      const root = await navigator.storage.getDirectory();
      const directory = await root.getDirectoryHandle('copy', { create: true });
      // A few files only: writing one takes Firefox some ten milliseconds.
      const few = (await gantry.install({ packageJson: small, project: 'few' })) as Project;
      const { skipped, ...report } = await writeDirectory(few, directory);
      let different = 0;
      let files = 0;
      const walk = async (handle: FileSystemDirectoryHandle, path: string): Promise<void> => {
        for await (const [name, entry] of handle.entries()) {
          if (entry.kind === 'directory') await walk(entry as FileSystemDirectoryHandle, `${path}/${name}`);
          else {
            files++;
            const copy = new Uint8Array(await (await (entry as FileSystemFileHandle).getFile()).arrayBuffer());
            const own = await few.fs.readFile(`${path}/${name}`);
            if (own.length !== copy.length || !own.every((byte, at) => byte === copy[at])) different++;
          }
        }
      };
      await walk(directory, '');
      await gantry.close();
      await root.removeEntry('copy', { recursive: true });
      return { hash: [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join(''), report, different, files };
    },
    packageJson,
    recording.url,
    JSON.stringify({ name: 'few', dependencies: { picocolors: '^1.1.1' } }),
  );
  expect(result.different).toBe(0);
  expect(result.report).toMatchObject({ files: result.files, method: 'access handles' });
  expect(result.files).toBeGreaterThan(5);
  await page.close();
  // The very bytes that Chromium makes.
  expect(await blank.evaluate(archiveDigest, [packageJson, recording.url] as const)).toBe(result.hash);
});

for (const suite of SUITES) {
  test(`Firefox: ${suite}: every property of the platform holds`, async ({ site, fixtures }) => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/pages/blank.html`);
    const { report, problem } = await page.evaluate(runSuite, [suite, fixtures.url] as const);
    expect(problem).toBeUndefined();
    expect(report).toContain('ok ');
    await page.close();
  });
}
