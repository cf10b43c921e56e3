// `npm run check:macos`: type-checks the Rust code for macOS, on any system.
import { requireRust } from '../lib/native.mjs';
import { inRoot } from '../lib/paths.mjs';
import { run, say } from '../lib/process.mjs';
import { standardLibrary } from '../lib/standard-library.mjs';

const target = process.env.DARWIN_TARGET || 'aarch64-apple-darwin';

export async function main(words) {
  await requireRust();
  const std = await standardLibrary(target);
  say('macos', std.describe);
  const name = target.replaceAll('-', '_');
  const tool = (file) => inRoot('scripts', 'toolchain', file);
  const environment = { ...std.environment };
  if (process.platform !== 'darwin') {
    // Nothing is linked, so neither a C compiler for the target nor an SDK is needed: stand-ins let the build
    // scripts of C code pass, and an SDKROOT keeps them from asking xcrun.
    environment[`CC_${name}`] = tool('fake-cc');
    environment[`CXX_${name}`] = tool('fake-cc');
    environment[`AR_${name}`] = tool('fake-ar');
    environment.SDKROOT = inRoot('scripts', 'toolchain');
  }
  const packages = words.length > 0 ? words : ['--package', 'gantry-cli', '--package', 'gantry-native'];
  await run(std.cargo, ['check', '--target', target, ...packages], { environment });
}
