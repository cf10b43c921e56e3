/** What is kept of a registry's documents in a page: which requests it saves, and that no preflight is ever sent for it. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { Registry } from './support/registry.js';

interface Choice {
  offline?: boolean;
  preferOffline?: boolean;
  preferOnline?: boolean;
}

/** An event of type `timing`; others have the type alone in common with it. */
interface Told {
  type: string;
  phases: { phase: string; ended: number }[];
  work: { work: string; count: number; bytes: number }[];
  trace: string;
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

test('asking again is for headers alone and without a preflight, and changes nothing', async ({ blank, fixtures }) => {
  const [lock] = await installs(blank, fixtures.url, [{}]);
  const known = (await fixtures.requestsFor('/')).filter(({ path }) => !path.includes('/-/'));
  await fixtures.reset();
  expect(await installs(blank, fixtures.url, [{ preferOnline: true }])).toEqual([lock]);
  const asked = await fixtures.requestsFor('/');
  expect(known.length).toBeGreaterThan(2);
  expect(asked.map(({ path }) => path).sort()).toEqual(known.map(({ path }) => path).sort());
  // Documents of versions have no date.
  expect(asked.filter(({ method, kind }) => method !== 'HEAD' && kind !== 'version')).toEqual([]);
});

test('what has not changed is asked for again and not read again', async ({ blank, fixtures }) => {
  const [first, again] = await blank.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    const packuments: { count: number; bytes: number }[] = [];
    const onEvent = (event: Told) => {
      const found = event.type === 'timing' ? event.work.find(({ work }) => work === 'packument') : undefined;
      if (found) packuments.push(found);
    };
    const packageJson = { dependencies: { '@scope/middle': '^1.0.0' } };
    for (const choice of [{}, { preferOnline: true }]) {
      await gantry.install({ packageJson, lockfile: null, timing: true, onEvent, ...choice });
    }
    await gantry.close();
    return packuments;
  }, fixtures.url);
  expect(first?.bytes).toBeGreaterThan(500);
  expect(again?.count).toBe(first?.count);
  // The browser hides the registry's tags from the page, but tells dates.
  expect(again?.bytes).toBe(0);
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

test('an install warns of deprecated packages when they come into the tree, and before it says that it is done', async ({
  blank,
  fixtures,
}) => {
  const told = await blank.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    const packageJson = { dependencies: { deprecated: '1' } };
    const told: string[] = [];
    const onEvent = (event: Told & { code?: string; message?: string }) => {
      if (event.type === 'warning') told.push(`${event.code} ${event.message}`);
      if (event.type === 'done') told.push('done');
    };
    for (const more of [{}, {}, { add: ['left'] }, { project: 'other', add: ['another@npm:deprecated@1'] }])
      await gantry.install({ packageJson, onEvent, ...more });
    await gantry.close();
    return told;
  }, fixtures.url);
  const warning = 'DEPRECATED deprecated@1.0.0: use left instead';
  expect(told).toEqual([warning, 'done', 'done', 'done', warning, 'done']);
});

test('an install tells where its time went, from all workers', async ({ blank, fixtures }) => {
  const { timing, last } = await blank.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const gantry = await Gantry.open({ registry });
    const events: Told[] = [];
    const onEvent = (event: Told) => events.push(event);
    await gantry.install({ packageJson: { dependencies: { '@scope/middle': '^1.0.0' } }, timing: true, onEvent });
    await gantry.close();
    return { timing: events.find(({ type }) => type === 'timing'), last: events.at(-1)?.type };
  }, fixtures.url);
  expect(last).toBe('done');
  if (!timing) throw new Error('no event tells it');
  expect(timing.phases.map(({ phase }) => phase)).toEqual(['resolve', 'fetch', 'link', 'lock']);
  const kinds = timing.work.map(({ work }) => work);
  expect(kinds).toEqual(['packument', 'tarball', 'kept', 'scan', 'verify', 'unpack', 'store', 'resolve']);
  const end = timing.phases.at(-1)?.ended ?? 0;
  const spans: { cat: string; name: string; ts: number; dur: number }[] = JSON.parse(timing.trace).traceEvents;
  expect(spans.filter(({ cat }) => cat === 'store').map(({ name }) => name)).toEqual(
    expect.arrayContaining(['@scope/middle@1.2.3', 'left@1.0.0', 'right@1.0.0']),
  );
  // The clocks of the workers agree: nothing is before the beginning or after the end.
  for (const { cat, ts, dur } of spans.filter(({ cat }) => cat !== undefined && cat !== 'stage')) {
    expect(ts, cat).toBeGreaterThanOrEqual(-1_000);
    expect((ts + dur) / 1_000, cat).toBeLessThanOrEqual(end + 1);
  }
});

test('what one token was given, nobody gets from the browser without it', async ({ blank }) => {
  const registry = await Registry.start('--fixtures', 'basic', '--require-token', 'secret');
  try {
    const outcomes = await blank.evaluate(async (url) => {
      const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
      const outcomes: unknown[] = [];
      for (const [store, token] of [['known', 'secret'], ['unknown'], ['wrong', 'other'], ['again', 'secret']]) {
        const gantry = await Gantry.open({ registry: url, store, ...(token && { token }) });
        const installed = gantry.install({ packageJson: { dependencies: { left: '1' } } });
        outcomes.push(await installed.then(({ packages }: { packages: number }) => packages, failed));
        await gantry.close();
      }
      return outcomes;
      function failed({ code, package: name }: { code: string; package: string }) {
        return `${code} ${name}`;
      }
    }, registry.url);
    const refused = 'REGISTRY_UNAUTHORIZED left';
    expect(outcomes).toEqual([1, refused, refused, 1]);
  } finally {
    registry.stop();
  }
});
