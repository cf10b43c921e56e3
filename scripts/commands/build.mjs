// `npm run build`: everything that gets published, and what it weighs.
import { readdirSync } from 'node:fs';
import { buildNative, requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { inRoot } from '../lib/paths.mjs';
import { run, say } from '../lib/process.mjs';
import { buildPackage, buildSite } from '../lib/site.mjs';
import { buildWasi } from '../lib/wasi.mjs';
import { buildWasm } from '../lib/wasm.mjs';

const scripts = (folder) =>
  readdirSync(inRoot(folder))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `${folder}/${name}`)
    .join(',');

export async function main() {
  await installDependencies();
  await requireRust();
  await buildNative();
  await buildWasm();
  await buildWasi();
  await buildPackage();
  await buildSite();
  const rows = [
    'wasm module=web/wasm/gantry_bg.wasm',
    'wasi command=web/wasi/gantry.wasm',
    'wasm bindings=web/wasm/gantry.js',
    `client, unbundled=${scripts('web/dist')}`,
    `workers, unbundled=${scripts('web/dist/worker')}`,
    `site, its own scripts=${scripts('dist/assets')}`,
  ];
  await run('cargo', ['xtask', 'sizes', ...rows]);
  say('build', 'current: target/release/gantry, web/wasi/gantry.wasm, the npm package in web/, the site in dist/');
}
