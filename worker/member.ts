/** One place in the pool: the worker that fills it now, its packs, and its successor when it dies. */
import { type ErrorData, GantryError, toErrorData } from '../errors.js';
import { uniqueLifeName, watchLife } from '../liveness.js';
import type { ScriptFailure } from '../script-failure.js';
import type { OpenPacks, UnpackJob, UnpackResult } from '../wasm.js';
import { LentFiles, lostFiles } from './lent-files.js';
import type { MemoryFolder } from './memory-folder.js';
import type { PoolRequest, PoolResponse, Rehearsal } from './messages.js';
import { UnpackWorker } from './unpack-worker.js';

interface PendingCall {
  resolve(result: UnpackResult): void;
  reject(error: unknown): void;
}

/** A call without its id; distributes over the kinds. */
type Call<T = PoolRequest> = T extends { id: number } ? Omit<T, 'id'> : never;

/** A worker that dies this often without finishing anything in between would die for ever. */
const DEATHS_IN_A_ROW = 3;

/** By the number of the member. */
const REHEARSALS: readonly Rehearsal[] = ['unpacking', 'installing'];

export class Member {
  readonly #module: Promise<WebAssembly.Module>;
  /** The name of the store in OPFS, if it is there. */
  readonly #store: string | undefined;
  /** The packs that its worker has of a store in memory. */
  readonly #files: LentFiles | undefined;
  readonly #index: number;
  readonly #pending = new Map<number, PendingCall>();
  #worker: UnpackWorker | undefined;
  #watching = new AbortController();
  /** Resolves when the present worker can take calls. */
  #ready: Promise<unknown> = Promise.resolve();
  /** The packs to open again in a successor. */
  #packs: OpenPacks | undefined;
  #nextId = 1;
  #deaths = 0;
  #underWay = 0;

  constructor(module: Promise<WebAssembly.Module>, store: string | MemoryFolder, index: number) {
    this.#module = module;
    if (typeof store === 'string') this.#store = store;
    else this.#files = new LentFiles(store);
    this.#index = index;
  }

  /** Start its worker, if there is none, before it is needed. */
  warm(): void {
    if (!this.#worker) this.#start();
  }

  /** Jobs handed over and not answered yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Whether there is a worker, or one is starting. */
  get lives(): boolean {
    return this.#worker !== undefined;
  }

  async open(packs: string, room: number): Promise<void> {
    if (this.#isUsed) await this.close();
    // A place that was given up gets a fresh chance with each install.
    this.warm();
    this.#deaths = 0;
    await this.#repeated(async () => {
      await this.#started();
      if (this.#files) this.#worker?.post({ files: this.#files.lend(packs) });
      return this.#post({ kind: 'open', packs, room, successor: false });
    });
    // Not before: a successor that started meanwhile would open them too. From here on they may have packages that are not
    // recorded yet.
    this.#packs = { packs, room, successor: true };
  }

  async unpack(job: UnpackJob): Promise<UnpackResult> {
    this.#underWay++;
    try {
      const result = await this.#call({ kind: 'unpack', job });
      this.#deaths = 0;
      return result;
    } finally {
      this.#underWay--;
    }
  }

  /** Part of a pack that it has; `undefined` if it has none. */
  async read(pack: number, offset: number, length: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const read = await this.#repeated(() => this.#call({ kind: 'read', pack, offset, length }));
    return read as Uint8Array<ArrayBuffer> | undefined;
  }

  /** Also makes durable what a worker that died since had answered: its bytes are in the file. */
  async flush(): Promise<void> {
    if (this.#isUsed) await this.#repeated(() => this.#call({ kind: 'flush' }));
  }

  /** Resolves when nobody has the packs: the successor of a worker that dies over it waits until the browser has let go of them. */
  async close(): Promise<void> {
    if (!this.#isUsed) return;
    try {
      await this.#repeated(() => this.#call({ kind: 'close' }));
    } finally {
      this.#packs = undefined;
      this.#files?.forgetLoss();
    }
  }

  /** Every job that it has been given. */
  giveUp(): void {
    if (this.#underWay > 0) this.#worker?.post({ giveUp: true });
  }

  /** Whether an install uses its worker, or did until the files were lost. */
  get #isUsed(): boolean {
    return this.#packs !== undefined || (this.#files !== undefined && !this.#files.areHere);
  }

  #start(): void {
    const aliveLock = uniqueLifeName('unpack');
    const watching = new AbortController();
    // Now, not when the worker is ready: packs that are opened meanwhile are opened by that call.
    const packs = this.#packs;
    const worker: UnpackWorker = new UnpackWorker(this.#module, `gantry-unpack-${this.#index}`, {
      message: (response) => {
        if ('alive' in response)
          watchLife(aliveLock, watching.signal, () => this.#lose(worker, lost({ reason: 'it ended unexpectedly' })));
        else this.#receive(response);
      },
      error: (failure) => this.#lose(worker, lost(failure)),
    });
    this.#worker = worker;
    this.#watching = watching;
    this.#ready = this.#post({ kind: 'start', aliveLock, store: this.#store, rehearses: REHEARSALS[this.#index] }).then(
      () => {
        if (packs) return this.#post({ kind: 'open', ...packs });
        return undefined;
      },
    );
    // Whoever waits for it sees the failure. A worker that did not start, or did not get its packs, is of no use.
    this.#ready.catch((error: unknown) => this.#lose(worker, toErrorData(error)));
  }

  async #call(call: Call): Promise<UnpackResult> {
    await this.#started();
    // None of what is asked of a worker makes sense without them.
    if (this.#files?.areLost) throw lostFiles();
    return this.#post(call);
  }

  /** What the worker answers, or its successor when it dies over it, unless that is why it dies again and again. */
  async #repeated<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!this.lives || !isLost(error)) throw error;
      }
    }
  }

  /** Resolves when a worker can take calls: the present one, or its successor when it did not start. */
  async #started(): Promise<void> {
    for (;;) {
      const ready = this.#ready;
      try {
        await ready;
        return;
      } catch (error) {
        if (ready === this.#ready) throw error;
      }
    }
  }

  #post(call: Call): Promise<UnpackResult> {
    const worker = this.#worker;
    if (!worker) return Promise.reject(new GantryError(lost({ reason: 'it died repeatedly' })));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.post({ ...call, id });
    });
  }

  #receive(response: Exclude<PoolResponse, { alive: true }>): void {
    if ('fatal' in response) {
      if (this.#worker) this.#lose(this.#worker, response.fatal);
      return;
    }
    if ('files' in response) {
      this.#files?.takeBack(response.files);
      return;
    }
    const call = this.#pending.get(response.id);
    if (!call) return;
    this.#pending.delete(response.id);
    if ('error' in response) call.reject(new GantryError(response.error));
    else call.resolve(response.result);
  }

  #lose(worker: UnpackWorker, error: ErrorData): void {
    if (worker !== this.#worker) return;
    this.#watching.abort();
    worker.end();
    this.#worker = undefined;
    this.#deaths++;
    this.#files?.workerEnded();
    // There is nothing for a successor to open.
    if (this.#files?.areLost) this.#packs = undefined;
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    // The successor first: a rejected job may be handed back at once.
    if (this.#deaths < DEATHS_IN_A_ROW) this.#start();
    for (const call of calls) call.reject(this.#files?.areLost ? lostFiles() : new GantryError(error));
  }
}

/** Whether something was not done because its worker died. */
export function isLost(error: unknown): boolean {
  return error instanceof GantryError && error.code === 'WORKER_LOST';
}

const ENDED = 'The browser may be short of memory. Install again: what was finished is kept.';

function lost({ reason, hint = ENDED }: ScriptFailure): ErrorData {
  return { code: 'WORKER_LOST', message: `An unpack worker was lost: ${reason}`, hint };
}
