/**
 * Damage to the files of a store, as storage may do it, in a real page: it is always noticed, never read, and mended by
 * the next install. Every single byte is the affair of crates/store; here are samples of every region.
 */
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';

/** What to do to a file: change a byte, or cut it. Positions are parts of the file or, below 0, bytes from its end. */
interface Damage {
  file: 'pack-0' | 'journal';
  flip?: number;
  cut?: number;
}

const MANIFEST = { name: 'project', version: '1.0.0', dependencies: { cors: '^2.8.0', picocolors: '^1.1.1' } };

/** A store whose last record is that of a second project; gives what is needed to know it again. */
const fill = (page: Page, registry: string) =>
  inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, packageJson } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry, workers: 1, timeout: 20_000 });
      await gantry.clear();
      const project = await gantry.install({ packageJson });
      const digest = await project.treeDigest();
      const size = async () => {
        const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
        const file = await (await stores.getDirectoryHandle('gantry')).getFileHandle('journal');
        return (await file.getFile()).size;
      };
      const before = await size();
      await gantry.install({ project: 'last', packageJson });
      const record = (await size()) - before;
      await gantry.close();
      return { digest, record };
    },
    JSON.stringify({ registry, packageJson: MANIFEST }),
  );

/** Damages a file of the closed store; gives the position. */
const damage = (page: Page, { file, flip, cut }: Damage): Promise<number> =>
  page.evaluate(
    async ({ file, flip, cut }) => {
      const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
      const handle = await (await stores.getDirectoryHandle('gantry')).getFileHandle(file);
      const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
      const place = (flip ?? cut) as number;
      const position = place < 0 ? bytes.length + place : Math.floor(place * bytes.length);
      const stream = await handle.createWritable({ keepExistingData: true });
      if (cut !== undefined) await stream.truncate(position);
      else await stream.write({ type: 'write', position, data: new Uint8Array([(bytes[position] as number) ^ 0x5a]) });
      await stream.close();
      return position;
    },
    { file, flip, cut },
  );

/** Reads every file of a project, in the page or in a worker; gives the digest of what could be read, or the error's code. */
const readInWorker = inWorker(async ({ openProject }) => {
  try {
    const project = await openProject();
    for (const entry of project.fs.readdirSync('/node_modules', { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) project.fs.readFileSync(`${entry.parentPath}/${entry.name}`);
    }
    project.close();
    return 'whole';
  } catch (error) {
    return (error as { code?: string }).code;
  }
});

/** The same in the page, by `gantry/read`. */
const readInPage = async () => {
  const { openProject } = await import(`${location.origin}/package/dist/read.js`);
  const project = await openProject();
  return project.treeDigest().then(
    () => 'whole',
    ({ code }: { code: string }) => code,
  );
};

/** Opens the store again, reads everything, installs until that succeeds, and reads again. */
const recover = (page: Page, registry: string) =>
  inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, packageJson } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry, workers: 1, timeout: 20_000 });
      const digest = async (name: string) => {
        try {
          return (await (await gantry.project(name))?.treeDigest()) ?? 'none';
        } catch (error) {
          return (error as { code: string }).code;
        }
      };
      const found = [await digest('default'), await digest('last')];
      const digests = [];
      for (const project of ['default', 'last']) {
        digests.push(await (await gantry.install({ project, packageJson })).treeDigest());
      }
      const { damaged, projects } = await gantry.verify();
      await gantry.close();
      return { found, digests, damaged, projects };
    },
    JSON.stringify({ registry, packageJson: MANIFEST }),
  );

/** Parts of a pack: its header of 16 bytes, and samples of the contents of files. */
const HEADER = [0, 3, 7, 8, 12, 15];
const CONTENTS = [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98];

test('a pack with a changed byte anywhere, or cut anywhere, is never read wrong and is mended by an install', async ({
  blank,
  recording,
}) => {
  const { digest } = await fill(blank, recording.url);
  const damages: Damage[] = [
    ...CONTENTS.map((flip): Damage => ({ file: 'pack-0', flip })),
    { file: 'pack-0', flip: -1 },
    ...[0, 0.2, 0.6, 0.95].map((cut): Damage => ({ file: 'pack-0', cut })),
    { file: 'pack-0', cut: -1 },
  ];
  for (const each of damages) {
    await fill(blank, recording.url);
    await damage(blank, each);
    const alone = await blank.evaluate(evaluateInWorker<string>, readInWorker);
    const inThePage = await blank.evaluate(readInPage);
    const { found, ...after } = await recover(blank, recording.url);
    expect([alone, inThePage], JSON.stringify(each)).toEqual(['STORE_CORRUPT', 'STORE_CORRUPT']);
    for (const one of found)
      expect(['STORE_CORRUPT', 'STORE_LOST', 'LAYOUT_MISSING'], JSON.stringify(each)).toContain(one);
    expect(found).toContain('STORE_CORRUPT');
    expect(after, JSON.stringify(each)).toEqual({ digests: [digest, digest], damaged: [], projects: [] });
  }
});

test('a pack whose header is damaged is read, since nothing in it is, and nothing more is written to it', async ({
  blank,
  recording,
}) => {
  const { digest } = await fill(blank, recording.url);
  for (const byte of HEADER) {
    await fill(blank, recording.url);
    await inPage(
      blank,
      async (_, byte) => {
        const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
        const handle = await (await stores.getDirectoryHandle('gantry')).getFileHandle('pack-0');
        const stream = await handle.createWritable({ keepExistingData: true });
        await stream.write({ type: 'write', position: Number(byte), data: new Uint8Array([0xee]) });
        await stream.close();
      },
      String(byte),
    );
    const { found, ...after } = await recover(blank, recording.url);
    expect(found, `byte ${byte}`).toEqual([digest, digest]);
    expect(after, `byte ${byte}`).toEqual({ digests: [digest, digest], damaged: [], projects: [] });
  }
});

test('a journal whose last record is torn or changed has all before it, and the next install completes it', async ({
  blank,
  recording,
}) => {
  const { digest, record } = await fill(blank, recording.url);
  expect(record).toBeGreaterThan(1000);
  // Of its frame every part, and of the record its beginning, its middle and its end.
  const places = [-record, -record + 8, -record + 12, -record + 16, -record + 20, -Math.floor(record / 2), -1];
  for (const place of places) {
    for (const each of [{ file: 'journal', flip: place } as const, { file: 'journal', cut: place } as const]) {
      await fill(blank, recording.url);
      await damage(blank, each);
      expect(await blank.evaluate(evaluateInWorker<string>, readInWorker)).toBe('whole');
      const { found, ...after } = await recover(blank, recording.url);
      expect(found, JSON.stringify(each)).toEqual([digest, 'none']);
      expect(after).toEqual({ digests: [digest, digest], damaged: [], projects: [] });
    }
  }
});

for (const { what, flip, code } of [
  { what: 'damaged in its midst', flip: 0.3, code: 'STORE_CORRUPT' },
  { what: 'of a version that is not known', flip: 0.00001, code: 'STORE_FORMAT' },
]) {
  test(`a store whose journal is ${what} is not opened, and can be removed`, async ({ blank, recording }) => {
    const { digest } = await fill(blank, recording.url);
    await damage(blank, { file: 'journal', flip });
    const result = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, packageJson } = JSON.parse(argument);
        const open = () => Gantry.open({ registry, workers: 1, timeout: 20_000 });
        const refused = await open().then(
          () => ({ code: 'opened', hint: '' }),
          ({ code, hint }) => ({ code, hint }),
        );
        const removed = [await Gantry.remove(), await Gantry.remove()];
        const gantry = await open();
        const projects = await gantry.projects();
        const digest = await (await gantry.install({ packageJson })).treeDigest();
        const busy = await Gantry.remove({ timeout: 200 }).catch(({ code }) => code);
        await gantry.close();
        return { ...refused, removed, projects, digest, busy, afterwards: await Gantry.remove({ timeout: 20_000 }) };
      },
      JSON.stringify({ registry: recording.url, packageJson: MANIFEST }),
    );
    expect(result).toEqual({
      code,
      hint: expect.stringContaining('Gantry.remove'),
      removed: [true, false],
      projects: [],
      digest,
      busy: 'STORE_BUSY',
      afterwards: true,
    });
  });
}
