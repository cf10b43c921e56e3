// The native program and the WebAssembly module of bench/micro, built when their sources or the product's changed.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { locked, requireRust } from '../../../scripts/lib/native.mjs';
import { inRoot, inTarget, wasmTarget } from '../../../scripts/lib/paths.mjs';
import { run, timed } from '../../../scripts/lib/process.mjs';
import { unlessFresh } from '../../../scripts/lib/stamp.mjs';
import { standardLibrary } from '../../../scripts/lib/standard-library.mjs';
import { bind } from '../../../scripts/lib/wasm.mjs';
import { cacheFolder } from '../paths.mjs';

const PACKAGE = 'gantry-micro';
const crates = ['spec', 'manifest', 'archive', 'resolver'].map((name) => `crates/${name}`);
const inputs = [
  ...['Cargo.toml', 'Cargo.lock', '.cargo/config.toml', ...crates].map((path) => inRoot(path)),
  ...['Cargo.toml', 'src'].map((path) => inRoot('bench', 'micro', path)),
];

/** The native program; GANTRY_MICRO_BIN names another build of it. */
export async function provideProgram() {
  if (process.env.GANTRY_MICRO_BIN) return resolve(process.env.GANTRY_MICRO_BIN);
  const program = inTarget('release', PACKAGE);
  await unlessFresh('bench-micro', { inputs, outputs: [program] }, async () => {
    await requireRust();
    await timed('bench', `${PACKAGE} is built`, () =>
      run('cargo', ['build', '--release', ...locked, '--package', PACKAGE, '--bins']),
    );
  });
  if (!existsSync(program)) throw new Error(`cargo did not make ${program}`);
  return program;
}

/** The folder of the module, bound and optimised as the product's; GANTRY_MICRO_MODULE names another. */
export async function provideModule() {
  if (process.env.GANTRY_MICRO_MODULE) return resolve(process.env.GANTRY_MICRO_MODULE);
  const folder = resolve(cacheFolder, 'micro-module');
  const outputs = [join(folder, 'gantry_bg.wasm')];
  await unlessFresh('bench-micro-module', { inputs, words: [folder], outputs }, async () => {
    const std = await standardLibrary(wasmTarget);
    const words = ['build', ...locked, '--package', PACKAGE, '--lib', '--target', wasmTarget, '--profile', 'wasm'];
    await timed('bench', `the module of ${PACKAGE} is built`, () =>
      run(std.cargo, words, { environment: std.environment }),
    );
    await bind(join(std.targetDirectory, wasmTarget, 'wasm', 'gantry_micro.wasm'), folder, false);
  });
  return folder;
}
