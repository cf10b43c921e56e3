/** Waiting for what cannot be stopped: a signal ends the waiting, as it does in Node. */
import { AbortError } from './file-errors.js';

export function unlessAborted<T>(signal: AbortSignal | undefined, begin: () => Promise<T>): Promise<T> {
  if (!signal) return begin();
  if (signal.aborted) return Promise.reject(new AbortError(signal));
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new AbortError(signal));
    signal.addEventListener('abort', giveUp, { once: true });
    begin()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp));
  });
}
