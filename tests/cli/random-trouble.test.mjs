// Random courses of the command under trouble: projects that share a store, a registry that fails, commands that run at the same
// time and are ended from outside, damaged files (lib/trouble/course.mjs). GANTRY_RANDOM_SEEDS says which to play, as
// `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Course } from './lib/trouble/course.mjs';

const [from = 0, to = from] = (process.env.GANTRY_RANDOM_SEEDS || '0-7').split('-').map(Number);
const rounds = Number(process.env.GANTRY_RANDOM_ROUNDS || 8);

describe('the command under trouble', { concurrency: 1 }, () => {
  for (let seed = from; seed <= to; seed += 1) {
    test(`leaves what it was said to leave: seed ${seed}`, async (context) => {
      const first = await Course.run(seed, rounds);
      if (first.problems.length === 0) return;
      // Two plays differ in time, and on a busy machine the registry may be late: what goes wrong twice counts, what does so once
      // is told.
      const { problems, steps } = await Course.run(seed, rounds);
      if (problems.length === 0)
        context.diagnostic(`once only: ${first.problems.join('\n')}\n${first.steps.join('\n')}`);
      const repeat = `GANTRY_RANDOM_SEEDS=${seed} GANTRY_RANDOM_ROUNDS=${rounds}`;
      assert.deepEqual(problems, [], `${repeat} repeats it. Its steps:\n${steps.join('\n')}`);
    });
  }
});
