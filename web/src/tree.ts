/**
 * What a tree is asked, by whoever reads or exports it. Answered by the coordinator for a page, and for `gantry/sync` and
 * `gantry/read` by the wasm of who reads. Paths begin with `/`.
 */
import type { Connection } from './connection.js';
import type { ArchiveFormat, DirectoryEntryData, FileLocation, FileStatData, TreeListing } from './protocol.js';

/** Parts of packages, in columns. A key never names anything else than it did. */
export interface Ranges {
  keys: string[];
  offsets: number[];
  sizes: number[];
}

/** An archive in parts; `undefined` after the last. */
export interface ArchiveParts {
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Nothing more will be asked. */
  end(): Promise<void>;
}

export interface Tree {
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  readMany(paths: string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]>;
  readdir(path: string, recursive: boolean): Promise<DirectoryEntryData[]>;
  stat(path: string): Promise<FileStatData>;
  lstat(path: string): Promise<FileStatData>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  locate(path: string): Promise<FileLocation>;
  readRanges(ranges: Ranges): Promise<Uint8Array<ArrayBuffer>[]>;
  /** All of it, as it is now. */
  listing(): Promise<TreeListing>;
  /** All of it as one archive, as it is now. */
  archive(format: ArchiveFormat): Promise<ArchiveParts>;
}

/** Where a project keeps its {@link Tree}, for the exporters. */
export const TREE: unique symbol = Symbol('gantry.tree');

/** A project that can be exported: of `gantry`, `gantry/sync` or `gantry/read`. */
export interface Exportable {
  readonly [TREE]: Tree;
}

/** The coordinator's answers. */
export class RemoteTree implements Tree {
  readonly #connection: Connection;
  readonly #project: string;

  constructor(connection: Connection, project: string) {
    this.#connection = connection;
    this.#project = project;
  }

  readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#connection.call('readFile', this.#at(path));
  }

  readMany(paths: string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]> {
    return this.#connection.call('readMany', { project: this.#project, paths });
  }

  readdir(path: string, recursive: boolean): Promise<DirectoryEntryData[]> {
    return this.#connection.call('readdir', { ...this.#at(path), recursive });
  }

  stat(path: string): Promise<FileStatData> {
    return this.#connection.call('stat', this.#at(path));
  }

  lstat(path: string): Promise<FileStatData> {
    return this.#connection.call('lstat', this.#at(path));
  }

  readlink(path: string): Promise<string> {
    return this.#connection.call('readlink', this.#at(path));
  }

  realpath(path: string): Promise<string> {
    return this.#connection.call('realpath', this.#at(path));
  }

  locate(path: string): Promise<FileLocation> {
    return this.#connection.call('locate', this.#at(path));
  }

  readRanges(ranges: Ranges): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#connection.call('readRanges', { project: this.#project, ...ranges });
  }

  listing(): Promise<TreeListing> {
    return this.#connection.call('listing', { project: this.#project });
  }

  async archive(format: ArchiveFormat): Promise<ArchiveParts> {
    const archive = await this.#connection.call('archive', { project: this.#project, format });
    return {
      next: () => this.#connection.call('archivePart', { archive }),
      end: async () => {
        await this.#connection.call('endArchive', { archive });
      },
    };
  }

  #at(path: string): { project: string; path: string } {
    return { project: this.#project, path };
  }
}
