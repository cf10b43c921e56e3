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
  const names = ['access', 'lstat', 'readFile', 'readdir', 'readlink', 'realpath', 'stat'];
  const others = Object.fromEntries(names.map((name) => [name, later(`${name}Sync`)]));
  return { ...others, constants: fs.constants, open } as unknown as typeof nodeFs.promises;
}
