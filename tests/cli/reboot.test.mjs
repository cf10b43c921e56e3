// A machine that stopped before its disk had everything: what the store lost of packages is fetched again.
import assert from 'node:assert/strict';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { control, fixturesForSuite, Workspace } from './lib/programs.mjs';

const tellsRuns = existsSync('/proc/sys/kernel/random/boot_id');

describe('a store of an earlier run of the machine', { concurrency: 1, skip: !tellsRuns }, () => {
  const suite = fixturesForSuite();

  test('is looked through once, and what is short in it comes anew', async (context) => {
    const workspace = new Workspace(context, suite.registry);
    const fields = { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '1', executable: '1' } };
    const project = workspace.project('project', { 'package.json': fields });
    workspace.gantryIn(project, 'install').succeeded();
    const tree = listing(join(project, 'node_modules'));
    const store = join(workspace.folder, 'store', 'v1');
    const stored = (name) =>
      readdirSync(join(store, 'packages'), { recursive: true })
        .filter((path) => path.endsWith('files/package.json'))
        .map((path) => join(store, 'packages', path))
        .find((path) => JSON.parse(readFileSync(path, 'utf8') || '{}').name === name);
    const [short, index] = [stored('left'), join(stored('right'), '../../index')];
    const again = async (...words) => {
      rmSync(join(project, 'node_modules'), { recursive: true, force: true });
      await control(suite.registry, 'POST', 'reset');
      const run = workspace.gantryIn(project, 'ci', ...words);
      const { log } = await control(suite.registry, 'GET', 'stats?log');
      return { run, asked: log.map(({ path }) => path).sort() };
    };
    const past = new Date(Date.now() - 3_600_000);
    const looked = join(stored('executable'), '../../index');
    /** The machine has stopped an hour after the packages were stored, and runs again. */
    const stop = () => {
      utimesSync(looked, past, past);
      const runs = join(store, 'boots');
      const [run] = readdirSync(runs).filter((name) => !name.startsWith('earlier'));
      assert.match(run, /^[0-9a-f-]{36}$/);
      renameSync(join(runs, run), join(runs, `earlier-${Math.random()}`));
    };
    const isLookedAt = () => statSync(looked).mtimeMs > past.getTime() + 60_000;

    stop();
    truncateSync(short);
    truncateSync(index);
    const offline = await again('--offline');
    assert.equal(offline.run.status, 3, 'nothing short is installed');
    const mended = await again();
    mended.run.succeeded();
    assert.deepEqual(mended.asked, ['/left/-/left-1.0.0.tgz', '/right/-/right-1.0.0.tgz']);
    assert.deepEqual(listing(join(project, 'node_modules')), tree);
    assert.ok(isLookedAt());

    // Nothing is looked at twice in one run, and in the next one everything is whole.
    utimesSync(looked, past, past);
    const [note] = readdirSync(join(store, 'boots')).filter((name) => !name.startsWith('earlier'));
    writeFileSync(join(store, 'boots', note), `${Math.floor(past.getTime() / 1000) - 1}`);
    const kept = await again();
    kept.run.succeeded();
    assert.ok(!isLookedAt());
    stop();
    const next = await again('--offline');
    next.run.succeeded();
    assert.ok(isLookedAt());
    assert.deepEqual([kept.asked, next.asked], [[], []]);
    assert.deepEqual(listing(join(project, 'node_modules')), tree);
  });
});
