/** The files that the browser keeps for this origin, or a clear word that it keeps none. */
import { GantryError } from './errors.js';

const HINT =
  "Use a current browser, outside private windows, sandboxed frames and frames of other sites whose cookies are blocked, or keep the store in memory: Gantry.open({ storage: 'memory' }).";

const OR_IN_MEMORY = "or keep the store in memory: Gantry.open({ storage: 'memory' })";

/** The folder of all of them. Fails with `STORAGE_UNAVAILABLE` where a page gets none, as in a private window of Firefox. */
export async function originFolder(): Promise<FileSystemDirectoryHandle> {
  try {
    return await navigator.storage.getDirectory();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw storageUnavailable(`The browser refuses storage to this page: ${reason}`);
  }
}

/** Fails as the browser does unless there is a store of that name; with this `mark`, if one is given. */
export async function findStore(name: string, mark?: string): Promise<void> {
  const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
  const store = await stores.getDirectoryHandle(name);
  if (mark !== undefined) await store.getFileHandle(mark);
}

export function storageUnavailable(message: string): GantryError {
  return new GantryError({ code: 'STORAGE_UNAVAILABLE', message, hint: HINT });
}

/** OPFS and Web Locks exist in secure contexts with an origin only. Said here, where `location` can be named. */
export function requireSecureContext(): void {
  if (self.origin === 'null') {
    throw new GantryError({
      code: 'STORAGE_UNAVAILABLE',
      message: 'This page has no origin of its own, so the browser gives it no storage',
      hint: `A frame with sandbox needs allow-same-origin; pages of file: and data: have none. Serve the page over https, or from localhost, ${OR_IN_MEMORY}.`,
    });
  }
  if (isSecureContext) return;
  throw new GantryError({
    code: 'STORAGE_UNAVAILABLE',
    message: `${location.origin} is not a secure context, so the browser gives it no storage`,
    hint: `Serve the page over https, or from localhost, ${OR_IN_MEMORY}.`,
  });
}
