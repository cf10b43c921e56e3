/** A store in memory: of one `Gantry` object alone, and gone with it. Nobody waits for it, and no other tab can have it. */
import type { Archives } from '../archives.js';
import type { Granted } from '../protocol.js';
import type { Reading } from '../readers.js';
import { Coordinator, type CoordinatorOptions, type WasmArchive, type WasmCoordinator } from '../wasm.js';
import type { MemoryFolder } from './memory-folder.js';
import type { OpenStore } from './open-store.js';
import type { Pool } from './pool.js';

interface Parts {
  pool: Pool;
  archives: Archives;
  folder: MemoryFolder;
}

export class MemoryStore implements OpenStore {
  readonly name: string;
  readonly pool: Pool;
  readonly archives: Archives;
  readonly coordinator: WasmCoordinator;
  readonly mark = undefined;
  readonly shouldLetGo = false;
  readonly #folder: MemoryFolder;

  private constructor(name: string, { pool, archives, folder }: Parts, coordinator: WasmCoordinator) {
    this.name = name;
    this.pool = pool;
    this.archives = archives;
    this.#folder = folder;
    this.coordinator = coordinator;
  }

  /** `name` is nobody else's. The module must be there. */
  static async open(name: string, options: CoordinatorOptions, parts: Parts): Promise<MemoryStore> {
    return new MemoryStore(name, parts, await Coordinator.open(options, parts.pool, parts.folder.handle));
  }

  async take(): Promise<WasmCoordinator> {
    return this.coordinator;
  }

  async read<T>(question: (source: Reading) => T | Promise<T>): Promise<T> {
    return question(this.coordinator);
  }

  /** Nobody else ever has it. */
  async dropDamaged(): Promise<void> {}

  async attach(archive: WasmArchive): Promise<void> {
    this.coordinator.continueArchive(archive);
  }

  withoutReaders<T>(change: () => Promise<T>): Promise<T> {
    return change();
  }

  stopReading(): void {}

  /** Nobody else changes it. */
  noteChange(): void {}

  async letGo(): Promise<void> {}

  /** No browser says how much memory a page may have. */
  async granted(): Promise<Granted> {
    return { quota: Number.POSITIVE_INFINITY, usage: this.#folder.size, persisted: false };
  }

  stopWaiting(): void {}

  async close(): Promise<void> {
    await this.pool.close();
    await this.coordinator.close();
  }
}
