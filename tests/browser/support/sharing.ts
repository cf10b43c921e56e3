/** Tabs that have one store open at the same time, and what a page does in them. */
import type { Page } from '@playwright/test';
import type { Gantry, Project } from '../../../web/src/index.js';
import { launchFirefox } from './firefox.js';
import { expect } from './fixtures.js';
import type { Registry } from './registry.js';

/** What the scripts below keep in a page between them. */
export interface Kept {
  gantry: Gantry;
  project: Project;
  pending: Promise<unknown>;
}

/** A tab, of whatever browser. */
export interface Tab {
  run<T>(script: (argument: string) => Promise<T>, argument?: string): Promise<T>;
}

export const tabOf = (page: Page): Tab => ({ run: (script, argument = '') => page.evaluate(script, argument) });

/** Two tabs of Firefox, which are gone when `use` is through with them. */
export async function inFirefox(site: string, use: (tabs: [Tab, Tab]) => Promise<void>): Promise<void> {
  const browser = await launchFirefox();
  try {
    const open = async (): Promise<Tab> => {
      const page = await browser.newPage();
      await page.goto(`${site}/pages/blank.html`);
      return { run: (script, argument = '') => page.evaluate(script, argument) };
    };
    await use([await open(), await open()]);
  } finally {
    await browser.close();
  }
}

export const openStore = async (registry: string) => {
  const { Gantry } = (await import(
    `${location.origin}/package/dist/index.js`
  )) as typeof import('../../../web/src/index.js');
  const gantry = await Gantry.open({ registry, timeout: 20_000 });
  Object.assign(globalThis, { gantry });
};

/** Installs into the project `default`; what `left` says afterwards. */
export const installLeft = async (text: string) => {
  const kept = globalThis as unknown as Kept;
  kept.project = await kept.gantry.install({ packageJson: { dependencies: JSON.parse(text) } });
  return kept.project.fs.readFile('node_modules/left/index.js', 'utf8');
};

export const readLeft = async () => {
  const { gantry, project } = globalThis as unknown as Kept;
  const fs = (project ?? (await gantry.project()))?.fs;
  const names = await fs?.readdir('node_modules');
  return { text: await fs?.readFile('node_modules/left/index.js', 'utf8'), names };
};

export const closeStore = async () => {
  const { gantry } = globalThis as unknown as Kept;
  const { damaged } = await gantry.verify();
  await gantry.close();
  return damaged;
};

export const OLD = 'module.exports = "left 1.0.0"\n';
export const NEW = 'module.exports = "left 1.1.0"\n';

/** Another tab of the same profile. */
export async function beside(page: Page, url: string): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(url);
  return other;
}

/** Two tabs, of which the first has the store open and `left` installed. */
export async function twoTabs(page: Page, registry: string, site: string): Promise<[Tab, Tab]> {
  const tabs: [Tab, Tab] = [tabOf(page), tabOf(await beside(page, `${site}/pages/blank.html`))];
  await tabs[0].run(openStore, registry);
  await tabs[0].run(installLeft, '{"left":"1.0.0"}');
  return tabs;
}

export const prune = () =>
  (globalThis as unknown as Kept).gantry.prune().then(
    ({ packages }) => packages > 0,
    ({ code }) => code as string,
  );

/** Opens, and begins an install that does not end. */
export const hang = async (registry: string) => {
  const { Gantry } = (await import(
    `${location.origin}/package/dist/index.js`
  )) as typeof import('../../../web/src/index.js');
  const gantry = await Gantry.open({ registry });
  const pending = gantry.install({ project: 'hanging', packageJson: { dependencies: { right: '1.0.0' } } });
  pending.catch(() => {});
  Object.assign(globalThis, { gantry, pending });
};

/** Two tabs, the second of which has the store open and `left` installed; the first is in the midst of an install. */
export async function besideInstall(page: Page, fixtures: Registry, site: string): Promise<Tab> {
  const other = tabOf(await beside(page, `${site}/pages/blank.html`));
  await other.run(openStore, fixtures.url);
  await other.run(installLeft, '{"left":"1.0.0"}');
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await page.evaluate(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  return other;
}
