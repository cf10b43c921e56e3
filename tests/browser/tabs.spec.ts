/** Several tabs of one origin at one store: one writes, the others wait and say so, and nothing is stored twice. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';
import { packsAndUsage } from './support/stored.js';

/** As many more pages as asked for, in the same profile. */
const pagesBeside = (page: Page, count: number, url: string): Promise<Page[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const other = await page.context().newPage();
      await other.goto(url);
      return other;
    }),
  );

/**
 * Opens the store, installs and closes it again; tells whether it had to wait. Who has not waited installs when
 * `others` wait.
 */
const installAlone = (
  page: Page,
  registry: string,
  project: string,
  dependencies: Record<string, string>,
  others = 0,
) =>
  inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, project, dependencies, others } = JSON.parse(argument);
      let waited = 0;
      const channel = new BroadcastChannel('waiting');
      const othersWait = new Promise<void>((resolve) => {
        let heard = 0;
        if (others === 0) resolve();
        channel.onmessage = () => ++heard === others && resolve();
      });
      const onWaiting = () => {
        waited++;
        channel.postMessage(project);
      };
      const gantry = await Gantry.open({ registry, onWaiting });
      if (waited === 0) await othersWait;
      const installed = await gantry.install({
        project,
        packageJson: { name: 'same', version: '1.0.0', dependencies },
      });
      const digest = await installed.treeDigest();
      await gantry.close();
      channel.close();
      return { waited, digest, packages: installed.packages, reused: installed.reused };
    },
    JSON.stringify({ registry, project, dependencies, others }),
  );

for (const count of [2, 4]) {
  test(`${count} tabs that install at once, equal and different projects, all get theirs and share what they can`, async ({
    blank,
    recording,
    site,
  }) => {
    const pages = [blank, ...(await pagesBeside(blank, count - 1, `${site.url}/pages/blank.html`))];
    const express = { express: '^5.3.0', cors: '^2.8.0' };
    const projects = [express, express, { ...express, picocolors: '^1.1.1' }, { lodash: '^4.18.0' }];
    const results = await Promise.all(
      pages.map((page, index) => installAlone(page, recording.url, `tab-${index}`, projects[index] ?? {}, count - 1)),
    );
    expect(results.filter(({ waited }) => waited === 1)).toHaveLength(count - 1);
    expect(results.filter(({ waited }) => waited === 0)).toHaveLength(1);
    expect(results[1]?.digest).toBe(results[0]?.digest);
    // Fetched by one, found by the others.
    const fetched = results.reduce((total, { packages, reused }) => total + packages - reused, 0);
    const stored = await packsAndUsage(blank, recording.url);
    expect(stored.packages).toBe(fetched);
    // Every byte of the packs is some package's, once.
    expect(stored.packBytes).toBe(stored.bytes + stored.headerBytes);
    expect(stored.damaged).toEqual([]);
  });
}

/** A page that holds the store, in the middle of an install that does not end by itself. */
async function stuckInstall(page: Page, registry: string): Promise<void> {
  await inPage(
    page,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.install({ project: 'before', packageJson: { dependencies: { executable: '1.0.0' } } });
      const pending = gantry.install({
        project: 'stuck',
        packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } },
      });
      Object.assign(globalThis, { pending: pending.then(({ packages }) => packages) });
    },
    registry,
  );
}

/** What a waiting tab finds when it gets the store. */
const takeOver = (page: Page, registry: string, timeout: number) =>
  inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, timeout } = JSON.parse(argument);
      let waited = false;
      const onWaiting = () => {
        waited = true;
        document.title = 'waiting';
      };
      try {
        const gantry = await Gantry.open({ registry, timeout, onWaiting });
        const projects = await gantry.projects();
        const { damaged } = await gantry.verify();
        const { packages } = await gantry.install({
          project: 'stuck',
          packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } },
        });
        await gantry.close();
        return { waited, projects, damaged, packages };
      } catch (error) {
        return { waited, code: (error as { code?: string }).code };
      }
    },
    JSON.stringify({ registry, timeout }),
  );

for (const end of ['is closed', 'crashes', 'goes elsewhere'] as const) {
  test(`when the tab that installs ${end}, the one that waits takes over and completes the install`, async ({
    blank,
    fixtures,
    site,
  }) => {
    await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10, count: 1 });
    await stuckInstall(blank, fixtures.url);
    await expect.poll(() => fixtures.faulty()).toBe(1);
    const [other] = (await pagesBeside(blank, 1, `${site.url}/pages/blank.html`)) as [Page];
    const taken = takeOver(other, fixtures.url, 60_000);
    await expect(other).toHaveTitle('waiting');
    if (end === 'is closed') await blank.close();
    else if (end === 'goes elsewhere') await blank.goto('about:blank');
    else {
      const crashed = blank.waitForEvent('crash');
      (await blank.context().newCDPSession(blank)).send('Page.crash').catch(() => {});
      await crashed;
    }
    expect(await taken).toEqual({ waited: true, projects: ['before'], damaged: [], packages: 2 });
  });
}

test('while the tab that installs is frozen others wait or give up with STORE_BUSY; thawed, it goes on', async ({
  blank,
  fixtures,
  site,
}) => {
  // Until the other tab waits: with its install done, a frozen tab lets go of the store.
  await fixtures.fault({ path: '/left/-/*', kind: 'delay', ms: 8000, count: 1 });
  await stuckInstall(blank, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
  const devtools = await blank.context().newCDPSession(blank);
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  const [other] = (await pagesBeside(blank, 1, `${site.url}/pages/blank.html`)) as [Page];
  expect(await takeOver(other, fixtures.url, 300)).toEqual({ waited: true, code: 'STORE_BUSY' });
  await other.evaluate(() => {
    document.title = '';
  });
  const taken = takeOver(other, fixtures.url, 60_000);
  await expect(other).toHaveTitle('waiting');
  await devtools.send('Page.setWebLifecycleState', { state: 'active' });
  expect(await blank.evaluate(() => (globalThis as unknown as { pending: Promise<number> }).pending)).toBe(2);
  await blank.close();
  expect(await taken).toEqual({ waited: true, projects: ['before', 'stuck'], damaged: [], packages: 2 });
});

test('what one tab reads by itself no other prunes, though it has removed the project', async ({
  blank,
  fixtures,
  site,
}) => {
  await installAlone(blank, fixtures.url, 'default', { left: '1.1.0' });
  const reading = inWorker(async ({ openProject }) => {
    const project = await openProject();
    const text = () => project.fs.readFileSync('node_modules/left/index.js', 'utf8');
    const texts = [text()];
    const channel = new BroadcastChannel('test');
    channel.postMessage('open');
    await new Promise((resume) => channel.addEventListener('message', resume, { once: true }));
    texts.push(text());
    project.close();
    return texts;
  });
  const [other] = (await pagesBeside(blank, 1, `${site.url}/pages/blank.html`)) as [Page];
  const pruned = inPage(
    other,
    async ({ Gantry }, registry) => {
      const channel = new BroadcastChannel('test');
      await new Promise((resume) => channel.addEventListener('message', resume, { once: true }));
      const gantry = await Gantry.open({ registry });
      await gantry.removeProject();
      const refused = await gantry.prune().catch(({ code }) => code);
      channel.postMessage('read again');
      let pruned: unknown = refused;
      // The reader's lock is let go of in the browser's own time.
      for (let attempt = 0; attempt < 100 && pruned === 'STORE_LOCKED'; attempt++) {
        await new Promise((resume) => setTimeout(resume, 20));
        pruned = await gantry.prune().then(
          ({ packages }) => packages,
          ({ code }) => code,
        );
      }
      await gantry.close();
      return { refused, pruned };
    },
    fixtures.url,
  );
  const texts = await blank.evaluate(evaluateInWorker<string[]>, reading);
  expect(texts).toEqual(Array.from({ length: 2 }, () => 'module.exports = "left 1.1.0"\n'));
  expect(await pruned).toEqual({ refused: 'STORE_LOCKED', pruned: 1 });
});
