/** A real quota that is too small: an error of its own, and a store that is what it was and goes on working. */
import { withAddedScript } from './support/added-script.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { lockOfNoise, NoiseHost, packNoise } from './support/noise.js';
import { Profile } from './support/profile.js';

// Chromium sets a megabyte aside for each file that grows, and two packs do: less than three leaves no room for anything.
for (const room of [3_000_000, 5_000_000, 8_000_000]) {
  test(`with ${room / 1e6} MB left a large install fails with STORE_FULL, and smaller ones work without more room`, async ({
    playwright,
    launchOptions,
    contextOptions,
    site,
    recording,
  }) => {
    const profile = new Profile(playwright, { ...launchOptions, ...contextOptions });
    try {
      const context = await profile.open();
      const page = await context.newPage();
      await page.goto(`${site.url}/pages/blank.html`);
      const before = await inPage(
        page,
        async ({ Gantry }, registry) => {
          const gantry = await Gantry.open({ registry, workers: 2 });
          Object.assign(globalThis, { gantry });
          const kept = await gantry.install({ project: 'kept', packageJson: { dependencies: { cors: '^2.8.0' } } });
          return { digest: await kept.treeDigest(), usage: (await navigator.storage.estimate()).usage ?? 0 };
        },
        recording.url,
      );
      const devtools = await context.newCDPSession(page);
      await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: before.usage + room });
      const result = await inPage(page, async () => {
        const { gantry } = globalThis as unknown as { gantry: import('../../web/src/index.js').Gantry };
        // Many packages, some of which fit.
        const large = { express: '^5.3.0', zod: '^4.6.0', lodash: '^4.18.0', react: '^19.3.0', 'react-dom': '^19.3.0' };
        const install = (project: string, dependencies: Record<string, string>) =>
          gantry.install({ project, packageJson: { dependencies } }).then(
            async (installed) => ({ code: 'installed', hint: '', digest: await installed.treeDigest() }),
            ({ code, hint }) => ({ code, hint, digest: '' }),
          );
        const failed = [];
        const checks = [];
        for (let time = 0; time < 3; time++) {
          failed.push(await install('large', large));
          const digest = await (await gantry.project('kept'))?.treeDigest();
          checks.push({ digest, ...(await gantry.verify()), large: await gantry.project('large') });
        }
        const small = await install('small', { picocolors: '^1.1.1' });
        const removed = await gantry.removeProject('kept');
        const { packages: pruned } = await gantry.prune();
        const again = await install('kept', { cors: '^2.8.0' });
        const { damaged, projects } = await gantry.verify();
        await gantry.close();
        return { failed, checks, small, removed, pruned, again, damaged, projects };
      });
      for (const { code, hint } of result.failed) {
        expect(code).toBe('STORE_FULL');
        expect(hint).not.toBe('');
      }
      for (const check of result.checks) {
        expect(check).toMatchObject({ digest: before.digest, damaged: [], projects: [] });
        expect(check.large).toBeUndefined();
      }
      expect(result.small.code).toBe('installed');
      expect(result.removed).toBe(true);
      expect(result.pruned).toBeGreaterThan(0);
      expect(result.again).toMatchObject({ code: 'installed', digest: before.digest });
      expect(result).toMatchObject({ damaged: [], projects: [] });

      // With more room the large one completes.
      await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.url });
      const large = await inPage(
        page,
        async ({ Gantry }, registry) => {
          const gantry = await Gantry.open({ registry, timeout: 20_000 });
          const dependencies = { express: '^5.3.0', zod: '^4.6.0', lodash: '^4.18.0' };
          const { packages } = await gantry.install({ project: 'large', packageJson: { dependencies } });
          const { damaged } = await gantry.verify();
          await gantry.close();
          return { packages, damaged };
        },
        recording.url,
      );
      expect(large.packages).toBeGreaterThan(50);
      expect(large.damaged).toEqual([]);
    } finally {
      await profile.remove();
    }
  });
}

test('what an install that found no room had recorded on its way takes no room from smaller ones', async ({
  playwright,
  launchOptions,
  contextOptions,
  site,
}) => {
  // Three of them are more than the store holds back before it records them.
  const names = ['noise-1', 'noise-2', 'noise-3', 'noise-4', 'noise-5', 'noise-6'];
  const packages = packNoise(Object.fromEntries(names.map((name) => [name, 20 << 20])));
  const host = await new NoiseHost((name, response) => {
    response.end(packages.get(name)?.tarball);
  }).start();
  const profile = new Profile(playwright, { ...launchOptions, ...contextOptions });
  try {
    const context = await profile.open();
    const page = await context.newPage();
    await page.goto(`${site.url}/pages/blank.html`);
    const used = await inPage(
      page,
      async ({ Gantry }, argument) => {
        const { url, lock } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry: `${url}/`, workers: 2 });
        Object.assign(globalThis, { gantry });
        await gantry.install({ project: 'kept', packageJson: JSON.parse(lock).packages[''], lockfile: lock });
        return (await navigator.storage.estimate()).usage ?? 0;
      },
      JSON.stringify({ url: host.url, lock: lockOfNoise(packages, host.url, ['noise-1']) }),
    );
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: used + (85 << 20) });
    const locks = [names, names.slice(0, 3)].map((some) => lockOfNoise(packages, host.url, some));
    const result = await inPage(
      page,
      async (_, argument) => {
        const { gantry } = globalThis as unknown as { gantry: import('../../web/src/index.js').Gantry };
        const install = (project: string, lockfile: string) =>
          gantry.install({ project, packageJson: JSON.parse(lockfile).packages[''], lockfile }).then(
            ({ packages }) => packages,
            ({ code }) => code,
          );
        const [large, small] = JSON.parse(argument);
        const outcomes = [await install('large', large), await install('large', large)];
        const { packages: stored } = await gantry.usage();
        outcomes.push(await install('small', small));
        const { damaged, projects, packages } = await gantry.verify();
        await gantry.close();
        return { outcomes, stored, packages, damaged, projects };
      },
      JSON.stringify(locks),
    );
    expect(result).toEqual({
      outcomes: ['STORE_FULL', 'STORE_FULL', 3],
      stored: 1,
      packages: 3,
      damaged: [],
      projects: [],
    });
    const again = await inPage(
      page,
      async ({ Gantry }, url) => {
        const gantry = await Gantry.open({ registry: `${url}/`, timeout: 20_000 });
        const { damaged, packages } = await gantry.verify();
        await gantry.close();
        return { damaged, packages };
      },
      host.url,
    );
    expect(again).toEqual({ damaged: [], packages: 3 });
  } finally {
    await profile.remove();
    await host.stop();
  }
});

/** In a worker: the first write to a journal that has `text` in it finds no room. */
const fullForOnce = (text: string) => `
  const journals = new WeakSet();
  const { createSyncAccessHandle } = FileSystemFileHandle.prototype;
  FileSystemFileHandle.prototype.createSyncAccessHandle = async function (...rest) {
    const handle = await createSyncAccessHandle.apply(this, rest);
    if (this.name.startsWith('journal')) journals.add(handle);
    return handle;
  };
  const { write } = FileSystemSyncAccessHandle.prototype;
  let isFull = true;
  FileSystemSyncAccessHandle.prototype.write = function (bytes, ...rest) {
    if (isFull && journals.has(this) && new TextDecoder().decode(bytes).includes(${JSON.stringify(text)})) {
      isFull = false;
      throw new DOMException('No space left', 'QuotaExceededError');
    }
    return write.call(this, bytes, ...rest);
  };
`;

test('where there is no room to record a project, documents that can be fetched again make some', async ({
  blank,
  site,
  fixtures,
}) => {
  await withAddedScript(site, 'coordinator', fullForOnce('of-the-full-store'), async () => {
    const result = await inPage(
      blank,
      async ({ Gantry }, registry) => {
        const gantry = await Gantry.open({ registry });
        const install = (project: string) =>
          gantry.install({ project, packageJson: { dependencies: { left: '1.0.0' } } });
        const { requests } = await install('first');
        const second = await install('of-the-full-store');
        const installed = await second.fs.readFile('node_modules/left/package.json', 'utf8');
        // Nothing of what documents said is kept any more.
        const third = await install('third');
        const { damaged } = await gantry.verify();
        const projects = await gantry.projects();
        await gantry.close();
        return { requests, second: second.requests, third: third.requests, installed, damaged, projects };
      },
      fixtures.url,
    );
    expect(result.requests).toBeGreaterThan(0);
    expect(result.second).toBe(0);
    expect(result.third).toBeGreaterThan(0);
    expect(JSON.parse(result.installed).version).toBe('1.0.0');
    expect(result).toMatchObject({ damaged: [], projects: ['first', 'of-the-full-store', 'third'] });
  });
});
