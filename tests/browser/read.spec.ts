/** `gantry/read`: reading a project anywhere in the origin, without workers and without a store that is open. */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { readWholeTree, untilControlled } from './support/page-scripts.js';
import { inRoot } from './support/paths.js';
import { closeStore, installLeft, type Kept, NEW, OLD, openStore, prune } from './support/sharing.js';

type ReadModule = typeof import('../../web/src/read.js');

/** Begins the service worker of `pages/tree-worker.js`, which serves what the page asks for from then on. */
async function serveTree(page: Page): Promise<void> {
  await page.evaluate(() =>
    navigator.serviceWorker.register('/tree-worker.js', { type: 'module' }).then(() => undefined),
  );
  await page.evaluate(untilControlled);
}

/** Status and text of what the page is given at a path. */
const fetched = (page: Page, path: string) =>
  page.evaluate(async (path) => {
    const answer = await fetch(path);
    return [answer.status, await answer.text()] as const;
  }, path);

test.beforeEach(({ site }) => {
  // Served from the root, so that its scope is the site.
  site.pages.set('/tree-worker.js', "import '/pages/tree-worker.js';");
});

test.afterEach(async ({ page }) => {
  await page.evaluate(async () => {
    if (!navigator.serviceWorker) return;
    for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
  });
});

const LEFT = '/tree/node_modules/left/index.js';

test('a service worker serves files of a tree as it is at the moment, and is in nobody’s way', async ({
  blank,
  fixtures,
}) => {
  await serveTree(blank);
  const [status, text] = await fetched(blank, LEFT);
  expect([status, JSON.parse(text)]).toEqual([404, { code: 'PROJECT_UNKNOWN', hint: 'Install it first.' }]);
  await blank.evaluate(openStore, fixtures.url);
  await blank.evaluate(installLeft, '{"left":"1.0.0"}');
  expect(await fetched(blank, LEFT)).toEqual([200, OLD]);
  expect(JSON.parse((await fetched(blank, '/names/node_modules'))[1])).toEqual(['.package-lock.json', 'left']);
  expect(JSON.parse((await fetched(blank, '/tree/node_modules/none.js'))[1]).code).toBe('ENOENT');
  // Nothing is asked of it for the new tree to be there.
  await blank.evaluate(installLeft, '{"left":"1.1.0","right":"1.0.0"}');
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
  expect(JSON.parse((await fetched(blank, '/lock/'))[1]).packages['node_modules/left'].version).toBe('1.1.0');
  const digest = await blank.evaluate(() => (globalThis as unknown as Kept).project.treeDigest());
  expect(await fetched(blank, '/digest/')).toEqual([200, digest]);
  // It reads the store's files, and lets go of them.
  expect(await blank.evaluate(prune)).toBe(true);
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
  expect(await blank.evaluate(closeStore)).toEqual([]);
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
  expect(await inPage(blank, ({ Gantry }) => Gantry.remove())).toBe(true);
  expect(JSON.parse((await fetched(blank, LEFT))[1]).code).toBe('PROJECT_UNKNOWN');
});

test('a service worker that the browser has ended serves the tree when it is begun again, and nobody has the store open', async ({
  blank,
  fixtures,
}) => {
  await blank.evaluate(openStore, fixtures.url);
  await blank.evaluate(installLeft, '{"left":"1.1.0"}');
  await blank.evaluate(closeStore);
  await serveTree(blank);
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
  const session = await blank.context().newCDPSession(blank);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
  await blank.reload();
  expect(await fetched(blank, LEFT)).toEqual([200, NEW]);
});

test('what is read beside installs is right, and archives go on when packages are removed', async ({
  blank,
  fixtures,
}) => {
  await blank.evaluate(openStore, fixtures.url);
  await blank.evaluate(installLeft, '{"left":"1.0.0","executable":"1.0.0"}');
  const result = await blank.evaluate(async () => {
    const { openProject } = (await import(`${location.origin}/package/dist/read.js`)) as ReadModule;
    const { toTar } = (await import(
      `${location.origin}/package/dist/export.js`
    )) as typeof import('../../web/src/export.js');
    const { gantry } = globalThis as unknown as Kept;
    const project = await openProject();
    const changes: string[] = [];
    project.onDidChange(({ replaced }) => changes.push(replaced.join()));
    const handle = await project.fs.open('node_modules/left/index.js');
    const reader = toTar(project).getReader();
    let bytes = (await reader.read()).value?.length ?? 0;
    const texts = new Set<string>();
    let isInstalling = true;
    const installing = gantry
      .install({ packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } } })
      .then(() => gantry.install({ project: 'other', packageJson: { dependencies: { 'with-script': '1.0.0' } } }))
      .finally(() => {
        isInstalling = false;
      });
    while (isInstalling) {
      texts.add(await project.fs.readFile('node_modules/left/index.js', 'utf8'));
      // Of what is in memory already reading leaves the page no turn.
      await new Promise((resume) => setTimeout(resume));
    }
    await installing;
    const open = await handle.readFile('utf8');
    await handle.close();
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    const { removed } = await gantry.prune().then(({ packages }) => ({ removed: packages }));
    const after = await project.fs.readFile('node_modules/left/index.js', 'utf8');
    const why = (await project.why('left')).map(({ version }) => version);
    const many = (await project.fs.readMany(['node_modules/left/index.js', 'none'])).map((bytes) => bytes?.length);
    project.close();
    const closed = await project.fs.readFile('node_modules/left/index.js').catch(({ code }) => code);
    const again = await openProject({ project: 'other' });
    const names = await again.fs.readdir('node_modules');
    again.close();
    return { changes, texts: [...texts], open, bytes, removed, after, why, many, closed, names };
  });
  expect(result).toEqual({
    changes: ['node_modules/left'],
    texts: [OLD, NEW],
    open: OLD,
    bytes: expect.any(Number),
    removed: expect.any(Number),
    after: NEW,
    why: ['1.1.0'],
    many: [NEW.length, undefined],
    closed: 'CLOSED',
    names: ['.package-lock.json', 'with-script'],
  });
  expect(result.bytes).toBeGreaterThan(1024);
  expect(result.removed).toBeGreaterThan(0);
});

test('a page reads a whole tree by itself, and again what the browser refused to read', async ({
  blank,
  recording,
}) => {
  const packageJson = readFileSync(inRoot('tests', 'projects', 'express', 'package.json'), 'utf8');
  const { installed, ...read } = await blank.evaluate(readWholeTree, [packageJson, recording.url] as const);
  expect(read).toEqual({ digest: installed, refused: 1, different: [], isWhole: true });
});

test('where nothing can be stored it says so', async ({ page, site }) => {
  await page.goto(`${site.url.replace('127.0.0.1', 'insecure.test')}/pages/blank.html`);
  const code = await page.evaluate(async () => {
    const { openProject } = await import(`${location.origin}/package/dist/read.js`);
    return openProject().catch(({ code, hint }: { code: string; hint: string }) => [code, hint]);
  });
  expect(code).toEqual(['STORAGE_UNAVAILABLE', expect.stringContaining('https')]);
});

test('options that do not exist are refused', async ({ blank }) => {
  const codes = await blank.evaluate(async () => {
    const { openProject } = await import(`${location.origin}/package/dist/read.js`);
    const code = (options: unknown) => openProject(options).catch((error: { code: string }) => error.code);
    return Promise.all([code({ projekt: 'a' }), code({ store: 1 }), code({ store: 'a/b' })]);
  });
  expect(codes).toEqual(['INVALID_OPTION', 'INVALID_OPTION', 'INVALID_OPTION']);
});
