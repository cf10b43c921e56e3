// Installs in a page: Gantry against the installers that run in browsers, and against what none can be faster than.
import { runBrowserSession } from '../lib/browser/session.mjs';

/** @param {Record<string, any>} options */
export async function main(options) {
  await runBrowserSession(options);
}
