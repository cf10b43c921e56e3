/** `project.fs`: what a bundler asks of Node's `fs.promises`, answered as Node answers. */
import { execFileSync } from 'node:child_process';
import nodeFs, { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { evaluateInWorker, inWorker } from './support/in-worker.js';
import { gantryCommand } from './support/paths.js';
import { existence, promised, promisedQuestions, questions } from './support/questions.js';

const packageJson = { name: 'read', version: '1.0.0', dependencies: { right: '^1.0.0', executable: '1.0.0' } };

test('everything that can be read is read as Node reads it from the disk, on the page and in a worker', async ({
  blank,
  fixtures,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-reading-'));
  const before = process.cwd();
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
    execFileSync(gantryCommand, ['install', '--prefix', folder, '--registry', fixtures.url], {
      env: { ...process.env, GANTRY_STORE_DIR: join(folder, '.store') },
      stdio: 'ignore',
    });
    // The root of a tree is where its relative paths begin.
    process.chdir(folder);
    const expected = [await questions(nodeFs.promises, folder), await promisedQuestions(nodeFs.promises, folder)];
    const result = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, manifest, sources } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry });
        const { fs } = await gantry.install({ packageJson: manifest });
        const answers = [];
        for (const source of sources) answers.push(await new Function(`return (${source})`)()(fs, ''));
        await gantry.close();
        return answers;
      },
      JSON.stringify({
        registry: fixtures.url,
        manifest: packageJson,
        sources: [questions, promisedQuestions].map(String),
      }),
    );
    expect(result).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(result[0].names).toEqual(readdirSync(join(folder, 'node_modules/.bin')));

    const expectedOfWorkers = [
      await questions(promised(nodeFs), folder),
      await promisedQuestions(nodeFs.promises, folder),
      existence(nodeFs, folder),
    ];
    const asked = inWorker(
      async ({ openProject }, argument) => {
        const [questions, promised, promisedQuestions, existence] = JSON.parse(argument).map((source: string) =>
          new Function(`return (${source})`)(),
        );
        const project = await openProject();
        const { fs } = project;
        const answers = [
          await questions(promised(fs), ''),
          await promisedQuestions(fs.promises, ''),
          existence(fs, ''),
        ];
        project.close();
        return answers;
      },
      JSON.stringify([questions, promised, promisedQuestions, existence].map(String)),
    );
    expect(await blank.evaluate(evaluateInWorker<object>, asked)).toEqual(
      JSON.parse(JSON.stringify(expectedOfWorkers)),
    );
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every encoding makes of any bytes the text that Node makes of them', async ({ blank }) => {
  // Each byte, half of a pair of surrogates, damaged UTF-8, a mark of byte order, an odd number of bytes, more than one call takes.
  const samples = [
    Array.from({ length: 256 }, (_, byte) => byte),
    [0x3d, 0xd8, 0x41, 0, 0xff],
    [0xef, 0xbb, 0xbf, 0xe2, 0x82, 0xff, 0xc3],
    Array.from({ length: 20_001 }, (_, index) => (index * 7) % 256),
    [],
  ];
  const encodings = 'ascii base64 base64url binary hex latin1 ucs-2 ucs2 utf-16le utf-8 utf16le utf8'.split(' ');
  const texts = await blank.evaluate(
    async ([samples, encodings]) => {
      const { decoderOf } = await import(`${location.origin}/package/dist/text.js`);
      const decode = (encoding: string) => samples.map((bytes) => decoderOf(encoding)(Uint8Array.from(bytes)));
      // By units: a lone surrogate would not come through.
      return encodings.map((encoding) =>
        decode(encoding).map((text) => [...Array(text.length).keys()].map((at) => text.charCodeAt(at))),
      );
    },
    [samples, encodings] as const,
  );
  const expected = encodings.map((encoding) =>
    samples.map((bytes) => {
      const text = Buffer.from(bytes).toString(encoding as BufferEncoding);
      return [...Array(text.length).keys()].map((at) => text.charCodeAt(at));
    }),
  );
  expect(texts).toEqual(expected);
});

test('what would write fails with EROFS, functions can be taken off, and directories are sorted', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const { fs } = await gantry.install({ packageJson: { dependencies: { right: '^1.0.0', executable: '1.0.0' } } });
      const code = (promise: Promise<unknown>) =>
        promise.then(
          () => 'none',
          (error) => error.code,
        );
      const { readFile, readRange, promises, constants } = fs;
      const file = '/node_modules/left/index.js';
      const all = await fs.readdir('/', { recursive: true });
      const handle = await fs.open(file);
      const stream = handle.readableWebStream();
      // What is asked for may be more than there is memory for.
      const huge = [
        await readRange(file, 1, 2 ** 40),
        await readRange(file, 20, 500_000_000),
        await readRange(file, 100, 2 ** 40),
        await readRange(file, 0, 0),
      ];
      const answers = {
        writes: await Promise.all([
          code(fs.writeFile(file, '')),
          code(fs.appendFile(file, '')),
          code(fs.mkdir('/x', { recursive: true })),
          code(fs.rm(file)),
          code(fs.rename(file, '/y')),
          code(fs.unlink(file)),
          code(fs.symlink(file, '/z')),
          code(fs.open(file, 'w')),
          code(fs.access(file, constants.W_OK)),
          code(fs.rm(file, { force: true })),
          code(fs.readFile(file, { flag: 'wx' })),
          code(fs.readFile(file, { flag: 'r+' })),
        ]),
        inTheWay: await Promise.all([code(fs.mkdir(file, { recursive: true })), code(fs.mkdir('/node_modules'))]),
        ofHandle: await Promise.all([
          code(handle.write('x')),
          code(handle.writev([])),
          code(handle.writeFile('x')),
          code(handle.appendFile('x')),
          code(handle.truncate(0)),
          code(handle.chmod(0o777)),
          code(handle.chown(0, 0)),
          code(handle.utimes(0, 0)),
        ]),
        huge: huge.map((bytes) => [bytes.length, bytes.buffer.byteLength < 1000]),
        message: await fs.writeFile('a/b', '').catch(({ message }) => message),
        taken: await readFile(file, 'utf8'),
        same: promises === fs,
        range: new TextDecoder().decode(await readRange(file, 7, 7)),
        end: (await readRange(file, 20, 500)).length,
        denied: await code(fs.access(file, constants.X_OK)),
        encoding: await code(fs.readFile(file, 'utf-7' as 'utf8')),
        above: await fs.readFile('../../node_modules/left/../left/index.js', 'utf8'),
        mtime: (await fs.stat(file)).mtime.toISOString(),
        streamed: await new Response(stream).text(),
        sorted: all.every(
          (path, index) => index === 0 || path.split('/').join('\0') > (all[index - 1] as string).split('/').join('\0'),
        ),
        count: all.length,
      };
      await gantry.close();
      return answers;
    },
    fixtures.url,
  );
  const text = 'module.exports = "left 1.1.0"\n';
  expect(result).toMatchObject({
    writes: Array.from({ length: 12 }, () => 'EROFS'),
    inTheWay: ['EEXIST', 'EEXIST'],
    ofHandle: Array.from({ length: 8 }, () => 'EROFS'),
    huge: [text.length - 1, text.length - 20, 0, 0].map((length) => [length, true]),
    message: "EROFS: read-only file system, writeFile '/a/b'",
    taken: text,
    same: true,
    range: 'exports',
    end: text.length - 20,
    denied: 'EACCES',
    encoding: 'ERR_INVALID_ARG_VALUE',
    above: text,
    mtime: '1985-10-26T08:15:00.000Z',
    streamed: text,
    sorted: true,
  });
  expect(result.count).toBeGreaterThan(12);
});

test('an open file is read from where a bigint says, to the end of a buffer, and in parts one after the other', async ({
  blank,
  fixtures,
}) => {
  // In a test of its own: Node 20 reads from elsewhere where a position is a bigint.
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const { fs } = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const handle = await fs.open('/node_modules/left/index.js');
      const decoder = new TextDecoder();
      const text = async (reading: Promise<{ bytesRead: number; buffer: Uint8Array }>) => {
        const { bytesRead, buffer } = await reading;
        return `${bytesRead} ${decoder.decode(buffer)}`;
      };
      const answers = [
        await text(handle.read(new Uint8Array(7), { position: 7n })),
        await text(handle.read(new Uint8Array(7), 0, null, -1n)),
        await text(handle.read(new Uint8Array(6).fill(46), 4, null, 1n << 70n)),
        await handle.read(new Uint8Array(1), { position: -2n }).catch(({ code }) => code),
        await handle.read(new Uint8Array(1), { position: '1' as never }).catch(({ code }) => code),
      ];
      // Asked for at once.
      answers.push(...(await Promise.all([1, 2].map(() => text(handle.read(new Uint8Array(6)))))));
      await gantry.close();
      return answers;
    },
    fixtures.url,
  );
  expect(result).toEqual([
    '7 exports',
    '7 module.',
    '0 ......',
    'ERR_OUT_OF_RANGE',
    'ERR_INVALID_ARG_TYPE',
    '6 export',
    '6 s = "l',
  ]);
});

test('files that are read together are of one tree, whatever is installed meanwhile', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 1 });
      const install = (version: string) => gantry.install({ packageJson: { dependencies: { left: version } } });
      const { fs } = await install('1.0.0');
      const paths = Array.from({ length: 300 }, () => 'node_modules/left/index.js');
      const seen: string[][] = [];
      let isInstalled = false;
      const installing = install('1.1.0').then(() => {
        isInstalled = true;
      });
      // Its worker has the pack, and is asked for each file: the install ends in the midst of the last read.
      while (!isInstalled) {
        const texts = (await fs.readMany(paths)).map((bytes) => new TextDecoder().decode(bytes));
        seen.push([...new Set(texts)]);
      }
      await installing;
      await gantry.close();
      return seen;
    },
    fixtures.url,
  );
  expect(result.length).toBeGreaterThan(0);
  for (const texts of result) expect(texts).toHaveLength(1);
});

test('an open file stays what it was when another version is installed in its place', async ({ blank, fixtures }) => {
  const texts = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const install = (version: string) => gantry.install({ packageJson: { dependencies: { left: version } } });
      const { fs } = await install('1.0.0');
      const handle = await fs.open('/node_modules/left/index.js');
      await install('1.1.0');
      const result = [await handle.readFile('utf8'), await fs.readFile('/node_modules/left/index.js', 'utf8')];
      await gantry.close();
      return result;
    },
    fixtures.url,
  );
  expect(texts).toEqual(['module.exports = "left 1.0.0"\n', 'module.exports = "left 1.1.0"\n']);
});

test('a project says what its install made and reads the tree as it is now; its metadata is no part of the packs', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const older = await gantry.install({ packageJson: { dependencies: { left: '1.0.0' } } });
      const before = { lockfile: older.lockfile, packages: older.packages };
      const newer = await gantry.install({ packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } } });
      const read = await older.fs.readFile('node_modules/left/package.json', 'utf8');
      const { F_OK, R_OK, W_OK, X_OK, constants } = older.fs;
      const { bytes, usage } = await gantry.usage();
      await gantry.close();
      return {
        same: older.lockfile === before.lockfile && older.packages === before.packages,
        differs: newer.lockfile !== before.lockfile && newer.packages !== before.packages,
        version: JSON.parse(read).version,
        modes: [F_OK, R_OK, W_OK, X_OK],
        constants: [constants.F_OK, constants.R_OK, constants.W_OK, constants.X_OK],
        isMore: usage > bytes,
      };
    },
    fixtures.url,
  );
  const { modes, constants, ...rest } = result;
  expect(modes).toEqual(constants);
  expect(rest).toEqual({ same: true, differs: true, version: '1.1.0', isMore: true });
});
