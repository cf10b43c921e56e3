// How much of large bodies a worker holds at a time. Many are under way at once, over HTTP/2 as many as there are jobs, and
// what has come of one waits for the rest of it, and then for its turn to be unpacked.
//
// A body that finds no room is not left standing: what stands unread fills the window that all bodies of an HTTP/2 connection
// share, until the one that all others wait for gets no further. It is given up, and asked for again when there is room.

/** A piece of a large body, and how much of it is read before what has come is taken. */
const PIECE_BYTES = 256 << 10;
const AHEAD_BYTES = 8 << 20;

/** The pieces of a body. @typedef {{ next(allocate: () => ArrayBuffer): Promise<Uint8Array<ArrayBuffer> | undefined> }} Source */
/** How long one waits for them. @typedef {{ pause(): void, resume(): void, end(): void }} Patience */

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

  /** The body, for which there is room. @param {Source} source @param {Patience} waiting
   * @param {Uint8Array<ArrayBuffer>[]} first pieces that came before it was known to be large
   * @param {(error: unknown) => unknown} toFailed */
  receive(source, waiting, first, toFailed) {
    return new LargeBody(this, source, waiting, first, toFailed);
  }

  /** Gives all of it back. */
  release() {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.change(-bytes);
  }
}

/** A large body that comes. It is read on while what has come is unpacked: the browser runs few requests at once, and none of them
 * is to wait for this worker. */
class LargeBody {
  #hold;
  #source;
  #waiting;
  #toFailed;
  /** What has come and was not taken yet. */
  #pieces;
  #bytes;
  #isOver = false;
  /** @type {unknown} */ #failure;
  /** Whoever waits for a piece, or to read on. */
  #wake = () => {};
  #readOn = () => {};
  /** Of the last piece, if nobody keeps that. @type {ArrayBuffer | undefined} */ #scratch;
  /** @type {ArrayBuffer[]} */ #free = [];

  /** @param {Hold} hold @param {Source} source @param {Patience} waiting @param {Uint8Array<ArrayBuffer>[]} first
   * @param {(error: unknown) => unknown} toFailed */
  constructor(hold, source, waiting, first, toFailed) {
    this.#hold = hold;
    this.#source = source;
    this.#waiting = waiting;
    this.#pieces = first;
    this.#bytes = first.reduce((sum, piece) => sum + piece.byteLength, 0);
    this.#toFailed = toFailed;
    void this.#read();
  }

  /** The next piece; `undefined` after the last. Rejects with what `toFailed` makes of an error. @param {boolean} isKept
   * Otherwise it is good until the next is asked for, and what else there is to do has its turn before. */
  async next(isKept) {
    if (!isKept) await turn();
    if (this.#scratch) this.#free.push(this.#scratch);
    this.#scratch = undefined;
    while (this.#pieces.length === 0 && !this.#isOver) {
      await new Promise((resolve) => {
        this.#wake = () => resolve(undefined);
      });
    }
    if (this.#failure) throw this.#failure;
    const piece = this.#pieces.shift();
    this.#bytes -= piece?.byteLength ?? 0;
    // Others are smaller, or the browser's own.
    if (!isKept && piece?.buffer.byteLength === PIECE_BYTES) this.#scratch = piece.buffer;
    this.#readOn();
    return piece;
  }

  /** Nobody asks for more, and all pieces have been let go of. */
  end() {
    this.#waiting.end();
    this.#hold.release();
  }

  async #read() {
    try {
      for (;;) {
        const piece = await this.#source.next(() => this.#free.pop() ?? new ArrayBuffer(PIECE_BYTES));
        if (!piece) break;
        this.#pieces.push(piece);
        this.#bytes += piece.byteLength;
        this.#wake();
        if (this.#bytes >= AHEAD_BYTES) await this.#isTaken();
      }
    } catch (error) {
      this.#failure = this.#toFailed(error);
    }
    this.#isOver = true;
    this.#waiting.end();
    this.#wake();
  }

  /** Resolves when there is less to take. */
  async #isTaken() {
    this.#waiting.pause();
    await new Promise((resolve) => {
      this.#readOn = () => {
        if (this.#bytes < AHEAD_BYTES) resolve(undefined);
      };
    });
    this.#waiting.resume();
  }
}

/** @type {(() => void)[]} */ const turns = [];
/** @type {MessageChannel | undefined} */ let turnChannel;

/** Resolves when what else there is to do has had its turn. */
function turn() {
  if (!turnChannel) {
    turnChannel = new MessageChannel();
    turnChannel.port1.onmessage = () => turns.shift()?.();
  }
  turnChannel.port2.postMessage(undefined);
  return new Promise((resolve) => turns.push(() => resolve(undefined)));
}

/** @param {number} capacity bytes */
export function createRoom(capacity) {
  return new Room(capacity);
}
