/** Archives that are read while tabs take turns with the store. */
import { readFileSync } from 'node:fs';
import { expect, test } from './support/fixtures.js';
import { inRoot } from './support/paths.js';
import {
  beside,
  installLeft,
  type Kept,
  NEW,
  OLD,
  openStore,
  prune,
  type Tab,
  tabOf,
  twoTabs,
} from './support/sharing.js';

/** Of a project whose archive has several parts. */
const manifest = readFileSync(inRoot('tests', 'projects', 'react', 'package.json'), 'utf8');

/** Installs what has the text of `package.json` that is given, as the project `default`. */
const installManifest = async (packageJson: string) => {
  const kept = globalThis as unknown as Kept;
  kept.project = await kept.gantry.install({ packageJson });
};

/** What a page keeps of an archive that it reads. */
interface Exporting {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  parts: BlobPart[];
  /** Digest of all of it. */
  expected: string;
}

/** Has read a part of an archive of its project; what all of it is it knows from another one. */
const beginArchive = async () => {
  const { project } = globalThis as unknown as Kept;
  const { toTar, toZip } = (await import(
    `${location.origin}/package/dist/export.js`
  )) as typeof import('../../web/src/export.js');
  const digest = await crypto.subtle.digest('SHA-256', await new Response(toTar(project) as BodyInit).arrayBuffer());
  const reader = toTar(project).getReader();
  const { value } = await reader.read();
  // And one that nobody reads.
  toZip(project);
  Object.assign(globalThis, { reader, parts: [value], expected: [...new Uint8Array(digest)].join() });
};

/** Has a tab install a project and begin to read an archive of it. */
async function haveBegun(tab: Tab, registry: string): Promise<void> {
  await tab.run(openStore, registry);
  await tab.run(installManifest, manifest);
  await tab.run(beginArchive);
}

/** Reads one more part; whether there was one. */
const readPart = async () => {
  const { reader, parts } = globalThis as unknown as Exporting;
  const { done, value } = await reader.read();
  if (value) parts.push(value as Uint8Array<ArrayBuffer>);
  return !done;
};

/** Reads what is left: how many parts there were in all, and whether they are what they should be. */
const endArchive = async () => {
  const { reader, parts, expected } = globalThis as unknown as Exporting;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  const digest = await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer());
  return { parts: parts.length, isWhole: [...new Uint8Array(digest)].join() === expected };
};

test('a file that is open and an archive that is being read outlast the turn of another tab', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  await first.run(async () => {
    const { project } = globalThis as unknown as Kept;
    const handle = await project.fs.open('node_modules/left/index.js');
    const { toTar } = await import(`${location.origin}/package/dist/export.js`);
    const reader = toTar(project).getReader();
    const { value } = await reader.read();
    Object.assign(globalThis, { handle, reader, read: value.length });
  });
  // It waits for neither.
  await second.run(openStore, fixtures.url);
  expect(await second.run(installLeft, '{"right":"1.0.0","left":"1.1.0"}')).toBe(NEW);
  const bytes = await first.run(async () => {
    const kept = globalThis as unknown as { reader: ReadableStreamDefaultReader<Uint8Array>; read: number };
    for (let size = kept.read; ; ) {
      const { done, value } = await kept.reader.read();
      if (done) return size;
      size += value.length;
    }
  });
  expect(bytes % 512).toBe(0);
  const text = await first.run(async () => {
    const { handle } = globalThis as unknown as { handle: { readFile(encoding: string): Promise<string> } };
    return handle.readFile('utf8');
  });
  expect(text).toBe(OLD);
});

test('archives that are half read, and those that nobody reads, leave the store to another tab, and go on beside it', async ({
  blank,
  recording,
  site,
}) => {
  const [first, second] = [tabOf(blank), tabOf(await beside(blank, `${site.url}/pages/blank.html`))];
  await haveBegun(first, recording.url);
  // In this tab's turn, from the other's files, and again in this one's: whatever the project is meanwhile.
  await second.run(openStore, recording.url);
  expect(await first.run(readPart)).toBe(true);
  await second.run(installManifest, '{"dependencies":{"lodash":"^4.18.0"}}');
  expect(await first.run(readPart)).toBe(true);
  expect(await second.run(prune)).toBe('STORE_LOCKED');
  await first.run(installManifest, '{"dependencies":{"zod":"^4.6.0"}}');
  expect(await first.run(readPart)).toBe(true);
  expect(await second.run(() => (globalThis as unknown as Kept).gantry.removeProject())).toBe(true);
  const { parts, isWhole } = await first.run(endArchive);
  expect(parts).toBeGreaterThan(5);
  expect(isWhole).toBe(true);
});

test('an archive that nobody has read for a while does not keep packages, and says so when it is read on', async ({
  blank,
  recording,
  site,
}) => {
  const [first, second] = [tabOf(blank), tabOf(await beside(blank, `${site.url}/pages/blank.html`))];
  await haveBegun(first, recording.url);
  await second.run(openStore, recording.url);
  await second.run(installManifest, '{"dependencies":{"lodash":"^4.18.0"}}');
  await expect.poll(() => second.run(prune), { timeout: 30_000 }).toBe(true);
  expect(await first.run(() => (globalThis as unknown as Kept).project.fs.readdir('node_modules'))).toContain('lodash');
  const failure = await first.run(async () => {
    const { reader } = globalThis as unknown as Exporting;
    for (;;) {
      const end = await reader.read().then(
        ({ done }) => done && 'ended',
        ({ code, message }) => `${code}: ${message}`,
      );
      if (end) return end;
    }
  });
  expect(failure).toBe('STORE_LOST: a package of this project is not in the store any more');
});

test('an archive whose signal fires ends although nobody reads it, and leaves the store to other tabs', async ({
  blank,
  fixtures,
  site,
}) => {
  const [first, second] = await twoTabs(blank, fixtures.url, site.url);
  const reason = await first.run(async () => {
    const { project } = globalThis as unknown as Kept;
    const { toTar } = await import(`${location.origin}/package/dist/export.js`);
    const abort = new AbortController();
    const reader = toTar(project, { signal: abort.signal }).getReader();
    await reader.read();
    abort.abort('had enough');
    return reader.closed.then(
      () => 'closed',
      (reason: unknown) => reason,
    );
  });
  expect(reason).toBe('had enough');
  await second.run(openStore, fixtures.url);
  expect(await second.run(installLeft, '{"left":"1.1.0"}')).toBe(NEW);
});

test('an archive whose stream is dropped is let go of by the worker, whatever has been read of it', async ({
  blank,
  recording,
}) => {
  const tab = tabOf(blank);
  await tab.run(openStore, recording.url);
  await tab.run(installManifest, '{"dependencies":{"express":"^5.3.0","lodash":"^4.18.0"}}');
  const kept = await tab.run(async () => {
    const { project } = globalThis as unknown as Kept;
    const { toTar, toZip } = (await import(
      `${location.origin}/package/dist/export.js`
    )) as typeof import('../../web/src/export.js');
    const { postMessage } = Worker.prototype;
    const asked: string[] = [];
    Worker.prototype.postMessage = function (this: Worker, message: { method?: string }, ...rest: never[]) {
      if (message.method) asked.push(message.method);
      postMessage.call(this, message, ...rest);
    };
    const abort = new AbortController();
    toTar(project);
    toZip(project, { signal: abort.signal });
    await toTar(project, { signal: abort.signal }).getReader().read();
    // One that is read to its end is ended once, and one that somebody has is not.
    const whole = await new Response(toTar(project) as BodyInit).arrayBuffer();
    // Nor is one of which somebody has what was made of its stream.
    const made = new Response(toTar(project) as BodyInit).body?.pipeThrough(new TransformStream());
    Object.assign(globalThis, { asked, abort, readers: [toTar(project).getReader(), made?.getReader()] });
    return whole.byteLength;
  });
  const devtools = await blank.context().newCDPSession(blank);
  const ended = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return blank.evaluate(() => {
      const { asked } = globalThis as unknown as { asked: string[] };
      return asked.filter((method) => method === 'endArchive').length;
    });
  };
  await expect.poll(ended).toBe(4);
  const rest = await tab.run(async () => {
    const { readers } = globalThis as unknown as { readers: ReadableStreamDefaultReader<Uint8Array>[] };
    const sizeOf = async (reader: ReadableStreamDefaultReader<Uint8Array>) => {
      for (let size = 0; ; ) {
        const { done, value } = await reader.read();
        if (done) return size;
        size += value.length;
      }
    };
    return Promise.all(readers.map(sizeOf));
  });
  expect(rest).toEqual([kept, kept]);
  expect(await ended()).toBe(6);
});
