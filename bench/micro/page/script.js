// What JavaScript brings along for the same tasks, and a session for it with the commands of ../src/session.rs. The same
// code runs in Node and in the page; what only Node has is added by ../../lib/micro/places.mjs.
import { parseBundle } from './bundle.js';

/** @typedef {import('./bundle.js').Item} Item */
/** Makes the work from an input. @typedef {(items: Item[]) => Promise<() => number | Promise<number>>} Way */

const decoder = new TextDecoder();
const BLOCK = 512;

const total = (values) => values.reduce((sum, value) => sum + value, 0);
const parse = ({ bytes }) => JSON.parse(decoder.decode(bytes));
const peers = (version) => Object.keys(version?.peerDependencies ?? {}).length;

/** Work that goes through all items. @param {(item: Item) => number} one @returns {Way} */
const each = (one) => async (items) => () => total(items.map(one));

/** The same, one after the other, for work that takes a promise. @param {(item: Item, index: number) => Promise<number>} one */
const inTurn = (items, one) => async () => {
  let sum = 0;
  for (const [index, item] of items.entries()) sum += await one(item, index);
  return sum;
};

const sha512 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-512', bytes));
const same = (one, other) => one.every((byte, index) => byte === other[index]);

/** @param {Uint8Array} bytes */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Files of an archive and their bytes; contents are views. @param {Uint8Array} archive */
export function untar(archive) {
  let number = 0;
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(decoder.decode(archive.subarray(at + 124, at + 135)), 8) || 0;
    const kind = archive[at + 156];
    const end = archive.indexOf(0, at);
    const name = decoder.decode(archive.subarray(at, Math.min(end, at + 100)));
    const contents = archive.subarray(at + BLOCK, at + BLOCK + size);
    if ((kind === 0x30 || kind === 0) && name.length > 0) number += 1 + contents.length;
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return number;
}

/** @type {Record<string, Way>} */
export const ways = {
  'packument/spans/JSON.parse': each((item) => Object.keys(parse(item).versions).length),
  'packument/pick/JSON.parse': each((item) => {
    const { versions, 'dist-tags': tags } = parse(item);
    return peers(versions[tags.latest]) + Object.keys(versions).length;
  }),
  'packument/all/JSON.parse': each((item) => total(Object.values(parse(item).versions).map((one) => peers(one) + 1))),
  'archive/inflate/DecompressionStream': async (items) =>
    inTurn(items, async ({ bytes }) => (await inflate(bytes)).length),
  'archive/hash/WebCrypto': async (items) => {
    const expected = await Promise.all(items.map(({ bytes }) => sha512(bytes)));
    return inTurn(items, async ({ bytes }, index) => (same(await sha512(bytes), expected[index]) ? 1 : 0));
  },
  'archive/untar/JavaScript': async (items) => {
    const archives = [];
    for (const { bytes } of items) archives.push(await inflate(bytes));
    return () => total(archives.map(untar));
  },
  'archive/extract/WebCrypto, DecompressionStream, JavaScript': async (items) => {
    const expected = await Promise.all(items.map(({ bytes }) => sha512(bytes)));
    return inTurn(items, async ({ bytes }, index) => {
      if (!same(await sha512(bytes), expected[index])) return 0;
      return untar(await inflate(bytes));
    });
  },
};

/** Inputs and work by number; answers have an `error` if something went wrong, as those of the Rust session. */
export class ScriptSession {
  #inputs = [];
  #work = [];
  #ways;

  /** @param {Record<string, Way>} [more] */
  constructor(more = {}) {
    this.#ways = { ...ways, ...more };
  }

  /** @param {Uint8Array} bundle */
  open(bundle) {
    this.#inputs.push(parseBundle(bundle));
    return { input: this.#inputs.length - 1 };
  }

  /** @param {any} command */
  async command(command) {
    if ('prepare' in command) {
      const way = this.#ways[command.prepare];
      if (!way) return { error: `there is no workload "${command.prepare}"` };
      this.#work.push(await way(this.#inputs[command.input]));
      return { workload: this.#work.length - 1 };
    }
    if ('run' in command) return this.#run(this.#work[command.run], command.milliseconds);
    if ('drop' in command) this.#work[command.drop] = undefined;
    if ('close' in command) this.#inputs[command.close] = undefined;
    return {};
  }

  async #run(work, milliseconds) {
    let runs = 0;
    let spent = 0;
    let check;
    while (runs === 0 || spent < milliseconds) {
      const start = performance.now();
      const number = await work();
      spent += performance.now() - start;
      runs++;
      if (check !== undefined && check !== number) return { error: 'two runs arrived at different numbers' };
      check = number;
    }
    return { milliseconds: spent / runs, runs, check };
  }
}
