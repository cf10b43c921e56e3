/** Removing a store without opening it, which works for one that cannot be opened any more. */
import { throwIfAborted } from './aborted.js';
import { LONGEST_TIMER } from './connection.js';
import { GantryError } from './errors.js';
import { originFolder } from './origin-storage.js';
import { askReadersToLetGo } from './store-channel.js';
import { holdClosed, withoutReaders } from './store-lock.js';
import { whileHeld } from './while-held.js';

/** The folder of all stores, as `OpfsDirectory::open_store` has it. */
const STORES = 'gantry';
const JOURNAL = /^journal(-\d+)?$/;

export interface Waiting {
  /** Milliseconds. */
  timeout?: number;
  signal?: AbortSignal;
  onWaiting?: () => void;
}

/**
 * Whether there was one. Waits for the tab that has it open. Once `signal` has fired nothing is begun any more; a removal that
 * has begun goes on to its end.
 */
export async function removeStore(store: string, { timeout, signal, onWaiting }: Waiting): Promise<boolean> {
  throwIfAborted(signal);
  // Where there is none there are no locks either.
  await originFolder();
  const release = await holdClosed(store, patience(timeout, signal), () => onWaiting?.()).catch((error: unknown) => {
    throwIfAborted(signal);
    throw error;
  });
  try {
    const remove = () => {
      throwIfAborted(signal);
      return whileHeld(() => removeFolder(store));
    };
    return await withoutReaders(store, remove, () => askReadersToLetGo(store));
  } finally {
    release();
  }
}

function patience(timeout: number | undefined, signal: AbortSignal | undefined): AbortSignal {
  const signals = signal ? [signal] : [];
  if (timeout !== undefined && timeout <= LONGEST_TIMER) signals.push(AbortSignal.timeout(timeout));
  return AbortSignal.any(signals);
}

async function removeFolder(store: string): Promise<boolean> {
  try {
    const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle(STORES);
    const folder = await stores.getDirectoryHandle(store);
    // Until they are gone, the newest last, the store is there; what is left when this is interrupted after that is written over.
    const journals: string[] = [];
    for await (const name of folder.keys()) if (JOURNAL.test(name)) journals.push(name);
    journals.sort((a, b) => numberOf(a) - numberOf(b));
    for (const name of journals) await folder.removeEntry(name);
    await stores.removeEntry(store, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return false;
    throw failure(store, error);
  }
}

const numberOf = (journal: string) => Number(journal.split('-')[1] ?? 0);

function failure(store: string, error: unknown): GantryError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DOMException && error.name === 'NoModificationAllowedError') {
    return new GantryError({
      code: 'STORE_LOCKED',
      message: `Something has files of the store "${store}" open: ${message}`,
      hint: 'Close what has it open, or reload the page, and try again.',
    });
  }
  return new GantryError(
    {
      code: 'STORAGE_UNAVAILABLE',
      message: `The store "${store}" cannot be removed: ${message}`,
      hint: "Clear this site's storage in the browser's settings.",
    },
    { cause: error },
  );
}
