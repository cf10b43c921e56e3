/** Reads that fail while another tab installs: whatever they find, they never wait for that one. */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import type { Registry } from './support/registry.js';
import {
  beside,
  hang,
  inFirefox,
  installLeft,
  type Kept,
  NEW,
  OLD,
  openStore,
  readLeft,
  type Tab,
  tabOf,
} from './support/sharing.js';

/** What reading `left` comes to. */
const readOrFail = async () => {
  const { project } = globalThis as unknown as Kept;
  return project.fs.readFile('node_modules/left/index.js', 'utf8').catch(({ code }) => code as string);
};

/** The first tab is in the midst of an install, the second one has `left` installed. */
async function inTheMidst([first, second]: [Tab, Tab], fixtures: Registry): Promise<void> {
  await second.run(openStore, fixtures.url);
  await second.run(installLeft, '{"left":"1.0.0"}');
  await fixtures.fault({ path: '/right/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await first.run(hang, fixtures.url);
  await expect.poll(() => fixtures.faulty()).toBe(1);
}

/** Changes a byte of `left` in its pack, which workers have open. */
function damage(page: Page): Promise<void> {
  const script = `
    const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
    const store = await stores.getDirectoryHandle('gantry');
    for await (const file of store.values()) {
      if (!/^pack-[0-9]+$/.test(file.name)) continue;
      const handle = await file.createSyncAccessHandle({ mode: 'readwrite-unsafe' });
      const bytes = new Uint8Array(handle.getSize());
      handle.read(bytes, { at: 0 });
      const at = new TextDecoder('latin1').decode(bytes).indexOf('left 1.0.0');
      if (at >= 0) handle.write(new Uint8Array([0x5a]), { at });
      handle.close();
      if (at >= 0) postMessage('damaged');
    }`;
  return page.evaluate(
    (script) =>
      new Promise<void>((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob([`(async () => {${script}})()`])));
        worker.onmessage = () => {
          worker.terminate();
          resolve();
        };
      }),
    script,
  );
}

test('what is damaged is told of beside an install of another tab, and leaves the store with the next one of this tab', async ({
  blank,
  fixtures,
  site,
}) => {
  const other = await beside(blank, `${site.url}/pages/blank.html`);
  const tab = tabOf(other);
  await inTheMidst([tabOf(blank), tab], fixtures);
  await damage(other);
  expect(await tab.run(readOrFail)).toBe('STORE_CORRUPT');
  expect(await tab.run(readOrFail)).toBe('STORE_CORRUPT');
  await blank.evaluate(() => (globalThis as unknown as Kept).gantry.close());
  await fixtures.reset();
  expect(await tab.run(installLeft, '{"left":"1.0.0"}')).toBe(OLD);
  expect(await fixtures.requestsFor('/left/-/')).toHaveLength(1);
});

test('what the browser refuses to read is asked for again beside an install of another tab, and fails if it still does', async ({
  blank,
  fixtures,
  site,
}) => {
  const other = await beside(blank, `${site.url}/pages/blank.html`);
  const tab = tabOf(other);
  await inTheMidst([tabOf(blank), tab], fixtures);
  const coordinator = other.workers().find((worker) => worker.url().endsWith('/coordinator.js'));
  await coordinator?.evaluate(() => {
    const scope = globalThis as unknown as {
      refusals: number;
      FileSystemSyncAccessHandle: { prototype: { read(...words: unknown[]): unknown } };
    };
    const { prototype } = scope.FileSystemSyncAccessHandle;
    const { read } = prototype;
    prototype.read = function (...words) {
      if (scope.refusals-- > 0) throw new DOMException('refused on purpose', 'NotReadableError');
      return read.apply(this, words);
    };
  });
  const refuse = (refusals: number) =>
    coordinator?.evaluate((refusals) => Object.assign(globalThis, { refusals }), refusals);
  await refuse(1);
  // All of them at once, of which one is refused.
  expect(await Promise.all(Array.from({ length: 5 }, () => tab.run(readOrFail)))).toEqual([OLD, OLD, OLD, OLD, OLD]);
  await refuse(3);
  expect(await tab.run(readOrFail)).toBe(OLD);
  await refuse(1_000_000);
  expect(await tab.run(readOrFail)).toBe('STORE_IO');
  expect(await tab.run(() => (globalThis as unknown as Kept).project.treeDigest().catch(({ code }) => code))).toBe(
    'STORE_IO',
  );
  await refuse(0);
  expect(await tab.run(readOrFail)).toBe(OLD);
});

test('Firefox: what only asks is answered while another tab installs', async ({ fixtures, site }) => {
  await inFirefox(site.url, async ([first, second]) => {
    await inTheMidst([first, second], fixtures);
    expect((await second.run(readLeft)).text).toBe(OLD);
    const digest = () => second.run(() => (globalThis as unknown as Kept).project.treeDigest());
    const beside = await digest();
    await first.run(() => (globalThis as unknown as Kept).gantry.close());
    expect(await second.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
    expect(await second.run(installLeft, '{"left":"1.0.0"}')).toBe(OLD);
    expect(await digest()).toBe(beside);
  });
});
