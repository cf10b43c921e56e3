// What the tests need: dependencies, both builds, browsers, the recording. Also for people who run single tests by hand.
import { provideBrowsers } from '../lib/browsers.mjs';
import { buildNative, requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { gantryCommand, registryCommand } from '../lib/paths.mjs';
import { provideRecording, recordingFolder } from '../lib/recording.mjs';
import { buildPackage } from '../lib/site.mjs';
import { buildConformance, buildWasm } from '../lib/wasm.mjs';

/** Sets up for the parts of the tests that will run; resolves to the variables the tests get. */
export async function setUp({ browser = true, native = true } = {}) {
  await installDependencies();
  await requireRust();
  if (native) {
    await buildNative();
    await provideRecording();
  }
  await buildWasm();
  if (browser) {
    await buildPackage();
    await buildConformance();
  }
  return {
    ...(browser ? await provideBrowsers() : {}),
    GANTRY_BIN: gantryCommand,
    GANTRY_REGISTRY_BIN: registryCommand,
    GANTRY_RECORDING: recordingFolder(),
  };
}

export async function main() {
  const environment = await setUp();
  for (const [name, value] of Object.entries(environment)) console.log(`${name}=${value}`);
}
