/** An installed tree with the synchronous functions of Node's `fs` that read, and the others as `promises`. */
import { Directory } from './directory.js';
import { constants, DirectoryEntry, Stats } from './entries.js';
import { asErrorOf, fileSystemError, isMissing, isNowhere, wrongType } from './file-errors.js';
import { checkAccess, failReading, ProjectFileSystem, type ReaddirOptions } from './file-system.js';
import type { ReaderSlot } from './local-tree.js';
import { type PathLike, pathOf, pathText } from './path-like.js';
import { fromRoot } from './paths.js';
import type { FileLocation, FileStatData } from './protocol.js';
import { checkRead, type OffsetOrOptions, type ReadOptions, readOptions } from './read-arguments.js';
import { requireReading, type SynchronousWrites, synchronousWrites } from './read-only.js';
import { decoderOf, type NameOptions, nameEncoderOf, type ReadFileOptions, type TextEncoding } from './text.js';
import type { Tree } from './tree.js';
import type { WasmReader } from './wasm.js';

/** As Node: 0 to 2 are taken everywhere. */
const FIRST_DESCRIPTOR = 3;

interface OpenFile {
  file: FileLocation;
  position: number;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the interface adds
export class SyncFileSystem {
  readonly constants = constants;
  readonly promises: ProjectFileSystem;
  readonly #slot: ReaderSlot;
  readonly #open = new Map<number, OpenFile>();
  #nextDescriptor = FIRST_DESCRIPTOR;

  /** @internal */
  constructor(slot: ReaderSlot, tree: Tree) {
    this.#slot = slot;
    this.promises = new ProjectFileSystem(tree);
    Object.assign(this, synchronousWrites);
    // As from Node's module, functions may be taken off it.
    const prototype = SyncFileSystem.prototype as unknown as Record<string, unknown>;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method = prototype[name];
      if (typeof method === 'function' && name !== 'constructor') Object.assign(this, { [name]: method.bind(this) });
    }
  }

  /** The bytes of a file, or its text when an encoding is given. Of an open file it is what has not been read yet. */
  readFileSync(file: PathLike | number, options?: null | { encoding?: null }): Uint8Array;
  readFileSync(file: PathLike | number, options: TextEncoding | { encoding: TextEncoding }): string;
  readFileSync(file: PathLike | number, options?: ReadFileOptions): Uint8Array | string;
  readFileSync(file: PathLike | number, options?: ReadFileOptions): Uint8Array | string {
    const decode = decoderOf(options);
    const bytes = typeof file === 'number' ? this.#rest(file) : this.#whole(file);
    return decode ? decode(bytes) : bytes;
  }

  /** Names in a directory, sorted; with `recursive` paths of all that is below it. */
  readdirSync(path: PathLike, options: ReaddirOptions & { withFileTypes: true }): DirectoryEntry[];
  readdirSync(path: PathLike, options: 'buffer' | { encoding: 'buffer'; recursive?: boolean }): Uint8Array[];
  readdirSync(
    path: PathLike,
    options?: TextEncoding | null | (ReaddirOptions & { encoding?: TextEncoding | null; withFileTypes?: false }),
  ): string[];
  readdirSync(
    path: PathLike,
    options?: TextEncoding | 'buffer' | null | ReaddirOptions,
  ): string[] | Uint8Array[] | DirectoryEntry[] {
    const { withFileTypes = false, recursive = false } = typeof options === 'object' ? (options ?? {}) : {};
    const encode = nameEncoderOf(options);
    if (withFileTypes) return this.#entries('scandir', path, recursive);
    const entries = this.#ask('scandir', path, (reader, path) => reader.readdir(path, recursive));
    return entries.map(({ name }) => encode(name)) as string[] | Uint8Array[];
  }

  /** A directory whose entries are given one by one. */
  opendirSync(path: PathLike, { recursive = false }: { recursive?: boolean } = {}): Directory {
    return new Directory(pathText(path), this.#entries('opendir', path, recursive));
  }

  /** What a path is, following links. */
  statSync(path: PathLike, options?: { throwIfNoEntry?: true }): Stats;
  statSync(path: PathLike, options: { throwIfNoEntry: boolean }): Stats | undefined;
  statSync(path: PathLike, options: { throwIfNoEntry?: boolean } = {}): Stats | undefined {
    return stats(options, () => this.#ask('stat', path, (reader, path) => reader.stat(path)));
  }

  /** What a path is; a link is reported as a link. */
  lstatSync(path: PathLike, options?: { throwIfNoEntry?: true }): Stats;
  lstatSync(path: PathLike, options: { throwIfNoEntry: boolean }): Stats | undefined;
  lstatSync(path: PathLike, options: { throwIfNoEntry?: boolean } = {}): Stats | undefined {
    return stats(options, () => this.#ask('lstat', path, (reader, path) => reader.lstat(path)));
  }

  existsSync(path: PathLike): boolean {
    try {
      this.statSync(path);
      return true;
    } catch (error) {
      if (isNowhere(error)) return false;
      throw error;
    }
  }

  accessSync(path: PathLike, mode?: number | null): void {
    checkAccess(
      path,
      mode,
      this.#ask('access', path, (reader, path) => reader.stat(path)),
    );
  }

  readlinkSync(path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Uint8Array;
  readlinkSync(path: PathLike, options?: ReadFileOptions): string;
  readlinkSync(path: PathLike, options?: NameOptions): string | Uint8Array {
    const encode = nameEncoderOf(options);
    return encode(this.#ask('readlink', path, (reader, path) => reader.readlink(path)));
  }

  /** The path with every link followed, from the root `/`. */
  realpathSync(path: PathLike, options: 'buffer' | { encoding: 'buffer' }): Uint8Array;
  realpathSync(path: PathLike, options?: ReadFileOptions): string;
  realpathSync(path: PathLike, options?: NameOptions): string | Uint8Array {
    const encode = nameEncoderOf(options);
    return encode(`/${this.#ask('realpath', path, (reader, path) => reader.realpath(path))}`);
  }

  /** A number for {@link readSync}. */
  openSync(path: PathLike, flags?: string | number | null): number {
    requireReading(path, flags);
    const file = this.#ask('open', path, (reader, path) => reader.locate(path));
    const descriptor = this.#nextDescriptor++;
    this.#open.set(descriptor, { file, position: 0 });
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
    const bytes = this.#part(open.file, at ?? open.position, target.length);
    if (at === undefined) open.position += bytes.length;
    target.set(bytes);
    return bytes.length;
  }

  fstatSync(descriptor: number): Stats {
    const { size, mode } = this.#opened(descriptor, 'fstat').file;
    return new Stats({ kind: 'file', size, mode });
  }

  closeSync(descriptor: number): void {
    this.#opened(descriptor, 'close');
    this.#open.delete(descriptor);
  }

  #opened(descriptor: number, call: string): OpenFile {
    if (typeof descriptor !== 'number') throw wrongType('fd', 'of type number', descriptor);
    const open = this.#open.get(descriptor);
    if (open) return open;
    throw fileSystemError('EBADF', call);
  }

  #whole(file: PathLike): Uint8Array {
    try {
      return this.#ask('open', file, (reader, path) => reader.readFile(path));
    } catch (error) {
      return failReading(error);
    }
  }

  #rest(descriptor: number): Uint8Array {
    const open = this.#opened(descriptor, 'read');
    const bytes = this.#part(open.file, open.position, open.file.size);
    open.position += bytes.length;
    return bytes;
  }

  #entries(call: string, path: PathLike, recursive: boolean): DirectoryEntry[] {
    const directory = fromRoot(pathText(path));
    const entries = this.#ask(call, path, (reader, path) => reader.readdir(path, recursive));
    return entries.map((entry) => new DirectoryEntry(entry, directory));
  }

  /** Ask the tree on behalf of what Node names `call`. */
  #ask<T>(call: string, path: PathLike, question: (reader: WasmReader, path: string) => T): T {
    const asked = pathOf(call, path);
    try {
      return this.#slot.ask((reader) => question(reader, asked.path));
    } catch (error) {
      throw asErrorOf(call, asked.given, error);
    }
  }

  #part(file: FileLocation, position: number, length: number): Uint8Array {
    const size = Math.min(length, Math.max(0, file.size - position));
    if (size === 0) return new Uint8Array();
    if ('bytes' in file) return file.bytes.slice(position, position + size);
    const [bytes] = this.#slot.ask((reader) => reader.readRanges([file.key], [file.offset + position], [size]));
    return bytes as Uint8Array;
  }
}

/** What would write is put on each object when it is made. */
export interface SyncFileSystem extends SynchronousWrites {}

function stats({ throwIfNoEntry = true }: { throwIfNoEntry?: boolean }, ask: () => FileStatData): Stats | undefined {
  try {
    return new Stats(ask());
  } catch (error) {
    if (!throwIfNoEntry && isMissing(error)) return undefined;
    throw error;
  }
}
