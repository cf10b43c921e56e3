/** Pages and frames to which Chromium gives no storage, and mostly no locks either: a store in memory works there. */
import type { Frame, Page } from '@playwright/test';
import type * as exporters from '../../web/src/export.js';
import type { Gantry, GantryError } from '../../web/src/index.js';
import { test as base, expect } from './support/fixtures.js';
import type { PackageModule } from './support/in-page.js';
import { Profile } from './support/profile.js';
import type { Site } from './support/site.js';

const FRAMED = '/framed';

/** Chromium as somebody has set it who wants no cookies: `all`, or none of other sites. */
const test = base.extend<{ blocked: 'all' | 'of other sites'; guarded: Page }>({
  blocked: ['of other sites', { option: true }],
  guarded: async ({ blocked, playwright, launchOptions, contextOptions }, use) => {
    const preferences =
      blocked === 'all'
        ? { default_content_setting_values: { cookies: 2 } }
        : { block_third_party_cookies: true, cookie_controls_mode: 1 };
    // Only Chromium with windows heeds preferences.
    const executablePath = launchOptions.executablePath?.replace(/-headless-shell$/, '');
    const options = { ...launchOptions, ...contextOptions, ...(executablePath && { executablePath }) };
    const profile = new Profile(playwright, options, { profile: preferences });
    try {
      await use(await (await profile.open()).newPage());
    } finally {
      await profile.remove();
    }
  },
});

/** What a page gets, with and without asking for memory. `site` has the package. */
async function tryBoth([site, registry]: readonly [string, string]) {
  const { Gantry } = (await import(`${site}/package/dist/index.js`)) as PackageModule;
  const { toTar } = (await import(`${site}/package/dist/export.js`)) as typeof exporters;
  const locks = await (async () => navigator.locks.request('lock', () => 'granted'))().catch(() => 'refused');
  const refused = await Gantry.open({ registry }).then(
    () => undefined,
    ({ code, hint }: GantryError) => ({ code, hint }),
  );
  const gantry = await Gantry.open({ registry, storage: 'memory' });
  const packageJson = { dependencies: { left: '1.0.0', executable: '1.0.0' } };
  const project = await gantry.install({ packageJson });
  const heard = new Promise<string[]>((resolve) => project.onDidChange(({ replaced }) => resolve([...replaced])));
  const again = await gantry.install({ packageJson });
  const other = await gantry.install({ packageJson: { dependencies: { ...packageJson.dependencies, left: '1.1.0' } } });
  const result = {
    locks,
    refused,
    requests: again.requests,
    text: await other.fs.readFile('node_modules/left/index.js', 'utf8'),
    heard: await heard,
    archive: (await new Response(toTar(other) as BodyInit).arrayBuffer()).byteLength > 2000,
    verified: await gantry.verify(),
    persisted: await gantry.persist(),
    pruned: (await gantry.prune()).packages,
  };
  await gantry.close();
  return result;
}

const WORKS = {
  locks: 'refused',
  refused: { code: 'STORAGE_UNAVAILABLE', hint: expect.stringContaining("storage: 'memory'") },
  requests: 0,
  text: 'module.exports = "left 1.1.0"\n',
  heard: ['node_modules/left'],
  archive: true,
  verified: expect.objectContaining({ packages: 3, damaged: [], projects: [] }),
  persisted: false,
  pruned: 1,
};

async function frameIn(page: Page, address: string, frame: string): Promise<Frame> {
  await page.goto(address);
  const attached = page.waitForEvent('frameattached');
  await page.evaluate((html) => {
    document.body.innerHTML = html;
  }, frame);
  const framed = await attached;
  await framed.waitForLoadState();
  return framed;
}

async function sandboxedFrame(page: Page, site: Site): Promise<Frame> {
  site.pages.set(FRAMED, '<!doctype html><title>framed</title>');
  const frame = await frameIn(
    page,
    `${site.url}/pages/blank.html`,
    `<iframe sandbox="allow-scripts" src="${FRAMED}"></iframe>`,
  );
  expect(await frame.evaluate(() => self.origin)).toBe('null');
  return frame;
}

/** Has a store in memory open in `frame`, whose `page` has a clock that stands still, until its worker ends. */
async function missWorker(page: Page, frame: Frame, addresses: readonly [string, string]): Promise<void> {
  await frame.evaluate(async ([site, registry]) => {
    const { Gantry } = (await import(`${site}/package/dist/index.js`)) as PackageModule;
    Object.assign(globalThis, { gantry: await Gantry.open({ registry, storage: 'memory' }) });
  }, addresses);
  const projects = () =>
    frame.evaluate(() => {
      const { gantry } = globalThis as unknown as { gantry: Gantry };
      return gantry.projects().catch(({ code }: GantryError) => code);
    });
  // Longer than a worker may be silent: it answers by its own time.
  for (let times = 0; times < 8; times++) {
    await page.clock.runFor(15_000);
    expect(await projects()).toEqual([]);
  }
  // What a frozen page does not see of the time passes at once.
  await page.clock.fastForward(3_600_000);
  expect(await projects()).toEqual([]);
  const coordinator = page
    .workers()
    .find((worker) => worker.url().startsWith('blob:') || worker.url().endsWith('/coordinator.js'));
  await coordinator?.evaluate(() => self.close());
  const lost = projects();
  await page.clock.runFor(120_000);
  expect(await lost).toBe('WORKER_LOST');
}

test('in a frame of another site whose storage is blocked', async ({ guarded, site, fixtures }) => {
  const elsewhere = site.url.replace('127.0.0.1', 'localhost');
  const source = `${elsewhere}/pages/blank.html`;
  const frame = await frameIn(guarded, `${site.url}/pages/blank.html`, `<iframe src="${source}"></iframe>`);
  expect(await frame.evaluate(tryBoth, [elsewhere, fixtures.url] as const)).toEqual(WORKS);
});

test('in a sandboxed frame without an origin', async ({ page, site, fixtures }) => {
  const frame = await sandboxedFrame(page, site);
  expect(await frame.evaluate(tryBoth, [site.url, fixtures.url] as const)).toEqual(WORKS);
});

test('in a page without a secure context', async ({ page, site, fixtures }) => {
  const address = `http://insecure.test:${new URL(site.url).port}`;
  await page.goto(`${address}/pages/blank.html`);
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  expect(await page.evaluate(tryBoth, [address, fixtures.url] as const)).toEqual(WORKS);
});

test.describe('where everything is blocked', () => {
  test.use({ blocked: 'all' });

  test('in a page', async ({ guarded, site, fixtures }) => {
    await guarded.goto(`${site.url}/pages/blank.html`);
    expect(await guarded.evaluate(tryBoth, [site.url, fixtures.url] as const)).toEqual(WORKS);
  });

  test('in a page a worker that ends is missed, and one whose page was frozen is not', async ({
    guarded,
    site,
    fixtures,
  }) => {
    await guarded.clock.install();
    await guarded.goto(`${site.url}/pages/blank.html`);
    await missWorker(guarded, guarded.mainFrame(), [site.url, fixtures.url]);
  });
});

test('in a sandboxed frame a worker that ends is missed, and one whose page was frozen is not', async ({
  page,
  site,
  fixtures,
}) => {
  await page.clock.install();
  await missWorker(page, await sandboxedFrame(page, site), [site.url, fixtures.url]);
});
