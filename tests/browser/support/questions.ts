/** What a tree is asked, through `project.fs` and through Node's `fs`, whose answers have to be the same. */
import type nodeFs from 'node:fs';

interface ReadOutcome {
  bytesRead: number;
  buffer: ArrayBufferView;
}

/** The questions that page and Node are both asked. `root` is the folder of the project. Its text is sent to pages and workers. */
export async function questions(fs: typeof nodeFs.promises, root: string): Promise<Record<string, unknown>> {
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
  // How many bytes came, the whole buffer, or the code of the error.
  const read = async (...rest: unknown[]) => {
    try {
      const { bytesRead, buffer } = await (handle.read as (...rest: unknown[]) => Promise<ReadOutcome>)(...rest);
      const { buffer: memory, byteOffset, byteLength } = buffer;
      return [bytesRead, byteLength, ...new Uint8Array(memory, byteOffset, byteLength).subarray(0, 12)];
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  const parts = [
    (await handle.read(buffer, 2, 5)).bytesRead,
    (await handle.read(buffer, 7, 5, null)).bytesRead,
    (await handle.read(buffer, 0, 2, 3)).bytesRead,
    (await handle.read(new Uint8Array(4), 0, 4, 100_000)).bytesRead,
    [...buffer],
    // Each form that Node takes, from where the one before has left off or from a position.
    await read(new Uint8Array(4)),
    await read(new Uint8Array(4), { position: 1 }),
    await read(new Uint8Array(4), { offset: 1, length: 2 }),
    await read(new Uint8Array(4), { offset: 1, position: null }),
    await read(new Uint8Array(4), null),
    await read(new Uint8Array(4), 1, 3, 2),
    await read(new Uint8Array(4), undefined, 4, -1),
    await read({ position: 3, length: 5 }),
    await read({ buffer: new Uint8Array(4), offset: 2 }),
    await read(new DataView(new ArrayBuffer(4), 1), 1, 2, 0),
    await read(new Uint16Array(2), { position: 0 }),
    await read(new Uint8Array(4), 4, 0),
    await read(new Uint8Array(4), { position: 100_000 }),
    await read(),
    await read(),
    // What it refuses.
    await read('text'),
    await read(5),
    await read({ buffer: 5 }),
    await read(new Uint8Array(), 0, 1),
    await read(new Uint8Array(4), -1, 2),
    await read(new Uint8Array(4), 0, 5),
    await read(new Uint8Array(4), 3, 2),
    await read(new Uint8Array(4), 0, -1),
    await read(new Uint8Array(4), { offset: 5 }),
    (await handle.stat()).size,
    await handle.readFile('utf8'),
  ];
  await handle.close();
  /** All that an error tells to a program. */
  const fault = async (ask: () => Promise<unknown>) => {
    try {
      return await ask();
    } catch (error) {
      const { code, errno, syscall, path } = error as NodeJS.ErrnoException;
      return { code, errno, syscall, path: path?.replace(root, '') };
    }
  };
  const file = at('node_modules/left/index.js');
  const address = (path: string) => new URL(`file://${at(path)}`);
  const bytesOf = (path: string) => new TextEncoder().encode(path) as Buffer;
  const encodings =
    'utf8 UTF-8 Utf-8 utf16le UTF-16LE ucs2 UCS-2 ascii ASCII latin1 Latin1 binary hex HEX base64 base64url';
  const texts: unknown[] = [];
  for (const encoding of encodings.split(' ')) {
    for (const options of [encoding, { encoding }]) {
      texts.push(await fs.readFile(file, options as BufferEncoding));
    }
  }
  const directory = await fs.opendir(at('node_modules/.bin'));
  const opened = [directory.path.replace(root, ''), (await directory.read())?.name, await directory.read()];
  await directory.close();
  const listed: string[] = [];
  for await (const entry of await fs.opendir(at('node_modules/left'))) listed.push(entry.name);
  const numbers = async (path: string) => {
    const stats = await fs.stat(at(path));
    const { atime, mtime, ctime, birthtime, ...others } = stats;
    const times = [atime ?? stats.atime, mtime ?? stats.mtime, ctime ?? stats.ctime, birthtime ?? stats.birthtime];
    const kindOf = (name: string) => typeof (stats as unknown as Record<string, unknown>)[name];
    const names = 'dev ino mode nlink uid gid rdev size blksize blocks atimeMs mtimeMs ctimeMs birthtimeMs';
    return [Object.keys(others).length > 0, times.map((time) => time instanceof Date), names.split(' ').map(kindOf)];
  };
  return {
    parts,
    texts,
    opened,
    listed: listed.sort(),
    numbers: [await numbers('node_modules/left/index.js'), await numbers('node_modules')],
    addresses: [
      await fs.readFile(address('node_modules/left/index.js'), 'utf8'),
      await fs.readFile(address('node_modules/left/%69ndex.js'), 'utf8'),
      await fs.readFile(bytesOf(file), 'utf8'),
      (await fs.stat(address('node_modules'))).isDirectory(),
      (await fs.lstat(bytesOf(at('node_modules/.bin/right')))).isSymbolicLink(),
      (await fs.readdir(address('node_modules/left/'))).sort(),
    ],
    named: [
      await fs.readdir(at('node_modules/.bin'), 'hex'),
      await fs.readdir(at('node_modules/.bin'), { encoding: 'base64' }),
      (await fs.readdir(at('node_modules/.bin'), 'buffer')).map((name) => [...name]),
      await fs.readlink(at('node_modules/.bin/right'), 'latin1'),
      [...(await fs.readlink(at('node_modules/.bin/right'), { encoding: 'buffer' }))],
    ],
    faults: [
      await fault(() => fs.readFile(at('node_modules/none'))),
      await fault(() => fs.readFile(at('node_modules/left'))),
      await fault(() => fs.readFile(at('node_modules/left/index.js/'))),
      await fault(() => fs.readdir(at('node_modules/none'))),
      await fault(() => fs.readdir(at('node_modules/none'), { withFileTypes: true })),
      await fault(() => fs.readdir(at('node_modules/none'), { recursive: true })),
      await fault(() => fs.readdir(at('node_modules/left/index.js'))),
      await fault(() => fs.opendir(at('node_modules/none'))),
      await fault(() => fs.opendir(at('node_modules/left/index.js'))),
      await fault(() => fs.stat(at('node_modules/left/index.js/x'))),
      await fault(() => fs.stat(at('node_modules//none'))),
      await fault(() => fs.stat(address('node_modules/none'))),
      await fault(() => fs.stat(bytesOf(at('node_modules/none')))),
      await fault(() => fs.lstat(at('node_modules/none'))),
      await fault(() => fs.access(at('node_modules/none'))),
      await fault(() => fs.access(at('node_modules/left/index.js'), fs.constants.X_OK)),
      await fault(() => fs.readlink(at('node_modules/left'))),
      await fault(() => fs.readlink(at('node_modules/none'))),
      await fault(() => fs.realpath(at('node_modules/none/x'))),
      await fault(() => fs.open(at('node_modules/none'))),
      await fault(() => fs.stat('')),
      await fault(() => fs.readFile('')),
      await fault(() => fs.readdir('')),
      await fault(() => fs.access('')),
      await fault(() => fs.realpath('')),
    ],
    refused: [
      await fault(() => fs.readFile(file, 'utf-7' as BufferEncoding)),
      await fault(() => fs.readFile(file, 'toString' as BufferEncoding)),
      await fault(() => fs.readFile(file, { encoding: 'constructor' as BufferEncoding })),
      await fault(() => fs.readFile(file, { encoding: 5 as never })),
      await fault(() => fs.readFile(file, 5 as never)),
      await fault(() => fs.readdir(root, 'nothing' as BufferEncoding)),
      await fault(() => fs.readlink(file, 'nothing' as BufferEncoding)),
      await fault(() => fs.realpath(file, { encoding: 'nothing' as BufferEncoding })),
      await fault(() => fs.open(file, 'read')),
      await fault(() => fs.access(file, 8)),
      await fault(() => fs.access(file, 'r' as never)),
      await fault(() => fs.stat(undefined as never)),
      await fault(() => fs.lstat(null as never)),
      await fault(() => fs.readFile({} as never)),
      await fault(() => fs.readdir(5 as never)),
      await fault(() => fs.readlink(Symbol('path') as never)),
      await fault(() => fs.realpath(undefined as never)),
      await fault(() => fs.access(undefined as never)),
      await fault(() => fs.open([] as never)),
      await fault(() => fs.stat(`${file}\0`)),
      await fault(() => fs.stat(new URL('http://registry.test/x'))),
      await fault(() => fs.stat(new URL('file://registry.test/x'))),
      await fault(() => fs.stat(new URL('file:///a%2Fb'))),
      await fault(() => directory.read()),
      await fault(() => directory.close()),
      await fault(() => handle.stat().catch(({ code, syscall }) => Promise.reject({ code, syscall }))),
      await fault(() => fs.writeFile(undefined as never, '')),
      await fault(() => fs.mkdir(5 as never)),
    ],
    bytesAgain: [
      [...((await fs.readFile(file, '' as BufferEncoding)) as unknown as Uint8Array)],
      [...(await fs.readFile(file, { encoding: null }))],
    ],
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

/** The synchronous functions as if they were those of `fs.promises`. Its text is sent to workers. */
export function promised(fs: typeof nodeFs): typeof nodeFs.promises {
  const functions = fs as unknown as Record<string, (...rest: unknown[]) => unknown>;
  const later =
    (name: string) =>
    async (...rest: unknown[]) =>
      functions[name]?.(...rest);
  const open = async (...rest: unknown[]) => {
    const descriptor = functions.openSync?.(...rest);
    return {
      read: async (buffer: unknown, ...others: unknown[]) => ({
        bytesRead: functions.readSync?.(descriptor, buffer, ...others),
        buffer,
      }),
      stat: () => later('fstatSync')(descriptor),
      readFile: (options: unknown) => later('readFileSync')(descriptor, options),
      close: () => later('closeSync')(descriptor),
    };
  };
  const names = 'access lstat mkdir readFile readdir readlink stat writeFile'.split(' ');
  const others = Object.fromEntries(names.map((name) => [name, later(`${name}Sync`)]));
  // Node has two; this is the one that fs.promises has.
  const realpath = async (...rest: unknown[]) => {
    const { realpathSync } = functions as unknown as Record<string, { native?: typeof later } & typeof later>;
    return ((realpathSync?.native ?? realpathSync) as (...rest: unknown[]) => unknown)(...rest);
  };
  // Node 20 leaves the path out of this one's error, and only of this one's.
  const opendir = async (path: string) => {
    try {
      return functions.opendirSync?.(path);
    } catch (error) {
      throw Object.assign(error as object, { path });
    }
  };
  return { ...others, opendir, realpath, constants: fs.constants, open } as unknown as typeof nodeFs.promises;
}

/** What `existsSync` says of everything that may be given to it. Its text is sent to workers. */
export function existence(fs: typeof nodeFs, root: string): boolean[] {
  const { existsSync } = fs;
  const path = `${root}/node_modules/left`;
  const paths = [
    path,
    `${path}/index.js/`,
    `${path}/none`,
    new URL(`file://${path}`),
    new URL('http://registry.test/'),
    new TextEncoder().encode(path) as Buffer,
    '',
    undefined as never,
    null as never,
    {} as never,
    5 as never,
    `${path}\0`,
  ];
  return paths.map((path) => existsSync(path));
}
