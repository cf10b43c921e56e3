// The command for WASI hosts: cargo builds crates/wasi, xtask optimises it into web/wasi/gantry.wasm. And wasmtime, one of the
// hosts that the tests run it under: its Python wheel in a virtual environment of its own. GANTRY_WASI and
// GANTRY_WASMTIME_PYTHON name others.
import { existsSync } from 'node:fs';
import { aptInstall } from './apt.mjs';
import { locked } from './native.mjs';
import { inRoot, inTarget, portableCrates, wasiCommand, wasiTarget } from './paths.mjs';
import { exists, run, say, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';
import { standardLibrary } from './standard-library.mjs';

const WASMTIME = '50.0.1';
const crates = [...portableCrates.filter((crate) => crate !== 'browser'), 'wasi'];

/** Sources that decide what the command is. */
const inputs = [
  ...['Cargo.toml', 'Cargo.lock', '.cargo/config.toml', 'scripts/toolchain'].map((name) => inRoot(name)),
  ...[...crates, 'xtask'].map((crate) => inRoot('crates', crate)),
];

/** Builds web/wasi/gantry.wasm unless it is current. */
export async function buildWasi() {
  if (process.env.GANTRY_WASI) {
    say('wasi', `using ${wasiCommand}`);
    return;
  }
  await unlessFresh('wasi', { inputs, words: [process.env.WASM_SETUP ?? ''], outputs: [wasiCommand] }, async () => {
    const std = await standardLibrary(wasiTarget);
    say('wasi', std.describe);
    const cargo = ['build', ...locked, '--package', 'gantry-wasi', '--target', wasiTarget, '--profile', 'wasm'];
    await timed('wasi', 'gantry-wasi is built', () => run(std.cargo, cargo, { environment: std.environment }));
    const built = `${std.targetDirectory}/${wasiTarget}/wasm/gantry-wasi.wasm`;
    await run('cargo', ['xtask', 'wasi', '--module', built, '--out', wasiCommand]);
  });
}

/** A Python that has wasmtime; its path. A machine without one cannot run the tests. */
export async function provideWasmtime() {
  if (process.env.GANTRY_WASMTIME_PYTHON) return process.env.GANTRY_WASMTIME_PYTHON;
  const folder = inTarget('wasmtime');
  const python = `${folder}/bin/python`;
  await unlessFresh('wasmtime', { words: [WASMTIME], outputs: [python] }, async () => {
    if (!(await exists('python3'))) throw new Error('wasmtime needs Python: install python3 and python3-venv');
    const make = () => run('python3', ['-m', 'venv', '--clear', folder], { output: 'quiet' });
    try {
      await make();
    } catch (error) {
      // Debian keeps what a virtual environment needs in a package of its own.
      if (!(await aptInstall('wasi', ['python3-venv']))) throw error;
      await make();
    }
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--disable-pip-version-check',
      `wasmtime==${WASMTIME}`,
    ];
    await timed('wasi', `wasmtime ${WASMTIME} is installed`, () => run(python, pip, { seconds: 300 }));
  });
  if (!existsSync(python)) throw new Error(`the virtual environment has no ${python}`);
  return python;
}
