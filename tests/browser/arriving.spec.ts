/** A large tarball is unpacked while it comes, into a pack where nothing else is put meanwhile. */
import type { ServerResponse } from 'node:http';
import type { Gantry } from '../../web/src/index.js';
import { launchFirefox } from './support/firefox.js';
import { test as base, expect } from './support/fixtures.js';
import type { PackageModule } from './support/in-page.js';
import { lockOfNoise, NoiseHost, type Packed, packNoise } from './support/noise.js';

const LARGE_BYTES = 24 << 20;
/** What comes of a large one before it stops. */
const BEGINNING = 20 << 20;
/** What is written by then, at the least. */
const WRITTEN = 16 << 20;
/** What is left at the most when it has been given up. */
const LITTLE = 4 << 20;

const test = base.extend<{ halting: HaltingHost }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names
  halting: async ({}, use) => {
    const halting = new HaltingHost();
    await halting.host.start();
    await use(halting);
    await halting.host.stop();
  },
});

let packages = new Map<string, Packed>();
test.beforeAll(() => {
  packages = packNoise({
    'large-1': LARGE_BYTES,
    'large-2': LARGE_BYTES,
    'small-1': 1000,
    'small-2': 1000,
    late: 1000,
  });
});

const tarballOf = (name: string) => (packages.get(name) as Packed).tarball;

/** Sends large tarballs as far as the midst, and the rest, and `late`, when it is told to. */
class HaltingHost {
  readonly host: NoiseHost;
  goOn = () => {};
  /** What becomes of the first large one in its midst, if something else is to. */
  midst: ((response: ServerResponse) => void) | undefined;
  #going: Promise<void> | undefined;

  constructor() {
    this.halt();
    this.host = new NoiseHost(async (name, response) => {
      const tarball = tarballOf(name);
      response.setHeader('content-length', tarball.length);
      if (name.startsWith('small')) return void response.end(tarball);
      if (name === 'late') {
        await this.#going;
        return void response.end(tarball);
      }
      response.write(tarball.subarray(0, BEGINNING));
      const { midst } = this;
      this.midst = undefined;
      if (midst) return midst(response);
      await this.#going;
      response.end(tarball.subarray(BEGINNING));
    });
  }

  halt(): void {
    this.#going = new Promise((resolve) => {
      this.goOn = resolve;
    });
  }

  lockOf(...names: string[]): string {
    return lockOfNoise(packages, this.host.url, names);
  }
}

interface State {
  gantry: Gantry;
  controller: AbortController;
  outcome: Promise<string | string[]>;
  workers: Map<string, Worker>;
  arrived: string[];
}

interface Beginning {
  project: string;
  lockfile: string;
}

/** A page of either browser. */
interface Evaluating {
  evaluate<Result, Argument>(script: (argument: Argument) => Promise<Result>, argument: Argument): Promise<Result>;
}

/** A page with an open store. */
class Tab {
  readonly #page: Evaluating;

  constructor(page: unknown) {
    this.#page = page as Evaluating;
  }

  open(workers: number): Promise<void> {
    return this.#page.evaluate(async (workers) => {
      const byName = new Map<string, Worker>();
      const BrowserWorker = globalThis.Worker;
      globalThis.Worker = class extends BrowserWorker {
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          byName.set(options?.name ?? '', this);
        }
      };
      const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
      const gantry = await Gantry.open({ registry: 'http://nowhere.invalid/', workers, fetchTimeout: 600_000 });
      Object.assign(globalThis, { state: { gantry, workers: byName, arrived: [] } });
    }, workers);
  }

  /** Begins to install what a lock names. */
  begin(project: string, lockfile: string): Promise<void> {
    return this.#page.evaluate(
      async ({ project, lockfile }: Beginning) => {
        const { state } = globalThis as unknown as { state: State };
        state.controller = new AbortController();
        state.arrived = [];
        const { packages } = JSON.parse(lockfile);
        const install = async () => {
          const installed = await state.gantry.install({
            project,
            packageJson: packages[''],
            lockfile,
            frozen: true,
            signal: state.controller.signal,
            onEvent: (event) => {
              if (event.type === 'package') state.arrived.push(event.name);
            },
          });
          const digests: string[] = [];
          for (const name of Object.keys(packages[''].dependencies)) {
            const bytes = await installed.fs.readFile(`node_modules/${name}/data`);
            const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
            digests.push(Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''));
          }
          return digests;
        };
        state.outcome = install().catch(({ code }: { code: string }) => code);
      },
      { project, lockfile },
    );
  }

  /** Digests of what was installed, or the code of the error. */
  outcome(): Promise<string | string[]> {
    return this.#page.evaluate(async () => (globalThis as unknown as { state: State }).state.outcome, undefined);
  }

  arrived(): Promise<string[]> {
    return this.#page.evaluate(async () => (globalThis as unknown as { state: State }).state.arrived, undefined);
  }

  giveUp(): Promise<void> {
    return this.#page.evaluate(
      async () => (globalThis as unknown as { state: State }).state.controller.abort(),
      undefined,
    );
  }

  /** Removes all that is stored. */
  clear(): Promise<void> {
    return this.#page.evaluate(async () => (globalThis as unknown as { state: State }).state.gantry.clear(), undefined);
  }

  end(worker: string): Promise<void> {
    return this.#page.evaluate(async (name) => {
      (globalThis as unknown as { state: State }).state.workers.get(name)?.terminate();
    }, worker);
  }

  /** The first bytes of a file of a project. */
  read(project: string, path: string): Promise<number[]> {
    return this.#page.evaluate(
      async ([project, path]) => {
        const { gantry } = (globalThis as unknown as { state: State }).state;
        const bytes = await (await gantry.project(project as string))?.fs.readFile(path as string);
        return Array.from(bytes?.subarray(0, 100) ?? []);
      },
      [project, path],
    );
  }

  /** What is damaged, and how many packages are there. */
  verify(): Promise<{ damaged: string[]; packages: number }> {
    return this.#page.evaluate(async () => {
      const { damaged, packages } = await (globalThis as unknown as { state: State }).state.gantry.verify();
      return { damaged, packages };
    }, undefined);
  }

  /** Bytes of all packs. */
  packBytes(): Promise<number> {
    return this.#page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const store = await (await root.getDirectoryHandle('gantry')).getDirectoryHandle('gantry');
      let bytes = 0;
      for await (const [name, handle] of store.entries()) {
        if (/^pack-\d+$/.test(name)) bytes += (await (handle as FileSystemFileHandle).getFile()).size;
      }
      return bytes;
    }, undefined);
  }

  async hasWritten(bytes: number): Promise<void> {
    await expect.poll(() => this.packBytes()).toBeGreaterThan(bytes);
  }
}

const digestsOf = (...names: string[]) => names.map((name) => (packages.get(name) as Packed).digest);

test('is in its pack before its last bytes are here, and holds up none of the small ones', async ({
  blank,
  halting,
}) => {
  const tab = new Tab(blank);
  await tab.open(1);
  await tab.begin('project', halting.lockOf('large-1', 'small-1', 'small-2'));
  await tab.hasWritten(WRITTEN);
  await expect.poll(() => tab.arrived()).toEqual(expect.arrayContaining(['small-1', 'small-2']));
  halting.goOn();
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'small-1', 'small-2'));
  expect(await tab.verify()).toEqual({ damaged: [], packages: 3 });
  expect(halting.host.asked.get('large-1')).toBe(1);
});

test('two at once in one worker: the second is held until the pack is free', async ({ blank, halting }) => {
  const tab = new Tab(blank);
  await tab.open(1);
  await tab.begin('project', halting.lockOf('large-1', 'large-2'));
  await tab.hasWritten(WRITTEN);
  await expect.poll(() => halting.host.asked.size).toBe(2);
  // One of them.
  expect(await tab.packBytes()).toBeLessThan(LARGE_BYTES + LITTLE);
  halting.goOn();
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'large-2'));
  expect(await tab.verify()).toEqual({ damaged: [], packages: 2 });
});

test('given up in the midst, it takes no room, and can be installed afterwards', async ({ blank, halting }) => {
  const tab = new Tab(blank);
  await tab.open(2);
  await tab.begin('project', halting.lockOf('large-1', 'small-1'));
  await tab.hasWritten(WRITTEN);
  await tab.giveUp();
  expect(await tab.outcome()).toBe('ABORTED');
  await expect.poll(() => tab.packBytes()).toBeLessThan(LITTLE);
  halting.goOn();
  await tab.begin('project', halting.lockOf('large-1', 'large-2', 'small-1'));
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'large-2', 'small-1'));
  expect((await tab.verify()).damaged).toEqual([]);
});

test('cut off in the midst, it is asked for again', async ({ blank, halting }) => {
  halting.midst = (response) => response.destroy();
  halting.goOn();
  const tab = new Tab(blank);
  await tab.open(1);
  await tab.begin('project', halting.lockOf('large-1', 'large-2'));
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'large-2'));
  const { damaged } = await tab.verify();
  expect(damaged).toEqual([]);
  expect(halting.host.asked.get('large-1')).toBe(2);
  expect(await tab.packBytes()).toBeLessThan(2 * LARGE_BYTES + LITTLE);
});

test('another one than was promised is refused when all of it is here, and nothing of it stays', async ({
  blank,
  halting,
}) => {
  const others = packNoise({ 'large-1': LARGE_BYTES });
  const lockfile = lockOfNoise(new Map([...packages, ...others]), 'http://nowhere.invalid', ['large-1', 'small-1']);
  halting.goOn();
  const tab = new Tab(blank);
  await tab.open(1);
  await tab.begin('project', lockfile.replaceAll('http://nowhere.invalid', halting.host.url));
  expect(await tab.outcome()).toBe('ARCHIVE_INTEGRITY');
  // Once more, in case something on the way had changed it.
  expect(halting.host.asked.get('large-1')).toBe(2);
  expect(await tab.packBytes()).toBeLessThan(LITTLE);
  await tab.begin('project', halting.lockOf('large-1', 'small-1'));
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'small-1'));
});

test('a worker that ends in the midst of it has a successor, which keeps what was unpacked before', async ({
  blank,
  halting,
}) => {
  const tab = new Tab(blank);
  await tab.open(1);
  await tab.begin('project', halting.lockOf('small-1', 'large-1', 'large-2'));
  await tab.hasWritten(WRITTEN);
  await expect.poll(() => tab.arrived()).toContain('small-1');
  await tab.end('gantry-unpack-0');
  halting.goOn();
  expect(await tab.outcome()).toEqual(digestsOf('small-1', 'large-1', 'large-2'));
  expect(await tab.verify()).toEqual({ damaged: [], packages: 3 });
  expect(halting.host.asked.get('small-1')).toBe(1);
});

test('given up while its pack is being opened, it leaves nothing open', async ({ blank, halting }) => {
  const tab = new Tab(blank);
  await tab.open(1);
  // A small one first, so that its worker is there.
  await tab.begin('small', halting.lockOf('small-1'));
  expect(await tab.outcome()).toEqual(digestsOf('small-1'));
  const worker = blank.workers().find((worker) => worker.url().endsWith('/unpack.js'));
  if (!worker) throw new Error('there is no unpack worker');
  // Its second pack opens slowly.
  await worker.evaluate(() => {
    type Opening = { createSyncAccessHandle(...options: unknown[]): Promise<unknown> };
    const prototype = FileSystemFileHandle.prototype as unknown as FileSystemFileHandle & Opening;
    const { createSyncAccessHandle } = prototype;
    Object.assign(globalThis, { slowly: 0 });
    prototype.createSyncAccessHandle = async function (...options) {
      const handle = await createSyncAccessHandle.apply(this, options);
      if (this.name.startsWith('pack-1')) {
        Object.assign(globalThis, { slowly: 1 });
        await new Promise((resume) => setTimeout(resume, 500));
      }
      return handle;
    };
  });
  await tab.begin('project', halting.lockOf('large-1'));
  await expect.poll(() => worker.evaluate(() => (globalThis as unknown as { slowly: number }).slowly)).toBe(1);
  await tab.giveUp();
  expect(await tab.outcome()).toBe('ABORTED');
  // Nothing that is open can be removed.
  await tab.clear();
  halting.goOn();
  await tab.begin('project', halting.lockOf('large-1', 'small-1'));
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'small-1'));
});

test('what a page that is closed in its midst leaves goes with the next install', async ({ blank, halting }) => {
  const before = new Tab(blank);
  await before.open(2);
  await before.begin('project', halting.lockOf('large-1', 'small-1'));
  await before.hasWritten(WRITTEN);
  await blank.reload();
  const tab = new Tab(blank);
  await tab.open(2);
  await tab.begin('project', halting.lockOf('small-2'));
  expect(await tab.outcome()).toEqual(digestsOf('small-2'));
  expect(await tab.packBytes()).toBeLessThan(LITTLE);
  halting.goOn();
  await tab.begin('project', halting.lockOf('large-1', 'small-1'));
  expect(await tab.outcome()).toEqual(digestsOf('large-1', 'small-1'));
  expect((await tab.verify()).damaged).toEqual([]);
});

for (const browserName of ['Chromium', 'Firefox'] as const) {
  test(`${browserName}: what is in its pack can be read while another one comes, and while none does`, async ({
    site,
    blank,
    halting,
  }) => {
    const firefox = browserName === 'Firefox' ? await launchFirefox() : undefined;
    try {
      const page = await firefox?.newPage();
      await page?.goto(`${site.url}/pages/blank.html`);
      const tab = new Tab(page ?? blank);
      await tab.open(1);
      halting.goOn();
      await tab.begin('first', halting.lockOf('large-1'));
      expect(await tab.outcome()).toEqual(digestsOf('large-1'));
      const expected = await tab.read('first', 'node_modules/large-1/data');
      expect(expected).toHaveLength(100);
      halting.halt();
      await tab.begin('second', halting.lockOf('large-2', 'small-1'));
      await expect.poll(() => tab.arrived()).toContain('small-1');
      expect(await tab.read('first', 'node_modules/large-1/data')).toEqual(expected);
      halting.goOn();
      expect(await tab.outcome()).toEqual(digestsOf('large-2', 'small-1'));
      halting.halt();
      await tab.begin('third', halting.lockOf('late'));
      await expect.poll(() => halting.host.asked.has('late')).toBe(true);
      expect(await tab.read('first', 'node_modules/large-1/data')).toEqual(expected);
      halting.goOn();
      expect(await tab.outcome()).toEqual(digestsOf('late'));
      expect(await tab.verify()).toEqual({ damaged: [], packages: 4 });
    } finally {
      await firefox?.close();
    }
  });
}
