// Where results go: bench/runs/<date>/<name>.json, .md and charts, rewritten after every phase so that a crash loses
// nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFolder } from './paths.mjs';

/** @param {string | undefined} out @param {Date} date */
export function resultsFolder(out, date) {
  const folder = out ?? join(benchFolder, 'runs', date.toISOString().slice(0, 10));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** @param {string} folder @param {string} name @param {object} result
 * @param {{ text: string, charts: Record<string, string> }} report */
export function writeResults(folder, name, result, { text, charts }) {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 1)}\n`);
  writeFileSync(join(folder, `${name}.md`), text);
  for (const [file, svg] of Object.entries(charts)) writeFileSync(join(folder, file), svg);
}
