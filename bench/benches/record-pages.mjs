// `npm run bench -- record-pages`: completes the recording by what the installers in pages ask for.
import { recordInPages } from '../lib/browser/session.mjs';

/** @param {Record<string, any>} options */
export async function main(options) {
  await recordInPages(options);
}
