// What random courses share: a seed decides everything but time, rounds are played until something is wrong, and what was done is
// noted so that it can be told.
import assert from 'node:assert/strict';
import { Workspace } from '../programs.mjs';
import { Dice } from '../random/dice.mjs';
import { FaultyRegistry } from '../random/faulty-registry.mjs';

/** `GANTRY_RANDOM_SEEDS` (as `first-last`) and `GANTRY_RANDOM_ROUNDS`, or these. */
export function chosen(seeds, rounds) {
  const [from = 0, to = from] = (process.env.GANTRY_RANDOM_SEEDS || seeds).split('-').map(Number);
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return { seeds: all, rounds: Number(process.env.GANTRY_RANDOM_ROUNDS || rounds) };
}

/**
 * Plays a course of `seed` that `make` makes. Two plays differ in time, and on a busy machine the registry may be late: what goes wrong
 * twice counts, what does so once is told.
 */
export async function playSeed(context, make, seed, rounds) {
  const first = await make().played(rounds);
  if (first.problems.length === 0) return;
  const { problems, steps } = await make().played(rounds);
  if (problems.length === 0) context.diagnostic(`once only: ${first.problems.join('\n')}\n${first.steps.join('\n')}`);
  const repeat = `GANTRY_RANDOM_SEEDS=${seed} GANTRY_RANDOM_ROUNDS=${rounds}`;
  assert.deepEqual(problems, [], `${repeat} repeats it. Its steps:\n${steps.join('\n')}`);
}

/** A course says how it begins, what a round is, and what has to hold at the end. */
export class RandomCourse {
  problems = [];
  steps = [];
  round = 0;
  /** What the registry has, by name. */
  universe;
  registry;
  workspace;

  constructor(seed) {
    this.dice = new Dice(seed);
  }

  /** Resolves to itself once `rounds` have been played, or something was wrong. */
  async played(rounds) {
    const ends = [];
    try {
      await this.begin({ after: (end) => ends.push(end) });
      while (this.round < rounds && this.problems.length === 0) await this.play();
      if (this.problems.length === 0) await this.finish();
    } finally {
      await this.registry?.stop();
      this.end();
      for (const end of ends) end();
    }
    return this;
  }

  /** Starts a registry of `universe`, and a workspace for `test`. */
  async start(test, universe) {
    this.universe = universe;
    this.registry = await new FaultyRegistry().start(universe);
    this.workspace = new Workspace(test, this.registry.url);
  }

  /** To be called before the workspace goes. */
  end() {}

  note(text) {
    this.steps.push(`${String(this.round).padStart(2)} ${text.replaceAll(this.workspace.folder, '')}`);
  }

  problem(text) {
    this.note(`PROBLEM ${text}`);
    this.problems.push(`round ${this.round}: ${text}`);
  }
}
