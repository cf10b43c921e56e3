/**
 * The Web Locks of a store, over all tabs of an origin. The browser releases them when who holds them ends, however it ends.
 *
 * One coordinator writes at a time: it holds an exclusive lock, until another one asks for it (`worker/shared-store.ts`).
 * Whoever reads by itself shares a second one, which removing packages takes alone, and whoever has the store open, writing or
 * not, a third, which removing the store takes alone.
 *
 * A lock that is shared by some and taken alone by others has a door, a lock of its own: who wants to share goes through it, and
 * who wants to be alone keeps it shut from before asking until the end. So nobody ever waits behind one who waits to be alone,
 * which matters where that one gives up: Chromium (156) then forgets those behind until a lock of that name is released.
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
  return patiently((asking) => hold(storeLockName(store), asking), signal, onWaiting, busy);
}

/** Say that the store is open here. Waits for a removal under way, as {@link holdStore} does. */
export function holdOpen(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const busy = {
    message: `The store "${store}" is being removed by another tab`,
    hint: 'Try again, or open a store of another name.',
  };
  return patiently((asking) => share(openLockName(store), asking), signal, onWaiting, busy);
}

/** Wait until nobody has the store open; until the result is called nobody can open it. */
export function holdClosed(store: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  const busy = {
    message: `The store "${store}" is open in another tab`,
    hint: 'Close it there, or the other tab.',
  };
  return patiently((asking) => takeAlone(openLockName(store), asking), signal, onWaiting, busy);
}

/** Read the store's files without writing it: until the result is called nobody removes packages. Waits for who does. */
export async function holdReading(store: string): Promise<() => void> {
  return (await share(readersLockName(store), {})) as () => void;
}

/**
 * Run `change` while nobody reads the store by itself (`gantry/sync`, or a tab while another one writes), and nobody can begin
 * to. `ask` is called where somebody does, and may have them let go.
 */
export async function withoutReaders<T>(store: string, change: () => Promise<T>, ask?: () => void): Promise<T> {
  const name = readersLockName(store);
  let release = await takeAlone(name, { ifAvailable: true });
  if (!release && ask) {
    release = await takeAlone(name, { signal: AbortSignal.timeout(READERS_PATIENCE) }, ask).catch(() => undefined);
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

type Release = () => void;

/** How to ask for a lock: only if nobody waits for it, or until a signal fires. */
type Asking = Pick<LockOptions, 'ifAvailable' | 'signal'>;

async function patiently(
  ask: (asking: Asking) => Promise<Release | undefined>,
  signal: AbortSignal,
  onWaiting: () => void,
  busy: { message: string; hint: string },
): Promise<Release> {
  const free = await ask({ ifAvailable: true });
  if (free) return free;
  onWaiting();
  try {
    const release = await ask({ signal });
    if (release) return release;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new GantryError({ code: 'STORE_BUSY', ...busy });
}

/** Share a lock, as soon as nobody has it alone or waits for that. */
async function share(name: string, asking: Asking): Promise<Release | undefined> {
  const leaveDoor = await hold(doorOf(name), { ...asking, mode: 'shared' });
  if (!leaveDoor) return undefined;
  try {
    return await hold(name, { ...asking, mode: 'shared' });
  } finally {
    leaveDoor();
  }
}

/** Take a lock alone that others share. `ask` is called when nobody can begin to share it any more. */
async function takeAlone(name: string, asking: Asking, ask = () => {}): Promise<Release | undefined> {
  const openDoor = await hold(doorOf(name), asking);
  if (!openDoor) return undefined;
  ask();
  let release: Release | undefined;
  try {
    release = await hold(name, asking);
  } finally {
    if (!release) openDoor();
  }
  return (
    release &&
    (() => {
      release();
      openDoor();
    })
  );
}

/** Resolves to the function that releases the lock, or to nothing when it was not to be had. */
function hold(name: string, options: LockOptions): Promise<Release | undefined> {
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

function doorOf(lock: string): string {
  return `${lock}:door`;
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
