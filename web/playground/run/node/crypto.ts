/** `createHash('sha1')`, which entity tags need at once; everything else is `crypto.subtle` in a page. */
import { Buffer } from 'buffer';

class Sha1 {
  readonly #parts: Uint8Array[] = [];

  update(data: string | Uint8Array): this {
    this.#parts.push(typeof data === 'string' ? new TextEncoder().encode(data) : data);
    return this;
  }

  digest(encoding?: string): unknown {
    const digest = Buffer.from(sha1(Buffer.concat(this.#parts)));
    return encoding ? digest.toString(encoding) : digest;
  }
}

export function createHash(algorithm: string): Sha1 {
  if (algorithm.toLowerCase() === 'sha1') return new Sha1();
  throw new Error(`A page has no synchronous ${algorithm}: use crypto.subtle`);
}

export function randomBytes(size: number): unknown {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)));
}

export function randomUUID(): string {
  return crypto.randomUUID();
}

export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** FIPS 180-4. */
function sha1(message: Uint8Array): Uint8Array {
  const padded = new DataView(new ArrayBuffer(Math.ceil((message.length + 9) / 64) * 64));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, BigInt(message.length) * 8n);
  const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by));
  const words = new DataView(new ArrayBuffer(80 * 4));
  const word = (at: number) => words.getInt32(at * 4);
  let state: [number, number, number, number, number] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let at = 0; at < 80; at++) {
      const mixed = at < 16 ? 0 : word(at - 3) ^ word(at - 8) ^ word(at - 14) ^ word(at - 16);
      words.setInt32(at * 4, at < 16 ? padded.getInt32(block + at * 4) : rotate(mixed, 1));
    }
    let [a, b, c, d, e] = state;
    for (let at = 0; at < 80; at++) {
      const next = (rotate(a, 5) + round(at, b, c, d) + e + word(at)) | 0;
      [e, d, c, b, a] = [d, c, rotate(b, 30), a, next];
    }
    state = [state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e];
  }
  const digest = new DataView(new ArrayBuffer(20));
  state.forEach((value, index) => {
    digest.setInt32(index * 4, value);
  });
  return new Uint8Array(digest.buffer);
}

function round(at: number, b: number, c: number, d: number): number {
  if (at < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (at < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (at < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
