/** What the specs share: registries, the site, the playground as a person uses it, the package as a page uses it. */
import { test as base, expect, type Page } from '@playwright/test';
import { Playground } from './playground.js';
import { Registry } from './registry.js';
import { Site } from './site.js';

interface Shared {
  /** Replays the recorded projects. */
  recording: Registry;
  /** Its registry path leads to the recording. */
  site: Site;
}

interface Own {
  /** Small packages, good and bad; each test has its own, so that its faults are its own. */
  fixtures: Registry;
  /** Has the package, too, on another origin than the site, as a CDN. */
  cdn: Site;
  playground: Playground;
  /** A page of the site that has done nothing yet, with the package to import from `/package/dist/index.js`. */
  blank: Page;
}

export const test = base.extend<Own, Shared>({
  recording: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names
    async ({}, use) => {
      const registry = await Registry.start();
      await use(registry);
      registry.stop();
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names
  fixtures: async ({}, use) => {
    const registry = await Registry.start('--fixtures', 'basic');
    await use(registry);
    registry.stop();
  },
  site: [
    async ({ recording }, use) => {
      const site = await Site.start(recording.url);
      await use(site);
      await site.stop();
    },
    { scope: 'worker' },
  ],
  cdn: async ({ recording }, use) => {
    const cdn = await Site.start(recording.url);
    await use(cdn);
    await cdn.stop();
  },
  playground: async ({ page, site }, use) => {
    await use(new Playground(page, site));
  },
  blank: async ({ page, site }, use) => {
    await page.goto(`${site.url}/pages/blank.html`);
    await use(page);
  },
});

export { expect };
