// What no installer can be faster than: all bodies that npm's lock says are needed, fetched, and the tarballs hashed and
// inflated, in as many workers as Gantry uses and by the code Gantry uses. Everything is known from the start: nothing is
// read, resolved, unpacked or kept.

/** Tarballs under way in all workers, and documents in one more, as in Gantry's. */
const TARBALLS_IN_FLIGHT = 96;
const DOCUMENTS_IN_FLIGHT = 128;

const DOCUMENT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*';

/** @typedef {{ url: string, accept: string, integrity?: string }} Wanted */

/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ workers, registry }) {
  const [reader, ...unpackers] = await Promise.all(Array.from({ length: 1 + workers }, member));
  return {
    install: async ({ lock, foreseen }) => {
      const { packages = {} } = JSON.parse(lock ?? foreseen ?? '{}');
      await Promise.all([
        all(lock ? [] : documents(packages, registry), [reader], DOCUMENTS_IN_FLIGHT),
        all(tarballs(packages), unpackers, TARBALLS_IN_FLIGHT),
      ]);
    },
  };
}

/** @param {Wanted[]} waiting @param {((wanted: Wanted) => Promise<void>)[]} members @param {number} inFlight in all of them */
async function all(waiting, members, inFlight) {
  const feed = async (fetch) => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await fetch(next);
  };
  const each = Math.ceil(inFlight / members.length);
  await Promise.all(members.flatMap((fetch) => Array.from({ length: each }, () => feed(fetch))));
}

/** The document of every package in the lock, wherever it could be installed: nobody can write the lock without.
 * @returns {Wanted[]} */
function documents(packages, registry) {
  const names = Object.entries(packages)
    .filter(([path]) => path)
    .map(([path, { name }]) => name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  return [...new Set(names)].map((name) => ({ url: `${registry}${name.replace('/', '%2f')}`, accept: DOCUMENT }));
}

/** Tarballs for Linux on wasm32, as npm would choose. @returns {Wanted[]} */
function tarballs(packages) {
  const suits = (allowed, own) =>
    !allowed ||
    (!allowed.includes(`!${own}`) && (allowed.includes(own) || allowed.every((word) => word.startsWith('!'))));
  const found = new Map();
  for (const { resolved, integrity, os, cpu, libc } of Object.values(packages)) {
    if (resolved && integrity && suits(os, 'linux') && suits(cpu, 'wasm32') && !libc) {
      found.set(resolved, { url: resolved, accept: '*/*', integrity });
    }
  }
  return [...found.values()];
}

async function member() {
  const worker = new Worker(new URL('floor-worker.js', location.href), { type: 'module' });
  const pending = new Map();
  const answer = (id) => new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  worker.addEventListener('message', ({ data: { id, failure } }) => {
    const { resolve, reject } = pending.get(id);
    pending.delete(id);
    if (failure) reject(new Error(failure));
    else resolve(undefined);
  });
  let calls = 0;
  await answer(0);
  return (wanted) => {
    worker.postMessage({ id: ++calls, ...wanted });
    return answer(calls);
  };
}
