// What the packument and the archive bench have in common: tasks over inputs at all places, a table and a chart each.
import { barChart } from '../chart.mjs';
import { say } from '../paths.mjs';
import { times } from '../report.mjs';
import { ratios, spread } from '../statistics.mjs';
import { beginStudy, buildOf, roundsOf, studyHead, table } from '../study.mjs';
import { Workspace } from '../workspace.mjs';
import { provideModule, provideProgram } from './build.mjs';
import { Inputs } from './inputs.mjs';
import { Places } from './places.mjs';
import { dissenters, measureTask, medianOf, OWN, openAt, ownRow } from './rounds.mjs';

/** What a sample takes at least. */
const MILLISECONDS = 60;

/** @typedef {import('./rounds.mjs').Candidate} Candidate */

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string} what
 * @property {Candidate[]} candidates
 * @property {(input: any) => number | undefined} bytes what MB/s are made of
 */

/**
 * Starts everything a bench of workloads needs, and stops it afterwards.
 * @param {Record<string, any>} options @param {(tools: { inputs: Inputs, places: Places, builds: object }) => Promise<void>} work
 */
export async function withPlaces(options, work) {
  const program = await provideProgram();
  const module = await provideModule();
  const workspace = Workspace.create(options.fs);
  try {
    const folder = workspace.folderFor('inputs');
    const places = await Places.start({ program, module, folder });
    try {
      const builds = {
        program: buildOf(program),
        module: buildOf(`${module}/gantry_bg.wasm`),
        browser: places.browser,
      };
      await work({ inputs: new Inputs(program, folder), places, builds });
    } finally {
      await places.close();
    }
  } finally {
    workspace.remove();
  }
}

/** The product's own way at both places, each twice: what lies between the two means nothing. @returns {Candidate[]} */
export const ownCandidates = () =>
  /** @type {const} */ (['native', 'wasm']).flatMap((place) => [
    { way: OWN, place },
    { way: OWN, place, again: true },
  ]);

/** Ways that are compiled for both. @param {string[]} ways @returns {Candidate[]} */
export const atBoth = (...ways) =>
  ways.flatMap((way) => /** @type {const} */ (['native', 'wasm']).map((place) => ({ way, place })));

/**
 * Runs a bench of tasks.
 * @param {{ bench: string, title: string, tasks: Task[], about: string[],
 *   inputs: (inputs: Inputs, options: any) => Promise<import('./inputs.mjs').Input[]>,
 *   describe?: (places: Places, numbers: any) => Promise<object> }} study
 * `describe` adds to what is known of an input
 * @param {Record<string, any>} options
 */
export async function runTasks({ bench, title, tasks, about, inputs: provide, describe }, options) {
  await withPlaces(options, async ({ inputs, places, builds }) => {
    const own = { builds, milliseconds: MILLISECONDS, inputs: [] };
    const { result, save, done } = beginStudy(bench, options, own, (all) =>
      report(all, { bench, title, tasks, about }),
    );
    for (const input of await provide(inputs, options)) {
      const { file, ...known } = input;
      const opened = await openAt(places, file, ['native', 'wasm', 'page', 'Node']);
      const more = (await describe?.(places, opened.numbers)) ?? {};
      const record = { ...known, ...opened.described, ...more, tasks: {} };
      result.inputs.push(record);
      for (const { name, candidates } of tasks) {
        say(bench, `${input.label}: ${name}`);
        const plan = { task: `${bench}/${name}`, candidates, numbers: opened.numbers };
        const rows = await measureTask(places, { ...plan, rounds: roundsOf(options), milliseconds: MILLISECONDS });
        record.tasks[name] = rows;
        save();
      }
      await opened.close();
    }
    done();
  });
}

/** Milliseconds as people read them. @param {number} value */
export const inMilliseconds = (value) =>
  `${value < 9.95 ? value.toFixed(2) : value < 99.5 ? value.toFixed(1) : value.toFixed(0)} ms`;
const megabytes = (value) => `${(value / 1e6).toFixed(value < 1e7 ? 2 : 0)} MB`;
const rate = (bytes, milliseconds) => Math.round(bytes / milliseconds / 1000);
const labelOf = ({ way, place, again }) => `${way}${again ? ' again' : ''}, ${place}`;

function report(result, { bench, title, tasks, about }) {
  const { builds, milliseconds } = result;
  const lines = [
    studyHead(result, title, [
      `Native program ${builds.program}, module ${builds.module} in a worker of ${builds.browser}`,
      `A sample repeats the task for at least ${milliseconds} ms and gives the mean; twice that ran before, unmeasured`,
      'The last column is that way’s time over Gantry’s at the same place (JavaScript of the page: over wasm, of Node: over native), round by round: **above 1 Gantry is faster**. *gantry again* is the same code a second time: what lies between the two means nothing',
      ...about,
    ]),
  ];
  const charts = {};
  for (const task of tasks) {
    lines.push(`## ${task.name}: ${task.what}`, '', `![${task.name}](${bench}-${task.name}.svg)`, '');
    const groups = [];
    for (const input of result.inputs) {
      const rows = input.tasks[task.name];
      if (!rows) continue;
      const bytes = task.bytes(input);
      lines.push(`${input.label}, ${input.origin}: ${input.items} items, ${megabytes(input.bytes)}`, '');
      lines.push(
        table(
          ['way', 'place', 'time', 'MB/s', '÷ gantry'],
          rows.map((row) => cells(row, rows, bytes)),
        ),
        '',
      );
      const odd = dissenters(rows).map(labelOf);
      if (odd.length > 0) lines.push(`**They disagree on what is in the input:** ${odd.join('; ')}`, '');
      const bars = rows.filter((row) => !row.again).map((row) => bar(row, bytes));
      if (!input.onlyInTable) groups.push({ label: input.label, detail: input.origin, bars });
    }
    const subtitle = `Median of ${result.rounds}, ${result.date.slice(0, 10)}; shorter is faster. Scales differ between inputs.`;
    charts[`${bench}-${task.name}.svg`] = barChart({ title: `${title}: ${task.what}`, subtitle, groups, left: 250 });
  }
  return { text: `${lines.join('\n')}\n`, charts };
}

function cells(row, rows, bytes) {
  const { median, min, max } = /** @type {import('../statistics.mjs').Spread} */ (spread(row.samples));
  const base = ownRow(rows, row);
  const ratio = base && base !== row ? ratios(row.samples, base.samples) : undefined;
  const compared = ratio ? `${times(ratio.median)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})` : '–';
  const time = `${inMilliseconds(median)} (${min.toFixed(2)}–${max.toFixed(2)})`;
  return [`${row.way}${row.again ? ' again' : ''}`, row.place, time, bytes ? rate(bytes, median) : '–', compared];
}

function bar(row, bytes) {
  const value = medianOf(row);
  const speed = bytes ? `, ${rate(bytes, value)} MB/s` : '';
  return { label: labelOf(row), value, note: `${inMilliseconds(value)}${speed}`, own: row.way === OWN };
}
