/** What the coordinator's pool and an unpack worker say to each other, [several things at a time](./batches.ts). */
import type { ErrorData } from '../errors.js';
import type { OpenPacks, UnpackJob, UnpackResult } from '../wasm.js';
import type { FileContents } from './memory-folder.js';

/** Page → unpack worker, each once: the way to the pool, and then the module to instantiate. */
export interface Beginning {
  port: MessagePort;
  module: WebAssembly.Module;
}

/** What a worker does once before its first job, so that it is compiled. */
export type Rehearsal = 'unpacking' | 'installing';

/** Files of a store in memory that the receiver has from now on, [transferred](./buffers.ts). */
export interface HandOver {
  files: FileContents[];
}

/** Pool → unpack worker. `start` is the first, once; without the name of a `store` in OPFS, the store is in memory. */
export type PoolRequest =
  | { id: number; kind: 'start'; aliveLock: string; store: string | undefined; rehearses: Rehearsal | undefined }
  | ({ id: number; kind: 'open' } & OpenPacks)
  | { id: number; kind: 'unpack'; job: UnpackJob }
  | { id: number; kind: 'read'; pack: number; offset: number; length: number }
  | { id: number; kind: 'flush' }
  | { id: number; kind: 'close' }
  /** Before `open`: what it is going to open. */
  | HandOver
  /** Every job that is under way. */
  | { giveUp: true };

/** Unpack worker → pool. */
export type PoolResponse =
  | { id: number; result: UnpackResult }
  | { id: number; error: ErrorData }
  /** Before the answer to `close`: every file. */
  | HandOver
  /** It holds its `aliveLock`. */
  | { alive: true }
  /** The worker's wasm trapped: nothing in it can be used any more. */
  | { fatal: ErrorData };
