// Random courses of the command on grounds that fail it: disks that get full or cannot be written to any more, users who may not
// do everything, somebody who meddles with files meanwhile, terminals and pipes that go (lib/trouble/ground-course.mjs).
// GANTRY_RANDOM_SEEDS says which to play on each ground, as `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Disks, whyNoDisks } from './lib/trouble/disks.mjs';
import { Endings } from './lib/trouble/endings.mjs';
import { GroundCourse } from './lib/trouble/ground-course.mjs';
import { Meddling } from './lib/trouble/meddling.mjs';
import { Users } from './lib/trouble/users.mjs';

const [from = 0, to = from] = (process.env.GANTRY_RANDOM_SEEDS || '0-3').split('-').map(Number);
const rounds = Number(process.env.GANTRY_RANDOM_ROUNDS || 6);

const GROUNDS = {
  'small disks': [Disks, whyNoDisks()],
  'a user who may not do everything': [Users],
  'files that somebody meddles with': [Meddling],
  'signals, pipes and terminals': [Endings],
};

for (const [name, [Ground, whyNot]] of Object.entries(GROUNDS)) {
  describe(name, { concurrency: 1, skip: whyNot ?? false }, () => {
    for (let seed = from; seed <= to; seed += 1) {
      test(`leaves what it leaves elsewhere: seed ${seed}`, async (context) => {
        const first = await GroundCourse.run(seed, rounds, new Ground());
        if (first.problems.length === 0) return;
        // Two plays differ in time: what goes wrong twice counts, what does so once is told.
        const { problems, steps } = await GroundCourse.run(seed, rounds, new Ground());
        const told = `${first.problems.join('\n')}\n${first.steps.join('\n')}`;
        if (problems.length === 0) context.diagnostic(`once only: ${told}`);
        const repeat = `GANTRY_RANDOM_SEEDS=${seed} GANTRY_RANDOM_ROUNDS=${rounds}`;
        assert.deepEqual(problems, [], `${repeat} repeats it. Its steps:\n${steps.join('\n')}`);
      });
    }
  });
}
