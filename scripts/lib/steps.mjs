// Runs named steps one after the other, goes on after a failure but not after Ctrl-C, and says at the end how each went.
import { performance } from 'node:perf_hooks';
import { interruptedBy, say } from './process.mjs';

const LAST_LINES = 40;

/** Throws unless every wanted step is one of `steps`. */
export function checkNames(steps, wanted) {
  const unknown = wanted.filter((name) => !Object.hasOwn(steps, name));
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join(', ')} (there are ${Object.keys(steps).join(', ')})`);
}

/**
 * `steps` maps names to functions; `wanted` picks some by name (all when empty). A step may resolve to lines worth
 * repeating at the end. Throws when any step failed.
 */
export async function runSteps(area, steps, wanted = []) {
  checkNames(steps, wanted);
  const results = [];
  for (const [name, step] of Object.entries(steps)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    if (interruptedBy()) break;
    const start = performance.now();
    say(area, `${name} …`);
    let failure;
    let lines = [];
    try {
      lines = (await step()) ?? [];
    } catch (error) {
      failure = error;
      lines = error.lines ?? [];
      say(area, `${name}: ${error.message}`);
      if (error.output && !error.shown) process.stderr.write(error.output);
    }
    results.push({ name, failure, lines, seconds: (performance.now() - start) / 1000 });
  }
  process.stderr.write('\n');
  for (const { name, failure, lines, seconds } of results) {
    say(area, `${failure ? 'FAILED' : 'ok    '} ${name} (${seconds.toFixed(1)} s)`);
    for (const line of lines) console.log(`         ${line}`);
    for (const line of lastLines(failure)) console.log(`       | ${line}`);
  }
  const failed = results.filter(({ failure }) => failure).map(({ name }) => name);
  if (interruptedBy()) throw new Error(`ended by ${interruptedBy()}`);
  if (failed.length > 0) throw new StepsFailed(failed);
}

/** How what a failed step ran ended, when its output was kept: what is shown far above may be cut off where this is read. */
function lastLines(failure) {
  // Whoever ends it knows why.
  if (!failure || interruptedBy()) return [];
  return (failure.output || failure.message).trimEnd().split('\n').slice(-LAST_LINES);
}

/** Some steps failed; what went wrong has been printed. */
export class StepsFailed extends Error {
  constructor(names) {
    super(`failed: ${names.join(', ')}`);
    this.name = 'StepsFailed';
  }
}
