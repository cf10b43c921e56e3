/** What the coordinator's pool and an unpack worker say to each other, [several things at a time](./batches.ts). */
import type { ErrorData } from '../errors.js';
import type { OpenPacks, UnpackJob, UnpackResult } from '../wasm.js';

/** Page → unpack worker, each once: the way to the pool, and then the module to instantiate. */
export interface Beginning {
  port: MessagePort;
  module: WebAssembly.Module;
}

/** What a worker does once before its first job, so that it is compiled. */
export type Rehearsal = 'unpacking' | 'installing';

/** Pool → unpack worker. `start` is the first, once. */
export type PoolRequest =
  | { id: number; kind: 'start'; aliveLock: string; store: string; rehearses: Rehearsal | undefined }
  | ({ id: number; kind: 'open' } & OpenPacks)
  | { id: number; kind: 'unpack'; job: UnpackJob }
  | { id: number; kind: 'read'; pack: number; offset: number; length: number }
  | { id: number; kind: 'flush' }
  | { id: number; kind: 'close' }
  /** Every job that is under way. */
  | { giveUp: true };

/** Unpack worker → pool. */
export type PoolResponse =
  | { id: number; result: UnpackResult }
  | { id: number; error: ErrorData }
  /** It holds its `aliveLock`. */
  | { alive: true }
  /** The worker's wasm trapped: nothing in it can be used any more. */
  | { fatal: ErrorData };
