/**
 * `gantry/sync`: reading installed projects synchronously, in any worker of the origin.
 *
 * A worker opens a project by itself: no message to a page, and no store that is open anywhere, is needed. It reads the tree
 * as it was at that moment, also while installs run, and keeps it until it is told to `refresh`. In Chromium files are read
 * through shared access handles, elsewhere through snapshots and `FileReaderSync`.
 */
import { type ChangeListener, Watches } from './changes.js';
import { GantryError, toErrorData } from './errors.js';
import { LocalTree, ReaderSlot } from './local-tree.js';
import { namedProject, type OpenProjectOptions, prepareReading } from './open-project.js';
import { holdReading } from './store-lock.js';
import { SyncFileSystem } from './sync-file-system.js';
import { TREE, type Tree } from './tree.js';
import { type WasiShim, wasiFolder } from './wasi.js';
import { Reader, type WasmReader } from './wasm.js';

export type { OpenProjectOptions } from './open-project.js';
export { SyncFileSystem } from './sync-file-system.js';

/** What makes something of `@bjorn3/browser_wasi_shim`. */
type ShimClass = abstract new (...values: never[]) => unknown;

/** The parts of that package's module that are needed; `gantry/wasi` has their types, for which it must be installed. */
export interface ShimModule {
  readonly Directory: ShimClass;
  readonly Fd: ShimClass;
  readonly File: ShimClass;
  readonly Inode: ShimClass;
  readonly PreopenDirectory: ShimClass;
  readonly wasi: object;
}

/**
 * Open an installed project for reading in this worker. Fails with `PROJECT_UNKNOWN` where nothing of that name is installed,
 * and with `STORAGE_UNAVAILABLE` outside of workers, where nothing can be read synchronously, and where a page gets no storage:
 * a store in memory is read by the `Gantry` that has it alone.
 */
export async function openProject(options: OpenProjectOptions = {}): Promise<SyncProject> {
  const { store, project } = namedProject(options);
  requireWorker();
  await prepareReading(options.wasmUrl);
  const release = await holdReading(store);
  try {
    return new SyncProject(store, project, await openReader(store, project), release);
  } catch (error) {
    release();
    throw error;
  }
}

export class SyncProject {
  readonly name: string;
  readonly store: string;
  /** The tree. Functions end in `Sync`, as in Node; `fs.promises` has the others. */
  readonly fs: SyncFileSystem;
  /** @internal */
  readonly [TREE]: Tree;

  readonly #slot: ReaderSlot;
  readonly #release: () => void;
  readonly #watches = new Watches();
  /** The refresh that was asked for last. */
  #refreshing: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(store: string, name: string, reader: WasmReader, release: () => void) {
    this.store = store;
    this.name = name;
    this.#slot = new ReaderSlot(reader);
    this.#release = release;
    this[TREE] = new LocalTree(this.#slot);
    this.fs = new SyncFileSystem(this.#slot, this[TREE]);
  }

  /** Text of the `package-lock.json` of the tree that is read. */
  get lockfile(): string {
    return this.#slot.reader.lockfile();
  }

  /** How files are read: `access handles`, or `snapshots` in browsers whose access handles are exclusive. */
  get method(): 'access handles' | 'snapshots' {
    return this.#slot.reader.method();
  }

  /**
   * The tree, or the `folder` of it that is given, as a folder of `@bjorn3/browser_wasi_shim` that a WASI program sees as
   * `name`; `shim` is that package's module. The program reads without a copy, and what it writes stays in memory.
   */
  wasi<Shim extends ShimModule>(shim: Shim, name = '/project', folder = '/'): InstanceType<Shim['PreopenDirectory']> {
    const preopened = wasiFolder(shim as unknown as WasiShim, name, this.fs, folder);
    return preopened as unknown as InstanceType<Shim['PreopenDirectory']>;
  }

  /** From now on read the tree as it is now. If that fails, the one of before stays. */
  refresh(): Promise<void> {
    // One after the other: of two side by side the one that is asked for first may be the last to end.
    const turn = this.#refreshing.then(() => this.#renew());
    this.#refreshing = turn.catch(() => {});
    return turn;
  }

  async #renew(): Promise<void> {
    const old = this.#slot.reader;
    const reader = await openReader(this.store, this.name);
    if (this.#slot.isEmpty) reader.close();
    else {
      this.#slot.fill(reader);
      old.close();
    }
  }

  /** Call `listener` after each install that changes this project, and when it is removed; {@link refresh} then shows it. */
  onDidChange(listener: ChangeListener): () => void {
    return this.#watches.add(listener, { store: this.store, project: this.name });
  }

  /** Let go of the files. Nothing can be read afterwards. */
  close(): void {
    if (this.#slot.isEmpty) return;
    this.#watches.end();
    const { reader } = this.#slot;
    this.#slot.empty();
    reader.close();
    this.#release();
  }
}

async function openReader(store: string, project: string): Promise<WasmReader> {
  try {
    return await Reader.open({ store, project });
  } catch (error) {
    const data = toErrorData(error);
    throw new GantryError(data.code === 'PROJECT_UNKNOWN' ? { ...data, hint: UNKNOWN } : data, { cause: error });
  }
}

const UNKNOWN = 'Install it first, into a store in OPFS: one in memory is read by the Gantry that has it alone.';

function requireWorker(): void {
  const isWorker = 'FileReaderSync' in globalThis && navigator.storage && navigator.locks;
  if (isWorker && self.origin !== 'null') return;
  throw new GantryError({
    code: 'STORAGE_UNAVAILABLE',
    message: 'Nothing can be read synchronously here',
    hint: 'Call openProject in a dedicated or shared worker of a page in a secure context, outside of sandboxed frames. A page uses project.fs, and a service worker asks a page or such a worker, or reads asynchronously by openProject of gantry/read.',
  });
}
