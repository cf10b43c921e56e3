// One task over one input, done in every way at every place, in interleaved rounds.
import { spread } from '../statistics.mjs';
import { inTurn } from '../study.mjs';

/** A way of doing a task at a place; `again` marks the second run of the same, the null test.
 * @typedef {{ way: string, place: import('./places.mjs').Place, again?: boolean }} Candidate */

/** @typedef {Candidate & { samples: number[], runs: number, check: number }} Row */

/** What is Gantry's own. */
export const OWN = 'gantry';

/**
 * @param {import('./places.mjs').Places} places
 * @param {{ task: string, candidates: Candidate[], numbers: Record<string, number>, rounds: number, milliseconds: number }} plan
 * `task` begins a workload's name, `numbers` are those of the input at each place, `milliseconds` is what a sample takes
 * at least
 * @returns {Promise<Row[]>}
 */
export async function measureTask(places, { task, candidates, numbers, rounds, milliseconds }) {
  const rows = [];
  for (const candidate of candidates) {
    const { way, place } = candidate;
    const prepared = await places.command(place, { prepare: `${task}/${way}`, input: numbers[place] });
    rows.push({ ...candidate, samples: [], runs: 0, check: Number.NaN, workload: prepared.workload });
  }
  // Twice as long, unmeasured: engines compile what runs often a second time.
  for (const { place, workload } of rows)
    await places.command(place, { run: workload, milliseconds: 2 * milliseconds });
  for (let round = 0; round < rounds; round++) {
    for (const row of inTurn(rows, round)) {
      const answer = await places.command(row.place, { run: row.workload, milliseconds });
      row.samples.push(answer.milliseconds);
      row.runs += answer.runs;
      row.check = answer.check;
    }
  }
  for (const { place, workload } of rows) await places.command(place, { drop: workload });
  return rows.map(({ workload: _, ...row }) => row);
}

/** Opens an input at all places that are asked for. @param {import('./places.mjs').Places} places
 * @param {string} file @param {import('./places.mjs').Place[]} at */
export async function openAt(places, file, at) {
  const numbers = {};
  let described = {};
  for (const place of at) {
    const answer = await places.open(place, file);
    numbers[place] = answer.input;
    if ('bytes' in answer) described = { items: answer.items, bytes: answer.bytes };
  }
  const close = async () => {
    for (const place of at) await places.command(place, { close: numbers[place] });
  };
  return { numbers, described, close };
}

/** The row of the same place that others are compared with. @param {Row[]} rows @param {Row} row */
export const ownRow = (rows, { place }) => {
  const where = place === 'page' ? 'wasm' : place === 'Node' ? 'native' : place;
  return rows.find((row) => row.way === OWN && row.place === where && !row.again);
};

/** Rows whose number is not that of the first. @param {Row[]} rows */
export const dissenters = (rows) => rows.filter((row) => row.check !== rows[0].check);

/** @param {Row} row */
export const medianOf = (row) => spread(row.samples)?.median ?? Number.NaN;
