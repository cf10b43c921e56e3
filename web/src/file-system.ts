/**
 * Reading an installed tree, with the names and error codes of Node's `fs.promises`.
 *
 * `node_modules` is virtual: paths map to ranges of the store's pack files, so a read costs no lookup in OPFS. The root
 * is `/`; relative paths are taken from it. Nothing here writes.
 */
import type { Connection } from './connection.js';
import { GantryError } from './errors.js';
import type { DirectoryEntryData, EntryKind, FileStatData } from './protocol.js';

export type TextEncoding = 'utf8' | 'utf-8';

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
}

export class Stats extends Kinded {
  /** Bytes. */
  readonly size: number;
  /** Permission bits: 0o644 or 0o755. */
  readonly mode: number;

  constructor(data: FileStatData) {
    super(data.kind);
    this.size = data.size;
    this.mode = data.mode;
  }
}

export class DirectoryEntry extends Kinded {
  readonly name: string;

  constructor(data: DirectoryEntryData) {
    super(data.kind);
    this.name = data.name;
  }
}

/** `/a/./b/../c` and `a/c` → `a/c`; the root is the empty string. `..` stops at the root. */
export function normalizePath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') segments.pop();
    else segments.push(segment);
  }
  return segments.join('/');
}

export class ProjectFileSystem {
  readonly #connection: Connection;
  readonly #project: string;

  /** @internal */
  constructor(connection: Connection, project: string) {
    this.#connection = connection;
    this.#project = project;
  }

  /** The bytes of a file, or its text when an encoding is given. */
  readFile(path: string): Promise<Uint8Array>;
  readFile(path: string, encoding: TextEncoding | { encoding: TextEncoding }): Promise<string>;
  async readFile(path: string, encoding?: TextEncoding | { encoding: TextEncoding }): Promise<Uint8Array | string> {
    const bytes = await this.#connection.call('readFile', this.#at(path));
    return encoding === undefined ? bytes : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  /** Many files in one round trip, in the order asked for; `undefined` where there is no such file. */
  readMany(paths: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#connection.call('readMany', { project: this.#project, paths: paths.map(normalizePath) });
  }

  /** Names in a directory, sorted. */
  readdir(path: string): Promise<string[]>;
  readdir(path: string, options: { withFileTypes: true }): Promise<DirectoryEntry[]>;
  async readdir(path: string, options?: { withFileTypes?: boolean }): Promise<string[] | DirectoryEntry[]> {
    const entries = await this.#connection.call('readdir', this.#at(path));
    return options?.withFileTypes ? entries.map((entry) => new DirectoryEntry(entry)) : entries.map(({ name }) => name);
  }

  /** What a path is, following links. */
  async stat(path: string): Promise<Stats> {
    return new Stats(await this.#connection.call('stat', this.#at(path)));
  }

  /** What a path is; a link is reported as a link. */
  async lstat(path: string): Promise<Stats> {
    return new Stats(await this.#connection.call('lstat', this.#at(path)));
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.#connection.call('stat', this.#at(path));
      return true;
    } catch (error) {
      if (error instanceof GantryError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return false;
      throw error;
    }
  }

  /** The path with every link followed, from the root `/`. */
  async realpath(path: string): Promise<string> {
    return `/${normalizePath(await this.#connection.call('realpath', this.#at(path)))}`;
  }

  #at(path: string): { project: string; path: string } {
    return { project: this.#project, path: normalizePath(path) };
  }
}
