// Random courses of the command under trouble: projects that share a store, a registry that fails, commands that run at the same
// time and are ended from outside, damaged files (lib/trouble/course.mjs). GANTRY_RANDOM_SEEDS says which to play, as
// `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
import { describe, test } from 'node:test';
import { Course } from './lib/trouble/course.mjs';
import { chosen, playSeed } from './lib/trouble/random-course.mjs';

const { seeds, rounds } = chosen('0-7', 8);

describe('the command under trouble', { concurrency: 1 }, () => {
  for (const seed of seeds) {
    test(`leaves what it was said to leave: seed ${seed}`, (context) =>
      playSeed(context, () => new Course(seed), seed, rounds));
  }
});
