// One worker of the floor.
import init, { Floor } from './floor/gantry.js';

await init({ module_or_path: new URL('./floor/gantry_bg.wasm', import.meta.url) });
const floor = new Floor();

self.addEventListener('message', async ({ data: { id, url, integrity } }) => {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${response.status} for ${url}`);
    floor.check(new Uint8Array(await response.arrayBuffer()), integrity);
    self.postMessage({ id });
  } catch (error) {
    self.postMessage({ id, failure: error instanceof Error ? error.message : String(error) });
  }
});
self.postMessage({ id: 0 });
