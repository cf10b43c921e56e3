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
export async function exchange(controller, url, headers, cache, known, byHead, patience, whole, limit, progress, room) {
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
export function answerWith(url, bytes) {
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
export function giveBack(pieces) {
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
