// `npm run record`: takes from the registry what the tests replay. Words are passed on to `gantry-registry record`.
import { requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { record } from '../lib/recording.mjs';

export async function main(words) {
  await installDependencies();
  await requireRust();
  await record(words);
}
