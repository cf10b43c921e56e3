/**
 * Install events in batches: a large install has thousands, and a message each would keep the page busy. One message at
 * most every frame; of several progress events in it only the last is worth sending.
 */
import type { InstallEvent } from '../call-events.js';

const FRAME_MILLISECONDS = 16;

export class EventBatch {
  readonly #send: (events: InstallEvent[]) => void;
  #events: InstallEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (events: InstallEvent[]) => void) {
    this.#send = send;
  }

  add(event: InstallEvent): void {
    if (event.type === 'progress' && this.#events.at(-1)?.type === 'progress') this.#events.pop();
    this.#events.push(event);
    this.#timer ??= setTimeout(() => this.flush(), FRAME_MILLISECONDS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#events.length > 0) this.#send(this.#events);
    this.#events = [];
  }
}
