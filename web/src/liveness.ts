/**
 * Telling that a worker died. A worker that runs out of memory or is closed by the browser fires no event, but its Web
 * Locks are released. So a worker holds a lock of its own name for life, and whoever depends on it queues for the same
 * lock: being granted it means that the worker is gone.
 *
 * Pages that get no storage get no locks either, for the most part. There a worker is asked again and again, in a channel of
 * that name, and gone is one that has long not answered.
 */
import { randomName } from './random-name.js';

/** Milliseconds between two questions. A worker is busy for one or two seconds at a time, on a slow machine for ten. */
const ASK_EVERY = 15_000;
/** After so many without an answer. The page may have been frozen together with the worker, which is one question. */
const UNANSWERED = 4;

/** In the worker: hold `name` until the worker ends. Resolves once it is held. */
export async function holdForLife(name: string): Promise<void> {
  // Refused, or not there at all.
  await hold(name).catch(() => answer(name));
}

/** In the owner, once the worker has said that it holds `name`: calls `onLost` when it is gone, unless `signal` fires first. */
export function watchLife(name: string, signal: AbortSignal, onLost: () => void): void {
  waitFor(name, signal).then(onLost, () => {
    // Else the owner has ended the worker itself.
    if (!signal.aborted) ask(name, signal, onLost);
  });
}

/** Hold `name`, for another context to look for ({@link isHeld}), until the result is called. Fails where there are no locks. */
export function hold(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

async function waitFor(name: string, signal: AbortSignal): Promise<void> {
  await navigator.locks.request(name, { signal }, () => {});
}

function answer(name: string): void {
  const channel = new BroadcastChannel(name);
  channel.onmessage = () => channel.postMessage(undefined);
}

function ask(name: string, signal: AbortSignal, onLost: () => void): void {
  const channel = new BroadcastChannel(name);
  let unanswered = 0;
  channel.onmessage = () => {
    unanswered = 0;
  };
  const asking = setInterval(() => {
    if (unanswered < UNANSWERED) {
      unanswered++;
      channel.postMessage(undefined);
      return;
    }
    end();
    onLost();
  }, ASK_EVERY);
  const end = () => {
    clearInterval(asking);
    channel.close();
  };
  signal.addEventListener('abort', end, { once: true });
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
  return `gantry-alive:${kind}:${randomName()}`;
}
