/** A store that this tab has open, wherever it is: the coordinator asks nothing else of it. */
import type { Archives } from '../archives.js';
import type { Granted } from '../protocol.js';
import type { Reading } from '../readers.js';
import type { WasmArchive, WasmCoordinator } from '../wasm.js';
import type { Pool } from './pool.js';

export interface OpenStore {
  readonly name: string;
  readonly pool: Pool;
  readonly archives: Archives;
  /** The file that tells it from another one of its name, if it is in files. */
  readonly mark: string | undefined;
  /** The module with the store, while this tab has it. */
  readonly coordinator: WasmCoordinator | undefined;
  /** Whether to {@link letGo}: another tab waits. */
  readonly shouldLetGo: boolean;
  /** The module with the store, after others' turn. Calls `onWaiting` if another tab has it. */
  take(onWaiting?: () => void): Promise<WasmCoordinator>;
  /** Ask whoever can answer now. */
  read<T>(question: (source: Reading) => T | Promise<T>): Promise<T>;
  /** Has what reads found damaged while another tab had the store leave it: the next install fetches it anew. */
  dropDamaged(coordinator: WasmCoordinator): Promise<void>;
  /** Has an archive read from whatever can answer now. */
  attach(archive: WasmArchive): Promise<void>;
  /** Runs `change` when nobody elsewhere reads the store. */
  withoutReaders<T>(change: () => Promise<T>): Promise<T>;
  /** Let go of what is read of it while another tab has it, unless an archive is being made of that. What is asked later opens it
   * again. */
  stopReading(): void;
  /** This project is another one than before. */
  noteChange(project: string): void;
  /** Leave it to others, as far as there can be others. When nothing is under way that uses it. */
  letGo(): Promise<void>;
  /** What the browser grants it. */
  granted(): Promise<Granted>;
  /** The store is being closed: nothing waits for other tabs any more. */
  stopWaiting(): void;
  /** For good, after {@link stopWaiting}. `mayClose` says whether the files are there to be closed. */
  close(mayClose: boolean): Promise<void>;
}
