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
    // A dot at the end asks for a directory, as a slash does.
    dots: [
      ...(await Promise.all(
        ['/.', '/', '/./.', '//.'].flatMap((end) => [
          fault(() => fs.stat(`${file}${end}`)),
          fault(() => fs.readFile(`${file}${end}`)),
          fault(() => fs.access(`${file}${end}`)),
          fault(() => fs.open(`${file}${end}`)),
          fault(() => fs.realpath(`${file}${end}`)),
          fault(async () => (await fs.lstat(at(`node_modules/left${end}`))).isDirectory()),
          fault(async () => (await fs.readdir(at(`node_modules/left${end}`))).sort()),
        ]),
      )),
      await fault(() => fs.stat(`${file}/..`)),
      await fault(() => fs.stat(`${file}/./..`)),
    ],
    entries: await Promise.all(
      [
        'node_modules',
        'node_modules/',
        'node_modules//',
        'node_modules/.',
        './node_modules',
        'node_modules/../node_modules',
      ]
        .flatMap((path) => [path, at(path)])
        .concat('.', './')
        .flatMap((path) => [false, true].map((recursive) => ({ path, recursive })))
        .map(async ({ path, recursive }) => {
          const told = (entry: { name: string; parentPath: string; path: string }) => {
            const places = [entry.parentPath, entry.path];
            return [entry.name, ...places.map((place) => (place.startsWith('/') ? relative(place) : place))].join(' ');
          };
          // The folder that Node sees has more in it.
          const isOfTree = ({ name, parentPath }: { name: string; parentPath: string }) =>
            name === 'node_modules' || `/${parentPath}`.includes('/node_modules');
          const all = (await fs.readdir(path, { recursive, withFileTypes: true })).filter(isOfTree);
          const opened = [];
          for await (const entry of await fs.opendir(path, { recursive })) if (isOfTree(entry)) opened.push(entry);
          return [path.replace(root, ''), all.map(told).sort(), opened.map(told).sort()];
        }),
    ),
    entriesOfAddress: (await fs.readdir(address('node_modules/left'), { withFileTypes: true }))
      .map(({ parentPath, path }) => [relative(parentPath), relative(path)])
      .sort(),
    bigints: await Promise.all(
      [file, at('node_modules/.bin/right')].map(async (path) => {
        const handle = await fs.open(path);
        const all = [
          await fs.stat(path, { bigint: true }),
          await fs.lstat(path, { bigint: true }),
          await handle.stat({ bigint: true }),
        ];
        await handle.close();
        return all.map((stats) => [
          String(stats.size),
          stats.isFile(),
          stats.isSymbolicLink(),
          stats.mtime instanceof Date,
          'dev ino mode nlink uid gid rdev size blksize blocks'.split(' ').map((name) => typeof stats[name as 'dev']),
          ['atime', 'mtime', 'ctime', 'birthtime'].map((name) => typeof stats[`${name}Ms` as 'mtimeMs']),
          ['atime', 'mtime', 'ctime', 'birthtime'].map((name) => typeof stats[`${name}Ns` as 'mtimeNs']),
          stats.mtimeNs / 1_000_000n === stats.mtimeMs,
        ]);
      }),
    ),
    numbersAgain: typeof (await fs.stat(file, { bigint: false })).size,
    flags: [
      await fs.readFile(file, { flag: 'rs', encoding: 'utf8' }),
      await fault(() => fs.readFile(file, { flag: 'nothing' })),
      await fault(() => fs.readFile(file, { signal: 5 as never })),
      await fault(() => fs.readFile(file, { signal: new AbortController() as never })),
      (await fs.readFile(file, { signal: new AbortController().signal })).length,
    ],
    openedDirectories: [
      await fault(async () => {
        const directory = await fs.opendir(at('node_modules/left'), null as never);
        const entry = await directory.read();
        await directory.close();
        return entry !== null;
      }),
      await fault(() => fs.opendir(at('node_modules/left'), 5 as never)),
      await fault(() => fs.opendir(at('node_modules/left'), 'nothing' as never)),
      await fault(async () => {
        const directory = await fs.open(at('node_modules/left'));
        const answers = [
          (await directory.stat()).isDirectory(),
          (await directory.stat({ bigint: true })).isDirectory(),
          await fault(() => directory.read(new Uint8Array(4))),
          (await directory.read(new Uint8Array())).bytesRead,
          await fault(() => directory.readv([new Uint8Array(4)])),
          await fault(() => directory.readFile()),
        ];
        await directory.close();
        return answers;
      }),
    ],
    scattered: await fault(async () => {
      const handle = await fs.open(file);
      const readv = async (sizes: number[], position?: unknown) => {
        const buffers = sizes.map((size) => new Uint8Array(size));
        const { bytesRead } = await handle.readv(buffers, position as number);
        return [bytesRead, ...buffers.map((bytes) => [...bytes])];
      };
      const answers = [
        await readv([2, 0, 5]),
        await readv([3, 4], 1),
        await readv([1], null),
        await readv([1], -5),
        await readv([1], '0'),
        await readv([1, 500]),
        await readv([1]),
        await fault(() => handle.readv([])),
        await fault(() => handle.readv(5 as never)),
        await fault(() => handle.readv([5] as never)),
      ];
      await handle.close();
      return answers;
    }),
    idle: [
      await fault(async () => (await fs.mkdir(at('node_modules/left'), { recursive: true })) === undefined),
      await fault(
        async () => (await fs.mkdir(at('node_modules/left/'), { recursive: true, mode: 0o700 })) === undefined,
      ),
      await fault(async () => (await fs.rm(at('node_modules/none'), { force: true })) === undefined),
      await fault(
        async () => (await fs.rm(at('node_modules/none/none'), { force: true, recursive: true })) === undefined,
      ),
      await fault(async () => (await fs.rm(`${file}/x`, { force: true })) === undefined),
      await fault(async () => (await fs.rm(5 as never, { force: true })) === undefined),
    ],
    // What is in the way of them anywhere, and so changes nothing on a disk either.
    inTheWay: [
      await fault(() => fs.mkdir(at('node_modules/left'))),
      await fault(() => fs.mkdir(file)),
      await fault(() => fs.mkdir(file, { recursive: true })),
      await fault(() => fs.rm(at('node_modules/none'))),
      await fault(() => fs.rm(at('node_modules/none/none'), { recursive: true })),
      await fault(() => fs.rm(at('node_modules/left'))),
      await fault(() => fs.rm(at('node_modules/left'), { force: true })),
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
      // A name of 256 bytes, of 255, of 128 letters of two bytes; where the folder is one, none, or a file.
      ...['x'.repeat(256), 'x'.repeat(255), 'é'.repeat(128)].flatMap((name) =>
        ['', 'left/', 'none/', 'left/index.js/'].map((folder) => code(fs.stat(at(`node_modules/${folder}${name}`)))),
      ),
      code(fs.readFile(at(`node_modules/${'x'.repeat(256)}/index.js`))),
      code(fs.rm(at(`node_modules/${'x'.repeat(256)}`), { force: true })),
    ]),
    messages: await fs.readFile(at('node_modules/none')).catch(({ message }) => message.replace(root, '')),
  };
}

/** What only `fs.promises` has. Its text is sent to pages and workers. */
export async function promisedQuestions(fs: typeof nodeFs.promises, root: string): Promise<Record<string, unknown>> {
  const file = `${root}/node_modules/left/index.js`;
  const fault = async (ask: () => unknown) => {
    try {
      return await ask();
    } catch (error) {
      const { name, code, cause } = error as NodeJS.ErrnoException;
      return { name: code === 'ABORT_ERR' ? name : '', code, cause };
    }
  };
  const text = (value: Uint8Array | ArrayBuffer) => new TextDecoder().decode(value);
  const streamed = async (stream: ReadableStream) => {
    const reader = stream.getReader();
    const parts = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(text(part.value));
    return parts.join('');
  };
  const lines = async (path: string, before: number, options?: object) => {
    const handle = await fs.open(`${root}/${path}`);
    await handle.read(new Uint8Array(before));
    const all: string[] = [];
    for await (const line of handle.readLines(options)) all.push(line);
    const isClosed = handle.fd === -1;
    if (!isClosed) await handle.close();
    return [all, isClosed];
  };
  /** As one who has found what it looked for. */
  const firstLine = async (path: string, options?: object | null) => {
    const handle = await fs.open(`${root}/${path}`);
    let first = '';
    for await (const line of handle.readLines(options as object)) {
      first = line;
      break;
    }
    // Node closes it in its own time.
    for (let time = 0; time < 100 && handle.fd !== -1; time++) await new Promise((resolve) => setTimeout(resolve, 5));
    const isClosed = handle.fd === -1;
    if (!isClosed) await handle.close();
    return [first, isClosed];
  };
  const aborted = AbortSignal.abort('had enough');
  const handle = await fs.open(file);
  const other = await fs.open(file);
  const descriptors = [typeof handle.fd, handle.fd > 2, handle.fd === other.fd];
  await handle.read(new Uint8Array(7));
  const stream = handle.readableWebStream() as ReadableStream;
  const answers = {
    descriptors,
    firstLines: [
      await firstLine('node_modules/left/package.json'),
      await firstLine('node_modules/left/package.json', null),
    ],
    aborted: [
      await fault(() => fs.readFile(file, { signal: aborted })),
      await fault(() => fs.readFile(`${root}/none`, { signal: aborted })),
      await fault(() => other.readFile({ signal: aborted })),
    ],
    streamed: await streamed(stream),
    locked: await fault(() => handle.readableWebStream()),
    afterwards: (await handle.read(new Uint8Array(1))).bytesRead,
    synchronised: [(await other.sync()) === undefined, (await other.datasync()) === undefined],
    lines: [
      await lines('node_modules/left/package.json', 0),
      await lines('node_modules/left/package.json', 5),
      await lines('node_modules/left/package.json', 5, { start: 3, end: 30, encoding: 'latin1', autoClose: false }),
      await lines('node_modules/executable/empty.txt', 0),
    ],
    closed: [] as unknown[],
  };
  await (other as unknown as Record<symbol, () => Promise<void>>)[Symbol.asyncDispose]?.();
  answers.closed = [
    other.fd,
    await fault(() => other.readableWebStream()),
    await fault(() => other.readv([new Uint8Array(1)])),
    await fault(() => other.readFile()),
    await fault(() => other.write('')),
    (await other.close()) === undefined,
  ];
  await handle.close();
  return answers;
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
      readv: async (buffers: unknown, position: unknown) => ({
        bytesRead: functions.readvSync?.(descriptor, buffers, position),
      }),
      stat: (options: unknown) => later('fstatSync')(descriptor, options),
      readFile: (options: unknown) => later('readFileSync')(descriptor, options),
      close: () => later('closeSync')(descriptor),
    };
  };
  const names = 'access lstat mkdir readFile readdir readlink rm stat writeFile'.split(' ');
  const others = Object.fromEntries(names.map((name) => [name, later(`${name}Sync`)]));
  // Node has two; this is the one that fs.promises has.
  const realpath = async (...rest: unknown[]) => {
    const { realpathSync } = functions as unknown as Record<string, { native?: typeof later } & typeof later>;
    return ((realpathSync?.native ?? realpathSync) as (...rest: unknown[]) => unknown)(...rest);
  };
  // Node 20 leaves the path out of this one's error, and only of this one's.
  const opendir = async (path: string, options?: unknown) => {
    try {
      return functions.opendirSync?.(path, options);
    } catch (error) {
      throw Object.assign(error as object, { path });
    }
  };
  return { ...others, opendir, realpath, constants: fs.constants, open } as unknown as typeof nodeFs.promises;
}

/** What `existsSync` says of everything that may be given to it, and `statSync` of what is not there. Its text is sent to workers. */
export function existence(fs: typeof nodeFs, root: string): (boolean | string | undefined)[] {
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
  const statuses = ['none', 'left', 'left/index.js/x', 'none/x', 'x'.repeat(256)].map((name) => {
    try {
      return fs.statSync(`${root}/node_modules/${name}`, { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      return (error as { code?: string }).code;
    }
  });
  return [...paths.map((path) => existsSync(path)), existsSync(`${path}/${'x'.repeat(256)}`), ...statuses];
}
