/** An installed tree with the synchronous functions of Node's `fs` that read, and the others as `promises`. */
import { constants, DirectoryEntry, Stats } from './entries.js';
import { GantryError } from './errors.js';
import { checkAccess, isAbsence, ProjectFileSystem, type ReaddirOptions } from './file-system.js';
import type { ReaderSlot } from './local-tree.js';
import { fromRoot } from './paths.js';
import type { FileLocation, FileStatData } from './protocol.js';
import { checkRead, type OffsetOrOptions, type ReadOptions, readOptions } from './read-arguments.js';
import { readOnly, type SynchronousWrites, synchronousWrites } from './read-only.js';
import { decode, encodingOf, type ReadFileOptions, type TextEncoding } from './text.js';
import type { Tree } from './tree.js';

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
  readFileSync(file: string | number, options?: null | { encoding?: null }): Uint8Array;
  readFileSync(file: string | number, options: TextEncoding | { encoding: TextEncoding }): string;
  readFileSync(file: string | number, options?: ReadFileOptions): Uint8Array | string;
  readFileSync(file: string | number, options?: ReadFileOptions): Uint8Array | string {
    const encoding = encodingOf(options);
    const bytes =
      typeof file === 'number' ? this.#rest(file) : this.#slot.ask((reader) => reader.readFile(fromRoot(file)));
    return encoding === undefined ? bytes : decode(bytes, encoding);
  }

  /** Names in a directory, sorted; with `recursive` paths of all that is below it. */
  readdirSync(path: string, options: ReaddirOptions & { withFileTypes: true }): DirectoryEntry[];
  readdirSync(path: string, options?: TextEncoding | null | (ReaddirOptions & { withFileTypes?: false })): string[];
  readdirSync(path: string, options?: TextEncoding | null | ReaddirOptions): string[] | DirectoryEntry[] {
    const { withFileTypes = false, recursive = false } = typeof options === 'object' ? (options ?? {}) : {};
    const directory = fromRoot(path);
    const entries = this.#slot.ask((reader) => reader.readdir(directory, recursive));
    return withFileTypes
      ? entries.map((entry) => new DirectoryEntry(entry, directory))
      : entries.map(({ name }) => name);
  }

  /** What a path is, following links. */
  statSync(path: string, options?: { throwIfNoEntry?: true }): Stats;
  statSync(path: string, options: { throwIfNoEntry: boolean }): Stats | undefined;
  statSync(path: string, options: { throwIfNoEntry?: boolean } = {}): Stats | undefined {
    return stats(options, () => this.#slot.ask((reader) => reader.stat(fromRoot(path))));
  }

  /** What a path is; a link is reported as a link. */
  lstatSync(path: string, options?: { throwIfNoEntry?: true }): Stats;
  lstatSync(path: string, options: { throwIfNoEntry: boolean }): Stats | undefined;
  lstatSync(path: string, options: { throwIfNoEntry?: boolean } = {}): Stats | undefined {
    return stats(options, () => this.#slot.ask((reader) => reader.lstat(fromRoot(path))));
  }

  existsSync(path: string): boolean {
    return this.statSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  accessSync(path: string, mode: number = constants.F_OK): void {
    checkAccess(path, mode, this.statSync(path));
  }

  readlinkSync(path: string): string {
    return this.#slot.ask((reader) => reader.readlink(fromRoot(path)));
  }

  /** The path with every link followed, from the root `/`. */
  realpathSync(path: string): string {
    return `/${this.#slot.ask((reader) => reader.realpath(fromRoot(path)))}`;
  }

  /** A number for {@link readSync}. */
  openSync(path: string, flags: string | number = 'r'): number {
    if (flags !== 'r' && flags !== 'rs' && flags !== 0) throw readOnly('open', path);
    const file = this.#slot.ask((reader) => reader.locate(fromRoot(path)));
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
    const open = this.#open.get(descriptor);
    if (open) return open;
    throw new GantryError({ code: 'EBADF', message: `EBADF: bad file descriptor, ${call}` });
  }

  #rest(descriptor: number): Uint8Array {
    const open = this.#opened(descriptor, 'read');
    const bytes = this.#part(open.file, open.position, open.file.size);
    open.position += bytes.length;
    return bytes;
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
    if (!throwIfNoEntry && isAbsence(error)) return undefined;
    throw error;
  }
}
