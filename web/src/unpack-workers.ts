/**
 * The unpack workers of one store, as the page starts them for its coordinator.
 *
 * They are the page's and not the coordinator's own: in Firefox a worker that starts another while the page has just been
 * reloaded may wait for ever in `new Worker`. All the page does is start and end them; what they are told and what they
 * answer goes through a port between them and the coordinator.
 */
import type { UnpackWorkerRequest } from './protocol.js';
import { isForeign, startForeignWorker } from './start-worker.js';

export class UnpackWorkers {
  readonly #workers = new Map<number, Worker>();
  readonly #onError: (number: number, reason: string) => void;

  /** `onError` is told when a worker's script fails, or cannot be loaded. */
  constructor(onError: (number: number, reason: string) => void) {
    this.#onError = onError;
  }

  start({ start: number, name, port }: Extract<UnpackWorkerRequest, { start: number }>): void {
    // Bundlers look for exactly this expression.
    const worker = isForeign(import.meta.url)
      ? startForeignWorker('./worker/unpack.js', import.meta.url, name)
      : new Worker(new URL('./worker/unpack.js', import.meta.url), { type: 'module', name });
    this.#workers.set(number, worker);
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#onError(number, event.message ?? 'its script could not be loaded');
    });
    worker.postMessage({ port }, [port]);
  }

  /** Give one that was started its module. */
  give({ give: number, module }: Extract<UnpackWorkerRequest, { give: number }>): void {
    this.#workers.get(number)?.postMessage({ module });
  }

  end(number: number): void {
    this.#workers.get(number)?.terminate();
    this.#workers.delete(number);
  }

  endAll(): void {
    for (const number of [...this.#workers.keys()]) this.end(number);
  }
}
