// What a result says about the circumstances of its figures, for benches that are not of whole installs by several tools.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { commit, load, machine } from './machine.mjs';
import { benchFolder, say } from './paths.mjs';
import { resultsFolder, writeResults } from './results.mjs';

/** The first digits of a file's digest, to tell builds apart. @param {string} file */
export const buildOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16);

/** Rounds that were asked for. @param {Record<string, any>} options of the command line */
export const roundsOf = (options) => Number(options.rounds ?? (options.full ? 5 : 3));

/** Indexes in the order of a round: every second one goes backwards. @template T @param {T[]} items @param {number} round */
export const inTurn = (items, round) => (round % 2 === 0 ? [...items] : [...items].reverse());

/**
 * Begins a result. `save` writes it, with what `report` makes of it, and may be called after every step.
 * @template {object} Own
 * @param {string} bench @param {Record<string, any>} options @param {Own} own what this bench has besides
 * @param {(result: any) => { text: string, charts: Record<string, string> }} report
 */
export function beginStudy(bench, options, own, report) {
  const started = new Date();
  const result = {
    bench,
    date: started.toISOString(),
    machine: /** @type {any} */ (machine()),
    commit: commit(dirname(benchFolder)),
    rounds: roundsOf(options),
    full: Boolean(options.full),
    ...own,
  };
  const out = resultsFolder(options.out, started);
  const save = () => {
    result.machine.loadAtEnd = load();
    writeResults(out, bench, result, report(result));
  };
  return { result, save, done: () => say(bench, `written to ${out}`) };
}

/** What a page opens with. @param {any} result @param {string} title @param {string[]} lines */
export function studyHead(result, title, lines) {
  const { machine: on, rounds } = result;
  return `# ${title}, ${result.date.slice(0, 16).replace('T', ' ')} UTC

- Machine: ${on.cpu}, ${on.cores} cores, ${on.memoryGiB} GiB, ${on.kernel}, Node ${on.node}; **load average ${on.loadAtStart.join(' / ')} at the start, ${(on.loadAtEnd ?? on.loadAtStart).join(' / ')} at the end**
- Tree at commit ${result.commit}
- ${rounds} round${rounds === 1 ? '' : 's'} in alternating order, one unmeasured before them; figures are medians (min–max)
${lines.map((line) => `- ${line}\n`).join('')}`;
}

/** A table in Markdown. @param {string[]} head @param {(string | number)[][]} rows */
export function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
