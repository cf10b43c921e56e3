/**
 * Telling that a worker died. A worker that runs out of memory or is closed by the browser fires no event, but its Web
 * Locks are released. So a worker holds a lock of its own name for life, and whoever depends on it queues for the same
 * lock: being granted it means that the worker is gone.
 */

/** In the worker: hold `name` until the worker ends. Resolves once it is held. */
export function holdForLife(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, () => {
        resolve();
        return new Promise<never>(() => {});
      })
      .catch(reject);
  });
}

/** In the owner, once the worker has said that it holds `name`: call `onLost` when the worker is gone, unless `signal` fires first. */
export function watchLife(name: string, signal: AbortSignal, onLost: () => void): void {
  navigator.locks.request(name, { signal }, onLost).catch(() => {
    // Aborted: the owner ended the worker itself.
  });
}

/**
 * Whether this context sees that somebody holds `name`. Once a site's storage has been cleared, Chromium keeps the locks of
 * contexts that were there before apart from those of later ones: they cannot watch each other.
 */
export async function isHeld(name: string): Promise<boolean> {
  const { held } = await navigator.locks.query();
  return held?.some((lock) => lock.name === name) ?? false;
}

/** A lock name that no other worker has. */
export function uniqueLifeName(kind: string): string {
  return `gantry-alive:${kind}:${crypto.randomUUID()}`;
}
