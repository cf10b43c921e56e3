// A standard library for a target other than this machine's, found in this order:
//   1. the current rustc has one already;
//   2. `rustup target add` (adds a target; never touches the toolchain, the channel or a rust-toolchain file);
//   3. Debian: the distribution's rustc with the sources of std, built by cargo's build-std; for WASI with its wasi-libc,
//      to which toolchain/wasi-stubs.ll adds what std asks of newer ones.
// The result says which cargo to run and with which variables; the build-std way has a target directory of its own,
// because two compilers would rebuild everything each time they took turns in one.
// WASM_SETUP=auto|prebuilt|build-std forces a way, WASM_RUSTUP_TIMEOUT=90 is how many seconds rustup gets.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { aptInstall, aptVersion } from './apt.mjs';
import { inRoot, inTarget, pathWith, wasiTarget } from './paths.mjs';
import { exists, run, say } from './process.mjs';

const sources = '/usr/lib/rustlib/src/rust/library/std';
// lld must be at least as new as the LLVM of the distribution's rustc.
const linkers = ['wasm-ld-22', 'wasm-ld-21', 'wasm-ld-20', 'wasm-ld-19'];
const assemblers = ['llc-22', 'llc-21', 'llc-20', 'llc-19'];
const wasiLibc = '/usr/lib/wasm32-wasi';
const area = (target) => (target.startsWith('wasm32') ? 'wasm' : 'rust');

async function hasPrebuilt(target) {
  try {
    const rustc = process.env.RUSTC || 'rustc';
    const text = await run(rustc, ['--print', 'target-libdir', '--target', target], { output: 'quiet' });
    return readdirSync(text.trim()).some((name) => /^libstd-.*\.rlib$/.test(name));
  } catch {
    return false;
  }
}

async function addWithRustup(target) {
  const seconds = Number(process.env.WASM_RUSTUP_TIMEOUT || 90);
  say(area(target), `rustup target add ${target}`);
  try {
    await run('rustup', ['target', 'add', target], { output: 'quiet', seconds });
  } catch (error) {
    const reason = error.output?.split('\n').find((line) => /error/i.test(line));
    say(area(target), `rustup could not: ${reason?.trim() || error.message}`);
    return false;
  }
  return hasPrebuilt(target);
}

/** Where it is written down that rustup failed for a target: for a day it is not asked again if there is another way. */
const refusal = (target) => inTarget('stamps', `rustup-refused-${target}`);

async function refusedLately(target) {
  const when = statSync(refusal(target), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const ready = existsSync(sources) && existsSync('/usr/bin/cargo') && (await aptVersion('rustc-web'));
  return Date.now() - when < 24 * 3600 * 1000 && Boolean(ready);
}

async function firstOf(names) {
  for (const name of names) if (await exists(name)) return name;
  return undefined;
}

/** Flags for rustc that link a command with the distribution's C library. They replace those of .cargo/config.toml. */
async function wasiFlags() {
  const stubs = inTarget('stamps', 'wasi-stubs.o');
  mkdirSync(inTarget('stamps'), { recursive: true });
  const source = inRoot('scripts', 'toolchain', 'wasi-stubs.ll');
  await run(await firstOf(assemblers), ['-filetype=obj', '-o', stubs, source], { output: 'quiet' });
  const linked = [`${wasiLibc}/crt1-command.o`, stubs].map((path) => `-C link-arg=${path}`);
  return ['-C target-feature=+simd128', '-C link-self-contained=no', `-L native=${wasiLibc}`, ...linked].join(' ');
}

async function installDistribution(target, clippy) {
  const needed = [];
  if (!(await aptVersion('rustc-web'))) needed.push('rustc-web');
  if (!existsSync('/usr/bin/cargo')) needed.push('cargo-web');
  if (!existsSync(sources)) needed.push('rust-web-src');
  if (clippy && !existsSync('/usr/bin/cargo-clippy')) needed.push('rust-web-clippy');
  if (target.startsWith('wasm32') && !(await firstOf(linkers))) needed.push('lld-22');
  if (target === wasiTarget) {
    if (!existsSync(`${wasiLibc}/libc.a`)) needed.push('wasi-libc');
    if (!(await firstOf(assemblers))) needed.push('llvm-22');
  }
  if (needed.length === 0) return;
  if (await aptVersion('rustc')) {
    throw new Error('rustc-web would replace the installed package rustc: remove that, or use rustup');
  }
  if (!(await aptInstall(area(target), needed))) {
    throw new Error(`no standard library for ${target}: run "rustup target add ${target}"`);
  }
}

/** Cargo for a target: `{ way, describe, cargo, environment, targetDirectory }`. `clippy`: lints are wanted too. */
export async function standardLibrary(target, { clippy = false } = {}) {
  const way = process.env.WASM_SETUP || 'auto';
  if (way !== 'build-std') {
    const prebuilt = { way: 'prebuilt', cargo: 'cargo', environment: {}, targetDirectory: inTarget() };
    if (await hasPrebuilt(target)) return { ...prebuilt, describe: `rustc has a standard library for ${target}` };
    const ask = way === 'prebuilt' || !(await refusedLately(target));
    if (ask && (await exists('rustup'))) {
      if (await addWithRustup(target)) return { ...prebuilt, describe: `rustup added ${target}` };
      mkdirSync(inTarget('stamps'), { recursive: true });
      writeFileSync(refusal(target), '');
    }
    if (way === 'prebuilt') throw new Error(`no prebuilt standard library for ${target}`);
  }
  await installDistribution(target, clippy);
  const name = target.startsWith('wasm32') ? 'wasm-build-std' : 'build-std';
  const environment = {
    RUSTC: '/usr/bin/rustc',
    RUSTDOC: '/usr/bin/rustdoc',
    RUSTC_BOOTSTRAP: '1',
    RUSTUP_TOOLCHAIN: undefined,
    CARGO_UNSTABLE_BUILD_STD: target.startsWith('wasm32') ? 'std,panic_abort' : 'std',
    CARGO_TARGET_DIR: inTarget(name),
    PATH: pathWith('/usr/bin'), // cargo's helpers (clippy) must be the distribution's too
  };
  if (target.startsWith('wasm32')) {
    environment[`CARGO_TARGET_${target.toUpperCase().replaceAll('-', '_')}_LINKER`] = await firstOf(linkers);
  }
  if (target === wasiTarget) environment.CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS = await wasiFlags();
  const describe = `standard library for ${target} is built from the distribution's sources (build-std)`;
  return { way: 'build-std', describe, cargo: '/usr/bin/cargo', environment, targetDirectory: inTarget(name) };
}
