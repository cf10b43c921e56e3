/**
 * The packs of a store in memory that a worker of the pool has. They are transferred to it before it opens them, and come back
 * when it has closed them. A worker that ends meanwhile takes them along: here they are empty files then, so that the next
 * install finds them shorter than what is recorded of them and fetches what they had. The install under way has to fail.
 */
import { type ErrorData, GantryError } from '../errors.js';
import type { FileContents, MemoryFolder } from './memory-folder.js';

export class LentFiles {
  readonly #folder: MemoryFolder;
  #state: 'here' | 'away' | 'lost' = 'here';

  constructor(folder: MemoryFolder) {
    this.#folder = folder;
  }

  get areHere(): boolean {
    return this.#state === 'here';
  }

  /** Whether the worker that had them has ended, and the install that it was for has not. */
  get areLost(): boolean {
    return this.#state === 'lost';
  }

  /** The files of what a worker is about to open. Those that are new are empty. */
  lend(pack: string): FileContents[] {
    const contents = this.#folder.handOver(filesOf(pack));
    this.#state = 'away';
    return contents;
  }

  takeBack(files: readonly FileContents[]): void {
    this.#folder.takeIn(files);
    this.#state = 'here';
  }

  /** The worker that may have them has ended. */
  workerEnded(): void {
    if (this.#state === 'away') this.#state = 'lost';
  }

  /** The install has been told. */
  forgetLoss(): void {
    if (this.#state === 'lost') this.#state = 'here';
  }
}

/** Why an install fails that had packages in them. */
export function lostFiles(): GantryError {
  return new GantryError(LOST);
}

const LOST: ErrorData = {
  code: 'STORE_LOST',
  message: 'An unpack worker ended, and what it had of this store, which is in memory, is gone',
  hint: 'Install again: what is missing is fetched anew.',
};

/** The names in an [assignment](../wasm.ts), wherever in it they are. */
function filesOf(pack: string): string[] {
  const names: string[] = [];
  JSON.parse(pack, (key, value) => {
    if (key === 'name') names.push(value);
    return value;
  });
  return names;
}
