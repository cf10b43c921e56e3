// `npm test`: runs everything, ends with the closing lines of the tests themselves. Each part sets up what it needs.
// `npm test -- cli browser` runs only these parts.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { closingLines } from '../lib/closing-lines.mjs';
import { buildNative, locked, requireRust } from '../lib/native.mjs';
import { installDependencies } from '../lib/npm.mjs';
import { inRoot, nodeBinary } from '../lib/paths.mjs';
import { run } from '../lib/process.mjs';
import { checkNames, runSteps } from '../lib/steps.mjs';
import { testPortableCrates } from '../lib/wasi.mjs';
import { buildWasm } from '../lib/wasm.mjs';
import { provideAll, provideCommand, provideWasi } from './setup.mjs';

/** Test files of Node's own runner below a folder. */
function nodeTests(folder) {
  const names = readdirSync(inRoot(folder), { recursive: true }).filter((name) => name.endsWith('.test.mjs'));
  return names.sort().map((name) => inRoot(folder, name));
}

const shown = (command, args, environment = {}) => closing(run(command, args, { output: 'tee', environment }));

/** The closing lines of what a command prints, also when it fails. */
async function closing(running) {
  try {
    return closingLines(await running);
  } catch (error) {
    error.lines = closingLines(error.output ?? '');
    throw error;
  }
}

/** Runs them, `atOnce` files at a time. */
const node = (folder, environment, atOnce = 1) =>
  shown(
    process.execPath,
    ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`, ...nodeTests(folder)],
    environment,
  );

/** How many files of the command's tests: most of their time is npm's, on one processor. More would keep others' time-outs waiting. */
const AT_ONCE = Math.min(2, availableParallelism());

const steps = {
  async rust() {
    await requireRust();
    return shown('cargo', ['test', '--workspace', ...locked]);
  },
  async types() {
    // The types of the bindings come from the module.
    await requireRust();
    await buildWasm();
    await run(nodeBinary('tsc'), ['-b']);
  },
  scripts: () => node('scripts'),
  cli: async () => node('tests/cli', await provideCommand(), AT_ONCE),
  async wasi() {
    await requireRust();
    const lines = await closing(testPortableCrates());
    return [...lines, ...(await node('tests/wasi', await provideWasi()))];
  },
  async conformance() {
    await requireRust();
    await buildNative();
    const lines = await node('tests/conformance');
    await run(process.execPath, [inRoot('tests', 'conformance', 'run.mjs'), '--subset']);
    return lines;
  },
  browser: async () =>
    shown(nodeBinary('playwright'), ['test', '--config', 'tests/browser/playwright.config.ts'], await provideAll()),
};

export async function main(words) {
  checkNames(steps, words);
  await installDependencies();
  await runSteps('test', steps, words);
}
