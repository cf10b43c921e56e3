// What the tests need: dependencies, both builds, browsers, the recording. Also for people who run single tests by hand.
import { provideBrowsers } from '../lib/browsers.mjs';
import { buildNative, requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { gantryCommand, registryCommand, wasiCommand } from '../lib/paths.mjs';
import { providePrograms } from '../lib/programs.mjs';
import { provideRecording, recordingFolder } from '../lib/recording.mjs';
import { buildPackage } from '../lib/site.mjs';
import { buildWasi, provideWasiHosts } from '../lib/wasi.mjs';
import { buildConformance, buildWasm } from '../lib/wasm.mjs';
import { provideWebkit } from '../lib/webkit.mjs';

/** The command and what it installs from; resolves to the variables that tell the tests where they are. */
export async function provideCommand() {
  await providePrograms('cli', ['git', 'openssl']);
  await requireRust();
  await buildNative();
  await provideRecording();
  return { GANTRY_BIN: gantryCommand, GANTRY_REGISTRY_BIN: registryCommand, GANTRY_RECORDING: recordingFolder() };
}

/** The command, the package and the browsers that load it. Browsers first: where they are missing nothing need be built. */
export async function provideAll() {
  const browsers = { ...(await provideBrowsers()), ...(await provideWebkit()) };
  await providePrograms('browser', ['git', 'unzip', 'python3']);
  const command = await provideCommand();
  await buildWasm();
  await buildPackage();
  await buildConformance();
  return { ...command, ...browsers };
}

/** What the tests under WASI need: the command, the package, and the hosts, which are wasmtime and the browsers too. */
export async function provideWasi() {
  const hosts = await provideWasiHosts();
  const browsers = await provideBrowsers();
  const command = await provideCommand();
  await buildWasi();
  await buildWasm();
  await buildPackage();
  return { ...command, ...browsers, ...hosts, GANTRY_WASI: wasiCommand };
}

export async function main() {
  await installDependencies();
  for (const [name, value] of Object.entries({ ...(await provideAll()), ...(await provideWasi()) }))
    console.log(`${name}=${value}`);
}
