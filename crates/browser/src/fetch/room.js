// How much of large bodies a worker holds at a time. Many are under way at once, over HTTP/2 as many as there are jobs, and
// what has come of one waits for the rest of it, and then for its turn to be unpacked.
//
// A body that finds no room is not left standing: what stands unread fills the window that all bodies of an HTTP/2 connection
// share, until the one that all others wait for gets no further. It is given up, and asked for again when there is room.

class Room {
  #taken = 0;
  /** @type {{ hold: Hold, admit: () => void }[]} */ #waiting = [];

  /** @param {number} capacity bytes; one body may go beyond them, however large it is */
  constructor(capacity) {
    this.capacity = capacity;
  }

  /** For one request. */
  hold() {
    return new Hold(this);
  }

  get isFull() {
    return this.#taken >= this.capacity;
  }

  /** @param {number} bytes */
  change(bytes) {
    this.#taken += bytes;
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift()?.admit();
  }

  /** Resolves when there is room for `hold`, which then has `bytes` of it. @param {Hold} hold
   * @param {number | undefined} bytes @param {AbortSignal} signal */
  async wait(hold, bytes, signal) {
    signal.throwIfAborted();
    await new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter.hold !== hold);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', giveUp);
        hold.admits(bytes);
        resolve(undefined);
      };
      signal.addEventListener('abort', giveUp);
      this.#waiting.push({ hold, admit });
      this.change(0);
    });
  }
}

/** What one body has of a room. */
class Hold {
  #room;
  #bytes = 0;

  /** @param {Room} room */
  constructor(room) {
    this.#room = room;
  }

  /** Takes room for a body of so many bytes, unless it has some; `false`: there is none. A body of which nobody knows how long it
   * is takes all of it. @param {number} [bytes] */
  admits(bytes = this.#room.capacity) {
    if (this.#bytes > 0) return true;
    if (this.#room.isFull) return false;
    this.#bytes = bytes;
    this.#room.change(bytes);
    return true;
  }

  /** @param {number | undefined} bytes @param {AbortSignal} signal */
  async wait(bytes, signal) {
    await this.#room.wait(this, bytes, signal);
  }

  /** Gives all of it back. */
  release() {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.change(-bytes);
  }
}

/** @param {number} capacity bytes */
export function createRoom(capacity) {
  return new Room(capacity);
}
