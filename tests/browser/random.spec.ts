/**
 * Random courses of a store over several tabs, a worker that reads by itself and a registry that fails (support/random/course.ts),
 * in Chromium and in Firefox. GANTRY_RANDOM_SEEDS says which to play, as `first-last`, GANTRY_RANDOM_ROUNDS how long each is.
 */
import { launchFirefox } from './support/firefox.js';
import { expect, test } from './support/fixtures.js';
import { Course } from './support/random/course.js';
import type { CourseBrowser } from './support/random/tab.js';
import type { Site } from './support/site.js';

const rounds = Number(process.env.GANTRY_RANDOM_ROUNDS || 8);

// Two plays of a seed differ in time, and not all that may meet by chance is allowed for: what fails twice counts, and what fails
// once is told as flaky.
test.describe.configure({ retries: 1 });

/** Those that are asked for, or from `first` to `last`. */
function seeds(first: number, last: number): number[] {
  const [from = first, to = from] = (process.env.GANTRY_RANDOM_SEEDS || `${first}-${last}`).split('-').map(Number);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

async function play(seed: number, on: { browser: CourseBrowser; site: Site }): Promise<void> {
  test.setTimeout(300_000);
  const { problems, steps } = await Course.run(seed, rounds, on);
  const repeat = `GANTRY_RANDOM_SEEDS=${seed} GANTRY_RANDOM_ROUNDS=${rounds}`;
  expect(problems, `${repeat} repeats it. Its steps:\n${steps.join('\n')}`).toEqual([]);
}

for (const seed of seeds(0, 4)) {
  test(`a store that is used at random is what it was said to be: seed ${seed}`, async ({ context, site }) => {
    await play(seed, { browser: context, site });
  });
}

for (const seed of seeds(0, 1)) {
  test(`Firefox: a store that is used at random is what it was said to be: seed ${seed}`, async ({ site }) => {
    const firefox = await launchFirefox();
    // It has the listeners of a course's pages; its types say them in another way.
    const browser = firefox as unknown as CourseBrowser;
    await play(seed, { browser, site }).finally(() => firefox.close());
  });
}
