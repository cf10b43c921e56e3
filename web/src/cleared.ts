/**
 * Noticing that the browser, or its user, has removed a store's files, where its workers cannot tell: in Chromium (156, files on
 * disk) closing a file that was written and has been removed since never returns, and its worker never answers again.
 */
import type { ErrorData } from './errors.js';
import { findStore } from './origin-storage.js';

export const STORAGE_CLEARED: ErrorData = {
  code: 'STORE_LOST',
  message: 'The storage of this site was cleared while the store was open',
  hint: 'Reload the page, and install again.',
};

/** Milliseconds between two looks. A worker that can tell has done so before the second one. */
const LOOK_EVERY = 5000;

/** Calls `onCleared` where two looks in a row, with calls that are not answered, find no store of this mark. */
export function watchFiles(
  { store, mark }: { store: string; mark: string },
  signal: AbortSignal,
  isAwaited: () => boolean,
  onCleared: () => void,
): void {
  let missed = 0;
  const look = async () => {
    missed = isAwaited() && (await isMissing(store, mark)) ? missed + 1 : 0;
    if (missed === 2 && isAwaited()) onCleared();
  };
  const looking = setInterval(look, LOOK_EVERY);
  signal.addEventListener('abort', () => clearInterval(looking), { once: true });
}

/** Not whenever a browser cannot say: that may pass. */
async function isMissing(store: string, mark: string): Promise<boolean> {
  try {
    await findStore(store, mark);
    return false;
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotFoundError';
  }
}
