/**
 * The package in WebKit, the engine of Safari. WebKitGTK has nothing behind its access handles, so the site keeps what is
 * stored (support/storage-stand-in.ts); everything else is WebKit's own: modules, workers, locks, requests, streams, WebAssembly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSuite, SUITES } from './support/conformance.js';
import { expect, test } from './support/fixtures.js';
import { evaluateInWorker } from './support/in-worker.js';
import { installNatively } from './support/native.js';
import {
  archiveDigest,
  installAndLeaveOpen,
  installForReading,
  readWholeTree,
  runWithPackage,
} from './support/page-scripts.js';
import { inRoot, siteFolder } from './support/paths.js';
import { ANSWERS, readAll, readBesideInstalls } from './support/reading.js';
import type { Site } from './support/site.js';
import { StorageStandIn } from './support/storage-stand-in.js';
import { WebKit } from './support/webkit.js';

const path = process.env.GANTRY_WEBKIT;
const packageJson = readFileSync(inRoot('tests', 'projects', 'react', 'package.json'), 'utf8');

let webkit: WebKit;
let storage: StorageStandIn | undefined;

test.beforeAll(async () => {
  if (!path) throw new Error('there is no WebKit: name the MiniBrowser of WebKitGTK in GANTRY_WEBKIT');
  webkit = await WebKit.start(path);
});

test.beforeEach(({ site }) => {
  storage = new StorageStandIn(site);
});

test.afterEach(() => storage?.stop());

test.afterAll(() => webkit?.stop());

/** A page of the site that has done nothing yet, with storage. */
async function blankPage(site: Site): Promise<void> {
  await webkit.goto(`${site.url}/pages/blank.html`);
  await withStorage();
}

/** For a page that comes after another: what that had open is closed. */
async function withStorage(): Promise<void> {
  storage?.closeHandles();
  await besideOthers();
}

async function besideOthers(): Promise<void> {
  await webkit.evaluate(() => import(`${location.origin}/pages/storage-stand-in.js`).then(() => undefined));
}

const install = ([text, registry]: readonly [string, string]) =>
  (async () => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    try {
      const project = await gantry.install({ packageJson: text });
      const { damaged, packages } = await gantry.verify();
      return {
        lockfile: project.lockfile as string,
        digest: (await project.treeDigest()) as string,
        stored: { damaged, packages },
      };
    } finally {
      await gantry.close();
    }
  })();

test('WebKit: the lock and the tree are those of the native command, and a second install asks nothing', async ({
  site,
  recording,
}) => {
  await blankPage(site);
  await recording.reset();
  const first = await webkit.evaluate(install, [packageJson, recording.url] as const);
  const native = installNatively(packageJson, recording.url);
  expect(first.lockfile).toBe(native.lockfile);
  expect(first.digest).toBe(native.digest);
  expect(first.stored.damaged).toEqual([]);
  expect(first.stored.packages).toBeGreaterThan(20);
  await recording.reset();
  await webkit.reload();
  await withStorage();
  expect(await webkit.evaluate(install, [packageJson, recording.url] as const)).toEqual(first);
  expect(await recording.requests()).toBe(0);
});

test('WebKit: without access handles opening says so', async ({ site, fixtures }) => {
  await webkit.goto(`${site.url}/pages/blank.html`);
  const error = await webkit.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    return Gantry.open({ registry }).then(
      () => undefined,
      ({ code, message }: { code: string; message: string }) => ({ code, message }),
    );
  }, fixtures.url);
  expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});

test('WebKit: a page that is reloaded while its store is open gets it again every time', async ({ site, fixtures }) => {
  await blankPage(site);
  for (let time = 0; time < 10; time++) {
    expect(await webkit.evaluate(installAndLeaveOpen, fixtures.url)).toBe(1);
    await webkit.reload();
    await withStorage();
  }
});

test('WebKit: a worker reads a project by itself, synchronously, also beside installs', async ({ site, fixtures }) => {
  await blankPage(site);
  await webkit.evaluate(installForReading, fixtures.url);
  // Answers come as JSON.
  const expected = JSON.parse(JSON.stringify({ ...ANSWERS, method: 'snapshots' }));
  expect(await webkit.evaluate(evaluateInWorker, readAll)).toMatchObject(expected);
  const beside = [readBesideInstalls.toString(), fixtures.url] as const;
  const result = (await webkit.evaluate(runWithPackage, beside)) as Awaited<ReturnType<typeof readBesideInstalls>>;
  expect(result.during).toEqual(['module.exports = "left 1.0.0"\n']);
  expect(result.seen[3]).toMatchObject({ text: 'module.exports = "left 1.1.0"\n' });
  expect(result.cleared).toEqual(['STORE_LOCKED', 'done']);
});

test('WebKit: a page reads a whole tree by itself', async ({ site, recording }) => {
  await blankPage(site);
  const { installed, ...read } = await webkit.evaluate(readWholeTree, [packageJson, recording.url] as const);
  expect(read).toEqual({ digest: installed, refused: 1, different: [], isWhole: true });
});

test('WebKit: a tree leaves as an archive, the very bytes that Chromium makes', async ({ site, recording, blank }) => {
  await blankPage(site);
  const hash = await webkit.evaluate(archiveDigest, [packageJson, recording.url] as const);
  expect(hash).toBe(await blank.evaluate(archiveDigest, [packageJson, recording.url] as const));
});

test('WebKit: a tab waits for the store while another has it, and gets it when that is closed', async ({
  site,
  fixtures,
}) => {
  await blankPage(site);
  const first = await webkit.currentTab();
  await webkit.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
  }, fixtures.url);
  const ofFirst = storage?.handles;
  const second = await webkit.newTab();
  await webkit.goto(`${site.url}/pages/blank.html`);
  await besideOthers();
  await webkit.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const page = globalThis as unknown as { waited: number; packages?: number; reused?: number };
    page.waited = 0;
    const install = async () => {
      const gantry = await Gantry.open({ registry, onWaiting: () => page.waited++ });
      const packageJson = { dependencies: { left: '1.1.0', right: '1.0.0' } };
      const { packages, reused } = await gantry.install({ packageJson });
      Object.assign(page, { packages, reused });
    };
    void install();
  }, fixtures.url);
  await webkit.until(() => (globalThis as unknown as { waited: number }).waited);
  await webkit.closeTab(first);
  // The first may have let go of the store when it was asked, and the second have files of it open.
  storage?.closeHandles(ofFirst);
  await webkit.switchTo(second);
  await webkit.until(() => (globalThis as unknown as { packages?: number }).packages);
  const { waited, packages, reused } = await webkit.evaluate(() => {
    const { waited, packages, reused } = globalThis as unknown as Record<'waited' | 'packages' | 'reused', number>;
    return { waited, packages, reused };
  });
  expect({ waited, packages, reused }).toEqual({ waited: 1, packages: 2, reused: 1 });
});

test('WebKit: the playground installs React and shows its component', async ({ site, recording }) => {
  const page = readFileSync(join(siteFolder, 'index.html'), 'utf8');
  const address = '/with-storage.html';
  const storageFirst = '<head><script type="module" src="/pages/storage-stand-in.js"></script>';
  site.pages.set(address, page.replace('<head>', storageFirst));
  try {
    await blankPage(site);
    await webkit.evaluate((url) => localStorage.setItem('gantry:registry', url), recording.url);
    await webkit.goto(`${site.url}${address}?project=react`);
    const click = async (button: string) => {
      await webkit.until(`() => Boolean(document.querySelector('[data-testid=${button}]:not(:disabled)'))`);
      await webkit.evaluate((name) => document.querySelector<HTMLElement>(`[data-testid=${name}]`)?.click(), button);
    };
    await click('install-button');
    await webkit.until("() => Boolean(document.querySelector('[data-testid=done]'))");
    await click('run-button');
    await webkit.until("() => Boolean(document.querySelector('iframe.frame'))");
    await webkit.enterFrame('iframe.frame');
    await webkit.until("() => document.querySelector('#root')?.textContent?.includes('Rendered by React 19.')");
  } finally {
    site.pages.delete(address);
  }
});

// Without `mirror`, which is about storage: its many small writes, each a request here, would take most of a minute.
for (const suite of SUITES.filter((suite) => suite !== 'mirror')) {
  test(`WebKit: ${suite}: every property of the platform holds`, async ({ site, fixtures }) => {
    await blankPage(site);
    const { report, problem } = await webkit.evaluate(runSuite, [suite, fixtures.url] as const);
    const lines = (report ?? problem ?? '').trim().split('\n');
    // WebKitGTK's network library hands on a body that it cannot decode as it is; what reads it finds that out.
    const isKnown = (line: string) => line.startsWith('FAILED  a body whose encoding is damaged:');
    expect(lines.filter((line) => !line.startsWith('ok ') && !isKnown(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(1);
  });
}
