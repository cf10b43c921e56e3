/**
 * The unpack workers of one store, as the page starts them for its coordinator.
 *
 * They are the page's and not the coordinator's own: in Firefox a worker that starts another while the page has just been
 * reloaded may wait for ever in `new Worker`. All the page does is start and end them; what they are told and what they
 * answer goes through a port between them and the coordinator.
 */
import type { UnpackWorkerFailure, UnpackWorkerRequest } from './protocol.js';
import { scriptFailure } from './script-failure.js';
import { startWorker } from './start-worker.js';

/** Milliseconds after which a worker that has not said that it lives is taken to be dead: one that ends before it holds its lock
 * ([liveness](./liveness.ts)) is missed by nobody else. What it has to load until then is some 25 KB. */
const START = 20_000;

interface Started {
  worker: Worker;
  /** Fires unless it lives by then. */
  late: ReturnType<typeof setTimeout>;
}

export class UnpackWorkers {
  readonly #workers = new Map<number, Started>();
  readonly #onError: (failure: UnpackWorkerFailure) => void;

  /** `onError` is told when a worker's script fails, or cannot be loaded, or does not begin. */
  constructor(onError: (failure: UnpackWorkerFailure) => void) {
    this.#onError = onError;
  }

  start({ start: number, name, port }: Extract<UnpackWorkerRequest, { start: number }>): void {
    // Vite 5 stops at options that are not constant, unless told to leave them.
    const worker = startWorker(
      () => new Worker(new URL('./worker/unpack.js', import.meta.url), { /* @vite-ignore */ type: 'module', name }),
    );
    const reason = `it did not start within ${START / 1000} s`;
    const late = setTimeout(() => this.#onError({ failed: number, reason }), START);
    this.#workers.set(number, { worker, late });
    // The one thing that it tells the page: that it lives.
    let lives = false;
    const began = () => {
      lives = true;
      clearTimeout(late);
    };
    worker.addEventListener('message', began, { once: true });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      const { reason, hint } = scriptFailure(event);
      // One that has begun was served, and allowed.
      this.#onError({ failed: number, reason, ...(hint && !lives && { hint }) });
    });
    worker.postMessage({ port }, [port]);
  }

  /** Give one that was started its module. */
  give({ give: number, module }: Extract<UnpackWorkerRequest, { give: number }>): void {
    this.#workers.get(number)?.worker.postMessage({ module });
  }

  end(number: number): void {
    const started = this.#workers.get(number);
    clearTimeout(started?.late);
    started?.worker.terminate();
    this.#workers.delete(number);
  }

  endAll(): void {
    for (const number of [...this.#workers.keys()]) this.end(number);
  }
}
