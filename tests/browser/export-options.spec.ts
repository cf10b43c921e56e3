/** What exporters and readers are given is looked at, and folders are cleaned where that is asked for. */
import type { Volume } from 'memfs';
import type * as exporters from '../../web/src/export.js';
import { bundle } from './support/consumers.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';

test.beforeAll(() => bundle('memfs', "export { Volume } from 'memfs';"));

test('what cannot be used is refused and named, and nothing is written', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const exporting = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const { Volume: memfs } = (await import(`${location.origin}/consumers/memfs.js`)) as { Volume: typeof Volume };
      const { fillVolume, toFileSystemTree, toTar, toZip, writeDirectory } = exporting;
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const volume = new memfs();
      const folder = await navigator.storage.getDirectory();
      const problems: string[] = [];
      const refuse = async (begin: () => unknown) => {
        try {
          await begin();
          problems.push('taken');
        } catch (error) {
          const { code, message } = error as { code: string; message: string };
          problems.push(`${code} ${message}`);
        }
      };
      const any = (value: unknown) => value as never;
      await refuse(() => fillVolume(project, volume, any({ dir: '/app' })));
      await refuse(() => fillVolume(project, volume, any({ directory: 7 })));
      await refuse(() => fillVolume(project, any({ mkdirSync: () => {} })));
      await refuse(() => fillVolume(any(project.fs), volume));
      await refuse(() => writeDirectory(project, any('/app')));
      await refuse(() => writeDirectory(project, folder, any({ onprogress: () => {} })));
      await refuse(() => toTar(project, any({ signal: new AbortController() })));
      await refuse(() => toZip(any(undefined)));
      await refuse(() => toFileSystemTree(project, any(new AbortController().signal.aborted)));
      await refuse(() => project.fs.readMany(any('node_modules')));
      await gantry.close();
      return { problems, written: Object.keys(volume.toJSON()) };
    },
    fixtures.url,
  );
  expect(result.problems).toEqual([
    'INVALID_OPTION fillVolume has no option "dir"',
    'INVALID_OPTION directory: 7 is no text',
    'INVALID_OPTION volume: [object Object] has no writeFileSync',
    'INVALID_OPTION fillVolume takes a project: [object Object] is none',
    'INVALID_OPTION directory: "/app" has no getDirectoryHandle',
    'INVALID_OPTION writeDirectory has no option "onprogress"',
    'INVALID_OPTION signal: [object AbortController] is no AbortSignal, but has one: .signal',
    'INVALID_OPTION toZip takes a project: undefined is none',
    'INVALID_OPTION toFileSystemTree takes its options as an object: false is none',
    expect.stringContaining('ERR_INVALID_ARG_TYPE The "paths" argument must be an instance of Array.'),
  ]);
  expect(result.written).toEqual([]);
  const opening = inWorker(({ openProject }) =>
    openProject({ store: 'a/b' }).catch(({ code, message }) => `${code} ${message}`),
  );
  expect(await blank.evaluate(evaluateInWorker, opening)).toBe('INVALID_OPTION Not a store name: "a/b"');
});

test('with clean nothing of an earlier tree stays, and without it all of it does', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const exporting = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const { Volume: memfs } = (await import(`${location.origin}/consumers/memfs.js`)) as { Volume: typeof Volume };
      const { fillVolume, writeDirectory } = exporting;
      const gantry = await Gantry.open({ registry });
      const volume = new memfs();
      const root = await navigator.storage.getDirectory();
      const directory = await root.getDirectoryHandle('cleaned', { create: true });
      const install = (dependencies: object) => gantry.install({ packageJson: { dependencies } });
      const names = async () => {
        const found: string[] = [];
        const modules = await directory.getDirectoryHandle('node_modules').catch(() => undefined);
        for await (const name of modules?.keys() ?? []) found.push(name);
        const inVolume = volume.existsSync('/app/node_modules') ? volume.readdirSync('/app/node_modules') : [];
        return [found.sort(), inVolume];
      };
      volume.mkdirSync('/app', { recursive: true });
      volume.writeFileSync('/app/kept.txt', '');
      const seen = [];
      for (const [dependencies, clean] of [
        [{ left: '1.0.0', right: '1.0.0' }, false],
        [{ executable: '1.0.0' }, false],
        [{ right: '1.0.0' }, true],
        [{}, true],
      ] as const) {
        const project = await install(dependencies);
        await fillVolume(project, volume, { directory: '/app', clean });
        await writeDirectory(project, directory, { clean });
        seen.push(await names());
      }
      await gantry.close();
      return { seen, kept: volume.existsSync('/app/kept.txt') };
    },
    fixtures.url,
  );
  const [before, beside, cleaned, empty] = result.seen;
  const lock = '.package-lock.json';
  expect(before).toEqual([
    [lock, 'left', 'right'],
    ['.bin', lock, 'left', 'right'],
  ]);
  expect(beside).toEqual([
    [lock, 'executable', 'left', 'right'],
    ['.bin', lock, 'executable', 'left', 'right'],
  ]);
  expect(cleaned).toEqual([
    [lock, 'left', 'right'],
    ['.bin', lock, 'left', 'right'],
  ]);
  expect(empty?.[0]).not.toContain('right');
  expect(empty?.[1]).not.toContain('right');
  expect(result.kept).toBe(true);
});
