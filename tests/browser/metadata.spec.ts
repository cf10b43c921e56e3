/** What is kept of a registry's documents in a page: which requests it saves, and that no preflight is ever sent for it. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';

interface Choice {
  offline?: boolean;
  preferOffline?: boolean;
  preferOnline?: boolean;
}

/** Installs one after the other in one opened store, each without a lock; gives the locks, or the error's code. */
function installs(page: Page, registry: string, choices: Choice[]): Promise<(string | { code: string })[]> {
  return page.evaluate(
    async ([url, list]) => {
      const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
      const gantry = await Gantry.open({ registry: url });
      const packageJson = { name: 'project', dependencies: { '@scope/middle': '^1.0.0', 'with-optional': '1' } };
      const results: (string | { code: string })[] = [];
      try {
        for (const choice of list) {
          try {
            results.push((await gantry.install({ packageJson, lockfile: null, ...choice })).lockfile);
          } catch (error) {
            results.push({ code: (error as { code: string }).code });
          }
        }
      } finally {
        await gantry.close();
      }
      return results;
    },
    [registry, choices] as const,
  );
}

test('fresh metadata costs no request, in the same tab and after a reload', async ({ blank, fixtures }) => {
  const [lock, again] = await installs(blank, fixtures.url, [{}, {}]);
  expect(again).toBe(lock);
  const { requests, preflights } = await fixtures.counts();
  expect(requests).toBeGreaterThan(4);
  expect(preflights).toBe(0);
  await fixtures.reset();
  await blank.reload();
  expect(await installs(blank, fixtures.url, [{}, { offline: true }, { preferOffline: true }])).toEqual([
    lock,
    lock,
    lock,
  ]);
  expect(await fixtures.requests()).toBe(0);
});

test('asking again is on condition and without a preflight, and changes nothing', async ({ blank, fixtures }) => {
  const [lock] = await installs(blank, fixtures.url, [{}]);
  await fixtures.reset();
  expect(await installs(blank, fixtures.url, [{ preferOnline: true }])).toEqual([lock]);
  const { requests, notModified, preflights } = await fixtures.counts();
  expect(requests).toBeGreaterThan(2);
  expect(preflights).toBe(0);
  expect(notModified).toBe(requests);
});

test('offline with nothing kept fails with its code and asks nobody', async ({ blank, fixtures }) => {
  expect(await installs(blank, fixtures.url, [{ offline: true }])).toEqual([{ code: 'REGISTRY_NOT_CACHED' }]);
  expect(await fixtures.requests()).toBe(0);
});

test('clearing the store forgets metadata too', async ({ blank, fixtures }) => {
  await installs(blank, fixtures.url, [{}]);
  await blank.evaluate(async (url) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry: url });
    await gantry.clear();
    await gantry.close();
  }, fixtures.url);
  expect(await installs(blank, fixtures.url, [{ offline: true }])).toEqual([{ code: 'REGISTRY_NOT_CACHED' }]);
});
