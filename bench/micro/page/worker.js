// The worker in which everything is measured, as the product does its work in workers: the module, and JavaScript's own
// means. A message is `{ id, place, open | command }`, the answer `{ id, answer }`.
import init, { command, open } from './module/gantry.js';
import { ScriptSession } from './script.js';

const ready = init({ module_or_path: new URL('./module/gantry_bg.wasm', import.meta.url) });
const script = new ScriptSession();

/** @returns {Promise<any>} */
async function answer({ place, open: address, command: wanted }) {
  await ready;
  const bundle = address && new Uint8Array(await (await fetch(address)).arrayBuffer());
  if (place === 'script') return bundle ? script.open(bundle) : script.command(wanted);
  return JSON.parse(bundle ? open(bundle) : command(JSON.stringify(wanted)));
}

self.addEventListener('message', async ({ data }) => {
  let result;
  try {
    result = await answer(data);
  } catch (error) {
    result = { error: `${error?.message ?? error}` };
  }
  postMessage({ id: data.id, answer: result });
});
