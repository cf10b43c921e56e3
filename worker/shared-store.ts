/**
 * A store that several tabs may have open. One of them has it to write in, and keeps it until another asks for it and nothing
 * is under way; it takes it again, in turn with others, for the next call that needs it. Meanwhile it goes on reading.
 *
 * Tabs ask each other through a channel; who has the store is decided by a Web Lock alone. So a question that is not heard
 * costs time, and nothing else.
 */
import type { Archives } from '../archives.js';
import { GantryError, toErrorData } from '../errors.js';
import type { Granted } from '../protocol.js';
import { Readers, type Reading } from '../readers.js';
import { storeChannel, type Word } from '../store-channel.js';
import { holdStore, withoutReaders } from '../store-lock.js';
import {
  Coordinator,
  type CoordinatorOptions,
  openStoreFolder,
  type WasmArchive,
  type WasmCoordinator,
} from '../wasm.js';
import { whileHeld } from '../while-held.js';
import type { OpenStore } from './open-store.js';
import type { Pool } from './pool.js';
import { hasStore } from './storage.js';

/** Milliseconds after which who waits asks again: the tab that has the store may have changed, or have been busy. */
const ASK_EVERY = 500;

export class SharedStore implements OpenStore {
  readonly name: string;
  readonly pool: Pool;
  readonly archives: Archives;
  /** Answer reads while another tab has the store. */
  readonly #readers: Readers;
  readonly #options: CoordinatorOptions;
  readonly #lost: () => Promise<never>;
  readonly #channel: BroadcastChannel;
  readonly #releaseOpen: () => void;
  #coordinator: WasmCoordinator | undefined;
  #mark: string | undefined;
  #release: (() => void) | undefined;
  #taking: Promise<WasmCoordinator> | undefined;
  /** Whether another tab has asked for the store since this one has it. */
  #isWanted = false;
  readonly #closing = new AbortController();
  /** What readers found damaged, by package: questions that come upon it. */
  readonly #damaged = new Map<string, (source: Reading) => unknown>();
  /** Whether this tab waits for another. */
  #isWaiting = false;

  /** `wanted` is called when another tab asks for the store, and this one has it; `lost`, when its files are gone meanwhile. */
  constructor(
    name: string,
    options: CoordinatorOptions,
    parts: {
      pool: Pool;
      archives: Archives;
      releaseOpen: () => void;
      wanted: () => void;
      lost: () => Promise<never>;
    },
  ) {
    this.name = name;
    this.pool = parts.pool;
    this.archives = parts.archives;
    this.#readers = new Readers(this.name);
    this.#options = options;
    this.#lost = parts.lost;
    this.#releaseOpen = parts.releaseOpen;
    this.#channel = storeChannel(this.name);
    this.#channel.onmessage = ({ data: word }: MessageEvent<Word>) => {
      if (typeof word === 'object') this.#compare(word.opened);
      else if (word === 'removing') this.stopReading();
      else if (this.#coordinator) {
        this.#isWanted = true;
        parts.wanted();
      }
    };
  }

  get mark(): string | undefined {
    return this.#mark;
  }

  get coordinator(): WasmCoordinator | undefined {
    return this.#coordinator;
  }

  get shouldLetGo(): boolean {
    return this.#isWanted && this.#coordinator !== undefined;
  }

  /**
   * The first time: `signal` gives up waiting for other tabs, with `STORE_BUSY`. `prepare` is awaited between having the store
   * and opening it.
   */
  async begin(signal: AbortSignal, onWaiting: () => void, prepare: () => Promise<void>): Promise<WasmCoordinator> {
    this.#release = await this.#hold(signal, onWaiting);
    await prepare();
    return this.#openFiles();
  }

  take(onWaiting?: () => void): Promise<WasmCoordinator> {
    if (this.#coordinator) return Promise.resolve(this.#coordinator);
    if (this.#isWaiting) onWaiting?.();
    // Whoever is told to stop meanwhile leaves it to the next call.
    this.#taking ??= this.#takeAgain(onWaiting).finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  /**
   * Asks the module where this tab has the store, and else readers of its files: never waits for another tab. What is damaged
   * leaves the store only where it is written ({@link dropDamaged}).
   */
  async read<T>(question: (source: Reading) => T | Promise<T>): Promise<T> {
    if (this.#coordinator) return question(this.#coordinator);
    try {
      return await question(this.#readers);
    } catch (error) {
      if (error instanceof GantryError && error.code === 'STORE_CORRUPT')
        this.#damaged.set(error.package ?? error.message, question);
      throw error;
    }
  }

  async dropDamaged(coordinator: WasmCoordinator): Promise<void> {
    const questions = [...this.#damaged.values()];
    this.#damaged.clear();
    for (const question of questions) {
      try {
        await question(coordinator);
      } catch (error) {
        // The module says so, and has dropped it; else it has failed itself.
        if (toErrorData(error).code === 'INTERNAL') throw error;
      }
    }
  }

  async attach(archive: WasmArchive): Promise<void> {
    if (this.#coordinator) this.#coordinator.continueArchive(archive);
    else await this.#readers.attach(archive);
  }

  /** Not this tab, and none of those that have it open or read it by themselves. */
  withoutReaders<T>(change: () => Promise<T>): Promise<T> {
    const ask = () => {
      this.stopReading();
      this.#tell('removing');
    };
    return withoutReaders(this.name, change, ask);
  }

  stopReading(): void {
    if (!this.archives.areBeingRead) this.#closeReaders();
  }

  noteChange(project: string): void {
    this.#readers.noteChange(project);
  }

  /** Closes the store's files. */
  async letGo(): Promise<void> {
    const coordinator = this.#coordinator;
    this.#coordinator = undefined;
    this.#isWanted = false;
    try {
      await this.archives.letGo();
      // Else who has the store next might remove what the next part is made of.
      if (this.archives.areBeingRead) await this.#readers.hold();
      await this.pool.close();
      await coordinator?.close();
    } finally {
      this.#release?.();
      this.#release = undefined;
    }
  }

  async granted(): Promise<Granted> {
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    return { quota, usage, persisted: await navigator.storage.persisted().catch(() => false) };
  }

  stopWaiting(): void {
    this.#closing.abort();
  }

  async close(mayClose: boolean): Promise<void> {
    this.#channel.close();
    this.#readers.close();
    await this.#taking?.catch(() => {});
    if (mayClose) await this.letGo();
    this.#release?.();
    this.#releaseOpen();
  }

  async #takeAgain(onWaiting?: () => void): Promise<WasmCoordinator> {
    this.#release = await this.#hold(this.#closing.signal, () => onWaiting?.()).catch((error: unknown) => {
      throw this.#closing.signal.aborted ? closed() : error;
    });
    try {
      // Nobody but the browser or its user removes a store that is open, and somebody else may have made another one since.
      if (!(await hasStore(this.name, this.#mark))) return await this.#lost();
      const coordinator = await this.#openFiles();
      // From now on all is read from what has just been opened.
      this.#closeReaders();
      return coordinator;
    } catch (error) {
      this.#release();
      this.#release = undefined;
      throw error;
    }
  }

  #closeReaders(): void {
    this.#readers.letGo(this.archives.letGo());
  }

  async #openFiles(): Promise<WasmCoordinator> {
    const open = async () => Coordinator.open(this.#options, this.pool, await openStoreFolder(this.name));
    this.#coordinator = await whileHeld(open);
    this.#mark = this.#coordinator.mark();
    this.#tell({ opened: this.#mark });
    return this.#coordinator;
  }

  /** Where another store is in the place of this one its files were removed. In a private window of Chromium what is open reads and
   * writes the new ones. */
  #compare(mark: string): void {
    if (this.#mark !== undefined && mark !== this.#mark) void this.#lost();
  }

  async #hold(signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
    let asking: ReturnType<typeof setInterval> | undefined;
    const ask = () => this.#tell('wanted');
    try {
      return await holdStore(this.name, signal, () => {
        this.#isWaiting = true;
        onWaiting();
        ask();
        asking = setInterval(ask, ASK_EVERY);
      });
    } finally {
      this.#isWaiting = false;
      clearInterval(asking);
    }
  }

  #tell(word: Word): void {
    this.#channel.postMessage(word);
  }
}

function closed(): GantryError {
  return new GantryError({ code: 'CLOSED', message: 'This store has been closed' });
}
