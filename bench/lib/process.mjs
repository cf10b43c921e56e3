// Running commands: plainly, or measured through measure.py.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { benchFolder } from './paths.mjs';

const execute = promisify(execFile);
const python = ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['-c', '']).status === 0);

/**
 * What one run of a command cost. Seconds and bytes.
 * @typedef {{ status: number, wall: number, user: number, system: number, maxRss: number,
 *   voluntarySwitches: number, involuntarySwitches: number }} Usage
 */

/** A command with the folder and the only environment variables it gets.
 * @typedef {{ command: string[], cwd: string, environment: Record<string, string> }} Invocation */

/**
 * Runs a command to its end and measures it. A bad exit status is no error here: the caller rejects the sample.
 * @param {Invocation} invocation
 * @param {string} scratch folder for the report and the output
 * @returns {Promise<{ usage: Usage, output: string }>}
 */
export async function measure({ command, cwd, environment }, scratch) {
  if (!python) throw new Error('python3 is needed to measure (its standard library is enough)');
  const report = join(scratch, 'usage.json');
  const log = join(scratch, 'output.txt');
  rmSync(report, { force: true });
  const script = join(benchFolder, 'lib', 'measure.py');
  await execute(python, ['-I', '-S', script, report, log, ...command], { cwd, env: environment });
  return { usage: JSON.parse(readFileSync(report, 'utf8')), output: readFileSync(log, 'utf8') };
}

/** Runs a command that must succeed, and gives back its standard output. @param {Invocation} invocation */
export async function run({ command, cwd, environment }) {
  const [file, ...words] = command;
  const { stdout } = await execute(file, words, { cwd, env: environment, maxBuffer: 1 << 28 });
  return stdout;
}
