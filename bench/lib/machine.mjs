// What a figure depends on besides the programs.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** Load averages over 1, 5 and 15 minutes. */
export const load = () => loadavg().map((value) => Number(value.toFixed(2)));

export function machine() {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.versions.node,
    loadAtStart: load(),
  };
}

/** The commit that is checked out, marked if the tree differs from it. @param {string} folder */
export function commit(folder) {
  const git = (...words) => execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain', 'crates') ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
