/**
 * Projects of a store that somebody else may be writing, as they are at the moment: what the coordinator answers reads with
 * while it does not have the store, and `gantry/read` all of them.
 */
import { watchStore } from './changes.js';
import { GantryError, toErrorData } from './errors.js';
import { LocalTree, ReaderSlot } from './local-tree.js';
import type {
  ArchiveFormat,
  DirectoryEntryData,
  FileLocation,
  FileStatData,
  Granted,
  InstalledProject,
  StoreUsage,
  TreeListing,
} from './protocol.js';
import { holdReading } from './store-lock.js';
import { Reader, Records, type WasmArchive, type WasmReader, type WasmRecords } from './wasm.js';

/** Reading projects by name, as the coordinator's module does it and {@link Readers} do. */
export interface Reading {
  readFile(project: string, path: string): Promise<Uint8Array<ArrayBuffer>>;
  readMany(project: string, paths: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]>;
  readdir(project: string, path: string, recursive: boolean): DirectoryEntryData[] | Promise<DirectoryEntryData[]>;
  stat(project: string, path: string): FileStatData | Promise<FileStatData>;
  lstat(project: string, path: string): FileStatData | Promise<FileStatData>;
  readlink(project: string, path: string): string | Promise<string>;
  realpath(project: string, path: string): string | Promise<string>;
  locate(project: string, path: string): FileLocation | Promise<FileLocation>;
  listing(project: string): TreeListing | Promise<TreeListing>;
  /** Parts of packages of `project`. */
  readRanges(keys: string[], offsets: number[], sizes: number[], project: string): Promise<Uint8Array<ArrayBuffer>[]>;
  archive(project: string, format: ArchiveFormat): WasmArchive | Promise<WasmArchive>;
  treeDigest(project: string): Promise<string>;
  project(name: string): Promise<InstalledProject | undefined>;
  projects(): string[] | Promise<string[]>;
  usage(): Stored | Promise<Stored>;
  /** JSON. */
  why(project: string, query: string): string | Promise<string>;
}

type Stored = Omit<StoreUsage, keyof Granted>;

interface OpenProject {
  reader: WasmReader;
  tree: LocalTree;
}

/**
 * How often a question is asked that the files do not answer: who writes may have changed what was opened. Browsers refuse a
 * snapshot of a file that has been appended to since, and each time all is opened as it is then.
 */
const ATTEMPTS = 5;
const MAY_PASS: ReadonlySet<string> = new Set(['BROWSER_FAILED', 'STORE_IO', 'STORE_LOCKED', 'STORE_LOST']);

export class Readers implements Reading {
  readonly #store: string;
  readonly #open = new Map<string, Promise<OpenProject>>();
  readonly #unwatch: () => void;
  /** Questions that are not answered yet. */
  readonly #asked = new Set<Promise<unknown>>();
  /** Resolves when packages of this store are kept from being removed. */
  #held: Promise<() => void> | undefined;

  constructor(store: string) {
    this.#store = store;
    this.#unwatch = watchStore(store, (project) => this.noteChange(project));
  }

  readFile(project: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(project, ({ tree }) => tree.readFile(path));
  }

  readMany(project: string, paths: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | undefined)[]> {
    return this.#read(project, ({ tree }) => tree.readMany([...paths]));
  }

  readdir(project: string, path: string, recursive: boolean): Promise<DirectoryEntryData[]> {
    return this.#read(project, ({ tree }) => tree.readdir(path, recursive));
  }

  stat(project: string, path: string): Promise<FileStatData> {
    return this.#read(project, ({ tree }) => tree.stat(path));
  }

  lstat(project: string, path: string): Promise<FileStatData> {
    return this.#read(project, ({ tree }) => tree.lstat(path));
  }

  readlink(project: string, path: string): Promise<string> {
    return this.#read(project, ({ tree }) => tree.readlink(path));
  }

  realpath(project: string, path: string): Promise<string> {
    return this.#read(project, ({ tree }) => tree.realpath(path));
  }

  locate(project: string, path: string): Promise<FileLocation> {
    return this.#read(project, ({ tree }) => tree.locate(path));
  }

  listing(project: string): Promise<TreeListing> {
    return this.#read(project, ({ tree }) => tree.listing());
  }

  readRanges(keys: string[], offsets: number[], sizes: number[], project: string): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#read(project, ({ tree }) => tree.readRanges({ keys, offsets, sizes }));
  }

  archive(project: string, format: ArchiveFormat): Promise<WasmArchive> {
    return this.#read(project, ({ reader }) => reader.archive(format));
  }

  // Not everything that is recorded is a change that is announced, so these look anew each time.

  treeDigest(project: string): Promise<string> {
    return this.#ask(async () => {
      const reader = await Reader.open({ store: this.#store, project });
      try {
        return await reader.treeDigest();
      } finally {
        reader.close();
      }
    });
  }

  project(name: string): Promise<InstalledProject | undefined> {
    return this.#records((records) => records.project(name));
  }

  projects(): Promise<string[]> {
    return this.#records((records) => records.projects());
  }

  usage(): Promise<Stored> {
    return this.#records((records) => records.usage());
  }

  why(project: string, query: string): Promise<string> {
    return this.#records((records) => records.why(project, query));
  }

  /** Reads that are asked for from now on find what the project is now. */
  noteChange(project: string): void {
    void this.#forget(project);
  }

  /** Has an archive read from the store's files. */
  async attach(archive: WasmArchive): Promise<void> {
    await this.hold();
    await archive.reopen(this.#store);
  }

  /** Until all is {@link letGo | let go of} nobody removes packages. Waits for who does. */
  async hold(): Promise<void> {
    this.#held ??= holdReading(this.#store);
    await this.#held;
  }

  /** Let go of all files. What is asked later opens them again. Nobody removes packages until `archives` have let go, too. */
  letGo(archives?: Promise<void>): void {
    const closed = [...this.#open.keys()].map((project) => this.#forget(project));
    const held = this.#held;
    this.#held = undefined;
    void Promise.allSettled([archives, ...closed, ...this.#asked]).then(async () => (await held)?.());
  }

  /** For good, as {@link letGo}. */
  close(archives?: Promise<void>): void {
    this.#unwatch();
    this.letGo(archives);
  }

  #records<T>(question: (records: WasmRecords) => T): Promise<T> {
    return this.#ask(async () => {
      const records = await Records.open(this.#store);
      // What fails stays until its memory is collected: after a trap nothing may be asked any more.
      const answer = question(records);
      records.free();
      return answer;
    });
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await this.#whileAsked(this.hold().then(() => again(question)));
    } catch (error) {
      throw new GantryError(toErrorData(error), { cause: error });
    }
  }

  /** What it is read from is not let go of before. */
  async #whileAsked<T>(answer: Promise<T>): Promise<T> {
    this.#asked.add(answer);
    try {
      return await answer;
    } finally {
      this.#asked.delete(answer);
    }
  }

  /** Asks a project's reader, and a new one where that may have another answer. */
  #read<T>(project: string, question: (open: OpenProject) => T | Promise<T>): Promise<T> {
    let opening: Promise<OpenProject> | undefined;
    const ask = async () => {
      opening = this.#project(project);
      return question(await opening);
    };
    // Of many that failed together the first one has a new one opened, for all.
    const renew = () => this.#open.get(project) === opening && this.noteChange(project);
    return this.#whileAsked(again(ask, renew));
  }

  #project(name: string): Promise<OpenProject> {
    const known = this.#open.get(name);
    if (known) return known;
    const opening = this.#openProject(name);
    this.#open.set(name, opening);
    // What could not be opened may be there when it is asked for again.
    opening.catch(() => {
      if (this.#open.get(name) === opening) this.#open.delete(name);
    });
    return opening;
  }

  async #openProject(project: string): Promise<OpenProject> {
    await this.hold();
    try {
      const reader = await Reader.open({ store: this.#store, project });
      return { reader, tree: new LocalTree(new ReaderSlot(reader)) };
    } catch (error) {
      throw new GantryError(toErrorData(error), { cause: error });
    }
  }

  /** Resolves when it is closed. Whoever asked before has the answer, or what it is read from. */
  async #forget(project: string): Promise<void> {
    const open = this.#open.get(project);
    this.#open.delete(project);
    await open?.then(
      ({ reader }) => reader.close(),
      () => {},
    );
  }
}

/** Asks until there is an answer, or a failure that stays; `renew` is called before it is asked again. */
async function again<T>(ask: () => Promise<T>, renew: () => void = () => {}): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === ATTEMPTS || !MAY_PASS.has(toErrorData(error).code)) throw error;
      renew();
    }
  }
}
