// What is built for this machine: the `gantry` command and the replay registry of the tests.
import { existsSync, readFileSync } from 'node:fs';
import { aptInstall } from './apt.mjs';
import { gantryCommand, inRoot, registryCommand } from './paths.mjs';
import { exists, run, say, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';

/** In CI a Cargo.lock that does not fit is an error; elsewhere cargo may complete it. */
export const locked = process.env.CI ? ['--locked'] : [];

/** The least version of Rust that the workspace takes. */
function neededRust() {
  const [, version] = /^rust-version = "(.*)"$/m.exec(readFileSync(inRoot('Cargo.toml'), 'utf8')) ?? [];
  if (!version) throw new Error('Cargo.toml names no rust-version');
  return version;
}

/** Whether version `one` is `other` or newer; numbers that are missing are 0. */
export function isAtLeast(one, other) {
  const numbers = (version) => version.split('.').map((part) => Number.parseInt(part, 10));
  const [ours, theirs] = [numbers(one), numbers(other)];
  for (const [index, number] of theirs.entries()) {
    if ((ours[index] ?? 0) !== number) return (ours[index] ?? 0) > number;
  }
  return true;
}

/** Fails with advice where there is no Rust or an old one; installs a linker where that is all that is missing. */
export async function requireRust() {
  if (!(await exists('cargo')))
    throw new Error('Rust is missing: install it from https://rustup.rs and open a new shell');
  const [, version = '0'] = /^cargo (\S+)/.exec(await run('cargo', ['--version'], { output: 'quiet' })) ?? [];
  const needed = neededRust();
  if (!isAtLeast(version, needed))
    throw new Error(
      `cargo ${version} is too old: Rust ${needed} or newer is needed (https://rustup.rs, then a new shell)`,
    );
  if ((await exists('cc')) || (await aptInstall('rust', ['build-essential']))) return;
  throw new Error('a C compiler and linker is missing: install build-essential (Linux) or the Xcode tools (macOS)');
}

const inputs = ['Cargo.toml', 'Cargo.lock', '.cargo/config.toml', 'crates'].map((name) => inRoot(name));

/** Builds target/release/gantry and target/release/gantry-registry unless they are current. */
export async function buildNative() {
  if (process.env.GANTRY_BIN && process.env.GANTRY_REGISTRY_BIN) {
    say('native', `using ${gantryCommand} and ${registryCommand}`);
    return;
  }
  await unlessFresh('native', { inputs, outputs: [gantryCommand, registryCommand] }, async () => {
    await requireRust();
    await timed('native', 'gantry and gantry-registry are built', () =>
      run('cargo', ['build', '--release', ...locked, '--package', 'gantry-cli', '--package', 'gantry-testkit']),
    );
    for (const path of [gantryCommand, registryCommand])
      if (!existsSync(path)) throw new Error(`cargo did not make ${path}`);
  });
}
