/**
 * The unpack workers behind the `PoolPort` that the coordinator's wasm calls.
 *
 * A job goes to the worker with the fewest under way. Each has many at once, so that fetching overlaps unpacking; the
 * rest wait here, big ones first, because a big package started last would be all that the end waits for. When a worker
 * dies another takes over its packs and is asked what that was asked, until it dies again and again ([member](./member.ts)). Its
 * jobs are handed out once more: one of them may be why it died, so the second time they reject with `WORKER_LOST`.
 */
import { GantryError } from '../errors.js';
import type { PoolPort, UnpackJob, UnpackResult } from '../wasm.js';
import { isLost, Member } from './member.js';
import type { MemoryFolder } from './memory-folder.js';

/**
 * How many are under way at once in all workers. Over HTTP/2, which public registries speak, a browser runs a hundred requests to
 * one host: over 30 ms webpack-jest from its lock takes 0.8 of the time that it takes with 32, vite-react 0.9. Over HTTP/1.1, where
 * it runs six, eight would do as well. What a busy worker has not read yet waits in the browser; large bodies are few at a time
 * by themselves.
 */
const JOBS_AT_ONCE = 96;

/** Bytes of large tarballs that all workers hold at a time, two thirds of what an install may take. */
const HELD_BYTES = 96 << 20;

interface QueuedJob {
  job: UnpackJob;
  /** Bytes of the package, as far as they are known. */
  size: number;
  /** Whether a worker has died over it. */
  isAgain: boolean;
  resolve(result: UnpackResult): void;
  reject(error: unknown): void;
}

export class Pool implements PoolPort {
  readonly size: number;
  readonly #members: Member[];
  /** Sorted by size; the next job is the last. */
  readonly #queue: QueuedJob[] = [];
  /** How often all jobs have been given up: nobody wants those of before. */
  #round = 0;

  /** `store` is the name of one in OPFS, or the folder of one in memory. */
  constructor(module: Promise<WebAssembly.Module>, store: string | MemoryFolder, size: number) {
    this.size = size;
    this.#members = Array.from({ length: size }, (_, index) => new Member(module, store, index));
  }

  /** Start the workers before they are needed. */
  warm(): void {
    for (const member of this.#members) member.warm();
  }

  async open(packs: string[]): Promise<void> {
    if (packs.length !== this.size) throw new Error(`packs for ${packs.length} workers, which are ${this.size}`);
    const room = Math.min(HELD_BYTES / this.size, HELD_BYTES / 2);
    await settleAll(this.#members.map((member, index) => member.open(packs[index] as string, room)));
  }

  unpack(text: string, size: number, body: Uint8Array | undefined): Promise<UnpackResult> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ job: { text, body }, size, isAgain: false, resolve, reject });
      this.#dispatch();
    });
  }

  async read(
    worker: number,
    pack: number,
    offset: number,
    length: number,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#members[worker]?.read(pack, offset, length);
  }

  async flush(): Promise<void> {
    await settleAll(this.#members.map((member) => member.flush()));
  }

  async close(): Promise<void> {
    // What is still asked for is wanted by nobody: the install is over.
    this.abort();
    await settleAll(this.#members.map((member) => member.close()));
  }

  /** Give up every job, queued or under way: they reject with `ABORTED`. */
  abort(): void {
    this.#round++;
    for (const { reject } of this.#queue.splice(0)) reject(aborted());
    for (const member of this.#members) member.giveUp();
  }

  #enqueue(queued: QueuedJob): void {
    const at = this.#queue.findIndex(({ size }) => size >= queued.size);
    this.#queue.splice(at === -1 ? this.#queue.length : at, 0, queued);
  }

  #dispatch(): void {
    const most = Math.ceil(JOBS_AT_ONCE / this.size);
    while (this.#queue.length > 0) {
      const member = this.#members.reduce((least, next) => (next.underWay < least.underWay ? next : least));
      if (member.underWay >= most) return;
      const next = this.#queue.pop();
      if (!next) return;
      const round = this.#round;
      member
        .unpack(next.job)
        .then(next.resolve, (error: unknown) => {
          if (isLost(error) && !next.isAgain && member.lives && round === this.#round)
            this.#enqueue({ ...next, isAgain: true });
          else next.reject(error);
        })
        .finally(() => this.#dispatch());
    }
  }
}

/** As many workers as there are cores, within what a phone can hold and what the network can feed. */
export function defaultPoolSize(): number {
  return Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 4);
}

/** Wait for all even when some fail, so that nothing is still under way afterwards; then throw the first failure. */
async function settleAll(promises: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(promises);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

function aborted(): GantryError {
  return new GantryError({ code: 'ABORTED', message: 'The operation was aborted' });
}
