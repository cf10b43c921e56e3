// What is built for this machine: the `gantry` command and the replay registry of the tests.
import { existsSync } from 'node:fs';
import { aptInstall } from './apt.mjs';
import { gantryCommand, inRoot, registryCommand } from './paths.mjs';
import { exists, run, say, timed } from './process.mjs';
import { unlessFresh } from './stamp.mjs';

/** In CI a Cargo.lock that does not fit is an error; elsewhere cargo may complete it. */
export const locked = process.env.CI ? ['--locked'] : [];

/** Fails with advice where there is no Rust; installs a linker where that is all that is missing. */
export async function requireRust() {
  if (!(await exists('cargo')))
    throw new Error('Rust is missing: install it from https://rustup.rs and open a new shell');
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
