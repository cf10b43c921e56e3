// The lines with which test runners end, picked out of their output to be repeated at the very end.
import { stripVTControlCharacters } from 'node:util';

const closing = [
  /^test result: /, // cargo test
  /^(?:#|ℹ) (?:tests|pass|fail|cancelled|skipped|todo) \d+/, // node --test
  /^\s*\d+ (?:passed|failed|flaky|skipped|did not run|interrupted)\b/, // playwright
];

/** One cargo line for all of a workspace's test binaries, other runners' lines as they are. */
export function closingLines(output) {
  const plain = stripVTControlCharacters(output).split('\n');
  const found = plain.filter((line) => closing.some((pattern) => pattern.test(line)));
  const cargo = found.filter((line) => line.startsWith('test result: '));
  if (cargo.length < 2) return found;
  const sum = (word) => cargo.reduce((total, line) => total + Number(line.match(`(\\d+) ${word}`)?.[1] ?? 0), 0);
  const verdict = cargo.some((line) => line.includes('FAILED')) ? 'FAILED' : 'ok';
  const counts = `${sum('passed')} passed; ${sum('failed')} failed; ${sum('ignored')} ignored`;
  return [`test result: ${verdict}. ${counts} (${cargo.length} test binaries)`];
}
