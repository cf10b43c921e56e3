/**
 * The Web Locks of a store, over all tabs of an origin. The browser releases them when who holds them ends, however it ends.
 *
 * One coordinator writes at a time: it holds an exclusive lock, until another one asks for it (`worker/shared-store.ts`).
 * Whoever reads by itself shares a second one, which removing packages takes alone, and whoever has the store open, writing or
 * not, a third, which removing the store takes alone.
 */
import { GantryError } from './errors.js';

/** Milliseconds for readers that are asked to let go of the store. */
const READERS_PATIENCE = 1000;

/** Take the lock to write. Calls `onWaiting` once if another tab has it; gives up with `STORE_BUSY` when `signal` fires. */
export function holdStore(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const busy = {
    message: `The store "${store}" is in use in another tab`,
    hint: 'Wait for what is under way there, close the other tab, or open a store of another name.',
  };
  return holdPatiently(storeLockName(store), 'exclusive', signal, onWaiting, busy);
}

/** Say that the store is open here. Waits for a removal under way, as {@link holdStore} does. */
export function holdOpen(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const busy = {
    message: `The store "${store}" is being removed by another tab`,
    hint: 'Try again, or open a store of another name.',
  };
  return holdPatiently(openLockName(store), 'shared', signal, onWaiting, busy);
}

/** Wait until nobody has the store open; until the result is called nobody can open it. */
export function holdClosed(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const busy = {
    message: `The store "${store}" is open in another tab`,
    hint: 'Close it there, or the other tab.',
  };
  return holdPatiently(openLockName(store), 'exclusive', signal, onWaiting, busy);
}

/** Read the store's files without writing it: until the result is called nobody removes packages. Waits for who does. */
export async function holdReading(store: string): Promise<() => void> {
  return (await hold(readersLockName(store), { mode: 'shared' })) as () => void;
}

async function holdPatiently(
  name: string,
  mode: LockMode,
  signal: AbortSignal,
  onWaiting: () => void,
  busy: { message: string; hint: string },
): Promise<() => void> {
  const free = await hold(name, { mode, ifAvailable: true });
  if (free) return free;
  onWaiting();
  try {
    const release = await hold(name, { mode, signal });
    if (release) return release;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new GantryError({ code: 'STORE_BUSY', ...busy });
}

/**
 * Run `change` while nobody reads the store by itself (`gantry/sync`, or a tab while another one writes), and nobody can begin
 * to. `ask` is called where somebody does, and may have them let go.
 */
export async function withoutReaders<T>(store: string, change: () => Promise<T>, ask?: () => void): Promise<T> {
  const name = readersLockName(store);
  let release = await hold(name, { ifAvailable: true });
  if (!release && ask) {
    ask();
    release = await hold(name, { signal: AbortSignal.timeout(READERS_PATIENCE) }).catch(() => undefined);
  }
  if (!release) {
    throw new GantryError({
      code: 'STORE_LOCKED',
      message: `A worker or another tab is reading projects of the store "${store}"`,
      hint: 'Close what openProject has opened there, or end that worker or tab, and try again.',
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

/** The name of the Web Lock that makes one coordinator the only writer of a store, across all tabs of an origin. */
function storeLockName(store: string): string {
  return `gantry:${store}`;
}

/** The name of the Web Lock that whoever has a store open shares, and that removing the store takes alone. */
function openLockName(store: string): string {
  return `gantry-open:${store}`;
}

/** The name of the Web Lock that whoever reads a store without writing it shares, and that removing packages takes alone. */
function readersLockName(store: string): string {
  return `gantry-readers:${store}`;
}
