/** `gantry/export`: each way out of a page, loaded into what it is for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { FileSystemTree as WebContainerTree } from '@webcontainer/api';
import type { Volume } from 'memfs';
import type * as exporters from '../../web/src/export.js';
import type { Gantry, Project } from '../../web/src/index.js';
import { bundle } from './support/consumers.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { installNatively } from './support/native.js';
import { gantryCommand, inRoot } from './support/paths.js';

const manifest = readFileSync(inRoot('tests', 'projects', 'react', 'package.json'), 'utf8');

interface Opened {
  gantry: Gantry;
  project: Project;
  exporters: typeof exporters;
}

/** In the page: `opened`, with the recorded project React. */
async function open(page: Page, registry: string): Promise<void> {
  await inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, packageJson } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson });
      const exporters = await import(`${location.origin}/package/dist/export.js`);
      Object.assign(globalThis, { opened: { gantry, project, exporters } });
    },
    JSON.stringify({ registry, packageJson: manifest }),
  );
}

/** Runs in the page with what {@link open} left there. */
function withProject<T>(page: Page, script: (opened: Opened) => Promise<T>): Promise<T> {
  return page.evaluate(
    (source) => new Function(`return (${source})`)()((globalThis as unknown as { opened: Opened }).opened),
    script.toString(),
  );
}

/** The digest of a folder that something has unpacked `node_modules` into. */
function digestOf(folder: string): string {
  return execFileSync(gantryCommand, ['digest', '--prefix', folder], { encoding: 'utf8' }).trim();
}

function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-export-'));
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

for (const format of ['tar', 'zip'] as const) {
  test(`${format}: what the system's tool unpacks is the tree that the native command makes`, async ({
    blank,
    recording,
  }) => {
    await open(blank, recording.url);
    await inFolder(async (folder) => {
      const download = blank.waitForEvent('download');
      const chunks = await blank.evaluate(async (format) => {
        const { project, exporters } = (globalThis as unknown as { opened: Opened }).opened;
        const stream = format === 'tar' ? exporters.toTar(project) : exporters.toZip(project);
        const parts: BlobPart[] = [];
        for await (const part of stream as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) parts.push(part);
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob(parts));
        link.download = 'node_modules';
        link.click();
        return parts.length;
      }, format);
      const archive = join(folder, `archive.${format}`);
      await (await download).saveAs(archive);
      expect(chunks).toBeGreaterThan(5);
      if (format === 'tar') execFileSync('tar', ['-xf', archive, '-C', folder]);
      else {
        execFileSync('unzip', ['-q', archive, '-d', folder]);
        const check = 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).testzip())';
        expect(execFileSync('python3', ['-c', check, archive], { encoding: 'utf8' }).trim()).toBe('None');
      }
      const { digest } = installNatively(manifest, recording.url);
      expect(digestOf(folder)).toBe(digest);
      expect(await withProject(blank, ({ project }) => project.treeDigest())).toBe(digest);
    });
  });
}

test('an archive can be given up, and holds the tree of when it was begun', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { toTar, toZip } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
      const gantry = await Gantry.open({ registry });
      const install = (version: string) => gantry.install({ packageJson: { dependencies: { left: version } } });
      // Not by a Response, which has errors of its own.
      const text = async (stream: ReadableStream<Uint8Array>) => {
        const parts: string[] = [];
        const reader = stream.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return parts.join('');
          parts.push(new TextDecoder('latin1').decode(value));
        }
      };
      const project = await install('1.0.0');
      const before = toTar(project);
      await project.fs.stat('/');
      await install('1.1.0');
      const [old, now] = [await text(before), await text(toTar(project))];
      const cancelled = toZip(project);
      await cancelled.cancel();
      const controller = new AbortController();
      controller.abort();
      const code = (promise: Promise<unknown>) =>
        promise.then(
          () => 'none',
          (error) => error.code ?? error.name,
        );
      const aborted = await code(text(toTar(project, { signal: controller.signal })));
      const left = toTar(project);
      await left.getReader().read();
      // With an archive that nobody has read to its end.
      await gantry.close();
      const reopened = await Gantry.open({ registry, timeout: 10_000 });
      await reopened.close();
      return {
        old: [old.includes('left 1.0.0'), old.includes('left 1.1.0')],
        now: [now.includes('left 1.0.0'), now.includes('left 1.1.0')],
        aborted,
        closed: await code(text(toTar(project))),
      };
    },
    fixtures.url,
  );
  expect(result).toEqual({ old: [true, false], now: [false, true], aborted: 20, closed: 'CLOSED' });
});

test('the object for WebContainers has their type, every file’s bytes, and the links', async ({ blank, recording }) => {
  await open(blank, recording.url);
  const result = await withProject(blank, async ({ project, exporters }) => {
    // That this compiles is half of the test.
    const tree: WebContainerTree = await exporters.toFileSystemTree(project);
    const { fs } = project;
    const counts = { files: 0, links: 0, different: 0 };
    const walk = async (directory: WebContainerTree, path: string): Promise<void> => {
      const paths = new Map<string, Uint8Array>();
      for (const [name, node] of Object.entries(directory)) {
        if ('directory' in node) await walk(node.directory, `${path}/${name}`);
        else if ('symlink' in node.file) {
          counts.links++;
          if ((await fs.readlink(`${path}/${name}`)) !== node.file.symlink) counts.different++;
        } else paths.set(`${path}/${name}`, node.file.contents as Uint8Array);
      }
      const expected = await fs.readMany([...paths.keys()]);
      for (const [index, bytes] of [...paths.values()].entries()) {
        counts.files++;
        const other = expected[index];
        if (other?.length !== bytes.length || !bytes.every((byte, at) => byte === other[at])) counts.different++;
      }
    };
    await walk(tree, '');
    const all = await fs.readdir('/', { recursive: true, withFileTypes: true });
    return {
      ...counts,
      expected: [all.filter((entry) => entry.isFile()).length, all.filter((entry) => entry.isSymbolicLink()).length],
    };
  });
  expect(result).toMatchObject({ different: 0 });
  expect([result.files, result.links]).toEqual(result.expected);
  expect(result.files).toBeGreaterThan(100);
  expect(result.links).toBeGreaterThan(0);
});

test('a volume of memfs holds every file byte for byte, with modes and links', async ({ blank, recording }) => {
  await bundle('memfs', "export { Volume } from 'memfs';");
  await open(blank, recording.url);
  const result = await withProject(blank, async ({ project, exporters }) => {
    const { Volume } = (await import(`${location.origin}/consumers/memfs.js`)) as { Volume: new () => Volume };
    const volume = new Volume() as Volume;
    await exporters.fillVolume(project, volume, { directory: '/app' });
    const { fs } = project;
    const counts = { files: 0, links: 0, executables: 0, different: [] as string[] };
    for (const entry of await fs.readdir('/', { recursive: true, withFileTypes: true })) {
      const path = `${entry.parentPath === '/' ? '' : entry.parentPath}/${entry.name}`;
      const copy = `/app${path}`;
      if (entry.isSymbolicLink()) {
        counts.links++;
        if (volume.readlinkSync(copy) !== (await fs.readlink(path))) counts.different.push(path);
        if (volume.realpathSync(copy) !== `/app${await fs.realpath(path)}`) counts.different.push(path);
      } else if (entry.isFile()) {
        counts.files++;
        const [bytes, stats] = [await fs.readFile(path), await fs.stat(path)];
        const other = volume.readFileSync(copy) as Uint8Array;
        const same = other.length === bytes.length && bytes.every((byte, at) => byte === other[at]);
        if (!same || (volume.statSync(copy).mode as number) !== stats.mode) counts.different.push(path);
        if (stats.mode & 0o111) counts.executables++;
      }
    }
    return counts;
  });
  expect(result.different).toEqual([]);
  expect(result.files).toBeGreaterThan(100);
  expect(result.links).toBeGreaterThan(0);
  expect(result.executables).toBeGreaterThan(0);
});

test('a directory of OPFS holds every file byte for byte, and the report says what is not there', async ({
  blank,
  recording,
}) => {
  await open(blank, recording.url);
  const result = await withProject(blank, async ({ project, exporters }) => {
    const root = await navigator.storage.getDirectory();
    const directory = await root.getDirectoryHandle('exported', { create: true });
    const progress: number[] = [];
    const began = performance.now();
    const report = await exporters.writeDirectory(project, directory, {
      onProgress: ({ files }) => progress.push(files),
    });
    const each = (performance.now() - began) / report.files;
    // Again, over what is there.
    const again = await exporters.writeDirectory(project, directory);
    let different = 0;
    let files = 0;
    const walk = async (handle: FileSystemDirectoryHandle, path: string): Promise<void> => {
      for await (const [name, entry] of handle.entries()) {
        if (entry.kind === 'directory') await walk(entry as FileSystemDirectoryHandle, `${path}/${name}`);
        else {
          files++;
          const bytes = new Uint8Array(await (await (entry as FileSystemFileHandle).getFile()).arrayBuffer());
          const expected = await project.fs.readFile(`${path}/${name}`);
          if (expected.length !== bytes.length || !bytes.every((byte, at) => byte === expected[at])) different++;
        }
      }
    };
    await walk(directory, '');
    const links = (await project.fs.readdir('/node_modules/.bin')).length;
    const [bin] = report.skipped;
    const target = bin && (await project.fs.readlink(bin.path)) === bin.target;
    return { report, again: again.files, different, files, links, target, each, ordered: progress.at(-1) };
  });
  test.info().annotations.push({ type: 'milliseconds a file', description: result.each.toFixed(2) });
  expect(result.different).toBe(0);
  expect(result.report).toMatchObject({ files: result.files, method: 'access handles' });
  expect(result.again).toBe(result.files);
  expect(result.ordered).toBe(result.files);
  expect(result.report.skipped.length).toBe(result.links);
  expect(result.target).toBe(true);
});

test('a directory that cannot be written says so, and writing stops when it is told to', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { fillVolume, toFileSystemTree, writeDirectory } = (await import(
        `${location.origin}/package/dist/export.js`
      )) as typeof exporters;
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      const directory = await (await navigator.storage.getDirectory()).getDirectoryHandle('other', { create: true });
      // A file where a folder is needed.
      await directory.getFileHandle('node_modules', { create: true });
      const failure = (promise: Promise<unknown>) =>
        promise.then(
          () => 'none',
          ({ name, code, cause }) => [name, code, cause],
        );
      const signal = AbortSignal.abort('enough');
      const volume = { mkdirSync() {}, writeFileSync() {}, symlinkSync() {} };
      const result = [
        await failure(writeDirectory(project, directory)),
        await failure(writeDirectory(project, directory, { signal })),
        await failure(fillVolume(project, volume, { signal })),
        await failure(toFileSystemTree(project, { signal })),
      ];
      await gantry.close();
      return result;
    },
    fixtures.url,
  );
  const aborted = ['GantryError', 'ABORTED', 'enough'];
  expect(result).toEqual([['GantryError', 'EXPORT_FAILED', undefined], aborted, aborted, aborted]);
});

test('a worker that reads by itself exports too', async ({ blank, recording }) => {
  await open(blank, recording.url);
  const { evaluateInWorker, inWorker } = await import('./support/in-worker.js');
  const archived = inWorker(async ({ openProject, toTar, toFileSystemTree }) => {
    const project = await openProject();
    const hash = async (stream: ReadableStream<Uint8Array>) => {
      const bytes = await new Response(stream as BodyInit).arrayBuffer();
      return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].join();
    };
    const result = [await hash(toTar(project)), Object.keys(await toFileSystemTree(project)).join()];
    project.close();
    return result;
  });
  const expected = await withProject(blank, async ({ project, exporters }) => {
    const bytes = await new Response(exporters.toTar(project) as BodyInit).arrayBuffer();
    return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].join();
  });
  expect(await blank.evaluate(evaluateInWorker, archived)).toEqual([expected, 'node_modules']);
});
