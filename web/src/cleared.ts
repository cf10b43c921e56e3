/**
 * Noticing that the browser, or its user, has removed the files of a store or of an export, where workers cannot tell: in Chromium
 * (156, files on disk) closing a file that was written and has been removed since never returns, and its worker never answers again.
 */
import type { ErrorData } from './errors.js';
import { findStore } from './origin-storage.js';

export const STORAGE_CLEARED: ErrorData = {
  code: 'STORE_LOST',
  message: 'The storage of this site was cleared while the store was open',
  hint: 'Reload the page, and install again.',
};

export const FOLDER_REMOVED: ErrorData = {
  code: 'EXPORT_FAILED',
  message: 'The folder was removed while files were written into it',
  hint: 'Export again, into a folder that is there.',
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
  watch(() => isMissing(() => findStore(store, mark)), signal, isAwaited, onCleared);
}

/** Calls `onRemoved` where two looks in a row, with something to be written that is not, find no such folder any more. */
export function watchFolder(
  folder: FileSystemDirectoryHandle,
  signal: AbortSignal,
  isAwaited: () => boolean,
  onRemoved: () => void,
): void {
  watch(() => isRemoved(folder), signal, isAwaited, onRemoved);
}

/** Whether a folder is not there any more. */
export function isRemoved(folder: FileSystemDirectoryHandle): Promise<boolean> {
  return isMissing(() => folder.keys().next());
}

function watch(
  isGone: () => Promise<boolean>,
  signal: AbortSignal,
  isAwaited: () => boolean,
  onMissing: () => void,
): void {
  let missed = 0;
  const look = async () => {
    missed = isAwaited() && (await isGone()) ? missed + 1 : 0;
    if (missed === 2 && isAwaited()) onMissing();
  };
  const looking = setInterval(look, LOOK_EVERY);
  signal.addEventListener('abort', () => clearInterval(looking), { once: true });
}

/** `find` fails as the browser does where something is not there; whenever a browser cannot say that may pass. */
async function isMissing(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find();
    return false;
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotFoundError';
  }
}
