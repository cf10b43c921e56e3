// `npm run kill-matrix`: workers, pages and browsers ended at some two hundred moments of installs and prunes, and what is
// found afterwards; written to tests/browser/runs/. `npm test -- browser` has a few of these moments.
import { installDependencies } from '../lib/npm.mjs';
import { nodeBinary } from '../lib/paths.mjs';
import { run } from '../lib/process.mjs';
import { provideAll } from './setup.mjs';

export async function main() {
  await installDependencies();
  const environment = { ...(await provideAll()), GANTRY_KILL_MATRIX: 'full' };
  const words = ['test', '--config', 'tests/browser/playwright.config.ts', 'kill-matrix'];
  await run(nodeBinary('playwright'), words, { environment });
}
