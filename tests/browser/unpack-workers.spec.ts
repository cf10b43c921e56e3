/**
 * An unpack worker that dies, in whatever it does to storage: no install fails for it. Only one that dies again and again over
 * the same ends it, with WORKER_LOST, and the next one works.
 */
import type { Page } from '@playwright/test';
import type { Gantry } from '../../web/src/index.js';
import { test as base, expect } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { StorageWatch } from './support/storage-watch.js';

const WORKER = 'gantry-unpack-0';

interface Matter {
  gantry: Gantry;
  started: Map<string | undefined, Worker>;
}

const test = base.extend<{ watch: StorageWatch }>({
  watch: async ({ site }, use) => {
    const watch = new StorageWatch(site);
    await use(watch);
    watch.end();
  },
});

/** Has the page know its workers: it can end one as the browser does, which tells nobody. */
function knowWorkers(page: Page): Promise<void> {
  return page.evaluate(() => {
    const started = new Map<string | undefined, Worker>();
    Object.assign(globalThis, { started });
    const BrowserWorker = globalThis.Worker;
    globalThis.Worker = class extends BrowserWorker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        started.set(options?.name, this);
      }
    };
  });
}

function end(page: Page, name: string): Promise<void> {
  return page.evaluate((worker) => (globalThis as unknown as Matter).started.get(worker)?.terminate(), name);
}

/** A store that has something. */
function prepare(page: Page, registry: string): Promise<void> {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      await Gantry.remove();
      const gantry = await Gantry.open({ registry });
      await gantry.install({ packageJson: { name: 'project', dependencies: { left: '1.0.0' } } });
      await gantry.close();
    },
    registry,
  );
}

/** An install that adds one package; `undefined`, or why it failed. */
function change(page: Page, registry: string): Promise<string | undefined> {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      const matter = globalThis as unknown as Partial<Matter>;
      await matter.gantry?.close();
      matter.gantry = await Gantry.open({ registry, workers: 1 });
      const packageJson = { name: 'project', dependencies: { left: '1.1.0' } };
      return matter.gantry.install({ packageJson, lockfile: null }).then(
        () => undefined,
        ({ code, message }) => `${code}: ${message}`,
      );
    },
    registry,
  );
}

/** What is then found, also by who opens the store afterwards. */
function look(page: Page, registry: string) {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      const { gantry } = globalThis as unknown as Matter;
      const here = await (await gantry.project())?.treeDigest();
      await gantry.close();
      const again = await Gantry.open({ registry, timeout: 20_000 });
      const there = await (await again.project())?.treeDigest();
      const { packages, damaged, projects } = await again.verify();
      await again.close();
      return { here, there, packages, damaged, projects };
    },
    registry,
  );
}

/** What its worker does to storage in such an install, and what is found after it. */
async function undisturbed(page: Page, { url }: { url: string }, watch: StorageWatch) {
  await knowWorkers(page);
  await prepare(page, url);
  const recorded = watch.record();
  expect(await change(page, url)).toBeUndefined();
  const operations = recorded().filter(({ worker }) => worker === WORKER);
  const found = await look(page, url);
  expect(found).toMatchObject({ packages: 2, damaged: [], projects: [] });
  return { operations: operations.map(({ operation }) => operation), found };
}

test('an unpack worker that dies in any of its operations on storage has a successor, and the install succeeds', async ({
  blank,
  fixtures,
  watch,
}) => {
  const { operations, found } = await undisturbed(blank, fixtures, watch);
  expect(operations).toEqual(['pack: opening', 'pack: write', 'pack: flush', 'pack: flush']);
  for (const [index, operation] of operations.entries()) {
    await prepare(blank, fixtures.url);
    const occurrence = operations.slice(0, index + 1).filter((other) => other === operation).length;
    const stopped = watch.stopAt({ worker: WORKER, operation, occurrence });
    const changed = change(blank, fixtures.url);
    await stopped;
    await end(blank, WORKER);
    expect(await changed, `${operation}, time ${occurrence}`).toBeUndefined();
    expect(await look(blank, fixtures.url), `${operation}, time ${occurrence}`).toEqual(found);
  }
});

for (const operation of ['pack: opening', 'pack: write', 'pack: flush']) {
  test(`an unpack worker whose successors die over the same, a ${operation}, ends the install with WORKER_LOST`, async ({
    blank,
    fixtures,
    watch,
  }) => {
    const { found } = await undisturbed(blank, fixtures, watch);
    await prepare(blank, fixtures.url);
    let deaths = 0;
    const dies = async (): Promise<void> => {
      await watch.stopAt({ worker: WORKER, operation, occurrence: 1 });
      deaths++;
      // Before it, for its successor.
      void dies();
      await end(blank, WORKER);
    };
    void dies();
    expect(await change(blank, fixtures.url)).toMatch(/^WORKER_LOST: /);
    // A package that a worker has died over twice is not tried any more.
    expect(deaths).toBe(operation === 'pack: write' ? 2 : 3);
    watch.forget();
    await end(blank, WORKER);
    expect(await change(blank, fixtures.url)).toBeUndefined();
    expect(await look(blank, fixtures.url)).toEqual(found);
  });
}
