/** Options: what cannot be used is refused before anything is done, and what can be given in several ways means the same. */
import type { GantryError } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';

test('one name by itself is one name: of what is added, removed, updated and left out', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const packageJson = { dependencies: { right: '1.0.0' }, devDependencies: { executable: '1.0.0' } };
      const added = await gantry.install({ packageJson, add: 'left@1.0.0' });
      const removed = await gantry.install({ packageJson: added.packageJson ?? '', remove: 'right' });
      const updated = await gantry.install({
        packageJson: { dependencies: { left: '^1.0.0' } },
        lockfile: removed.lockfile,
        update: 'left',
      });
      const without = await gantry.install({ packageJson, omit: 'dev' });
      const dependencies = [added, removed].map(({ packageJson = '{}' }) => JSON.parse(packageJson).dependencies);
      const left = JSON.parse(updated.lockfile).packages['node_modules/left'].version;
      const names = await without.fs.readdir('node_modules');
      await gantry.close();
      return { dependencies, left, names };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    dependencies: [{ left: '^1.0.0', right: '1.0.0' }, { left: '^1.0.0' }],
    left: '1.1.0',
    names: ['.bin', '.package-lock.json', 'left', 'right'],
  });
});

test('a package.json is a text, its bytes or an object, of any frame; what would pass for an empty one is refused', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const manifest = { dependencies: { left: '1.1.0' } };
      const text = JSON.stringify(manifest);
      const bytes = new TextEncoder().encode(text);
      const frame = document.body.appendChild(document.createElement('iframe'));
      const elsewhere = (frame.contentWindow as Window & typeof globalThis).JSON.parse(text);
      interface Manifest {
        dependencies: { left: string };
      }
      const typed: Manifest = manifest;
      const taken = [text, bytes, bytes.buffer, manifest, Object.assign(Object.create(null), manifest), elsewhere];
      const packages = [(await gantry.install({ packageJson: typed })).packages];
      for (const packageJson of taken) packages.push((await gantry.install({ packageJson })).packages);
      const refused: GantryError[] = [];
      const refuse = (promise: Promise<unknown>) => promise.catch((error) => refused.push(error));
      // @ts-expect-error a promise
      await refuse(gantry.install({ packageJson: Promise.resolve(manifest) }));
      // @ts-expect-error a promise
      await refuse(gantry.explain({ packageJson: Promise.resolve(text) }));
      // @ts-expect-error no text yet
      await refuse(gantry.install({ packageJson: new Blob([text]) }));
      // @ts-expect-error no text yet
      await refuse(gantry.install({ packageJson: new File([text], 'package.json') }));
      // @ts-expect-error no plain object
      await refuse(gantry.install({ packageJson: new Map(Object.entries(manifest)) }));
      // @ts-expect-error a list
      await refuse(gantry.install({ packageJson: [manifest] }));
      // @ts-expect-error nothing
      await refuse(gantry.install({}));
      // @ts-expect-error nothing
      await refuse(gantry.install({ packageJson: null }));
      await refuse(gantry.install({ packageJson: new Headers() as object as Record<string, string> }));
      const module = URL.createObjectURL(new Blob([`export default ${text}`], { type: 'text/javascript' }));
      await refuse(gantry.install({ packageJson: await import(module) }));
      await refuse(gantry.install({ packageJson: { toJSON: () => undefined } }));
      const circle: Record<string, unknown> = {};
      circle.circle = circle;
      await refuse(gantry.install({ packageJson: circle }));
      const kept = await gantry.project();
      const names = await kept?.fs.readdir('node_modules');
      await gantry.close();
      return {
        packages,
        codes: refused.map((error) => error instanceof Error && error.code),
        hint: refused[0]?.hint,
        messages: refused.map(({ message }) => message),
        names,
      };
    },
    fixtures.url,
  );
  expect(result.packages).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(result.codes).toEqual(Array.from({ length: 12 }, () => 'INVALID_OPTION'));
  expect(result.hint).toContain('await');
  for (const message of result.messages) expect(message).toContain('packageJson');
  // The tree of the last install is still there.
  expect(result.names).toEqual(['.package-lock.json', 'left']);
});

test('options of the wrong kind, and names that are no options, are refused by every call', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry, GantryError }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 1, timeout: Number.POSITIVE_INFINITY });
      // As JavaScript can call them.
      const call = <T>(promise: () => Promise<T>) =>
        promise().then(
          () => 'done',
          (error) =>
            error instanceof GantryError ? `${error.code} ${error.message} ${error.hint ?? ''}` : String(error),
        );
      const open = (options: object) => call(() => Gantry.open({ registry, store: 'another', ...options }));
      const remove = (options: object) => call(() => Gantry.remove({ store: 'another', ...options }));
      const install = (options: object) => call(() => gantry.install({ packageJson: {}, ...options }));
      const answers = {
        open: [
          await open({ workers: 0 }),
          await open({ workers: 0.5 }),
          await open({ workers: 65 }),
          await open({ workers: '4' }),
          await open({ timeout: -1 }),
          await open({ timeout: Number.NaN }),
          await open({ timeout: '5' }),
          await open({ signal: new AbortController() }),
          await open({ scopes: new Map() }),
          await open({ tokens: [] }),
          await open({ onWaiting: 5 }),
          await open({ Registry: registry }),
          await open({ store: 5 }),
          await open({ storage: 5 }),
          await call(() => Gantry.open(undefined as never)),
        ],
        remove: [
          await remove({ timeout: -1 }),
          await remove({ timeout: Number.NaN }),
          await remove({ signal: {} }),
          await remove({ name: 'another' }),
          await call(() => Gantry.remove(null as never)),
        ],
        install: [
          await install({ lockFile: '{}' }),
          await install({ omits: ['dev'] }),
          await install({ dev: true }),
          await install({ frozen: 'yes' }),
          await install({ lockfile: {} }),
          await install({ lockfileVersion: 0 }),
          await install({ files: new Map() }),
          await install({ environment: new Map() }),
          await install({ signal: new AbortController() }),
          await install({ onEvent: 'print' }),
          await install({ add: ['left', 5] }),
          await install({ remove: [''] }),
          await install({ update: false }),
          await install({ omit: 'production' }),
          await call(() => gantry.install(undefined as never)),
          await call(() => gantry.explain(undefined as never)),
          await call(() => gantry.verify({ signal: new AbortController() as never })),
        ],
        // What is `undefined` was not given, whatever it is called.
        taken: [
          await install({ project: 'other', lockfile: undefined, frozen: undefined, frozem: undefined }),
          await remove({ timeout: Number.POSITIVE_INFINITY }),
          await remove({ timeout: 0, registry, workers: 2 }),
        ],
      };
      const frame = document.body.appendChild(document.createElement('iframe'));
      const { AbortController: Other } = frame.contentWindow as Window & typeof globalThis;
      const { signal } = new Other();
      answers.taken.push(await install({ project: 'other', signal }), await remove({ signal }));
      const projects = await gantry.projects();
      await gantry.close();
      return { ...answers, projects };
    },
    fixtures.url,
  );
  const { open, remove, install, taken, projects } = result;
  for (const answer of [...open, ...remove, ...install]) expect(answer).toMatch(/^INVALID_OPTION /);
  expect(open[0]).toContain('workers: 0 is no whole number from 1 to 64');
  expect(open[7]).toContain('.signal');
  expect(open[11]).toContain('Did you mean registry?');
  expect(remove[3]).toContain('There are ');
  expect(install[0]).toContain('Did you mean lockfile?');
  expect(install[1]).toContain('Did you mean omit?');
  expect(install[2]).toContain('frozen, ');
  expect(taken).toEqual(['done', 'done', 'done', 'done', 'done']);
  expect(projects).toEqual(['other']);
});

test('a removal that its signal stops rejects with ABORTED, and removes nothing', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const failure = ({ code, cause }: { code: string; cause: unknown }) => ({ code, cause });
      const remove = (options: object) => Gantry.remove(options).then(String, failure);
      const abort = new AbortController();
      const codes = [
        await remove({ signal: abort.signal, onWaiting: () => abort.abort('had enough') }),
        await remove({ timeout: 0 }),
        await remove({ timeout: 50, signal: new AbortController().signal }),
      ];
      await gantry.close();
      codes.push(await remove({ signal: AbortSignal.abort('before') }));
      const again = await Gantry.open({ registry });
      const { length } = await again.projects();
      await again.close();
      return { codes, length };
    },
    fixtures.url,
  );
  expect(result.codes).toEqual([
    { code: 'ABORTED', cause: 'had enough' },
    { code: 'STORE_BUSY', cause: undefined },
    { code: 'STORE_BUSY', cause: undefined },
    { code: 'ABORTED', cause: 'before' },
  ]);
  expect(result.length).toBe(1);
});

test('a worker cannot ask for storage to be kept, and says so', async ({ blank, fixtures }) => {
  const error = await blank.evaluate(
    (registry) =>
      new Promise((resolve, reject) => {
        const script = `
          import { Gantry } from '${location.origin}/package/dist/index.js';
          const gantry = await Gantry.open({ registry: '${registry}' });
          const error = await gantry.persist().catch(({ name, code }) => ({ name, code }));
          await gantry.close();
          postMessage(error);`;
        const source = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
        const worker = new Worker(source, { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      }),
    fixtures.url,
  );
  expect(error).toEqual({ name: 'GantryError', code: 'STORAGE_UNAVAILABLE' });
});

test('who watches is told of what cannot be watched', async ({ blank }) => {
  const codes = await inPage(blank, async ({ watchProject }) => {
    const code = (watch: () => unknown) => {
      try {
        watch();
        return 'watches';
      } catch (error) {
        const { code, message } = error as GantryError;
        return `${code}: ${message}`;
      }
    };
    return [
      code(() => watchProject(() => {})()),
      code(() => watchProject(() => {}, { store: 'other', project: 'one' })()),
      // @ts-expect-error no option of that name
      code(() => watchProject(() => {}, { name: 'one' })),
      // @ts-expect-error no text
      code(() => watchProject(() => {}, { project: 1 })),
      // @ts-expect-error no function
      code(() => watchProject('one')),
    ];
  });
  expect(codes).toEqual([
    'watches',
    'watches',
    expect.stringMatching(/^INVALID_OPTION: watchProject has no option "name"/),
    'INVALID_OPTION: project: 1 is no text',
    'INVALID_OPTION: listener: "one" is no function',
  ]);
});
