/**
 * One coordinator writes a store at a time, over all tabs: it holds an exclusive Web Lock for as long as it lives. The
 * browser releases it when the worker ends, however it ends.
 */
import { GantryError } from './errors.js';
import { readersLockName, storeLockName } from './protocol.js';

/** Take the lock. Calls `onWaiting` once if another tab has it; gives up with `STORE_BUSY` when `signal` fires. */
export async function holdStore(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const name = storeLockName(store);
  const free = await hold(name, { ifAvailable: true });
  if (free) return free;
  onWaiting();
  try {
    const release = await hold(name, { signal });
    if (release) return release;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new GantryError({
    code: 'STORE_BUSY',
    message: `The store "${store}" is open in another tab`,
    hint: 'Close the other tab, or open a store of another name.',
  });
}

/** Run `change` while no worker reads the store by itself (`gantry/sync`), and none can begin to. */
export async function withoutReaders<T>(store: string, change: () => Promise<T>): Promise<T> {
  const release = await hold(readersLockName(store), { ifAvailable: true });
  if (!release) {
    throw new GantryError({
      code: 'STORE_LOCKED',
      message: `A worker is reading projects of the store "${store}"`,
      hint: 'Close what openProject has opened there, or end that worker, and try again.',
    });
  }
  try {
    return await change();
  } finally {
    release();
  }
}

/** Resolves to the function that releases the lock, or to nothing when it was not to be had. */
function hold(name: string, options: LockOptions): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, options, (lock) => {
        if (!lock) {
          resolve(undefined);
          return undefined;
        }
        return new Promise<void>((release) => resolve(release));
      })
      .catch(reject);
  });
}
