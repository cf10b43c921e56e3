// Real projects, replayed: what gantry writes, npm takes as its own.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { projectsFolder, registryForSuite, Workspace } from './lib/programs.mjs';

const projects = readdirSync(projectsFolder).filter((name) => existsSync(join(projectsFolder, name, 'package.json')));

/** What `npm ls --all` has to say against a tree. */
function problems(workspace, project) {
  const { stdout } = workspace.npm(project, 'ls', '--all', '--json');
  return (JSON.parse(stdout).problems ?? []).map((problem) => problem.replaceAll(project, '.'));
}

describe('real projects', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  test('there are projects', () => assert.notEqual(projects.length, 0));

  for (const name of projects) {
    const manifest = readFileSync(join(projectsFolder, name, 'package.json'));

    test(`${name}: npm accepts the lock and the tree`, (context) => {
      const workspace = new Workspace(context, registry);
      const project = workspace.project('project', { 'package.json': manifest });
      const lockFile = join(project, 'package-lock.json');
      workspace.gantry('install', '--prefix', project, '--ignore-scripts').succeeded();
      const lock = readFileSync(lockFile, 'utf8');

      workspace.npm(project, 'install', '--package-lock-only', '--ignore-scripts').succeeded();
      assert.equal(readFileSync(lockFile, 'utf8'), lock, 'npm leaves the lock byte for byte as it is');

      const clean = workspace.project('clean', { 'package.json': manifest, 'package-lock.json': lock });
      workspace.npm(clean, 'ci', '--ignore-scripts').succeeded();
      const digest = (folder) => workspace.gantry('digest', '--prefix', folder).succeeded().stdout;
      assert.equal(digest(project), digest(clean), 'npm ci makes the same tree from the lock');

      assert.deepEqual(problems(workspace, project), [], 'npm ls finds no problem');
    });

    test(`${name}: the lock is the one npm writes`, (context) => {
      const workspace = new Workspace(context, registry);
      const [ours, theirs] = ['ours', 'theirs'].map((folder) =>
        workspace.project(folder, { 'package.json': manifest }),
      );
      workspace.gantry('install', '--prefix', ours, '--lockfile-only').succeeded();
      workspace.npm(theirs, 'install', '--package-lock-only', '--ignore-scripts').succeeded();
      const lock = (folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
      assert.equal(lock(ours), lock(theirs));
    });

    test(`${name}: gantry ci makes the same tree, from the store, and keeps the lock`, (context) => {
      const workspace = new Workspace(context, registry);
      const project = workspace.project('project', { 'package.json': manifest });
      workspace.gantry('install', '--prefix', project, '--ignore-scripts').succeeded();
      const lock = readFileSync(join(project, 'package-lock.json'));
      const again = workspace.project('again', { 'package.json': manifest, 'package-lock.json': lock });
      const result = workspace.gantry('ci', '--prefix', again, '--ignore-scripts', '--json').succeeded().lines.at(-1);
      assert.equal(result.type, 'result');
      assert.equal(result.requests, 0, 'everything is in the store');
      assert.equal(result.lockChanged, false);
      assert.deepEqual(readFileSync(join(again, 'package-lock.json')), lock);
      const digest = (folder) => workspace.gantry('digest', '--prefix', folder).succeeded().stdout;
      assert.equal(digest(again), digest(project));
    });
  }
});
