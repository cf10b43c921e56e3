// Whether anything comes from an origin, in whatever worker it is waited for. A browser runs a few requests to an origin at once
// and keeps the others waiting, without saying so: one that has no answer yet does not hang as long as others get on.

/** How long something comes before other workers are told, and how often they are told then, in milliseconds. */
const TELLING = 1000;
const CHANNEL = 'gantry progress';

class Progress {
  /** When something last came, by origin. @type {Map<string, number>} */
  #last = new Map();
  /** Since when something has come without a longer pause, until when, and when others were told. */
  #since = 0;
  #until = Number.NEGATIVE_INFINITY;
  #told = 0;
  /** @type {BroadcastChannel | undefined} */ #others;

  /** Something has come. @param {string} origin */
  note(origin) {
    const now = performance.now();
    if (now - this.#until > TELLING) this.#since = now;
    this.#until = now;
    this.#last.set(origin, now);
    // An install that is over in a second has nobody wait for it.
    if (now - this.#since < TELLING || now - this.#told < TELLING) return;
    this.#told = now;
    this.listen();
    this.#others?.postMessage(origin);
  }

  /** When something last came, on this worker's clock. @param {string} origin */
  latest(origin) {
    return this.#last.get(origin) ?? Number.NEGATIVE_INFINITY;
  }

  /** From now on this worker hears of what others get. */
  listen() {
    if (this.#others || typeof BroadcastChannel === 'undefined') return;
    this.#others = new BroadcastChannel(CHANNEL);
    this.#others.onmessage = ({ data }) => {
      if (typeof data === 'string') this.#last.set(data, performance.now());
    };
  }
}

export function createProgress() {
  return new Progress();
}
