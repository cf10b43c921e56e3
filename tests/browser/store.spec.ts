/** What the store keeps: never less than was reported, never other bytes, and nothing that nobody asked it to keep. */
import type { Page, Worker } from '@playwright/test';
import type { Gantry } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';

/** The page's running worker of this script, but for one that has ended; waits until the browser tells of it. */
async function workerOf(page: Page, script: 'coordinator' | 'unpack', ended?: Worker): Promise<Worker> {
  const find = () => page.workers().find((worker) => worker !== ended && worker.url().endsWith(`/${script}.js`));
  await expect.poll(() => find() !== undefined, `a ${script} worker runs`).toBe(true);
  return find() as Worker;
}

for (const kind of ['dependencies', 'optionalDependencies'] as const) {
  test(`what an unpack worker had finished when it and its successor died is kept byte for byte, the package under way in ${kind}`, async ({
    blank,
    fixtures,
  }) => {
    await fixtures.fault({ path: '/with-script/-/*', kind: 'hang-in-body', after: 10 });
    const pending = inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, kind } = JSON.parse(argument);
        const packageJson = {
          name: 'project',
          version: '1.0.0',
          dependencies: { left: '1.1.0', executable: '1.0.0' },
          ...(kind === 'dependencies'
            ? { dependencies: { left: '1.1.0', executable: '1.0.0', 'with-script': '1.0.0' } }
            : { optionalDependencies: { 'with-script': '1.0.0' } }),
        };
        const gantry = await Gantry.open({ registry, workers: 1 });
        let unpacked = 0;
        const first = await gantry
          .install({
            packageJson,
            onEvent: ({ type }) => {
              if (type === 'package' && ++unpacked === 2) document.title = 'two are unpacked';
            },
          })
          .then(
            () => 'installed',
            (error) => error.code,
          );
        await fetch(`${registry}-/gantry/faults`, { method: 'DELETE' });
        const second = await gantry.install({ packageJson, lockfile: null });
        const digest = await second.treeDigest();
        await gantry.close();
        const elsewhere = await Gantry.open({ registry, store: 'elsewhere' });
        const expected = await (await elsewhere.install({ packageJson })).treeDigest();
        await elsewhere.close();
        return { first, reused: second.reused, packages: second.packages, same: digest === expected };
      },
      JSON.stringify({ registry: fixtures.url, kind }),
    );
    await expect(blank).toHaveTitle('two are unpacked');
    const first = await workerOf(blank, 'unpack');
    await first.evaluate(() => self.close());
    await expect.poll(() => fixtures.faulty(), 'the successor has the job').toBe(2);
    await (await workerOf(blank, 'unpack', first)).evaluate(() => self.close());
    expect(await pending).toEqual({ first: 'WORKER_LOST', reused: 2, packages: 3, same: true });
  });
}

/** In a worker: the next bytes that its wasm copies out of JavaScript make it trap, as a panic in Rust does. */
function trapWhenBytesArrive(): void {
  const trap = new WebAssembly.Instance(
    // A module of one exported function, `t`, whose only instruction is `unreachable`.
    new WebAssembly.Module(
      new Uint8Array([
        ...[0, 97, 115, 109, 1, 0, 0, 0],
        ...[1, 4, 1, 96, 0, 0],
        ...[3, 2, 1, 0],
        ...[7, 5, 1, 1, 116, 0, 0],
        ...[10, 5, 1, 3, 0, 0, 11],
      ]),
    ),
  ).exports.t as () => void;
  Uint8Array.prototype.set = trap;
}

for (const script of ['coordinator', 'unpack'] as const) {
  const outcome = script === 'unpack' ? 'has its successor do its work' : 'fails the install with WORKER_LOST';
  test(`a wasm trap in the ${script} worker ${outcome}, and the next one works`, async ({ blank, fixtures }) => {
    await inPage(
      blank,
      async ({ Gantry }, registry) => {
        Object.assign(globalThis, { gantry: await Gantry.open({ registry, workers: 1 }) });
      },
      fixtures.url,
    );
    await (await workerOf(blank, script)).evaluate(trapWhenBytesArrive);
    const result = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, script } = JSON.parse(argument);
        let { gantry } = globalThis as unknown as { gantry: Gantry };
        const packageJson = { dependencies: { left: '1.1.0' } };
        const error = await gantry.install({ packageJson }).then(
          () => ({ code: 'installed', message: '' }),
          ({ code, message }) => ({ code, message }),
        );
        // The coordinator takes the connection with it; an unpack worker has a successor.
        if (script === 'coordinator') gantry = await Gantry.open({ registry, timeout: 20_000 });
        const { fs } = await gantry.install({ packageJson });
        const text = await fs.readFile('node_modules/left/index.js', 'utf8');
        await gantry.close();
        return { ...error, text };
      },
      JSON.stringify({ registry: fixtures.url, script }),
    );
    expect(result).toEqual({
      ...(script === 'unpack'
        ? { code: 'installed', message: '' }
        : { code: 'WORKER_LOST', message: 'A worker failed: unreachable' }),
      text: 'module.exports = "left 1.1.0"\n',
    });
  });
}

test('a frozen install from a lock with leftovers opens again as it was, with its lock as it was given', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const manifest = { name: 'project', version: '1.0.0' };
      let gantry = await Gantry.open({ registry });
      const { lockfile } = await gantry.install({
        packageJson: { ...manifest, dependencies: { left: '1.0.0', executable: '1.0.0' } },
        project: 'before',
      });
      await gantry.clear();
      const packageJson = { ...manifest, dependencies: { left: '1.0.0' } };
      const installed = await gantry.install({ packageJson, lockfile, frozen: true });
      const before = { packages: installed.packages, digest: await installed.treeDigest() };
      await gantry.close();

      gantry = await Gantry.open({ registry, timeout: 20_000 });
      const reopened = await gantry.project();
      const after = { packages: reopened?.packages, digest: await reopened?.treeDigest() };
      // The lock that the project has is still the given one.
      const again = await gantry.install({ packageJson, frozen: true });
      await gantry.close();
      const locks = [installed, reopened, again].map((project) => project?.lockfile === lockfile);
      return { before, after, locks, reused: again.reused };
    },
    fixtures.url,
  );
  expect(result.before.packages).toBe(1);
  expect(result.after).toEqual(result.before);
  expect(result.locks).toEqual([true, true, true]);
  expect(result.reused).toBe(1);
});

test('clearing waits for reads, and the store can be used afterwards', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 2 });
      const packageJson = { dependencies: { '@scope/middle': '1.2.3' } };
      const code = (promise: Promise<unknown>) =>
        promise.then(
          () => 'done',
          (error) => error.code,
        );
      const rounds = [];
      for (let round = 0; round < 5; round++) {
        const { fs } = await gantry.install({ packageJson });
        // Packs are opened when they are first read.
        const reads = ['left', 'right', '@scope/middle'].flatMap((name) =>
          Array.from({ length: 20 }, () => code(fs.readFile(`node_modules/${name}/index.js`))),
        );
        const clearing = code(gantry.clear());
        const late = code(fs.readFile('node_modules/left/index.js'));
        rounds.push({
          reads: [...new Set(await Promise.all(reads))],
          clearing: await clearing,
          // Whichever comes first; it must not keep the other from ending.
          late: ['done', 'PROJECT_UNKNOWN', 'STORE_LOST'].includes(await late),
          packages: (await gantry.usage()).packages,
        });
      }
      const { packages, reused } = await gantry.install({ packageJson });
      await gantry.close();
      return { rounds, packages, reused };
    },
    fixtures.url,
  );
  const round = { reads: ['done'], clearing: 'done', late: true, packages: 0 };
  expect(result).toEqual({ rounds: Array.from({ length: 5 }, () => round), packages: 3, reused: 0 });
});

test('what an install that was cut off left in the packs is given back by the next one', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      let gantry = await Gantry.open({ registry, workers: 2 });
      await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      await gantry.close();

      const folder = await (await navigator.storage.getDirectory())
        .getDirectoryHandle('gantry')
        .then((stores) => stores.getDirectoryHandle('gantry'));
      const sizes = async () => {
        const found: number[] = [];
        for await (const [name, handle] of folder.entries()) {
          if (name.startsWith('pack-')) found.push((await (handle as FileSystemFileHandle).getFile()).size);
        }
        return found.reduce((total, size) => total + size, 0);
      };
      const before = await sizes();
      // As after a crash of the system: bytes without a record, and a pack of which not even the header arrived.
      for (const name of ['pack-0', 'pack-1']) {
        const file = await folder.getFileHandle(name, { create: true });
        const position = name === 'pack-0' ? (await file.getFile()).size : 0;
        const stream = await file.createWritable({ keepExistingData: true });
        await stream.write({ type: 'write', position, data: new Uint8Array(5_000_000) });
        await stream.close();
      }
      gantry = await Gantry.open({ registry, workers: 2, timeout: 20_000 });
      const packageJson = { dependencies: { left: '1.0.0', right: '1.0.0', executable: '1.0.0' } };
      const { fs } = await gantry.install({ packageJson });
      const texts = await Promise.all(
        ['left', 'right'].map((name) => fs.readFile(`node_modules/${name}/index.js`, 'utf8')),
      );
      await gantry.close();
      return { grown: (await sizes()) - before, texts };
    },
    fixtures.url,
  );
  expect(result.texts).toEqual([
    'module.exports = "left 1.0.0"\n',
    'module.exports = "right with " + require("left")\n',
  ]);
  expect(result.grown).toBeLessThan(10_000);
});

test('verify finds damaged packages, and the next install brings them anew', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      let gantry = await Gantry.open({ registry, workers: 1 });
      const install = (project: string, dependencies: Record<string, string>) =>
        gantry.install({ project, packageJson: { name: 'project', dependencies } });
      const digest = await (await install('hurt', { right: '1.0.0', left: '1.0.0' })).treeDigest();
      await install('whole', { executable: '1.0.0' });
      const before = await gantry.verify();
      await gantry.close();

      // One byte of a file of left's.
      const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
      const file = await (await stores.getDirectoryHandle('gantry')).getFileHandle('pack-0');
      const bytes = new Uint8Array(await (await file.getFile()).arrayBuffer());
      const position = new TextDecoder('latin1').decode(bytes).indexOf('module.exports = "left 1.0.0"');
      const stream = await file.createWritable({ keepExistingData: true });
      await stream.write({ type: 'write', position, data: new TextEncoder().encode('M') });
      await stream.close();

      gantry = await Gantry.open({ registry, workers: 1, timeout: 20_000 });
      const found = await gantry.verify();
      const again = await gantry.verify();
      const missing = await gantry.project('hurt').then(
        () => 'found',
        ({ code, package: lacking, hint }) => ({ code, lacking, hint }),
      );
      const listed = await gantry.projects();
      const untouched = (await gantry.project('whole'))?.packages;
      const repaired = await install('hurt', { right: '1.0.0', left: '1.0.0' });
      const controller = new AbortController();
      controller.abort();
      const stopped = await gantry.verify({ signal: controller.signal }).catch(({ code }) => code);
      const same = (await repaired.treeDigest()) === digest;
      const { reused, requests } = repaired;
      const after = await gantry.verify();
      await gantry.close();
      return { before, found, again, missing, listed, untouched, same, reused, requests, stopped, after, position };
    },
    fixtures.url,
  );
  expect(result.position).toBeGreaterThan(0);
  expect(result.before).toEqual({ packages: 3, bytes: expect.any(Number), damaged: [], projects: [] });
  expect(result.before.bytes).toBeGreaterThan(100);
  expect(result.found).toEqual({ ...result.before, damaged: ['left@1.0.0'], projects: ['hurt'] });
  expect(result.again).toMatchObject({ packages: 2, damaged: [], projects: ['hurt'] });
  const hint = 'Install the project again, which fetches the package anew.';
  expect(result.missing).toEqual({ code: 'LAYOUT_MISSING', lacking: 'left@1.0.0', hint });
  expect(result.listed).toEqual(['hurt', 'whole']);
  expect(result).toMatchObject({ untouched: 1, same: true, reused: 1, requests: 1 });
  expect(result.stopped).toBe('ABORTED');
  expect(result.after).toEqual(result.before);
});

test('a project that changes again and again has a journal that stays short, beside a worker that reads it', async ({
  blank,
  recording,
}) => {
  const packageJson = { name: 'project', version: '1.0.0', dependencies: { express: '^5.3.0', react: '^19.3.0' } };
  const result = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { registry, packageJson } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry, workers: 1 });
      const journals = async () => {
        const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
        const sizes: Record<string, number> = {};
        for await (const [name, entry] of (await stores.getDirectoryHandle('gantry')).entries()) {
          if (entry instanceof FileSystemFileHandle && name.startsWith('journal'))
            sizes[name] = (await entry.getFile()).size;
        }
        return sizes;
      };
      // It is in the lock, which is then as long as that of a large project.
      const changed = (time: number) => ({ ...packageJson, license: `${time} `.repeat(80_000) });
      let project = await gantry.install({ packageJson });
      const digest = await project.treeDigest();
      const worker = new Worker('/pages/evaluating-worker.js', { type: 'module' });
      const told = () =>
        new Promise<unknown>((resolve) => {
          worker.onmessage = ({ data }) => resolve(data.result);
        });
      const reading = told();
      const source = `async ({ openProject }) => {
        globalThis.project = await openProject();
        return globalThis.project.fs.readFileSync('node_modules/react/package.json', 'utf8').length;
      }`;
      worker.postMessage({ source, argument: '' });
      const before = await reading;
      let longest = 0;
      const names = new Set<string>();
      for (let time = 0; time < 60; time++) {
        project = await gantry.install({ packageJson: changed(time) });
        const sizes = await journals();
        for (const name in sizes) names.add(name);
        longest = Math.max(longest, ...Object.values(sizes));
      }
      const after = told();
      worker.postMessage({
        source: "() => globalThis.project.fs.readFileSync('node_modules/react/package.json', 'utf8').length",
        argument: '',
      });
      const same = (await after) === before && typeof before === 'number';
      worker.terminate();
      const kept = await project.treeDigest();
      await gantry.close();
      return { longest, generations: names.size, same, kept: kept === digest };
    },
    JSON.stringify({ registry: recording.url, packageJson }),
  );
  expect(result).toMatchObject({ same: true, kept: true });
  expect(result.generations).toBeGreaterThan(1);
  // What it says twice, 4 MB, and the last record.
  expect(result.longest).toBeLessThan(6 << 20);
});

test('clearing ends archives that are being made, after the part under way', async ({ blank, recording }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { toTar } = await import(`${location.origin}/package/dist/export.js`);
      const outcomes: unknown[] = [];
      for (let round = 0; round < 5; round++) {
        const gantry = await Gantry.open({ registry, timeout: 20_000 });
        const project = await gantry.install({
          packageJson: { dependencies: { react: '^19.3.0', express: '^5.3.0' } },
        });
        const reader = toTar(project).getReader();
        await reader.read();
        const rest = (async () => {
          while (!(await reader.read()).done);
        })();
        const digest = project.treeDigest();
        const ended = rest.then(
          () => 'whole',
          ({ code }: { code: string }) => code,
        );
        await gantry.clear();
        outcomes.push(await ended, (await digest).length, await gantry.projects());
        await gantry.close();
      }
      return outcomes;
    },
    recording.url,
  );
  for (let round = 0; round < 5; round++) {
    const [ended, digest, projects] = result.slice(3 * round);
    expect(['whole', 'CLOSED']).toContain(ended);
    expect([digest, projects]).toEqual([64, []]);
  }
});

test('usage tells whether the browser keeps the storage under pressure', async ({ blank, fixtures }) => {
  const told = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const told = [(await gantry.usage()).persisted];
      const persists = await gantry.persist();
      told.push((await gantry.usage()).persisted === persists);
      await gantry.close();
      return told;
    },
    fixtures.url,
  );
  expect(told).toEqual([false, true]);
});
