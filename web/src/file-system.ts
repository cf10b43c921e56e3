/**
 * Reading an installed tree, with the names, results and error codes of Node's `fs.promises`.
 *
 * `node_modules` is virtual: paths map to ranges of the store's pack files, so a read costs no lookup in OPFS. The root
 * is `/`; relative paths are taken from it. Nothing here writes: what would fails with `EROFS`.
 */
import { constants, DirectoryEntry, Stats } from './entries.js';
import { GantryError } from './errors.js';
import { FileHandle } from './file-handle.js';
import { fromRoot } from './paths.js';
import { readOnly, type Writes, writes } from './read-only.js';
import { decode, encodingOf, type ReadFileOptions, type TextEncoding } from './text.js';
import type { Tree } from './tree.js';

export interface ReaddirOptions {
  withFileTypes?: boolean;
  /** All that is below; links are told of and not followed. */
  recursive?: boolean;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the interface adds
export class ProjectFileSystem {
  readonly constants = constants;
  readonly #tree: Tree;

  /** @internal */
  constructor(tree: Tree) {
    this.#tree = tree;
    Object.assign(this, writes);
    // As from Node's module, functions may be taken off it.
    const prototype = ProjectFileSystem.prototype as unknown as Record<string, unknown>;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method = name === 'promises' ? undefined : prototype[name];
      if (typeof method === 'function' && name !== 'constructor') Object.assign(this, { [name]: method.bind(this) });
    }
  }

  /** Itself: for those who look for `fs.promises`. */
  get promises(): this {
    return this;
  }

  /** The bytes of a file, or its text when an encoding is given. */
  readFile(path: string, options?: null | { encoding?: null }): Promise<Uint8Array>;
  readFile(path: string, options: TextEncoding | { encoding: TextEncoding }): Promise<string>;
  readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array | string>;
  async readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array | string> {
    const encoding = encodingOf(options);
    const bytes = await this.#tree.readFile(fromRoot(path));
    return encoding === undefined ? bytes : decode(bytes, encoding);
  }

  /** Many files in one round trip, in the order asked for; `undefined` where there is no such file. */
  readMany(paths: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#tree.readMany(paths.map(fromRoot));
  }

  /** Part of a file: at most `length` bytes from `position`, fewer where the file ends. */
  async readRange(path: string, position: number, length: number): Promise<Uint8Array> {
    const handle = await this.open(path);
    const { bytesRead, buffer } = await handle.read(new Uint8Array(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  /** A file to read in parts. */
  async open(path: string, flags: string | number = 'r'): Promise<FileHandle> {
    if (flags !== 'r' && flags !== 'rs' && flags !== 0) throw readOnly('open', path);
    return new FileHandle(this.#tree, await this.#tree.locate(fromRoot(path)));
  }

  /** Names in a directory, sorted; with `recursive` paths of all that is below it, each directory before what is in it. */
  readdir(path: string, options: ReaddirOptions & { withFileTypes: true }): Promise<DirectoryEntry[]>;
  readdir(
    path: string,
    options?: TextEncoding | null | (ReaddirOptions & { withFileTypes?: false }),
  ): Promise<string[]>;
  async readdir(path: string, options?: TextEncoding | null | ReaddirOptions): Promise<string[] | DirectoryEntry[]> {
    const { withFileTypes = false, recursive = false } = typeof options === 'object' ? (options ?? {}) : {};
    const directory = fromRoot(path);
    const entries = await this.#tree.readdir(directory, recursive);
    return withFileTypes
      ? entries.map((entry) => new DirectoryEntry(entry, directory))
      : entries.map(({ name }) => name);
  }

  /** What a path is, following links. */
  async stat(path: string): Promise<Stats> {
    return new Stats(await this.#tree.stat(fromRoot(path)));
  }

  /** What a path is; a link is reported as a link. */
  async lstat(path: string): Promise<Stats> {
    return new Stats(await this.#tree.lstat(fromRoot(path)));
  }

  /** Whether a path is there, and, with {@link constants}, may be run. Asking to write fails with `EROFS`. */
  async access(path: string, mode: number = constants.F_OK): Promise<void> {
    checkAccess(path, mode, await this.stat(path));
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.#tree.stat(fromRoot(path));
      return true;
    } catch (error) {
      if (isAbsence(error)) return false;
      throw error;
    }
  }

  /** Where a link leads, as it is written: relative to the folder that the link is in. */
  readlink(path: string): Promise<string> {
    return this.#tree.readlink(fromRoot(path));
  }

  /** The path with every link followed, from the root `/`. */
  async realpath(path: string): Promise<string> {
    return `/${await this.#tree.realpath(fromRoot(path))}`;
  }
}

/** What would write is put on each object when it is made. */
export interface ProjectFileSystem extends Writes {}

/** Whether an error says that nothing is at a path. */
export function isAbsence(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP')
  );
}

/** Throws where `mode` asks for what `stats` does not grant. */
export function checkAccess(path: string, mode: number, stats: Stats): void {
  if (mode & constants.W_OK) throw readOnly('access', path);
  if (mode & constants.X_OK && (stats.mode & 0o111) === 0) {
    throw new GantryError({ code: 'EACCES', message: `EACCES: permission denied, access '${fromRoot(path)}'` });
  }
}
