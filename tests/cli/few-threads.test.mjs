// Systems that allow few threads and processes (`ulimit -u`, which counts both), with every number of them: a command does with
// what it gets, the thread that drives it at least. Where a script or git cannot be run it says so and leaves all as it was.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listing } from './lib/pair.mjs';
import { Finished, fixturesForSuite, Workspace } from './lib/programs.mjs';
import { Repository } from './lib/repository.mjs';
import { somebody } from './lib/trouble/users.mjs';

/** Nobody else's: whatever runs as the same user counts. */
const USER = 4322;
const isRoot = process.getuid() === 0;

/** Enough for everything but what scripts start by themselves. */
const AMPLE = 40;

/** Longer than a command takes that waits for nothing. */
const TIMEOUT = 60_000;

/** What runs a command with a limit. */
const limited = (limit) => {
  const words = ['prlimit', `--nproc=${limit}`];
  // A user of one's own is counted anew.
  return isRoot ? words : ['unshare', '--map-root-user', ...words];
};
const [program, ...words] = limited(AMPLE);
const skip = spawnSync(program, [...words, 'true']).status === 0 ? false : 'nobody can be limited here';

/** Enough packages for several threads. */
const aliases = Object.fromEntries([...'abcdefghijklmnopqrst'].map((name) => [name, 'npm:tool@1']));

describe('where few threads are allowed', { concurrency: 1, skip }, () => {
  const suite = fixturesForSuite('scripts');

  /** A place where somebody works who may have so many processes and threads at a time, the command's first one included. */
  function place(context, dependencies, more) {
    const workspace = new Workspace(context, suite.registry);
    mkdirSync(join(workspace.folder, 'store'));
    const { command, identity, give } = somebody(workspace.folder, USER);
    const project = workspace.project('project', {
      'package.json': { name: 'project', version: '1.0.0', dependencies, ...more },
    });
    const run = (limit, ...words) => {
      const [program, ...rest] = [...limited(limit), command, ...words, '--json'];
      const result = spawnSync(program, rest, {
        cwd: project,
        env: { ...workspace.environment, HOME: workspace.folder },
        encoding: 'utf8',
        timeout: TIMEOUT,
        ...identity,
      });
      if (result.error) throw result.error;
      return new Finished(`${words.join(' ')} with ${limit}`, result);
    };
    const remove = (...names) => {
      for (const name of names) rmSync(join(workspace.folder, name), { recursive: true, force: true });
    };
    give();
    return { workspace, project, give, run, remove };
  }

  test('a command that runs no program does all of it', (context) => {
    const { project, run, remove } = place(context, { ...aliases, recorder: '1.1.0', second: '1' });
    run(AMPLE, 'install', '--ignore-scripts').succeeded();
    const expected = listing(project);
    for (let limit = 1; limit <= 12; limit++) {
      remove('store', 'project/node_modules', 'project/package-lock.json');
      for (const words of [['install'], ['ci'], ['install', '--prefer-offline']]) {
        run(limit, ...words, '--ignore-scripts').succeeded();
        assert.deepEqual(listing(project), expected, `${words.join(' ')} with ${limit}`);
      }
      const packages = run(limit, 'store', 'verify').succeeded().lines.at(-1).packages;
      assert.equal(packages, 4);
      remove('store');
      run(limit, 'ci', '--ignore-scripts').succeeded();
      assert.deepEqual(listing(project), expected, `cold ci with ${limit}`);
    }
  });

  test('a name is looked up', (context) => {
    const { workspace, project, run, remove } = place(context, { tool: '1' });
    workspace.environment.npm_config_registry = suite.registry.replace('127.0.0.1', 'localhost');
    for (let limit = 1; limit <= 8; limit++) {
      run(limit, 'install').succeeded();
      assert.ok(existsSync(join(project, 'node_modules', 'tool')));
      remove('store', 'project/node_modules', 'project/package-lock.json');
    }
  });

  test('scripts run, or the command says why not and leaves all as it was', (context) => {
    // The second needs nothing but the shell: what that does not get for a package that could be done without is no fault of ours.
    const scripts = { folder: 'echo yes | cat > made', optional: 'echo yes > made' };
    const { workspace, project, give, run, remove } = place(
      context,
      { ...aliases, linking: '1' },
      {
        optionalDependencies: { optional: 'file:optional' },
        workspaces: ['folder'],
        allowScripts: { linking: true, optional: true, 'file:optional': true },
      },
    );
    for (const folder of ['folder', 'optional']) {
      mkdirSync(join(project, folder));
      workspace.project(`project/${folder}`, {
        'package.json': { name: folder, version: '1.0.0', scripts: { install: scripts[folder] } },
      });
    }
    give();
    run(AMPLE, 'install').succeeded();
    const expected = listing(project);
    assert.ok(expected.some((line) => line.startsWith('node_modules/linking/out/b ')));
    const succeeded = [];
    // How many suffice depends on how many scripts run at once, and on what they start.
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, AMPLE]) {
      for (const words of [['ci'], ['install'], ['rebuild', 'folder', 'optional']]) {
        if (words[0] === 'install') remove('project/node_modules', 'store');
        if (words[0] === 'rebuild') run(AMPLE, 'ci').succeeded();
        remove('project/folder/made', 'project/optional/made');
        const ran = run(limit, ...words);
        if (ran.status === 0) {
          assert.deepEqual(listing(project), expected, ran.command);
          succeeded.push(`${words[0]} ${limit}`);
        } else {
          const { code, message, hint } = ran.lines.at(-1);
          assert.equal(code, 'SCRIPT_FAILED', `${ran.command}: ${ran.stdout}${ran.stderr}`);
          assert.ok(hint, message);
        }
      }
      run(AMPLE, 'install').succeeded();
      run(AMPLE, 'rebuild', 'folder', 'optional').succeeded();
      assert.deepEqual(listing(project), expected, `after ${limit}`);
    }
    for (const words of ['ci', 'install', 'rebuild']) {
      assert.ok(succeeded.includes(`${words} ${AMPLE}`), succeeded.join());
    }
  });

  test('git runs, or the command says why not and leaves all as it was', (context) => {
    const { workspace, project, give, run, remove } = place(context, { tool: '1' });
    const repository = new Repository(join(workspace.folder, 'repository'));
    repository.write({ 'package.json': { name: 'from-git', version: '1.0.0' } });
    repository.commit('first');
    const url = `git+file://${repository.folder}`;
    workspace.project('project', {
      'package.json': { name: 'project', version: '1.0.0', optionalDependencies: { 'from-git': url } },
    });
    give();
    run(AMPLE, 'install').succeeded();
    const expected = listing(project);
    remove('project/node_modules', 'project/package-lock.json', 'store');
    const before = listing(project);
    // What git leaves behind that was refused something counts until it is taken notice of.
    for (const limit of [1, 2, 3, 4, 5, 6, AMPLE]) {
      const ran = run(limit, 'install');
      if (ran.status === 0 || limit === AMPLE) {
        ran.succeeded();
        assert.deepEqual(listing(project), expected, ran.command);
        remove('project/node_modules', 'project/package-lock.json', 'store');
      } else {
        const { code, message, hint } = ran.lines.at(-1);
        assert.equal(code, 'TASK_LOST', `${ran.command}: ${ran.stdout}${ran.stderr}`);
        assert.ok(message.includes('git') && hint.includes('ulimit -u'), message);
        assert.deepEqual(listing(project), before, ran.command);
      }
    }
  });
});
