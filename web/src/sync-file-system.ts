/** An installed tree with the synchronous functions of Node's `fs` that read, and the others as `promises`. */
import { nextDescriptor } from './descriptors.js';
import { Directory } from './directory.js';
import { type BigIntStats, constants, DirectoryEntry, type StatOptions, type Stats, statsOf } from './entries.js';
import { asErrorOf, fileSystemError, folderOfLongName, isNothing, isNowhere, wrongType } from './file-errors.js';
import {
  checkAccess,
  failReading,
  falseIfMissing,
  isDirectory,
  isRecursive,
  type MkdirOptions,
  makesParents,
  notMade,
  notRemoved,
  type OpendirOptions,
  ProjectFileSystem,
  type ReaddirOptions,
  type RmOptions,
  undefinedIfNothing,
} from './file-system.js';
import type { ReaderSlot } from './local-tree.js';
import { type Opened, partOf, statusOf } from './opened.js';
import { type GivenPath, type PathLike, pathOf, pathText } from './path-like.js';
import type { FileStatData } from './protocol.js';
import {
  capacityOf,
  checkBuffers,
  checkRead,
  type OffsetOrOptions,
  type ReadOptions,
  readOptions,
  scatter,
  startOf,
} from './read-arguments.js';
import { requireReading, type SynchronousWrites, synchronousWrites } from './read-only.js';
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
import type { WasmReader } from './wasm.js';

interface StatSyncOptions extends StatOptions {
  /** `false`: nothing where there is nothing. What is asked for below a file is an error all the same. */
  throwIfNoEntry?: boolean;
}

interface Realpath {
  (path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Uint8Array<ArrayBuffer>;
  (path: PathLike, options?: ReadFileOptions): string;
}

/** As Node's; `native` is the same. */
export interface RealpathSync extends Realpath {
  readonly native: Realpath;
}

interface OpenFile {
  opened: Opened;
  position: number;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the interface adds
export class SyncFileSystem {
  readonly constants = constants;
  readonly F_OK = constants.F_OK;
  readonly R_OK = constants.R_OK;
  readonly W_OK = constants.W_OK;
  readonly X_OK = constants.X_OK;
  readonly promises: ProjectFileSystem;
  /** The path with every link followed, from the root `/`. */
  readonly realpathSync: RealpathSync;
  readonly #slot: ReaderSlot;
  readonly #open = new Map<number, OpenFile>();

  /** @internal */
  constructor(slot: ReaderSlot, tree: Tree) {
    this.#slot = slot;
    this.promises = new ProjectFileSystem(tree);
    const realpath = (path: PathLike, options?: NameOptions) => this.#realpath(path, options);
    this.realpathSync = Object.assign(realpath, { native: realpath }) as RealpathSync;
    Object.assign(this, synchronousWrites);
    // As from Node's module, functions may be taken off it.
    const prototype = SyncFileSystem.prototype as unknown as Record<string, unknown>;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method = prototype[name];
      if (typeof method === 'function' && name !== 'constructor') Object.assign(this, { [name]: method.bind(this) });
    }
  }

  /** The bytes of a file, or its text when an encoding is given. Of an open file it is what has not been read yet. */
  readFileSync(
    file: PathLike | number,
    options?: null | ({ encoding?: null } & ReadOptionsOfFiles),
  ): Uint8Array<ArrayBuffer>;
  readFileSync(
    file: PathLike | number,
    options: TextEncoding | ({ encoding: TextEncoding } & ReadOptionsOfFiles),
  ): string;
  readFileSync(file: PathLike | number, options?: ReadFileOptions): Uint8Array<ArrayBuffer> | string;
  readFileSync(file: PathLike | number, options?: ReadFileOptions): Uint8Array<ArrayBuffer> | string {
    const decode = decoderOf(options);
    const { flag } = fileOptionsIn(options);
    const bytes = typeof file === 'number' ? this.#rest(file) : this.#whole(file, flag);
    return decode ? decode(bytes) : bytes;
  }

  /** Names in a directory, sorted; with `recursive` paths of all that is below it. */
  readdirSync(path: PathLike, options: ReaddirOptions & { withFileTypes: true }): DirectoryEntry[];
  readdirSync(
    path: PathLike,
    options: 'buffer' | { encoding: 'buffer'; recursive?: boolean },
  ): Uint8Array<ArrayBuffer>[];
  readdirSync(
    path: PathLike,
    options?: TextEncoding | null | (ReaddirOptions & { encoding?: TextEncoding | null; withFileTypes?: false }),
  ): string[];
  readdirSync(
    path: PathLike,
    options?: TextEncoding | 'buffer' | null | ReaddirOptions,
  ): string[] | Uint8Array<ArrayBuffer>[] | DirectoryEntry[];
  readdirSync(
    path: PathLike,
    options?: TextEncoding | 'buffer' | null | ReaddirOptions,
  ): string[] | Uint8Array<ArrayBuffer>[] | DirectoryEntry[] {
    const { withFileTypes = false, recursive = false } = typeof options === 'object' ? (options ?? {}) : {};
    const encode = nameEncoderOf(options);
    if (withFileTypes) return this.#entries('scandir', path, recursive);
    const entries = this.#ask('scandir', path, (reader, path) => reader.readdir(path, recursive));
    return entries.map(({ name }) => encode(name)) as string[] | Uint8Array<ArrayBuffer>[];
  }

  /** A directory whose entries are given one by one. */
  opendirSync(path: PathLike, options?: OpendirOptions): Directory {
    const recursive = isRecursive(options);
    return new Directory(pathText(path), this.#entries('opendir', path, recursive));
  }

  /** What a path is, following links. */
  statSync(path: PathLike, options?: (StatOptions & { bigint?: false; throwIfNoEntry?: true }) | null): Stats;
  statSync(path: PathLike, options: { bigint: true; throwIfNoEntry?: true }): BigIntStats;
  statSync(path: PathLike, options: { bigint?: false; throwIfNoEntry: boolean }): Stats | undefined;
  statSync(path: PathLike, options?: StatSyncOptions | null): Stats | BigIntStats | undefined;
  statSync(path: PathLike, options?: StatSyncOptions | null): Stats | BigIntStats | undefined {
    return this.#stats('stat', path, options);
  }

  /** What a path is; a link is reported as a link. */
  lstatSync(path: PathLike, options?: (StatOptions & { bigint?: false; throwIfNoEntry?: true }) | null): Stats;
  lstatSync(path: PathLike, options: { bigint: true; throwIfNoEntry?: true }): BigIntStats;
  lstatSync(path: PathLike, options: { bigint?: false; throwIfNoEntry: boolean }): Stats | undefined;
  lstatSync(path: PathLike, options?: StatSyncOptions | null): Stats | BigIntStats | undefined;
  lstatSync(path: PathLike, options?: StatSyncOptions | null): Stats | BigIntStats | undefined {
    return this.#stats('lstat', path, options);
  }

  /** With `recursive` a directory that is there is none to make; what would make one fails with `EROFS`. */
  mkdirSync(path: PathLike, options?: MkdirOptions): undefined {
    const isDirectory = attempt(() => this.statSync(path).isDirectory(), falseIfMissing);
    if (makesParents(options) && isDirectory()) return undefined;
    const isThere = attempt(() => this.lstatSync(path) !== undefined, falseIfMissing);
    throw notMade(path, isThere());
  }

  /** With `force` nothing is none to remove; what would remove something fails with `EROFS`. */
  rmSync(path: PathLike, options?: RmOptions): void {
    const find = () => this.lstatSync(path);
    const found = options?.force ? attempt<Stats | undefined>(find, undefinedIfNothing)() : find();
    if (found) throw notRemoved(path, found, options);
  }

  existsSync(path: PathLike): boolean {
    try {
      return this.#find('stat', path) !== undefined;
    } catch (error) {
      if (isNowhere(error)) return false;
      throw error;
    }
  }

  accessSync(path: PathLike, mode?: number | null): void {
    checkAccess(path, mode, this.#find('access', path) ?? nothing('access', path));
  }

  readlinkSync(path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Uint8Array<ArrayBuffer>;
  readlinkSync(path: PathLike, options?: ReadFileOptions): string;
  readlinkSync(path: PathLike, options?: NameOptions): string | Uint8Array<ArrayBuffer> {
    const encode = nameEncoderOf(options);
    return encode(this.#ask('readlink', path, (reader, path) => reader.readlink(path)));
  }

  /** A number for {@link readSync}. A directory can be opened, too, and not be read. */
  openSync(path: PathLike, flags?: string | number | null): number {
    requireReading(path, flags);
    const opened = this.#locate(path);
    const descriptor = nextDescriptor();
    this.#open.set(descriptor, { opened, position: 0 });
    return descriptor;
  }

  /**
   * Read into `buffer` at `offset`, at most `length` bytes, from `position` in the file, or from where the last read without
   * one ended. What comes after the buffer may be one object. Returns how many there were: 0 at the end.
   */
  readSync(descriptor: number, buffer: ArrayBufferView, options?: ReadOptions | null): number;
  readSync(
    descriptor: number,
    buffer: ArrayBufferView,
    offset?: number | null,
    length?: number | null,
    position?: number | bigint | null,
  ): number;
  readSync(
    descriptor: number,
    buffer: ArrayBufferView,
    offset?: OffsetOrOptions,
    length?: number | null,
    position?: number | bigint | null,
  ): number {
    const open = this.#opened(descriptor, 'read');
    const { target, position: at } = checkRead(buffer, readOptions(offset, length, position));
    const bytes = this.#part(open.opened, at ?? open.position, target.length);
    if (at === undefined) open.position += bytes.length;
    target.set(bytes);
    return bytes.length;
  }

  /** Read into one buffer after the other, from `position` or from where the last read without one ended. */
  readvSync(descriptor: number, buffers: readonly ArrayBufferView[], position?: number | null): number {
    const open = this.#opened(descriptor, 'read');
    checkBuffers(buffers);
    const at = startOf(position);
    const bytes = this.#part(open.opened, at ?? open.position, capacityOf(buffers));
    if (at === undefined) open.position += bytes.length;
    scatter(bytes, buffers);
    return bytes.length;
  }

  fstatSync(descriptor: number, options?: (StatOptions & { bigint?: false }) | null): Stats;
  fstatSync(descriptor: number, options: { bigint: true }): BigIntStats;
  fstatSync(descriptor: number, options?: StatOptions | null): Stats | BigIntStats;
  fstatSync(descriptor: number, options?: StatOptions | null): Stats | BigIntStats {
    return statsOf(statusOf(this.#opened(descriptor, 'fstat').opened), options);
  }

  closeSync(descriptor: number): void {
    this.#opened(descriptor, 'close');
    this.#open.delete(descriptor);
  }

  #realpath(path: PathLike, options: NameOptions): string | Uint8Array<ArrayBuffer> {
    const encode = nameEncoderOf(options);
    return encode(`/${this.#ask('realpath', path, (reader, path) => reader.realpath(path))}`);
  }

  #opened(descriptor: number, call: string): OpenFile {
    if (typeof descriptor !== 'number') throw wrongType('fd', 'of type number', descriptor);
    const open = this.#open.get(descriptor);
    if (open) return open;
    throw fileSystemError('EBADF', call);
  }

  #locate(path: PathLike): Opened {
    try {
      return this.#ask('open', path, (reader, path) => reader.locate(path));
    } catch (error) {
      if (isDirectory(error)) return this.#find('open', path) ?? nothing('open', path);
      throw error;
    }
  }

  #whole(file: PathLike, flag: string | number | null | undefined): Uint8Array<ArrayBuffer> {
    requireReading(file, flag || 'r');
    try {
      return this.#ask('open', file, (reader, path) => reader.readFileSync(path));
    } catch (error) {
      return failReading(error);
    }
  }

  #rest(descriptor: number): Uint8Array<ArrayBuffer> {
    const open = this.#opened(descriptor, 'read');
    const bytes = this.#part(open.opened, open.position, Number.POSITIVE_INFINITY);
    open.position += bytes.length;
    return bytes;
  }

  #isFolder(path: string): boolean {
    const isFolder = () => this.#slot.ask((reader) => reader.stat(path))?.kind === 'directory';
    return attempt(isFolder, () => false)();
  }

  #entries(call: string, path: PathLike, recursive: boolean): DirectoryEntry[] {
    const directory = pathText(path);
    const entries = this.#ask(call, path, (reader, path) => reader.readdir(path, recursive));
    return entries.map((entry) => new DirectoryEntry(entry, directory));
  }

  #stats(call: 'stat' | 'lstat', path: PathLike, options: StatSyncOptions | null | undefined) {
    const found = this.#find(call, path, call);
    if (found) return statsOf(found, options);
    return options?.throwIfNoEntry === false ? undefined : nothing(call, path);
  }

  /** What is at a path, or `undefined` where nothing is: to ask for that, as compilers mostly do, is to make no error. */
  #find(call: string, path: PathLike, question: 'stat' | 'lstat' = 'stat'): FileStatData | undefined {
    if (pathText(path) === '') return undefined;
    const asked = pathOf(call, path);
    const found = this.#answer(call, asked, (reader, path) => reader[question](path));
    if (!found) this.#refuseLongName(call, asked);
    return found;
  }

  /** Ask the tree on behalf of what Node names `call`. */
  #ask<T>(call: string, path: PathLike, question: (reader: WasmReader, path: string) => T): T {
    return this.#answer(call, pathOf(call, path), question);
  }

  #answer<T>(call: string, asked: GivenPath, question: (reader: WasmReader, path: string) => T): T {
    try {
      return this.#slot.ask((reader) => question(reader, asked.path));
    } catch (error) {
      if (isNothing(error)) this.#refuseLongName(call, asked);
      throw asErrorOf(call, asked.given, error);
    }
  }

  #refuseLongName(call: string, { given, path }: GivenPath): void {
    const folder = folderOfLongName(path);
    if (folder !== undefined && this.#isFolder(folder)) throw fileSystemError('ENAMETOOLONG', call, given);
  }

  #part(opened: Opened, position: number, length: number): Uint8Array<ArrayBuffer> {
    const { file, size } = partOf(opened, position, length);
    if (file === undefined || size === 0) return new Uint8Array();
    if ('bytes' in file) return file.bytes.slice(position, position + size);
    const [bytes] = this.#slot.ask((reader) => reader.readRangesSync([file.key], [file.offset + position], [size]));
    return bytes as Uint8Array<ArrayBuffer>;
  }
}

/** What would write is put on each object when it is made. */
export interface SyncFileSystem extends SynchronousWrites {}

function nothing(call: string, path: PathLike): never {
  throw fileSystemError('ENOENT', call, pathText(path));
}

/** As with `catch` of a promise. */
function attempt<T>(ask: () => T, otherwise: (error: unknown) => T): () => T {
  return () => {
    try {
      return ask();
    } catch (error) {
      return otherwise(error);
    }
  };
}
