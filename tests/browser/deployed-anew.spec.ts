/** A site that is deployed anew while a page of it is open: what that page has not asked for yet is gone from then on. */
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';

test('a page that is older than what is served is told to be reloaded, and reads on', async ({
  blank,
  site,
  fixtures,
}) => {
  const deploy = (prefix: string) =>
    site.answering.set(prefix, (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('gone'));
  // As a page is that finds a project: nothing has to be unpacked.
  await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      await gantry.close();
    },
    fixtures.url,
  );
  await inPage(
    blank,
    async ({ Gantry, GantryError }, registry) => {
      const { writeDirectory } = await import(`${location.origin}/package/dist/export.js`);
      const gantry = await Gantry.open({ registry });
      const project = await gantry.project();
      const folder = await navigator.storage.getDirectory();
      const told = (promise: Promise<unknown> | undefined) =>
        promise?.then(
          () => 'done',
          (error) => error instanceof GantryError && `${error.code} ${error.hint}`,
        );
      const attempts = {
        install: () => told(gantry.install({ packageJson: { dependencies: { left: '1.1.0' } }, lockfile: null })),
        write: () => told(writeDirectory(project, folder)),
        open: async () => told(Gantry.open({ registry, store: 'another' }).then((opened) => opened.close())),
        read: () => project?.fs.readFile('node_modules/left/index.js', 'utf8'),
      };
      Object.assign(globalThis, { attempt: (name: keyof typeof attempts) => attempts[name]() });
    },
    fixtures.url,
  );
  const attempt = (name: string) =>
    blank.evaluate((which) => (globalThis as unknown as { attempt(name: string): string }).attempt(which), name);
  try {
    deploy('/package/wasm/gantry_bg.wasm');
    expect(await attempt('open')).toMatch(/^WASM_UNAVAILABLE .* reload it\.$/);
    deploy('/package/dist/worker/');
    for (const name of ['install', 'write', 'open'])
      expect(await attempt(name)).toMatch(/^WORKER_LOST .* reload it\.$/);
    expect(await attempt('read')).toBe('module.exports = "left 1.0.0"\n');
  } finally {
    site.answering.delete('/package/wasm/gantry_bg.wasm');
    site.answering.delete('/package/dist/worker/');
  }
  for (const name of ['open', 'install', 'write']) expect(await attempt(name)).toBe('done');
  expect(await attempt('read')).toBe('module.exports = "left 1.1.0"\n');
});
