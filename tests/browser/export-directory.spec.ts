/** `writeDirectory` where it does not go as in OPFS: folders without access handles, workers that end, signals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type * as exporters from '../../web/src/export.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { packageFolder } from './support/paths.js';
import type { Site } from './support/site.js';

const SCRIPT = '/package/dist/worker/write-files.js';

const writers = (page: Page) => page.workers().filter((worker) => worker.url().endsWith(SCRIPT));

/** Runs `use` while the workers that write ask `answer`, an expression, for an access handle. */
async function withHandles(site: Site, answer: string, use: () => Promise<void>): Promise<void> {
  const script = readFileSync(join(packageFolder, 'dist/worker/write-files.js'), 'utf8');
  site.pages.set(SCRIPT, `FileSystemFileHandle.prototype.createSyncAccessHandle = () => ${answer};\n${script}`);
  await use().finally(() => site.pages.delete(SCRIPT));
}

test('a folder without access handles, as a user picks it, holds every file byte for byte', async ({
  blank,
  site,
  fixtures,
}) => {
  await withHandles(site, "Promise.reject(new DOMException('not in OPFS', 'InvalidStateError'))", async () => {
    const result = await inPage(
      blank,
      async ({ Gantry }, registry) => {
        const { writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
        const gantry = await Gantry.open({ registry });
        const directory = await (await navigator.storage.getDirectory()).getDirectoryHandle('picked', { create: true });
        const counts = { files: 0, bytes: 0, different: [] as string[], methods: [] as string[], told: 0 };
        // The second time over what is there.
        for (const dependencies of [{ left: '1.0.0' }, { left: '1.1.0', executable: '1.0.0' }]) {
          const project = await gantry.install({ packageJson: { dependencies } });
          const { fs } = project;
          Object.assign(counts, { files: 0, bytes: 0 });
          // Longer than what takes its place.
          const handle = await directory.getDirectoryHandle('node_modules', { create: true });
          const lock = await handle.getFileHandle('.package-lock.json', { create: true });
          const stream = await lock.createWritable();
          await stream.write('x'.repeat(100_000));
          await stream.close();
          const report = await writeDirectory(project, directory, {
            onProgress: ({ files }) => {
              counts.told = files;
            },
          });
          counts.methods.push(report.method);
          for (const entry of await fs.readdir('/', { recursive: true, withFileTypes: true })) {
            if (!entry.isFile()) continue;
            const path = `${entry.parentPath}/${entry.name}`;
            let folder = directory;
            for (const name of entry.parentPath.split('/').filter(Boolean))
              folder = await folder.getDirectoryHandle(name);
            const file = await (await folder.getFileHandle(entry.name)).getFile();
            const [bytes, expected] = [new Uint8Array(await file.arrayBuffer()), await fs.readFile(path)];
            counts.files++;
            counts.bytes += bytes.length;
            if (bytes.length !== expected.length || bytes.some((byte, at) => byte !== expected[at])) {
              counts.different.push(path);
            }
          }
          if (report.files !== counts.files || report.bytes !== counts.bytes) counts.different.push('the report');
        }
        await gantry.close();
        return counts;
      },
      fixtures.url,
    );
    expect(result.different).toEqual([]);
    expect(result.methods).toEqual(['writable streams', 'writable streams']);
    expect(result.told).toBe(result.files);
    expect(result.files).toBeGreaterThan(5);
  });
});

/** In the page: `outcome`, of a tree being written by workers that wait for ever, and `stop`, which fires its signal. */
const beginWriting = (page: Page, registry: string) =>
  inPage(
    page,
    async ({ Gantry }, registry) => {
      const { writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      const directory = await (await navigator.storage.getDirectory()).getDirectoryHandle('other', { create: true });
      const abort = new AbortController();
      const outcome = writeDirectory(project, directory, { signal: abort.signal }).then(
        () => 'written',
        ({ code, cause }) => [code, cause].join(' ').trim(),
      );
      Object.assign(globalThis, { outcome, stop: () => abort.abort('enough') });
      // Each holds the lock by which it is watched.
      const held = async () =>
        (await navigator.locks.query()).held?.filter(({ name }) => name?.startsWith('gantry-alive:write:')).length;
      while ((await held()) !== 4) await new Promise((resume) => setTimeout(resume, 10));
    },
    registry,
  );
const outcome = (page: Page) => page.evaluate(() => (globalThis as unknown as { outcome: Promise<string> }).outcome);

test('when the browser ends a worker that writes, that is WORKER_LOST and the others end', async ({
  blank,
  site,
  fixtures,
}) => {
  await withHandles(site, 'new Promise(() => {})', async () => {
    await beginWriting(blank, fixtures.url);
    await writers(blank)[0]?.evaluate(() => self.close());
    expect(await outcome(blank)).toBe('WORKER_LOST');
    await expect.poll(() => writers(blank).length).toBe(0);
  });
});

test('a signal ends writing also while workers are waited for', async ({ blank, site, fixtures }) => {
  await withHandles(site, 'new Promise(() => {})', async () => {
    await beginWriting(blank, fixtures.url);
    await blank.evaluate(() => (globalThis as unknown as { stop(): void }).stop());
    expect(await outcome(blank)).toBe('ABORTED enough');
    await expect.poll(() => writers(blank).length).toBe(0);
  });
});

test('nothing of a folder is in use any more once writing has been stopped', async ({ blank, site, fixtures }) => {
  const script = readFileSync(join(packageFolder, 'dist/worker/write-files.js'), 'utf8');
  // Handles come late, and each is asked for long before the signal fires.
  const slow = `
    const createHandle = FileSystemFileHandle.prototype.createSyncAccessHandle;
    FileSystemFileHandle.prototype.createSyncAccessHandle = async function () {
      const handle = await createHandle.call(this);
      const told = new BroadcastChannel('handles');
      told.postMessage(1);
      await new Promise((resume) => setTimeout(resume, 500));
      const close = handle.close.bind(handle);
      handle.close = () => {
        close();
        told.postMessage(-1);
      };
      return handle;
    };`;
  site.pages.set(SCRIPT, `${slow}\n${script}`);
  try {
    const result = await inPage(
      blank,
      async ({ Gantry }, registry) => {
        const { writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
        const gantry = await Gantry.open({ registry });
        const project = await gantry.install({ packageJson: { dependencies: { left: '1.0.0', right: '1.0.0' } } });
        const root = await navigator.storage.getDirectory();
        const directory = await root.getDirectoryHandle('stopped', { create: true });
        const abort = new AbortController();
        let open = 0;
        Object.assign(globalThis, { handles: () => open });
        const opened = new Promise((resolve) => {
          new BroadcastChannel('handles').onmessage = ({ data }) => {
            open += data;
            resolve(data);
          };
        });
        const told: number[] = [];
        const outcome = writeDirectory(project, directory, {
          signal: abort.signal,
          onProgress: ({ files }) => told.push(files),
        }).catch(({ code }) => code);
        await opened;
        abort.abort();
        const code = await outcome;
        const removed = await root.removeEntry('stopped', { recursive: true }).then(
          () => 'removed',
          ({ name }) => name,
        );
        await gantry.close();
        return { code, removed, told };
      },
      fixtures.url,
    );
    expect(result).toEqual({ code: 'ABORTED', removed: 'removed', told: [] });
    // Each was closed by who had it: none by the browser, which does so at some time after it has ended a worker.
    const open = () => blank.evaluate(() => (globalThis as unknown as { handles(): number }).handles());
    await expect.poll(open).toBe(0);
  } finally {
    site.pages.delete(SCRIPT);
  }
});
