/** Whether this context has what the store needs, asked before anything else so that the answer is a clear one. */
import { GantryError } from '../errors.js';

const HINT = 'Use a current browser, outside private windows and sandboxed frames.';

export async function requireStorage(): Promise<void> {
  const missing = [
    'getDirectory' in (navigator.storage ?? {}) ? undefined : 'OPFS',
    typeof FileSystemFileHandle !== 'undefined' && 'createSyncAccessHandle' in FileSystemFileHandle.prototype
      ? undefined
      : 'synchronous access handles',
    navigator.locks ? undefined : 'Web Locks',
  ].filter((name) => name !== undefined);
  if (missing.length > 0) throw unavailable(`This browser lacks ${missing.join(', ')}`);
  try {
    await navigator.storage.getDirectory();
  } catch (error) {
    throw unavailable(`The browser refuses storage to this page: ${error instanceof Error ? error.message : error}`);
  }
}

/** Whether there is a store of that name, asked before there is a module that could tell (`OpfsDirectory::open_store`). */
export async function hasStore(name: string): Promise<boolean> {
  try {
    const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
    await stores.getDirectoryHandle(name);
    return true;
  } catch {
    return false;
  }
}

function unavailable(message: string): GantryError {
  return new GantryError({ code: 'STORAGE_UNAVAILABLE', message, hint: HINT });
}
