/** The kill matrix as a page of Markdown: moments by victim and by where they fell, and what was found. */
import { type Course, type Moment, type Outcome, VICTIMS } from './kill-matrix.js';

export interface About {
  /** `2026-11-22`. */
  date: string;
  seed: number;
  browser: string;
  packages: string;
}

export function killTable(outcomes: Outcome[], course: Course, about: About): string {
  const wrong = outcomes.filter(({ problems }) => problems.length > 0);
  const byTime = outcomes.filter(({ moment }) => 'after' in moment);
  const inOperations = outcomes.filter(({ moment }) => 'stop' in moment);
  return [
    `# Kill matrix, ${about.date}`,
    '',
    `${outcomes.length} moments, seed ${about.seed}, ${about.browser}. ${about.packages}`,
    `A scenario takes ${(course.milliseconds / 1000).toFixed(1)} s undisturbed, with ${course.operations.length} operations on storage. Workers are terminated, pages closed or`,
    'crashed, the browser gets SIGKILL. After each end the store is opened again: everything that was reported reads with the',
    'digest it had, `verify` finds nothing, and the next install gives the tree of an undisturbed one.',
    '',
    `**${outcomes.length - wrong.length} of ${outcomes.length} as they must be.**`,
    ...wrong.map(
      ({ victim, moment, stage, problems }) => `- ${victim}, ${where(moment)}, ${stage}: ${problems.join('; ')}`,
    ),
    '',
    '## Spread over the stages',
    '',
    ...table(byTime, ({ stage }) => stage),
    '',
    '## In the midst of an operation on storage, half of a write done',
    '',
    ...table(inOperations, ({ moment, stage }) =>
      'stop' in moment && stage !== 'after the end' ? moment.stop.operation : stage,
    ),
    '',
  ].join('\n');
}

/** When it was, in words. */
export function where(moment: Moment): string {
  if ('after' in moment) return `after ${moment.after} ms`;
  const { worker, operation, occurrence } = moment.stop;
  return `in ${operation} number ${occurrence} of ${worker}`;
}

function table(outcomes: Outcome[], rowOf: (outcome: Outcome) => string): string[] {
  const rows = new Map<string, Outcome[]>();
  for (const outcome of outcomes) rows.set(rowOf(outcome), [...(rows.get(rowOf(outcome)) ?? []), outcome]);
  const count = (row: Outcome[], victim: string) => row.filter((outcome) => outcome.victim === victim).length || '';
  const lines = [...rows].map(
    ([name, row]) => `| ${[name, ...VICTIMS.map((victim) => count(row, victim)), row.length].join(' | ')} |`,
  );
  return [
    `| ended | ${VICTIMS.join(' | ')} | all |`,
    `|---|${VICTIMS.map(() => '---|').join('')}---|`,
    ...lines.sort(),
    `| all | ${VICTIMS.map((victim) => count(outcomes, victim)).join(' | ')} | ${outcomes.length} |`,
  ];
}
