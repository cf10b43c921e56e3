// `npm test`: sets up, runs everything, ends with the closing lines of the tests themselves.
// `npm test -- cli browser` runs only these parts.
import { existsSync, readdirSync } from 'node:fs';
import { closingLines } from '../lib/closing-lines.mjs';
import { locked } from '../lib/native.mjs';
import { inRoot, nodeBinary } from '../lib/paths.mjs';
import { run } from '../lib/process.mjs';
import { runSteps } from '../lib/steps.mjs';
import { setUp } from './setup.mjs';

/** Test files of Node's own runner below a folder. */
function nodeTests(folder) {
  if (!existsSync(inRoot(folder))) return [];
  const names = readdirSync(inRoot(folder), { recursive: true }).filter((name) => name.endsWith('.test.mjs'));
  return names.sort().map((name) => inRoot(folder, name));
}

export async function main(words) {
  const wanted = (part) => words.length === 0 || words.includes(part);
  const environment = await setUp({ browser: wanted('browser'), native: wanted('cli') || wanted('browser') });

  const shown = async (command, args) => {
    try {
      return closingLines(await run(command, args, { output: 'tee', environment }));
    } catch (error) {
      error.lines = closingLines(error.output ?? '');
      throw error;
    }
  };
  const node = (folder) => () =>
    shown(process.execPath, ['--test', '--test-reporter=spec', '--test-concurrency=1', ...nodeTests(folder)]);

  const steps = {
    rust: () => shown('cargo', ['test', '--workspace', ...locked]),
    types: () => run(nodeBinary('tsc'), ['-b']),
    scripts: node('scripts'),
    unit: node('tests/unit'),
    cli: node('tests/cli'),
    browser: () => shown(nodeBinary('playwright'), ['test', '--config', 'tests/browser/playwright.config.ts']),
  };
  if (nodeTests('tests/unit').length === 0) delete steps.unit;
  await runSteps('test', steps, words);
}
