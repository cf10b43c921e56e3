/** `project.fs`: what a bundler asks of Node's `fs.promises`, answered as Node answers. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, promises as nodeFs, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { gantryCommand } from './support/paths.js';

const packageJson = { name: 'read', version: '1.0.0', dependencies: { right: '^1.0.0', executable: '1.0.0' } };

/** The questions that page and Node are both asked. `root` is the folder of the project. */
async function questions(fs: typeof nodeFs, root: string): Promise<Record<string, unknown>> {
  const at = (path: string) => `${root}/${path}`;
  const relative = (path: string) => path.slice(root.length);
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error) => error.code,
    );
  const kinds = async (path: string) => {
    const [followed, kept] = [await fs.stat(at(path)), await fs.lstat(at(path))];
    const describe = (stats: typeof followed) => [
      stats.isFile(),
      stats.isDirectory(),
      stats.isSymbolicLink(),
      stats.isSocket(),
      // Folders and links have sizes and modes of the disk.
      stats.isFile() ? [stats.size, stats.mode] : [],
    ];
    return [describe(followed), describe(kept)];
  };
  const recursive = await fs.readdir(at('node_modules'), { recursive: true, withFileTypes: true });
  const handle = await fs.open(at('node_modules/left/package.json'));
  const buffer = new Uint8Array(12);
  const parts = [
    (await handle.read(buffer, 2, 5)).bytesRead,
    (await handle.read(buffer, 7, 5, null)).bytesRead,
    (await handle.read(buffer, 0, 2, 3)).bytesRead,
    (await handle.read(new Uint8Array(4), 0, 4, 100_000)).bytesRead,
    [...buffer],
    (await handle.stat()).size,
    await handle.readFile('utf8'),
  ];
  await handle.close();
  return {
    parts,
    text: await fs.readFile(at('node_modules/left/index.js'), 'utf8'),
    options: await fs.readFile(at('node_modules/left/index.js'), { encoding: 'latin1' }),
    base64: await fs.readFile(at('node_modules/left/index.js'), 'base64'),
    hex: await fs.readFile(at('node_modules/left/index.js'), 'hex'),
    bytes: [...(await fs.readFile(at('node_modules/left/index.js'), null))],
    script: await kinds('node_modules/executable/run.sh'),
    folder: await kinds('node_modules/left'),
    bin: await kinds('node_modules/.bin/right'),
    names: await fs.readdir(at('node_modules/.bin')),
    target: await fs.readlink(at('node_modules/.bin/right')),
    real: relative(await fs.realpath(at('node_modules/.bin/../.bin/right'))),
    recursive: recursive
      .map((entry) => [`${relative(entry.parentPath)}/${entry.name}`, entry.isFile(), entry.isDirectory()])
      .sort(),
    paths: (await fs.readdir(at('node_modules'), { recursive: true })).sort(),
    access: await Promise.all([
      code(fs.access(at('node_modules/left'))),
      code(fs.access(at('node_modules/executable/run.sh'), fs.constants.X_OK)),
      code(fs.access(at('node_modules/left/index.js'), fs.constants.R_OK)),
      code(fs.access(at('node_modules/none'))),
    ]),
    codes: await Promise.all([
      code(fs.readFile(at('node_modules/none/index.js'))),
      code(fs.readFile(at('node_modules/left'))),
      code(fs.readFile(at('node_modules/left/index.js/'))),
      code(fs.readdir(at('node_modules/left/index.js'))),
      code(fs.readdir(at('node_modules/none'))),
      code(fs.stat(at('node_modules/left/index.js/x'))),
      code(fs.lstat(at('node_modules/none'))),
      code(fs.readlink(at('node_modules/left'))),
      code(fs.realpath(at('node_modules/none/x'))),
      code(fs.open(at('node_modules/none'), 'r')),
      code(handle.read(buffer)),
    ]),
    messages: await fs.readFile(at('node_modules/none')).catch(({ message }) => message.replace(root, '')),
  };
}

test('everything that can be read is read as Node reads it from the disk', async ({ blank, fixtures }) => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-reading-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
    execFileSync(gantryCommand, ['install', '--prefix', folder, '--registry', fixtures.url], {
      env: { ...process.env, GANTRY_STORE_DIR: join(folder, '.store') },
      stdio: 'ignore',
    });
    const expected = await questions(nodeFs, folder);
    const result = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, manifest, source } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry });
        const { fs } = await gantry.install({ packageJson: manifest });
        const answers = await new Function(`return (${source})`)()(fs, '');
        await gantry.close();
        return answers;
      },
      JSON.stringify({ registry: fixtures.url, manifest: packageJson, source: questions.toString() }),
    );
    expect(result).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(result.names).toEqual(readdirSync(join(folder, 'node_modules/.bin')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
      const stream = (await fs.open(file)).readableWebStream();
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
        ]),
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
    writes: Array.from({ length: 9 }, () => 'EROFS'),
    message: "EROFS: read-only file system, writeFile '/a/b'",
    taken: text,
    same: true,
    range: 'exports',
    end: text.length - 20,
    denied: 'EACCES',
    encoding: 'INVALID_OPTION',
    above: text,
    mtime: '1985-10-26T08:15:00.000Z',
    streamed: text,
    sorted: true,
  });
  expect(result.count).toBeGreaterThan(12);
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
