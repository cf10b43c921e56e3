/**
 * Unpack worker: fetches, verifies and unpacks tarballs into its own pack files. Several jobs are under way at once, so
 * that one waits for the network while another unpacks.
 */
import { toErrorData } from '../errors.js';
import { holdForLife } from '../liveness.js';
import {
  instantiate,
  openStoreFolder,
  rehearseUnpacking,
  Unpacker,
  type UnpackJob,
  type UnpackResult,
  type WasmUnpacker,
} from '../wasm.js';
import { whileHeld } from '../while-held.js';
import { batched } from './batches.js';
import { piecesOf } from './buffers.js';
import { MemoryFolder } from './memory-folder.js';
import type { Beginning, PoolRequest, PoolResponse, Rehearsal } from './messages.js';
import { rehearseInstalling } from './rehearsal.js';
import { reportTraps } from './traps.js';

const port = given('port');
const compiled = given('module');
/** Aborted when there is something to do. */
const idling = new AbortController();
const rehearsals: Record<Rehearsal, () => void> = {
  unpacking: rehearseUnpacking,
  // What fails there fails again where somebody is told, but for a trap: the module is of no use after it.
  installing: () => void rehearseInstalling(idling.signal).catch(isTrap),
};
const jobs = new Set<Promise<unknown>>();
let unpacker: WasmUnpacker | undefined;
let store: string | undefined;
/** Opened before it is needed. */
let folder: Promise<FileSystemDirectoryHandle>;
/** For the packs of a store in memory, while this worker has them. */
const memory = new MemoryFolder('memory');

const post = batched<PoolResponse>((responses) => {
  void port.then((port) => port.postMessage(responses, piecesOf(responses)));
});
const isTrap = reportTraps((fatal) => post({ fatal }));
void port.then((port) => {
  port.onmessage = ({ data }: MessageEvent<PoolRequest[]>) => {
    for (const request of data) void receive(request);
  };
});

/** Resolves when the page has given it. */
function given<Name extends keyof Beginning>(name: Name): Promise<Beginning[Name]> {
  return new Promise((resolve) => {
    self.addEventListener('message', ({ data }: MessageEvent<Partial<Beginning>>) => {
      const value = data[name];
      if (value) resolve(value);
    });
  });
}

async function receive(request: PoolRequest): Promise<void> {
  if ('giveUp' in request) {
    unpacker?.giveUp();
    return;
  }
  if ('files' in request) {
    memory.takeIn(request.files);
    return;
  }
  try {
    post({ id: request.id, result: await perform(request) });
  } catch (error) {
    if (!isTrap(error)) post({ id: request.id, error: toErrorData(error) });
  }
}

async function perform(request: Extract<PoolRequest, { id: number }>): Promise<UnpackResult> {
  switch (request.kind) {
    case 'start':
      await holdForLife(request.aliveLock);
      post({ alive: true });
      // The page, too, once that is on its way.
      setTimeout(() => self.postMessage(undefined));
      await instantiate(await compiled);
      store = request.store;
      folder = openFolder();
      // Whoever opens packs asks again.
      folder.catch(() => {});
      if (request.rehearses) rehearsals[request.rehearses]();
      return undefined;
    case 'open':
      idling.abort();
      // The worker before, if it died, may still be letting go of the packs.
      unpacker = await whileHeld(async () => {
        const { packs, successor, room } = request;
        return Unpacker.open({ packs, successor, room }, await storeFolder());
      });
      return undefined;
    case 'unpack':
      return unpack(request.job);
    case 'read':
      return unpacker && toItsEnd(unpacker.read(request.pack, request.offset, request.length));
    case 'flush':
      opened().flush();
      return undefined;
    case 'close':
      await endJobs();
      try {
        closePacks();
      } finally {
        if (store === undefined) post({ files: memory.handOverAll() });
      }
      return undefined;
  }
}

function storeFolder(): Promise<FileSystemDirectoryHandle> {
  return folder.catch(openFolder);
}

async function openFolder(): Promise<FileSystemDirectoryHandle> {
  return store === undefined ? memory.handle : openStoreFolder(store);
}

function opened(): WasmUnpacker {
  if (!unpacker) throw new Error('This worker has no packs open');
  return unpacker;
}

/** Lets go of the packs also when they cannot be flushed: they would be locked for whoever opens them next. */
function closePacks(): void {
  const closing = unpacker;
  unpacker = undefined;
  try {
    closing?.flush();
  } finally {
    closing?.close();
  }
}

function unpack({ text, body }: UnpackJob): Promise<UnpackResult> {
  return toItsEnd(opened().unpack(text, body));
}

/** Packs are not closed before it has ended. */
async function toItsEnd<T>(running: Promise<T>): Promise<T> {
  jobs.add(running);
  try {
    return await running;
  } finally {
    jobs.delete(running);
  }
}

/** An install may end before all it had asked for has arrived: a guess that was wrong is not waited for. */
async function endJobs(): Promise<void> {
  unpacker?.giveUp();
  await Promise.allSettled(jobs);
  await unpacker?.openingEnded();
}
