/** An open directory, as Node's `opendir` gives it: its entries one after the other, as they were when it was opened. */
import type { DirectoryEntry } from './entries.js';
import { GantryError } from './errors.js';

export class Directory {
  /** As it was given. */
  readonly path: string;
  readonly #entries: Iterator<DirectoryEntry>;
  #closed = false;

  /** @internal */
  constructor(path: string, entries: readonly DirectoryEntry[]) {
    this.path = path;
    this.#entries = entries.values();
  }

  /** The next entry; `null` after the last. */
  async read(): Promise<DirectoryEntry | null> {
    return this.readSync();
  }

  readSync(): DirectoryEntry | null {
    this.#check();
    const { done, value } = this.#entries.next();
    return done ? null : value;
  }

  async close(): Promise<void> {
    this.closeSync();
  }

  closeSync(): void {
    this.#check();
    this.#closed = true;
  }

  /** The entries that are left; closes it in the end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<DirectoryEntry, void> {
    try {
      for (let entry = this.readSync(); entry; entry = this.readSync()) yield entry;
    } finally {
      if (!this.#closed) this.closeSync();
    }
  }

  #check(): void {
    if (this.#closed) throw new GantryError({ code: 'ERR_DIR_CLOSED', message: 'Directory handle was closed' });
  }
}
