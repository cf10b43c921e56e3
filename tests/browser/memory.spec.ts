/** Stores in memory: everything works as in OPFS, and nothing is left of them. */
import { join } from 'node:path';
import type { Page, Worker } from '@playwright/test';
import type * as exporters from '../../web/src/export.js';
import type { Gantry, GantryError } from '../../web/src/index.js';
import type * as resolving from '../../web/src/resolve.js';
import { bundle } from './support/consumers.js';
import { lookIntoStorage, useForEverything } from './support/every-use.js';
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';
import { lockOfNoise, NoiseHost, packNoise } from './support/noise.js';
import { packageFolder } from './support/paths.js';

const workersOf = (page: Page, script: 'coordinator' | 'unpack') =>
  page.workers().filter((worker) => worker.url().endsWith(`/${script}.js`));

const IN_MEMORY = { kind: 'memory', quota: 'Infinity', usage: expect.any(Number), persisted: false, persists: false };

test('everything works in memory as in OPFS, byte for byte, and nothing is left of it', async ({
  blank,
  recording,
}) => {
  const inMemory = await blank.evaluate(useForEverything, ['memory', recording.url] as const);
  expect(await blank.evaluate(lookIntoStorage)).toEqual([]);
  const inFiles = await blank.evaluate(useForEverything, ['opfs', recording.url] as const);
  expect(inMemory.same).toEqual(inFiles.same);
  expect(inMemory.same).toMatchObject({
    requests: [0, 0, expect.any(Number)],
    verified: { damaged: [], projects: [] },
    removed: [true, true],
    cleared: [],
    closed: 'CLOSED',
  });
  expect(inMemory.same.written).toBeGreaterThan(1000);
  expect(inMemory.storage).toEqual(IN_MEMORY);
  expect(inMemory.storage.usage).toBeGreaterThan(1 << 20);
});

test('imports are resolved in a tree in memory, and it is written to a folder as it is', async ({
  blank,
  recording,
}) => {
  await bundle('resolve', `export * from ${JSON.stringify(join(packageFolder, 'dist', 'resolve.js'))};`);
  const { found, different, files } = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
      const { writeDirectory } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const gantry = await Gantry.open({ registry, storage: 'memory' });
      const dependencies = { express: '^5.3.0' };
      const project = await gantry.install({ packageJson: { name: 'one', version: '1.0.0', dependencies } });
      const found = await createResolver(project).resolve('qs', '/node_modules/express/lib/request.js');
      const root = await navigator.storage.getDirectory();
      const directory = await root.getDirectoryHandle('written', { create: true });
      const { files } = await writeDirectory(project, directory);
      const different: string[] = [];
      for (const entry of await project.fs.readdir('/node_modules', { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        let folder = directory;
        for (const name of entry.parentPath.split('/').filter(Boolean)) folder = await folder.getDirectoryHandle(name);
        const text = await (await (await folder.getFileHandle(entry.name)).getFile()).text();
        const path = `${entry.parentPath}/${entry.name}`;
        if (text !== (await project.fs.readFile(path, 'utf8'))) different.push(path);
      }
      await gantry.close();
      await root.removeEntry('written', { recursive: true });
      return { found, different, files };
    },
    recording.url,
  );
  expect(found).toMatch(/^\/node_modules\/qs\/.*\.js$/);
  expect(files).toBeGreaterThan(300);
  expect(different).toEqual([]);
});

test('stores in memory of one name are two, beside one in OPFS, and gone when they are closed', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry, watchProject }, registry) => {
      const heard: string[] = [];
      watchProject(({ project }) => heard.push(`opfs: ${project}`));
      const stored = await Gantry.open({ registry });
      const [one, other] = await Promise.all([
        Gantry.open({ registry, storage: 'memory' }),
        Gantry.open({ registry, storage: 'memory' }),
      ]);
      const project = await one.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      project.onDidChange(() => heard.push('one'));
      const second = await other.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      second.onDidChange(() => heard.push('other'));
      const versions: unknown[] = [];
      for (const { fs } of [project, second]) {
        versions.push(JSON.parse(await fs.readFile('node_modules/left/package.json', 'utf8')).version);
      }
      await one.install({ packageJson: { dependencies: {} } });
      const projects = [await stored.projects(), await one.projects(), await other.projects()];
      await one.close();
      const next = await Gantry.open({ registry, storage: 'memory' });
      const afterwards = [await next.projects(), await other.projects()];
      const read = await project.fs.readFile('node_modules/left/package.json').catch(({ code }: GantryError) => code);
      for (const gantry of [next, other, stored]) await gantry.close();
      return { versions, projects, afterwards, read, heard, names: [one.store, other.store] };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    versions: ['1.0.0', '1.1.0'],
    projects: [[], ['default'], ['default']],
    afterwards: [[], ['default']],
    read: 'CLOSED',
    heard: ['one'],
    names: ['gantry', 'gantry'],
  });
});

test('what a store in memory cannot do is said', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const said = ({ code, message, hint }: GantryError) => ({ code, message, hint });
      const gantry = await Gantry.open({ registry, storage: 'memory' });
      await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      Object.assign(globalThis, { gantry });
      return [
        await Gantry.open({ registry, storage: 'disk' as never }).catch(said),
        await Gantry.remove({ storage: 'memory' } as never).catch(said),
        await Gantry.remove(),
      ];
    },
    fixtures.url,
  );
  expect(result).toEqual([
    expect.objectContaining({ code: 'INVALID_OPTION', hint: expect.stringContaining("'memory'") }),
    expect.objectContaining({ code: 'INVALID_OPTION', hint: expect.stringContaining('close') }),
    false,
  ]);
  const opened = inWorker(({ openProject }) =>
    openProject().then(
      () => ({ code: 'opened', hint: '' }),
      ({ code, hint }) => ({ code, hint }),
    ),
  );
  expect(await blank.evaluate(evaluateInWorker<unknown>, opened)).toEqual({
    code: 'PROJECT_UNKNOWN',
    hint: expect.stringContaining('memory'),
  });
});

/** Begins an install that hangs in its last package, after two are unpacked. */
async function installInVain(page: Page, registry: string): Promise<{ code: string; hint: string | undefined }> {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, storage: 'memory', workers: 1 });
      Object.assign(globalThis, { gantry });
      await gantry.install({ project: 'earlier', packageJson: { dependencies: { right: '1.0.0' } } });
      let unpacked = 0;
      return gantry
        .install({
          packageJson: { dependencies: { left: '1.1.0', executable: '1.0.0', 'with-script': '1.0.0' } },
          onEvent: ({ type }) => {
            if (type === 'package' && ++unpacked === 2) document.title = 'two are unpacked';
          },
        })
        .then(
          () => ({ code: 'installed', hint: '' }),
          ({ code, hint }) => ({ code, hint }),
        );
    },
    registry,
  );
}

/** The name of the package that an earlier install brought into the store that {@link installInVain} has open. */
function readEarlier(page: Page): Promise<string> {
  return inPage(page, async () => {
    const { gantry } = globalThis as unknown as { gantry: Gantry };
    const earlier = await gantry.project('earlier');
    return JSON.parse((await earlier?.fs.readFile('node_modules/right/package.json', 'utf8')) ?? '{}').name;
  });
}

/** Of the store that {@link installInVain} left open. */
function afterwards(page: Page, registry: string) {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      const { gantry } = globalThis as unknown as { gantry: Gantry };
      await fetch(`${registry}-/gantry/faults`, { method: 'DELETE' });
      const earlier = await gantry.project('earlier');
      const reading = await earlier?.fs.readFile('node_modules/right/package.json', 'utf8').then(
        () => 'read',
        ({ code, hint }: GantryError) => `${code}: ${hint}`,
      );
      const { damaged, projects } = await gantry.verify();
      const packageJson = { dependencies: { left: '1.1.0', executable: '1.0.0', 'with-script': '1.0.0' } };
      const installed = await gantry.install({ packageJson });
      const right = { dependencies: { right: '1.0.0' } };
      const anew = await gantry.install({ project: 'earlier', packageJson: right });
      const text = await anew.fs.readFile('node_modules/right/package.json', 'utf8');
      const verified = await gantry.verify();
      const { packages } = await gantry.prune();
      const digests = [await installed.treeDigest(), await anew.treeDigest()];
      await gantry.close();
      const elsewhere = await Gantry.open({ registry });
      const expected = [
        await (await elsewhere.install({ packageJson })).treeDigest(),
        await (await elsewhere.install({ project: 'earlier', packageJson: right })).treeDigest(),
      ];
      await elsewhere.close();
      const reused = [installed.reused, anew.reused];
      return { reading, damaged, projects, reused, text, verified, packages, digests, expected };
    },
    registry,
  );
}

test('packs that go to another worker than before keep what they have', async ({ blank }) => {
  // The last one is large enough for the second pack of its worker, which is the second one: the next install gives that to
  // the first.
  const packages = packNoise({ a: 1000, b: 1000, c: 1000, other: 1000, vast: 1 << 20 });
  const host = await new NoiseHost((name, response) => {
    response.end(packages.get(name)?.tarball);
  }).start();
  try {
    const locks = [['a', 'b', 'c', 'vast'], ['other'], ['vast']].map((names) => lockOfNoise(packages, host.url, names));
    const script = async ({ Gantry }: PackageModule, argument: string): Promise<[number, string[]][]> => {
      const { registry, locks } = JSON.parse(argument);
      const found: [number, string[]][] = [];
      for (let time = 0; time < 4; time++) {
        const gantry = await Gantry.open({ registry, storage: 'memory', workers: 2 });
        let reused = 0;
        for (const [index, lockfile] of locks.entries()) {
          const packageJson = JSON.parse(lockfile).packages[''];
          const installed = await gantry.install({ project: `${index}`, packageJson, lockfile, frozen: true });
          reused += installed.reused;
        }
        found.push([reused, (await gantry.verify()).damaged]);
        await gantry.close();
      }
      return found;
    };
    const argument = JSON.stringify({ registry: `${host.url}/`, locks });
    expect(await inPage(blank, script, argument)).toEqual(Array(4).fill([1, []]));
  } finally {
    await host.stop();
  }
});

test('an unpack worker that dies takes what it had along: the install fails with STORE_LOST, the next one fetches all of it', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/with-script/-/*', kind: 'hang-in-body', after: 10 });
  const pending = installInVain(blank, fixtures.url);
  await expect(blank).toHaveTitle('two are unpacked');
  // Out of the pack that the worker has.
  expect(await readEarlier(blank)).toBe('right');
  await (workersOf(blank, 'unpack')[0] as Worker).evaluate(() => self.close());
  expect(await pending).toEqual({ code: 'STORE_LOST', hint: expect.stringContaining('Install again') });
  const found = await afterwards(blank, fixtures.url);
  expect(found.reading).toBe('STORE_LOST: Install the project again.');
  expect(found.damaged).toEqual([]);
  expect(found.projects).toEqual(['earlier']);
  expect(found.verified).toMatchObject({ damaged: [], projects: [] });
  expect(JSON.parse(found.text).name).toBe('right');
  expect(found.reused).toEqual([0, 1]);
  expect(found.digests).toEqual(found.expected);
});

test('an unpack worker that dies as packs are handed to it leaves the store usable, also for those who read meanwhile', async ({
  blank,
  fixtures,
}) => {
  const codes = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const ended = new Map<string, globalThis.Worker>();
      const BrowserWorker = globalThis.Worker;
      globalThis.Worker = class extends BrowserWorker {
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          ended.set(options?.name ?? '', this);
        }
      };
      const codes = new Set<string>();
      // At once, and some milliseconds later: by then the worker has the packs, and has them open, or not.
      for (const wait of [undefined, 0, undefined, 2, undefined, 4, undefined, 8]) {
        const gantry = await Gantry.open({ registry, storage: 'memory', workers: 2 });
        const project = await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
        const reading = { goesOn: true };
        const readers = Array.from({ length: 4 }, async () => {
          while (reading.goesOn) await project.treeDigest().catch(({ code }) => codes.add(`reading: ${code}`));
        });
        const end = () => ended.get('gantry-unpack-1')?.terminate();
        if (wait === undefined) end();
        const pending = gantry.install({
          project: 'other',
          packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } },
        });
        if (wait !== undefined) setTimeout(end, wait);
        await pending.catch(({ code }) => codes.add(`the install: ${code}`));
        await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
        reading.goesOn = false;
        await Promise.all(readers);
        codes.add((await gantry.project())?.packages === 1 ? 'installed' : 'not installed');
        await gantry.close();
      }
      return [...codes];
    },
    fixtures.url,
  );
  const allowed = [
    'installed',
    'the install: STORE_LOST',
    'reading: STORE_CORRUPT',
    'reading: LAYOUT_MISSING',
    'reading: STORE_LOST',
  ];
  expect(codes.filter((code) => !allowed.includes(code))).toEqual([]);
  expect(codes).toContain('installed');
});

test('memory that is used up is STORE_FULL, and the next install works', async ({ blank, fixtures }) => {
  await inPage(
    blank,
    async ({ Gantry }, registry) => {
      Object.assign(globalThis, { gantry: await Gantry.open({ registry, storage: 'memory', workers: 1 }) });
    },
    fixtures.url,
  );
  const install = () =>
    inPage(blank, async () => {
      const { gantry } = globalThis as unknown as { gantry: Gantry };
      const said = ({ code, message }: GantryError) => `${code}: ${message}`;
      return gantry
        .install({ packageJson: { dependencies: { left: '1.0.0' } } })
        .then(({ fs }) => fs.readFile('node_modules/left/index.js', 'utf8'), said);
    });
  await expect.poll(() => workersOf(blank, 'unpack').length).toBe(1);
  const unpacking = workersOf(blank, 'unpack')[0] as Worker;
  await unpacking.evaluate(() => {
    const Original = Uint8Array;
    // As where the browser has no more for this page; what is asked for in smaller pieces is the module's own.
    class Scarce extends Original {
      constructor(...rest: [number]) {
        if (rest[0] === 1 << 20) throw new RangeError('Array buffer allocation failed');
        super(...rest);
      }
    }
    Object.assign(globalThis, {
      Uint8Array: Scarce,
      restore: () => Object.assign(globalThis, { Uint8Array: Original }),
    });
  });
  expect(await install()).toMatch(/^STORE_FULL: .*no memory left/);
  await unpacking.evaluate(() => (globalThis as unknown as { restore(): void }).restore());
  expect(await install()).toBe('module.exports = "left 1.0.0"\n');
});
