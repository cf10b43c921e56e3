/**
 * `gantry/read`: reading installed projects anywhere in the origin, without a store that is open and without workers: in a service
 * worker that serves files of a tree, in a shared worker, in a frame that shows something.
 *
 * A project is always read as it is at the moment, also beside installs. Who wants to remove packages is let by: what is asked
 * then waits until they are gone. In dedicated workers of Chromium files are read through shared access handles, elsewhere through
 * snapshots.
 */
import { Archives } from './archives.js';
import { type ChangeListener, Watches } from './changes.js';
import { GantryError } from './errors.js';
import type { PackageExplanation } from './explanations.js';
import { ProjectFileSystem } from './file-system.js';
import { namedProject, type OpenProjectOptions, type ProjectName, prepareReading } from './open-project.js';
import { requireSecureContext, storageUnavailable } from './origin-storage.js';
import type { ArchiveFormat } from './protocol.js';
import { Readers } from './readers.js';
import { storeChannel, type Word } from './store-channel.js';
import { type ArchiveParts, type Ranges, TREE, type Tree } from './tree.js';

export type { OpenProjectOptions } from './open-project.js';

/**
 * Open a project for reading. It may be one that is not installed yet, or no more: then reading fails with `PROJECT_UNKNOWN`. Fails
 * with `STORAGE_UNAVAILABLE` where the browser gives no storage, and with `WASM_UNAVAILABLE` where the module cannot be loaded.
 */
export async function openProject(options: OpenProjectOptions = {}): Promise<StoredProject> {
  const name = namedProject(options);
  requireSecureContext();
  if (!navigator.locks) throw storageUnavailable('This browser has no Web Locks');
  await prepareReading(options.wasmUrl);
  return new StoredProject(name);
}

export class StoredProject {
  readonly name: string;
  readonly store: string;
  /** The tree as it is now. */
  readonly fs: ProjectFileSystem;
  /** @internal */
  readonly [TREE]: StoredTree;

  readonly #watches = new Watches();

  /** @internal */
  constructor(name: ProjectName) {
    this.name = name.project;
    this.store = name.store;
    this[TREE] = new StoredTree(name);
    this.fs = new ProjectFileSystem(this[TREE]);
  }

  /** Text of the project's `package-lock.json` as it is now. */
  lockfile(): Promise<string> {
    return this[TREE].lockfile();
  }

  /** Why packages are in the tree. By name (`left`), by name and range (`left@^1`), or by folder (`node_modules/left`). */
  async why(query: string): Promise<PackageExplanation[]> {
    return JSON.parse(await this[TREE].why(query));
  }

  /** One digest over every path, mode and content of the tree, in hex: equal trees have equal digests. */
  treeDigest(): Promise<string> {
    return this[TREE].digest();
  }

  /** Call `listener` after each install that changes this project, and when it is removed; `fs` then reads the new tree. */
  onDidChange(listener: ChangeListener): () => void {
    const tell: ChangeListener = (change) => {
      this[TREE].noteChange();
      listener(change);
    };
    return this.#watches.add(tell, { store: this.store, project: this.name });
  }

  /** Let go of the files. Nothing can be read afterwards; what is being read still is. */
  close(): void {
    this.#watches.end();
    this[TREE].close();
  }
}

/** The answers of who reads the store's files here. */
class StoredTree implements Tree {
  readonly #project: string;
  readonly #readers: Readers;
  readonly #archives = new Archives();
  readonly #channel: BroadcastChannel;
  #isClosed = false;

  constructor({ store, project }: ProjectName) {
    this.#project = project;
    this.#readers = new Readers(store);
    this.#channel = storeChannel(store);
    this.#channel.onmessage = ({ data: word }: MessageEvent<Word>) => {
      if (word === 'removing' && !this.#archives.areBeingRead) this.#readers.letGo(this.#archives.letGo());
    };
  }

  async readFile(path: string) {
    return this.#open.readFile(this.#project, path);
  }

  async readMany(paths: string[]) {
    return this.#open.readMany(this.#project, paths);
  }

  async readdir(path: string, recursive: boolean) {
    return this.#open.readdir(this.#project, path, recursive);
  }

  async stat(path: string) {
    return this.#open.stat(this.#project, path);
  }

  async lstat(path: string) {
    return this.#open.lstat(this.#project, path);
  }

  async readlink(path: string) {
    return this.#open.readlink(this.#project, path);
  }

  async realpath(path: string) {
    return this.#open.realpath(this.#project, path);
  }

  async locate(path: string) {
    return this.#open.locate(this.#project, path);
  }

  async readRanges({ keys, offsets, sizes }: Ranges) {
    return this.#open.readRanges(keys, offsets, sizes, this.#project);
  }

  async listing() {
    return this.#open.listing(this.#project);
  }

  async archive(format: ArchiveFormat): Promise<ArchiveParts> {
    const number = this.#archives.begin(await this.#open.archive(this.#project, format));
    return {
      next: () => this.#archives.part(number, (archive) => this.#open.attach(archive)),
      end: async () => this.#archives.end(number),
    };
  }

  async lockfile(): Promise<string> {
    const installed = await this.#open.project(this.#project);
    if (installed) return installed.lockfile;
    const message = `no project called ${this.#project} is installed here`;
    throw new GantryError({ code: 'PROJECT_UNKNOWN', message, hint: 'Install it first.' });
  }

  async why(query: string): Promise<string> {
    return this.#open.why(this.#project, query);
  }

  async digest(): Promise<string> {
    return this.#open.treeDigest(this.#project);
  }

  /** What is asked from now on is answered by what the project is now. */
  noteChange(): void {
    this.#readers.noteChange(this.#project);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#channel.close();
    this.#readers.close(this.#archives.endAll());
  }

  get #open(): Readers {
    if (!this.#isClosed) return this.#readers;
    throw new GantryError({ code: 'CLOSED', message: 'This project has been closed' });
  }
}
