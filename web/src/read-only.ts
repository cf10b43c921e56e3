/** What would change a tree. Each is there, under Node's name, and fails with `EROFS`, as on a disk mounted read-only. */
import { constants } from './entries.js';
import type { GantryError } from './errors.js';
import { fileSystemError, wrongValue } from './file-errors.js';
import { type PathLike, pathText } from './path-like.js';

/**
 * Names of Node's `fs.promises` functions that write, but for `mkdir` and `rm`, which may have nothing to do. Given two paths,
 * all of them name the first.
 */
const WRITES = [
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'lchown',
  'link',
  'lutimes',
  'mkdtemp',
  'rename',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
] as const;

type Write = (typeof WRITES)[number];

/** Rejects with `EROFS`. */
export type Writes = Readonly<Record<Write, (path: PathLike, ...rest: unknown[]) => Promise<never>>>;
/** Throws `EROFS`. */
export type SynchronousWrites = Readonly<Record<`${Write}Sync`, (path: PathLike, ...rest: unknown[]) => never>>;

export function readOnly(call: string, path?: string): GantryError {
  const hint = 'An installed tree changes by installs only. To change files, export it first (gantry/export).';
  return fileSystemError('EROFS', call, path, hint);
}

/** Node's flags of `open`, in the orders that it takes their letters in. */
const READS = /^(r|rs|sr)$/;
const WRITES_TOO = /^((r|rs|sr)\+|(w|wx|xw|a|ax|xa|as|sa)\+?)$/;
const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = constants;

/** Refuses to open a file for anything but reading. */
export function requireReading(path: PathLike, flags: string | number | null | undefined): void {
  if (typeof flags === 'number') {
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)) !== 0) throw readOnly('open', pathText(path));
    return;
  }
  const given = flags ?? 'r';
  if (READS.test(given)) return;
  throw WRITES_TOO.test(given) ? readOnly('open', pathText(path)) : wrongValue('flags', 'is invalid', flags);
}

/** Of an open file. */
const HANDLE_WRITES = ['appendFile', 'chmod', 'chown', 'truncate', 'utimes', 'write', 'writeFile', 'writev'] as const;

/** Rejects with `EROFS`. */
export type HandleWrites = Readonly<Record<(typeof HANDLE_WRITES)[number], (...rest: unknown[]) => Promise<never>>>;

/** `check` refuses what a closed file is asked. */
export function handleWrites(check: (call: string) => void): HandleWrites {
  const fail = (call: string) => async () => {
    check(call);
    throw readOnly(call);
  };
  return Object.fromEntries(HANDLE_WRITES.map((call) => [call, fail(call)])) as unknown as HandleWrites;
}

export const writes = Object.fromEntries(
  WRITES.map((call) => [
    call,
    async (path: PathLike) => {
      throw readOnly(call, pathText(path));
    },
  ]),
) as unknown as Writes;

export const synchronousWrites = Object.fromEntries(
  WRITES.map((call) => [
    `${call}Sync`,
    (path: PathLike) => {
      throw readOnly(call, pathText(path));
    },
  ]),
) as unknown as SynchronousWrites;
