// What no installer can be faster than: the tarballs of a lock that are installed here, fetched, hashed and inflated, in
// as many workers as Gantry uses and by the code Gantry uses. Nothing is resolved, unpacked or kept.

/** Bodies under way in all workers, as in Gantry's. */
const IN_FLIGHT = 96;

/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ workers }) {
  const members = await Promise.all(Array.from({ length: workers }, member));
  return {
    install: async ({ lock }) => {
      const waiting = tarballs(JSON.parse(lock ?? '{}'));
      const feed = async (check) => {
        for (let next = waiting.pop(); next; next = waiting.pop()) await check(next);
      };
      await Promise.all(
        members.flatMap((check) => Array.from({ length: Math.ceil(IN_FLIGHT / workers) }, () => feed(check))),
      );
    },
  };
}

/** Tarballs for Linux on wasm32, as npm would choose. */
function tarballs({ packages = {} }) {
  const suits = (allowed, own) =>
    !allowed ||
    (!allowed.includes(`!${own}`) && (allowed.includes(own) || allowed.every((word) => word.startsWith('!'))));
  const found = new Map();
  for (const { resolved, integrity, os, cpu, libc } of Object.values(packages)) {
    if (resolved && integrity && suits(os, 'linux') && suits(cpu, 'wasm32') && !libc) {
      found.set(resolved, { url: resolved, integrity });
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
  return (tarball) => {
    worker.postMessage({ id: ++calls, ...tarball });
    return answer(calls);
  };
}
