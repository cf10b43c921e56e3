// Random registries and random projects, changed step by step by gantry and by npm: both come to the same package.json, locks
// and tree, or fail for the same reason. GANTRY_RANDOM_SEEDS says which scenarios to play, as `first-last`; those that were
// found to differ once are always played.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gantryCommand } from './lib/programs.mjs';
import { described, differenceOf } from './lib/random/describe.mjs';
import { FOUND } from './lib/random/found.mjs';
import { knownAs } from './lib/random/known.mjs';
import { Players } from './lib/random/pair.mjs';
import { UniverseRegistry } from './lib/random/registry.mjs';
import { makeScenario } from './lib/random/scenario.mjs';
import { shrink } from './lib/random/shrink.mjs';

const [first, last] = (process.env.GANTRY_RANDOM_SEEDS || '0-99').split('-').map(Number);
/** So many are one test: enough to be told apart, and few lines where nothing differs. */
const TOGETHER = 10;

describe('random', { concurrency: 1 }, () => {
  let registry;
  let players;
  before(async () => {
    registry = await new UniverseRegistry().start();
    players = new Players(registry, gantryCommand);
  });
  after(async () => {
    players.stop();
    await registry.stop();
  });

  /**
   * Fails with the least that differs, unless all is the same or what differs is known; gives the name of what is known. What
   * does not differ a second time is of the moment: npm trusts its hidden lock by the times of folders, to 10 ms, and on a busy
   * machine does not now and then.
   */
  async function play(scenario, title) {
    const difference = (await players.play(scenario)) && (await players.play(scenario));
    if (difference === undefined) return undefined;
    const known = knownAs(difference, scenario);
    if (known) return known;
    const isThis = (found, smaller) =>
      found?.what === difference.what &&
      (found.what !== 'outcome' || found.ours === difference.ours) &&
      !knownAs(found, smaller);
    const steps = scenario.steps.slice(0, difference.step + 1);
    const least = await shrink({ ...scenario, steps }, async (smaller) => isThis(await players.play(smaller), smaller));
    return assert.fail(`${title}\n${described(least)}\n${differenceOf(await players.play(least))}`);
  }

  for (const scenario of FOUND) {
    test(`found: ${scenario.name}`, async () => {
      assert.equal(await play(scenario, scenario.name), undefined, 'not even a known difference');
    });
  }

  for (let seed = first; seed <= last; seed += TOGETHER) {
    const end = Math.min(seed + TOGETHER - 1, last);
    test(`seeds ${seed} to ${end}`, async (context) => {
      for (let each = seed; each <= end; each += 1) {
        const known = await play(makeScenario(each), `seed ${each}`);
        if (known) context.diagnostic(`seed ${each}: known: ${known}`);
      }
    });
  }
});
