/**
 * Turns at the store within this tab. What changes the store goes one after the other; reads go beside it, but for the moments
 * in which packages are moved.
 */
import { stopped } from './stopped.js';

export class Turns {
  readonly #before: () => Promise<void>;
  /** The last of what changes the store. */
  #last: Promise<unknown> = Promise.resolve();
  /** Reads being answered. */
  readonly #reads = new Set<Promise<unknown>>();
  /** Reads wait for this: packages are being moved. */
  #moving: Promise<unknown> | undefined;

  /** `before` is awaited before each change. */
  constructor(before: () => Promise<void>) {
    this.#before = before;
  }

  /** Run `change` after those before it. While it waits for them, `signal` makes it reject at once and never run. */
  take<T>(signal: AbortSignal, change: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(stopped(signal));
      signal.addEventListener('abort', giveUp);
      const begin = async () => {
        signal.removeEventListener('abort', giveUp);
        await this.#before();
        if (signal.aborted) throw stopped(signal);
        return change();
      };
      const turn = this.#last.then(begin, begin);
      this.#last = turn;
      turn.then(resolve, reject);
    });
  }

  /** Run `action` after what is under way: nobody waits for it, and its failure is nobody's. */
  afterwards(action: () => Promise<void>): void {
    this.#last = this.#last.then(action, action).catch(() => {});
  }

  /** Answer a read, beside whatever is under way. */
  async read<T>(question: () => T | Promise<T>): Promise<T> {
    while (this.#moving) await this.#moving;
    const answer = Promise.resolve(question());
    this.#reads.add(answer);
    answer.finally(() => this.#reads.delete(answer)).catch(() => {});
    return answer;
  }

  /** Run `change` when all reads are answered; those to come wait for it. */
  async betweenReads<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.readsEnded().then(change);
    this.#moving = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#moving = undefined;
    }
  }

  /** Resolves when the reads of now are answered. */
  async readsEnded(): Promise<void> {
    await Promise.allSettled(this.#reads);
  }
}
