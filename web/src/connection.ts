/**
 * The page's end of the protocol: calls out, answers, events and aborts matched by id.
 *
 * Nothing stays pending for ever: when the worker is lost or the connection closed, every call rejects.
 */
import { abortedError, isSignal } from './aborted.js';
import { STORAGE_CLEARED, watchFiles } from './cleared.js';
import { GantryError } from './errors.js';
import { watchLife } from './liveness.js';
import { invalid, shown } from './options.js';
import type { Event, Method, Parameters, Request, Response, Result } from './protocol.js';
import { SERVED, scriptFailure } from './script-failure.js';
import { UnpackWorkers } from './unpack-workers.js';

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: GantryError): void;
  onEvent: ((event: never) => void) | undefined;
  /** Takes the abort listener off its signal. */
  release(): void;
}

export interface CallOptions<M extends Method> {
  signal?: AbortSignal | undefined;
  onEvent?: ((event: Event<M>) => void) | undefined;
}

/** Milliseconds. Timers that are to be longer end at once: what is to wait longer waits for ever. */
export const LONGEST_TIMER = 2 ** 31 - 1;

export class Connection {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingCall>();
  readonly #watching = new AbortController();
  readonly #closing = new AbortController();
  readonly #unpackWorkers = new UnpackWorkers((failure) => this.#send(failure));
  #nextId = 1;
  /** Once set, every call rejects with it. */
  #ended: GantryError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener('message', (message: MessageEvent<Response>) => this.#receive(message.data));
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      const { reason, hint } = scriptFailure(event);
      this.#lose(`The install worker stopped: ${reason}`, hint);
    });
    worker.addEventListener('messageerror', () => this.#lose('A message of the install worker could not be read'));
    this.#tellWhenHidden();
  }

  /** A page that nobody sees may be frozen, with whatever its worker holds. A worker that has this store open cannot tell. */
  #tellWhenHidden(): void {
    if (typeof document === 'undefined') return;
    const tell = () => this.#send({ hidden: document.hidden });
    document.addEventListener('visibilitychange', tell, { signal: this.#watching.signal });
    if (document.hidden) tell();
  }

  /** From now on notice when the worker dies without a word. `name` is the lock it holds, which `isApart` says is out of sight. */
  watch(name: string, isApart: boolean): void {
    if (isApart) {
      this.#end(
        new GantryError({
          code: 'STORE_LOST',
          message: 'The storage of this site was cleared since this page was loaded',
          hint: 'Reload the page.',
        }),
      );
      return;
    }
    watchLife(name, this.#watching.signal, () => {
      this.#lose('The install worker ended unexpectedly', 'The browser may be short of memory. Open the store again.');
    });
  }

  /** From now on notice when the files of the store are gone and its workers hang over that. `mark` is one that no other has. */
  watchFiles(store: string, mark: string): void {
    const cleared = () => this.#end(new GantryError(STORAGE_CLEARED));
    watchFiles({ store, mark }, this.#watching.signal, () => this.#pending.size > 0, cleared);
  }

  call<M extends Method>(method: M, parameters: Parameters<M>, options: CallOptions<M> = {}): Promise<Result<M>> {
    const { signal, onEvent } = options;
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal !== undefined && !isSignal(signal)) return Promise.reject(noSignal(signal));
    if (signal?.aborted) return Promise.reject(abortedError(signal));
    const id = this.#nextId++;
    return new Promise<Result<M>>((resolve, reject) => {
      const abort = () => this.#send({ abort: id });
      signal?.addEventListener('abort', abort, { once: true });
      this.#pending.set(id, {
        resolve: resolve as (result: unknown) => void,
        // The worker says only that it was aborted; why is known here.
        reject: (error) => reject(error.code === 'ABORTED' && signal?.aborted ? abortedError(signal) : error),
        onEvent: onEvent as ((event: never) => void) | undefined,
        release: () => signal?.removeEventListener('abort', abort),
      });
      try {
        this.#send({ id, method, parameters, listens: onEvent !== undefined } as Request);
      } catch (cause) {
        this.#pending.get(id)?.release();
        this.#pending.delete(id);
        reject(unsendable(method, cause));
      }
    });
  }

  /**
   * End the worker unless it has said by `started` that it runs: once `signal` fires, or after `milliseconds`. A script that
   * hangs on its way can be told nothing, and hears of no signal.
   */
  limitStart(started: AbortSignal, signal: AbortSignal | undefined, milliseconds: number): void {
    if (signal) {
      const options = { signal: AbortSignal.any([started, this.#watching.signal]) };
      signal.addEventListener('abort', () => this.#end(abortedError(signal)), options);
    }
    if (milliseconds > LONGEST_TIMER) return;
    const giveUp = () =>
      this.#lose(`The install worker did not start in ${Math.round(milliseconds / 1000)} seconds`, SERVED);
    const timer = setTimeout(giveUp, milliseconds);
    for (const end of [started, this.#watching.signal]) end.addEventListener('abort', () => clearTimeout(timer));
  }

  /** A project is another one than before: what is asked from now on is answered by what it is now. */
  noteChange(project: string): void {
    this.#send({ changed: project });
  }

  /** Fires when {@link close} is called, and not when the worker is lost: what others change is told of even then. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** End the worker. Calls under way and later ones reject with `CLOSED`. */
  close(): void {
    this.#closing.abort();
    this.#end(new GantryError({ code: 'CLOSED', message: 'This store has been closed' }));
  }

  #send(request: Request): void {
    if (!this.#ended) this.#worker.postMessage(request);
  }

  #receive(response: Response): void {
    if ('fatal' in response) {
      this.#end(new GantryError(response.fatal));
      return;
    }
    if ('unpackWorker' in response) {
      const request = response.unpackWorker;
      if ('end' in request) this.#unpackWorkers.end(request.end);
      else if ('give' in request) this.#unpackWorkers.give(request);
      else if (!this.#ended) this.#unpackWorkers.start(request);
      return;
    }
    const call = this.#pending.get(response.id);
    if (!call) return;
    if ('events' in response) {
      for (const event of response.events) tell(call, event);
      return;
    }
    this.#pending.delete(response.id);
    call.release();
    if ('error' in response) call.reject(new GantryError(response.error));
    else call.resolve(response.result);
  }

  #lose(message: string, hint?: string): void {
    this.#end(new GantryError({ code: 'WORKER_LOST', message, ...(hint && { hint }) }));
  }

  #end(error: GantryError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#watching.abort();
    this.#worker.terminate();
    this.#unpackWorkers.endAll();
    for (const call of this.#pending.values()) {
      call.release();
      call.reject(error);
    }
    this.#pending.clear();
  }
}

/** A listener that throws is told to the page as an error of its own: what else there is to tell goes on. */
function tell({ onEvent }: PendingCall, event: unknown): void {
  try {
    onEvent?.(event as never);
  } catch (error) {
    reportError(error);
  }
}

/** What a page gave cannot go to a worker: a function, or an object of a kind that is not copied. */
function unsendable(method: Method, cause: unknown): GantryError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `An option of ${method} cannot be sent to the install worker: ${reason}`;
  return new GantryError({ code: 'INVALID_OPTION', message, hint: 'Options are plain values.' }, { cause });
}

function noSignal(value: unknown): GantryError {
  return invalid(`signal: ${shown(value)} is no AbortSignal`);
}
