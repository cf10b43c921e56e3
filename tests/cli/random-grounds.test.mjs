// Random courses of the command on grounds that fail it: disks that get full or cannot be written to any more, users who may not
// do everything, somebody who meddles with files meanwhile, terminals and pipes that go (lib/trouble/ground-course.mjs).
// GANTRY_RANDOM_SEEDS says which to play on each ground, as `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
import { describe, test } from 'node:test';
import { Disks, whyNoDisks } from './lib/trouble/disks.mjs';
import { Endings } from './lib/trouble/endings.mjs';
import { GroundCourse } from './lib/trouble/ground-course.mjs';
import { Meddling } from './lib/trouble/meddling.mjs';
import { chosen, playSeed } from './lib/trouble/random-course.mjs';
import { Users } from './lib/trouble/users.mjs';

const { seeds, rounds } = chosen('0-3', 6);

const GROUNDS = {
  'small disks': [Disks, whyNoDisks()],
  'a user who may not do everything': [Users],
  'files that somebody meddles with': [Meddling],
  'signals, pipes and terminals': [Endings],
};

for (const [name, [Ground, whyNot]] of Object.entries(GROUNDS)) {
  describe(name, { concurrency: 1, skip: whyNot ?? false }, () => {
    for (const seed of seeds) {
      test(`leaves what it leaves elsewhere: seed ${seed}`, (context) =>
        playSeed(context, () => new GroundCourse(seed, new Ground()), seed, rounds));
    }
  });
}
