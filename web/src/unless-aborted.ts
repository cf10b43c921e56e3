/** Waiting for what cannot be stopped: a signal ends the waiting, as it does in Node, with the error that `failure` makes of it. */

export function unlessAborted<T>(
  signal: AbortSignal | undefined,
  failure: (signal: AbortSignal) => Error,
  begin: () => Promise<T>,
): Promise<T> {
  if (!signal) return begin();
  if (signal.aborted) return Promise.reject(failure(signal));
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(failure(signal));
    signal.addEventListener('abort', giveUp, { once: true });
    begin()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp));
  });
}
