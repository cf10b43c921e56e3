// `npm start`: from a fresh clone to the playground in a browser. Words are passed on to Vite (`npm start -- --port 8080`).
import { requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { nodeBinary } from '../lib/paths.mjs';
import { run } from '../lib/process.mjs';
import { buildPackage } from '../lib/site.mjs';
import { buildWasi } from '../lib/wasi.mjs';
import { buildWasm } from '../lib/wasm.mjs';

export async function main(words) {
  await installDependencies();
  await requireRust();
  await buildWasm();
  await buildWasi();
  await buildPackage();
  await run(nodeBinary('vite'), words);
}
