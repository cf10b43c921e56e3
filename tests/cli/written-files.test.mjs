// package.json and the lock as others have them: mounted one by one, somebody else's, and written while a command runs.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { control, fixturesForSuite, gantryCommand, Workspace } from './lib/programs.mjs';

const FILES = ['package.json', 'package-lock.json'];
const MOUNTED = FILES.map((file) => `mount --bind "$0/${file}" "$0/${file}"`).join(' && ');
const mounting = ['--mount', ...(process.getuid() === 0 ? [] : ['--map-root-user']), 'sh', '-c'];

/** Why files cannot be mounted here; false where they can. */
const cannotMount = (() => {
  const { status, error, stderr } = spawnSync('unshare', [...mounting, 'mount --bind /dev/null /dev/null'], {
    encoding: 'utf8',
  });
  return status === 0 ? false : `nothing can be mounted here: ${(error?.message ?? stderr).trim()}`;
})();

describe('files that a command writes', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();
  const begun = (context) => {
    const workspace = new Workspace(context, suite.registry);
    const fields = { name: 'project', version: '1.0.0', dependencies: { left: '1' } };
    const project = workspace.project('project', { 'package.json': fields });
    workspace.gantryIn(project, 'install').succeeded();
    return { workspace, project };
  };
  const read = (project, file) => JSON.parse(readFileSync(join(project, file), 'utf8'));

  test('are written in place where each of them is a mount point', { skip: cannotMount }, (context) => {
    const { workspace, project } = begun(context);
    for (const words of [
      ['install', 'executable'],
      ['uninstall', 'executable'],
    ]) {
      const command = [...mounting, `${MOUNTED} && cd "$0" && exec "$@"`, project, gantryCommand, ...words];
      const run = spawnSync('unshare', command, { env: workspace.environment, encoding: 'utf8', timeout: 60_000 });
      assert.equal(run.status, 0, run.stderr);
      const is = words[0] === 'install';
      assert.equal('executable' in read(project, 'package.json').dependencies, is);
      assert.equal('node_modules/executable' in read(project, 'package-lock.json').packages, is);
      assert.equal(existsSync(join(project, 'node_modules/executable')), is);
    }
    // Whole, and nothing of the longer text that was there before.
    workspace.gantryIn(project, 'ci').succeeded();
  });

  test('stay those of whoever they belong to', { skip: process.getuid() !== 0 && 'for root alone' }, (context) => {
    const { workspace, project } = begun(context);
    for (const file of FILES) chownSync(join(project, file), 1234, 2345);
    workspace.gantryIn(project, 'install', 'executable').succeeded();
    for (const file of FILES) {
      const { uid, gid } = statSync(join(project, file));
      assert.deepEqual([file, uid, gid], [file, 1234, 2345]);
    }
  });

  test('keep what somebody has written there meanwhile, as with npm', async (context) => {
    for (const side of ['gantry', 'npm']) {
      const { workspace, project } = begun(context);
      await control(suite.registry, 'POST', 'reset');
      await control(suite.registry, 'POST', 'faults', { path: '/executable*', kind: 'delay', ms: 3000 });
      const [command, ...words] = side === 'npm' ? [process.execPath, workspace.npmScript] : [gantryCommand];
      const child = spawn(command, [...words, 'install', 'executable'], { cwd: project, env: workspace.environment });
      let told = '';
      child.stderr.on('data', (text) => {
        told += text;
      });
      const ended = new Promise((resolve) => child.on('exit', resolve));
      for (let asked = 0; asked === 0; ) {
        assert.equal(child.exitCode, null, `${side} ended before it asked: ${told}`);
        const { log } = await control(suite.registry, 'GET', 'stats?log');
        asked = log.filter(({ path }) => path.startsWith('/executable')).length;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      writeFileSync(
        join(project, 'package.json'),
        JSON.stringify({ ...read(project, 'package.json'), scripts: { test: 'node --test' } }),
      );
      assert.equal(await ended, 0, `${side}: ${told}`);
      await control(suite.registry, 'DELETE', 'faults');
      const { dependencies, scripts } = read(project, 'package.json');
      assert.deepEqual(
        [side, Object.keys(dependencies), scripts],
        [side, ['executable', 'left'], { test: 'node --test' }],
      );
    }
  });
});
