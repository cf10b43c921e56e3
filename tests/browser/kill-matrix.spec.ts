/**
 * Whatever is ended at whatever moment: nothing that was reported is lost, and the next install completes. A few moments
 * here; `npm run kill-matrix` takes some hundred and writes them to runs/. GANTRY_KILL_SEED repeats a run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { test as base, expect } from './support/fixtures.js';
import { KillMatrix, type Outcome, VICTIMS } from './support/kill-matrix.js';
import { killTable, where } from './support/kill-table.js';
import { inRoot } from './support/paths.js';
import { Profile } from './support/profile.js';
import { Random } from './support/random.js';
import { Registry } from './support/registry.js';
import { StorageWatch } from './support/storage-watch.js';

const isFull = process.env.GANTRY_KILL_MATRIX === 'full';
const MOMENTS_OF_EACH = isFull ? 52 : 4;
const seed = Number(process.env.GANTRY_KILL_SEED ?? Date.now() % 2 ** 32);

/** Milliseconds before every answer of the registry, so that moments fall into fetching. */
const LATENCY = '10';

const test = base.extend<{ registry: Registry; profile: Profile; watch: StorageWatch }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names
  registry: async ({}, use) => {
    const registry = await Registry.start('--latency', LATENCY);
    await use(registry);
    registry.stop();
  },
  profile: async ({ playwright, launchOptions, contextOptions }, use) => {
    const profile = new Profile(playwright, { ...launchOptions, ...contextOptions });
    await use(profile);
    await profile.remove();
  },
  watch: async ({ site }, use) => {
    const watch = new StorageWatch(site);
    await use(watch);
    watch.end();
  },
});

test('workers, pages and browsers that are ended at random moments lose nothing that was reported', async ({
  registry,
  profile,
  watch,
  site,
}) => {
  test.setTimeout(isFull ? 3_600_000 : 300_000);
  console.log(`kill matrix: seed ${seed}`);
  const random = new Random(seed);
  const matrix = new KillMatrix({ site, registry: registry.url, profile, watch, random });
  const course = await matrix.course();
  const plan = VICTIMS.flatMap((victim) =>
    matrix.moments(victim, MOMENTS_OF_EACH, course).map((moment) => ({ victim, moment })),
  );
  const outcomes: Outcome[] = [];
  for (const { victim, moment } of plan) {
    const outcome = await test.step(`${victim} ${where(moment)}`, () => matrix.run(victim, moment, course));
    if (outcome.problems.length > 0) console.log(`${victim} ${where(moment)}, ${outcome.stage}:`, outcome.problems);
    outcomes.push(outcome);
  }
  if (isFull) {
    const date = new Date().toISOString().slice(0, 10);
    const browser = `Chromium ${(await profile.open()).browser()?.version() ?? ''}`.trim();
    const packages = `Express 5, zod, React and lodash over a registry that takes ${LATENCY} ms for every answer.`;
    const folder = inRoot('tests', 'browser', 'runs');
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/${date}-kill-matrix.md`, killTable(outcomes, course, { date, seed, browser, packages }));
  }
  expect(outcomes.filter(({ problems }) => problems.length > 0)).toEqual([]);
  expect(outcomes.length).toBe(VICTIMS.length * MOMENTS_OF_EACH);
});
