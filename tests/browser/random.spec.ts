/**
 * Random courses of a store over several tabs, a worker that reads by itself and a registry that fails (support/random/course.ts).
 * GANTRY_RANDOM_SEEDS says which to play, as `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
 */
import { expect, test } from './support/fixtures.js';
import { Course } from './support/random/course.js';

const [first = 0, last = first] = (process.env.GANTRY_RANDOM_SEEDS || '0-4').split('-').map(Number);
const rounds = Number(process.env.GANTRY_RANDOM_ROUNDS || 8);

// Two plays of a seed differ in time, and not all that may meet by chance is allowed for: what fails twice counts, and what fails
// once is told as flaky.
test.describe.configure({ retries: 1 });

for (let seed = first; seed <= last; seed++) {
  test(`a store that is used at random is what it was said to be: seed ${seed}`, async ({ context, site }) => {
    test.setTimeout(300_000);
    const { problems, steps } = await Course.run(seed, rounds, { context, site });
    const repeat = `GANTRY_RANDOM_SEEDS=${seed} GANTRY_RANDOM_ROUNDS=${rounds}`;
    expect(problems, `${repeat} repeats it. Its steps:\n${steps.join('\n')}`).toEqual([]);
  });
}
