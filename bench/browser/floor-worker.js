// One worker of the floor: fetches, and hashes and inflates what has an integrity.
import init, { Floor } from './floor/gantry.js';

await init({ module_or_path: new URL('./floor/gantry_bg.wasm', import.meta.url) });
const floor = new Floor();

self.addEventListener('message', async ({ data: { id, url, accept, integrity } }) => {
  try {
    const response = await fetch(url, { headers: { accept }, cache: 'no-store' });
    if (!response.ok) throw new Error(`${response.status} for ${url}`);
    const body = new Uint8Array(await response.arrayBuffer());
    if (integrity) floor.check(body, integrity);
    self.postMessage({ id });
  } catch (error) {
    self.postMessage({ id, failure: error instanceof Error ? error.message : String(error) });
  }
});
self.postMessage({ id: 0 });
