// `npm run lint`: all checks run even when one fails, so that one round shows everything there is to mend.
import { requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { nodeBinary, wasiTarget, wasmTarget } from '../lib/paths.mjs';
import { run, say } from '../lib/process.mjs';
import { standardLibrary } from '../lib/standard-library.mjs';
import { runSteps } from '../lib/steps.mjs';
import { bindingsExist, buildWasm, wasmCrateArguments } from '../lib/wasm.mjs';

const denyWarnings = ['--', '-D', 'warnings'];

async function lintWasm() {
  const std = await standardLibrary(wasmTarget, { clippy: true });
  say('lint', std.describe);
  const words = ['clippy', '--keep-going', '--target', wasmTarget, ...wasmCrateArguments, ...denyWarnings];
  await run(std.cargo, words, { environment: std.environment });
}

async function lintWasi() {
  const std = await standardLibrary(wasiTarget, { clippy: true });
  say('lint', std.describe);
  const words = ['clippy', '--target', wasiTarget, '--package', 'gantry-wasi', ...denyWarnings];
  await run(std.cargo, words, { environment: std.environment });
}

async function types() {
  // The types of the bindings come from the module.
  if (!bindingsExist()) await buildWasm();
  await run(nodeBinary('tsc'), ['-b']);
}

const steps = {
  fmt: () => run('cargo', ['fmt', '--all', '--check']),
  clippy: () =>
    run('cargo', [
      'clippy',
      '--keep-going',
      '--workspace',
      '--all-targets',
      '--features',
      'xtask/codes',
      ...denyWarnings,
    ]),
  'clippy wasm': lintWasm,
  'clippy wasi': lintWasi,
  codes: () => run('cargo', ['xtask', 'codes', '--check']),
  checks: () => run('cargo', ['xtask', 'checks']),
  biome: () => run(nodeBinary('biome'), ['check', '.']),
  types,
};

export async function main(words) {
  await installDependencies();
  await requireRust();
  await runSteps('lint', steps, words);
}
