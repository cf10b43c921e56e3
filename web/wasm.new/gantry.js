/* @ts-self-types="./gantry.d.ts" */
const { answerWith, exchange, giveBack } = (() => {
// One request of a worker, from asking to the last byte of its body. In JavaScript because every step of it is the
// browser's: seen from the module each would be a promise of its own, with closures around it and the whole install polled
// when it settles. So the module is woken once for a request.

/** How much is read at once into memory that is used again. */
const BUFFER_BYTES = 64 << 10;
/** A buffer with less room than this is put aside for the next one. */
const LEAST_BYTES = 8 << 10;
/** What comes behind so much of a body is read into larger buffers, which are not used again. */
const LARGE_BYTES = 1 << 20;
/** Buffers that are kept for the bodies to come. */
const KEPT = 32;
/** After this part of its patience a request begins to hear of what other workers get. */
const HEARING = 0.25;
/** The part of its patience that a request has for headers alone, before the body is asked for all the same. */
const FOR_HEADERS = 1 / 3;
/** The longest wait that timers know, in milliseconds. */
const LONGEST_WAIT = 0x7fffffff;

/** Answers to addresses that nobody is asked for. @type {Map<string, typeof fetch>} */
const rehearsed = new Map();

/** Buffers that nobody reads into. @type {ArrayBuffer[]} */
const spare = [];

/** Where a worker holds large bodies. @typedef {ReturnType<typeof import('./room.js').createRoom>} Room */
/** @typedef {ReturnType<Room['hold']>} Hold */
/** @typedef {ReturnType<Hold['receive']>} LargeBody */
/** What comes from origins. @typedef {ReturnType<typeof import('./progress.js').createProgress>} Progress */

/** What became of a request; numbers that fetch.rs knows. @enum {number} */
const Failure = { connect: 0, interrupted: 1, timeout: 2, tooLarge: 3, invalid: 4, stalled: 5 };

class Failed {
  /** @param {number} kind @param {string} message */
  constructor(kind, message) {
    this.kind = kind;
    this.message = message;
  }
}

/** There is no room for a body of so many bytes, if that is known. */
class NoRoom {
  /** @param {number | undefined} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }
}

/** Gives a request up that makes no progress for so many milliseconds. As long as it has no answer, others' progress will do: it
 * may be waiting for them. One timer, however many pieces come. */
class Patience {
  isOver = false;
  #last = performance.now();
  #isAnswered = false;
  #isPaused = false;
  #origin;
  #progress;
  /** @type {ReturnType<typeof setTimeout>} */ #timer;

  /** @param {AbortController} controller @param {string} url @param {number} milliseconds @param {Progress} progress */
  constructor(controller, url, milliseconds, progress) {
    this.#origin = originOf(url);
    this.#progress = progress;
    const look = () => {
      const last = this.#isAnswered ? this.#last : Math.max(this.#last, progress.latest(this.#origin));
      const left = this.#isPaused ? milliseconds : last + milliseconds - performance.now();
      if (left > 0) {
        // Before it is too late.
        progress.listen();
        this.#timer = setTimeout(look, Math.min(left, LONGEST_WAIT));
        return;
      }
      this.isOver = true;
      controller.abort();
    };
    this.#timer = setTimeout(look, Math.min(milliseconds * HEARING, LONGEST_WAIT));
  }

  /** Something has come of it. */
  renew() {
    this.#isAnswered = true;
    this.#last = performance.now();
    this.#progress.note(this.#origin);
  }

  /** Nothing is asked of it now. */
  pause() {
    this.#isPaused = true;
  }

  resume() {
    this.#isPaused = false;
    this.#last = performance.now();
  }

  end() {
    clearTimeout(this.#timer);
  }
}

/** The pieces of a body as they come. */
class Source {
  length = 0;
  isAtEnd = false;
  #reader;
  #isByob;
  #waiting;
  #limit;

  /** @param {ReadableStream} stream @param {Patience} waiting @param {number} limit */
  constructor(stream, waiting, limit) {
    const byob = byteReader(stream);
    this.#isByob = byob !== undefined;
    this.#reader = byob ?? stream.getReader();
    this.#waiting = waiting;
    this.#limit = limit;
  }

  /** The next piece, in a buffer of `allocate` unless the browser allocates them; `undefined` after the last.
   * @param {() => ArrayBuffer} allocate @returns {Promise<Uint8Array<ArrayBuffer> | undefined>} */
  async next(allocate) {
    if (this.isAtEnd) return undefined;
    if (!this.#isByob) return (await this.#read()).value;
    let buffer = allocate();
    let filled = 0;
    do {
      const { value } = await this.#read(new Uint8Array(buffer, filled));
      // A stream that was cancelled gives nothing back.
      if (!value) throw new Failed(Failure.interrupted, 'the body was given up');
      buffer = value.buffer;
      filled += value.byteLength;
    } while (!this.isAtEnd && buffer.byteLength - filled >= LEAST_BYTES);
    return new Uint8Array(buffer, 0, filled);
  }

  /** @param {Uint8Array<ArrayBuffer>} [into]
   * @returns {Promise<{ done: boolean, value?: Uint8Array<ArrayBuffer> | undefined }>} */
  async #read(into) {
    const result = await /** @type {any} */ (this.#reader).read(into);
    this.#waiting.renew();
    this.isAtEnd = result.done;
    this.length += result.value?.byteLength ?? 0;
    if (this.length > this.#limit) throw tooLarge(this.#limit);
    return result;
  }

  cancel() {
    this.#reader.cancel().catch(() => {});
  }
}

/**
 * A response with its body. `pieces`: in order; they have to be given back (`giveBack`) once they are in the module's memory. A
 * large body still comes, and has to be ended. `headers`: a line each. `isWithoutHead`: headers alone did not tell what the
 * answer does.
 * @typedef {{ status: number, headers: string, answeredAfter: number, pieces: Uint8Array[], length: number,
 *   large?: LargeBody | undefined, isWithoutHead?: boolean }} Answer
 */
/** What is asked, as `exchange` is told it.
 * @typedef {{ controller: AbortController, url: string, headers: string, cache: RequestCache, known: string, byHead: boolean,
 *   patience: number, whole: number, limit: number, progress: Progress }} Question */

/**
 * Rejects with a `Failed`. `headers`: a line each. `known`: a header, as a line, that says with status 200 that nothing has
 * changed; the answer is then a 304 without a body. `byHead`: whether the headers are asked for before the body. `patience`: the
 * longest time without any progress, in milliseconds. `whole`: bytes of a body that enters the module's memory. `limit`: bytes of
 * a body that is too large. `progress`: what this worker's requests have in common. `room`: for bodies with more than `whole`.
 * @param {AbortController} controller @param {string} url @param {string} headers @param {RequestCache} cache
 * @param {string} known @param {boolean} byHead @param {number} patience @param {number} whole @param {number} limit
 * @param {Progress} progress @param {Room} [room]
 * @returns {Promise<Answer>}
 */
async function exchange(controller, url, headers, cache, known, byHead, patience, whole, limit, progress, room) {
  const question = { controller, url, headers, cache, known, byHead, patience, whole, limit, progress };
  const hold = room?.hold();
  try {
    const answer = await ask(question, hold);
    const { large } = answer;
    if (!large) hold?.release();
    // Nobody takes what comes for a request that has been dropped.
    else controller.signal.addEventListener('abort', () => large.end(), { once: true });
    return answer;
  } catch (error) {
    hold?.release();
    throw error;
  }
}

/** @param {Question} question @param {Hold} [hold] @returns {Promise<Answer>} */
async function ask(question, hold) {
  let isRefused = false;
  if (question.byHead) {
    const { answer, isOfUse } = await askForHeaders(question);
    if (answer) return answer;
    isRefused = !isOfUse;
  }
  for (;;) {
    try {
      const answer = await askOnce(question, hold);
      if (isRefused && answer.status === 200) answer.isWithoutHead = true;
      return answer;
    } catch (error) {
      if (!(error instanceof NoRoom) || !hold) throw error;
      await hold.wait(error.bytes, question.controller.signal).catch(({ message }) => {
        throw new Failed(Failure.interrupted, message);
      });
    }
  }
}

/** Asks for headers alone. Gives the answer if that is all there is to ask, and else whether they were of use.
 * @param {Question} question @returns {Promise<{ answer?: Answer, isOfUse: boolean }>} */
async function askForHeaders({ controller, url, headers, cache, known, patience, progress }) {
  const own = new AbortController();
  const giveUp = () => own.abort();
  controller.signal.addEventListener('abort', giveUp, { once: true });
  const waiting = new Patience(own, url, patience * FOR_HEADERS, progress);
  const sent = performance.now();
  try {
    const init = { method: 'HEAD', headers: new Headers(pairs(headers)), cache, signal: own.signal };
    const response = await fetch(url, init);
    waiting.renew();
    const answer = answerOf(response, sent);
    if (isKnown(response, known)) return { answer: { ...answer, status: 304 }, isOfUse: true };
    // Who has asked too much does not ask for more.
    if (response.status === 429) return { answer, isOfUse: true };
    return { isOfUse: response.status === 200 };
  } catch {
    // Pages may not see them, or nobody answers: the body's request will tell.
    return { isOfUse: false };
  } finally {
    waiting.end();
    controller.signal.removeEventListener('abort', giveUp);
  }
}

/** @param {Question} question @param {Hold} [hold] @returns {Promise<Answer>} */
async function askOnce({ controller, url, headers, cache, known, patience, whole, limit, progress }, hold) {
  const waiting = new Patience(controller, url, patience, progress);
  let stage = Failure.invalid;
  let isOver = true;
  const toFailed = (/** @type {unknown} */ error) => {
    if (waiting.isOver) {
      const kind = stage === Failure.interrupted ? Failure.stalled : Failure.timeout;
      return new Failed(kind, `no progress for ${patience} ms`);
    }
    if (error instanceof Failed || error instanceof NoRoom) return error;
    return new Failed(stage, error instanceof Error ? error.message : String(error));
  };
  try {
    const init = { headers: new Headers(pairs(headers)), cache, signal: controller.signal };
    stage = Failure.connect;
    const sent = performance.now();
    const response = await (rehearsed.get(url) ?? fetch)(url, init);
    waiting.renew();
    stage = Failure.interrupted;
    const answer = answerOf(response, sent);
    if (isKnown(response, known)) {
      // Headers alone have told something else.
      if (cache === 'no-store') answer.isWithoutHead = true;
      else {
        // The body, which would be read and decompressed from the browser's cache, is not wanted.
        controller.abort();
        return { ...answer, status: 304 };
      }
    }
    const announced = Number(response.headers.get('content-length') ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(announced) && announced > limit) throw tooLarge(limit);
    if (!response.body) return answer;
    const source = new Source(response.body, waiting, limit);
    const most = hold ? whole : Number.POSITIVE_INFINITY;
    const pieces = await beginning(source, announced, most);
    if (source.isAtEnd) return Object.assign(answer, { pieces, length: source.length });
    const large = admitted(hold, source, announced);
    isOver = false;
    return Object.assign(answer, { large: large.receive(source, waiting, pieces, toFailed) });
  } catch (error) {
    throw toFailed(error);
  } finally {
    if (isOver) waiting.end();
  }
}

/** What a response says before its body. @param {Response} response @param {number} sent @returns {Answer} */
function answerOf({ status, headers }, sent) {
  return { status, headers: lines(headers), answeredAfter: performance.now() - sent, pieces: [], length: 0 };
}

/** Whether a response has the header with which nothing has changed. Tags are compared as `If-None-Match` compares them (RFC 9110,
 * section 13.1.2). @param {Response} response @param {string} known */
function isKnown({ status, headers }, known) {
  const [name, value] = pairs(known)[0] ?? [];
  const strong = (/** @type {string | null | undefined} */ tag) => tag?.replace(/^W\//, '');
  return name !== undefined && status === 200 && strong(headers.get(name)) === strong(value);
}

/** The hold of a large body; fails where there is no room for one. @param {Hold | undefined} hold @param {Source} source
 * @param {number} announced */
function admitted(hold, source, announced) {
  const expected = Number.isFinite(announced) ? announced : undefined;
  if (hold?.admits(expected)) return hold;
  source.cancel();
  throw new NoRoom(expected);
}

/** From now on `url` is answered with `bytes` instead of being asked for. @param {string} url @param {Uint8Array} bytes */
function answerWith(url, bytes) {
  // They are part of the module's memory.
  const body = bytes.slice();
  const headers = { 'content-length': String(body.byteLength) };
  rehearsed.set(url, async () => {
    // As an answer of somebody else, it comes when what else there is to do has been done.
    await new Promise((resolve) => setTimeout(resolve));
    return new Response(body, { headers });
  });
}

/** Takes back the buffers of a body that has been copied. Others stay until garbage is collected: those that are detached do so as
 * well, and V8 counts them no more. @param {Uint8Array[]} pieces */
function giveBack(pieces) {
  for (const piece of pieces) {
    const buffer = /** @type {ArrayBuffer} */ (piece.buffer);
    if (buffer.byteLength === BUFFER_BYTES && spare.length < KEPT) spare.push(buffer);
  }
}

/** Reads a body to its end, unless it has more than `most` bytes. In buffers that are used again: of pieces that the browser
 * allocates a worker holds tens of megabytes until its garbage is collected. @param {Source} source @param {number} announced
 * @param {number} most */
async function beginning(source, announced, most) {
  /** @type {Uint8Array<ArrayBuffer>[]} */ const pieces = [];
  const allocate = () =>
    source.length < LARGE_BYTES ? (spare.pop() ?? new ArrayBuffer(BUFFER_BYTES)) : new ArrayBuffer(LARGE_BYTES);
  const expected = Number.isFinite(announced) ? announced : 0;
  while (!source.isAtEnd && Math.max(source.length, expected) <= most) {
    const piece = await source.next(allocate);
    if (piece) pieces.push(piece);
  }
  return pieces;
}

/** Fails where the browser has no such readers for bodies. @param {ReadableStream} stream */
function byteReader(stream) {
  try {
    return stream.getReader({ mode: 'byob' });
  } catch {
    return undefined;
  }
}

/** The origin of an absolute address. @param {string} url */
function originOf(url) {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  return path === -1 ? url : url.slice(0, path);
}

/** @param {number} limit */
const tooLarge = (limit) => new Failed(Failure.tooLarge, `the body is larger than ${limit} bytes`);

/** @param {string} text @returns {[string, string][]} */
function pairs(text) {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1)];
  });
}

/** @param {Headers} headers */
function lines(headers) {
  let text = '';
  for (const [name, value] of headers) text += `${name}:${value}\n`;
  return text;
}
return { answerWith, exchange, giveBack };
})();
const import1 = (() => {
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
function createRoom(capacity) {
  return new Room(capacity);
}
return { createRoom };
})();
const import2 = (() => {
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

function createProgress() {
  return new Progress();
}
return { createProgress };
})();


/**
 * An archive that is being made.
 */
export class ArchiveStream {
    static __wrap(ptr) {
        const obj = Object.create(ArchiveStream.prototype);
        obj.__wbg_ptr = ptr;
        ArchiveStreamFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        ArchiveStreamFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_archivestream_free(ptr, 0);
    }
    /**
     * Lets go of what it is read from: the next part needs another.
     */
    letGo() {
        wasm.archivestream_letGo(this.__wbg_ptr);
    }
    /**
     * The next part, or `undefined` after the last. After a failure there is none.
     * @returns {Promise<Uint8Array | undefined>}
     */
    next() {
        const ret = wasm.archivestream_next(this.__wbg_ptr);
        return ret;
    }
    /**
     * From now on it is read from the files of `store`, as they are now.
     * @param {string} store
     * @returns {Promise<void>}
     */
    reopen(store) {
        const ptr0 = passStringToWasm0(store, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.archivestream_reopen(this.__wbg_ptr, ptr0, len0);
        return ret;
    }
}
if (Symbol.dispose) ArchiveStream.prototype[Symbol.dispose] = ArchiveStream.prototype.free;

/**
 * One open store and the projects in it.
 */
export class Coordinator {
    static __wrap(ptr) {
        const obj = Object.create(Coordinator.prototype);
        obj.__wbg_ptr = ptr;
        CoordinatorFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        CoordinatorFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_coordinator_free(ptr, 0);
    }
    /**
     * A tree as an archive (`tar` or `zip`), in parts. It is the tree of now, whatever is installed meanwhile.
     * @param {string} project
     * @param {string} format
     * @returns {ArchiveStream}
     */
    archive(project, format) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(format, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_archive(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ArchiveStream.__wrap(ret[0]);
    }
    /**
     * Removes everything of this store. Must not run beside an install.
     * @returns {Promise<void>}
     */
    clear() {
        const ret = wasm.coordinator_clear(this.__wbg_ptr);
        return ret;
    }
    /**
     * Lets go of the store.
     * @returns {Promise<void>}
     */
    close() {
        const ptr = this.__destroy_into_raw();
        const ret = wasm.coordinator_close(ptr);
        return ret;
    }
    /**
     * The peer conflicts that an install has, as JSON.
     * @param {any} request
     * @param {AbortSignal} signal
     * @returns {Promise<string>}
     */
    conflicts(request, signal) {
        const ret = wasm.coordinator_conflicts(this.__wbg_ptr, request, signal);
        return ret;
    }
    /**
     * From now on this store is what `archive` is read from.
     * @param {ArchiveStream} archive
     */
    continueArchive(archive) {
        _assertClass(archive, ArchiveStream);
        wasm.coordinator_continueArchive(this.__wbg_ptr, archive.__wbg_ptr);
    }
    /**
     * Writes the journal anew, without what has been replaced or removed since. Must not run beside an install, nor beside a
     * read.
     * @returns {Promise<void>}
     */
    forgetPast() {
        const ret = wasm.coordinator_forgetPast(this.__wbg_ptr);
        return ret;
    }
    /**
     * Whether it would pay to [forget](Self::forget_past) the journal's past.
     * @returns {boolean}
     */
    hasLongPast() {
        const ret = wasm.coordinator_hasLongPast(this.__wbg_ptr);
        return ret !== 0;
    }
    /**
     * Installs a project. It is there, and the one before under its name is gone, when the promise resolves; on any
     * failure the one before stays. `on_event` is missing where nobody listens.
     * @param {any} request
     * @param {Function | null | undefined} on_event
     * @param {AbortSignal} signal
     * @returns {Promise<any>}
     */
    install(request, on_event, signal) {
        const ret = wasm.coordinator_install(this.__wbg_ptr, request, isLikeNone(on_event) ? 0 : addToExternrefTable0(on_event), signal);
        return ret;
    }
    /**
     * Whether the store's files are there, and not removed by the browser or its user.
     * @returns {Promise<boolean>}
     */
    isThere() {
        const ret = wasm.coordinator_isThere(this.__wbg_ptr);
        return ret;
    }
    /**
     * Every file and link of a tree.
     * @param {string} project
     * @returns {any}
     */
    listing(project) {
        const ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.coordinator_listing(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Where a file's bytes are.
     * @param {string} project
     * @param {string} path
     * @returns {any}
     */
    locate(project, path) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_locate(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * What is at a path, a link at its end not followed.
     * @param {string} project
     * @param {string} path
     * @returns {any}
     */
    lstat(project, path) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_lstat(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Name of a file that this store has, and no other one.
     * @returns {string}
     */
    mark() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.coordinator_mark(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Opens the store in `folder`, or makes it.
     * @param {any} options
     * @param {any} pool
     * @param {FileSystemDirectoryHandle} folder
     * @returns {Promise<Coordinator>}
     */
    static open(options, pool, folder) {
        const ret = wasm.coordinator_open(options, pool, folder);
        return ret;
    }
    /**
     * The project as an earlier install left it, or `undefined`.
     * @param {string} name
     * @returns {Promise<any>}
     */
    project(name) {
        const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.coordinator_project(this.__wbg_ptr, ptr0, len0);
        return ret;
    }
    /**
     * Names of all projects, sorted.
     * @returns {string[]}
     */
    projects() {
        const ret = wasm.coordinator_projects(this.__wbg_ptr);
        if (ret[3]) {
            throw takeFromExternrefTable0(ret[2]);
        }
        var v1 = getArrayJsValueFromWasm0(ret[0], ret[1]);
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * Removes what no project needs. Must not run beside an install, nor beside a read.
     * @returns {Promise<any>}
     */
    prune() {
        const ret = wasm.coordinator_prune(this.__wbg_ptr);
        return ret;
    }
    /**
     * Bytes of a file.
     * @param {string} project
     * @param {string} path
     * @returns {Promise<Uint8Array>}
     */
    readFile(project, path) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_readFile(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        return ret;
    }
    /**
     * Bytes of several files; `undefined` for what is not there or not a file.
     * @param {string} project
     * @param {string[]} paths
     * @returns {Promise<Array<any>>}
     */
    readMany(project, paths) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayJsValueToWasm0(paths, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__externref_drop_slice(ptr1, len1); wasm.__wbindgen_free(ptr1, len1 * 4, 4); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_readMany(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        return ret;
    }
    /**
     * Parts of packages, each by its package's key, an offset and a length; places are those that `locate` and `listing` give.
     * @param {string[]} keys
     * @param {Float64Array | number[]} offsets
     * @param {Float64Array | number[]} sizes
     * @returns {Promise<Array<any>>}
     */
    readRanges(keys, offsets, sizes) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArrayJsValueToWasm0(keys, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(offsets, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArrayF64ToWasm0(sizes, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 8, 8); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__externref_drop_slice(ptr0, len0); wasm.__wbindgen_free(ptr0, len0 * 4, 4); }
            throw e;
        }
        const ret = wasm.coordinator_readRanges(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2);
        return ret;
    }
    /**
     * Names in a folder, sorted, each with what it is; or paths of all that is below it.
     * @param {string} project
     * @param {string} path
     * @param {boolean} recursive
     * @returns {any}
     */
    readdir(project, path, recursive) {
        const val3 = +recursive;
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_readdir(this.__wbg_ptr, ptr0, len0, ptr1, len1, val3);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Target of a link.
     * @param {string} project
     * @param {string} path
     * @returns {string}
     */
    readlink(project, path) {
        let deferred4_0;
        let deferred4_1;
        try {
            let ptr0, len0, ptr1, len1;
            try {
                ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len0 = WASM_VECTOR_LEN;
                ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len1 = WASM_VECTOR_LEN;
            } catch (e) {
                if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
                if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
                throw e;
            }
            const ret = wasm.coordinator_readlink(this.__wbg_ptr, ptr0, len0, ptr1, len1);
            var ptr3 = ret[0];
            var len3 = ret[1];
            if (ret[3]) {
                ptr3 = 0; len3 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred4_0 = ptr3;
            deferred4_1 = len3;
            return getStringFromWasm0(ptr3, len3);
        } finally {
            wasm.__wbindgen_free(deferred4_0, deferred4_1, 1);
        }
    }
    /**
     * The path without links.
     * @param {string} project
     * @param {string} path
     * @returns {string}
     */
    realpath(project, path) {
        let deferred4_0;
        let deferred4_1;
        try {
            let ptr0, len0, ptr1, len1;
            try {
                ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len0 = WASM_VECTOR_LEN;
                ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len1 = WASM_VECTOR_LEN;
            } catch (e) {
                if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
                if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
                throw e;
            }
            const ret = wasm.coordinator_realpath(this.__wbg_ptr, ptr0, len0, ptr1, len1);
            var ptr3 = ret[0];
            var len3 = ret[1];
            if (ret[3]) {
                ptr3 = 0; len3 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred4_0 = ptr3;
            deferred4_1 = len3;
            return getStringFromWasm0(ptr3, len3);
        } finally {
            wasm.__wbindgen_free(deferred4_0, deferred4_1, 1);
        }
    }
    /**
     * What removing every project would change: those who watch them are told when the store is cleared.
     * @returns {any}
     */
    removals() {
        const ret = wasm.coordinator_removals(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Forgets a project; what was installed of it, or `undefined` where there is none of that name. Must not run beside an
     * install.
     * @param {string} name
     * @returns {any}
     */
    removeProject(name) {
        const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.coordinator_removeProject(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * What is at a path, links followed.
     * @param {string} project
     * @param {string} path
     * @returns {any}
     */
    stat(project, path) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.coordinator_stat(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * The digest of the whole tree, equal on every platform for the same tree.
     * @param {string} project
     * @returns {Promise<string>}
     */
    treeDigest(project) {
        const ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.coordinator_treeDigest(this.__wbg_ptr, ptr0, len0);
        return ret;
    }
    /**
     * What is stored.
     * @returns {any}
     */
    usage() {
        const ret = wasm.coordinator_usage(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Reads everything that is stored and drops what is damaged. Must not run beside an install.
     * @param {AbortSignal} signal
     * @returns {Promise<any>}
     */
    verify(signal) {
        const ret = wasm.coordinator_verify(this.__wbg_ptr, signal);
        return ret;
    }
    /**
     * Why the packages that `query` names are in the tree, as JSON.
     * @param {string} project
     * @param {string} query
     * @returns {string}
     */
    why(project, query) {
        let deferred4_0;
        let deferred4_1;
        try {
            let ptr0, len0, ptr1, len1;
            try {
                ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len0 = WASM_VECTOR_LEN;
                ptr1 = passStringToWasm0(query, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len1 = WASM_VECTOR_LEN;
            } catch (e) {
                if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
                if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
                throw e;
            }
            const ret = wasm.coordinator_why(this.__wbg_ptr, ptr0, len0, ptr1, len1);
            var ptr3 = ret[0];
            var len3 = ret[1];
            if (ret[3]) {
                ptr3 = 0; len3 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred4_0 = ptr3;
            deferred4_1 = len3;
            return getStringFromWasm0(ptr3, len3);
        } finally {
            wasm.__wbindgen_free(deferred4_0, deferred4_1, 1);
        }
    }
}
if (Symbol.dispose) Coordinator.prototype[Symbol.dispose] = Coordinator.prototype.free;

/**
 * An open project.
 */
export class Reader {
    static __wrap(ptr) {
        const obj = Object.create(Reader.prototype);
        obj.__wbg_ptr = ptr;
        ReaderFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        ReaderFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_reader_free(ptr, 0);
    }
    /**
     * The tree as an archive (`tar` or `zip`), in parts.
     * @param {string} format
     * @returns {ArchiveStream}
     */
    archive(format) {
        const ptr0 = passStringToWasm0(format, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_archive(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ArchiveStream.__wrap(ret[0]);
    }
    /**
     * Lets go of the packs.
     */
    close() {
        const ptr = this.__destroy_into_raw();
        wasm.reader_close(ptr);
    }
    /**
     * Every file and link of the tree.
     * @returns {any}
     */
    listing() {
        const ret = wasm.reader_listing(this.__wbg_ptr);
        return ret;
    }
    /**
     * Where a file's bytes are.
     * @param {string} path
     * @returns {any}
     */
    locate(path) {
        const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_locate(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Text of the project's lock file.
     * @returns {string}
     */
    lockfile() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.reader_lockfile(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * What is at a path, a link at its end not followed.
     * @param {string} path
     * @returns {any}
     */
    lstat(path) {
        const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_lstat(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * How the packs are read: `access handles` or `snapshots`.
     * @returns {string}
     */
    method() {
        let deferred1_0;
        let deferred1_1;
        try {
            const ret = wasm.reader_method(this.__wbg_ptr);
            deferred1_0 = ret[0];
            deferred1_1 = ret[1];
            return getStringFromWasm0(ret[0], ret[1]);
        } finally {
            wasm.__wbindgen_free(deferred1_0, deferred1_1, 1);
        }
    }
    /**
     * Opens a project of a store.
     * @param {any} options
     * @returns {Promise<Reader>}
     */
    static open(options) {
        const ret = wasm.reader_open(options);
        return ret;
    }
    /**
     * Bytes of a file.
     * @param {string} path
     * @returns {Uint8Array}
     */
    readFile(path) {
        const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_readFile(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Parts of packages, each by its package's key, an offset and a length.
     * @param {string[]} keys
     * @param {Float64Array | number[]} offsets
     * @param {Float64Array | number[]} sizes
     * @returns {Array<any>}
     */
    readRanges(keys, offsets, sizes) {
        let ptr0, len0, ptr1, len1, ptr2, len2;
        try {
            ptr0 = passArrayJsValueToWasm0(keys, wasm.__wbindgen_malloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = passArrayF64ToWasm0(offsets, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
            ptr2 = passArrayF64ToWasm0(sizes, wasm.__wbindgen_malloc);
            len2 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr2) { wasm.__wbindgen_free(ptr2, len2 * 8, 8); }
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 8, 8); }
            if (ptr0) { wasm.__externref_drop_slice(ptr0, len0); wasm.__wbindgen_free(ptr0, len0 * 4, 4); }
            throw e;
        }
        const ret = wasm.reader_readRanges(this.__wbg_ptr, ptr0, len0, ptr1, len1, ptr2, len2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Names in a folder, sorted, each with what it is; or paths of all that is below it.
     * @param {string} path
     * @param {boolean} recursive
     * @returns {any}
     */
    readdir(path, recursive) {
        const val2 = +recursive;
        const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_readdir(this.__wbg_ptr, ptr0, len0, val2);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Target of a link.
     * @param {string} path
     * @returns {string}
     */
    readlink(path) {
        let deferred3_0;
        let deferred3_1;
        try {
            const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len0 = WASM_VECTOR_LEN;
            const ret = wasm.reader_readlink(this.__wbg_ptr, ptr0, len0);
            var ptr2 = ret[0];
            var len2 = ret[1];
            if (ret[3]) {
                ptr2 = 0; len2 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred3_0 = ptr2;
            deferred3_1 = len2;
            return getStringFromWasm0(ptr2, len2);
        } finally {
            wasm.__wbindgen_free(deferred3_0, deferred3_1, 1);
        }
    }
    /**
     * The path without links.
     * @param {string} path
     * @returns {string}
     */
    realpath(path) {
        let deferred3_0;
        let deferred3_1;
        try {
            const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len0 = WASM_VECTOR_LEN;
            const ret = wasm.reader_realpath(this.__wbg_ptr, ptr0, len0);
            var ptr2 = ret[0];
            var len2 = ret[1];
            if (ret[3]) {
                ptr2 = 0; len2 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred3_0 = ptr2;
            deferred3_1 = len2;
            return getStringFromWasm0(ptr2, len2);
        } finally {
            wasm.__wbindgen_free(deferred3_0, deferred3_1, 1);
        }
    }
    /**
     * What is at a path, links followed.
     * @param {string} path
     * @returns {any}
     */
    stat(path) {
        const ptr0 = passStringToWasm0(path, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.reader_stat(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * The digest of the whole tree, equal on every platform for the same tree. Until it resolves the reader must not be closed.
     * @returns {Promise<string>}
     */
    treeDigest() {
        const ret = wasm.reader_treeDigest(this.__wbg_ptr);
        return ret;
    }
}
if (Symbol.dispose) Reader.prototype[Symbol.dispose] = Reader.prototype.free;

/**
 * A store as its journal describes it.
 */
export class Records {
    static __wrap(ptr) {
        const obj = Object.create(Records.prototype);
        obj.__wbg_ptr = ptr;
        RecordsFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        RecordsFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_records_free(ptr, 0);
    }
    /**
     * Reads those of a store. Where there is none nothing is recorded.
     * @param {string} store
     * @returns {Promise<Records>}
     */
    static open(store) {
        const ptr0 = passStringToWasm0(store, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.records_open(ptr0, len0);
        return ret;
    }
    /**
     * The project as its last install left it, or `undefined`.
     * @param {string} name
     * @returns {any}
     */
    project(name) {
        const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
        const len0 = WASM_VECTOR_LEN;
        const ret = wasm.records_project(this.__wbg_ptr, ptr0, len0);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Names of all projects, sorted.
     * @returns {string[]}
     */
    projects() {
        const ret = wasm.records_projects(this.__wbg_ptr);
        var v1 = getArrayJsValueFromWasm0(ret[0], ret[1]);
        wasm.__wbindgen_free(ret[0], ret[1] * 4, 4);
        return v1;
    }
    /**
     * What is stored.
     * @returns {any}
     */
    usage() {
        const ret = wasm.records_usage(this.__wbg_ptr);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return takeFromExternrefTable0(ret[0]);
    }
    /**
     * Why the packages that `query` names are in the tree, as JSON.
     * @param {string} project
     * @param {string} query
     * @returns {string}
     */
    why(project, query) {
        let deferred4_0;
        let deferred4_1;
        try {
            let ptr0, len0, ptr1, len1;
            try {
                ptr0 = passStringToWasm0(project, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len0 = WASM_VECTOR_LEN;
                ptr1 = passStringToWasm0(query, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
                len1 = WASM_VECTOR_LEN;
            } catch (e) {
                if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
                if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
                throw e;
            }
            const ret = wasm.records_why(this.__wbg_ptr, ptr0, len0, ptr1, len1);
            var ptr3 = ret[0];
            var len3 = ret[1];
            if (ret[3]) {
                ptr3 = 0; len3 = 0;
                throw takeFromExternrefTable0(ret[2]);
            }
            deferred4_0 = ptr3;
            deferred4_1 = len3;
            return getStringFromWasm0(ptr3, len3);
        } finally {
            wasm.__wbindgen_free(deferred4_0, deferred4_1, 1);
        }
    }
}
if (Symbol.dispose) Records.prototype[Symbol.dispose] = Records.prototype.free;

/**
 * Fetches, verifies and unpacks packages into packs that are this worker's alone.
 *
 * Several jobs may be under way: they wait for the network side by side, and unpack one after the other, but for a large one
 * that is unpacked while it comes.
 */
export class Unpacker {
    static __wrap(ptr) {
        const obj = Object.create(Unpacker.prototype);
        obj.__wbg_ptr = ptr;
        UnpackerFinalization.register(obj, obj.__wbg_ptr, obj);
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        this.__wbg_ptr = 0;
        UnpackerFinalization.unregister(this);
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.__wbg_unpacker_free(ptr, 0);
    }
    /**
     * Lets go of the packs.
     */
    close() {
        const ptr = this.__destroy_into_raw();
        wasm.unpacker_close(ptr);
    }
    /**
     * When it returns, all packages of finished jobs are on durable storage.
     */
    flush() {
        const ret = wasm.unpacker_flush(this.__wbg_ptr);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
    /**
     * Gives up all jobs that are under way.
     */
    giveUp() {
        wasm.unpacker_giveUp(this.__wbg_ptr);
    }
    /**
     * Opens the packs: cuts off what was never recorded in them, or, in place of a worker that was lost, goes on behind what
     * that one wrote. `folder` is the store's.
     * @param {any} options
     * @param {FileSystemDirectoryHandle} folder
     * @returns {Promise<Unpacker>}
     */
    static open(options, folder) {
        const ret = wasm.unpacker_open(options, folder);
        return ret;
    }
    /**
     * Resolves when no pack is being opened, after which they can be let go of.
     * @returns {Promise<void>}
     */
    openingEnded() {
        const ret = wasm.unpacker_openingEnded(this.__wbg_ptr);
        return ret;
    }
    /**
     * Part of one of this worker's packs, as bytes.
     * @param {number} pack
     * @param {number} offset
     * @param {number} length
     * @returns {Promise<Uint8Array>}
     */
    read(pack, offset, length) {
        const ret = wasm.unpacker_read(this.__wbg_ptr, pack, offset, length);
        return ret;
    }
    /**
     * Runs one job to its end, which may be that all are given up.
     * @param {string} job
     * @param {Uint8Array | number[] | null} [body]
     * @returns {Promise<any>}
     */
    unpack(job, body) {
        let ptr0, len0, ptr1, len1;
        try {
            ptr0 = passStringToWasm0(job, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            len0 = WASM_VECTOR_LEN;
            ptr1 = isLikeNone(body) ? 0 : passArray8ToWasm0(body, wasm.__wbindgen_malloc);
            len1 = WASM_VECTOR_LEN;
        } catch (e) {
            if (ptr1) { wasm.__wbindgen_free(ptr1, len1 * 1, 1); }
            if (ptr0) { wasm.__wbindgen_free(ptr0, len0 * 1, 1); }
            throw e;
        }
        const ret = wasm.unpacker_unpack(this.__wbg_ptr, ptr0, len0, ptr1, len1);
        return ret;
    }
}
if (Symbol.dispose) Unpacker.prototype[Symbol.dispose] = Unpacker.prototype.free;

/**
 * The folder of the store `name`, made where it is missing.
 * @param {string} name
 * @returns {Promise<FileSystemDirectoryHandle>}
 */
export function openStoreFolder(name) {
    const ptr0 = passStringToWasm0(name, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
    const len0 = WASM_VECTOR_LEN;
    const ret = wasm.openStoreFolder(ptr0, len0);
    return ret;
}

/**
 * From now on this worker answers by itself what it asks of the registry at `registry` (which ends with a slash): the documents
 * and tarballs of the packages `a`, `b` and `c`.
 * @param {string} registry
 */
export function rehearseRegistry(registry) {
    const ptr0 = passStringToWasm0(registry, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
    const len0 = WASM_VECTOR_LEN;
    wasm.rehearseRegistry(ptr0, len0);
}

/**
 * Unpacks a small package and forgets it.
 */
export function rehearseUnpacking() {
    wasm.rehearseUnpacking();
}
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        __wbg_Error_208446807d0d1e30: function(arg0, arg1) {
            const ret = Error(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_Number_ff192a72a0dcdf6d: function(arg0) {
            const ret = Number(arg0);
            return ret;
        },
        __wbg_String_8564e559799eccda: function(arg0, arg1) {
            const ret = String(arg1);
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg___wbindgen_bigint_get_as_i64_11da4b52cd0aedef: function(arg0, arg1) {
            const v = arg1;
            const ret = typeof(v) === 'bigint' ? v : undefined;
            getDataViewMemory0().setBigInt64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? BigInt(0) : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg___wbindgen_boolean_get_4f1baf9a00be3c74: function(arg0) {
            const v = arg0;
            const ret = typeof(v) === 'boolean' ? v : undefined;
            return isLikeNone(ret) ? 0xFFFFFF : ret ? 1 : 0;
        },
        __wbg___wbindgen_debug_string_f249a2a76caa9a55: function(arg0, arg1) {
            const ret = debugString(arg1);
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg___wbindgen_in_3f58a9d3b3a7eed2: function(arg0, arg1) {
            const ret = arg0 in arg1;
            return ret;
        },
        __wbg___wbindgen_is_bigint_5fa10641e039d3ef: function(arg0) {
            const ret = typeof(arg0) === 'bigint';
            return ret;
        },
        __wbg___wbindgen_is_falsy_d864b623500ae65d: function(arg0) {
            const ret = !arg0;
            return ret;
        },
        __wbg___wbindgen_is_function_741ff2bb612836f5: function(arg0) {
            const ret = typeof(arg0) === 'function';
            return ret;
        },
        __wbg___wbindgen_is_object_8b968c3ab8e96595: function(arg0) {
            const val = arg0;
            const ret = typeof(val) === 'object' && val !== null;
            return ret;
        },
        __wbg___wbindgen_is_string_fc456fee5d3317de: function(arg0) {
            const ret = typeof(arg0) === 'string';
            return ret;
        },
        __wbg___wbindgen_is_undefined_be5b34249ff1fc15: function(arg0) {
            const ret = arg0 === undefined;
            return ret;
        },
        __wbg___wbindgen_jsval_eq_38d7bfbe4cc84039: function(arg0, arg1) {
            const ret = arg0 === arg1;
            return ret;
        },
        __wbg___wbindgen_jsval_loose_eq_b2f214e2e4b30e36: function(arg0, arg1) {
            const ret = arg0 == arg1;
            return ret;
        },
        __wbg___wbindgen_number_get_934b640d0889af78: function(arg0, arg1) {
            const obj = arg1;
            const ret = typeof(obj) === 'number' ? obj : undefined;
            getDataViewMemory0().setFloat64((arg0 >>> 0) + 8 * 1, isLikeNone(ret) ? 0 : ret, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, !isLikeNone(ret), true);
        },
        __wbg___wbindgen_string_get_7ce8eee7fd327545: function(arg0, arg1) {
            const obj = arg1;
            const ret = typeof(obj) === 'string' ? obj : undefined;
            var ptr1 = isLikeNone(ret) ? 0 : passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            var len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg___wbindgen_throw_4c88d8bf264fd984: function(arg0, arg1) {
            throw new Error(getStringFromWasm0(arg0, arg1));
        },
        __wbg__wbg_cb_unref_09736879a3f67559: function(arg0) {
            arg0._wbg_cb_unref();
        },
        __wbg_abort_f8d1589eb0c65ee2: function(arg0) {
            arg0.abort();
        },
        __wbg_aborted_31456edf1be00084: function(arg0) {
            const ret = arg0.aborted;
            return ret;
        },
        __wbg_answerWith_82cc536dd5bbf625: function(arg0, arg1, arg2, arg3) {
            answerWith(getStringFromWasm0(arg0, arg1), getArrayU8FromWasm0(arg2, arg3));
        },
        __wbg_answeredAfter_e49f23791084860d: function(arg0) {
            const ret = arg0.answeredAfter;
            return ret;
        },
        __wbg_arrayBuffer_5abbcb61bd48f427: function(arg0) {
            const ret = arg0.arrayBuffer();
            return ret;
        },
        __wbg_call_40b008ba32f73991: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.call(arg1);
            return ret;
        }, arguments); },
        __wbg_call_a410eb4b59ed5965: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.call(arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_clearTimeout_d859c3fbfd863ce7: function(arg0, arg1) {
            arg0.clearTimeout(arg1);
        },
        __wbg_close_264222edec0e3164: function(arg0) {
            arg0.close();
        },
        __wbg_close_73a6dddcd9e859ba: function() { return handleError(function (arg0) {
            const ret = arg0.close();
            return ret;
        }, arguments); },
        __wbg_coordinator_new: function(arg0) {
            const ret = Coordinator.__wrap(arg0);
            return ret;
        },
        __wbg_createSyncAccessHandle_9fc3d780677bd197: function(arg0) {
            const ret = arg0.createSyncAccessHandle();
            return ret;
        },
        __wbg_createSyncAccessHandle_f8691a197ab6f5a5: function(arg0, arg1) {
            const ret = arg0.createSyncAccessHandle(arg1);
            return ret;
        },
        __wbg_done_57e08d0be6e30c02: function(arg0) {
            const ret = arg0.done;
            return ret;
        },
        __wbg_end_14fe72f03c2c18f0: function(arg0) {
            arg0.end();
        },
        __wbg_entries_7bb1459bd9b5c2b9: function(arg0) {
            const ret = Object.entries(arg0);
            return ret;
        },
        __wbg_exchange_4171baf11001193b: function(arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11, arg12, arg13, arg14) {
            const ret = exchange(arg0, getStringFromWasm0(arg1, arg2), getStringFromWasm0(arg3, arg4), getStringFromWasm0(arg5, arg6), getStringFromWasm0(arg7, arg8), arg9 !== 0, arg10, arg11, arg12, arg13, arg14);
            return ret;
        },
        __wbg_flush_1ef1fe43971dfd83: function() { return handleError(function (arg0) {
            const ret = arg0.flush();
            return ret;
        }, arguments); },
        __wbg_flush_34f73503687e5840: function() { return handleError(function (arg0) {
            arg0.flush();
        }, arguments); },
        __wbg_getDirectoryHandle_7250477470a7f35b: function(arg0, arg1, arg2, arg3) {
            const ret = arg0.getDirectoryHandle(getStringFromWasm0(arg1, arg2), arg3);
            return ret;
        },
        __wbg_getDirectoryHandle_9141f777b5bf40ff: function(arg0, arg1, arg2) {
            const ret = arg0.getDirectoryHandle(getStringFromWasm0(arg1, arg2));
            return ret;
        },
        __wbg_getDirectory_50787a69f3a13110: function(arg0) {
            const ret = arg0.getDirectory();
            return ret;
        },
        __wbg_getFileHandle_1cb5562219601c4f: function(arg0, arg1, arg2, arg3) {
            const ret = arg0.getFileHandle(getStringFromWasm0(arg1, arg2), arg3);
            return ret;
        },
        __wbg_getFileHandle_d551aa420ea57cd0: function(arg0, arg1, arg2) {
            const ret = arg0.getFileHandle(getStringFromWasm0(arg1, arg2));
            return ret;
        },
        __wbg_getFile_ebc6243a91493807: function(arg0) {
            const ret = arg0.getFile();
            return ret;
        },
        __wbg_getSize_c72004a2a12e972a: function() { return handleError(function (arg0) {
            const ret = arg0.getSize();
            return ret;
        }, arguments); },
        __wbg_get_2080c49015e35254: function() { return handleError(function (arg0, arg1) {
            const ret = Reflect.get(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_get_635eea311fa1a291: function() { return handleError(function (arg0, arg1) {
            const ret = Reflect.get(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_get_d7176cfb76d71114: function(arg0, arg1) {
            const ret = arg0[arg1 >>> 0];
            return ret;
        },
        __wbg_get_unchecked_e6325ad374eff861: function(arg0, arg1) {
            const ret = arg0[arg1 >>> 0];
            return ret;
        },
        __wbg_get_with_ref_key_fc601247060b7204: function(arg0, arg1) {
            const ret = arg0[arg1];
            return ret;
        },
        __wbg_giveBack_1888981994b9cbfe: function(arg0, arg1) {
            var v0 = getArrayJsValueFromWasm0(arg0, arg1);
            wasm.__wbindgen_free(arg0, arg1 * 4, 4);
            giveBack(v0);
        },
        __wbg_has_2c4d5cf25ec8c1cf: function() { return handleError(function (arg0, arg1) {
            const ret = Reflect.has(arg0, arg1);
            return ret;
        }, arguments); },
        __wbg_headers_120f0256353e4cf8: function(arg0, arg1) {
            const ret = arg1.headers;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_instanceof_ArrayBuffer_12cdaa4161423e6b: function(arg0) {
            let result;
            try {
                result = arg0 instanceof ArrayBuffer;
            } catch (_) {
                result = false;
            }
            const ret = result;
            return ret;
        },
        __wbg_instanceof_Map_0b4fc8b62e73f163: function(arg0) {
            let result;
            try {
                result = arg0 instanceof Map;
            } catch (_) {
                result = false;
            }
            const ret = result;
            return ret;
        },
        __wbg_instanceof_Uint8Array_d7aeb0dcb3108fea: function(arg0) {
            let result;
            try {
                result = arg0 instanceof Uint8Array;
            } catch (_) {
                result = false;
            }
            const ret = result;
            return ret;
        },
        __wbg_isArray_bcf1376d0d732d08: function(arg0) {
            const ret = Array.isArray(arg0);
            return ret;
        },
        __wbg_isSafeInteger_1a35ba4d31e71d38: function(arg0) {
            const ret = Number.isSafeInteger(arg0);
            return ret;
        },
        __wbg_isWithoutHead_64bebe585bb46988: function(arg0) {
            const ret = arg0.isWithoutHead;
            return isLikeNone(ret) ? 0xFFFFFF : ret ? 1 : 0;
        },
        __wbg_iterator_e4c5e8f68ada7b58: function() {
            const ret = Symbol.iterator;
            return ret;
        },
        __wbg_keys_731ce456e0f6f11b: function(arg0) {
            const ret = arg0.keys();
            return ret;
        },
        __wbg_kind_88535587c73fba23: function(arg0) {
            const ret = arg0.kind;
            return ret;
        },
        __wbg_large_6f06bfac2f2f215f: function(arg0) {
            const ret = arg0.large;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_length_186163212ffe79c3: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_length_86645fa5179e00e8: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_length_b03a0fabb109b1e9: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        __wbg_location_9435fbc63389095f: function(arg0) {
            const ret = arg0.location;
            return ret;
        },
        __wbg_message_b07de9273075cee1: function(arg0, arg1) {
            const ret = arg1.message;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_name_eceada78cb9b38d8: function(arg0, arg1) {
            const ret = arg1.name;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_navigator_9641ab32fa612dd1: function(arg0) {
            const ret = arg0.navigator;
            return ret;
        },
        __wbg_new_02fb995d91d15661: function() { return handleError(function (arg0) {
            const ret = new ArrayBuffer(arg0 >>> 0);
            return ret;
        }, arguments); },
        __wbg_new_13de428334042d26: function(arg0) {
            const ret = new Uint8Array(arg0);
            return ret;
        },
        __wbg_new_37eb45aaf5eeb820: function() {
            const ret = new Array();
            return ret;
        },
        __wbg_new_5f28518387ad0e34: function() { return handleError(function () {
            const ret = new AbortController();
            return ret;
        }, arguments); },
        __wbg_new_7075786089b89c5e: function() {
            const ret = new Map();
            return ret;
        },
        __wbg_new_787b9fb330d55d78: function(arg0, arg1) {
            const ret = new Error(getStringFromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_new_ba40181b3f24ac80: function(arg0, arg1) {
            try {
                var state0 = {a: arg0, b: arg1};
                var cb0 = (arg0, arg1) => {
                    const a = state0.a;
                    state0.a = 0;
                    try {
                        return wasm_bindgen__convert__closures_____invoke__h10c24a4dce27acc3(a, state0.b, arg0, arg1);
                    } finally {
                        state0.a = a;
                    }
                };
                const ret = new Promise(cb0);
                return ret;
            } finally {
                state0.a = 0;
            }
        },
        __wbg_new_cd4348290afae586: function() {
            const ret = new Object();
            return ret;
        },
        __wbg_new_f2c208823248a2e7: function() { return handleError(function () {
            const ret = new FileReaderSync();
            return ret;
        }, arguments); },
        __wbg_new_from_slice_3512352010266e02: function(arg0, arg1) {
            const ret = new Uint32Array(getArrayU32FromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_new_from_slice_aaf85a9746711968: function(arg0, arg1) {
            const ret = new Float64Array(getArrayF64FromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_new_from_slice_b8daf545a41c6aa0: function(arg0, arg1) {
            const ret = new Uint8Array(getArrayU8FromWasm0(arg0, arg1));
            return ret;
        },
        __wbg_new_typed_e09da9dae6ee5935: function(arg0, arg1) {
            try {
                var state0 = {a: arg0, b: arg1};
                var cb0 = (arg0, arg1) => {
                    const a = state0.a;
                    state0.a = 0;
                    try {
                        return wasm_bindgen__convert__closures_____invoke__h10c24a4dce27acc3(a, state0.b, arg0, arg1);
                    } finally {
                        state0.a = a;
                    }
                };
                const ret = new Promise(cb0);
                return ret;
            } finally {
                state0.a = 0;
            }
        },
        __wbg_new_with_length_01b143a7e5dd5a3e: function(arg0) {
            const ret = new Uint8Array(arg0 >>> 0);
            return ret;
        },
        __wbg_next_040cd66fe7246513: function() { return handleError(function (arg0) {
            const ret = arg0.next();
            return ret;
        }, arguments); },
        __wbg_next_178c1651c11432b3: function(arg0) {
            const ret = arg0.next;
            return ret;
        },
        __wbg_next_23a253fee33edc2c: function(arg0, arg1) {
            const ret = arg0.next(arg1 !== 0);
            return ret;
        },
        __wbg_next_af5ac6a08bb0a717: function() { return handleError(function (arg0) {
            const ret = arg0.next();
            return ret;
        }, arguments); },
        __wbg_now_043d245551b22f9c: function(arg0) {
            const ret = arg0.now();
            return ret;
        },
        __wbg_now_463ac581d2fc7ea3: function() {
            const ret = Date.now();
            return ret;
        },
        __wbg_of_e7ea0fcd535c1444: function(arg0, arg1) {
            const ret = Array.of(arg0, arg1);
            return ret;
        },
        __wbg_open_ad6b321f59f1b033: function() { return handleError(function (arg0, arg1, arg2) {
            var v0 = getArrayJsValueFromWasm0(arg1, arg2);
            wasm.__wbindgen_free(arg1, arg2 * 4, 4);
            const ret = arg0.open(v0);
            return ret;
        }, arguments); },
        __wbg_origin_012df43696b22164: function(arg0, arg1) {
            const ret = arg1.origin;
            const ptr1 = passStringToWasm0(ret, wasm.__wbindgen_malloc, wasm.__wbindgen_realloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_performance_2584c0f220473336: function(arg0) {
            const ret = arg0.performance;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_pieces_26d5812661cc2fc2: function(arg0, arg1) {
            const ret = arg1.pieces;
            const ptr1 = passArrayJsValueToWasm0(ret, wasm.__wbindgen_malloc);
            const len1 = WASM_VECTOR_LEN;
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 1, len1, true);
            getDataViewMemory0().setInt32((arg0 >>> 0) + 4 * 0, ptr1, true);
        },
        __wbg_prototypesetcall_13162965d1fe7aa3: function(arg0, arg1, arg2) {
            Uint8Array.prototype.set.call(getArrayU8FromWasm0(arg0, arg1), arg2);
        },
        __wbg_push_c9f4893fc209f768: function(arg0, arg1) {
            const ret = arg0.push(arg1);
            return ret;
        },
        __wbg_queueMicrotask_1e8503a8a690f0a3: function(arg0) {
            const ret = arg0.queueMicrotask;
            return ret;
        },
        __wbg_queueMicrotask_4a1a4d8dd332373b: function(arg0) {
            queueMicrotask(arg0);
        },
        __wbg_random_df36b90cd78a7d54: function() {
            const ret = Math.random();
            return ret;
        },
        __wbg_readAsArrayBuffer_b7018416df375ab3: function() { return handleError(function (arg0, arg1) {
            const ret = arg0.readAsArrayBuffer(arg1);
            return ret;
        }, arguments); },
        __wbg_read_a3c7dcfedb54733e: function() { return handleError(function (arg0, arg1, arg2, arg3, arg4) {
            const ret = arg0.read(arg1 >>> 0, arg2 >>> 0, arg3, arg4);
            return ret;
        }, arguments); },
        __wbg_read_c76dc0bdecc7a9a5: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.read(arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_read_fd16d549b57ad237: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            const ret = arg0.read(getArrayU8FromWasm0(arg1, arg2), arg3);
            return ret;
        }, arguments); },
        __wbg_reader_new: function(arg0) {
            const ret = Reader.__wrap(arg0);
            return ret;
        },
        __wbg_records_new: function(arg0) {
            const ret = Records.__wrap(arg0);
            return ret;
        },
        __wbg_removeEntry_66566d62eb738227: function(arg0, arg1, arg2, arg3) {
            const ret = arg0.removeEntry(getStringFromWasm0(arg1, arg2), arg3);
            return ret;
        },
        __wbg_resolve_dbf78ab4942478b0: function(arg0) {
            const ret = Promise.resolve(arg0);
            return ret;
        },
        __wbg_setTimeout_7b54aa5f72cd7066: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.setTimeout(arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_set_118fefd528ab0a79: function(arg0, arg1, arg2) {
            arg0.set(arg1, arg2 >>> 0);
        },
        __wbg_set_2793479888329cb6: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = Reflect.set(arg0, arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_set_8282f7e0d2d01336: function(arg0, arg1, arg2) {
            const ret = arg0.set(arg1, arg2);
            return ret;
        },
        __wbg_set_at_f569a2586a7350aa: function(arg0, arg1) {
            arg0.at = arg1;
        },
        __wbg_set_create_29c03b2d68cbe451: function(arg0, arg1) {
            arg0.create = arg1 !== 0;
        },
        __wbg_set_create_8034c70deebee24f: function(arg0, arg1) {
            arg0.create = arg1 !== 0;
        },
        __wbg_set_d2d33b52458e984a: function(arg0, arg1, arg2) {
            arg0[arg1 >>> 0] = arg2;
        },
        __wbg_set_e4b9a833d288759a: function(arg0, arg1, arg2) {
            arg0[arg1] = arg2;
        },
        __wbg_set_onabort_f4dc2b9a48d91b16: function(arg0, arg1) {
            arg0.onabort = arg1;
        },
        __wbg_size_9d1084e29743663c: function(arg0) {
            const ret = arg0.size;
            return ret;
        },
        __wbg_size_d624ad331e165a40: function(arg0) {
            const ret = arg0.size;
            return ret;
        },
        __wbg_slice_755033ec72548d4a: function(arg0, arg1, arg2) {
            const ret = arg0.slice(arg1 >>> 0, arg2 >>> 0);
            return ret;
        },
        __wbg_slice_b94f88ac0a502e53: function() { return handleError(function (arg0, arg1, arg2) {
            const ret = arg0.slice(arg1, arg2);
            return ret;
        }, arguments); },
        __wbg_static_accessor_GLOBAL_THIS_003ee833af9699fc: function() {
            const ret = typeof globalThis === 'undefined' ? undefined : globalThis;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_GLOBAL_e4293fb22cbe77da: function() {
            const ret = typeof global === 'undefined' ? undefined : global;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_SELF_53bb20457401453d: function() {
            const ret = typeof self === 'undefined' ? undefined : self;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_static_accessor_WINDOW_b5e0810bfecb7feb: function() {
            const ret = typeof window === 'undefined' ? undefined : window;
            return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
        },
        __wbg_status_cc965f8fdc8c2775: function(arg0) {
            const ret = arg0.status;
            return ret;
        },
        __wbg_storage_681cb2810b22dae6: function(arg0) {
            const ret = arg0.storage;
            return ret;
        },
        __wbg_subarray_58f388a9247ac0bb: function(arg0, arg1, arg2) {
            const ret = arg0.subarray(arg1 >>> 0, arg2 >>> 0);
            return ret;
        },
        __wbg_then_656f253a5dd7d8ea: function(arg0, arg1, arg2) {
            const ret = arg0.then(arg1, arg2);
            return ret;
        },
        __wbg_then_e3f7f2d365708be8: function(arg0, arg1) {
            const ret = arg0.then(arg1);
            return ret;
        },
        __wbg_timeOrigin_8402c1d2014ef1ea: function(arg0) {
            const ret = arg0.timeOrigin;
            return ret;
        },
        __wbg_truncate_5f8dea9c665ccb45: function() { return handleError(function (arg0, arg1) {
            arg0.truncate(arg1);
        }, arguments); },
        __wbg_unpack_5d3999dd47176619: function() { return handleError(function (arg0, arg1, arg2, arg3, arg4) {
            const ret = arg0.unpack(getStringFromWasm0(arg1, arg2), arg3, arg4);
            return ret;
        }, arguments); },
        __wbg_unpacker_new: function(arg0) {
            const ret = Unpacker.__wrap(arg0);
            return ret;
        },
        __wbg_value_e0f328965e184931: function(arg0) {
            const ret = arg0.value;
            return ret;
        },
        __wbg_write_d97a1c0a72df2595: function() { return handleError(function (arg0, arg1, arg2, arg3) {
            const ret = arg0.write(getArrayU8FromWasm0(arg1, arg2), arg3);
            return ret;
        }, arguments); },
        __wbindgen_generic_0000000000000001: function(arg0, arg1) {
            // Cast intrinsic for `Closure(Closure { owned: true, function: Function { arguments: [Externref], shim_idx: 498, ret: Result(Unit), inner_ret: Some(Result(Unit)) }, mutable: true }) -> Externref`.
            const ret = makeMutClosure(arg0, arg1, wasm_bindgen__convert__closures_____invoke__hfba9e1ee723d0c04);
            return ret;
        },
        __wbindgen_generic_0000000000000002: function(arg0) {
            // Cast intrinsic for `F64 -> Externref`.
            const ret = arg0;
            return ret;
        },
        __wbindgen_generic_0000000000000003: function(arg0) {
            // Cast intrinsic for `I64 -> Externref`.
            const ret = arg0;
            return ret;
        },
        __wbindgen_generic_0000000000000004: function(arg0, arg1) {
            // Cast intrinsic for `Ref(String) -> Externref`.
            const ret = getStringFromWasm0(arg0, arg1);
            return ret;
        },
        __wbindgen_generic_0000000000000005: function(arg0) {
            // Cast intrinsic for `U64 -> Externref`.
            const ret = BigInt.asUintN(64, arg0);
            return ret;
        },
        __wbindgen_generic_0000000000000006: function(arg0, arg1) {
            var v0 = getArrayU8FromWasm0(arg0, arg1).slice();
            wasm.__wbindgen_free(arg0, arg1 * 1, 1);
            // Cast intrinsic for `Vector(U8) -> Externref`.
            const ret = v0;
            return ret;
        },
        __wbindgen_init_externref_table: function() {
            const table = wasm.__wbindgen_externrefs;
            table.set(0, undefined);
            table.set(1024, undefined);
            table.set(1025, null);
            table.set(1026, true);
            table.set(1027, false);
        },
    };
    return {
        __proto__: null,
        "./gantry_bg.js": import0,
        "./snippets/gantry-browser-976b01166ac08ed1/src/fetch/room.js": import1,
        "./snippets/gantry-browser-976b01166ac08ed1/src/fetch/progress.js": import2,
    };
}

function wasm_bindgen__convert__closures_____invoke__hfba9e1ee723d0c04(arg0, arg1, arg2) {
    const ret = wasm.wasm_bindgen__convert__closures_____invoke__hfba9e1ee723d0c04(arg0, arg1, arg2);
    if (ret[1]) {
        throw takeFromExternrefTable0(ret[0]);
    }
}

function wasm_bindgen__convert__closures_____invoke__h10c24a4dce27acc3(arg0, arg1, arg2, arg3) {
    wasm.wasm_bindgen__convert__closures_____invoke__h10c24a4dce27acc3(arg0, arg1, arg2, arg3);
}

const ArchiveStreamFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_archivestream_free(ptr, 1));
const CoordinatorFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_coordinator_free(ptr, 1));
const ReaderFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_reader_free(ptr, 1));
const RecordsFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_records_free(ptr, 1));
const UnpackerFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.__wbg_unpacker_free(ptr, 1));

function addToExternrefTable0(obj) {
    const idx = wasm.__externref_table_alloc();
    wasm.__wbindgen_externrefs.set(idx, obj);
    return idx;
}

function _assertClass(instance, klass) {
    if (!(instance instanceof klass)) {
        throw new Error(`expected instance of ${klass.name}`);
    }
}

const CLOSURE_DTORS = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(state => wasm.__wbindgen_destroy_closure(state.a, state.b));

function debugString(val) {
    switch (typeof val) {
        // primitive types
        case 'number':
        case 'boolean':
        case 'undefined':
        return `${val}`;
        case 'string':
        return JSON.stringify(val);
        case 'bigint':
        return `${val}n`;
        case 'symbol':
        return val.description !== undefined
            ? `Symbol(${val.description})`
            : 'Symbol';
        case 'function':
        return typeof val.name === 'string' && val.name !== ''
            ? `Function(${val.name})`
            : 'Function';
        case 'object': {
            if (val === null) {
                return 'null';
            }
            // objects
            if (Array.isArray(val)) {
                return '[' + Array.from(val, debugString).join(', ') + ']';
            }
            // errors
            if (val instanceof Error) {
                return `${val.name}: ${val.message}\n${val.stack}`;
            }

            const toStringOutput = toString.call(val);
            // Test for built-in
            const className = /\[object ([^\]]+)\]/.exec(toStringOutput)?.[1];

            // Failed to match the standard '[object ClassName]'
            if (className === undefined) {
                return toStringOutput;
            }
            if (className === 'Object') {
                // we're a user defined class or Object
                // JSON.stringify avoids problems with cycles, and is generally much
                // easier than looping through ownProperties of `val`.
                try {
                    return 'Object(' + JSON.stringify(val) + ')';
                } catch (_) {
                    return 'Object';
                }
            }
            // TODO we could test for more things here, like `Set`s and `Map`s.
            return className;
        }
        // Per MDN: 'This list of values is exhaustive.'
        // https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Operators/typeof#description
    }
}

function getArrayF64FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getFloat64ArrayMemory0().subarray(ptr / 8, ptr / 8 + len);
}

function getArrayJsValueFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    const mem = getDataViewMemory0();
    const result = [];
    for (let i = ptr; i < ptr + 4 * len; i += 4) {
        result.push(wasm.__wbindgen_externrefs.get(mem.getUint32(i, true)));
    }
    wasm.__externref_drop_slice(ptr, len);
    return result;
}

function getArrayU32FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint32ArrayMemory0().subarray(ptr / 4, ptr / 4 + len);
}

function getArrayU8FromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return getUint8ArrayMemory0().subarray(ptr / 1, ptr / 1 + len);
}

let cachedDataViewMemory0 = null;
function getDataViewMemory0() {
    if (cachedDataViewMemory0 === null || cachedDataViewMemory0.buffer.detached === true || (cachedDataViewMemory0.buffer.detached === undefined && cachedDataViewMemory0.buffer !== wasm.memory.buffer)) {
        cachedDataViewMemory0 = new DataView(wasm.memory.buffer);
    }
    return cachedDataViewMemory0;
}

let cachedFloat64ArrayMemory0 = null;
function getFloat64ArrayMemory0() {
    if (cachedFloat64ArrayMemory0 === null || cachedFloat64ArrayMemory0.byteLength === 0) {
        cachedFloat64ArrayMemory0 = new Float64Array(wasm.memory.buffer);
    }
    return cachedFloat64ArrayMemory0;
}

function getStringFromWasm0(ptr, len) {
    ptr = ptr >>> 0;
    return decodeText(getUint8ArrayMemory0().subarray(ptr, ptr + len));
}

let cachedUint32ArrayMemory0 = null;
function getUint32ArrayMemory0() {
    if (cachedUint32ArrayMemory0 === null || cachedUint32ArrayMemory0.byteLength === 0) {
        cachedUint32ArrayMemory0 = new Uint32Array(wasm.memory.buffer);
    }
    return cachedUint32ArrayMemory0;
}

let cachedUint8ArrayMemory0 = null;
function getUint8ArrayMemory0() {
    if (cachedUint8ArrayMemory0 === null || cachedUint8ArrayMemory0.byteLength === 0) {
        cachedUint8ArrayMemory0 = new Uint8Array(wasm.memory.buffer);
    }
    return cachedUint8ArrayMemory0;
}

function handleError(f, args) {
    try {
        return f.apply(this, args);
    } catch (e) {
        const idx = addToExternrefTable0(e);
        wasm.__wbindgen_exn_store(idx);
    }
}

function isLikeNone(x) {
    return x === undefined || x === null;
}

function makeMutClosure(arg0, arg1, f) {
    const state = { a: arg0, b: arg1, cnt: 1 };
    const real = (...args) => {

        // First up with a closure we increment the internal reference
        // count. This ensures that the Rust closure environment won't
        // be deallocated while we're invoking it.
        state.cnt++;
        const a = state.a;
        state.a = 0;
        try {
            return f(a, state.b, ...args);
        } finally {
            state.a = a;
            real._wbg_cb_unref();
        }
    };
    real._wbg_cb_unref = () => {
        if (--state.cnt === 0) {
            wasm.__wbindgen_destroy_closure(state.a, state.b);
            state.a = 0;
            CLOSURE_DTORS.unregister(state);
        }
    };
    CLOSURE_DTORS.register(real, state, state);
    return real;
}

function passArray8ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 1, 1) >>> 0;
    getUint8ArrayMemory0().set(arg, ptr / 1);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArrayF64ToWasm0(arg, malloc) {
    const ptr = malloc(arg.length * 8, 8) >>> 0;
    getFloat64ArrayMemory0().set(arg, ptr / 8);
    WASM_VECTOR_LEN = arg.length;
    return ptr;
}

function passArrayJsValueToWasm0(array, malloc) {
    const ptr = malloc(array.length * 4, 4) >>> 0;
    for (let i = 0; i < array.length; i++) {
        const add = addToExternrefTable0(array[i]);
        getDataViewMemory0().setUint32(ptr + 4 * i, add, true);
    }
    WASM_VECTOR_LEN = array.length;
    return ptr;
}

function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        const buf = cachedTextEncoder.encode(arg);
        const ptr = malloc(buf.length, 1) >>> 0;
        getUint8ArrayMemory0().subarray(ptr, ptr + buf.length).set(buf);
        WASM_VECTOR_LEN = buf.length;
        return ptr;
    }

    let len = arg.length;
    let ptr = malloc(len, 1) >>> 0;

    const mem = getUint8ArrayMemory0();

    let offset = 0;

    for (; offset < len; offset++) {
        const code = arg.charCodeAt(offset);
        if (code > 0x7F) break;
        mem[ptr + offset] = code;
    }
    if (offset !== len) {
        if (offset !== 0) {
            arg = arg.slice(offset);
        }
        ptr = realloc(ptr, len, len = offset + arg.length * 3, 1) >>> 0;
        const view = getUint8ArrayMemory0().subarray(ptr + offset, ptr + len);
        const ret = cachedTextEncoder.encodeInto(arg, view);

        offset += ret.written;
        ptr = realloc(ptr, len, offset, 1) >>> 0;
    }

    WASM_VECTOR_LEN = offset;
    return ptr;
}

function takeFromExternrefTable0(idx) {
    const value = wasm.__wbindgen_externrefs.get(idx);
    wasm.__externref_table_dealloc(idx);
    return value;
}

let cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
cachedTextDecoder.decode();
const MAX_SAFARI_DECODE_BYTES = 2146435072;
let numBytesDecoded = 0;
function decodeText(bytes) {
    numBytesDecoded += bytes.length;
    if (numBytesDecoded >= MAX_SAFARI_DECODE_BYTES) {
        cachedTextDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
        cachedTextDecoder.decode();
        numBytesDecoded = bytes.length;
    }
    return cachedTextDecoder.decode(bytes);
}

const cachedTextEncoder = new TextEncoder();

if (!('encodeInto' in cachedTextEncoder)) {
    cachedTextEncoder.encodeInto = function (arg, view) {
        const buf = cachedTextEncoder.encode(arg);
        view.set(buf);
        return {
            read: arg.length,
            written: buf.length
        };
    };
}

let WASM_VECTOR_LEN = 0;

let wasmModule, wasmInstance, wasm;
function __wbg_finalize_init(instance, module) {
    wasmInstance = instance;
    wasm = instance.exports;
    wasmModule = module;
    cachedDataViewMemory0 = null;
    cachedFloat64ArrayMemory0 = null;
    cachedUint32ArrayMemory0 = null;
    cachedUint8ArrayMemory0 = null;
    wasm.__wbindgen_start();
    return wasm;
}

async function __wbg_load(module, imports) {
    if (typeof Response === 'function' && module instanceof Response) {
        if (!module.ok) {
            throw new Error(`failed to fetch Wasm: ${module.status} ${module.statusText} fetching '${module.url}'`);
        }

        if (typeof WebAssembly.instantiateStreaming === 'function') {
            try {
                return await WebAssembly.instantiateStreaming(module, imports);
            } catch (e) {
                const validResponse = expectedResponseType(module.type);

                if (validResponse && module.headers.get('Content-Type') !== 'application/wasm') {
                    console.warn("`WebAssembly.instantiateStreaming` failed because your server does not serve Wasm with `application/wasm` MIME type. Falling back to `WebAssembly.instantiate` which is slower. Original error:\n", e);

                } else { throw e; }
            }
        }

        const bytes = await module.arrayBuffer();
        return await WebAssembly.instantiate(bytes, imports);
    } else {
        const instance = await WebAssembly.instantiate(module, imports);

        if (instance instanceof WebAssembly.Instance) {
            return { instance, module };
        } else {
            return instance;
        }
    }

    function expectedResponseType(type) {
        switch (type) {
            case 'basic': case 'cors': case 'default': return true;
        }
        return false;
    }
}

function initSync(module) {
    if (wasm !== undefined) return wasm;


    if (module !== undefined) {
        if (Object.getPrototypeOf(module) === Object.prototype) {
            ({module} = module)
        } else {
            console.warn('using deprecated parameters for `initSync()`; pass a single object instead')
        }
    }

    const imports = __wbg_get_imports();
    if (!(module instanceof WebAssembly.Module)) {
        module = new WebAssembly.Module(module);
    }
    const instance = new WebAssembly.Instance(module, imports);
    return __wbg_finalize_init(instance, module);
}

let __wbg_init_promise;
async function __wbg_init(module_or_path) {
    if (wasm !== undefined) return wasm;
    if (__wbg_init_promise === undefined) {
        __wbg_init_promise = __wbg_init_once(module_or_path);
        __wbg_init_promise.catch(() => { __wbg_init_promise = undefined; });
    }
    return __wbg_init_promise;
}

async function __wbg_init_once(module_or_path) {

    if (module_or_path !== undefined) {
        if (Object.getPrototypeOf(module_or_path) === Object.prototype) {
            ({module_or_path} = module_or_path)
        } else {
            console.warn('using deprecated parameters for the initialization function; pass a single object instead')
        }
    }


    const imports = __wbg_get_imports();

    if (typeof module_or_path === 'string' || (typeof Request === 'function' && module_or_path instanceof Request) || (typeof URL === 'function' && module_or_path instanceof URL)) {
        module_or_path = fetch(module_or_path);
    }

    const { instance, module } = await __wbg_load(await module_or_path, imports);

    return __wbg_finalize_init(instance, module);
}

export { initSync, __wbg_init as default };
