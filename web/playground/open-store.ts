/**
 * The store of this page: opened on first use, with the settings of that moment, and again after it was lost. Where the browser
 * gives the page no storage, as in private windows, it is in memory, which the page says.
 */
import { signal } from '@preact/signals';
import { Gantry, GantryError, type OpenOptions } from 'gantry';
import { type Failure, toFailure } from './failure.js';
import { remember, remembered } from './storage.js';

export type StoreState =
  | { state: 'closed' | 'opening' | 'waiting' | 'open' }
  /** It could not be opened, or what an earlier visit left in it could not be read. */
  | { state: 'failed'; failure: Failure; wanted: 'opened' | 'read' };

export const registry = signal(remembered('registry') ?? __DEFAULT_REGISTRY__);
/** Kept for this visit only. */
export const token = signal('');
export const store = signal<StoreState>({ state: 'closed' });
/** Whether the store that is open goes with the page. */
export const isInMemory = signal(false);

interface Opening {
  handle: Promise<Gantry>;
  abort: AbortController;
}

interface Use {
  /** Whether to try again when it turns out that the store was lost since it was last used. Yes unless given. */
  mayRetry?: () => boolean;
  /** Ends the wait for the store. */
  signal?: AbortSignal;
}

let present: Opening | undefined;
/** The store before is let go of. */
let closed: Promise<unknown> = Promise.resolve();

/** Do something with the store. When it turns out that it was lost, it is opened again, and `use` tried once more. */
export async function withStore<T>(
  use: (handle: Gantry) => Promise<T>,
  { mayRetry = () => true, signal }: Use = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const opening = open();
    const handle = await (signal ? unlessAborted(opening.handle, signal) : opening.handle);
    try {
      return await use(handle);
    } catch (error) {
      if (!isLost(error)) throw error;
      if (present === opening) letGo();
      if (attempt === 2 || !mayRetry()) throw error;
    }
  }
}

/** Take another registry or token: the store is closed, and opened with them when it is used next. */
export async function reconfigure(settings: { registry: string; token: string }): Promise<void> {
  // Before anything else: nothing may be begun with the store that goes.
  letGo();
  store.value = { state: 'opening' };
  registry.value = settings.registry || __DEFAULT_REGISTRY__;
  token.value = settings.token;
  remember('registry', registry.value === __DEFAULT_REGISTRY__ ? undefined : registry.value);
  await closed;
}

export function isLost(error: unknown): boolean {
  return error instanceof GantryError && (error.code === 'WORKER_LOST' || error.code === 'CLOSED');
}

function open(): Opening {
  if (present) return present;
  const abort = new AbortController();
  const opening: Opening = { abort, handle: start(abort.signal) };
  present = opening;
  store.value = { state: 'opening' };
  opening.handle.then(
    ({ storage }) => {
      if (present !== opening) return;
      isInMemory.value = storage === 'memory';
      store.value = { state: 'open' };
    },
    (error: unknown) => {
      if (present !== opening) return;
      present = undefined;
      store.value = { state: 'failed', failure: toFailure(error), wanted: 'opened' };
    },
  );
  return opening;
}

async function start(signal: AbortSignal): Promise<Gantry> {
  await closed;
  const options: OpenOptions = {
    registry: registry.value,
    ...(token.value && { token: token.value }),
    signal,
    onWaiting: () => {
      if (!signal.aborted) store.value = { state: 'waiting' };
    },
  };
  try {
    return await Gantry.open(options);
  } catch (error) {
    if (!(error instanceof GantryError && error.code === 'STORAGE_UNAVAILABLE')) throw error;
    return Gantry.open({ ...options, storage: 'memory' });
  }
}

function letGo(): void {
  const earlier = present;
  present = undefined;
  store.value = { state: 'closed' };
  earlier?.abort.abort();
  // Whatever is wrong with it, it is not used any more.
  closed = Promise.resolve(earlier?.handle.then((handle) => handle.close())).catch(() => {});
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
