/** Workers that write files, as many at once as storage takes, and no more bytes waiting for them than a few batches. */
import { throwIfAborted } from '../aborted.js';
import { FOLDER_REMOVED, isRemoved, watchFolder } from '../cleared.js';
import { type ErrorData, GantryError } from '../errors.js';
import { uniqueLifeName, watchLife } from '../liveness.js';
import { type ScriptFailure, scriptFailure } from '../script-failure.js';
import { startWorker } from '../start-worker.js';

export interface FileToWrite {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export type WriteMethod = 'access handles' | 'writable streams';

/** To a worker: the folder and the name of the lock that it is to hold while it lives, then batches; or to begin no file. */
export type WriteRequest =
  | { directory: FileSystemDirectoryHandle; aliveLock: string }
  | { files: FileToWrite[] }
  | { stop: true };
/**
 * From a worker: that it holds its lock, or that there is none to be had; then once for each batch in its order, when it has no
 * file of it open any more.
 */
export type WriteResponse = { alive: true } | { begun: true } | { method: WriteMethod } | { error: ErrorData };

/** With 32 files under way in each: 0.86 ms a file in Chromium, where one worker takes 1.1 to 1.4 (2 cores). */
const WRITERS = 4;
/** Milliseconds after which a worker that has said nothing is taken to be dead: one that ends before it holds its lock is missed by
 * nobody else. */
const START = 60_000;
/** Milliseconds for the files that are under way when it is stopped; then their worker is ended, as the browser would. */
const STOPPING = 10_000;
const ENDED = 'The browser may be short of memory. Export again: files that are there are replaced.';
/** Batches that one worker has been given. */
const BATCHES_AHEAD = 2;

interface Writer {
  worker: Worker;
  /** What to call when the next batch of it is written, and the one after. */
  waiting: ((method: WriteMethod) => void)[];
  /** Whether it will answer no more. */
  isLost: boolean;
}

export class FileWriters {
  readonly #writers: Writer[];
  readonly #signal: AbortSignal | undefined;
  /** Aborted when the workers are ended. */
  readonly #ended = new AbortController();
  #failure: GantryError | undefined;
  /** Whether nobody wants to hear of what is written. */
  #isStopping = false;
  /** Called whenever a batch is done or all has failed. */
  #wake: () => void = () => {};

  /** Waiting ends with `ABORTED` when `signal` fires. */
  constructor(directory: FileSystemDirectoryHandle, signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', () => this.#wake(), { signal: this.#ended.signal });
    this.#writers = Array.from({ length: WRITERS }, (_, index) => this.#start(`gantry-write-${index}`, directory));
    watchFolder(
      directory,
      this.#ended.signal,
      () => this.#writers.some(isWriting),
      () => this.#loseFolder(),
    );
  }

  /** Resolves when the batch has been given to a worker; `onWritten` is called when it is written. Moves the bytes away. */
  async write(files: FileToWrite[], onWritten: (method: WriteMethod) => void): Promise<void> {
    const free = () => this.#writers.find(({ waiting }) => waiting.length < BATCHES_AHEAD);
    await this.#until(() => free() !== undefined);
    const writer = this.#writers.reduce((least, next) => (next.waiting.length < least.waiting.length ? next : least));
    writer.waiting.push(onWritten);
    const request: WriteRequest = { files };
    writer.worker.postMessage(
      request,
      files.map(({ bytes }) => bytes.buffer),
    );
  }

  /** Resolves when everything is written. */
  finish(): Promise<void> {
    return this.#until(() => this.#writers.every(({ waiting }) => waiting.length === 0));
  }

  /** Resolves when no worker writes, or has a file of the folder open. */
  async end(): Promise<void> {
    this.#isStopping = true;
    const request: WriteRequest = { stop: true };
    for (const writer of this.#writers) if (isWriting(writer)) writer.worker.postMessage(request);
    const late = setTimeout(() => {
      for (const writer of this.#writers) writer.isLost = true;
      this.#wake();
    }, STOPPING);
    while (this.#writers.some(isWriting)) await this.#change();
    clearTimeout(late);
    this.#ended.abort();
    for (const { worker } of this.#writers) worker.terminate();
  }

  async #until(condition: () => boolean): Promise<void> {
    for (;;) {
      throwIfAborted(this.#signal);
      if (this.#failure) throw this.#failure;
      if (condition()) return;
      await this.#change();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #start(name: string, directory: FileSystemDirectoryHandle): Writer {
    // Vite 5 stops at options that are not constant, unless told to leave them.
    const worker = startWorker(
      () =>
        new Worker(new URL('../worker/write-files.js', import.meta.url), { /* @vite-ignore */ type: 'module', name }),
    );
    const writer: Writer = { worker, waiting: [], isLost: false };
    const aliveLock = uniqueLifeName('write');
    const end = async () => {
      // With the storage of a private window the locks of its workers go, too.
      if (await isRemoved(directory)) this.#loseFolder();
      else this.#lose(writer, { reason: 'it ended unexpectedly' });
    };
    const reason = `it did not start within ${START / 1000} s`;
    const late = setTimeout(() => this.#lose(writer, { reason }), START);
    this.#ended.signal.addEventListener('abort', () => clearTimeout(late));
    worker.addEventListener('message', ({ data }: MessageEvent<WriteResponse>) => {
      clearTimeout(late);
      if ('begun' in data) return;
      if ('alive' in data) watchLife(aliveLock, this.#ended.signal, end);
      else if ('error' in data) {
        writer.waiting.shift();
        this.#fail(data.error);
      } else {
        try {
          const onWritten = writer.waiting.shift();
          if (!this.#isStopping) onWritten?.(data.method);
        } finally {
          // Also where the page's listener throws, which the browser reports.
          this.#wake();
        }
      }
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#lose(writer, scriptFailure(event));
    });
    const request: WriteRequest = { directory, aliveLock };
    worker.postMessage(request);
    return writer;
  }

  #lose(writer: Writer, { reason, hint = ENDED }: ScriptFailure): void {
    writer.isLost = true;
    this.#fail({ code: 'WORKER_LOST', message: `A worker that writes files stopped: ${reason}`, hint });
  }

  #loseFolder(): void {
    for (const writer of this.#writers) writer.isLost = true;
    this.#fail(FOLDER_REMOVED);
  }

  #fail(error: ErrorData): void {
    this.#failure ??= new GantryError(error);
    this.#wake();
  }
}

function isWriting({ waiting, isLost }: Writer): boolean {
  return waiting.length > 0 && !isLost;
}
