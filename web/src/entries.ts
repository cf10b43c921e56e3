/** What `stat` and `readdir` tell of a path, in the shape of Node's `Stats` and `Dirent`. */
import { below } from './paths.js';
import type { DirectoryEntryData, EntryKind, FileStatData } from './protocol.js';

/**
 * What npm gives every file of a package: a tree says nothing of when it was installed. Two versions of a file of one size have
 * the same `stat`: whoever keeps what was read hears of changes by `onDidChange`.
 */
const MODIFIED = Date.UTC(1985, 9, 26, 8, 15);

/** The modes of `access`, the flags of `open` and the kinds in a `mode`, with the values that Node has on Linux. */
export const constants = Object.freeze({
  F_OK: 0,
  X_OK: 1,
  W_OK: 2,
  R_OK: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_APPEND: 0o2000,
  S_IFMT: 0o170000,
  S_IFREG: 0o100000,
  S_IFDIR: 0o40000,
  S_IFLNK: 0o120000,
});

/** In which a disk would be read, and in which it would count what a file takes. */
const BLOCK = 4096;
const SECTOR = 512;

class Kinded {
  readonly kind: EntryKind;

  constructor(kind: EntryKind) {
    this.kind = kind;
  }

  isFile(): boolean {
    return this.kind === 'file';
  }

  isDirectory(): boolean {
    return this.kind === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.kind === 'symlink';
  }

  /** A tree has no devices, pipes or sockets; callers that ask get an answer. */
  isBlockDevice(): boolean {
    return false;
  }

  isCharacterDevice(): boolean {
    return false;
  }

  isFIFO(): boolean {
    return false;
  }

  isSocket(): boolean {
    return false;
  }
}

/** When, to whoever asks for dates. */
class Dated extends Kinded {
  get atime(): Date {
    return new Date(MODIFIED);
  }

  get mtime(): Date {
    return new Date(MODIFIED);
  }

  get ctime(): Date {
    return new Date(MODIFIED);
  }

  get birthtime(): Date {
    return new Date(MODIFIED);
  }
}

/** As Node's. What no tree in a store has is the same for everything, so that equal trees have equal answers. */
export class Stats extends Dated {
  /** Bytes; of a link, those of its target's path. */
  readonly size: number;
  /** Kind and permission bits, as Unix has them: `0o100644`, `0o100755` for what may be run, `0o40755`, `0o120777`. */
  readonly mode: number;
  /** No device, and no number of its own: to those who compare them, 0 says that files cannot be told apart by them. */
  readonly dev: number = 0;
  readonly ino: number = 0;
  readonly nlink: number = 1;
  readonly uid: number = 0;
  readonly gid: number = 0;
  readonly rdev: number = 0;
  readonly blksize: number = BLOCK;
  /** What the size comes to in units of 512 bytes. */
  readonly blocks: number;
  /** Milliseconds; the same for everything: 26 October 1985, as npm has it in tarballs. */
  readonly atimeMs: number = MODIFIED;
  readonly mtimeMs: number = MODIFIED;
  readonly ctimeMs: number = MODIFIED;
  readonly birthtimeMs: number = MODIFIED;

  constructor(data: FileStatData) {
    super(data.kind);
    this.size = data.size;
    this.mode = data.mode;
    this.blocks = Math.ceil(data.size / SECTOR);
  }
}

const NANOSECONDS = BigInt(MODIFIED) * 1_000_000n;

/** The same for those who ask for `bigint`, and nanoseconds. */
export class BigIntStats extends Dated {
  readonly size: bigint;
  readonly mode: bigint;
  readonly dev: bigint = 0n;
  readonly ino: bigint = 0n;
  readonly nlink: bigint = 1n;
  readonly uid: bigint = 0n;
  readonly gid: bigint = 0n;
  readonly rdev: bigint = 0n;
  readonly blksize: bigint = BigInt(BLOCK);
  readonly blocks: bigint;
  readonly atimeMs: bigint = BigInt(MODIFIED);
  readonly mtimeMs: bigint = BigInt(MODIFIED);
  readonly ctimeMs: bigint = BigInt(MODIFIED);
  readonly birthtimeMs: bigint = BigInt(MODIFIED);
  readonly atimeNs: bigint = NANOSECONDS;
  readonly mtimeNs: bigint = NANOSECONDS;
  readonly ctimeNs: bigint = NANOSECONDS;
  readonly birthtimeNs: bigint = NANOSECONDS;

  constructor(data: FileStatData) {
    super(data.kind);
    this.size = BigInt(data.size);
    this.mode = BigInt(data.mode);
    this.blocks = BigInt(Math.ceil(data.size / SECTOR));
  }
}

export interface StatOptions {
  /** Numbers as `bigint`. */
  bigint?: boolean;
}

export function statsOf(data: FileStatData, options: StatOptions | null | undefined): Stats | BigIntStats {
  return options?.bigint ? new BigIntStats(data) : new Stats(data);
}

export class DirectoryEntry extends Kinded {
  readonly name: string;
  /** The directory that it is in, as that was given, or from there on; of an address its path, of bytes their text. */
  readonly parentPath: string;
  /** The same, as Node's older versions call it. */
  readonly path: string;

  /** `name` may lead through folders below `directory`, as a recursive listing has it. */
  constructor(data: DirectoryEntryData, directory: string) {
    super(data.kind);
    const end = data.name.lastIndexOf('/');
    this.name = data.name.slice(end + 1);
    this.parentPath = end === -1 ? directory : below(directory, data.name.slice(0, end));
    this.path = this.parentPath;
  }
}
