/** A tree that the wasm of this worker or page answers for. */
import { GantryError, toErrorData } from './errors.js';
import { fileSystemError } from './file-errors.js';
import type { ArchiveFormat, DirectoryEntryData, FileLocation, FileStatData, TreeListing } from './protocol.js';
import type { ArchiveParts, Ranges, Tree } from './tree.js';
import type { WasmReader } from './wasm.js';

/** Holds the reader of a project; what reads through it need not know that it was refreshed or closed. */
export class ReaderSlot {
  #reader: WasmReader | undefined;

  constructor(reader: WasmReader) {
    this.#reader = reader;
  }

  get reader(): WasmReader {
    if (this.#reader) return this.#reader;
    throw new GantryError({ code: 'CLOSED', message: 'This project has been closed' });
  }

  get isEmpty(): boolean {
    return this.#reader === undefined;
  }

  fill(reader: WasmReader): void {
    this.#reader = reader;
  }

  empty(): void {
    this.#reader = undefined;
  }

  /** {@link ask} what is answered later. */
  async askLater<T>(question: (reader: WasmReader) => Promise<T>): Promise<T> {
    try {
      return await question(this.reader);
    } catch (error) {
      throw new GantryError(toErrorData(error), { cause: error });
    }
  }

  /** Ask the reader; what it throws comes as a {@link GantryError}. */
  ask<T>(question: (reader: WasmReader) => T): T {
    const { reader } = this;
    try {
      return question(reader);
    } catch (error) {
      throw new GantryError(toErrorData(error), { cause: error });
    }
  }
}

export class LocalTree implements Tree {
  readonly #slot: ReaderSlot;

  constructor(slot: ReaderSlot) {
    this.#slot = slot;
  }

  readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#slot.askLater((reader) => reader.readFile(path));
  }

  readMany(paths: string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]> {
    const undefinedIfNone = (error: unknown) => {
      if (error instanceof GantryError && /^E[A-Z]+$/.test(error.code)) return undefined;
      throw error;
    };
    return Promise.all(paths.map((path) => this.readFile(path).catch(undefinedIfNone)));
  }

  async readdir(path: string, recursive: boolean): Promise<DirectoryEntryData[]> {
    return this.#slot.ask((reader) => reader.readdir(path, recursive));
  }

  async stat(path: string): Promise<FileStatData> {
    return this.#slot.ask((reader) => reader.stat(path)) ?? nothing('stat', path);
  }

  async lstat(path: string): Promise<FileStatData> {
    return this.#slot.ask((reader) => reader.lstat(path)) ?? nothing('lstat', path);
  }

  async readlink(path: string): Promise<string> {
    return this.#slot.ask((reader) => reader.readlink(path));
  }

  async realpath(path: string): Promise<string> {
    return this.#slot.ask((reader) => reader.realpath(path));
  }

  async locate(path: string): Promise<FileLocation> {
    return this.#slot.ask((reader) => reader.locate(path));
  }

  readRanges({ keys, offsets, sizes }: Ranges): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#slot.askLater((reader) => reader.readRanges(keys, offsets, sizes));
  }

  async listing(): Promise<TreeListing> {
    return this.#slot.ask((reader) => reader.listing());
  }

  async archive(format: ArchiveFormat): Promise<ArchiveParts> {
    const archive = this.#slot.ask((reader) => reader.archive(format));
    return {
      next: () =>
        archive.next().catch((error: unknown) => {
          throw new GantryError(toErrorData(error));
        }),
      end: async () => archive.free(),
    };
  }
}

function nothing(call: string, path: string): never {
  throw fileSystemError('ENOENT', call, path);
}
