/** Export worker: writes files into a folder of the File System API, many at once. */
import { FOLDER_REMOVED, isRemoved } from '../cleared.js';
import type { ErrorData } from '../errors.js';
import type { FileToWrite, WriteMethod, WriteRequest, WriteResponse } from '../export/file-writers.js';
import { holdForLife } from '../liveness.js';

/** Creating is what takes its time, and it is done elsewhere: more at once gained nothing. */
const AT_ONCE = 32;

const scope = self as unknown as DedicatedWorkerGlobalScope;
const directories = new Map<string, Promise<FileSystemDirectoryHandle>>();
/** Batches are written one after the other. */
let last: Promise<void> = Promise.resolve();
let method: WriteMethod = 'access handles';
/** Whether no further file is to be begun: the page gives up, or one could not be written. */
let isStopped = false;

scope.addEventListener('message', ({ data }: MessageEvent<WriteRequest>) => {
  if ('directory' in data) begin(data.directory, data.aliveLock);
  else if ('stop' in data) isStopped = true;
  else last = last.then(() => answer(data.files));
});

/** Writing does not wait for the lock: without one the page does not notice that this worker ended, and no more. */
function begin(directory: FileSystemDirectoryHandle, aliveLock: string): void {
  directories.set('', Promise.resolve(directory));
  holdForLife(aliveLock).then(
    () => respond({ alive: true }),
    () => respond({ begun: true }),
  );
}

async function answer(files: FileToWrite[]): Promise<void> {
  try {
    await writeAll(files);
    respond({ method });
  } catch (error) {
    // What is written into a folder that is gone fails in many ways, as full storage does too.
    respond({ error: (await isRemoved(await directoryAt(''))) ? FOLDER_REMOVED : asData(error) });
  }
}

async function writeAll(files: FileToWrite[]): Promise<void> {
  const rest = files.values();
  const run = async () => {
    for (const file of rest) {
      if (isStopped) return;
      await write(file);
    }
  };
  const stopping = () =>
    run().catch((error: unknown) => {
      isStopped = true;
      throw error;
    });
  // Once it is answered no file is open.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, stopping));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

async function write({ path, bytes }: FileToWrite): Promise<void> {
  const end = path.lastIndexOf('/');
  const directory = await directoryAt(path.slice(0, Math.max(end, 0)));
  const file = await directory.getFileHandle(path.slice(end + 1), { create: true });
  if (method === 'access handles') {
    try {
      const handle = await file.createSyncAccessHandle();
      try {
        handle.truncate(0);
        // A full quota may show as fewer bytes, or as no count at all.
        if (bytes.length > 0 && handle.write(bytes, { at: 0 }) !== bytes.length) throw quota(path);
      } finally {
        handle.close();
      }
      return;
    } catch (error) {
      // Only files of OPFS have access handles.
      if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error;
      method = 'writable streams';
    }
  }
  const stream = await file.createWritable();
  try {
    await stream.write(bytes);
  } catch (error) {
    await stream.abort().catch(() => {});
    throw error;
  }
  await stream.close();
}

function directoryAt(path: string): Promise<FileSystemDirectoryHandle> {
  const known = directories.get(path);
  if (known) return known;
  const end = path.lastIndexOf('/');
  const made = directoryAt(path.slice(0, Math.max(end, 0))).then((parent) =>
    parent.getDirectoryHandle(path.slice(end + 1), { create: true }),
  );
  directories.set(path, made);
  return made;
}

function quota(path: string): DOMException {
  return new DOMException(`${path} could not be written as a whole`, 'QuotaExceededError');
}

function asData(error: unknown): ErrorData {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DOMException && error.name === 'QuotaExceededError') {
    return { code: 'STORE_FULL', message, hint: 'Free some space, and export again.' };
  }
  return {
    code: 'EXPORT_FAILED',
    message,
    hint: 'Check that the folder may be written and that nothing else has it open.',
  };
}

function respond(response: WriteResponse): void {
  scope.postMessage(response);
}
