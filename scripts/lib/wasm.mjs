// The browser's module: cargo builds crates/browser, xtask binds and optimises it into web/wasm.
// GANTRY_WASM=dev leaves out the optimiser (and link-time optimisation), for quick rounds.
import { existsSync } from 'node:fs';
import { locked } from './native.mjs';
import { inRoot, portableCrates, wasmTarget } from './paths.mjs';
import { run, say, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';
import { standardLibrary } from './standard-library.mjs';

const outputs = ['gantry.js', 'gantry.d.ts', 'gantry_bg.wasm'].map((name) => inRoot('web', 'wasm', name));

/** Sources that decide what the module is. */
const inputs = [
  ...['Cargo.toml', 'Cargo.lock', '.cargo/config.toml'].map((name) => inRoot(name)),
  ...[...portableCrates, 'xtask'].map((crate) => inRoot('crates', crate)),
];

/** Builds web/wasm unless it is current. */
export async function buildWasm() {
  const dev = process.env.GANTRY_WASM === 'dev';
  const words = [dev ? 'dev' : 'wasm', process.env.WASM_SETUP ?? ''];
  await unlessFresh('wasm', { inputs, words, outputs }, async () => {
    const std = await standardLibrary(wasmTarget);
    say('wasm', std.describe);
    const cargo = ['build', ...locked, '--package', 'gantry-browser', '--target', wasmTarget];
    await timed('wasm', 'gantry-browser is built', () =>
      run(std.cargo, dev ? cargo : [...cargo, '--profile', 'wasm'], { environment: std.environment }),
    );
    const built = `${std.targetDirectory}/${wasmTarget}/${dev ? 'debug' : 'wasm'}/gantry_browser.wasm`;
    await bind(built, inRoot('web', 'wasm'), dev);
  });
}

/** Where the browser tests find the module with the conformance suites in it. */
export const conformanceFolder = inRoot('node_modules', '.cache', 'gantry-browser-tests', 'conformance');

/** Builds that module, unoptimised: only the tests load it. */
export async function buildConformance() {
  const words = ['conformance', process.env.WASM_SETUP ?? ''];
  const sources = [...inputs, inRoot('crates', 'conformance')];
  await unlessFresh('conformance', { inputs: sources, words, outputs: [conformanceFolder] }, async () => {
    const std = await standardLibrary(wasmTarget);
    const cargo = ['build', ...locked, '--package', 'gantry-browser', '--features', 'conformance'];
    await timed('wasm', 'the conformance suites are built', () =>
      run(std.cargo, [...cargo, '--target', wasmTarget], { environment: std.environment }),
    );
    await bind(`${std.targetDirectory}/${wasmTarget}/debug/gantry_browser.wasm`, conformanceFolder, true);
  });
}

/** Turns a built module into what a page loads. */
export function bind(module, directory, dev) {
  const words = ['xtask', 'wasm', '--module', module, '--out', directory, ...(dev ? ['--dev'] : [])];
  return timed('wasm', `${directory} is written`, () => run('cargo', words));
}

export { outputs as wasmOutputs };
export const bindingsExist = () => outputs.every((path) => existsSync(path));
export const wasmCrateArguments = portableCrates.flatMap((crate) => ['--package', `gantry-${crate}`]);
