/** Storage that goes: cleared by the browser or its user, while pages are open and between visits, or by the page itself. */
import type { Page } from '@playwright/test';
import type * as exporters from '../../web/src/export.js';
import type { Gantry, Project, ProjectChange } from '../../web/src/index.js';
import { withAddedScript } from './support/added-script.js';
import { test as base, expect } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { Profile } from './support/profile.js';
import type { Site } from './support/site.js';

interface Held {
  gantry: Gantry;
  project: Project;
  told: ProjectChange[];
  pending: Promise<unknown>;
}

const KINDS = ['a private window', 'an ordinary profile'] as const;

const test = base.extend<{ kind: (typeof KINDS)[number]; open: Page }>({
  kind: ['a private window', { option: true }],
  // The two keep files in other ways: in memory, and on disk.
  open: async ({ kind, blank, playwright, launchOptions, contextOptions, site }, use) => {
    if (kind === 'a private window') return use(blank);
    const profile = new Profile(playwright, { ...launchOptions, ...contextOptions });
    try {
      const page = await (await profile.open()).newPage();
      await page.goto(`${site.url}/pages/blank.html`);
      await use(page);
    } finally {
      await profile.remove();
    }
  },
});

/** What "clear site data" does. */
async function clearStorage(page: Page, origin: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await devtools.detach();
}

/** Another tab of the same profile. */
async function beside(page: Page, site: string): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(`${site}/pages/blank.html`);
  return other;
}

/** Has its turn, after which nobody has the store. */
const takeAndLeave = (page: Page, registry: string): Promise<void> =>
  inPage(page, async ({ Gantry }, registry) => (await Gantry.open({ registry, timeout: 20_000 })).close(), registry);

/** Opens the store, installs `left` and listens; all of it stays with the page. */
const openAndInstall = (page: Page, registry: string): Promise<string> =>
  inPage(
    page,
    async ({ Gantry, watchProject }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 2 });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0', executable: '1.0.0' } } });
      const told: ProjectChange[] = [];
      watchProject((change) => told.push(change));
      Object.assign(globalThis, { gantry, project, told });
      return project.treeDigest();
    },
    registry,
  );

/** What comes of it stays with the page, as `pending`. */
const beginInstall = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { gantry } = globalThis as unknown as Held;
    const pending = gantry.install({ packageJson: { dependencies: { right: '1.0.0' } } }).then(
      () => 'installed',
      ({ code, hint }) => `${code}: ${hint}`,
    );
    Object.assign(globalThis, { pending });
  });

/** As {@link beginInstall}, of what there is no more use for. */
const beginPruning = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { gantry } = globalThis as unknown as Held;
    await gantry.removeProject();
    const pending = gantry.prune().then(
      () => 'pruned',
      ({ code, hint }) => `${code}: ${hint}`,
    );
    Object.assign(globalThis, { pending });
  });

/** Stops the thread that it runs in before it closes a file, once. */
function stopBeforeClosing(): void {
  const { FileSystemSyncAccessHandle: Handle } = globalThis as unknown as {
    FileSystemSyncAccessHandle: { prototype: { close(): void } };
  };
  const handles = Handle.prototype;
  const { close } = handles;
  handles.close = function () {
    handles.close = close;
    const request = new XMLHttpRequest();
    request.open('GET', '/before-closing', false);
    request.send();
    close.call(this);
  };
}

/** Resolves when a thread {@link stopBeforeClosing stops}, to what lets it go on. */
const stoppedBeforeClosing = (site: Site): Promise<() => void> =>
  new Promise((resolve) => {
    site.answering.set('/before-closing', (_, response) => {
      site.answering.delete('/before-closing');
      resolve(() => response.end());
    });
  });

const gone = { project: 'default', added: [], removed: ['node_modules/executable', 'node_modules/left'], replaced: [] };

test('clearing the store tells those who watch its projects, in every tab', async ({ blank, fixtures, site }) => {
  const other = await beside(blank, site.url);
  await inPage(other, async ({ watchProject }) => {
    const told: ProjectChange[] = [];
    Object.assign(globalThis, { told });
    watchProject((change) => told.push(change));
    watchProject((change) => told.push(change), { project: 'second' });
  });
  await openAndInstall(blank, fixtures.url);
  await inPage(blank, async () => {
    const { gantry } = globalThis as unknown as Held;
    await gantry.install({ project: 'second', packageJson: { dependencies: { left: '1.0.0' } } });
    await gantry.clear();
    await gantry.clear();
    await gantry.close();
  });
  const second = { project: 'second', added: [], removed: ['node_modules/left'], replaced: [] };
  const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as Held).told);
  await expect.poll(async () => (await heard(other)).length).toBe(4);
  expect((await heard(other)).slice(2)).toEqual([gone, second]);
  expect(await heard(blank)).toEqual([gone]);
});

for (const kind of KINDS) {
  test.describe(kind, () => {
    test.use({ kind });

    test('storage that the browser clears between visits leaves an empty store', async ({ open, fixtures, site }) => {
      const digest = await openAndInstall(open, fixtures.url);
      await open.goto('about:blank');
      await clearStorage(open, site.url);
      await open.goto(`${site.url}/pages/blank.html`);
      const found = await inPage(
        open,
        async ({ Gantry }, registry) => {
          const gantry = await Gantry.open({ registry, timeout: 20_000 });
          return [await gantry.projects(), await gantry.project(), await gantry.close()];
        },
        fixtures.url,
      );
      expect(found).toEqual([[], undefined, undefined]);
      expect(await openAndInstall(open, fixtures.url)).toBe(digest);
    });

    for (const has of ['has the store', 'has let go of it']) {
      test(`a tab that ${has} leaves the store alone that another one makes after storage was cleared`, async ({
        open,
        fixtures,
        site,
      }) => {
        await openAndInstall(open, fixtures.url);
        const other = await beside(open, site.url);
        if (has !== 'has the store') await takeAndLeave(other, fixtures.url);
        await clearStorage(open, site.url);
        await other.reload();
        // So that other bytes are where those of the first one were.
        await inPage(
          other,
          async ({ Gantry }, registry) => {
            const gantry = await Gantry.open({ registry, workers: 1 });
            await gantry.install({
              project: 'before',
              packageJson: { dependencies: { right: '1.0.0', left: '1.0.0' } },
            });
            await gantry.removeProject('before');
            await gantry.close();
          },
          fixtures.url,
        );
        const digest = await openAndInstall(other, fixtures.url);
        const code = await inPage(open, async () => {
          const { gantry, project } = globalThis as unknown as Held;
          const packageJson = { dependencies: { left: '1.0.0', right: '1.0.0' } };
          const text = await project.fs.readFile('node_modules/left/index.js', 'utf8').catch(() => 'gone');
          if (!['gone', 'module.exports = "left 1.1.0"\n'].includes(text)) return text;
          return gantry.install({ project: 'late', packageJson }).then(
            () => 'installed',
            ({ code }) => code,
          );
        });
        expect(code).toBe('STORE_LOST');
        const after = await inPage(other, async () => {
          const { gantry, project } = globalThis as unknown as Held;
          const { damaged } = await gantry.verify();
          return { damaged, projects: await gantry.projects(), digest: await project.treeDigest() };
        });
        expect(after).toEqual({ damaged: [], projects: ['default'], digest });
      });
    }

    test('storage that is cleared under an open store: the next change says STORE_LOST, and a reloaded page starts anew', async ({
      open,
      fixtures,
      site,
    }) => {
      const digest = await openAndInstall(open, fixtures.url);
      await clearStorage(open, site.url);
      const result = await inPage(
        open,
        async ({ Gantry }, registry) => {
          const { gantry, project, told } = globalThis as unknown as Held;
          const codeOf = (promise: Promise<unknown>) =>
            promise.then(
              () => 'done',
              ({ code }) => code,
            );
          // What is open may still be read as it was; other bytes never.
          const read = await project.fs.readFile('node_modules/left/index.js', 'utf8').catch(({ code }) => code);
          const codes = [
            await codeOf(gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } })),
            await codeOf(project.fs.readFile('node_modules/left/index.js')),
            await codeOf(gantry.projects()),
            await codeOf(gantry.close()),
            // Workers of after it are out of the sight of a page of before it.
            await codeOf(Gantry.open({ registry, timeout: 20_000 })),
          ];
          return { read, codes, told };
        },
        fixtures.url,
      );
      expect(['module.exports = "left 1.1.0"\n', 'STORE_LOST', 'STORE_IO']).toContain(result.read);
      expect(result.codes).toEqual(['STORE_LOST', 'STORE_LOST', 'STORE_LOST', 'done', 'STORE_LOST']);
      await expect.poll(() => open.evaluate(() => (globalThis as unknown as Held).told)).toEqual([gone]);
      await open.reload();
      expect(await openAndInstall(open, fixtures.url)).toBe(digest);
    });

    test('storage that is cleared while another tab had its turn: the next change says STORE_LOST', async ({
      open,
      fixtures,
      site,
    }) => {
      await openAndInstall(open, fixtures.url);
      await takeAndLeave(await beside(open, site.url), fixtures.url);
      await clearStorage(open, site.url);
      const codes = await open.evaluate(async () => {
        const { gantry } = globalThis as unknown as Held;
        const codeOf = ({ code }: { code: string }) => code;
        const change = gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
        return [await change.then(() => 'done', codeOf), await gantry.projects().then(() => 'done', codeOf)];
      });
      expect(codes).toEqual(['STORE_LOST', 'STORE_LOST']);
    });

    test('storage that is cleared under an open store: closing it ends', async ({ open, fixtures, site }) => {
      await openAndInstall(open, fixtures.url);
      await clearStorage(open, site.url);
      await open.evaluate(() => (globalThis as unknown as Held).gantry.close());
    });

    test('storage that is cleared during an install: the install fails with STORE_LOST, and works in a reloaded page', async ({
      open,
      fixtures,
      site,
    }) => {
      const digest = await openAndInstall(open, fixtures.url);
      await fixtures.fault({ path: '/right/-/*', kind: 'delay', ms: 1500, count: 1 });
      await beginInstall(open);
      await expect.poll(() => fixtures.faulty()).toBe(1);
      await clearStorage(open, site.url);
      expect(await open.evaluate(() => (globalThis as unknown as Held).pending)).toBe(
        'STORE_LOST: Reload the page, and install again.',
      );
      await open.reload();
      expect(await openAndInstall(open, fixtures.url)).toBe(digest);
      const { damaged } = await open.evaluate(() => (globalThis as unknown as Held).gantry.verify());
      expect(damaged).toEqual([]);
    });

    for (const [what, begin] of [
      ['an install', beginInstall],
      ['pruning', beginPruning],
    ] as const) {
      test(`storage that is cleared as ${what} is about to close a file: it fails with STORE_LOST, though closing may never end`, async ({
        open,
        fixtures,
        site,
      }) => {
        const digest = await openAndInstall(open, fixtures.url);
        const stopped = stoppedBeforeClosing(site);
        const coordinator = open.workers().find((worker) => worker.url().endsWith('/coordinator.js'));
        await coordinator?.evaluate(stopBeforeClosing);
        await begin(open);
        const goOn = await stopped;
        await clearStorage(open, site.url);
        goOn();
        expect(await open.evaluate(() => (globalThis as unknown as Held).pending)).toBe(
          'STORE_LOST: Reload the page, and install again.',
        );
        await open.evaluate(() => (globalThis as unknown as Held).gantry.close());
        await open.reload();
        expect(await openAndInstall(open, fixtures.url)).toBe(digest);
      });
    }

    test('storage that is cleared as an export is about to close a file: it fails, though closing may never end', async ({
      open,
      fixtures,
      site,
    }) => {
      await openAndInstall(open, fixtures.url);
      const stopped = stoppedBeforeClosing(site);
      const beginExport = async () => {
        const { project } = globalThis as unknown as Held;
        const { writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
        const storage = await navigator.storage.getDirectory();
        const folder = await storage.getDirectoryHandle('exported', { create: true });
        const pending = writeDirectory(project, folder).then(
          () => 'exported',
          ({ code }) => code,
        );
        Object.assign(globalThis, { pending });
      };
      await withAddedScript(site, 'write-files', `(${stopBeforeClosing})();`, async () => {
        await open.evaluate(beginExport);
        const goOn = await stopped;
        await clearStorage(open, site.url);
        goOn();
        expect(await open.evaluate(() => (globalThis as unknown as Held).pending)).toBe('EXPORT_FAILED');
      });
    });
  });
}
