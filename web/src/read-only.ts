/** What would change a tree. Each is there, under Node's name, and fails with `EROFS`, as on a disk mounted read-only. */
import { GantryError } from './errors.js';
import { fromRoot } from './paths.js';

/** Names of Node's `fs.promises` functions that write. Given two paths, all of them name the first. */
const WRITES = [
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'lchown',
  'link',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'rename',
  'rm',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
] as const;

type Write = (typeof WRITES)[number];

/** Rejects with `EROFS`. */
export type Writes = Readonly<Record<Write, (path: string, ...rest: unknown[]) => Promise<never>>>;
/** Throws `EROFS`. */
export type SynchronousWrites = Readonly<Record<`${Write}Sync`, (path: string, ...rest: unknown[]) => never>>;

export function readOnly(call: string, path: string): GantryError {
  return new GantryError({
    code: 'EROFS',
    message: `EROFS: read-only file system, ${call} '${fromRoot(path)}'`,
    hint: 'An installed tree changes by installs only. To change files, export it first (gantry/export).',
  });
}

export const writes = Object.fromEntries(
  WRITES.map((call) => [call, (path: string) => Promise.reject(readOnly(call, String(path)))]),
) as Writes;

export const synchronousWrites = Object.fromEntries(
  WRITES.map((call) => [
    `${call}Sync`,
    (path: string) => {
      throw readOnly(call, String(path));
    },
  ]),
) as unknown as SynchronousWrites;
