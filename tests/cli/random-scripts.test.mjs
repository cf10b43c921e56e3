// Random courses of scripts: what they do to files of their own, of other packages and of the project, with commands that are ended
// from outside while they run (lib/trouble/script-course.mjs). GANTRY_RANDOM_SEEDS says which to play, as `first-last`,
// GANTRY_RANDOM_ROUNDS how long each is.
import { describe, test } from 'node:test';
import { chosen, playSeed } from './lib/trouble/random-course.mjs';
import { ScriptCourse } from './lib/trouble/script-course.mjs';
import { REACHES } from './lib/trouble/scripted-packages.mjs';

const { seeds, rounds } = chosen('0-2', 4);

for (const reach of REACHES) {
  describe(`random scripts that change files of ${reach}`, { concurrency: 1 }, () => {
    for (const seed of seeds) {
      test(`leave what they may leave: seed ${seed}`, (context) =>
        playSeed(context, () => new ScriptCourse(seed, reach), seed, rounds));
    }
  });
}
