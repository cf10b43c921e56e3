/** Whether this context has what a store in OPFS needs, asked before anything else so that the answer is a clear one. */
import { findStore, originFolder, storageUnavailable } from '../origin-storage.js';

export async function requireStorage(): Promise<void> {
  const missing = [
    'getDirectory' in (navigator.storage ?? {}) ? undefined : 'OPFS',
    typeof FileSystemFileHandle !== 'undefined' && 'createSyncAccessHandle' in FileSystemFileHandle.prototype
      ? undefined
      : 'synchronous access handles',
    navigator.locks ? undefined : 'Web Locks',
  ].filter((name) => name !== undefined);
  if (missing.length > 0) throw storageUnavailable(`This browser lacks ${missing.join(', ')}`);
  await originFolder();
}

/** Whether there is a store of that name, asked before there is a module that could tell (`OpfsDirectory::open_store`); with this
 * `mark`, if one is given. */
export async function hasStore(name: string, mark?: string): Promise<boolean> {
  try {
    await findStore(name, mark);
    return true;
  } catch {
    return false;
  }
}
