/** `gantry/sync`: a worker of the user's reads an installed project by itself, synchronously. */
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';
import { ANSWERS, readAll, readBesideInstalls } from './support/reading.js';

/** Leaves a project behind, in a store that nobody has open. */
const installLeft = async ({ Gantry }: PackageModule, registry: string) => {
  const gantry = await Gantry.open({ registry });
  await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
  await gantry.close();
};

test('a worker reads a project while its store is open in the page, and when nobody has it open', async ({
  blank,
  fixtures,
}) => {
  await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.install({ packageJson: { dependencies: { right: '^1.0.0', executable: '1.0.0' } } });
      Object.assign(globalThis, { gantry });
    },
    fixtures.url,
  );
  const beside = await blank.evaluate(evaluateInWorker, readAll);
  expect(beside).toMatchObject({ ...ANSWERS, method: 'access handles' });
  await blank.evaluate(() => (globalThis as unknown as { gantry: { close(): Promise<void> } }).gantry.close());
  expect(await blank.evaluate(evaluateInWorker, readAll)).toEqual(beside);
});

test('a reader keeps its tree beside installs, hears of them, and shows them when it is refreshed', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(blank, readBesideInstalls, fixtures.url);
  const old = { names: '.package-lock.json,left', text: 'module.exports = "left 1.0.0"\n' };
  const now = { names: '.bin,.package-lock.json,left,right', text: 'module.exports = "left 1.1.0"\n' };
  expect(result.seen[0]).toEqual({ ...old, changes: [] });
  expect(result.during).toEqual([old.text]);
  expect(result.reads).toBeGreaterThan(0);
  // What was heard came while it was still read.
  expect(result.seen[2]).toMatchObject(now);
  expect(result.seen[3]).toEqual({ ...now, changes: [] });
  expect(result.cleared).toEqual(['STORE_LOCKED', 'done']);
  expect(result.packages).toBe(1);
});

test('an open file stays what it was when its project is refreshed, until it is closed', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const install = (dependencies: Record<string, string>) => gantry.install({ packageJson: { dependencies } });
      await install({ left: '1.0.0' });
      const { startSharedWorker } = await import(`${location.origin}/pages/shared-worker.js`);
      const ask: (source: string) => Promise<unknown> = startSharedWorker();
      await ask(`async ({ openProject }) => {
        const project = await openProject();
        const path = 'node_modules/left/index.js';
        globalThis.open = { project, file: project.fs.openSync(path), handle: await project.fs.promises.open(path) };
      }`);
      // A tree that needs nothing of what is stored.
      await install({});
      const answer = await ask(`async () => {
        const { project, file, handle } = globalThis.open;
        await project.refresh();
        const gone = !project.fs.existsSync('node_modules/left/index.js');
        const texts = [project.fs.readFileSync(file, 'utf8'), await handle.readFile('utf8')];
        project.fs.closeSync(file);
        await handle.close();
        project.close();
        return { gone, texts };
      }`);
      await gantry.close();
      return answer;
    },
    fixtures.url,
  );
  const text = 'module.exports = "left 1.0.0"\n';
  expect(result).toEqual({ gone: true, texts: [text, text] });
});

test('to ask for what is not there makes no error, unless one is wanted', async ({ blank, fixtures }) => {
  await inPage(blank, installLeft, fixtures.url);
  const counted = inWorker(async ({ openProject }) => {
    const { GantryError } = await import(`${location.origin}/package/dist/errors.js`);
    const project = await openProject();
    let made = 0;
    const Counting = new Proxy(Error, {
      construct: (target, words, constructed) => {
        made++;
        return Reflect.construct(target, words, constructed);
      },
    });
    // Those of the wasm module, and those made of them.
    globalThis.Error = Counting;
    Object.setPrototypeOf(GantryError, Counting);
    const errors = (ask: (path: string) => unknown) => {
      made = 0;
      for (const path of ['/src/main.ts', 'node_modules/left/index.d.ts', 'node_modules/none/']) ask(path);
      return made;
    };
    const answers = [
      errors(project.fs.existsSync),
      errors((path) => project.fs.statSync(path, { throwIfNoEntry: false })),
      errors((path) => project.fs.lstatSync(path, { throwIfNoEntry: false })),
      errors((path) => {
        try {
          project.fs.statSync(path);
        } catch {}
      }),
    ];
    project.close();
    return answers;
  });
  expect(await blank.evaluate(evaluateInWorker, counted)).toEqual([0, 0, 0, 3]);
});

test('what cannot be opened says why', async ({ blank, fixtures }) => {
  const inPageCode = await blank.evaluate(async () => {
    const { openProject } = await import(`${location.origin}/package/dist/sync.js`);
    return openProject().catch(({ code }: { code: string }) => code);
  });
  expect(inPageCode).toBe('STORAGE_UNAVAILABLE');
  const unknown = inWorker(async ({ openProject }, argument) =>
    openProject(JSON.parse(argument)).then(
      () => 'opened',
      (error) => error.code,
    ),
  );
  expect(await blank.evaluate(evaluateInWorker, [unknown[0], '{}'] as const)).toBe('PROJECT_UNKNOWN');
  await inPage(blank, installLeft, fixtures.url);
  expect(await blank.evaluate(evaluateInWorker, [unknown[0], '{"project":"none"}'] as const)).toBe('PROJECT_UNKNOWN');
  expect(await blank.evaluate(evaluateInWorker, [unknown[0], '{}'] as const)).toBe('opened');
});

test('a pack that an install appends to can be read by others, and is written by nobody else', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/with-script/-/*', kind: 'hang-in-body', after: 10 });
  await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 1 });
      await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      const abort = new AbortController();
      const installing = gantry
        .install({
          packageJson: { dependencies: { left: '1.1.0', 'with-script': '1.0.0' } },
          signal: abort.signal,
          onEvent: ({ type }) => {
            if (type === 'package') document.title = 'one is unpacked';
          },
        })
        .catch(({ code }) => code);
      Object.assign(globalThis, {
        stop: async () => {
          abort.abort();
          const code = await installing;
          await gantry.close();
          return code;
        },
      });
    },
    fixtures.url,
  );
  await expect(blank).toHaveTitle('one is unpacked');
  const [source] = inWorker(async ({ openProject }) => {
    const project = await openProject();
    const text = project.fs.readFileSync('/node_modules/left/index.js', 'utf8');
    const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
    const store = await stores.getDirectoryHandle('gantry');
    const open = async (name: string) => {
      const file = (await store.getFileHandle(name)) as FileSystemFileHandle & {
        createSyncAccessHandle(): Promise<{ close(): void }>;
      };
      return file.createSyncAccessHandle().then(
        (handle) => {
          handle.close();
          return 'opened';
        },
        (error) => error.name,
      );
    };
    const during = [await open('pack-0'), await open('pack-0.writer')];
    project.close();
    return { text, during };
  });
  const locked = 'NoModificationAllowedError';
  expect(await blank.evaluate(evaluateInWorker, [source, ''] as const)).toEqual({
    text: 'module.exports = "left 1.0.0"\n',
    during: [locked, locked],
  });
  expect(await blank.evaluate(() => (globalThis as unknown as { stop(): Promise<string> }).stop())).toBe('ABORTED');
});

test('a shared worker reads a project, also what it has not read yet when a pack has grown', async ({
  blank,
  recording,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 1 });
      const install = (project: string, dependencies: Record<string, string>) =>
        gantry.install({ project, packageJson: { dependencies } });
      const { fs } = await install('default', { react: '^19.3.0', 'react-dom': '^19.3.0' });
      const { startSharedWorker } = await import(`${location.origin}/pages/shared-worker.js`);
      const ask: (source: string) => Promise<unknown> = startSharedWorker();
      const read = (name: string) =>
        ask(`() => globalThis.project.fs.readFileSync('node_modules/${name}/package.json', 'utf8')`);
      const expected = await fs.readFile('node_modules/react-dom/package.json', 'utf8');
      await ask('async ({ openProject }) => { globalThis.project = await openProject(); }');
      const before = typeof (await read('react'));
      await install('other', { express: '^5.3.0' });
      const after = await read('react-dom');
      // Two changes that follow each other are both heard of before the first is shown.
      const both = '() => Promise.all([globalThis.project.refresh(), globalThis.project.refresh()]).then(String)';
      const answers = await ask(both);
      const refreshed = answers === ',' && (await read('react-dom'));
      await ask('() => globalThis.project.close()');
      await gantry.close();
      return { before, after: after === expected || after, refreshed: refreshed === expected || refreshed };
    },
    recording.url,
  );
  expect(result).toEqual({ before: 'string', after: true, refreshed: true });
});
