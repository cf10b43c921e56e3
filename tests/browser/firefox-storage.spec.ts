/** What Firefox keeps: tabs that install at once, a browser that is killed in the midst, private windows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import type { Gantry, GantryError } from '../../web/src/index.js';
import { lookIntoStorage, useForEverything } from './support/every-use.js';
import { installReact, launchFirefox, runReact } from './support/firefox.js';
import { expect, test } from './support/fixtures.js';
import type { PackageModule } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';
import { Registry } from './support/registry.js';

const PROJECTS = [
  { express: '^5.3.0', zod: '^4.6.0' },
  { react: '^19.3.0', lodash: '^4.18.0' },
  // Equal to the first.
  { express: '^5.3.0', zod: '^4.6.0' },
  { express: '^5.3.0', react: '^19.3.0' },
];
/** Parts of the time that an install takes. */
const MOMENTS = [0.1, 0.4, 0.7, 0.95];

/** Opens the store, waiting for its turn, installs, and lets go of it. */
async function installInTurn(registry: string, project: string, text: string) {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const gantry = await Gantry.open({ registry, timeout: 120_000 });
  const installed = await gantry.install({ project, packageJson: { name: 'project', dependencies: JSON.parse(text) } });
  const result = { digest: await installed.treeDigest(), packages: installed.packages, reused: installed.reused };
  await gantry.close();
  return result;
}

/** Digests of projects, and what is damaged. */
async function look(registry: string, text: string) {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const gantry = await Gantry.open({ registry, timeout: 120_000 });
  const digests: (string | undefined)[] = [];
  for (const name of JSON.parse(text)) digests.push(await (await gantry.project(name))?.treeDigest());
  const { damaged, projects, packages } = await gantry.verify();
  await gantry.close();
  return { digests, damaged, broken: projects, packages };
}

for (const count of [2, 4]) {
  test(`Firefox: ${count} tabs that install at once get theirs, and one copy of each package is stored`, async ({
    site,
    recording,
  }) => {
    const browser = await launchFirefox();
    try {
      const pages: Page[] = [];
      for (let tab = 0; tab < count; tab++) {
        const page = await browser.newPage();
        await page.goto(`${site.url}/pages/blank.html`);
        pages.push(page);
      }
      const installed = await Promise.all(
        pages.map((page, tab) =>
          page.evaluate(installInTurn, recording.url, `project-${tab}`, JSON.stringify(PROJECTS[tab])),
        ),
      );
      const names = JSON.stringify(installed.map((_, tab) => `project-${tab}`));
      const found = await (pages[0] as Page).evaluate(look, recording.url, names);
      expect(found).toMatchObject({ digests: installed.map(({ digest }) => digest), damaged: [], broken: [] });
      const fetched = installed.reduce((sum, { packages, reused }) => sum + packages - reused, 0);
      expect(found.packages).toBe(fetched);
      if (count === 4) expect(installed[2]?.digest).toBe(installed[0]?.digest);
    } finally {
      await browser.close();
    }
  });
}

test('Firefox: what was reported outlives a browser that is killed in the midst of the next install', async ({
  site,
}) => {
  test.setTimeout(300_000);
  const registry = await Registry.start('--latency', '10');
  const profile = mkdtempSync(join(tmpdir(), 'gantry-firefox-'));
  const open = async () => {
    const browser = await launchFirefox({ userDataDir: profile });
    const page = await browser.newPage();
    await page.goto(`${site.url}/pages/blank.html`);
    return { browser, page };
  };
  const [kept, next] = [JSON.stringify(PROJECTS[1]), JSON.stringify(PROJECTS[0])];
  try {
    let { browser, page } = await open();
    const { digest } = await page.evaluate(installInTurn, registry.url, 'kept', kept);
    const began = Date.now();
    const expected = (await page.evaluate(installInTurn, registry.url, 'next', next)).digest;
    const duration = Date.now() - began;
    for (const moment of MOMENTS) {
      await page.evaluate(async (url) => {
        const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
        const gantry = await Gantry.open({ registry: url, timeout: 120_000 });
        await gantry.removeProject('next');
        await gantry.prune();
        Object.assign(globalThis, { gantry });
      }, registry.url);
      // Until it is killed.
      page
        .evaluate(async (text) => {
          const { gantry } = globalThis as unknown as { gantry: Gantry };
          await gantry.install({ project: 'next', packageJson: { name: 'project', dependencies: JSON.parse(text) } });
        }, next)
        .catch(() => {});
      await new Promise((resume) => setTimeout(resume, moment * duration));
      browser.process()?.kill('SIGKILL');
      // Until what drives it has put the profile's preferences back.
      await browser.close().catch(() => {});
      ({ browser, page } = await open());
      const found = await page.evaluate(look, registry.url, JSON.stringify(['kept', 'next']));
      expect(found, `after ${moment}`).toMatchObject({ damaged: [], broken: [] });
      expect(found.digests[0]).toBe(digest);
      expect([undefined, expected]).toContain(found.digests[1]);
      const again = await page.evaluate(installInTurn, registry.url, 'next', next);
      expect(again.digest, `after ${moment}`).toBe(expected);
    }
    await browser.close();
  } finally {
    registry.stop();
    rmSync(profile, { recursive: true, force: true });
  }
});

test.describe('Firefox: in a private window', () => {
  let browser: Browser;

  test.beforeAll(async () => {
    browser = await launchFirefox({ extraPrefsFirefox: { 'browser.privatebrowsing.autostart': true } });
  });

  test.afterAll(() => browser?.close());

  test('there is no storage, and that is said', async ({ site, recording }) => {
    const page = await browser.newPage();
    await page.goto(`${site.url}/pages/blank.html`);
    const refused = await page.evaluate(async (registry) => {
      const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
      const said = ({ code, hint }: GantryError) => ({ code, hint });
      return [await Gantry.open({ registry }).catch(said), await Gantry.remove().catch(said)];
    }, recording.url);
    const opened = inWorker(({ openProject }) =>
      openProject().then(
        () => ({ code: 'opened', hint: '' }),
        ({ code, hint }) => ({ code, hint }),
      ),
    );
    refused.push(await page.evaluate(evaluateInWorker<(typeof refused)[0]>, opened));
    const hint = expect.stringMatching(/private windows.*storage: 'memory'/);
    expect(refused).toEqual(Array.from({ length: 3 }, () => ({ code: 'STORAGE_UNAVAILABLE', hint })));
    await page.close();
  });

  test('everything works in memory as it does in OPFS elsewhere', async ({ blank, site, recording }) => {
    const inFiles = await blank.evaluate(useForEverything, ['opfs', recording.url] as const);
    const page = await browser.newPage();
    await page.goto(`${site.url}/pages/blank.html`);
    expect(await page.evaluate(lookIntoStorage)).toBe('refused');
    const inMemory = await page.evaluate(useForEverything, ['memory', recording.url] as const);
    expect(inMemory.same).toEqual(inFiles.same);
    expect(inMemory.storage).toMatchObject({ kind: 'memory', quota: 'Infinity', persisted: false });
    await page.close();
  });

  test('the playground says that it keeps nothing, installs React and shows its component', async ({
    site,
    recording,
  }) => {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument((url) => {
      if (self === top) localStorage.setItem('gantry:registry', url);
    }, recording.url);
    await installReact(page, site.url);
    const notice = await page.waitForSelector('[data-testid=in-memory]');
    expect(await notice?.evaluate((element) => element.textContent)).toContain('gone when you leave the page');
    await runReact(page);
    await page.close();
  });
});
