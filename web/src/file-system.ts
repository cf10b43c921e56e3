/**
 * Reading an installed tree, with the names, results and error codes of Node's `fs.promises`.
 *
 * `node_modules` is virtual: paths map to ranges of the store's pack files, so a read costs no lookup in OPFS. The root
 * is `/`; relative paths are taken from it. Nothing here writes: what would fails with `EROFS`.
 */
import { Directory } from './directory.js';
import { type BigIntStats, constants, DirectoryEntry, type StatOptions, type Stats, statsOf } from './entries.js';
import { GantryError } from './errors.js';
import {
  abortError,
  asErrorOf,
  fileSystemError,
  folderOfLongName,
  isDirectoryError,
  isMissing,
  isNothing,
  isNowhere,
  outOfRange,
  wrongType,
} from './file-errors.js';
import { FileHandle } from './file-handle.js';
import { type PathLike, pathOf, pathText } from './path-like.js';
import { fromRoot } from './paths.js';
import type { FileStatData } from './protocol.js';
import { readOnly, requireReading, type Writes, writes } from './read-only.js';
import {
  decoderOf,
  fileOptionsIn,
  type NameOptions,
  nameEncoderOf,
  type ReadFileOptions,
  type ReadOptionsOfFiles,
  type TextEncoding,
} from './text.js';
import type { Tree } from './tree.js';
import { unlessAborted } from './unless-aborted.js';

export interface ReaddirOptions {
  withFileTypes?: boolean;
  /** All that is below; links are told of and not followed. */
  recursive?: boolean;
  /** Of names, unless they come with their types; `buffer` asks for bytes. */
  encoding?: TextEncoding | 'buffer' | null;
}

/** What `opendir` takes. */
export type OpendirOptions = TextEncoding | null | undefined | { encoding?: TextEncoding | null; recursive?: boolean };

/** What `mkdir` takes: a mode, too. */
export type MkdirOptions = number | string | null | undefined | { recursive?: boolean; mode?: number | string };

/** What `rm` takes. */
export type RmOptions =
  | null
  | undefined
  | { force?: boolean; recursive?: boolean; maxRetries?: number; retryDelay?: number };

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the interface adds
export class ProjectFileSystem {
  readonly constants = constants;
  readonly F_OK = constants.F_OK;
  readonly R_OK = constants.R_OK;
  readonly W_OK = constants.W_OK;
  readonly X_OK = constants.X_OK;
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

  /** The bytes of a file, or its text when an encoding is given. Of an open file it is what has not been read yet. */
  readFile(
    file: PathLike | FileHandle,
    options?: null | ({ encoding?: null } & ReadOptionsOfFiles),
  ): Promise<Uint8Array<ArrayBuffer>>;
  readFile(
    file: PathLike | FileHandle,
    options: TextEncoding | ({ encoding: TextEncoding } & ReadOptionsOfFiles),
  ): Promise<string>;
  readFile(file: PathLike | FileHandle, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string>;
  async readFile(file: PathLike | FileHandle, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer> | string> {
    if (file instanceof FileHandle) return file.readFile(options);
    const decode = decoderOf(options);
    const { flag, signal } = fileOptionsIn(options);
    const bytes = await unlessAborted(signal, abortError, async () => {
      requireReading(file, flag || 'r');
      return this.#ask('open', file, (path) => this.#tree.readFile(path)).catch(failReading);
    });
    return decode ? decode(bytes) : bytes;
  }

  /** Many files of one tree in one round trip, in the order asked for; `undefined` where there is no such file. */
  async readMany(paths: readonly PathLike[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]> {
    if (!Array.isArray(paths)) throw wrongType('paths', 'an instance of Array', paths);
    return this.#tree.readMany(paths.map((path) => fromRoot(pathText(path))));
  }

  /** Part of a file: at most `length` bytes from `position`, fewer where the file ends. */
  async readRange(path: PathLike, position: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!Number.isSafeInteger(position) || position < 0) throw outOfRange('position', '>= 0', position);
    if (!Number.isSafeInteger(length) || length < 0) throw outOfRange('length', '>= 0', length);
    const handle = await this.open(path);
    return handle.part(position, length);
  }

  /** A file to read in parts. A directory can be opened, too, and not be read. */
  async open(path: PathLike, flags?: string | number | null): Promise<FileHandle> {
    requireReading(path, flags);
    const opened = await this.#ask('open', path, (path) =>
      this.#tree.locate(path).catch((error) => {
        if (isDirectory(error)) return this.#tree.stat(path);
        throw error;
      }),
    );
    return new FileHandle(this.#tree, opened);
  }

  /** Names in a directory, sorted; with `recursive` paths of all that is below it, each directory before what is in it. */
  readdir(path: PathLike, options: ReaddirOptions & { withFileTypes: true }): Promise<DirectoryEntry[]>;
  readdir(
    path: PathLike,
    options: 'buffer' | { encoding: 'buffer'; recursive?: boolean },
  ): Promise<Uint8Array<ArrayBuffer>[]>;
  readdir(
    path: PathLike,
    options?: TextEncoding | null | (ReaddirOptions & { encoding?: TextEncoding | null; withFileTypes?: false }),
  ): Promise<string[]>;
  readdir(
    path: PathLike,
    options?: TextEncoding | 'buffer' | null | ReaddirOptions,
  ): Promise<string[] | Uint8Array<ArrayBuffer>[] | DirectoryEntry[]>;
  async readdir(
    path: PathLike,
    options?: TextEncoding | 'buffer' | null | ReaddirOptions,
  ): Promise<string[] | Uint8Array<ArrayBuffer>[] | DirectoryEntry[]> {
    const { withFileTypes = false, recursive = false } = typeof options === 'object' ? (options ?? {}) : {};
    const encode = nameEncoderOf(options);
    if (withFileTypes) return this.#entries('scandir', path, recursive);
    const entries = await this.#ask('scandir', path, (path) => this.#tree.readdir(path, recursive));
    return entries.map(({ name }) => encode(name)) as string[] | Uint8Array<ArrayBuffer>[];
  }

  /** A directory whose entries are given one by one. */
  async opendir(path: PathLike, options?: OpendirOptions): Promise<Directory> {
    const recursive = isRecursive(options);
    return new Directory(pathText(path), await this.#entries('opendir', path, recursive));
  }

  /** What a path is, following links. */
  stat(path: PathLike, options?: (StatOptions & { bigint?: false }) | null): Promise<Stats>;
  stat(path: PathLike, options: { bigint: true }): Promise<BigIntStats>;
  stat(path: PathLike, options?: StatOptions | null): Promise<Stats | BigIntStats>;
  async stat(path: PathLike, options?: StatOptions | null): Promise<Stats | BigIntStats> {
    return statsOf(await this.#ask('stat', path, (path) => this.#tree.stat(path)), options);
  }

  /** What a path is; a link is reported as a link. */
  lstat(path: PathLike, options?: (StatOptions & { bigint?: false }) | null): Promise<Stats>;
  lstat(path: PathLike, options: { bigint: true }): Promise<BigIntStats>;
  lstat(path: PathLike, options?: StatOptions | null): Promise<Stats | BigIntStats>;
  async lstat(path: PathLike, options?: StatOptions | null): Promise<Stats | BigIntStats> {
    return statsOf(await this.#ask('lstat', path, (path) => this.#tree.lstat(path)), options);
  }

  /** With `recursive` a directory that is there is none to make; what would make one fails with `EROFS`. */
  async mkdir(path: PathLike, options?: MkdirOptions): Promise<undefined> {
    const isDirectory = async () => (await this.stat(path)).isDirectory();
    if (makesParents(options) && (await isDirectory().catch(falseIfMissing))) return undefined;
    const isThere = async () => (await this.lstat(path)) !== undefined;
    throw notMade(path, await isThere().catch(falseIfMissing));
  }

  /** With `force` nothing is none to remove; what would remove something fails with `EROFS`. */
  async rm(path: PathLike, options?: RmOptions): Promise<void> {
    const find = () => this.lstat(path);
    const found = await (options?.force ? find().catch(undefinedIfNothing) : find());
    if (found) throw notRemoved(path, found, options);
  }

  /** Whether a path is there, and, with {@link constants}, may be run. Asking to write fails with `EROFS`. */
  async access(path: PathLike, mode?: number | null): Promise<void> {
    checkAccess(path, mode, await this.#ask('access', path, (path) => this.#tree.stat(path)));
  }

  async exists(path: PathLike): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (isNowhere(error)) return false;
      throw error;
    }
  }

  /** Where a link leads, as it is written: relative to the folder that the link is in. */
  readlink(path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Promise<Uint8Array<ArrayBuffer>>;
  readlink(path: PathLike, options?: ReadFileOptions): Promise<string>;
  async readlink(path: PathLike, options?: NameOptions): Promise<string | Uint8Array<ArrayBuffer>> {
    const encode = nameEncoderOf(options);
    return encode(await this.#ask('readlink', path, (path) => this.#tree.readlink(path)));
  }

  /** The path with every link followed, from the root `/`. */
  realpath(path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Promise<Uint8Array<ArrayBuffer>>;
  realpath(path: PathLike, options?: ReadFileOptions): Promise<string>;
  async realpath(path: PathLike, options?: NameOptions): Promise<string | Uint8Array<ArrayBuffer>> {
    const encode = nameEncoderOf(options);
    return encode(`/${await this.#ask('realpath', path, (path) => this.#tree.realpath(path))}`);
  }

  #isFolder(path: string): Promise<boolean> {
    return this.#tree.stat(path).then(
      ({ kind }) => kind === 'directory',
      () => false,
    );
  }

  async #entries(call: string, path: PathLike, recursive: boolean): Promise<DirectoryEntry[]> {
    const directory = pathText(path);
    const entries = await this.#ask(call, path, (path) => this.#tree.readdir(path, recursive));
    return entries.map((entry) => new DirectoryEntry(entry, directory));
  }

  /** Ask the tree on behalf of what Node names `call`. */
  async #ask<T>(call: string, path: PathLike, question: (path: string) => Promise<T>): Promise<T> {
    const asked = pathOf(call, path);
    try {
      return await question(asked.path);
    } catch (error) {
      const folder = isNothing(error) ? folderOfLongName(asked.path) : undefined;
      if (folder !== undefined && (await this.#isFolder(folder))) {
        throw fileSystemError('ENAMETOOLONG', call, asked.given);
      }
      throw asErrorOf(call, asked.given, error);
    }
  }
}

/** What would write is put on each object when it is made. */
export interface ProjectFileSystem extends Writes {}

/** Throws where `mode` asks for what a path does not grant. */
export function checkAccess(path: PathLike, mode: number | null | undefined, { mode: granted }: FileStatData): void {
  const asked = mode ?? constants.F_OK;
  if (typeof asked !== 'number') throw wrongType('mode', 'of type number', asked);
  if (!Number.isInteger(asked) || asked < 0 || asked > 7) throw outOfRange('mode', '>= 0 && <= 7', asked);
  if (asked & constants.W_OK) throw readOnly('access', pathText(path));
  if (asked & constants.X_OK && (granted & 0o111) === 0) throw fileSystemError('EACCES', 'access', pathText(path));
}

/** In Node a directory can be opened, and then not be read. */
export function failReading(error: unknown): never {
  throw isDirectory(error) ? fileSystemError('EISDIR', 'read') : error;
}

/** Whether an error says that what was to be a file is a directory. */
export function isDirectory(error: unknown): boolean {
  return error instanceof GantryError && error.code === 'EISDIR';
}

export function falseIfMissing(error: unknown): false {
  if (isMissing(error)) return false;
  throw error;
}

/** Below a file there can be nothing, which is an error of its own. */
export function undefinedIfNothing(error: unknown): undefined {
  if (isNothing(error)) return undefined;
  throw error;
}

/** Why no directory is made at a path. What is there is in the way of any file system. */
export function notMade(path: PathLike, isThere: boolean): GantryError {
  return isThere ? fileSystemError('EEXIST', 'mkdir', pathText(path)) : readOnly('mkdir', pathText(path));
}

/** Why what is at a path is not removed. */
export function notRemoved(path: PathLike, found: Stats, options: RmOptions): GantryError {
  const text = pathText(path);
  return found.isDirectory() && !options?.recursive ? isDirectoryError(text) : readOnly('rm', text);
}

export function makesParents(options: MkdirOptions): boolean {
  return typeof options === 'object' && options?.recursive === true;
}

/** Whether options ask for all that is below; refuses what are no options, as Node does. */
export function isRecursive(options: OpendirOptions): boolean {
  nameEncoderOf(options);
  return typeof options === 'object' && options?.recursive === true;
}
