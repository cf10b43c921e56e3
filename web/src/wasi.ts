/**
 * `gantry/wasi`: an installed tree as a folder of `@bjorn3/browser_wasi_shim`, for WASI programs in a worker.
 *
 * Nothing is copied or listed before a program asks for it: a folder is read when it is first entered, and the bytes that a
 * program reads come straight from where the packages are stored. What a program writes stays in memory, over the tree: a
 * file is copied when it is opened for writing, and what is made, renamed or removed is so for this program only. The shim
 * knows no links: a link is what it leads to.
 */
import type * as Shim from '@bjorn3/browser_wasi_shim';

/** What the tree is read with; `fs` of a project that `gantry/sync` opened has these functions, and so has Node's `fs`. */
export interface ReadableTree {
  readdirSync(path: string, options: { withFileTypes: true }): ReadableEntry[];
  statSync(path: string): { size: number; isDirectory(): boolean };
  realpathSync(path: string): string;
  openSync(path: string): number;
  readSync(file: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  closeSync(file: number): void;
}

export interface ReadableEntry {
  name: string;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** The parts of the shim's module that are needed. */
export type WasiShim = Pick<typeof Shim, 'Directory' | 'Fd' | 'File' | 'Inode' | 'PreopenDirectory' | 'wasi'>;

/**
 * A folder for the shim's `WASI`, opened to the program as `name`. `shim` is the shim's module; `folder` is the folder of
 * the tree, all of it unless given.
 */
export function wasiFolder(shim: WasiShim, name: string, tree: ReadableTree, folder = '/'): Shim.PreopenDirectory {
  const opened = new shim.PreopenDirectory(name, new Map());
  opened.dir = new Overlay(shim, tree).directory(tree.realpathSync(folder));
  return opened;
}

/** The classes of one shim over one tree. */
class Overlay {
  readonly #shim: WasiShim;
  readonly #tree: ReadableTree;
  /** By path without links, so that what is reached in two ways is one file. */
  readonly #inodes = new Map<string, Shim.Inode>();

  constructor(shim: WasiShim, tree: ReadableTree) {
    this.#shim = shim;
    this.#tree = tree;
  }

  /** The directory at a path without links; it is listed when its contents are first asked for. */
  directory(path: string): Shim.Directory {
    const directory = new this.#shim.Directory(new Map());
    const fill = (contents: Map<string, Shim.Inode>) =>
      Object.defineProperty(directory, 'contents', { value: contents, writable: true });
    Object.defineProperty(directory, 'contents', {
      configurable: true,
      get: () => {
        const contents = this.#list(path);
        fill(contents);
        return contents;
      },
    });
    return directory;
  }

  #list(path: string): Map<string, Shim.Inode> {
    const contents = new Map<string, Shim.Inode>();
    for (const entry of this.#tree.readdirSync(path, { withFileTypes: true })) {
      const inode = this.#inode(path === '/' ? `/${entry.name}` : `${path}/${entry.name}`, entry);
      if (inode) contents.set(entry.name, inode);
    }
    return contents;
  }

  #inode(path: string, entry: ReadableEntry): Shim.Inode | undefined {
    let real = path;
    let isDirectory = entry.isDirectory();
    if (entry.isSymbolicLink()) {
      try {
        real = this.#tree.realpathSync(path);
        isDirectory = this.#tree.statSync(real).isDirectory();
      } catch {
        // It leads out of the tree, as to a workspace, or nowhere.
        return undefined;
      }
    }
    const known = this.#inodes.get(real);
    if (known) return known;
    const inode = isDirectory ? this.directory(real) : treeFile(this.#shim, this.#tree, real);
    this.#inodes.set(real, inode);
    return inode;
  }
}

/** A file of the tree, which becomes one in memory when it is opened for writing. */
function treeFile(shim: WasiShim, tree: ReadableTree, path: string): Shim.Inode {
  const { wasi } = shim;
  let size: number | undefined;
  let written: Shim.File | undefined;
  class TreeFile extends shim.Inode {
    override path_open(oflags: number, rights: bigint, flags: number): { ret: number; fd_obj: Shim.Fd | null } {
      const truncates = (oflags & wasi.OFLAGS_TRUNC) !== 0;
      if (!written && (truncates || (rights & BigInt(wasi.RIGHTS_FD_WRITE)) !== 0n)) {
        const bytes = truncates ? new Uint8Array() : attempt(() => readAll(tree, path));
        if (!bytes) return { ret: wasi.ERRNO_IO, fd_obj: null };
        written = new shim.File(bytes);
      }
      if (written) return written.path_open(oflags, rights, flags);
      const file = attempt(() => tree.openSync(path));
      if (file === undefined) return { ret: wasi.ERRNO_IO, fd_obj: null };
      return { ret: wasi.ERRNO_SUCCESS, fd_obj: openTreeFile(shim, tree, file, this) };
    }

    override stat(): Shim.wasi.Filestat {
      if (written) return written.stat();
      size ??= tree.statSync(path).size;
      return new wasi.Filestat(this.ino, wasi.FILETYPE_REGULAR_FILE, BigInt(size));
    }
  }
  return new TreeFile();
}

/** An open file of the tree, for reading. */
function openTreeFile(shim: WasiShim, tree: ReadableTree, file: number, inode: Shim.Inode): Shim.Fd {
  const { wasi } = shim;
  let position = 0n;
  const length = inode.stat().size;
  const read = (size: number, offset: bigint) => {
    const data = attempt(() => {
      const left = offset < length ? length - offset : 0n;
      const buffer = new Uint8Array(left < BigInt(size) ? Number(left) : size);
      return buffer.subarray(0, tree.readSync(file, buffer, 0, buffer.length, Number(offset)));
    });
    return data ? { ret: wasi.ERRNO_SUCCESS, data } : { ret: wasi.ERRNO_IO, data: new Uint8Array() };
  };
  class OpenTreeFile extends shim.Fd {
    override fd_read(size: number): { ret: number; data: Uint8Array } {
      const result = read(size, position);
      position += BigInt(result.data.length);
      return result;
    }

    override fd_pread(size: number, offset: bigint): { ret: number; data: Uint8Array } {
      return read(size, offset);
    }

    override fd_seek(offset: bigint, whence: number): { ret: number; offset: bigint } {
      const bases: Record<number, bigint> = {
        [wasi.WHENCE_SET]: 0n,
        [wasi.WHENCE_CUR]: position,
        [wasi.WHENCE_END]: length,
      };
      const base = bases[whence];
      if (base === undefined || base + offset < 0n) return { ret: wasi.ERRNO_INVAL, offset: 0n };
      position = base + offset;
      return { ret: wasi.ERRNO_SUCCESS, offset: position };
    }

    override fd_tell(): { ret: number; offset: bigint } {
      return { ret: wasi.ERRNO_SUCCESS, offset: position };
    }

    override fd_fdstat_get(): { ret: number; fdstat: Shim.wasi.Fdstat | null } {
      return { ret: wasi.ERRNO_SUCCESS, fdstat: new wasi.Fdstat(wasi.FILETYPE_REGULAR_FILE, 0) };
    }

    override fd_filestat_get(): { ret: number; filestat: Shim.wasi.Filestat | null } {
      return { ret: wasi.ERRNO_SUCCESS, filestat: inode.stat() };
    }

    override fd_close(): number {
      attempt(() => tree.closeSync(file));
      return wasi.ERRNO_SUCCESS;
    }
  }
  return new OpenTreeFile();
}

function readAll(tree: ReadableTree, path: string): Uint8Array {
  const bytes = new Uint8Array(tree.statSync(path).size);
  const file = tree.openSync(path);
  try {
    let position = 0;
    while (position < bytes.length) {
      const count = tree.readSync(file, bytes, position, bytes.length - position, position);
      if (count === 0) break;
      position += count;
    }
    return bytes.subarray(0, position);
  } finally {
    tree.closeSync(file);
  }
}

/** `undefined` where the tree cannot be read: to the program that is an error of the file, and not its end. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
