// Named byte strings in one file, as ../src/bundle.rs describes it; in Node and in the page.

/** @typedef {{ name: string, bytes: Uint8Array }} Item */

const PREFIX = 4;

/** @param {Uint8Array} bundle @returns {Item[]} */
export function parseBundle(bundle) {
  const length = new DataView(bundle.buffer, bundle.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bundle.subarray(PREFIX, PREFIX + length)));
  let at = PREFIX + length;
  return head.map(([name, size]) => {
    const bytes = bundle.subarray(at, at + size);
    at += size;
    return { name, bytes };
  });
}

/** The parts of a bundle, to be written one after the other. @param {Item[]} items @returns {Uint8Array[]} */
export function bundleParts(items) {
  const head = new TextEncoder().encode(JSON.stringify(items.map(({ name, bytes }) => [name, bytes.length])));
  const prefix = new Uint8Array(PREFIX);
  new DataView(prefix.buffer).setUint32(0, head.length, true);
  return [prefix, head, ...items.map(({ bytes }) => bytes)];
}
