/** An unpack worker seen from the coordinator: the page starts and ends it, a port leads to it. */
import type { Response, UnpackWorkerFailure } from '../protocol.js';
import type { ScriptFailure } from '../script-failure.js';
import { batched } from './batches.js';
import { piecesOf } from './buffers.js';
import type { PoolRequest, PoolResponse } from './messages.js';

interface Listeners {
  message(response: PoolResponse): void;
  error(failure: ScriptFailure): void;
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
const started = new Map<number, UnpackWorker>();
let nextNumber = 1;

export class UnpackWorker {
  readonly #number = nextNumber++;
  readonly #port: MessagePort;
  readonly #listeners: Listeners;
  /** To the worker. */
  readonly post = batched<PoolRequest>((requests) => this.#port.postMessage(requests, piecesOf(requests)));

  /** Starts one. It gets its module when that is there. */
  constructor(module: Promise<WebAssembly.Module>, name: string, listeners: Listeners) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#listeners = listeners;
    port1.onmessage = ({ data }: MessageEvent<PoolResponse[]>) => {
      for (const response of data) listeners.message(response);
    };
    started.set(this.#number, this);
    const request: Response = { unpackWorker: { start: this.#number, name, port: port2 } };
    scope.postMessage(request, [port2]);
    const give = (module: WebAssembly.Module) => {
      const request: Response = { unpackWorker: { give: this.#number, module } };
      scope.postMessage(request);
    };
    // Without a module the store is not opened, and all its workers are ended.
    module.then(give, () => {});
  }

  end(): void {
    this.#port.close();
    started.delete(this.#number);
    const request: Response = { unpackWorker: { end: this.#number } };
    scope.postMessage(request);
  }

  fail(failure: ScriptFailure): void {
    this.#listeners.error(failure);
  }

  /** What the page says of a worker. */
  static failed(failure: UnpackWorkerFailure): void {
    started.get(failure.failed)?.fail(failure);
  }
}
